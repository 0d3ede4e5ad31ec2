// SPDX-License-Identifier: GPL-2.0

//! Windows: how they are bound.

use super::common::{
    bound,
    claim,
    fast,
    flush,
    key,
    region,
    request,
    window,
    END,
    FULL,
    LENGTH,
    OTHER_PD,
    PD,
    START,
    TYPES,
    USES, //
};
use oxe_proto::{
    memory::{
        BindRequest,
        Region,
        RemoteUse,
        Rights,
        Window,
        WindowChange,
        WindowType, //
    },
    transport::error::WcStatus, //
};

fn refused(window: Window, request: &BindRequest, region: Option<&Region>) -> bool {
    window.bind(request, region) == Err(WcStatus::MemoryWindowBind)
}

#[test]
fn an_unbound_window_gives_no_right() {
    for window_type in TYPES {
        let window = window(window_type);
        let mine = claim(window.key());
        for (using, _) in USES {
            assert!(window.check_remote(mine, 0, 0, using).is_err());
            assert!(window.check_remote(mine, START, 1, using).is_err());
            assert!(window.check_word(mine, 0, using).is_err());
        }
        assert!(window
            .check_flush(mine, 0, 0, flush(true, false, true))
            .is_err());
        assert_eq!(window.region(), None);
    }
}

#[test]
fn a_type_1_window_is_bound_again_and_unbound_by_no_bytes() {
    let (a, b) = (region(FULL), fast(FULL));
    let first = bound(WindowType::Type1);
    assert_eq!(first.key(), key(9, 0));

    let again = BindRequest {
        key: first.key(),
        variant: 1,
        address: START,
        length: LENGTH,
        ..request()
    };
    let second = first.bind(&again, Some(&a)).unwrap();
    assert_eq!((second.left, second.entered), (None, None));
    let second = second.window;
    assert!(second
        .check_remote(claim(key(9, 1)), START, LENGTH, RemoteUse::Write)
        .is_ok());
    assert!(second
        .check_remote(claim(key(9, 0)), START, 1, RemoteUse::Write)
        .is_err());

    let elsewhere = BindRequest {
        key: second.key(),
        variant: 2,
        region: Some(b.key()),
        ..request()
    };
    let third = second.bind(&elsewhere, Some(&b)).unwrap();
    assert_eq!(
        (third.left, third.entered),
        (Some(a.key().index()), Some(b.key().index()))
    );

    for (region_key, region) in [(None, None), (Some(b.key()), Some(&b)), (None, Some(&a))] {
        let nothing = BindRequest {
            key: third.window.key(),
            variant: 3,
            region: region_key,
            length: 0,
            rights: Rights::NONE,
            ..request()
        };
        let unbound = third.window.bind(&nothing, region).unwrap();
        let expected = WindowChange {
            window: Window::new(key(9, 3), PD, WindowType::Type1),
            left: Some(b.key().index()),
            entered: None,
        };
        assert_eq!(unbound, expected);
    }
}

#[test]
fn a_type_1_window_gets_the_next_key() {
    let region = region(FULL);
    for variant in 0..=u8::MAX {
        let request = BindRequest {
            variant,
            ..request()
        };
        let bind = window(WindowType::Type1).bind(&request, Some(&region));
        assert_eq!(bind.is_ok(), variant == 0);
        // Of type 2 the user chooses.
        let bind = window(WindowType::Type2).bind(&request, Some(&region));
        assert_eq!(bind.unwrap().window.key(), key(9, variant));
    }
}

#[test]
fn a_type_1_window_is_not_zero_based() {
    let region = region(FULL);
    for length in [0, 1] {
        let request = BindRequest {
            length,
            rights: Rights::REMOTE_READ.with(Rights::ZERO_BASED),
            ..request()
        };
        assert!(refused(window(WindowType::Type1), &request, Some(&region)));
    }
}

#[test]
fn a_type_2_window_is_bound_when_free_and_to_some_bytes() {
    let region = region(FULL);
    let nothing = BindRequest {
        length: 0,
        ..request()
    };
    assert!(refused(window(WindowType::Type2), &nothing, Some(&region)));
    assert!(refused(window(WindowType::Type2), &nothing, None));

    let window = bound(WindowType::Type2);
    let again = BindRequest {
        key: window.key(),
        variant: 1,
        ..request()
    };
    assert!(refused(window, &again, Some(&region)));
    let change = window.invalidate_local(window.key(), PD).unwrap();
    assert_eq!(
        (change.left, change.entered),
        (Some(region.key().index()), None)
    );
    assert!(change.window.bind(&again, Some(&region)).is_ok());
}

#[test]
fn what_a_bind_wants_of_window_and_region() {
    for window_type in TYPES {
        let window = window(window_type);
        let good = region(FULL);
        assert!(window.bind(&request(), Some(&good)).is_ok());
        // The window's key is an old one or another's.
        for key in [key(9, 0xfe), key(9, 0), key(7, 0xff)] {
            let request = BindRequest { key, ..request() };
            assert!(refused(window, &request, Some(&good)));
        }
        // So is the region's, or there is none.
        for region in [Some(key(7, 0x56)), Some(key(6, 0x55)), None] {
            let request = BindRequest {
                region,
                ..request()
            };
            assert!(refused(window, &request, Some(&good)));
        }
        assert!(refused(window, &request(), None));
        // C10-72: queue pair, window and region are of one domain.
        let request_of_other = BindRequest {
            pd: OTHER_PD,
            ..request()
        };
        assert!(refused(window, &request_of_other, Some(&good)));
        let other = good.reregister(OTHER_PD, FULL).unwrap();
        assert!(refused(window, &request(), Some(&other)));
        assert!(refused(window, &request_of_other, Some(&other)));
        // C10-73.
        let unbindable = region(Rights::REMOTE.with(Rights::LOCAL_WRITE));
        assert!(refused(window, &request(), Some(&unbindable)));
        // The region is free.
        let request_fast = BindRequest {
            region: Some(key(8, 1)),
            ..request()
        };
        let valid = fast(FULL);
        assert!(window.bind(&request_fast, Some(&valid)).is_ok());
        let free = valid.invalidate_local(valid.key(), PD).unwrap();
        assert!(refused(window, &request_fast, Some(&free)));
    }
}

#[test]
fn a_window_changes_only_what_its_owner_may_change() {
    // C10-74. The region's own remote rights do not matter.
    let read_only = region(Rights::BIND);
    let writable = region(Rights::BIND.with(Rights::LOCAL_WRITE));
    for (using, rights) in USES {
        let request = BindRequest {
            rights,
            ..request()
        };
        for window_type in TYPES {
            let window = window(window_type);
            assert_eq!(
                refused(window, &request, Some(&read_only)),
                using != RemoteUse::Read
            );
            let window = window.bind(&request, Some(&writable)).unwrap().window;
            for (other, _) in USES {
                let place = window.check_remote(claim(window.key()), START + 16, 1, other);
                assert_eq!(place.is_ok(), other == using);
            }
        }
    }
}

#[test]
fn a_window_flushes_only_what_its_region_can_flush() {
    for (rights, fine) in [
        (Rights::FLUSH_GLOBAL, true),
        (Rights::FLUSH_PERSISTENT, false),
        (Rights::FLUSH, false),
    ] {
        let region = region(Rights::BIND.with(Rights::FLUSH_GLOBAL));
        let request = BindRequest {
            rights,
            ..request()
        };
        assert_eq!(
            !refused(window(WindowType::Type2), &request, Some(&region)),
            fine
        );
    }
}

#[test]
fn rights_that_mean_nothing_for_a_window_are_dropped() {
    let region = region(FULL);
    let request = BindRequest {
        rights: Rights::LOCAL_WRITE.with(Rights::BIND),
        ..request()
    };
    let window = window(WindowType::Type2);
    let window = window.bind(&request, Some(&region)).unwrap().window;
    for (using, _) in USES {
        assert!(window
            .check_remote(claim(window.key()), START + 16, 1, using)
            .is_err());
    }
}

#[test]
fn a_window_is_inside_its_region() {
    // C10-75, also of a zero-based one, whose address here is still the region's.
    let region = region(FULL);
    for (address, length, fine) in [
        (START, LENGTH, true),
        (START, LENGTH + 1, false),
        (START - 1, LENGTH, false),
        (START - 1, 1, false),
        (START + 1, LENGTH - 1, true),
        (START + 1, LENGTH, false),
        (END - 1, 1, true),
        (END, 1, false),
        (START, u64::MAX, false),
        (START + 1, 0_u64.wrapping_sub(2), false),
        (0, 1, false),
        (u64::MAX, 1, false),
    ] {
        for rights in [
            Rights::REMOTE_READ,
            Rights::REMOTE_READ.with(Rights::ZERO_BASED),
        ] {
            let request = BindRequest {
                address,
                length,
                rights,
                ..request()
            };
            let bind = window(WindowType::Type2).bind(&request, Some(&region));
            assert_eq!(bind.is_ok(), fine, "{address:#x} {length:#x}");
        }
    }
}
