// SPDX-License-Identifier: GPL-2.0

//! Data that cannot be had when its packet goes out: for good, or not just now.

mod pair;

use oxe_proto::{
    transport::{
        error::{Fault, WcStatus},
        ports::Observation,
        state::{QpType, State},
        Event,
    },
    types::Span,
    wire::packet::Op,
};
use pair::{craft::*, pattern, Lone, Pair, Setup};

const LOCAL: [(Fault, WcStatus); 2] = [
    (Fault::Access, WcStatus::LocalProtection),
    (Fault::Operational, WcStatus::LocalQpOperation),
];

/// The fault meets the payload after `good` ones.
fn after(good: usize, fault: Fault) -> pair::Faults {
    let mut faults: pair::Faults = (0..good).map(|_| None).collect();
    faults.push_back(Some(fault));
    faults
}

#[test]
fn a_request_whose_data_is_not_there_ends_after_those_before_it() {
    for (fault, status) in LOCAL {
        for good in 0..3 {
            let mut lone = Lone::usual();
            lone.side.post(read(0), vec![0; 4]);
            lone.side.post(write(0), vec![1; 4]);
            lone.side.post(write(0), pattern(600, 1));
            lone.side.post(send(), vec![1; 4]);
            lone.side.host.payload_faults = after(1 + good, fault);
            let said = lone.said();
            assert_eq!(said.len(), 2 + good);
            assert_eq!(lone.state(), State::Rts);
            assert_eq!(lone.side.statuses(), []);
            lone.give(0, response(0, 1, 1), &[1; 4]);
            // The WRITE may not have asked for an acknowledgement; it may do so now.
            assert!(lone.said().iter().all(|(n, _)| *n == 1));
            assert_eq!(lone.side.statuses(), [WcStatus::Success]);
            lone.give(1, ack(2), &[]);
            assert_eq!(lone.said(), []);
            let ended = [
                WcStatus::Success,
                WcStatus::Success,
                status,
                WcStatus::Flushed,
            ];
            assert_eq!(lone.side.statuses(), ended, "{good}");
            assert_eq!(lone.state(), State::Err);
            assert_eq!(lone.side.events, [Event::Failed]);
            assert_eq!(lone.side.engine.next_timeout(), None);
        }
    }
}

#[test]
fn what_was_sent_before_the_fault_ends_in_success() {
    // It may not have asked for an acknowledgement, since more was to follow at once.
    let mut pair = Pair::new(&Setup::default());
    pair.a.post(write(0), vec![1; 4]);
    pair.a.post(write(0), vec![1; 4]);
    pair.a.host.payload_faults = after(1, Fault::Access);
    pair.run_all();
    let ended = [WcStatus::Success, WcStatus::LocalProtection];
    assert_eq!(pair.a.statuses(), ended);
}

#[test]
fn an_atomic_write_has_data_too() {
    for (fault, status) in LOCAL {
        let mut lone = Lone::usual();
        lone.side.post(atomic_write(0), vec![1; 8]);
        lone.side.host.payload_faults = after(0, fault);
        assert_eq!(lone.said(), []);
        assert_eq!(lone.side.statuses(), [status]);
    }
    let mut lone = Lone::usual();
    lone.side.post(atomic_write(0), vec![1; 8]);
    lone.side.host.payload_faults = after(0, Fault::Busy);
    let said = lone.wait(Span::from_micros(10_000));
    assert_eq!(said[0].1, 0);
    lone.give(0, response(0, 1, 1), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}

#[test]
fn data_that_is_not_there_when_sent_again_ends_the_request() {
    for (fault, status) in LOCAL {
        let mut lone = Lone::usual();
        lone.side.post(write(0), pattern(600, 1));
        lone.side.post(write(0), vec![1; 4]);
        lone.said();
        lone.side.host.payload_faults = after(0, fault);
        lone.give(1, sequence_nak(0), &[]);
        assert_eq!(lone.said(), []);
        assert_eq!(lone.side.statuses(), [status, WcStatus::Flushed]);
    }
}

#[test]
fn data_that_is_busy_is_waited_for() {
    for good in 0..3 {
        for times in 1..5 {
            let mut lone = Lone::usual();
            lone.side.host.receives.push_back(vec![0; 4]);
            lone.side.post(write(0), pattern(600, 1));
            lone.side.post(send(), vec![1; 4]);
            lone.side.host.payload_faults = after(good, Fault::Busy);
            for _ in 1..times {
                lone.side.host.payload_faults.push_back(Some(Fault::Busy));
            }
            let start = lone.now;
            assert_eq!(lone.said().len(), good);
            // It is not asked for again and again, and nothing overtakes it.
            let next = lone.side.engine.next_timeout().unwrap();
            assert!(next.since(start) >= Span::from_micros(10));
            assert_eq!(lone.said(), []);
            // Requests of the peer are served meanwhile.
            assert_eq!(lone.ask(0, send_only(), b"abcd"), [(0, ack(1))]);
            let said = lone.wait(Span::from_micros(10_000));
            // Those before may be probed meanwhile.
            let numbers = said.iter().map(|(_, n, _)| *n);
            let first: Vec<_> = numbers
                .filter(|n| *n >= good as i64)
                .take(4 - good)
                .collect();
            let rest: Vec<_> = (good as i64..4).collect();
            assert_eq!(first, rest, "{good} {times}");
            lone.give(3, ack(2), &[]);
            lone.said();
            assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
        }
    }
}

#[test]
fn data_that_is_busy_when_sent_again_is_waited_for() {
    let mut lone = Lone::usual();
    lone.side.post(write(0), pattern(600, 1));
    lone.side.post(write(0), vec![1; 4]);
    lone.said();
    lone.side.host.payload_faults = after(0, Fault::Busy);
    lone.give(1, sequence_nak(0), &[]);
    assert_eq!(lone.said(), []);
    let said = lone.wait(Span::from_micros(2_000));
    assert_eq!(said[0].1, 1);
    lone.give(3, ack(2), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
}

#[test]
fn waiting_for_ones_own_data_uses_up_no_retry() {
    // The peer cannot answer what it was never sent.
    let setup = Setup::with(|attributes| {
        attributes.timeout = 8;
        attributes.retry_cnt = 0;
    });
    let mut lone = Lone::new(&setup);
    lone.side.post(write(0), pattern(600, 1));
    lone.side.host.payload_faults = (0..20).map(|_| Some(Fault::Busy)).collect();
    let mut said = Vec::new();
    while said.is_empty() && lone.state() == State::Rts {
        said = lone.wait(Span::from_micros(100));
    }
    assert_eq!(lone.state(), State::Rts);
    let host = &lone.side.host;
    assert_eq!(host.count(|o| matches!(o, Observation::AckTimeout(_))), 0);
    lone.give(2, ack(1), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}

#[test]
fn memory_that_is_busy_delays_the_answer_to_a_read() {
    for good in 0..3 {
        let mut lone = Lone::usual();
        lone.side.host.memory[..600].copy_from_slice(&pattern(600, 1));
        lone.side.host.payload_faults = after(good, Fault::Busy);
        lone.give(0, read_request(0, 600), &[]);
        lone.give(3, write_only(0x1000, 4), b"abcd");
        let said = lone.said_in_full();
        assert_eq!(said.len(), good);
        // The requester's side goes on.
        lone.side.post(write(0), vec![1; 4]);
        assert_eq!(lone.said(), [(0, write_only(0, 4))]);
        lone.give(0, ack(1), &[]);
        let mut rest = Vec::new();
        for _ in 0..20 {
            let next = lone.side.engine.next_timeout();
            lone.now = next.unwrap_or(lone.now);
            lone.side
                .engine
                .handle_timeout(lone.now, &mut lone.side.host);
            rest.extend(lone.said_in_full());
        }
        let ops: Vec<_> = said
            .iter()
            .chain(&rest)
            .map(|(packet, _)| packet.op)
            .collect();
        let expected: Vec<_> = (0..3).map(|n| response(n, 3, 1)).chain([ack(2)]).collect();
        assert_eq!(ops, expected, "{good}");
        let data = said.into_iter().chain(rest).flat_map(|(_, data)| data);
        assert_eq!(data.collect::<Vec<_>>(), pattern(600, 1));
        assert!(lone.side.events.is_empty());
    }
}

#[test]
fn memory_that_is_busy_when_read_again_delays_that() {
    let mut lone = Lone::usual();
    lone.ask(0, read_request(0, 600), &[]);
    lone.side.host.payload_faults = after(1, Fault::Busy);
    assert_eq!(
        lone.ask(0, read_request(0, 600), &[]),
        [(0, response(0, 3, 1))]
    );
    let said = lone.wait(Span::from_micros(2_000));
    let said: Vec<_> = said.into_iter().map(|(_, n, op)| (n, op)).collect();
    assert_eq!(said, [(1, response(1, 3, 1)), (2, response(2, 3, 1))]);
}

#[test]
fn memory_that_is_busy_makes_a_request_come_again() {
    for (op, bytes) in [
        (write_only(0, 4), 4),
        (fetch_add(0x100), 0),
        (Op::Flush(VISIBLE, reth(0, 4)), 0),
        (Op::AtomicWrite(reth(0, 8)), 8),
        (send_only(), 4),
    ] {
        let mut lone = Lone::usual();
        lone.side.host.receives.extend([vec![0; 4], vec![0; 4]]);
        if op == send_only() {
            lone.side.host.receive_faults = [Some(Fault::Busy)].into();
        } else {
            lone.side.host.faults = [Some(Fault::Busy)].into();
        }
        // As if it had been lost.
        assert_eq!(lone.ask(0, op, &vec![1; bytes]), []);
        assert_eq!(
            lone.ask(1, write_only(0x200, 4), b"abcd"),
            [(0, sequence_nak(0))]
        );
        lone.give(0, op, &vec![1; bytes]);
        let said = lone.said();
        assert_eq!(said.last(), Some(&(1, ack(2))), "{op:?}");
        assert_eq!(lone.state(), State::Rts);
        let host = &lone.side.host;
        assert!(host.atomics <= 1 && host.flushes <= 1 && host.received.len() <= 1);
        assert!(host.asked.len() <= 1);
    }
    let mut lone = Lone::usual();
    lone.side.host.check_faults = [Some(Fault::Busy)].into();
    assert_eq!(lone.ask(0, read_request(0, 4), &[]), []);
    assert_eq!(
        lone.ask(0, read_request(0, 4), &[])[0],
        (0, response(0, 1, 1))
    );
}

#[test]
fn an_unreliable_request_whose_data_is_not_there_stops_the_send_queue() {
    for qp_type in [QpType::Uc, QpType::Ud] {
        let op = if qp_type == QpType::Uc {
            send()
        } else {
            datagram()
        };
        for (fault, status) in LOCAL {
            let mut lone = Lone::of(qp_type);
            lone.side.host.receives.push_back(vec![0; 100]);
            for n in 0..4 {
                lone.side.post(op, vec![n; 4]);
            }
            lone.side.host.payload_faults = after(1, fault);
            assert_eq!(lone.said(), [(0, send_only())]);
            let ended = [
                WcStatus::Success,
                status,
                WcStatus::Flushed,
                WcStatus::Flushed,
            ];
            assert_eq!(lone.side.statuses(), ended, "{qp_type:?}");
            assert_eq!(lone.state(), State::Sqe);
            assert!(lone.side.events.is_empty());
            lone.give(0, send_only(), b"abcd");
            assert_eq!(lone.side.host.receive_statuses(), [WcStatus::Success]);
            lone.side.go(State::Rts);
            lone.side.post(op, vec![5; 4]);
            let said = lone.said_in_full();
            assert_eq!(said.len(), 1);
            assert_eq!(said[0].1, [5; 4]);
            assert_eq!(lone.side.statuses()[4..], [WcStatus::Success]);
        }
    }
}

#[test]
fn an_unreliable_message_that_fails_in_its_middle_is_not_delivered() {
    let setup = Setup {
        qp_type: QpType::Uc,
        ..Setup::default()
    };
    for good in 0..3 {
        let mut pair = Pair::new(&setup);
        pair.b.host.receives.extend([vec![0; 600], vec![0; 600]]);
        pair.a.post(send(), pattern(600, 1));
        pair.a.host.payload_faults = after(good, Fault::Access);
        pair.run_all();
        assert_eq!(pair.a.statuses(), [WcStatus::LocalProtection]);
        assert_eq!(pair.a.state(), State::Sqe);
        pair.a.go(State::Rts);
        pair.a.post(send(), pattern(500, 2));
        pair.run_all();
        assert_eq!(pair.b.host.received.len(), 1);
        assert_eq!(pair.b.host.received[0].0.bytes, 500);
        assert_eq!(pair.b.host.received[0].1[..500], pattern(500, 2));
    }
}

#[test]
fn an_unreliable_request_whose_data_is_busy_goes_on_later() {
    for qp_type in [QpType::Uc, QpType::Ud] {
        let setup = Setup {
            qp_type,
            ..Setup::default()
        };
        let (op, length) = if qp_type == QpType::Uc {
            (send(), 600)
        } else {
            (datagram(), 200)
        };
        for good in 0..6 {
            let mut pair = Pair::new(&setup);
            pair.b.host.receives.extend((0..3).map(|_| vec![0; 640]));
            for n in 0..3 {
                pair.a.post(op, pattern(length, n));
            }
            pair.a.host.payload_faults = after(good, Fault::Busy);
            let first = pair.a.send(pair.now).len();
            assert!(first <= good);
            for n in 0..3 {
                // None has ended whose last packet has not been sent.
                assert!(pair.a.done.len() * length.div_ceil(256) <= first, "{n}");
            }
            // What was sent up to now is lost for the peer, the rest is in order.
            pair.run_all();
            assert_eq!(pair.a.statuses(), [WcStatus::Success; 3]);
            let done: Vec<_> = pair.a.done.iter().map(|done| done.slot.0).collect();
            assert_eq!(done, [0, 1, 2]);
            let sent = pair.sent('a').len() + first;
            assert_eq!(sent, 3 * length.div_ceil(256), "{good}");
        }
    }
}

#[test]
fn whatever_is_busy_everything_is_done_once() {
    for seed in 1..60_u32 {
        let mut state = seed;
        let mut busy = move || {
            state = state.wrapping_mul(0x9e37_79b1).wrapping_add(0x1234_5679);
            (state >> 29 == 0).then_some(Fault::Busy)
        };
        let mut pair = Pair::new(&Setup::default());
        for host in [&mut pair.a.host, &mut pair.b.host] {
            host.payload_faults = (0..300).map(|_| busy()).collect();
            host.faults = (0..40).map(|_| busy()).collect();
            host.receive_faults = (0..40).map(|_| busy()).collect();
            host.response_faults = (0..40).map(|_| busy()).collect();
            host.check_faults = (0..40).map(|_| busy()).collect();
        }
        pair.b.host.memory[..2000].copy_from_slice(&pattern(2000, 3));
        pair.b.host.receives.extend((0..6).map(|_| vec![0; 900]));
        let mut posted = Vec::new();
        for n in 0..6_u8 {
            posted.push(pair.a.post(read(0), vec![0; 2000]));
            pair.a.post(send(), pattern(900, n));
            pair.a.post(add(0x8000), vec![0; 8]);
            pair.a.post(write(0x9000), pattern(700, n));
        }
        pair.run(|_, count, _| count % 23 != seed as usize % 23);
        assert_eq!(pair.a.statuses(), [WcStatus::Success; 24], "{seed}");
        for slot in posted {
            assert_eq!(pair.a.host.incoming[slot.0 as usize], pattern(2000, 3));
        }
        assert_eq!(pair.b.host.atomics, 6);
        assert_eq!(pair.b.host.memory[0x9000..0x9000 + 700], pattern(700, 5));
        assert_eq!(pair.b.host.received.len(), 6);
        for (n, (_, buffer)) in pair.b.host.received.iter().enumerate() {
            assert_eq!(*buffer, pattern(900, n as u8));
        }
    }
}
