// SPDX-License-Identifier: GPL-2.0

//! Requests that make no sense to a reliable responder: out of order, not allowed, of wrong
//! lengths.

mod pair;

use oxe_proto::{
    transport::{attributes::Access, state::State, Event},
    types::MAX_MESSAGE_BYTES,
    wire::{
        aeth::NakCode,
        flush::Feth,
        packet::{Op, Packet, Tail},
    },
};
use pair::{
    case::{refused, Case, REMOTE_INVALID},
    craft::*,
    Lone, Setup,
};

const INVALID: NakCode = NakCode::InvalidRequest;
const MTU: usize = 256;

#[test]
fn a_message_cannot_start_in_its_middle() {
    for bad in [
        (Op::SendMiddle, MTU),
        (send_last(), 10),
        (Op::SendLast(Tail::Immediate(IMM)), 10),
        (Op::SendLast(Tail::Invalidate(pair::RKEY)), 10),
        (Op::WriteMiddle, MTU),
        (Op::WriteLast(None), 10),
        (Op::WriteLast(Some(IMM)), 10),
    ] {
        refused(&[], bad, &[]);
        refused(&[(write_only(0, 9), 9)], bad, &[]);
    }
}

/// One of each kind that starts a request.
fn starts() -> [(Op, usize); 9] {
    [
        (Op::SendFirst, MTU),
        (send_only(), 4),
        (Op::WriteFirst(reth(0x100, 300)), MTU),
        (write_only(0x100, 4), 4),
        (read_request(0, 10), 0),
        (fetch_add(0), 0),
        (Op::CompareSwap(atomic_at(8)), 0),
        (Op::Flush(VISIBLE, reth(0, 8)), 0),
        (Op::AtomicWrite(reth(0, 8)), 8),
    ]
}

#[test]
fn a_message_cannot_start_within_another() {
    for bad in starts() {
        refused(&[(Op::SendFirst, MTU)], bad, REMOTE_INVALID);
        refused(&[(Op::WriteFirst(reth(0, 600)), MTU)], bad, &[]);
    }
    for bad in [
        (Op::WriteMiddle, MTU),
        (Op::WriteLast(None), 10),
        (Op::WriteLast(Some(IMM)), 10),
    ] {
        refused(&[(Op::SendFirst, MTU)], bad, REMOTE_INVALID);
    }
    for bad in [(Op::SendMiddle, MTU), (send_last(), 10)] {
        refused(&[(Op::WriteFirst(reth(0, 600)), MTU)], bad, &[]);
    }
}

#[test]
fn what_the_queue_pair_does_not_allow_is_an_invalid_request() {
    type Forbid = fn(&mut Access);
    let no_write: Forbid = |access| access.remote_write = false;
    let no_read: Forbid = |access| access.remote_read = false;
    let no_atomic: Forbid = |access| access.remote_atomic = false;
    let no_global: Forbid = |access| access.flush_global = false;
    let no_persistent: Forbid = |access| access.flush_persistent = false;
    let both = Feth {
        visible: true,
        persistent: true,
        whole_region: true,
    };
    let nothing = Feth::default();
    for (forbid, bad) in [
        (no_write, (write_only(0, 4), 4)),
        (no_write, (Op::WriteFirst(reth(0, 300)), MTU)),
        (no_write, (Op::WriteOnly(reth(0, 4), Some(IMM)), 4)),
        // Also where no memory is touched.
        (no_write, (write_only(0, 0), 0)),
        (no_write, (Op::AtomicWrite(reth(0, 8)), 8)),
        (no_read, (read_request(0, 4), 0)),
        (no_read, (read_request(0, 0), 0)),
        (no_atomic, (fetch_add(0), 0)),
        (no_atomic, (Op::CompareSwap(atomic_at(0)), 0)),
        (no_global, (Op::Flush(VISIBLE, reth(0, 4)), 0)),
        (no_global, (Op::Flush(both, reth(0, 4)), 0)),
        (no_persistent, (Op::Flush(PERSISTENT, reth(0, 4)), 0)),
        (no_persistent, (Op::Flush(both, reth(0, 4)), 0)),
        // One that asks for nothing or for what is reserved.
        (|_| (), (Op::Flush(nothing, reth(0, 4)), 0)),
    ] {
        Case {
            setup: Setup::with(|attributes| forbid(&mut attributes.access)),
            bad,
            ..Case::default()
        }
        .check();
    }
    // A SEND needs no right.
    let mut lone = Lone::new(&Setup::with(|attributes| {
        attributes.access = Access::default()
    }));
    lone.side.host.receives.push_back(vec![0; 4]);
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))]);
}

#[test]
fn more_reads_and_atomics_than_agreed_are_refused() {
    let setup = Setup::with(|attributes| attributes.max_dest_rd_atomic = 2);
    let mut lone = Lone::new(&setup);
    lone.give(0, read_request(0, 300), &[]);
    lone.give(2, fetch_add(0), &[]);
    lone.give(3, read_request(0, 10), &[]);
    assert_eq!(
        lone.said(),
        [
            (0, response(0, 2, 1)),
            (1, response(1, 2, 1)),
            (2, Op::AtomicAcknowledge(acknowledged(2), 0)),
            (3, nak(INVALID, 2)),
        ]
    );
    assert_eq!(lone.state(), State::Err);
    assert_eq!(lone.side.events, [Event::RequestError, Event::Failed]);

    for bad in starts().into_iter().skip(4) {
        Case {
            setup: Setup::with(|attributes| attributes.max_dest_rd_atomic = 0),
            bad,
            ..Case::default()
        }
        .check();
    }
}

#[test]
fn as_many_reads_as_agreed_are_served_again_and_again() {
    let setup = Setup::with(|attributes| attributes.max_dest_rd_atomic = 2);
    let mut lone = Lone::new(&setup);
    for n in 0..20 {
        lone.give(2 * n, read_request(0, 10), &[]);
        lone.give(2 * n + 1, fetch_add(0), &[]);
        assert!(lone.said().len() >= 2);
    }
    assert_eq!(lone.state(), State::Rts);
    assert_eq!(lone.side.host.atomics, 20);
}

#[test]
fn operands_of_atomics_are_aligned() {
    for offset in [1, 2, 4, 7, 9, 0x1004] {
        refused(&[], (fetch_add(offset), 0), &[]);
        refused(&[], (Op::CompareSwap(atomic_at(offset)), 0), &[]);
        refused(&[], (Op::AtomicWrite(reth(offset, 8)), 8), &[]);
    }
}

#[test]
fn packets_have_the_length_of_their_place() {
    let first = &[(Op::SendFirst, MTU)][..];
    for bytes in [0, 1, MTU - 1, MTU + 1, 2 * MTU] {
        refused(&[], (Op::SendFirst, bytes), &[]);
        refused(first, (Op::SendMiddle, bytes), REMOTE_INVALID);
    }
    for bytes in [0, MTU + 1] {
        refused(first, (send_last(), bytes), REMOTE_INVALID);
    }
    refused(&[], (send_only(), MTU + 1), &[]);
    // The engine refuses data where a request has none, should a parser let it through.
    refused(&[], (read_request(0, 10), 4), &[]);
    refused(&[], (fetch_add(0), 4), &[]);
    refused(&[], (Op::Flush(VISIBLE, reth(0, 8)), 4), &[]);
}

#[test]
fn a_write_is_as_long_as_it_said() {
    for (said, bytes) in [(10, 9), (10, 11), (0, 1), (1, 0), (256, 255), (300, 256)] {
        refused(&[], (write_only(0, said), bytes), &[]);
        let with_immediate = Op::WriteOnly(reth(0, said), Some(IMM));
        refused(&[], (with_immediate, bytes), &[]);
    }
    // One that fits a packet has no FIRST; a FIRST is full.
    for (said, bytes) in [(0, MTU), (255, MTU), (256, MTU), (600, 255), (600, 257)] {
        refused(&[], (Op::WriteFirst(reth(0, said)), bytes), &[]);
    }
    let first = &[(Op::WriteFirst(reth(0, 600)), MTU)][..];
    for bytes in [0, 1, 255] {
        refused(first, (Op::WriteMiddle, bytes), &[]);
    }
    for bytes in [0, 88, 256] {
        // 344 bytes are to come.
        refused(first, (Op::WriteLast(None), bytes), &[]);
        refused(first, (Op::WriteLast(Some(IMM)), bytes), &[]);
    }
    let second = &[(Op::WriteFirst(reth(0, 600)), MTU), (Op::WriteMiddle, MTU)][..];
    for bytes in [0, 87, 89, 256] {
        refused(second, (Op::WriteLast(None), bytes), &[]);
        refused(second, (Op::WriteLast(Some(IMM)), bytes), &[]);
    }
    refused(second, (Op::WriteMiddle, MTU), &[]);
    // Without a LAST.
    let exact = &[(Op::WriteFirst(reth(0, 512)), MTU)][..];
    refused(exact, (Op::WriteMiddle, MTU), &[]);
}

#[test]
fn no_message_is_longer_than_two_gigabytes() {
    for length in [MAX_MESSAGE_BYTES + 1, u32::MAX] {
        refused(&[], (Op::WriteFirst(reth(0, length)), MTU), &[]);
        refused(&[], (read_request(0, length), 0), &[]);
    }
}

#[test]
fn a_send_stops_at_two_gigabytes() {
    let setup = Setup {
        mtu: oxe_proto::types::Mtu::B4096,
        ..Setup::default()
    };
    let mut lone = Lone::new(&setup);
    lone.side.host.forgetful = true;
    lone.side.host.receives.push_back(Vec::new());
    let data = vec![0; 4096];
    let last = i64::from(MAX_MESSAGE_BYTES / 4096);
    for n in 0..last {
        let op = if n == 0 {
            Op::SendFirst
        } else {
            Op::SendMiddle
        };
        let packet = Packet {
            ack_req: false,
            ..lone.packet(n, op, 4096)
        };
        let env = &mut lone.side.host;
        let verdict = lone
            .side
            .engine
            .handle_packet(lone.now, &packet, data.as_slice(), env);
        assert_eq!(verdict, oxe_proto::transport::Verdict::Done);
    }
    assert_eq!(lone.state(), State::Rts);
    assert_eq!(lone.ask(last, send_last(), b"x"), [(last, nak(INVALID, 0))]);
    assert_eq!(lone.side.host.received.len(), 1);
}

#[test]
fn an_atomic_write_has_eight_bytes() {
    for (said, bytes) in [(8, 7), (8, 9), (7, 8), (16, 8), (16, 16), (0, 0), (4, 4)] {
        refused(&[], (Op::AtomicWrite(reth(0, said)), bytes), &[]);
    }
}
