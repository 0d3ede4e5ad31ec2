// SPDX-License-Identifier: GPL-2.0

//! Acknowledgements are asked for often enough, and not more often: whatever is in the queue, it
//! ends without a timer having to run out, and a burst has one answer.

mod pair;

use oxe_proto::{
    transport::{
        error::{Fault, WcStatus},
        ports::Observation,
        state::{AttributeMask, State},
        wr::{SendOp, SendWr},
        Event,
    },
    types::{Instant, Span},
    wire::packet::Op,
};
use pair::{craft::*, pattern, Lone, Pair, Setup};

/// Pseudo-random numbers, the same every time.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % sides
    }
}

fn timers_ran_out(pair: &Pair) -> usize {
    let count = |o: &Observation| matches!(o, Observation::AckTimeout(_) | Observation::Probe(_));
    pair.a.host.count(count) + pair.b.host.count(count)
}

/// Packets sent again, for whatever reason.
fn sent_again(pair: &Pair) -> usize {
    let count = |o: &Observation| matches!(o, Observation::Retransmitted(_));
    pair.a.host.count(count) + pair.b.host.count(count)
}

fn random_request(dice: &mut Dice) -> (SendWr, usize) {
    let sizes = [0, 1, 4, 255, 256, 257, 700, 2000, 9000];
    let size = sizes[dice.roll(9) as usize];
    let (op, length) = match dice.roll(12) {
        0..=3 => (send(), size),
        4..=6 => (write(dice.roll(0x8_0000)), size),
        7 => (read(dice.roll(0x8_0000)), size),
        8 => (add(0x9_0000 + 8 * dice.roll(100)), 8),
        9 => (SendOp::Local, 0),
        10 => (write_immediate(0), size),
        _ if dice.roll(2) == 0 => (flush(), 0),
        _ => (atomic_write(0x9_8000), 8),
    };
    let wr = SendWr {
        fence: dice.roll(6) == 0,
        signalled: dice.roll(3) != 0,
        ..SendWr::new(op, length as u32)
    };
    (wr, length)
}

#[test]
fn whatever_is_in_the_queue_ends_without_a_timer() {
    let windows = [1, 2, 3, 4, 5, 8, 31, 64, 256, 4096];
    for seed in 0..400 {
        let mut dice = Dice::new(seed);
        let mut setup = Setup {
            window: windows[dice.roll(10) as usize],
            burst: 1 + dice.roll(40) as u32,
            ..Setup::default()
        };
        setup.attributes.max_rd_atomic = 1 + dice.roll(4) as u8;
        let mut pair = Pair::new(&setup);
        let mut count = 0;
        for _ in 0..1 + dice.roll(5) {
            for _ in 0..1 + dice.roll(20) {
                let (wr, length) = random_request(&mut dice);
                pair.a.post_wr(wr, pattern(length, 1));
                pair.b.host.receives.push_back(vec![0; 9000]);
                count += 1;
            }
            // The rest of the queue is filled while this is under way.
            for _ in 0..dice.roll(4) {
                pair.step(|_, _| true);
            }
            if pair.a.engine.send_queue_len() > 40 {
                pair.run_all();
            }
        }
        pair.run_all();
        assert_eq!(pair.a.statuses(), vec![WcStatus::Success; count], "{seed}");
        assert_eq!(timers_ran_out(&pair) + sent_again(&pair), 0, "{seed}");
    }
}

#[test]
fn both_ways_at_once_no_timer_runs_out_either() {
    for seed in 0..100 {
        let mut dice = Dice::new(seed + 1000);
        let mut pair = Pair::new(&Setup::default());
        for side in [&mut pair.a, &mut pair.b] {
            side.host.receives.extend((0..40).map(|_| vec![0; 9000]));
            for _ in 0..30 {
                let (wr, length) = random_request(&mut dice);
                side.post_wr(wr, pattern(length, 1));
            }
        }
        pair.run_all();
        assert_eq!(pair.a.statuses(), [WcStatus::Success; 30], "{seed}");
        assert_eq!(pair.b.statuses(), [WcStatus::Success; 30], "{seed}");
        assert_eq!(timers_ran_out(&pair) + sent_again(&pair), 0, "{seed}");
    }
}

#[test]
fn a_queue_that_is_drained_at_any_packet_needs_no_timer() {
    for seed in 0..20 {
        for at in 0..40 {
            let mut dice = Dice::new(seed);
            let mut pair = Pair::new(&Setup::default());
            for _ in 0..12 {
                let (wr, length) = random_request(&mut dice);
                pair.a.post_wr(wr, pattern(length, 1));
                pair.b.host.receives.push_back(vec![0; 9000]);
            }
            // So many packets go out, then the move comes.
            for _ in 0..at {
                if let Some((packet, data)) = pair.a.send_one(pair.now) {
                    pair.b.receive(pair.now, packet, data);
                }
            }
            let attributes = oxe_proto::transport::attributes::Attributes {
                sq_drained_event: true,
                ..Default::default()
            };
            let mask = AttributeMask::SQ_DRAINED_EVENT;
            pair.a.modify(State::Sqd, mask, attributes);
            pair.run_all();
            assert_eq!(timers_ran_out(&pair), 0, "{seed} {at}");
            assert_eq!(pair.a.events, [Event::SendQueueDrained]);
            pair.a.go(State::Rts);
            pair.run_all();
            assert_eq!(pair.a.statuses(), [WcStatus::Success; 12], "{seed} {at}");
            assert_eq!(timers_ran_out(&pair), 0, "{seed} {at}");
        }
    }
}

#[test]
fn every_length_of_message_and_window_is_acknowledged() {
    for window in 1..40 {
        for packets in 1..80 {
            let setup = Setup {
                window,
                ..Setup::default()
            };
            let mut pair = Pair::new(&setup);
            pair.a.post(write(0), vec![1; packets * 256]);
            pair.a.post(write(0), vec![1; packets * 256]);
            pair.run_all();
            assert_eq!(pair.a.statuses(), [WcStatus::Success; 2]);
            let late = timers_ran_out(&pair) + sent_again(&pair);
            assert_eq!(late, 0, "{window} {packets}");
        }
    }
}

#[test]
fn the_window_bounds_what_is_not_acknowledged() {
    for window in [1, 2, 3, 7, 64] {
        for burst in [1, 2, 5, 100] {
            let setup = Setup {
                window,
                burst,
                ..Setup::default()
            };
            let mut lone = Lone::new(&setup);
            for _ in 0..10 {
                lone.side.post(write(0), vec![1; 25 * 256]);
            }
            let (mut sent, mut acknowledged) = (0, 0);
            while acknowledged < 250 {
                let said = lone.said_in_full();
                sent += said.len();
                assert_eq!(sent, (acknowledged + window as usize).min(250));
                // The last one of a full window asks.
                if let Some((last, _)) = said.last() {
                    assert!(last.ack_req, "{window} {sent}");
                }
                // Not all of it may have arrived yet.
                let step = (window as usize).div_ceil(2).min(sent - acknowledged);
                acknowledged += step;
                lone.give(acknowledged as i64 - 1, ack(1), &[]);
            }
            lone.said();
            assert_eq!(lone.side.statuses(), [WcStatus::Success; 10]);
        }
    }
}

#[test]
fn a_burst_has_one_answer() {
    let mut pair = Pair::new(&Setup::default());
    for _ in 0..30 {
        pair.a.post(write(0), vec![1; 256]);
    }
    pair.run_all();
    assert_eq!(pair.sent('b').len(), 1);
    // And not many ask for one.
    let asking = pair
        .sent('a')
        .iter()
        .filter(|packet| packet.ack_req)
        .count();
    assert!(asking <= 2, "{asking}");
}

#[test]
fn packets_that_all_ask_get_one_answer_if_they_come_together() {
    let mut lone = Lone::usual();
    for count in [1, 2, 64] {
        for n in 0..count {
            lone.give(n, write_only(0, 4), b"data");
        }
        let msn = count as u32;
        assert_eq!(lone.said(), [(count - 1, ack(msn))]);
        // The same again: duplicates have one answer, too.
        for n in 0..count {
            lone.give(n, write_only(0, 4), b"data");
        }
        assert_eq!(lone.said(), [(count - 1, ack(msn))]);
        lone = Lone::usual();
    }
}

#[test]
fn reads_and_atomics_are_answered_by_their_responses_alone() {
    let mut pair = Pair::new(&Setup::default());
    pair.a.post(write(0), vec![1; 256]);
    pair.a.post(read(0), vec![1; 700]);
    pair.a.post(add(0), vec![1; 8]);
    pair.a.post(flush(), Vec::new());
    pair.a.post(atomic_write(0), vec![1; 8]);
    pair.run_all();
    assert_eq!(pair.a.statuses(), [WcStatus::Success; 5]);
    let answers = pair.sent('b');
    assert_eq!(answers.len(), 3 + 1 + 1 + 1);
    assert!(answers
        .iter()
        .all(|packet| !matches!(packet.op, Op::Acknowledge(_))));
    // What comes after them has its own.
    let mut lone = Lone::usual();
    lone.give(0, fetch_add(0), &[]);
    lone.give(1, write_only(0, 4), b"abcd");
    let answer = Op::AtomicAcknowledge(acknowledged(1), 0);
    assert_eq!(lone.said(), [(0, answer), (1, ack(2))]);
}

#[test]
fn what_asks_is_answered_and_what_does_not_need_not_be() {
    let mut lone = Lone::usual();
    lone.give_quietly(0, write_only(0, 4), b"abcd");
    assert_eq!(lone.said(), []);
    lone.give_quietly(1, Op::WriteFirst(reth(0, 300)), &[1; 256]);
    assert_eq!(lone.said(), []);
    // Also in the middle of a message, which is not counted yet.
    lone.give(2, Op::WriteLast(None), &[1; 44]);
    assert_eq!(lone.said(), [(2, ack(2))]);
    lone.give(3, Op::WriteFirst(reth(0, 300)), &[1; 256]);
    assert_eq!(lone.said(), [(3, ack(2))]);
}

#[test]
fn packets_in_bursts_are_the_same_as_one_by_one() {
    for seed in 0..60 {
        let mut logs = Vec::new();
        for burst in [1, 2, 7, 64, u32::MAX] {
            let mut dice = Dice::new(seed);
            let setup = Setup {
                window: 1 + dice.roll(100) as u32,
                burst,
                ..Setup::default()
            };
            let mut pair = Pair::new(&setup);
            let mut count = 0;
            for _ in 0..20 {
                let (wr, length) = random_request(&mut dice);
                pair.a.post_wr(wr, pattern(length, 1));
                pair.b.host.receives.push_back(vec![0; 9000]);
                count += 1;
            }
            pair.run(|_, n, _| n % 37 != 20);
            assert_eq!(pair.a.statuses(), vec![WcStatus::Success; count]);
            logs.push((pair.log, pair.b.host.memory, pair.b.host.received));
        }
        for other in &logs[1..] {
            assert_eq!(logs[0].1, other.1, "{seed}");
            assert_eq!(logs[0].2, other.2, "{seed}");
            let psns = |log: &[(char, _, _)]| log.len();
            // Requests and answers may alternate otherwise, but none is more.
            assert!(psns(&other.0) <= psns(&logs[0].0) + 10, "{seed}");
        }
    }
}

#[test]
fn one_message_in_bursts_is_exactly_the_same() {
    for bytes in [1, 256, 257, 600, 5000, 40_000] {
        let mut first = None;
        for burst in [1, 2, 3, 16, u32::MAX] {
            let setup = Setup {
                burst,
                window: 100,
                ..Setup::default()
            };
            let mut lone = Lone::new(&setup);
            lone.side.post(write_immediate(0x40), pattern(bytes, 1));
            let mut said = lone.said_in_full();
            lone.side.host.memory[..bytes].copy_from_slice(&pattern(bytes, 2));
            lone.give(0, read_request(0, bytes as u32), &[]);
            said.extend(lone.said_in_full());
            for (packet, _) in &mut said {
                // When to ask for an acknowledgement may differ.
                packet.ack_req = false;
            }
            let expected = first.get_or_insert_with(|| said.clone());
            assert_eq!(said, *expected, "{bytes} {burst}");
        }
    }
}

#[test]
fn a_slow_peer_is_not_probed_once_its_round_trip_is_known() {
    // 20 ms there and back.
    let mut lone = Lone::usual();
    for n in 0..30_u32 {
        lone.side.post(write(0), vec![1; 4]);
        lone.said();
        let before = lone.side.host.seen.len();
        lone.sleep(Span::from_micros(20_000));
        if n > 2 {
            assert_eq!(lone.side.host.seen.len(), before, "{n}");
        }
        lone.give(i64::from(n), ack(n + 1), &[]);
        lone.said();
    }
    assert!(lone.now > Instant::default());
}

#[test]
fn a_peer_that_becomes_slower_is_not_probed_for_ever() {
    let mut lone = Lone::usual();
    let mut last = 0;
    for n in 0..60_u32 {
        let micros = if n < 20 { 1_000 } else { 20_000 };
        lone.side.post(write(0), vec![1; 4]);
        lone.said();
        lone.sleep(Span::from_micros(micros));
        lone.give(i64::from(n), ack(n + 1), &[]);
        lone.said();
        let probes = lone.side.host.count(|o| matches!(o, Observation::Probe(_)));
        assert!(n < 50 || probes == last, "{n}: {probes} probes");
        last = probes;
    }
}

/// A time so short that it runs out before the first probe; no retry is to be had.
fn impatient() -> Setup {
    Setup::with(|attributes| {
        attributes.timeout = 5;
        attributes.retry_cnt = 0;
    })
}

#[test]
fn a_drain_between_messages_costs_no_retry() {
    let mut pair = Pair::new(&impatient());
    pair.a.post(write(0), vec![1; 4]);
    pair.a.post(write(0), vec![1; 4]);
    let (packet, data) = pair.a.send_one(pair.now).unwrap();
    pair.a.go(State::Sqd);
    pair.b.receive(pair.now, packet, data);
    pair.run_all();
    assert_eq!(pair.a.statuses(), [WcStatus::Success]);
}

#[test]
fn data_that_cannot_be_had_costs_the_message_before_it_no_retry() {
    for (fault, second) in [
        (Fault::Busy, WcStatus::Success),
        (Fault::Access, WcStatus::LocalProtection),
    ] {
        let mut pair = Pair::new(&impatient());
        pair.a.post(write(0), vec![1; 4]);
        pair.a.post(write(0), vec![1; 4]);
        pair.a.host.payload_faults = [None, Some(fault), None].into();
        pair.run_all();
        assert_eq!(pair.a.statuses(), [WcStatus::Success, second], "{fault:?}");
    }
}

#[test]
fn data_that_cannot_be_had_within_a_message_costs_no_retry() {
    let mut pair = Pair::new(&impatient());
    pair.a.post(write(0), vec![1; 1000]);
    let busy = Some(Fault::Busy);
    pair.a.host.payload_faults = [None, None, busy, busy, busy].into();
    pair.run_all();
    assert_eq!(pair.a.statuses(), [WcStatus::Success]);
}
