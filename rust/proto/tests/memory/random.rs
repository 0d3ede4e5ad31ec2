// SPDX-License-Identifier: GPL-2.0

//! Random steps, done by the descriptors and by the model.

use super::{
    model::{
        Bind,
        Model,
        Thing,
        Who,
        BIND,
        DMA,
        FAST,
        FLUSH_GLOBAL,
        FLUSH_PERSISTENT,
        LOCAL_WRITE,
        OBJECTS,
        REMOTE,
        REMOTE_ATOMIC,
        REMOTE_READ,
        REMOTE_WRITE,
        TOP,
        TYPE_1,
        TYPE_2,
        USER,
        ZERO_BASED, //
    },
    tables::{
        key,
        Driver, //
    }, //
};
use oxe_proto::{
    memory::{
        Claim,
        PdId,
        Range,
        Region,
        Registration,
        RemoteUse,
        Rights,
        Window,
        WindowType, //
    },
    wire::flush::Feth, //
};
use proptest::{
    prelude::*,
    sample::select, //
};
use std::fmt::Debug;

/// The index and how far the variant is from the right one; domain and queue pair.
#[derive(Clone, Copy, Debug)]
struct Named {
    index: u32,
    off: u32,
    pd: u64,
    qp: u64,
}

#[derive(Clone, Debug)]
enum Step {
    Remote(Named, (u64, u64), RemoteUse),
    Word(Named, u64, RemoteUse),
    Flush(Named, (u64, u64), Feth),
    Local(Named, (u64, u64), bool),
    Register(Named, (u64, u64), u32),
    Bind(Named, Named, u8, (u64, u64), u32),
    Invalidate(Named, bool),
}

/// Mostly the first of them.
fn mostly<T: Clone + Debug + 'static>(usual: T, other: T) -> impl Strategy<Value = T> {
    prop_oneof![15 => Just(usual), 1 => Just(other)]
}

fn named(indices: &'static [u32]) -> impl Strategy<Value = Named> {
    (select(indices), mostly(0, 1), mostly(1, 2), mostly(1, 2))
        .prop_map(|(index, off, pd, qp)| Named { index, off, pd, qp })
}

/// Where a range may begin that has to do with the world's regions.
const ANCHORS: &[u64] = &[0, 0x1000, 0x1100, u64::MAX - 0x7f, u64::MAX];

fn length() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0_u64..20,
        2 => select(&[0x80_u64, 0xff, 0x100, 0x101, 0x1000][..]),
        1 => (0_u64..20).prop_map(|off| u64::MAX - off),
        1 => any::<u64>(),
    ]
}

/// First address and length: inside a small region, around the borders, anywhere.
fn span() -> impl Strategy<Value = (u64, u64)> {
    let inside = (select(&[0x1000, u64::MAX - 0x7f][..]), 0_u64..16, 0_u64..80)
        .prop_map(|(start, words, length)| (start + 8 * words, length.max(1)));
    let near = (select(ANCHORS), -9_i64..=9, length())
        .prop_map(|(anchor, off, length)| (anchor.wrapping_add_signed(off), length));
    prop_oneof![6 => inside, 3 => near, 1 => (any::<u64>(), length())]
}

fn flags() -> impl Strategy<Value = u32> {
    prop_oneof![
        2 => Just(REMOTE | LOCAL_WRITE | BIND),
        2 => Just(REMOTE & !FLUSH_PERSISTENT),
        1 => Just(REMOTE | ZERO_BASED),
        1 => 0_u32..0x400,
    ]
}

fn using() -> impl Strategy<Value = RemoteUse> {
    select(&[RemoteUse::Read, RemoteUse::Write, RemoteUse::Atomic][..])
}

/// Indices, those more often that make a step more worth it; at 11 there is nothing.
const ALL: &[u32] = &[1, 1, 2, 3, 4, 5, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11];
const REGISTERED: &[u32] = &[1, 4, 5, 5, 6, 6];
const REGIONS: &[u32] = &[1, 1, 1, 2, 2, 3, 4, 5, 6];
const WINDOWS: &[u32] = &[7, 8, 9, 10];
const FREED: &[u32] = &[1, 4, 5, 6, 7, 9, 10];

fn step() -> impl Strategy<Value = Step> {
    let feth = any::<(bool, bool, bool)>().prop_map(|(visible, persistent, whole_region)| Feth {
        visible,
        persistent,
        whole_region,
    });
    prop_oneof![
        4 => (named(ALL), span(), using()).prop_map(|(n, s, u)| Step::Remote(n, s, u)),
        2 => (named(ALL), span(), using()).prop_map(|(n, s, u)| Step::Word(n, s.0, u)),
        2 => (named(ALL), span(), feth).prop_map(|(n, s, f)| Step::Flush(n, s, f)),
        2 => (named(ALL), span(), any::<bool>()).prop_map(|(n, s, w)| Step::Local(n, s, w)),
        2 => (named(REGISTERED), span(), flags()).prop_map(|(n, s, f)| Step::Register(n, s, f)),
        6 => (named(WINDOWS), named(REGIONS), 0_u8..8, span(), flags())
            .prop_map(|(n, r, v, s, f)| Step::Bind(n, r, v, s, f)),
        2 => (named(FREED), any::<bool>()).prop_map(|(n, r)| Step::Invalidate(n, r)),
    ]
}

fn flags_of(using: RemoteUse) -> u32 {
    match using {
        RemoteUse::Read => REMOTE_READ,
        RemoteUse::Write => REMOTE_WRITE,
        RemoteUse::Atomic => REMOTE_ATOMIC,
    }
}

fn world() -> (Model, Driver) {
    let mut model = Model([(0, 0, Thing::Nothing); OBJECTS]);
    let mut driver = Driver::default();
    let all = REMOTE | LOCAL_WRITE | BIND;
    let ranges = [
        (0x1000, 0x100, all),
        (u64::MAX - 0x7f, 0x80, all & !FLUSH_PERSISTENT),
        (0, u64::MAX, BIND | REMOTE_READ),
    ];
    let mut place = |index: u32, variant: u32, thing, region, window| {
        model.0[index as usize] = (variant, 1, thing);
        driver.regions[index as usize] = region;
        driver.windows[index as usize] = window;
    };
    let region = |kind, valid, flags, first: u64, bytes: u64| Thing::Region {
        kind,
        valid,
        flags,
        first: u128::from(first),
        bytes: u128::from(bytes),
    };
    for (index, (start, length, flags)) in USER.into_iter().zip(ranges) {
        let rights = Rights::from_verbs(flags);
        let user = Region::user(key(index << 8 | 5), PdId(1), rights, start, length).unwrap();
        place(
            index,
            5,
            region('u', true, flags, start, length),
            Some(user),
            None,
        );
    }
    let dma = Region::dma(key(DMA << 8), PdId(1), Rights::REMOTE_READ);
    let thing = region('d', true, LOCAL_WRITE | REMOTE_READ, 0, 0);
    place(DMA, 0, thing, Some(dma), None);
    for index in FAST {
        let fast = Region::fast(key(index << 8), PdId(1));
        place(index, 0, region('f', false, 0, 0, 0), Some(fast), None);
    }
    for (indices, kind, window_type) in [
        (TYPE_1, 1, WindowType::Type1),
        (TYPE_2, 2, WindowType::Type2),
    ] {
        for index in indices {
            // Near the end of the variants.
            let window = Window::new(key(index << 8 | 0xfe), PdId(1), window_type);
            place(
                index,
                0xfe,
                Thing::Window { kind, bound: None },
                None,
                Some(window),
            );
        }
    }
    (model, driver)
}

/// Does a step in both worlds; whether it was allowed.
fn apply(step: &Step, model: &mut Model, driver: &mut Driver) -> Result<bool, TestCaseError> {
    let rows = model.0;
    let raw = |named: Named| {
        let variant = rows.get(named.index as usize).map_or(0, |row| row.0);
        named.index << 8 | (variant + named.off) % 256
    };
    let who = |named: Named| Who {
        key: raw(named),
        pd: named.pd,
        qp: named.qp,
    };
    let wide = |address: u64, length: u64| Some((u128::from(address), u128::from(length)));
    let (expected, found) = match *step {
        Step::Remote(named, (address, length), using) => {
            let claim = who(named).claim();
            (
                model.access(who(named), wide(address, length), flags_of(using), false),
                driver.access(
                    claim,
                    |region| region.check_remote(claim, address, length, using).ok(),
                    |window| window.check_remote(claim, address, length, using).ok(),
                ),
            )
        }
        Step::Word(named, address, using) => {
            let claim = who(named).claim();
            let expected = model
                .access(who(named), wide(address, 8), flags_of(using), false)
                .filter(|&(region, offset)| {
                    address % 8 == 0 && (model.first_of(region as usize) + offset) % 8 == 0
                });
            (
                expected,
                driver.access(
                    claim,
                    |region| region.check_word(claim, address, using).ok(),
                    |window| window.check_word(claim, address, using).ok(),
                ),
            )
        }
        Step::Flush(named, (address, length), feth) => {
            let claim = who(named).claim();
            let flags = u32::from(feth.visible) * FLUSH_GLOBAL
                + u32::from(feth.persistent) * FLUSH_PERSISTENT;
            let bytes = if feth.whole_region {
                None
            } else {
                wide(address, length)
            };
            let expected = model.access(who(named), bytes, flags, false);
            (
                expected.filter(|_| flags != 0),
                driver.access(
                    claim,
                    |region| region.check_flush(claim, address, length, feth).ok(),
                    |window| window.check_flush(claim, address, length, feth).ok(),
                ),
            )
        }
        Step::Local(named, (address, length), writes) => {
            let Claim { key, pd, .. } = who(named).claim();
            let flags = u32::from(writes) * LOCAL_WRITE;
            let place = driver
                .region(key)
                .and_then(|region| region.check_local(key, pd, address, length, writes).ok());
            (
                model.access(who(named), wide(address, length), flags, true),
                place.map(|place| (place.region.index().get(), u128::from(place.offset))),
            )
        }
        Step::Register(named, (start, length), flags) => {
            let raw = raw(named);
            let (first, bytes) = (u128::from(start), u128::from(length));
            let expected = model.register(named.pd, raw, flags, first, bytes);
            let region = &mut driver.regions[named.index as usize];
            let registered = region.unwrap().register(&Registration {
                key: key(raw),
                pd: PdId(named.pd),
                rights: Rights::from_verbs(flags),
                start,
                length,
                capacity: length,
            });
            *region = registered.ok().or(*region);
            let done = |done: bool| done.then_some((0, 0));
            (done(expected), done(registered.is_ok()))
        }
        Step::Bind(named, target, step, (address, length), flags) => {
            let who = who(named);
            // The next variant most of the time.
            let variant = if step == 0 {
                3
            } else {
                key(who.key).next().variant()
            };
            let bind = Bind {
                variant,
                region: raw(target),
                address,
                length,
                flags,
            };
            (
                model.bind(who, bind).map(|()| (0, 0)),
                driver.bind(who, bind).map(|()| (0, 0)),
            )
        }
        Step::Invalidate(named, remote) => (
            model.invalidate(who(named), remote).map(|()| (0, 0)),
            driver.invalidate(who(named), remote).map(|()| (0, 0)),
        ),
    };
    prop_assert_eq!(found, expected, "{:?}", step);

    for index in 1..OBJECTS {
        if let Some(region) = &driver.regions[index] {
            let windows = model.windows(index);
            prop_assert_eq!(region.windows() as usize, windows);
            prop_assert_eq!(region.check_removal().is_ok(), windows == 0);
            prop_assert_eq!(u32::from(region.key().variant()), model.0[index].0);
        }
    }
    Ok(found.is_some())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn ranges((start, length) in span(), (address, bytes) in span(), near: u8) {
        let (from, size) = (u128::from(start), u128::from(length));
        let range = Range::new(start, length);
        prop_assert_eq!(range.is_some(), from + size <= TOP);
        if let Some(range) = range {
            for address in [address, start.wrapping_add(near.into())] {
                let (at, more) = (u128::from(address), u128::from(bytes));
                let inside = at >= from && at + more <= from + size;
                let offset = range.offset_of(address, bytes);
                prop_assert_eq!(offset.map(u128::from), inside.then(|| at - from));
            }
        }
    }

    #[test]
    fn keys_do_what_the_model_does(steps in prop::collection::vec(step(), 1..60)) {
        let (mut model, mut driver) = world();
        for step in &steps {
            apply(step, &mut model, &mut driver)?;
        }
    }
}

/// The steps are worth something: each kind is allowed and refused often enough.
#[test]
fn steps_are_allowed_and_refused() {
    use proptest::{
        strategy::ValueTree,
        test_runner::TestRunner, //
    };

    let mut runner = TestRunner::deterministic();
    let mut counts = [[0; 2]; 7];
    for _ in 0..300 {
        let (mut model, mut driver) = world();
        for _ in 0..60 {
            let step = step().new_tree(&mut runner).unwrap().current();
            let allowed = apply(&step, &mut model, &mut driver).unwrap();
            let kind = match step {
                Step::Remote(..) => 0,
                Step::Word(..) => 1,
                Step::Flush(..) => 2,
                Step::Local(..) => 3,
                Step::Register(..) => 4,
                Step::Bind(..) => 5,
                Step::Invalidate(..) => 6,
            };
            counts[kind][usize::from(allowed)] += 1;
        }
    }
    for [refused, allowed] in counts {
        assert!(refused >= 100 && allowed >= 100, "{counts:?}");
    }
}
