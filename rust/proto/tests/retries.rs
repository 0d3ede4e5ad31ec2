// SPDX-License-Identifier: GPL-2.0

//! Peers that do not answer: when the requester gives up, and what keeps it going.

mod pair;

use oxe_proto::{
    transport::{error::WcStatus, ports::Observation, state::State, Event},
    types::{Instant, Span},
    wire::packet::Op,
};
use pair::{craft::*, detection, pattern, Lone, Pair, Setup};

const NANO: Span = Span::from_nanos(1);

fn less(span: Span) -> Span {
    Span::from_nanos(span.as_nanos() - 1)
}

fn setup(timeout: u8, retry_cnt: u8) -> Setup {
    Setup::with(|attributes| {
        attributes.timeout = timeout;
        attributes.retry_cnt = retry_cnt;
    })
}

fn timeouts(lone: &Lone) -> usize {
    lone.side
        .host
        .count(|o| matches!(o, Observation::AckTimeout(_)))
}

fn probes(lone: &Lone) -> usize {
    lone.side.host.count(|o| matches!(o, Observation::Probe(_)))
}

#[test]
fn a_dead_peer_is_given_up_after_all_retries_and_not_before() {
    for code in [1, 5, 8, 12, 14, 18] {
        // 7 is a number like the others.
        for retry_cnt in 0..=7 {
            let name = format!("timeout {code}, retries {retry_cnt}");
            let mut lone = Lone::new(&setup(code, retry_cnt));
            lone.side.post(write(0), pattern(1000, 1));
            lone.side.post_wr(unsignalled(read(0), 600), vec![0; 600]);
            lone.side.post(send(), b"abc".to_vec());
            assert_eq!(lone.said().len(), 6, "{name}");
            let all = detection(code).times(u64::from(retry_cnt) + 1);
            lone.sleep(less(all));
            assert_eq!(lone.state(), State::Rts, "{name}");
            assert_eq!(lone.side.statuses(), [], "{name}");
            assert_eq!(timeouts(&lone), usize::from(retry_cnt), "{name}");
            lone.sleep(NANO);
            assert_eq!(lone.state(), State::Err, "{name}");
            let ended = [
                WcStatus::RetryExceeded,
                WcStatus::Flushed,
                WcStatus::Flushed,
            ];
            assert_eq!(lone.side.statuses(), ended, "{name}");
            // What fails is reported in any case.
            assert!(lone.side.done.iter().all(|done| done.reported));
            assert_eq!(lone.side.events, [Event::Failed], "{name}");
            assert_eq!(timeouts(&lone), usize::from(retry_cnt) + 1, "{name}");
            assert_eq!(lone.side.engine.next_timeout(), None);

            // Later ones end at once, a late answer changes nothing.
            lone.side.post(send(), b"def".to_vec());
            lone.give(4, ack(3), &[]);
            assert_eq!(lone.said(), []);
            assert_eq!(lone.side.statuses()[3..], [WcStatus::Flushed]);
            assert_eq!(lone.side.engine.send_queue_len(), 0);
        }
    }
}

#[test]
fn each_timeout_sends_everything_again() {
    let mut lone = Lone::new(&setup(8, 3));
    lone.side.post(write(0), pattern(1000, 1));
    lone.side.post(read(0), vec![0; 600]);
    let first = lone.said();
    for _ in 0..3 {
        let said = lone.wait(detection(8));
        let at = said.last().unwrap().0;
        let last: Vec<_> = said.into_iter().filter(|said| said.0 == at).collect();
        let last: Vec<_> = last.into_iter().map(|(_, n, op)| (n, op)).collect();
        assert_eq!(last, first);
    }
}

#[test]
fn progress_fills_the_counter() {
    let mut lone = Lone::new(&setup(8, 1));
    for n in 0..10 {
        lone.side.post(send(), b"abc".to_vec());
        lone.said();
        lone.sleep(detection(8).plus(Span::from_micros(1)));
        lone.give(n, ack(n as u32 + 1), &[]);
        lone.said();
    }
    assert_eq!(timeouts(&lone), 10);
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 10]);
    // Also progress within a message, and within a READ's answer.
    lone.side.post(write(0), pattern(1000, 1));
    lone.side.post(read(0), vec![0; 1000]);
    lone.said();
    for n in 10..14 {
        lone.sleep(detection(8).plus(Span::from_micros(1)));
        lone.give(n, ack(10 + u32::from(n == 13)), &[]);
    }
    for n in 0..4 {
        lone.sleep(detection(8).plus(Span::from_micros(1)));
        let data = if n == 3 { 232 } else { 256 };
        lone.give(i64::from(n) + 14, response(n, 4, 12), &vec![0; data]);
    }
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 12]);
}

#[test]
fn progress_restarts_the_timer() {
    let mut lone = Lone::new(&setup(8, 0));
    lone.side.post(write(0), pattern(1000, 1));
    lone.said();
    lone.sleep(Span::from_nanos(detection(8).as_nanos() * 9 / 10));
    lone.give(1, ack(0), &[]);
    lone.sleep(less(detection(8)));
    assert_eq!(lone.state(), State::Rts);
    lone.sleep(NANO);
    assert_eq!(lone.state(), State::Err);
}

#[test]
fn a_timeout_counts_when_the_specification_lets_it() {
    // No sooner than the timeout and no later than four of it, timers that are late included.
    for code in 1..=31 {
        let timeout = Span::from_nanos(4096 << code);
        let mut lone = Lone::new(&setup(code, 0));
        lone.side.post(send(), vec![0; 3]);
        lone.said();
        lone.sleep(timeout);
        assert_eq!(lone.state(), State::Rts, "{code}");
        lone.sleep(Span::from_nanos(timeout.as_nanos() * 29 / 10));
        assert_eq!(lone.state(), State::Err, "{code}");
    }
}

#[test]
fn a_peer_that_is_heard_is_not_given_up() {
    // A second acknowledgement of what is acknowledged, and one of what comes early.
    let signs = [(0, ack(1), 0), (3, response(1, 4, 2), 256)];
    for (n, sign, bytes) in signs {
        let mut lone = Lone::new(&setup(8, 0));
        lone.side.post(write(0), vec![1; 4]);
        lone.side.post(write(0), vec![1; 4]);
        lone.side.post(read(0), vec![0; 1000]);
        lone.said();
        lone.give(0, ack(1), &[]);
        lone.sleep(less(detection(8)));
        lone.give(n, sign, &vec![1; bytes]);
        lone.sleep(NANO);
        assert_eq!(lone.state(), State::Rts, "{sign:?}");
        lone.sleep(less(less(detection(8))));
        assert_eq!(lone.state(), State::Rts, "{sign:?}");
        lone.sleep(detection(8).times(2));
        assert_eq!(lone.state(), State::Err, "{sign:?}");
    }
}

#[test]
fn a_peer_that_is_heard_but_never_gets_on_is_given_up_all_the_same() {
    for retry_cnt in [0, 7] {
        let mut lone = Lone::new(&setup(8, retry_cnt));
        lone.side.post(send(), vec![1; 4]);
        lone.side.post(send(), vec![1; 4]);
        lone.said();
        lone.give(0, ack(1), &[]);
        let mut periods = 0;
        while lone.state() == State::Rts {
            lone.give(0, ack(1), &[]);
            lone.sleep(detection(8));
            periods += 1;
        }
        let most = 10 + u32::from(retry_cnt);
        assert!((2..=most).contains(&periods), "{periods}");
        let ended = [WcStatus::Success, WcStatus::RetryExceeded];
        assert_eq!(lone.side.statuses(), ended);
    }
}

#[test]
fn what_comes_early_fills_the_counter() {
    let mut lone = Lone::new(&setup(8, 0));
    lone.side.post(read(0), vec![0; 20 * 256]);
    lone.said();
    for n in (1..20).rev() {
        lone.sleep(less(detection(8)));
        lone.give(n, response(1, 3, 1), &[1; 256]);
    }
    lone.sleep(less(detection(8)));
    assert_eq!(lone.state(), State::Rts);
    lone.sleep(detection(8).times(2));
    assert_eq!(lone.state(), State::Err);
}

#[test]
fn a_timeout_asks_for_a_few_responses_at_a_time() {
    let mut lone = Lone::new(&Setup {
        window: 128,
        ..Setup::with(|attributes| {
            attributes.timeout = 8;
            attributes.max_rd_atomic = 16;
        })
    });
    for _ in 0..16 {
        lone.side.post(read(0), vec![0; 16 * 256]);
    }
    assert_eq!(lone.said().len(), 16);
    let said = lone.wait(detection(8));
    let at = said.last().unwrap().0;
    let last: Vec<_> = said.into_iter().filter(|said| said.0 == at).collect();
    let numbers: Vec<_> = last.iter().map(|said| said.1).collect();
    assert_eq!(numbers, [0, 16]);
    // Each answer lets one more come, and those that are late all count.
    for n in 0..16 {
        lone.give(n, response(n as u32, 16, 1), &[1; 256]);
    }
    let said: Vec<_> = lone.said().into_iter().map(|said| said.0).collect();
    assert_eq!(said, [32, 48]);
}

#[test]
fn the_timer_runs_from_when_something_waits_for_an_answer() {
    let mut lone = Lone::new(&setup(8, 0));
    lone.side.post(send(), b"abc".to_vec());
    lone.said();
    lone.give(0, ack(1), &[]);
    assert_eq!(lone.side.engine.next_timeout(), None);
    lone.sleep(detection(8).times(100));
    lone.side.post(send(), b"abc".to_vec());
    lone.sleep(less(detection(8)));
    assert_eq!(lone.state(), State::Rts);
}

#[test]
fn no_timeout_is_never_an_end() {
    let mut lone = Lone::new(&setup(0, 0));
    lone.side.post(send(), b"abc".to_vec());
    lone.said();
    let said = lone.wait(Span::from_micros(3_600_000_000));
    assert_eq!(lone.state(), State::Rts);
    assert_eq!(timeouts(&lone), 0);
    // But the peer is asked now and then.
    assert!(said.len() > 100 && said.len() < 100_000, "{}", said.len());
    lone.give(0, ack(1), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}

#[test]
fn probes_use_up_no_retry() {
    for code in [12, 14, 18] {
        let mut lone = Lone::new(&setup(code, 0));
        lone.side.post(write(0), pattern(1000, 1));
        lone.said();
        let said = lone.wait(less(detection(code)));
        assert!(probes(&lone) >= 1, "{code}");
        assert_eq!(said.len(), probes(&lone));
        // Each is the oldest packet and asks for an answer; they become rarer.
        assert!(said.iter().all(|(_, n, _)| *n == 0));
        assert!(probes(&lone) < 20);
        assert_eq!(lone.state(), State::Rts);
        lone.give(3, ack(1), &[]);
        lone.said();
        assert_eq!(lone.side.statuses(), [WcStatus::Success]);
        assert_eq!(timeouts(&lone), 0);
    }
}

#[test]
fn a_sequence_error_costs_a_retry() {
    // Without any left it is the end.
    let mut lone = Lone::new(&setup(14, 0));
    lone.side.post(write(0), pattern(1000, 1));
    lone.said();
    lone.give(0, sequence_nak(0), &[]);
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.statuses(), [WcStatus::RetryExceeded]);
    // With one, the one timeout after it is.
    let mut lone = Lone::new(&setup(14, 1));
    lone.side.post(write(0), pattern(1000, 1));
    lone.said();
    lone.give(0, sequence_nak(0), &[]);
    assert!(!lone.said().is_empty());
    assert_eq!(lone.state(), State::Rts);
    // Since the peer was heard, the first one does not count.
    lone.sleep(detection(14).times(2));
    assert_eq!(lone.state(), State::Err);
    assert_eq!(timeouts(&lone), 2);
    // Progress fills the counter here, too.
    let mut lone = Lone::new(&setup(14, 1));
    lone.side.post(write(0), pattern(1000, 1));
    lone.said();
    for n in 0..4 {
        lone.give(n, sequence_nak(0), &[]);
        assert!(lone.said().iter().any(|said| said.0 == n));
    }
    assert_eq!(lone.state(), State::Rts);
}

#[test]
fn a_sequence_error_acknowledges_what_is_before_it() {
    let mut lone = Lone::usual();
    for n in 0..4 {
        lone.side.post(write(0), vec![n; 300]);
    }
    lone.said();
    lone.give(5, sequence_nak(2), &[]);
    let said = lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
    assert_eq!(said[0], (5, Op::WriteLast(None)));
    assert!(said.iter().all(|(n, _)| *n >= 5));
}

#[test]
fn late_answers_after_a_timeout_are_taken() {
    let mut lone = Lone::new(&setup(8, 2));
    lone.side.post(write(0), pattern(1000, 1));
    lone.side.post(write(0), pattern(300, 1));
    lone.said();
    lone.sleep(detection(8).times(2));
    // The first answer, then those to what was sent again.
    lone.give(5, ack(2), &[]);
    for n in [0, 3, 5, 5] {
        lone.give(n, ack(2), &[]);
    }
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
    assert_eq!(lone.side.engine.next_timeout(), None);
    lone.side.post(send(), b"abc".to_vec());
    assert_eq!(lone.said(), [(6, send_only())]);
}

#[test]
fn a_lost_acknowledgement_is_got_over() {
    for lost in 1..6 {
        let mut pair = Pair::new(&setup(14, 7));
        pair.b.host.receives.push_back(vec![0; 3]);
        pair.a.post(send(), b"abc".to_vec());
        pair.run(|from, count, _| from != 'b' || count >= lost);
        assert_eq!(pair.a.statuses(), [WcStatus::Success]);
        assert_eq!(pair.b.host.received.len(), 1);
    }
}

#[test]
fn time_may_jump() {
    let mut lone = Lone::new(&setup(8, 7));
    lone.side.post(send(), b"abc".to_vec());
    lone.said();
    // One late call is one timeout, however late it is.
    for n in 1..=7 {
        lone.now = lone.now.after(detection(8).times(1000));
        lone.side
            .engine
            .handle_timeout(lone.now, &mut lone.side.host);
        lone.said();
        assert_eq!(timeouts(&lone), n);
        assert_eq!(lone.state(), State::Rts);
    }
    let end = Instant::from_nanos(u64::MAX);
    lone.side.engine.handle_timeout(end, &mut lone.side.host);
    assert_eq!(lone.state(), State::Err);
}
