// SPDX-License-Identifier: GPL-2.0

//! Answers that refuse, and answers that make no sense: what the requester must not believe.

mod pair;

use oxe_proto::{
    transport::{error::WcStatus, ports::Observation, state::State, Event},
    types::{Psn, Span},
    wire::{
        aeth::{NakCode, Syndrome},
        packet::Op,
    },
};
use pair::{craft::*, detection, pattern, Lone, Setup};

fn setup(timeout: u8, retry_cnt: u8) -> Setup {
    Setup::with(|attributes| {
        attributes.timeout = timeout;
        attributes.retry_cnt = retry_cnt;
    })
}

#[test]
fn refusals_end_their_request_and_flush_the_rest() {
    for (code, status) in [
        (NakCode::InvalidRequest, WcStatus::RemoteInvalidRequest),
        (NakCode::RemoteAccess, WcStatus::RemoteAccess),
        (NakCode::RemoteOperational, WcStatus::RemoteOperation),
    ] {
        // At the first and at the second packet of the third request.
        for at in [3, 4] {
            let mut lone = Lone::usual();
            lone.side.post_wr(unsignalled(write(0), 4), vec![1; 4]);
            lone.side.post(write(0), pattern(300, 2));
            lone.side
                .post_wr(unsignalled(write(0), 600), pattern(600, 3));
            lone.side.post(read(0), vec![0; 10]);
            lone.side.post_wr(unsignalled(send(), 3), vec![1; 3]);
            lone.said();
            lone.give(at, nak(code, 2), &[]);
            lone.side.post(send(), vec![1; 3]);
            assert_eq!(lone.said(), []);
            let ended = [
                WcStatus::Success,
                WcStatus::Success,
                status,
                WcStatus::Flushed,
                WcStatus::Flushed,
                WcStatus::Flushed,
            ];
            assert_eq!(lone.side.statuses(), ended);
            let reported: Vec<_> = lone.side.done.iter().map(|done| done.reported).collect();
            assert_eq!(reported, [false, true, true, true, true, true]);
            assert_eq!(lone.state(), State::Err);
            assert_eq!(lone.side.events, [Event::Failed]);
            assert_eq!(lone.side.engine.next_timeout(), None);
            lone.sleep(Span::from_micros(10_000_000));
            assert_eq!(lone.side.done.len(), 6);
        }
    }
}

/// A READ whose answer is missing, and a WRITE that was refused.
fn refused_behind_a_read(timeout: u8) -> Lone {
    let mut lone = Lone::new(&setup(timeout, 7));
    lone.side.post(read(0), vec![0; 600]);
    lone.side.post(write(0), vec![1; 4]);
    lone.side.post(send(), vec![1; 4]);
    lone.said();
    lone.give(0, response(0, 3, 1), &[1; 256]);
    lone.give(3, nak(NakCode::RemoteAccess, 1), &[]);
    assert_eq!(lone.side.statuses(), []);
    assert_eq!(lone.said(), [(1, read_request(256, 344))]);
    lone
}

#[test]
fn a_refusal_is_its_own_requests_though_an_earlier_answer_is_late() {
    for probes in [0, 20_000] {
        let mut lone = refused_behind_a_read(14);
        lone.side.post(send(), vec![1; 4]);
        lone.wait(Span::from_micros(probes));
        // Nothing is sent but what is missing.
        assert_eq!(lone.said(), []);
        lone.give(1, response(1, 3, 1), &[1; 256]);
        assert_eq!(lone.state(), State::Rts);
        lone.give(2, response(2, 3, 1), &[1; 88]);
        assert_eq!(lone.said(), []);
        let ended = [
            WcStatus::Success,
            WcStatus::RemoteAccess,
            WcStatus::Flushed,
            WcStatus::Flushed,
        ];
        assert_eq!(lone.side.statuses(), ended);
        assert_eq!(lone.state(), State::Err);
        assert_eq!(lone.side.engine.next_timeout(), None);
    }
}

#[test]
fn an_answer_that_never_comes_after_a_refusal_is_waited_for_once() {
    // However many retries there are, and without a timeout, too.
    for (timeout, longest) in [(14, detection(14)), (0, Span::from_micros(500_000))] {
        let mut lone = refused_behind_a_read(timeout);
        lone.sleep(Span::from_nanos(longest.as_nanos() - 1));
        assert_eq!(lone.state(), State::Rts, "{timeout}");
        lone.sleep(Span::from_nanos(1));
        let ended = [
            WcStatus::RetryExceeded,
            WcStatus::Flushed,
            WcStatus::Flushed,
        ];
        assert_eq!(lone.side.statuses(), ended, "{timeout}");
        assert_eq!(lone.state(), State::Err);
    }
}

#[test]
fn a_refusal_inside_a_reads_answer_ends_the_read() {
    let mut lone = Lone::usual();
    lone.side.post(read(0), vec![0; 600]);
    lone.side.post(send(), vec![1; 4]);
    lone.said();
    lone.give(2, nak(NakCode::RemoteOperational, 1), &[]);
    assert_eq!(lone.said(), []);
    let ended = [WcStatus::RemoteOperation, WcStatus::Flushed];
    assert_eq!(lone.side.statuses(), ended);
}

/// Three WRITEs are sent, one is acknowledged.
fn one_of_three() -> Lone {
    let mut lone = Lone::new(&setup(14, 3));
    for n in 0..3 {
        lone.side.post(write(0), vec![n; 4]);
    }
    assert_eq!(lone.said().len(), 3);
    lone.give(0, ack(1), &[]);
    lone.said();
    lone
}

/// It still waits for two, and ends them when they are acknowledged.
fn waits_for_two(mut lone: Lone, name: &str) {
    assert_eq!(lone.said(), [], "{name}");
    assert_eq!(lone.state(), State::Rts, "{name}");
    assert_eq!(lone.side.statuses(), [WcStatus::Success], "{name}");
    lone.give(2, ack(3), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 3], "{name}");
}

fn every_answer() -> Vec<(Op, usize)> {
    let mut all = vec![
        (ack(1), 0),
        (rnr(1, 1), 0),
        (Op::AtomicAcknowledge(acknowledged(1), 7), 0),
    ];
    for code in 0..5 {
        all.push((nak(NakCode::from_code(code).unwrap(), 1), 0));
    }
    for number in 0..3 {
        all.push((response(number, 3, 1), 256));
    }
    all.push((response(0, 1, 1), 0));
    all
}

#[test]
fn answers_to_what_is_long_acknowledged_are_ignored() {
    let half = i64::from(Psn::HALF);
    for (op, bytes) in every_answer() {
        for n in [0, -1, -6, -1000, 1 - half] {
            let mut lone = one_of_three();
            lone.give(n, op, &vec![0; bytes]);
            waits_for_two(lone, &format!("{n} {op:?}"));
        }
    }
}

#[test]
fn answers_to_what_was_never_sent_are_ignored() {
    let half = i64::from(Psn::HALF);
    for (op, bytes) in every_answer() {
        for n in [3, 4, 100, 1 << 20, half - 1, half, half + 1] {
            let mut lone = one_of_three();
            lone.give(n, op, &vec![0; bytes]);
            let host = &lone.side.host;
            assert_eq!(
                host.count(|o| matches!(o, Observation::StaleResponse(_))),
                1
            );
            waits_for_two(lone, &format!("{n} {op:?}"));
        }
    }
}

#[test]
fn with_nothing_outstanding_every_answer_is_ignored() {
    for (op, bytes) in every_answer() {
        for n in [-1, 0, 1] {
            let mut lone = Lone::usual();
            lone.give(n, op, &vec![0; bytes]);
            assert_eq!(lone.said(), []);
            assert_eq!(lone.state(), State::Rts);
            assert_eq!(lone.side.engine.next_timeout(), None);
        }
    }
}

#[test]
fn reserved_syndromes_are_ignored() {
    for byte in (0x40..=0x5f).chain(0x65..=0xff) {
        for n in [1, 2] {
            let mut lone = one_of_three();
            lone.give(n, Op::Acknowledge(aeth(Syndrome::from_byte(byte), 1)), &[]);
            waits_for_two(lone, &format!("{byte:x}"));
        }
    }
}

#[test]
fn credits_hold_nothing_back() {
    for code in 0..32 {
        let mut lone = Lone::usual();
        lone.side.post(send(), b"abc".to_vec());
        lone.said();
        let op = Op::Acknowledge(aeth(Syndrome::Ack(code), 1));
        assert_eq!(lone.ask(0, op, &[]), []);
        for n in 0..10 {
            lone.side.post(send(), vec![n; 3]);
            lone.side.post(write_immediate(0), vec![n; 3]);
        }
        assert_eq!(lone.said().len(), 20, "{code}");
        let op = Op::Acknowledge(aeth(Syndrome::Ack(code), 21));
        assert_eq!(lone.ask(20, op, &[]), []);
        assert_eq!(lone.side.statuses(), [WcStatus::Success; 21]);
    }
}

#[test]
fn the_count_of_messages_in_an_answer_does_not_matter() {
    for msn in [0, 5, 0x7f_ffff, 0xff_ffff] {
        let mut lone = Lone::usual();
        lone.side.post(send(), b"abc".to_vec());
        lone.side.post(send(), b"abc".to_vec());
        lone.said();
        assert_eq!(lone.ask(1, ack(msn), &[]), []);
        assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
    }
}
