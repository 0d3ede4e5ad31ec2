// SPDX-License-Identifier: GPL-2.0

//! What is left of a queue pair after ERR and RESET, whatever was under way.

mod pair;

use oxe_proto::{
    transport::{
        attributes::Attributes,
        error::{Fault, WcStatus},
        ports::Observation,
        state::{AttributeMask as M, QpType, State},
        wr::{SendOp, SendWr},
        Event,
    },
    types::{Psn, Span},
    wire::packet::{Op, Packet},
};
use pair::{craft::*, lone::PEER, pattern, Lone, Setup};

const MTU: usize = 256;

fn unexpected(lone: &Lone) -> usize {
    lone.side.host.count(|o| *o == Observation::Unexpected)
}

fn asked_for_event() -> Attributes {
    Attributes {
        sq_drained_event: true,
        ..Attributes::default()
    }
}

/// To SQD, with the event.
fn drain(lone: &mut Lone) {
    lone.side
        .modify(State::Sqd, M::SQ_DRAINED_EVENT, asked_for_event());
}

/// Traffic of all kinds is under way, in both directions.
fn busy(setup: &Setup) -> Lone {
    let mut lone = Lone::new(setup);
    lone.side.host.receives.extend([vec![0; 600], vec![0; 600]]);
    lone.side.post_wr(unsignalled(read(0), 600), vec![0; 600]);
    lone.side.post(write(0), pattern(600, 1));
    lone.side.post(SendOp::Local, Vec::new());
    lone.side.post_wr(fenced(send(), 4), vec![1; 4]);
    for _ in 0..3 {
        lone.side.send_one(lone.now);
    }
    lone.give(1, response(1, 3, 1), &[7; 256]);
    lone.give(0, read_request(0, 600), &[]);
    lone.give(3, Op::SendFirst, &[1; MTU]);
    lone.give(5, send_last(), &[1; 4]);
    lone
}

#[test]
fn error_flushes_everything_in_order_and_says_nothing() {
    for shared_receive in [false, true] {
        let mut lone = busy(&Setup {
            shared_receive,
            ..Setup::default()
        });
        lone.side.go(State::Err);
        assert_eq!(lone.said(), []);
        assert_eq!(lone.side.statuses(), [WcStatus::Flushed; 4]);
        let slots: Vec<_> = lone.side.done.iter().map(|done| done.slot.0).collect();
        assert_eq!(slots, [0, 1, 2, 3]);
        assert!(lone.side.done.iter().all(|done| done.reported));
        // The receive request in use ends here, those in the queue at the driver.
        assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Flushed]);
        let events: &[_] = if shared_receive {
            &[Event::LastWqeReached]
        } else {
            &[]
        };
        assert_eq!(lone.side.events, events);
        assert_eq!(lone.side.engine.next_timeout(), None);

        // It stays so.
        lone.side.go(State::Err);
        for n in 4..8 {
            lone.side.post(send(), vec![1; 4]);
            assert_eq!(lone.said(), []);
            assert_eq!(lone.side.done.last().unwrap().slot.0, n);
        }
        assert_eq!(lone.side.statuses(), [WcStatus::Flushed; 8]);
        let before = unexpected(&lone);
        for (n, op) in [(4, send_last()), (0, response(0, 3, 1)), (5, ack(1))] {
            assert_eq!(lone.ask(n, op, &[]), []);
        }
        assert_eq!(unexpected(&lone), before + 3);
        assert_eq!(lone.side.host.received.len(), 1);
        assert_eq!(lone.side.events, events);
    }
}

#[test]
fn what_was_complete_before_the_error_succeeded() {
    let mut lone = Lone::usual();
    for _ in 0..3 {
        lone.side.post(write(0), vec![1; 4]);
    }
    while lone.side.send_one(lone.now).is_some() {}
    lone.give(1, ack(2), &[]);
    // Before the completions are taken.
    lone.side.go(State::Err);
    lone.said();
    let ended = [WcStatus::Success, WcStatus::Success, WcStatus::Flushed];
    assert_eq!(lone.side.statuses(), ended);
}

#[test]
fn the_receive_request_in_use_ends_once() {
    // By a fault of the peer's request: with that status.
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 600]);
    lone.give(0, Op::SendFirst, &[1; MTU]);
    lone.give(1, write_only(0, 4), b"abcd");
    lone.said();
    lone.side.go(State::Err);
    let ended = [WcStatus::RemoteInvalidRequest];
    assert_eq!(lone.side.host.receive_statuses(), ended);
    // By a failure of the send side, or of a READ's memory: flushed.
    for fatal in [false, true] {
        let mut lone = Lone::usual();
        lone.side.host.receives.push_back(vec![0; 600]);
        lone.side.post(write(0), vec![1; 4]);
        lone.said();
        lone.give(0, read_request(0, 4), &[]);
        lone.give(1, Op::SendFirst, &[1; MTU]);
        if fatal {
            lone.give(0, nak(oxe_proto::wire::aeth::NakCode::RemoteAccess, 0), &[]);
        } else {
            lone.side.host.payload_faults = [Some(Fault::Access)].into();
        }
        lone.said();
        assert_eq!(lone.state(), State::Err);
        lone.side.go(State::Err);
        lone.said();
        assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Flushed]);
    }
    // Unreliable ones have one in use between messages, too.
    let mut lone = Lone::of(QpType::Uc);
    lone.side.host.receives.push_back(vec![0; 600]);
    lone.give(0, Op::SendFirst, &[1; MTU]);
    lone.give(7, write_only(0, 4), b"abcd");
    lone.side.go(State::Err);
    assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Flushed]);
}

/// As good as new.
fn starts_anew(mut lone: Lone, name: &str) {
    assert_eq!(lone.said(), [], "{name}");
    assert_eq!(lone.state(), State::Reset, "{name}");
    assert_eq!(lone.side.engine.next_timeout(), None, "{name}");
    assert_eq!(lone.side.engine.send_queue_len(), 0, "{name}");
    assert_eq!(*lone.side.engine.attributes(), Attributes::default());
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [], "{name}");
    lone.side.done.clear();
    lone.side.events.clear();
    lone.side.host.received.clear();

    // With other numbers.
    let old = lone.setup.psn;
    lone.setup.psn = 0x1234;
    let setup = lone.setup.clone();
    lone.side.connect(&setup, PEER);
    lone.side.host.receives.extend([vec![0; 600], vec![0; 600]]);
    assert_eq!(lone.said(), [], "{name}");
    lone.side.post(write(0), vec![1; 4]);
    assert_eq!(lone.said(), [(0, write_only(0, 4))], "{name}");
    // What is still on its way from the old connection is old or far ahead.
    for n in 0..6 {
        for (op, bytes) in [(ack(1), 0), (response(0, 1, 1), 4)] {
            let packet = Packet {
                psn: Psn::from_low_bits(old + n),
                ..lone.packet(0, op, bytes)
            };
            lone.side.receive(lone.now, packet, vec![1; bytes]);
        }
    }
    assert_eq!(lone.said(), [], "{name}");
    assert_eq!(lone.side.statuses(), [], "{name}");
    lone.give(0, ack(1), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success], "{name}");
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))], "{name}");
    let said = lone.ask(1, read_request(0, 4), &[]);
    assert_eq!(said[0], (1, response(0, 1, 2)), "{name}");
    assert_eq!(lone.side.host.received[0].1[..4], *b"abcd");
    assert!(lone.side.events.is_empty(), "{name}");
    // All places of the send queue are free.
    for _ in 0..64 {
        lone.side.post(write(0), vec![1; 4]);
    }
    assert_eq!(lone.said().len(), 64, "{name}");
}

#[test]
fn reset_forgets_everything() {
    let setup = Setup::default();
    let mut lone = busy(&setup);
    lone.side.go(State::Reset);
    starts_anew(lone, "from RTS");

    let mut lone = busy(&setup);
    drain(&mut lone);
    lone.side.go(State::Reset);
    starts_anew(lone, "from SQD");

    let mut lone = busy(&setup);
    lone.side.go(State::Err);
    lone.side.go(State::Reset);
    starts_anew(lone, "from ERR, nothing looked at");

    let mut lone = busy(&setup);
    lone.said();
    lone.side.go(State::Err);
    lone.said();
    lone.side.go(State::Reset);
    starts_anew(lone, "from ERR");

    let mut lone = Lone::new(&Setup::with(|a| a.rnr_retry = 1));
    lone.side.post(send(), vec![1; 4]);
    lone.said();
    lone.give(0, rnr(0, 0), &[]);
    lone.side.go(State::Reset);
    starts_anew(lone, "while waiting for a receiver");

    let mut lone = busy(&setup);
    lone.side.host.payload_faults = [Some(Fault::Busy), Some(Fault::Busy)].into();
    lone.said();
    lone.side.host.payload_faults.clear();
    lone.side.go(State::Reset);
    starts_anew(lone, "while a payload cannot be had");

    // After losses and a failure.
    let mut lone = Lone::new(&Setup::with(|a| a.timeout = 8));
    lone.side.post(write(0), pattern(600, 1));
    lone.sleep(Span::from_micros(1_000_000));
    assert_eq!(lone.state(), State::Err);
    lone.side.go(State::Reset);
    starts_anew(lone, "after a failure");
}

#[test]
fn reset_forgets_a_refusal_that_was_not_sent() {
    let mut lone = Lone::usual();
    lone.give(0, read_request(0, 600), &[]);
    lone.give(3, Op::SendMiddle, &[1; MTU]);
    assert_eq!(lone.state(), State::Err);
    lone.side.go(State::Reset);
    starts_anew(lone, "a READ's answer and a refusal were due");
}

#[test]
fn a_move_to_error_after_a_failure_does_not_swallow_its_refusal() {
    let mut lone = Lone::usual();
    lone.give(0, read_request(0, 600), &[]);
    lone.give(3, Op::SendMiddle, &[1; MTU]);
    assert_eq!(lone.state(), State::Err);
    lone.side.go(State::Err);
    let said = lone.said();
    let numbers: Vec<_> = said.iter().map(|(n, _)| *n).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(lone.side.events, [Event::RequestError, Event::Failed]);
}

#[test]
fn a_driver_can_give_up_a_queue_pair() {
    for qp_type in [QpType::Rc, QpType::Uc, QpType::Ud] {
        let setup = Setup {
            qp_type,
            shared_receive: true,
            ..Setup::default()
        };
        let mut lone = Lone::new(&setup);
        lone.side.go(State::Sqd);
        let op = if qp_type == QpType::Ud {
            datagram()
        } else {
            send()
        };
        lone.side.post(op, vec![1; 4]);
        lone.side.engine.abort(&mut lone.side.host);
        assert_eq!(lone.said(), [], "{qp_type:?}");
        assert_eq!(lone.state(), State::Err);
        assert_eq!(lone.side.statuses(), [WcStatus::Flushed]);
        assert_eq!(lone.side.events, [Event::Failed, Event::LastWqeReached]);
        lone.side.engine.abort(&mut lone.side.host);
        lone.said();
        assert_eq!(lone.side.events.len(), 2);
        // It can be used again after RESET.
        lone.side.go(State::Reset);
        lone.side.connect(&setup, PEER);
        assert_eq!(lone.state(), State::Rts);
    }
}

#[test]
fn what_is_left_over_from_a_send_queue_error_is_flushed_all_the_same() {
    let mut lone = Lone::of(QpType::Uc);
    lone.side.post(send(), b"1st".to_vec());
    lone.side.post(read(0), vec![0; 4]);
    lone.side.post(send(), b"3rd".to_vec());
    // Nothing is taken from the engine but packets.
    while lone.side.send_one(lone.now).is_some() {}
    assert_eq!(lone.state(), State::Sqe);
    lone.side.engine.post_send(SendWr::new(send(), 0)).unwrap();
    lone.side.go(State::Rts);
    lone.side.post(send(), b"5th".to_vec());
    assert_eq!(lone.said(), [(1, send_only())]);
    let ended = [
        WcStatus::Success,
        WcStatus::LocalQpOperation,
        WcStatus::Flushed,
        WcStatus::Flushed,
        WcStatus::Success,
    ];
    assert_eq!(lone.side.statuses(), ended);
}
