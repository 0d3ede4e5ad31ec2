// SPDX-License-Identifier: GPL-2.0

//! Unreliable connections: messages come whole or not at all, nothing is answered, and a request
//! ends when it is sent.

mod pair;

use oxe_proto::{
    transport::{
        error::{Fault, WcStatus},
        ports::Observation,
        state::{QpType, State},
        wr::{RecvKind, SendOp, SendWr},
    },
    types::Psn,
    wire::{
        packet::{Op, Tail},
        reth::Reth,
    },
};
use pair::{craft::*, pattern, Lone, Pair, Setup};

const MTU: usize = 256;

fn setup() -> Setup {
    Setup {
        qp_type: QpType::Uc,
        ..Setup::default()
    }
}

fn lone() -> Lone {
    let mut lone = Lone::new(&setup());
    lone.side.host.receives.extend((0..4).map(|_| vec![0; 600]));
    lone
}

/// It is as well as ever, said nothing and takes the next message, which is the only one to arrive.
fn unharmed(mut lone: Lone, next: i64, name: &str) {
    assert_eq!(lone.said(), [], "{name}");
    assert_eq!(lone.state(), State::Rts, "{name}");
    assert!(lone.side.events.is_empty(), "{name}");
    assert!(lone.side.host.received.is_empty(), "{name}");
    if lone.side.host.receives.is_empty() && lone.side.host.current.is_none() {
        lone.side.host.receives.push_back(vec![0; 600]);
    }
    lone.give(next, send_only(), b"next");
    assert_eq!(lone.said(), [], "{name}");
    let (completion, buffer) = &lone.side.host.received[0];
    assert_eq!(completion.status, WcStatus::Success, "{name}");
    assert_eq!(completion.bytes, 4, "{name}");
    assert_eq!(buffer[..4], *b"next", "{name}");
    assert_eq!(lone.side.host.received.len(), 1, "{name}");
}

#[test]
fn nothing_is_answered() {
    let mut lone = lone();
    assert_eq!(lone.ask(0, send_only(), b"abcd"), []);
    assert_eq!(lone.ask(1, write_only(0, 4), b"abcd"), []);
    let immediate = Op::WriteOnly(reth(8, 4), Some(IMM));
    assert_eq!(lone.ask(2, immediate, b"efgh"), []);
    assert_eq!(lone.ask(3, Op::SendFirst, &pattern(MTU, 1)), []);
    let last = Op::SendLast(Tail::Immediate(IMM));
    assert_eq!(lone.ask(4, last, &pattern(10, 2)), []);
    let kinds: Vec<_> = lone
        .side
        .host
        .received
        .iter()
        .map(|r| (r.0.kind, r.0.bytes))
        .collect();
    let expected = [
        (RecvKind::Send, 4),
        (RecvKind::WriteWithImmediate, 4),
        (RecvKind::Send, 266),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(lone.side.host.received[2].0.tail, Tail::Immediate(IMM));
    assert_eq!(lone.side.host.memory[..12], *b"abcd\0\0\0\0efgh");
    assert_eq!(lone.side.engine.next_timeout(), None);
}

#[test]
fn a_message_without_all_its_packets_is_lost() {
    let packets = [
        (Op::SendFirst, MTU),
        (Op::SendMiddle, MTU),
        (send_last(), 10),
    ];
    for lost in 0..3 {
        let mut lone = lone();
        for (n, (op, bytes)) in packets.into_iter().enumerate() {
            if n != lost {
                lone.give(n as i64, op, &vec![9; bytes]);
            }
        }
        unharmed(lone, 3, &format!("{lost} of a SEND"));
    }
    let packets = [
        (Op::WriteFirst(reth(0, 522)), MTU),
        (Op::WriteMiddle, MTU),
        (Op::WriteLast(Some(IMM)), 10),
    ];
    for lost in 0..3 {
        let mut lone = lone();
        for (n, (op, bytes)) in packets.into_iter().enumerate() {
            if n != lost {
                lone.give(n as i64, op, &vec![9; bytes]);
            }
        }
        unharmed(lone, 3, &format!("{lost} of a WRITE"));
    }
}

#[test]
fn a_message_may_start_at_any_number() {
    let mut lone = lone();
    let half = i64::from(Psn::HALF);
    for n in [0, 7, 3, 3, 1 << 20, half, -1, 0xff_ffff] {
        lone.side.host.receives.push_back(vec![0; 600]);
        let before = lone.side.host.received.len();
        lone.give(n, Op::SendFirst, &pattern(MTU, 1));
        lone.give(n + 1, send_last(), &pattern(9, 1));
        assert_eq!(lone.side.host.received.len(), before + 1, "{n}");
        lone.give(n + 9, send_only(), b"abcd");
        assert_eq!(lone.side.host.received.len(), before + 2, "{n}");
        lone.side.host.receives.push_back(vec![0; 600]);
    }
    assert_eq!(lone.said(), []);
}

#[test]
fn a_half_received_send_leaves_its_receive_request_to_the_next_message() {
    for next in [send_only(), Op::WriteOnly(reth(0, 4), Some(IMM))] {
        let mut lone = lone();
        lone.side.host.receives.truncate(1);
        lone.give(0, Op::SendFirst, &[9; MTU]);
        lone.give(1, Op::SendMiddle, &[9; MTU]);
        // Whether numbers are missing or not.
        lone.give(2, Op::SendFirst, &[8; MTU]);
        lone.give(5, Op::SendFirst, &[7; MTU]);
        lone.give(7, send_last(), &[7; 4]);
        assert!(lone.side.host.received.is_empty());
        lone.give(8, next, b"abcd");
        assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
        assert_eq!(lone.side.host.asked.len(), 1);
        let host = &lone.side.host;
        assert_eq!(host.count(|o| *o == Observation::MessageDropped), 3);
    }
    // A WRITE between does not touch it.
    let mut lone = lone();
    lone.give(0, Op::SendFirst, &[9; MTU]);
    lone.give(1, write_only(0, 4), b"abcd");
    assert_eq!(lone.side.host.memory[..4], *b"abcd");
    unharmed(lone, 2, "a WRITE");
}

#[test]
fn the_rest_of_a_dropped_message_is_dropped() {
    let mut lone = lone();
    lone.give(0, Op::WriteFirst(reth(0, 900)), &[1; MTU]);
    lone.give(2, Op::WriteMiddle, &[2; MTU]);
    lone.give(3, Op::WriteLast(Some(IMM)), &[3; 132]);
    assert_eq!(lone.side.host.writes, 1);
    assert_eq!(lone.side.host.memory[MTU..2 * MTU], [0; MTU]);
    unharmed(lone, 4, "rest");
}

#[test]
fn a_packet_that_comes_twice_ends_its_message() {
    let mut lone = lone();
    lone.give(0, Op::SendFirst, &[1; MTU]);
    lone.give(1, Op::SendMiddle, &[2; MTU]);
    lone.give(1, Op::SendMiddle, &[2; MTU]);
    lone.give(2, send_last(), &[3; 4]);
    unharmed(lone, 3, "middle");
}

#[test]
fn without_a_receive_request_a_message_is_lost() {
    let mut lone = lone();
    lone.side.host.receives.clear();
    lone.give(0, send_only(), b"lost");
    lone.give(1, Op::SendFirst, &[1; MTU]);
    // It does not help that one comes in the middle.
    lone.side.host.receives.push_back(vec![0; 600]);
    lone.give(2, send_last(), b"lost");
    let host = &lone.side.host;
    assert_eq!(host.count(|o| *o == Observation::NoReceive), 2);
    unharmed(lone, 3, "no receive request");

    // A WRITE has written before its immediate is lost.
    let mut lone = self::lone();
    lone.side.host.receives.clear();
    lone.give(0, Op::WriteFirst(reth(0, 260)), &[1; MTU]);
    lone.give(1, Op::WriteLast(Some(IMM)), b"last");
    assert_eq!(lone.side.host.memory[..MTU], [1; MTU]);
    unharmed(lone, 2, "no receive request for an immediate");
}

#[test]
fn faults_of_memory_drop_the_message_and_nothing_else() {
    let bad = Reth {
        rkey: BAD_KEY,
        ..reth(0, 4)
    };
    let mut lone = lone();
    lone.give(0, Op::WriteOnly(bad, None), b"abcd");
    lone.give(1, Op::WriteOnly(bad, Some(IMM)), b"abcd");
    let outside = reth((1 << 20) - 2, 4);
    lone.give(2, Op::WriteOnly(outside, None), b"abcd");
    lone.give(3, Op::WriteFirst(reth((1 << 20) - 300, 600)), &[1; MTU]);
    lone.give(4, Op::WriteMiddle, &[1; MTU]);
    lone.give(5, Op::WriteLast(None), &[1; 88]);
    assert_eq!(lone.side.host.writes, 0);
    unharmed(lone, 6, "key");
    for fault in [Fault::Access, Fault::Operational, Fault::Busy] {
        let mut lone = self::lone();
        lone.side.host.faults = [None, Some(fault)].into();
        lone.give(0, Op::WriteFirst(reth(0, 900)), &[1; MTU]);
        lone.give(1, Op::WriteMiddle, &[2; MTU]);
        lone.give(2, Op::WriteMiddle, &[3; MTU]);
        assert_eq!(lone.side.host.writes, 1);
        unharmed(lone, 4, &format!("{fault:?}"));
    }
}

#[test]
fn what_is_not_allowed_is_dropped() {
    let mut setup = setup();
    setup.attributes.access.remote_write = false;
    let mut lone = Lone::new(&setup);
    lone.side.host.receives.push_back(vec![0; 600]);
    lone.give(0, write_only(0, 4), b"abcd");
    lone.give(1, Op::WriteOnly(reth(0, 4), Some(IMM)), b"abcd");
    lone.give(2, Op::WriteFirst(reth(0, 300)), &[1; MTU]);
    lone.give(3, Op::WriteLast(None), &[1; 44]);
    assert_eq!(lone.side.host.writes, 0);
    unharmed(lone, 4, "no right");
}

#[test]
fn wrong_lengths_and_sequences_drop_the_message() {
    let first = (Op::SendFirst, MTU);
    let write = (Op::WriteFirst(reth(0, 600)), MTU);
    let cases: &[&[(Op, usize)]] = &[
        &[(Op::SendFirst, MTU - 1), (send_last(), 1)],
        &[first, (Op::SendMiddle, 4), (send_last(), 1)],
        &[first, (send_last(), 0)],
        &[first, (send_last(), MTU + 1)],
        &[(send_only(), MTU + 1)],
        // Longer than the receive request.
        &[first, (Op::SendMiddle, MTU), (send_last(), 89)],
        &[first, (Op::WriteMiddle, MTU), (send_last(), 4)],
        &[write, (Op::SendMiddle, MTU), (Op::WriteLast(None), 88)],
        &[write, (Op::WriteLast(Some(IMM)), 4)],
        &[
            write,
            (Op::WriteMiddle, MTU),
            (Op::WriteLast(Some(IMM)), 89),
        ],
        &[write, (Op::WriteMiddle, MTU), (Op::WriteMiddle, MTU)],
        &[(write_only(0, 4), 3)],
        &[(Op::WriteFirst(reth(0, u32::MAX)), MTU)],
        &[(Op::SendMiddle, MTU), (send_last(), 4)],
        &[(Op::WriteMiddle, MTU), (Op::WriteLast(Some(IMM)), 4)],
    ];
    for case in cases {
        let mut lone = lone();
        for (n, &(op, bytes)) in case.iter().enumerate() {
            lone.give(n as i64, op, &vec![9; bytes]);
        }
        unharmed(lone, case.len() as i64, &format!("{case:?}"));
    }
}

#[test]
fn what_only_reliable_connections_have_is_dropped() {
    for (op, bytes) in [
        (read_request(0, 4), 0),
        (fetch_add(0), 0),
        (Op::CompareSwap(atomic_at(0)), 0),
        (Op::Flush(VISIBLE, reth(0, 4)), 0),
        (Op::AtomicWrite(reth(0, 8)), 8),
        (ack(1), 0),
        (response(0, 1, 1), 4),
        (nak(oxe_proto::wire::aeth::NakCode::RemoteAccess, 0), 0),
    ] {
        let mut lone = lone();
        lone.give(0, op, &vec![9; bytes]);
        assert_eq!(lone.side.host.atomics + lone.side.host.writes, 0);
        unharmed(lone, 1, &format!("{op:?}"));
        // Also within a message.
        let mut lone = self::lone();
        lone.give(0, Op::SendFirst, &[1; MTU]);
        lone.give(1, op, &vec![9; bytes]);
        assert_eq!(lone.side.host.atomics + lone.side.host.writes, 0);
        unharmed(lone, 2, &format!("{op:?}"));
    }
}

#[test]
fn a_request_ends_when_it_is_sent() {
    let mut lone = Lone::new(&setup());
    for length in [0, 4, 256, 257, 5000] {
        lone.side.post(send(), pattern(length, 1));
    }
    lone.side
        .post_wr(unsignalled(write(0), 300), pattern(300, 1));
    lone.side.post(write_immediate(0), pattern(300, 1));
    let said = lone.said_in_full();
    assert_eq!(said.len(), 1 + 1 + 1 + 2 + 20 + 2 + 2);
    assert!(said.iter().all(|(packet, _)| !packet.ack_req));
    let psns: Vec<_> = said.iter().map(|(packet, _)| packet.psn.get()).collect();
    let expected: Vec<_> = (0..29).map(|n| lone.psn(n).get()).collect();
    assert_eq!(psns, expected);
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 7]);
    assert!(!lone.side.done[5].reported);
    assert_eq!(lone.side.engine.next_timeout(), None);
    // There is no window.
    lone.side.post(write(0), vec![0; 1000 * MTU]);
    assert_eq!(lone.said().len(), 1000);
}

#[test]
fn a_completion_comes_with_the_last_packet() {
    let mut lone = Lone::new(&setup());
    lone.side.post(send(), pattern(600, 1));
    for n in 0..3 {
        lone.side.collect();
        assert_eq!(lone.side.done.len(), 0);
        assert_eq!(lone.say_one().map(|said| said.0), Some(n));
    }
    lone.side.collect();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}

#[test]
fn whatever_is_lost_what_arrives_is_whole() {
    for seed in 0..50_u32 {
        let mut pair = Pair::new(&setup());
        pair.b.host.receives.extend((0..64).map(|_| vec![0; 1500]));
        for n in 0..60 {
            pair.a.post(send(), pattern(n as usize * 23, n));
        }
        let mut state = seed * 2 + 1;
        pair.run(|_, _, _| {
            state = state.wrapping_mul(0x9e37_79b1).wrapping_add(0x1234_5678);
            state >> 28 != 0
        });
        assert_eq!(pair.a.statuses(), [WcStatus::Success; 60]);
        let mut last = -1;
        for (completion, buffer) in &pair.b.host.received {
            let length = completion.bytes as usize;
            assert_eq!(length % 23, 0);
            assert!(length as i32 / 23 > last);
            last = length as i32 / 23;
            assert_eq!(buffer[..length], pattern(length, last as u8));
        }
        assert!((10..60).contains(&pair.b.host.received.len()));
    }
}

/// A request that fails is posted between two others.
fn failed(op: SendOp, length: u32) -> Lone {
    let mut lone = lone();
    lone.side.post(send(), b"1st".to_vec());
    lone.side.post_wr(
        SendWr {
            signalled: false,
            ..SendWr::new(op, length)
        },
        vec![0; 8],
    );
    lone.side.post(send(), b"3rd".to_vec());
    assert_eq!(lone.said(), [(0, send_only())]);
    lone
}

#[test]
fn a_request_that_cannot_be_done_leads_to_the_send_queue_error() {
    let bad = [
        (read(0), 8, WcStatus::LocalQpOperation),
        (add(0), 8, WcStatus::LocalQpOperation),
        (flush(), 8, WcStatus::LocalQpOperation),
        (atomic_write(0), 8, WcStatus::LocalQpOperation),
        (datagram(), 8, WcStatus::LocalQpOperation),
        (
            SendOp::Send(Tail::Invalidate(pair::RKEY)),
            8,
            WcStatus::LocalQpOperation,
        ),
        (send(), (1 << 31) + 1, WcStatus::LocalLength),
    ];
    for (op, length, status) in bad {
        let mut lone = failed(op, length);
        let ended = [WcStatus::Success, status, WcStatus::Flushed];
        assert_eq!(lone.side.statuses(), ended, "{op:?}");
        assert!(lone.side.done[1].reported);
        assert_eq!(lone.state(), State::Sqe);
        assert!(lone.side.events.is_empty());
        // What is posted now is flushed; what comes in is received.
        lone.side.post(send(), b"4th".to_vec());
        assert_eq!(lone.said(), []);
        assert_eq!(lone.side.statuses()[3..], [WcStatus::Flushed]);
        lone.give(0, send_only(), b"abcd");
        assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
        // And then it goes on, with the next number.
        lone.side.go(State::Rts);
        assert_eq!(lone.said(), []);
        lone.side.post(send(), b"5th".to_vec());
        assert_eq!(lone.said(), [(1, send_only())]);
        assert_eq!(lone.side.statuses()[4..], [WcStatus::Success]);
    }
}

#[test]
fn the_send_queue_error_can_be_left_for_error_and_reset() {
    let mut lone = failed(read(0), 8);
    lone.side.go(State::Err);
    lone.side.post(send(), b"4th".to_vec());
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.statuses()[3..], [WcStatus::Flushed]);
    lone.give(0, send_only(), b"abcd");
    assert!(lone.side.host.received.is_empty());

    let mut lone = failed(read(0), 8);
    lone.side.go(State::Reset);
    lone.side.connect(&setup(), pair::lone::PEER);
    lone.side.post(send(), b"4th".to_vec());
    assert_eq!(lone.said(), [(0, send_only())]);
    assert_eq!(lone.side.statuses()[3..], [WcStatus::Success]);
}

#[test]
fn a_bad_receive_request_fails_the_queue_pair() {
    // Our sources say nothing of this case; the receive queue cannot be trusted any more.
    let mut lone = lone();
    lone.side
        .host
        .bad_receives
        .push_back(WcStatus::LocalQpOperation);
    lone.give(0, send_only(), b"abcd");
    assert_eq!(lone.said(), []);
    assert_eq!(
        lone.side.host.receive_statuses(),
        [WcStatus::LocalQpOperation]
    );
    assert_eq!(lone.state(), State::Err);
}
