// SPDX-License-Identifier: GPL-2.0

//! Fast registrations, invalidation, and the end of regions.

use super::common::{
    claim,
    fast,
    flush,
    key,
    region,
    registration,
    FULL,
    LENGTH,
    OTHER_PD,
    PD,
    START,
    USES, //
};
use oxe_proto::{
    memory::{
        Claim,
        MemoryError,
        Region,
        RegionState,
        Registration,
        RemoteUse,
        Rights, //
    },
    transport::error::{
        Fault,
        WcStatus, //
    }, //
};

#[test]
fn a_free_region_gives_no_right() {
    let free = fast(FULL).invalidate_local(key(8, 1), PD).unwrap();
    assert_eq!(free.state(), RegionState::Free);
    let mine = claim(free.key());
    for (using, _) in USES {
        assert!(free.check_remote(mine, START, 1, using).is_err());
    }
    assert!(free.check_local(free.key(), PD, START, 1, false).is_err());
    assert!(free
        .check_flush(mine, START, 1, flush(true, false, true))
        .is_err());
}

#[test]
fn a_registration_wants_a_free_region_of_its_index_and_domain() {
    let free = Region::fast(key(8, 0), PD);
    let good = registration(FULL);
    let valid = free.register(&good).unwrap();
    assert_eq!((valid.key(), valid.rights()), (key(8, 1), FULL));
    assert!(valid
        .check_remote(claim(key(8, 1)), START, LENGTH, RemoteUse::Write)
        .is_ok());
    let refused = Err(WcStatus::LocalQpOperation);

    assert_eq!(valid.register(&good), refused);
    assert_eq!(region(FULL).register(&good), refused);
    assert_eq!(Region::dma(key(8, 0), PD, FULL).register(&good), refused);
    for bad in [
        Registration {
            key: key(9, 1),
            ..good
        },
        Registration {
            pd: OTHER_PD,
            ..good
        },
        Registration {
            length: LENGTH + 1,
            ..good
        },
        Registration {
            length: 0x10,
            start: u64::MAX - 0xe,
            ..good
        },
        Registration {
            rights: Rights::ZERO_BASED,
            ..good
        },
    ] {
        assert_eq!(free.register(&bad), refused, "{bad:?}");
    }
    let last = Registration {
        length: 0x10,
        start: u64::MAX - 0xf,
        ..good
    };
    assert!(free.register(&last).is_ok());
}

#[test]
fn a_new_variant_ends_the_old_key() {
    let first = fast(FULL);
    let free = first.invalidate_local(first.key(), PD).unwrap();
    let second = Registration {
        key: first.key().next(),
        ..registration(FULL)
    };
    let second = free.register(&second).unwrap();
    assert!(second
        .check_remote(claim(first.key()), START, 1, RemoteUse::Read)
        .is_err());
    assert!(second
        .check_remote(claim(first.key().next()), START, 1, RemoteUse::Read)
        .is_ok());
    // Nor can it be freed by its old name.
    assert!(second.invalidate_local(first.key(), PD).is_err());
    assert!(second.invalidate_remote(claim(first.key())).is_err());
}

#[test]
fn only_fast_registrations_without_windows_are_invalidated() {
    let valid = fast(FULL);
    let key = valid.key();
    let mine = claim(key);
    let freed = valid.invalidate_remote(mine).unwrap();
    assert_eq!(freed.state(), RegionState::Free);
    assert_eq!(Ok(freed), valid.invalidate_local(key, PD));
    // Twice is no harm.
    assert_eq!(freed.invalidate_local(key, PD), Ok(freed));
    assert_eq!(freed.invalidate_remote(mine), Ok(freed));

    let refused = Err(WcStatus::LocalQpOperation);
    assert_eq!(valid.invalidate_local(key.next(), PD), refused);
    assert_eq!(valid.invalidate_local(key, OTHER_PD), refused);
    let wrong = Claim {
        pd: OTHER_PD,
        ..mine
    };
    assert_eq!(valid.invalidate_remote(wrong), Err(Fault::Access));

    let user = region(FULL);
    assert_eq!(user.invalidate_local(user.key(), PD), refused);
    assert_eq!(
        user.invalidate_remote(claim(user.key())),
        Err(Fault::Access)
    );

    let busy = valid.with_window();
    assert_eq!(busy.invalidate_local(key, PD), refused);
    assert_eq!(busy.invalidate_remote(mine), Err(Fault::Access));
    assert_eq!(busy.without_window().invalidate_local(key, PD), Ok(freed));
}

#[test]
fn a_region_without_remote_rights_is_for_its_owner_to_invalidate() {
    let local = fast(Rights::LOCAL_WRITE);
    assert!(local.invalidate_local(local.key(), PD).is_ok());
    assert_eq!(
        local.invalidate_remote(claim(local.key())),
        Err(Fault::Access)
    );
}

#[test]
fn a_region_with_windows_stays_as_it_is() {
    let region = region(FULL);
    assert_eq!(region.check_removal(), Ok(()));
    let busy = region.with_window().with_window();
    assert_eq!(busy.windows(), 2);
    assert_eq!(
        busy.without_window().check_removal(),
        Err(MemoryError::WindowsBound)
    );
    assert_eq!(
        busy.reregister(OTHER_PD, FULL),
        Err(MemoryError::WindowsBound)
    );
    assert_eq!(busy.without_window().without_window(), region);
    assert_eq!(region.without_window(), region);
}

#[test]
fn a_region_can_get_another_domain_and_other_rights() {
    let changed = region(FULL)
        .reregister(OTHER_PD, Rights::REMOTE_READ)
        .unwrap();
    let mine = claim(changed.key());
    assert!(changed
        .check_remote(mine, START, 1, RemoteUse::Read)
        .is_err());
    let other = Claim {
        pd: OTHER_PD,
        ..mine
    };
    assert!(changed
        .check_remote(other, START, 1, RemoteUse::Read)
        .is_ok());
    assert!(changed
        .check_remote(other, START, 1, RemoteUse::Write)
        .is_err());
    assert_eq!(
        region(FULL).reregister(PD, Rights::REMOTE_WRITE),
        Err(MemoryError::LocalWrite)
    );
}
