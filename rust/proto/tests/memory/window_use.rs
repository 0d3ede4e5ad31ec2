// SPDX-License-Identifier: GPL-2.0

//! Windows: who may use them, for what, and how that ends.

use super::common::{
    bound,
    claim,
    flush,
    key,
    region,
    request,
    window,
    END,
    FULL,
    LENGTH,
    OTHER_PD,
    OTHER_QP,
    PD,
    START,
    TYPES, //
};
use oxe_proto::{
    memory::{
        BindRequest,
        Claim,
        KeyIndex,
        Place,
        Region,
        RemoteUse,
        Rights,
        Window,
        WindowChange,
        WindowType, //
    },
    transport::error::{
        Fault,
        WcStatus, //
    }, //
};

#[test]
fn a_window_is_all_that_is_open() {
    let (start, end) = (START + 16, END - 16);
    for window_type in TYPES {
        let window = bound(window_type);
        let check = |address, length| {
            window
                .check_remote(claim(window.key()), address, length, RemoteUse::Write)
                .map(|place| (place.region, place.offset, place.length))
                .ok()
        };
        let at = |offset, length| Some((key(7, 0x55), offset, length));
        assert_eq!(check(start, 1), at(16, 1));
        assert_eq!(check(start, end - start), at(16, LENGTH - 32));
        assert_eq!(check(end - 1, 1), at(LENGTH - 17, 1));
        assert_eq!(check(end, 0), at(LENGTH - 16, 0));
        assert_eq!(check(start - 1, 1), None);
        assert_eq!(check(start - 1, 2), None);
        assert_eq!(check(end - 1, 2), None);
        assert_eq!(check(end, 1), None);
        assert_eq!(check(start, end - start + 1), None);
        assert_eq!(check(start + 1, u64::MAX), None);
        assert_eq!(check(0, 1), None);
    }
}

#[test]
fn who_may_use_a_window() {
    for window_type in TYPES {
        let window = bound(window_type);
        let mine = claim(window.key());
        let check = |claim| {
            window
                .check_remote(claim, START + 16, 1, RemoteUse::Read)
                .is_ok()
        };
        assert!(check(mine));
        assert!(!check(claim(key(9, 0xff))));
        assert!(!check(claim(key(7, 0))));
        assert!(!check(Claim {
            pd: OTHER_PD,
            ..mine
        }));
        let other = Claim {
            qp: OTHER_QP,
            ..mine
        };
        assert_eq!(check(other), window_type == WindowType::Type1);
    }
}

#[test]
fn a_zero_based_window_counts_from_its_start() {
    let region = region(FULL);
    let request = BindRequest {
        rights: FULL.with(Rights::ZERO_BASED),
        ..request()
    };
    let window = window(WindowType::Type2);
    let window = window.bind(&request, Some(&region)).unwrap().window;
    let mine = claim(window.key());
    let check = |address, length| {
        window
            .check_remote(mine, address, length, RemoteUse::Read)
            .map(|place| place.offset)
            .ok()
    };
    let length = request.length;
    assert_eq!(check(0, length), Some(16));
    assert_eq!(check(length - 1, 1), Some(16 + length - 1));
    assert_eq!(check(0, length + 1), None);
    assert_eq!(check(length, 1), None);
    assert_eq!(check(START + 16, 1), None);
    assert_eq!(check(u64::MAX, 1), None);
    assert_eq!(check(u64::MAX, u64::MAX), None);

    // It starts 3 bytes after a multiple of 8: no address is one in both ways.
    for address in 0..64 {
        assert!(window.check_word(mine, address, RemoteUse::Atomic).is_err());
    }
    let request = BindRequest {
        address: START + 5,
        ..request
    };
    let window = self::window(WindowType::Type2);
    let window = window.bind(&request, Some(&region)).unwrap().window;
    let word = |address| window.check_word(mine, address, RemoteUse::Atomic);
    assert_eq!(word(8).map(|place| place.offset), Ok(13));
    assert!(word(4).is_err());
    assert!(word(length - length % 8).is_err());
    assert!(word(u64::MAX - 7).is_err());
}

#[test]
fn a_flush_of_all_through_a_window_ends_with_it() {
    let window = bound(WindowType::Type2);
    let mine = claim(window.key());
    let expected = Place {
        region: key(7, 0x55),
        offset: 16,
        length: LENGTH - 32,
    };
    let check = |address, length, whole| {
        window.check_flush(mine, address, length, flush(true, true, whole))
    };
    assert_eq!(check(0, u64::MAX, true), Ok(expected));
    assert_eq!(check(START + 16, LENGTH - 32, false), Ok(expected));
    assert!(check(START, LENGTH, false).is_err());
    assert!(window
        .check_flush(mine, START + 16, 1, flush(false, false, true))
        .is_err());
}

#[test]
fn a_type_1_window_is_not_invalidated() {
    for window in [window(WindowType::Type1), bound(WindowType::Type1)] {
        assert_eq!(
            window.invalidate_local(window.key(), PD),
            Err(WcStatus::LocalQpOperation)
        );
        assert_eq!(
            window.invalidate_remote(claim(window.key())),
            Err(Fault::Access)
        );
    }
}

#[test]
fn a_type_2_window_is_freed_by_its_owner_or_by_its_peer() {
    let window = bound(WindowType::Type2);
    let key = window.key();
    let mine = claim(key);
    let freed = WindowChange {
        window: Window::new(key, PD, WindowType::Type2),
        left: KeyIndex::new(7),
        entered: None,
    };
    assert_eq!(window.invalidate_local(key, PD), Ok(freed));
    assert_eq!(window.invalidate_remote(mine), Ok(freed));
    let refused = Err(WcStatus::LocalQpOperation);
    assert_eq!(window.invalidate_local(key.next(), PD), refused);
    assert_eq!(window.invalidate_local(key, OTHER_PD), refused);
    for wrong in [
        Claim {
            key: key.next(),
            ..mine
        },
        Claim {
            pd: OTHER_PD,
            ..mine
        },
        Claim {
            qp: OTHER_QP,
            ..mine
        },
    ] {
        assert_eq!(window.invalidate_remote(wrong), Err(Fault::Access));
    }
    // A free one stays free.
    let again = WindowChange {
        left: None,
        ..freed
    };
    assert_eq!(freed.window.invalidate_local(key, PD), Ok(again));
    assert_eq!(freed.window.invalidate_remote(mine), Ok(again));
}

#[test]
fn the_region_behind_a_window_is_confirmed() {
    let region = region(FULL);
    let window = bound(WindowType::Type2);
    let mine = claim(window.key());
    let place = window
        .check_remote(mine, START + 16, LENGTH - 32, RemoteUse::Read)
        .unwrap();
    let busy = region.with_window();
    assert_eq!(busy.confirm(PD, place), Ok(()));
    // Not bound any more, or another region in its place.
    assert_eq!(region.confirm(PD, place), Err(Fault::Access));
    assert_eq!(busy.confirm(OTHER_PD, place), Err(Fault::Access));
    for key in [key(7, 0x56), key(8, 0x55)] {
        let other = Region::user(key, PD, FULL, START, LENGTH).unwrap();
        assert_eq!(other.with_window().confirm(PD, place), Err(Fault::Access));
    }
    let shorter = Region::user(region.key(), PD, FULL, START, LENGTH - 17).unwrap();
    assert_eq!(shorter.with_window().confirm(PD, place), Err(Fault::Access));
}
