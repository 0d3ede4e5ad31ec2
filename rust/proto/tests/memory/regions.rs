// SPDX-License-Identifier: GPL-2.0

//! Regions, and who may use them.

use super::common::{
    claim,
    flush,
    key,
    region,
    registration,
    request,
    window,
    END,
    FULL,
    LENGTH,
    OTHER_PD,
    OTHER_QP,
    PD,
    START,
    USES, //
};
use oxe_proto::{
    memory::{
        BindRequest,
        Claim,
        MemoryError,
        Place,
        Region,
        RemoteUse,
        Rights,
        WindowType, //
    },
    transport::error::{
        Fault,
        WcStatus, //
    }, //
};

#[test]
fn a_region_that_peers_change_can_be_written_locally() {
    for right in [Rights::REMOTE_WRITE, Rights::REMOTE_ATOMIC] {
        for rights in [right, right.with(Rights::BIND)] {
            let region = Region::user(key(7, 0), PD, rights, START, LENGTH);
            assert_eq!(region, Err(MemoryError::LocalWrite));
            let free = Region::fast(key(8, 0), PD);
            assert_eq!(
                free.register(&registration(rights)),
                Err(WcStatus::LocalQpOperation)
            );
            let rights = rights.with(Rights::LOCAL_WRITE);
            assert!(Region::user(key(7, 0), PD, rights, START, LENGTH).is_ok());
            assert!(free.register(&registration(rights)).is_ok());
        }
    }
    assert!(Region::user(key(7, 0), PD, Rights::REMOTE_READ, START, LENGTH).is_ok());
}

#[test]
fn a_region_is_not_zero_based_and_does_not_wrap() {
    let zero_based = Region::user(key(7, 0), PD, Rights::ZERO_BASED, 0, LENGTH);
    assert_eq!(zero_based, Err(MemoryError::ZeroBased));
    for (start, length, fine) in [
        (0, u64::MAX, true),
        (1, u64::MAX, true),
        (2, u64::MAX, false),
        (u64::MAX, 1, true),
        (u64::MAX, 2, false),
    ] {
        let region = Region::user(key(7, 0), PD, Rights::NONE, start, length);
        assert_eq!(region.is_ok(), fine);
        assert!(fine || region == Err(MemoryError::Range));
    }
}

#[test]
fn the_whole_key_the_domain_and_the_right_have_to_fit() {
    for (using, right) in USES {
        let good = region(right.with(Rights::LOCAL_WRITE));
        let mine = claim(good.key());
        let place = Place {
            region: good.key(),
            offset: 5,
            length: 8,
        };
        assert_eq!(good.check_remote(mine, START + 5, 8, using), Ok(place));
        assert_eq!(good.check_word(mine, START + 5, using), Ok(place));
        // Whose queue pair it is does not matter, but for its domain.
        let qp = Claim {
            qp: OTHER_QP,
            ..mine
        };
        assert_eq!(good.check_remote(qp, START + 5, 8, using), Ok(place));

        for key in [key(7, 0x56), key(7, 0), key(6, 0x55), key(0x1_0007, 0x55)] {
            let wrong = Claim { key, ..mine };
            assert_eq!(
                good.check_remote(wrong, START, 8, using),
                Err(Fault::Access)
            );
        }
        let wrong = Claim {
            pd: OTHER_PD,
            ..mine
        };
        assert_eq!(
            good.check_remote(wrong, START, 8, using),
            Err(Fault::Access)
        );
        for (other, _) in USES.into_iter().filter(|&(other, _)| other != using) {
            assert_eq!(good.check_remote(mine, START, 8, other), Err(Fault::Access));
            assert_eq!(good.check_word(mine, START + 5, other), Err(Fault::Access));
        }
    }
}

#[test]
fn atomics_have_eight_bytes_at_a_multiple_of_eight() {
    let region = region(FULL);
    let mine = claim(region.key());
    for address in START - 16..START + 32 {
        let fine = address >= START && address % 8 == 0;
        assert_eq!(
            region
                .check_word(mine, address, RemoteUse::Atomic)
                .map(|place| (place.offset, place.length))
                .ok(),
            fine.then(|| (address - START, 8))
        );
    }
    // The region ends 3 bytes after a multiple of 8.
    assert!(region.check_word(mine, END - 11, RemoteUse::Write).is_ok());
    assert!(region.check_word(mine, END - 3, RemoteUse::Write).is_err());
    assert!(region
        .check_word(mine, u64::MAX - 7, RemoteUse::Write)
        .is_err());
}

#[test]
fn local_keys_want_a_right_for_writing_only() {
    let read_only = region(Rights::REMOTE_READ);
    let key = read_only.key();
    assert!(read_only.check_local(key, PD, START, LENGTH, false).is_ok());
    let refused = read_only.check_local(key, PD, START, LENGTH, true);
    assert_eq!(refused, Err(Fault::Access));
    assert_eq!(
        refused.map_err(Fault::local),
        Err(Some(WcStatus::LocalProtection))
    );

    let writable = region(Rights::LOCAL_WRITE);
    assert!(writable.check_local(key, PD, START, LENGTH, true).is_ok());
    for writes in [false, true] {
        let check = |key, pd, address, length| {
            writable
                .check_local(key, pd, address, length, writes)
                .is_ok()
        };
        assert!(check(key, PD, END - 1, 1));
        assert!(!check(key, PD, END, 1));
        assert!(!check(key, PD, START - 1, 1));
        assert!(!check(key, PD, START, LENGTH + 1));
        assert!(!check(key, PD, START + 1, u64::MAX));
        assert!(!check(key.next(), PD, START, 1));
        assert!(!check(key, OTHER_PD, START, 1));
    }
}

#[test]
fn the_kernel_may_use_all_memory() {
    let dma = Region::dma(key(3, 3), PD, Rights::NONE);
    for (address, length) in [
        (0, 1),
        (0, u64::MAX),
        (1, u64::MAX),
        (u64::MAX, 1),
        (START, LENGTH),
    ] {
        for writes in [false, true] {
            let place = dma.check_local(dma.key(), PD, address, length, writes);
            assert_eq!(place.map(|place| place.offset), Ok(address));
        }
    }
    assert!(dma.check_local(dma.key(), PD, 2, u64::MAX, false).is_err());
    assert!(dma
        .check_local(dma.key(), OTHER_PD, START, 1, false)
        .is_err());
    assert!(dma
        .check_local(dma.key().next(), PD, START, 1, false)
        .is_err());
    let mine = claim(dma.key());
    for (using, _) in USES {
        assert!(dma.check_remote(mine, START, 1, using).is_err());
    }
    assert!(dma.range().is_none());
}

#[test]
fn peers_may_use_all_memory_only_when_told_so() {
    let dma = Region::dma(key(3, 3), PD, Rights::ALL);
    let mine = claim(dma.key());
    assert!(dma.check_remote(mine, START, 1, RemoteUse::Write).is_ok());
    // Neither FLUSH nor windows nor an end by an invalidation.
    for whole in [false, true] {
        assert!(dma
            .check_flush(mine, START, 1, flush(true, false, whole))
            .is_err());
    }
    let request = BindRequest {
        region: Some(dma.key()),
        ..request()
    };
    let bind = window(WindowType::Type2).bind(&request, Some(&dma));
    assert_eq!(bind, Err(WcStatus::MemoryWindowBind));
    assert!(dma.invalidate_local(dma.key(), PD).is_err());
    assert!(dma.invalidate_remote(mine).is_err());
}

#[test]
fn a_flush_wants_the_rights_for_all_that_it_does() {
    let asked = [(true, false), (false, true), (true, true)];
    let rights = [
        Rights::FLUSH_GLOBAL,
        Rights::FLUSH_PERSISTENT,
        Rights::FLUSH,
    ];
    for (i, (visible, persistent)) in asked.into_iter().enumerate() {
        for (j, right) in rights.into_iter().enumerate() {
            let region = region(right);
            let feth = flush(visible, persistent, false);
            let place = region.check_flush(claim(region.key()), START, 4, feth);
            assert_eq!(place.is_ok(), i == j || j == 2);
        }
    }
    let region = region(FULL);
    for whole in [false, true] {
        let nothing = flush(false, false, whole);
        assert!(region
            .check_flush(claim(region.key()), START, 4, nothing)
            .is_err());
    }
    let without = self::region(Rights::REMOTE_WRITE.with(Rights::LOCAL_WRITE));
    assert!(without
        .check_flush(claim(without.key()), START, 4, flush(true, false, true))
        .is_err());
}

#[test]
fn a_flush_of_all_looks_at_no_address() {
    let region = region(FULL);
    let mine = claim(region.key());
    let all = Place {
        region: region.key(),
        offset: 0,
        length: LENGTH,
    };
    for (address, length) in [(0, 0), (u64::MAX, u64::MAX), (START, LENGTH)] {
        let place = region.check_flush(mine, address, length, flush(true, true, true));
        assert_eq!(place, Ok(all));
    }
    let range =
        |address, length| region.check_flush(mine, address, length, flush(true, true, false));
    assert_eq!(range(START, LENGTH), Ok(all));
    assert!(range(START, LENGTH + 1).is_err());
    assert!(range(START - 1, 1).is_err());
    assert!(range(0, 0).is_err());
}
