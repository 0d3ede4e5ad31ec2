// SPDX-License-Identifier: GPL-2.0

//! Requests whose memory or receive request is not what a reliable responder needs, and what is
//! still answered before and after a refusal.

mod pair;

use oxe_proto::{
    transport::{
        error::{Fault, WcStatus},
        ports::Observation,
        state::State,
        Event,
    },
    types::{Pkey, Rkey},
    wire::{
        aeth::NakCode,
        atomic::AtomicEth,
        packet::{Op, Packet, Service, Tail},
        reth::Reth,
    },
};
use pair::{
    case::{Case, REMOTE_INVALID},
    craft::*,
    Lone, Setup, BASE,
};

const ACCESS: NakCode = NakCode::RemoteAccess;
const OPERATIONAL: NakCode = NakCode::RemoteOperational;
const MTU: usize = 256;

#[test]
fn a_message_that_does_not_fit_its_receive_request_ends_it() {
    // rxe reports an invalid request, hfi1 a failed operation; manuals tell users to expect a
    // length error, and so do we.
    let too_long = &[WcStatus::LocalLength][..];
    let small: fn(&mut Lone) = |lone| lone.side.host.receives[0].truncate(300);
    let first = (Op::SendFirst, MTU);
    for (before, bad) in [
        (&[first][..], (Op::SendMiddle, MTU)),
        (&[first], (send_last(), 45)),
        (&[first], (Op::SendLast(Tail::Immediate(IMM)), 256)),
    ] {
        Case {
            before,
            bad,
            received: too_long,
            prepare: small,
            ..Case::default()
        }
        .check();
    }
    Case {
        bad: (send_only(), 1),
        received: too_long,
        prepare: |lone| lone.side.host.receives[0].clear(),
        ..Case::default()
    }
    .check();
}

/// Memory that the peer must not touch.
fn forbidden() -> Vec<Reth> {
    let beyond = 1 << 20;
    vec![
        Reth {
            rkey: BAD_KEY,
            ..reth(0, 16)
        },
        reth(beyond - 8, 16),
        reth(beyond, 16),
        reth(0u64.wrapping_sub(8), 16),
        Reth {
            address: u64::MAX - 7,
            ..reth(0, 16)
        },
    ]
}

#[test]
fn keys_and_ranges_are_checked() {
    let bad_access = |bad| {
        Case {
            bad,
            code: ACCESS,
            ..Case::default()
        }
        .check();
    };
    for memory in forbidden() {
        bad_access((Op::WriteOnly(memory, None), 16));
        bad_access((Op::ReadRequest(memory), 0));
        bad_access((Op::Flush(VISIBLE, memory), 0));
        let long = Reth {
            length: 600,
            ..memory
        };
        bad_access((Op::WriteFirst(long), MTU));
        bad_access((Op::ReadRequest(long), 0));
    }
    for memory in forbidden().into_iter().filter(|m| m.address % 8 == 0) {
        if memory.address == BASE + (1 << 20) - 8 {
            continue;
        }
        let atomic = AtomicEth {
            address: memory.address,
            rkey: memory.rkey,
            ..AtomicEth::default()
        };
        bad_access((Op::FetchAdd(atomic), 0));
        bad_access((Op::CompareSwap(atomic), 0));
        let eight = Reth {
            length: 8,
            ..memory
        };
        bad_access((Op::AtomicWrite(eight), 8));
    }
    // The range is that of the whole message: nothing is written before the fault.
    let tail_outside = reth((1 << 20) - 300, 600);
    bad_access((Op::WriteFirst(tail_outside), MTU));
}

#[test]
fn an_access_fault_ends_the_receive_request_in_use() {
    // The key is lost under way, with the receive request taken or just before.
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 10]);
    lone.side.host.faults = [Some(Fault::Access)].into();
    let said = lone.ask(0, Op::WriteOnly(reth(0, 4), Some(IMM)), b"abcd");
    assert_eq!(said, [(0, nak(ACCESS, 0))]);
    assert_eq!(lone.state(), State::Err);
    let statuses = lone.side.host.receive_statuses();
    assert!(
        statuses.is_empty() || statuses == [WcStatus::RemoteAccess],
        "{statuses:?}"
    );
    assert_eq!(lone.side.events, [Event::AccessError, Event::Failed]);
}

#[test]
fn keys_of_empty_accesses_are_not_checked() {
    let nowhere = Reth {
        address: 3,
        rkey: Rkey(0),
        length: 0,
    };
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(Vec::new());
    assert_eq!(
        lone.ask(0, Op::WriteOnly(nowhere, None), b""),
        [(0, ack(1))]
    );
    let immediate = Op::WriteOnly(nowhere, Some(IMM));
    assert_eq!(lone.ask(1, immediate, b""), [(1, ack(2))]);
    assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
    let said = lone.ask(2, Op::ReadRequest(nowhere), b"");
    assert_eq!(said[0], (2, response(0, 1, 3)));
    // An empty SEND takes a receive request.
    lone.side.host.receives.push_back(Vec::new());
    assert_eq!(lone.ask(3, send_only(), b""), [(3, ack(4))]);
    assert!(lone.side.host.receives.is_empty());
    assert_eq!(lone.side.host.received[1].0.bytes, 0);
}

#[test]
fn memory_that_fails_is_an_operational_error() {
    for bad in [
        (write_only(0, 4), 4),
        (fetch_add(0), 0),
        (Op::CompareSwap(atomic_at(0)), 0),
        (Op::Flush(VISIBLE, reth(0, 4)), 0),
        (Op::AtomicWrite(reth(0, 8)), 8),
    ] {
        Case {
            bad,
            code: OPERATIONAL,
            prepare: |lone| lone.side.host.faults = [Some(Fault::Operational)].into(),
            ..Case::default()
        }
        .check();
    }
}

#[test]
fn a_bad_receive_request_is_told_as_an_operational_error() {
    for bad in [
        (send_only(), 4),
        (Op::SendFirst, MTU),
        (Op::WriteOnly(reth(0, 0), Some(IMM)), 0),
    ] {
        Case {
            bad,
            code: OPERATIONAL,
            received: &[WcStatus::LocalQpOperation],
            prepare: |lone| {
                let host = &mut lone.side.host;
                host.bad_receives.push_back(WcStatus::LocalQpOperation);
            },
            ..Case::default()
        }
        .check();
    }
    Case {
        bad: (send_only(), 4),
        code: OPERATIONAL,
        received: &[WcStatus::LocalProtection],
        prepare: |lone| lone.side.host.receive_faults = [Some(Fault::Access)].into(),
        ..Case::default()
    }
    .check();
    Case {
        before: &[(Op::SendFirst, MTU)],
        bad: (send_last(), 4),
        code: OPERATIONAL,
        received: &[WcStatus::LocalProtection],
        prepare: |lone| lone.side.host.receive_faults = [None, Some(Fault::Access)].into(),
        ..Case::default()
    }
    .check();
}

#[test]
fn a_key_that_cannot_be_invalidated_fails_without_a_word() {
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 10]);
    let said = lone.ask(0, Op::SendOnly(Tail::Invalidate(BAD_KEY)), b"abcd");
    assert_eq!(said, []);
    assert_eq!(lone.side.host.receive_statuses(), REMOTE_INVALID);
    assert_eq!(lone.state(), State::Err);
    assert!(lone.side.events.contains(&Event::Failed));
}

#[test]
fn what_is_for_another_service_or_partition_is_dropped() {
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 10]);
    for service in [Service::Uc, Service::Ud, Service::Xrc] {
        let packet = Packet {
            service,
            ..lone.packet(0, send_only(), 0)
        };
        lone.side.receive(lone.now, packet, Vec::new());
    }
    for pkey in [Pkey(0x7ffe), Pkey(0xfffe), Pkey(0), Pkey(0x8000)] {
        let packet = Packet {
            pkey,
            ..lone.packet(0, send_only(), 0)
        };
        lone.side.receive(lone.now, packet, Vec::new());
    }
    assert_eq!(lone.said(), []);
    assert_eq!(lone.state(), State::Rts);
    let host = &lone.side.host;
    assert_eq!(host.count(|seen| *seen == Observation::Unexpected), 3);
    assert_eq!(host.count(|seen| *seen == Observation::BadPkey), 4);
    assert!(host.received.is_empty() && lone.side.events.is_empty());
    // A limited member may talk to a full one.
    let packet = Packet {
        pkey: Pkey(0x7fff),
        ..lone.packet(0, send_only(), 0)
    };
    lone.side.receive(lone.now, packet, Vec::new());
    assert_eq!(lone.said(), [(0, ack(1))]);
}

#[test]
fn answers_before_the_refused_request_are_still_sent() {
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 10]);
    lone.give(0, read_request(0, 600), &[]);
    lone.give(3, fetch_add(0), &[]);
    lone.give(4, send_only(), b"abcd");
    lone.give(5, Op::WriteOnly(forbidden()[0], None), &[0; 16]);
    assert_eq!(lone.state(), State::Err);
    assert_eq!(
        lone.said(),
        [
            (0, response(0, 3, 1)),
            (1, response(1, 3, 1)),
            (2, response(2, 3, 1)),
            (3, Op::AtomicAcknowledge(acknowledged(2), 0)),
            (5, nak(ACCESS, 3)),
        ]
    );
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
}

#[test]
fn a_fault_within_a_read_response_is_told_with_its_number() {
    for (fault, code) in [(Fault::Access, ACCESS), (Fault::Operational, OPERATIONAL)] {
        let mut lone = Lone::usual();
        lone.side.host.payload_faults = [None, None, Some(fault)].into();
        lone.give(0, read_request(0, 10), &[]);
        lone.give(1, read_request(0, 1000), &[]);
        lone.give(5, read_request(0, 10), &[]);
        let said = lone.said();
        assert_eq!(said[..2], [(0, response(0, 1, 1)), (1, response(0, 4, 2))]);
        assert_eq!(said.len(), 3, "{said:?}");
        let (2, Op::Acknowledge(aeth)) = said[2] else {
            panic!("{said:?}");
        };
        assert_eq!(aeth.syndrome, oxe_proto::wire::aeth::Syndrome::Nak(code));
        assert_eq!(lone.state(), State::Err);
        assert_eq!(lone.side.events.last(), Some(&Event::Failed));
        let expects_access = code == ACCESS;
        assert_eq!(
            lone.side.events.contains(&Event::AccessError),
            expects_access
        );
        assert_eq!(lone.ask(6, send_only(), b""), []);
    }
}

#[test]
fn a_fault_of_a_read_outranks_the_refusal_behind_it() {
    let mut lone = Lone::usual();
    lone.side.host.payload_faults = [None, Some(Fault::Access)].into();
    lone.give(0, read_request(0, 600), &[]);
    lone.give(3, Op::SendMiddle, &[0; MTU]);
    let said = lone.said();
    assert_eq!(said[0], (0, response(0, 3, 1)));
    assert!(matches!(said[1..], [(1, Op::Acknowledge(_))]), "{said:?}");
    assert_eq!(said[1].1, nak(ACCESS, 1));
}

#[test]
fn a_failed_queue_pair_with_a_shared_queue_says_that_it_takes_no_more() {
    let setup = Setup {
        shared_receive: true,
        ..Setup::default()
    };
    let mut lone = Lone::new(&setup);
    lone.ask(0, Op::SendMiddle, &[0; MTU]);
    assert_eq!(
        lone.side.events,
        [Event::RequestError, Event::Failed, Event::LastWqeReached]
    );
}
