// SPDX-License-Identifier: GPL-2.0

//! Receiver not ready: what the responder says and leaves alone, how long the requester waits and
//! how often it tries.

mod pair;

use oxe_proto::{
    transport::{error::WcStatus, ports::Observation, state::State, wr::RecvKind, Event},
    types::Span,
    wire::packet::{Op, Tail},
};
use pair::{craft::*, detection, pattern, Lone, Pair, Setup};

const MTU: usize = 256;

/// Microseconds of each code, written down apart from the code under test.
const DELAYS: [u64; 32] = [
    655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840,
    5120, 7680, 10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760,
    327_680, 491_520,
];

#[test]
fn the_responder_says_its_code_and_the_number_that_waits() {
    for code in 0..32 {
        let mut lone = Lone::new(&Setup::with(|attributes| attributes.min_rnr_timer = code));
        assert_eq!(lone.ask(0, write_only(0, 1), b"x"), [(0, ack(1))]);
        assert_eq!(lone.ask(1, send_only(), b"abc"), [(1, rnr(code, 1))]);
        // Again, as long as there is none.
        assert_eq!(lone.ask(1, send_only(), b"abc"), [(1, rnr(code, 1))]);
        lone.side.host.receives.push_back(vec![0; 3]);
        assert_eq!(lone.ask(1, send_only(), b"abc"), [(1, ack(2))]);
        assert_eq!(lone.side.host.received.len(), 1);
        assert_eq!(lone.side.host.received[0].1, b"abc");
        assert_eq!(lone.state(), State::Rts);
        assert!(lone.side.events.is_empty());
    }
}

#[test]
fn it_acknowledges_what_is_before() {
    let mut lone = Lone::usual();
    for n in 0..5 {
        lone.give_quietly(n, write_only(0, 1), b"x");
    }
    lone.give_quietly(5, fetch_add(8), &[]);
    lone.give_quietly(6, send_only(), b"abc");
    let answer = Op::AtomicAcknowledge(acknowledged(6), 0);
    assert_eq!(lone.said(), [(5, answer), (6, rnr(1, 6))]);
}

#[test]
fn what_is_behind_it_is_answered_by_nothing_and_has_its_turn_later() {
    for early_limit in [0, 256] {
        let mut lone = Lone::new(&Setup {
            early_limit,
            ..Setup::default()
        });
        assert_eq!(lone.ask(0, send_only(), b"0"), [(0, rnr(1, 0))]);
        for n in 1..5 {
            assert_eq!(lone.ask(n, send_only(), &[b'0' + n as u8]), []);
        }
        lone.side.host.receives.extend((0..5).map(|_| vec![0; 1]));
        for n in 0..5 {
            lone.give(n, send_only(), &[b'0' + n as u8]);
        }
        assert_eq!(lone.said(), [(4, ack(5))]);
        let received: Vec<_> = lone.side.host.received.iter().map(|r| r.1[0]).collect();
        assert_eq!(received, *b"01234");
        assert_eq!(
            lone.side
                .host
                .count(|seen| matches!(seen, Observation::SequenceNakSent(_))),
            0
        );
    }
}

#[test]
fn a_long_send_needs_its_receive_request_at_once() {
    let mut lone = Lone::usual();
    assert_eq!(lone.ask(0, Op::SendFirst, &[1; MTU]), [(0, rnr(1, 0))]);
    // What came behind it, although it is of the same message, is not taken for a new one.
    assert_eq!(lone.ask(1, Op::SendMiddle, &[2; MTU]), []);
    assert_eq!(lone.ask(2, send_last(), &[3; 4]), []);
    lone.side.host.receives.push_back(vec![0; 600]);
    assert_eq!(lone.ask(0, Op::SendFirst, &[1; MTU]), [(2, ack(1))]);
    assert_eq!(lone.side.host.received[0].0.bytes, 516);
    assert_eq!(lone.side.host.received[0].1[512..516], [3; 4]);
}

#[test]
fn a_write_needs_one_where_its_immediate_is() {
    let mut lone = Lone::usual();
    let data = pattern(600, 1);
    lone.give(0, Op::WriteFirst(reth(0, 600)), &data[..MTU]);
    lone.give(1, Op::WriteMiddle, &data[MTU..2 * MTU]);
    assert_eq!(lone.said(), [(1, ack(0))]);
    let last = Op::WriteLast(Some(IMM));
    assert_eq!(lone.ask(2, last, &data[512..]), [(2, rnr(1, 0))]);
    assert_eq!(lone.ask(2, last, &data[512..]), [(2, rnr(1, 0))]);
    lone.side.host.receives.push_back(Vec::new());
    assert_eq!(lone.ask(2, last, &data[512..]), [(2, ack(1))]);
    assert_eq!(lone.side.host.memory[..600], data);
    let completion = lone.side.host.received[0].0;
    assert_eq!(completion.kind, RecvKind::WriteWithImmediate);
    assert_eq!(completion.tail, Tail::Immediate(IMM));
    assert_eq!(completion.bytes, 600);

    let only = Op::WriteOnly(reth(0x1000, 4), Some(IMM));
    assert_eq!(lone.ask(3, only, b"abcd"), [(3, rnr(1, 1))]);
    // A WRITE without immediate data needs none.
    let mut lone = Lone::usual();
    assert_eq!(lone.ask(0, write_only(0, 4), b"abcd"), [(0, ack(1))]);
}

/// A SEND of three packets is refused at its first, `code` being the time.
fn refused(setup: &Setup, code: u8) -> Lone {
    let mut lone = Lone::new(setup);
    lone.side.post(write(0), vec![1; 4]);
    lone.side.post(send(), pattern(600, 1));
    assert_eq!(lone.said().len(), 4);
    lone.give(1, rnr(code, 1), &[]);
    assert_eq!(lone.said(), []);
    // What was before it is complete.
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
    lone
}

#[test]
fn the_requester_waits_for_the_time_of_the_code_and_no_less() {
    for (code, micros) in DELAYS.into_iter().enumerate() {
        // The acknowledgement timeout, here 8 µs or none, does not cut it short.
        for timeout in [0, 1, 14] {
            let setup = Setup::with(|attributes| attributes.timeout = timeout);
            let mut lone = refused(&setup, code as u8);
            // What is posted meanwhile waits, too.
            lone.side.post(send(), b"later".to_vec());
            let start = lone.now;
            assert_eq!(lone.wait(Span::from_nanos(micros * 1000 - 1)), [], "{code}");
            let said = lone.wait(Span::from_nanos(1));
            assert_eq!(said[0].0.since(start), Span::from_micros(micros), "{code}");
            assert_eq!(said[0].1, 1, "{code}");
            assert_eq!(said[0].2, Op::SendFirst, "{code}");
            let host = &lone.side.host;
            assert_eq!(host.count(|o| matches!(o, Observation::AckTimeout(_))), 0);
            assert_eq!(lone.side.statuses().len(), 1);
        }
    }
}

#[test]
fn the_rest_is_sent_again_if_the_peer_dropped_it() {
    let mut lone = refused(&Setup::default(), 12);
    let mut said = lone.wait(Span::from_micros(640));
    // A peer that answers packet by packet and keeps nothing that comes early.
    let mut expected = 1;
    while expected < 4 && !said.is_empty() {
        for (_, n, _) in std::mem::take(&mut said) {
            if n == expected {
                expected += 1;
            }
        }
        lone.now = lone.now.after(Span::from_micros(5));
        lone.give(expected - 1, ack(1), &[]);
        said = lone.wait(Span::from_micros(5));
    }
    assert_eq!(expected, 4);
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
}

#[test]
fn a_second_answer_of_the_same_kind_does_not_count() {
    let setup = Setup::with(|attributes| attributes.rnr_retry = 1);
    let mut lone = refused(&setup, 12);
    let start = lone.now;
    lone.sleep(Span::from_micros(100));
    for _ in 0..5 {
        lone.give(1, rnr(12, 1), &[]);
    }
    assert_eq!(lone.state(), State::Rts);
    let said = lone.wait(Span::from_micros(10_000));
    assert_eq!(said[0].0.since(start), Span::from_micros(640));
}

#[test]
fn each_retry_is_counted() {
    for rnr_retry in 0..=6 {
        // The other counter has no part in it.
        for retry_cnt in [0, 3] {
            let setup = Setup::with(|attributes| {
                attributes.rnr_retry = rnr_retry;
                attributes.retry_cnt = retry_cnt;
            });
            let mut lone = Lone::new(&setup);
            lone.side.post(send(), b"abc".to_vec());
            lone.side.post(send(), b"def".to_vec());
            lone.said();
            for n in 0..rnr_retry {
                lone.give(0, rnr(1, 0), &[]);
                let said = lone.wait(Span::from_micros(10));
                assert!(!said.is_empty(), "{rnr_retry} {n}");
                assert_eq!(lone.side.statuses(), []);
            }
            lone.give(0, rnr(1, 0), &[]);
            assert_eq!(lone.said(), []);
            assert_eq!(lone.state(), State::Err, "{rnr_retry}");
            assert_eq!(lone.side.events, [Event::Failed]);
            let ended = [WcStatus::RnrRetryExceeded, WcStatus::Flushed];
            assert_eq!(lone.side.statuses(), ended);
            assert!(lone.side.engine.next_timeout().is_none());
            let host = &lone.side.host;
            let received = host.count(|o| matches!(o, Observation::RnrReceived(_)));
            assert_eq!(received, usize::from(rnr_retry) + 1);
        }
    }
}

#[test]
fn seven_is_for_ever() {
    let mut lone = Lone::usual();
    lone.side.post(send(), b"abc".to_vec());
    lone.said();
    for _ in 0..1000 {
        lone.give(0, rnr(1, 0), &[]);
        assert_eq!(lone.wait(Span::from_micros(10)).len(), 1);
    }
    assert_eq!(lone.state(), State::Rts);
    lone.give(0, ack(1), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}

#[test]
fn the_counter_is_full_again_after_progress() {
    let setup = Setup::with(|attributes| attributes.rnr_retry = 2);
    let mut lone = Lone::new(&setup);
    for n in 0..10 {
        lone.side.post(send(), b"abc".to_vec());
        lone.said();
        for _ in 0..2 {
            lone.give(n, rnr(1, n as u32), &[]);
            lone.sleep(Span::from_micros(10));
        }
        lone.give(n, ack(n as u32 + 1), &[]);
        lone.said();
    }
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 10]);
}

#[test]
fn the_other_counter_is_left_alone() {
    let setup = Setup::with(|attributes| {
        attributes.retry_cnt = 1;
        attributes.timeout = 8;
    });
    let mut lone = Lone::new(&setup);
    lone.side.post(send(), b"abc".to_vec());
    lone.said();
    for _ in 0..20 {
        lone.give(0, rnr(1, 0), &[]);
        lone.sleep(Span::from_micros(10));
    }
    // The peer dies: it is tried as often as ever, from the last time on.
    lone.sleep(Span::from_nanos(2 * detection(8).as_nanos() - 1));
    assert_eq!(lone.state(), State::Rts);
    lone.sleep(Span::from_micros(20));
    assert_eq!(lone.state(), State::Err);
    assert_eq!(lone.side.statuses(), [WcStatus::RetryExceeded]);
}

#[test]
fn a_receiver_that_is_late_gets_everything_in_order() {
    for early_limit in [0, 256] {
        let other = Setup {
            early_limit,
            ..Setup::default()
        };
        let mut pair = Pair::of(&Setup::default(), &other);
        for n in 0..10 {
            let op = if n % 3 == 2 {
                write_immediate(0x100)
            } else {
                send()
            };
            pair.a.post(op, pattern(700, n));
        }
        for n in 0..10 {
            // The next one comes when the last is used up and the requester has been told so.
            for _ in 0..50 {
                assert!(pair.step(|_, _| true));
            }
            assert_eq!(pair.b.host.received.len(), n);
            pair.b.host.receives.push_back(vec![0; 700]);
        }
        pair.run_all();
        assert_eq!(pair.a.statuses(), [WcStatus::Success; 10]);
        for (n, (completion, buffer)) in pair.b.host.received.iter().enumerate() {
            if completion.kind == RecvKind::Send {
                assert_eq!(*buffer, pattern(700, n as u8));
            }
        }
        let host = &pair.a.host;
        assert!(host.count(|o| matches!(o, Observation::RnrReceived(_))) > 5);
    }
}
