// SPDX-License-Identifier: GPL-2.0

//! What a queue pair does in each state, and what is left of it after a move.

mod pair;

use oxe_proto::{
    transport::{
        attributes::{Access, Attributes, Change},
        error::{Fault, WcStatus},
        ports::Observation,
        state::{AttributeMask as M, ModifyError, QpType, State},
        wr::{SendOp, SendWr},
        Event, PostError,
    },
    types::{Instant, Pkey, Psn, Qkey, Qpn, Span},
    wire::{
        deth::Deth,
        packet::{Addressing, Op, Packet},
    },
};
use pair::{craft::*, lone::PEER, pattern, Lone, Pair, Setup};

const MTU: usize = 256;
const REFUSED: Result<oxe_proto::transport::wr::SlotIndex, PostError> = Err(PostError::State);

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

#[test]
fn before_ready_to_receive_nothing_is_done() {
    for to_init in [false, true] {
        let mut lone = Lone::reset(&Setup::default());
        if to_init {
            let mask = M::PKEY.with(M::PORT).with(M::ACCESS);
            let attributes = lone.setup.attributes;
            lone.side.modify(State::Init, mask, attributes);
        }
        lone.side.host.receives.push_back(vec![0; 4]);
        assert_eq!(lone.side.engine.post_send(SendWr::new(send(), 0)), REFUSED);
        for (op, bytes) in [
            (send_only(), 4),
            (write_only(0, 4), 4),
            (read_request(0, 4), 0),
            (ack(1), 0),
            (response(0, 1, 1), 4),
        ] {
            assert_eq!(lone.ask(0, op, &vec![1; bytes]), []);
        }
        assert_eq!(unexpected(&lone), 5);
        assert!(lone.side.host.received.is_empty() && lone.side.events.is_empty());
        assert_eq!(lone.side.host.writes, 0);
        assert_eq!(lone.side.engine.next_timeout(), None);
    }
}

#[test]
fn ready_to_receive_answers_but_does_not_send() {
    let setup = Setup::default();
    let mut lone = Lone::reset(&setup);
    lone.side.listen(&setup, PEER);
    lone.side.host.receives.push_back(vec![0; 4]);
    assert_eq!(lone.side.engine.post_send(SendWr::new(send(), 0)), REFUSED);
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))]);
    assert_eq!(
        lone.ask(1, read_request(0, 4), &[])[0],
        (1, response(0, 1, 2))
    );
    assert_eq!(lone.ask(5, send_only(), b"abcd"), [(2, sequence_nak(2))]);
    // Nothing was asked for that could be answered.
    assert_eq!(lone.ask(0, ack(1), &[]), []);
    assert_eq!(lone.side.events, [Event::CommunicationEstablished]);
    lone.side.talk(&setup, PEER);
    lone.side.post(write(0), b"abcd".to_vec());
    assert_eq!(lone.said(), [(0, write_only(0, 4))]);
}

#[test]
fn the_first_good_packet_before_ready_to_send_is_told_once() {
    let setup = Setup::default();
    for qp_type in [QpType::Rc, QpType::Uc, QpType::XrcTgt] {
        let setup = Setup {
            qp_type,
            ..setup.clone()
        };
        let mut lone = Lone::reset(&setup);
        lone.side.listen(&setup, PEER);
        lone.side.host.receives.extend((0..9).map(|_| vec![0; 4]));
        let stranger = Packet {
            pkey: Pkey(0x8001),
            ..lone.packet(0, send_only(), 0)
        };
        lone.side.receive(lone.now, stranger, Vec::new());
        lone.said();
        assert!(lone.side.events.is_empty());
        for n in 0..3 {
            lone.ask(n, send_only(), b"abcd");
        }
        assert_eq!(lone.side.events, [Event::CommunicationEstablished]);
        lone.side.talk(&setup, PEER);
        lone.ask(3, send_only(), b"abcd");
        assert_eq!(lone.side.events.len(), 1);
    }
    // Once a connection.
    let mut lone = Lone::reset(&setup);
    for n in 1..4 {
        lone.side.listen(&setup, PEER);
        lone.ask(0, write_only(0, 4), b"abcd");
        assert_eq!(lone.side.events.len(), n);
        lone.side.go(State::Reset);
    }
    // In RTS it is no news; and it is none any more after the move to RTS.
    let mut lone = Lone::usual();
    lone.ask(0, write_only(0, 4), b"abcd");
    assert!(lone.side.events.is_empty());
    let mut lone = Lone::reset(&setup);
    lone.side.listen(&setup, PEER);
    lone.give(0, write_only(0, 4), b"abcd");
    lone.side.talk(&setup, PEER);
    lone.said();
    assert!(lone.side.events.is_empty());
}

#[test]
fn a_datagram_with_a_wrong_key_is_not_the_first_good_packet() {
    let setup = Setup {
        qp_type: QpType::Ud,
        ..Setup::default()
    };
    let mut lone = Lone::reset(&setup);
    lone.side.listen(&setup, PEER);
    let packet = Packet {
        addressing: Addressing::Datagram(Deth {
            qkey: Qkey(0x666),
            source_qp: Qpn::from_low_bits(0x11),
        }),
        ..lone.packet(0, send_only(), 0)
    };
    lone.side.receive(lone.now, packet, Vec::new());
    lone.said();
    assert!(lone.side.events.is_empty());
}

#[test]
fn a_draining_queue_ends_what_it_has_started_and_starts_nothing() {
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 4]);
    lone.side.post(read(0), vec![0; 300]);
    lone.side.post(write(0), pattern(1000, 1));
    lone.side.post(write(0), vec![1; 4]);
    // The READ and half of the WRITE are under way.
    for n in [0, 2, 3] {
        assert_eq!(lone.say_one().map(|said| said.0), Some(n));
    }
    drain(&mut lone);
    assert_eq!(lone.side.post(read(0), vec![0; 4]).0, 3);
    let said = lone.said();
    assert_eq!(said, [(4, Op::WriteMiddle), (5, Op::WriteLast(None))]);
    assert!(lone.side.events.is_empty());
    // It receives as ever.
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))]);
    // Losses are got over as ever.
    lone.give(4, sequence_nak(0), &[]);
    let said = lone.said();
    assert!(said.contains(&(0, read_request(0, 300))), "{said:?}");
    lone.give(0, response(0, 2, 1), &[7; 256]);
    lone.give(1, response(1, 2, 1), &[7; 44]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
    assert!(lone.side.events.is_empty());
    lone.give(5, ack(2), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
    assert_eq!(lone.side.events, [Event::SendQueueDrained]);
    // Once.
    lone.sleep(Span::from_micros(1_000_000));
    assert_eq!(lone.side.events.len(), 1);
    assert_eq!(lone.side.engine.next_timeout(), None);
    // What waits is done afterwards.
    lone.side.go(State::Rts);
    assert_eq!(
        lone.said(),
        [(6, write_only(0, 4)), (7, read_request(0, 4))]
    );
    lone.give(6, ack(3), &[]);
    lone.give(7, response(0, 1, 4), &[1; 4]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 4]);
    // And again.
    drain(&mut lone);
    lone.said();
    assert_eq!(lone.side.events, [Event::SendQueueDrained; 2]);
}

#[test]
fn the_end_of_draining_is_told_only_if_asked_for() {
    let mut lone = Lone::usual();
    lone.side.post(write(0), vec![1; 4]);
    lone.said();
    lone.side.go(State::Sqd);
    lone.give(0, ack(1), &[]);
    lone.said();
    assert!(lone.side.events.is_empty());
    // Of that drain, not of the next one.
    lone.side.go(State::Rts);
    drain(&mut lone);
    lone.said();
    assert_eq!(lone.side.events, [Event::SendQueueDrained]);
    lone.side.go(State::Rts);
    lone.side.go(State::Sqd);
    lone.said();
    assert_eq!(lone.side.events.len(), 1);
}

#[test]
fn an_empty_queue_is_drained_at_once() {
    for qp_type in [QpType::Rc, QpType::Uc, QpType::Ud, QpType::XrcIni] {
        let mut lone = Lone::of(qp_type);
        drain(&mut lone);
        lone.said();
        assert_eq!(lone.side.events, [Event::SendQueueDrained], "{qp_type:?}");
    }
}

#[test]
fn unreliable_messages_under_way_are_finished_while_draining() {
    let mut lone = Lone::of(QpType::Uc);
    lone.side.post(send(), pattern(600, 1));
    lone.side.post(send(), pattern(600, 1));
    lone.say_one();
    drain(&mut lone);
    assert_eq!(lone.said(), [(1, Op::SendMiddle), (2, send_last())]);
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
    assert_eq!(lone.side.events, [Event::SendQueueDrained]);
}

#[test]
fn a_change_while_draining_does_not_lose_the_event() {
    let mut lone = Lone::usual();
    lone.side.post(write(0), vec![1; 4]);
    lone.said();
    drain(&mut lone);
    let attributes = lone.setup.attributes;
    lone.side.modify(State::Sqd, M::RETRY_CNT, attributes);
    lone.give(0, ack(1), &[]);
    lone.said();
    assert_eq!(lone.side.events, [Event::SendQueueDrained]);
}

#[test]
fn a_queue_that_fails_while_draining_is_not_drained() {
    let setup = Setup::with(|attributes| {
        attributes.timeout = 8;
        attributes.retry_cnt = 1;
    });
    let mut lone = Lone::new(&setup);
    lone.side.post(write(0), vec![1; 4]);
    lone.said();
    drain(&mut lone);
    lone.side.post(write(0), vec![1; 4]);
    lone.sleep(Span::from_micros(10_000));
    assert_eq!(lone.state(), State::Err);
    assert_eq!(lone.side.events, [Event::Failed]);
    let ended = [WcStatus::RetryExceeded, WcStatus::Flushed];
    assert_eq!(lone.side.statuses(), ended);
}

#[test]
fn a_timeout_can_be_changed_while_draining() {
    let mut lone = Lone::new(&Setup::with(|attributes| attributes.timeout = 0));
    lone.side.post(write(0), vec![1; 4]);
    lone.said();
    lone.side.go(State::Sqd);
    let attributes = Attributes {
        timeout: 8,
        retry_cnt: 1,
        ..lone.setup.attributes
    };
    lone.side
        .modify(State::Sqd, M::TIMEOUT.with(M::RETRY_CNT), attributes);
    lone.sleep(Span::from_nanos(2 * (4096 << 8) - 1));
    assert_eq!(lone.state(), State::Sqd);
    lone.sleep(Span::from_nanos(1));
    assert_eq!(lone.state(), State::Err);
}

#[test]
fn a_read_that_waits_when_reads_are_no_longer_agreed_fails() {
    let mut lone = Lone::usual();
    lone.side.go(State::Sqd);
    lone.side.post(read(0), vec![0; 4]);
    lone.side.post(write(0), vec![0; 4]);
    let attributes = Attributes {
        max_rd_atomic: 0,
        ..lone.setup.attributes
    };
    lone.side.modify(State::Sqd, M::MAX_RD_ATOMIC, attributes);
    lone.side.go(State::Rts);
    lone.said();
    // Otherwise it would wait for ever.
    let ended = [WcStatus::LocalQpOperation, WcStatus::Flushed];
    assert_eq!(lone.side.statuses(), ended);
}

#[test]
fn reads_agreed_before_they_start_are_done() {
    let mut lone = Lone::new(&Setup::with(|attributes| attributes.max_rd_atomic = 0));
    lone.side.go(State::Sqd);
    let attributes = Attributes {
        max_rd_atomic: 1,
        ..lone.setup.attributes
    };
    lone.side.modify(State::Sqd, M::MAX_RD_ATOMIC, attributes);
    lone.side.post(read(0), vec![0; 4]);
    lone.side.go(State::Rts);
    assert_eq!(lone.said(), [(0, read_request(0, 4))]);
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
fn a_refused_modify_changes_nothing() {
    let setup = Setup::default();
    let good = Attributes {
        timeout: 10,
        retry_cnt: 2,
        ..setup.attributes
    };
    let refused = |lone: &mut Lone, change: Change, error: ModifyError| {
        let before = *lone.side.engine.attributes();
        let state = lone.state();
        let result = lone
            .side
            .engine
            .modify(lone.now, &change, &mut lone.side.host);
        assert_eq!(result, Err(error));
        assert_eq!(*lone.side.engine.attributes(), before);
        assert_eq!(lone.state(), state);
    };
    let change = |state, mask, attributes| Change {
        state: Some(state),
        current: None,
        mask,
        attributes,
    };
    let mut lone = Lone::reset(&setup);
    let init = M::PKEY.with(M::PORT).with(M::ACCESS);
    let attributes = setup.attributes_with(PEER);
    refused(
        &mut lone,
        change(State::Rts, M::NONE, attributes),
        ModifyError::Transition,
    );
    refused(
        &mut lone,
        change(State::Init, M::PKEY.with(M::PORT), attributes),
        ModifyError::Missing(M::ACCESS),
    );
    refused(
        &mut lone,
        change(State::Init, init.with(M::QKEY), attributes),
        ModifyError::NotAllowed(M::QKEY),
    );
    lone.side.modify(State::Init, init, attributes);
    let rtr = M::ADDRESS
        .with(M::PATH_MTU)
        .with(M::DEST_QP)
        .with(M::RQ_PSN)
        .with(M::MAX_DEST_RD_ATOMIC)
        .with(M::MIN_RNR_TIMER);
    for (attribute, wrong) in [
        (
            M::MIN_RNR_TIMER,
            Attributes {
                min_rnr_timer: 32,
                ..attributes
            },
        ),
        (
            M::MAX_DEST_RD_ATOMIC,
            Attributes {
                max_dest_rd_atomic: 17,
                ..attributes
            },
        ),
    ] {
        let error = ModifyError::Value(attribute);
        refused(&mut lone, change(State::Rtr, rtr, wrong), error);
    }
    lone.side.modify(State::Rtr, rtr, attributes);
    let rts = M::SQ_PSN
        .with(M::TIMEOUT)
        .with(M::RETRY_CNT)
        .with(M::RNR_RETRY)
        .with(M::MAX_RD_ATOMIC);
    for (attribute, wrong) in [
        (
            M::TIMEOUT,
            Attributes {
                timeout: 32,
                ..good
            },
        ),
        (
            M::RETRY_CNT,
            Attributes {
                retry_cnt: 8,
                ..good
            },
        ),
        (
            M::RNR_RETRY,
            Attributes {
                rnr_retry: 8,
                ..good
            },
        ),
    ] {
        let error = ModifyError::Value(attribute);
        refused(&mut lone, change(State::Rts, rts, wrong), error);
    }
    let mistaken = Change {
        current: Some(State::Rts),
        ..change(State::Rts, rts.with(M::CURRENT_STATE), attributes)
    };
    refused(&mut lone, mistaken, ModifyError::CurrentState);
    let right = Change {
        current: Some(State::Rtr),
        ..mistaken
    };
    let env = &mut lone.side.host;
    assert_eq!(lone.side.engine.modify(lone.now, &right, env), Ok(()));
    // In the middle of traffic.
    lone.side.post(write(0), pattern(600, 1));
    lone.say_one();
    refused(
        &mut lone,
        change(State::Init, init, attributes),
        ModifyError::Transition,
    );
    refused(
        &mut lone,
        change(State::Sqd, M::TIMEOUT, attributes),
        ModifyError::NotAllowed(M::TIMEOUT),
    );
    assert_eq!(lone.said().len(), 2);
    assert_eq!(lone.ask(0, write_only(0, 1), b"x"), [(0, ack(1))]);
}

#[test]
fn rights_and_the_pause_can_be_changed_at_work() {
    let mut lone = Lone::usual();
    assert_eq!(lone.ask(0, write_only(0, 1), b"x"), [(0, ack(1))]);
    let attributes = Attributes {
        access: Access::default(),
        min_rnr_timer: 9,
        ..Attributes::default()
    };
    lone.side.modify(State::Rts, M::MIN_RNR_TIMER, attributes);
    assert_eq!(lone.ask(1, send_only(), b"x"), [(1, rnr(9, 1))]);
    lone.side.host.receives.push_back(vec![0; 4]);
    assert_eq!(lone.ask(1, send_only(), b"x"), [(1, ack(2))]);
    lone.side.modify(State::Rts, M::ACCESS, attributes);
    let invalid = oxe_proto::wire::aeth::NakCode::InvalidRequest;
    assert_eq!(lone.ask(2, write_only(0, 1), b"x"), [(2, nak(invalid, 2))]);
}

#[test]
fn an_extended_connection_has_a_side_for_each_role() {
    // The target takes requests for the queue that they name.
    let mut lone = Lone::of(QpType::XrcTgt);
    lone.side.host.receives.push_back(vec![0; 4]);
    assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))]);
    assert_eq!(lone.side.host.asked, [Some(SRQ)]);
    assert_eq!(lone.ask(1, send_only(), b"abcd"), [(1, rnr(1, 1))]);
    assert_eq!(lone.ask(1, ack(1), &[]), []);
    // The initiator takes answers only.
    let mut lone = Lone::of(QpType::XrcIni);
    let wr = SendWr {
        srq: SRQ,
        ..SendWr::new(send(), 4)
    };
    lone.side.post_wr(wr, b"abcd".to_vec());
    let (packet, _) = lone.said_in_full().remove(0);
    assert_eq!(packet.addressing, Addressing::SharedQueue(SRQ));
    lone.give(0, ack(1), &[]);
    assert_eq!(lone.ask(0, send_only(), b"abcd"), []);
    assert_eq!(unexpected(&lone), 1);
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);

    let ini = Setup {
        qp_type: QpType::XrcIni,
        ..Setup::default()
    };
    let tgt = Setup {
        qp_type: QpType::XrcTgt,
        ..Setup::default()
    };
    let mut pair = Pair::of(&ini, &tgt);
    pair.b.host.receives.push_back(vec![0; 700]);
    for op in [write(0), read(0), send()] {
        pair.a.post(op, pattern(700, 1));
    }
    pair.a.post(add(0x8000), vec![0; 8]);
    pair.run(|_, count, _| count % 5 != 1);
    assert_eq!(pair.a.statuses(), [WcStatus::Success; 4]);
    assert_eq!(pair.b.host.atomics, 1);
}

#[test]
fn a_congestion_notice_is_no_request() {
    for qp_type in [QpType::Rc, QpType::Uc, QpType::Ud] {
        let mut lone = Lone::of(qp_type);
        let packet = Packet {
            service: oxe_proto::wire::packet::Service::Cnp,
            op: Op::Cnp,
            addressing: Addressing::Connected,
            becn: true,
            ..lone.packet(77, ack(0), 0)
        };
        lone.side.receive(lone.now, packet, Vec::new());
        assert_eq!(lone.said(), []);
        let host = &lone.side.host;
        assert_eq!(host.count(|o| *o == Observation::CongestionNotified), 1);
    }
}

#[test]
fn time_does_not_matter_to_a_queue_pair_at_rest() {
    let mut lone = Lone::usual();
    let env = &mut lone.side.host;
    lone.side
        .engine
        .handle_timeout(Instant::from_nanos(u64::MAX), env);
    assert_eq!(lone.said(), []);
    assert_eq!(lone.state(), State::Rts);
}
