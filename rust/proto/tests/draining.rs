// SPDX-License-Identifier: GPL-2.0

//! Send queues that drain (SQD): what is finished, what waits, and when it is told.

mod pair;

use oxe_proto::{
    transport::{
        attributes::Attributes,
        error::WcStatus,
        state::{AttributeMask as M, QpType, State},
        Event,
    },
    types::Span,
    wire::packet::Op,
};
use pair::{craft::*, detection, pattern, Lone, Setup};

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
    lone.sleep(Span::from_nanos(2 * detection(8).as_nanos() - 1));
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
