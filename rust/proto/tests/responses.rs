// SPDX-License-Identifier: GPL-2.0

//! What a requester makes of responses: lost, early, wrong, or asked for by nobody.

mod pair;

use oxe_proto::{
    transport::{
        error::{Fault, WcStatus},
        ports::Observation,
        state::State,
        wr::SendOp,
        Event,
    },
    wire::{
        aeth::{NakCode, Syndrome},
        packet::Op,
    },
};
use pair::{craft::*, detection, pattern, Lone, Setup};

const MTU: usize = 256;

/// Packet `number` of the response to a READ of `data`, whose first number is `at`.
fn answer(lone: &mut Lone, at: i64, number: u32, data: &[u8]) {
    let count = data.len().div_ceil(MTU).max(1) as u32;
    let start = number as usize * MTU;
    let part = &data[start..data.len().min(start + MTU)];
    lone.give(at + i64::from(number), response(number, count, 1), part);
}

fn asks(offset: u64, length: u32) -> Op {
    read_request(offset, length)
}

fn missing(lone: &Lone) -> usize {
    lone.side
        .host
        .count(|o| matches!(o, Observation::ResponseMissing(_)))
}

#[test]
fn an_acknowledgement_beyond_a_read_shows_that_its_response_is_lost() {
    let mut lone = Lone::usual();
    let data = pattern(1000, 1);
    let slot = lone.side.post(read(0x400), vec![0; 1000]);
    lone.side.post(write(0), vec![1; 4]);
    assert_eq!(lone.said().len(), 2);
    answer(&mut lone, 0, 0, &data);
    assert_eq!(lone.said(), []);
    // The WRITE is done, the rest of the READ's response has not come: only that is asked for.
    lone.give(4, ack(2), &[]);
    assert_eq!(lone.said(), [(1, asks(0x500, 744))]);
    assert_eq!(missing(&lone), 1);
    assert_eq!(lone.side.statuses(), []);
    for n in 0..3 {
        lone.give(
            1 + n,
            response(n as u32, 3, 1),
            &data[256 * (n as usize + 1)..][..256.min(1000 - 256 * (n as usize + 1))],
        );
    }
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
    assert_eq!(lone.side.host.incoming[slot.0 as usize], data);
}

#[test]
fn the_same_goes_for_atomics_and_for_later_responses() {
    let kinds: [(SendOp, usize, Op); 4] = [
        (read(0), 4, response(0, 1, 2)),
        (add(0), 8, Op::AtomicAcknowledge(acknowledged(2), 1)),
        (flush(), 0, response(0, 1, 2)),
        (atomic_write(0), 8, response(0, 1, 2)),
    ];
    for (first, length, own) in kinds {
        for (second, other_length, other) in kinds {
            let mut lone = Lone::usual();
            let bytes = |op: &SendOp| {
                if matches!(op, SendOp::Read { .. }) {
                    4
                } else {
                    0
                }
            };
            lone.side.post(first, vec![0; length]);
            lone.side.post(second, vec![0; other_length]);
            let asked = lone.said();
            lone.give(1, other, &vec![7; bytes(&second)]);
            // The first is asked for again, and it alone.
            assert_eq!(lone.said(), asked[..1], "{first:?} {second:?}");
            assert_eq!(lone.side.statuses(), []);
            lone.give(0, own, &vec![7; bytes(&first)]);
            assert_eq!(lone.said(), []);
            assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
        }
    }
}

#[test]
fn a_response_that_is_missing_costs_no_retry() {
    // That an answer has overtaken another is no fault of the peer.
    let mut lone = Lone::new(&Setup::with(|attributes| attributes.retry_cnt = 0));
    for n in 0..10 {
        lone.side.post(read(0), vec![0; 300]);
        lone.said();
        lone.give(2 * n + 1, response(1, 2, 1), &[1; 44]);
        assert_eq!(lone.said(), [(2 * n, asks(0, 256))]);
        lone.give(2 * n, response(0, 2, 1), &[1; 256]);
        lone.said();
    }
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 10]);
}

#[test]
fn an_acknowledgement_of_its_own_number_does_not_end_a_read() {
    for op in [read(0), add(0), flush(), atomic_write(0)] {
        let mut lone = Lone::usual();
        let length = if matches!(op, SendOp::Flush { .. }) {
            0
        } else {
            8
        };
        lone.side.post(op, vec![0; length]);
        lone.said();
        for _ in 0..3 {
            lone.give(0, ack(1), &[]);
            lone.said();
        }
        assert_eq!(lone.side.statuses(), [], "{op:?}");
        assert_eq!(lone.state(), State::Rts);
    }
}

#[test]
fn responses_have_their_place_in_whatever_order_they_come() {
    let data = pattern(1200, 1);
    for order in [
        [4, 3, 2, 1, 0],
        [1, 0, 3, 2, 4],
        [0, 2, 4, 1, 3],
        [2, 2, 0, 1, 3],
    ] {
        let mut lone = Lone::usual();
        let slot = lone.side.post(read(0), vec![0; 1200]);
        lone.said();
        for n in order {
            answer(&mut lone, 0, n, &data);
        }
        if order[0] == order[1] {
            assert!(lone.side.engine.poll_completion().is_none());
            answer(&mut lone, 0, 4, &data);
        }
        lone.said();
        assert_eq!(lone.side.statuses(), [WcStatus::Success], "{order:?}");
        assert_eq!(lone.side.host.incoming[slot.0 as usize], data);
        assert_eq!(lone.side.engine.next_timeout(), None);
    }
}

#[test]
fn only_the_hole_in_a_response_is_asked_for_again() {
    let data = pattern(1200, 1);
    for hole in 0..4 {
        let mut lone = Lone::usual();
        let slot = lone.side.post(read(0), vec![0; 1200]);
        lone.said();
        for n in (0..5).filter(|&n| n != hole) {
            answer(&mut lone, 0, n, &data);
        }
        let part = asks(u64::from(hole) * 256, 256);
        assert_eq!(lone.said(), [(i64::from(hole), part)]);
        let start = hole as usize * MTU;
        lone.give(
            i64::from(hole),
            response(0, 1, 1),
            &data[start..start + MTU],
        );
        assert_eq!(lone.said(), []);
        assert_eq!(lone.side.statuses(), [WcStatus::Success]);
        assert_eq!(lone.side.host.incoming[slot.0 as usize], data);
    }
}

#[test]
fn what_is_put_in_place_twice_leaves_no_trace() {
    for packets in 1015..1030 {
        // Of the second READ one response comes early, then both in order, then the first READ's.
        let mut lone = Lone::usual();
        lone.side.post(read(0), vec![0; 4]);
        lone.side.post(read(0), vec![0; 512]);
        lone.said();
        let data = pattern(512, 1);
        for n in [1, 0, 1] {
            answer(&mut lone, 1, n, &data);
        }
        answer(&mut lone, 0, 0, &data[..4]);
        lone.said();
        assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
        // About 1024 numbers later, where a record of what came early may begin anew.
        lone.side.post(write(0), vec![0; packets * MTU]);
        let mut next = 3;
        loop {
            let count = lone.said().len() as i64;
            if count == 0 {
                break;
            }
            next += count;
            lone.give(next - 1, ack(1), &[]);
        }
        assert_eq!(next, 3 + packets as i64);
        let slot = lone.side.post(read(0), vec![0; 512]);
        lone.said();
        answer(&mut lone, next, 0, &data);
        lone.said();
        // Half of it has not come.
        assert_eq!(lone.side.done.len(), 3, "{packets}");
        answer(&mut lone, next, 1, &data);
        lone.said();
        assert_eq!(lone.side.statuses(), [WcStatus::Success; 4]);
        assert_eq!(lone.side.host.incoming[slot.0 as usize], data);
    }
}

#[test]
fn a_response_of_the_wrong_length_or_kind_is_a_bad_response() {
    let atomic = Op::AtomicAcknowledge(acknowledged(1), 7);
    // A refusal comes as an acknowledgement, never as a response.
    let refusal = aeth(Syndrome::Nak(NakCode::RemoteAccess), 1);
    let cases: [(SendOp, usize, i64, Op, usize); 16] = [
        (read(0), 4, 0, Op::ReadResponseOnly(refusal), 4),
        (add(0), 8, 0, Op::AtomicAcknowledge(refusal, 7), 0),
        (read(0), 4, 0, response(0, 1, 1), 3),
        (read(0), 4, 0, response(0, 1, 1), 5),
        (read(0), 4, 0, response(0, 1, 1), 0),
        (read(0), 0, 0, response(0, 1, 1), 1),
        (read(0), 600, 0, response(0, 3, 1), 255),
        (read(0), 600, 0, response(0, 1, 1), 88),
        (read(0), 600, 2, response(2, 3, 1), 89),
        (read(0), 600, 2, response(2, 3, 1), 87),
        (read(0), 600, 2, response(1, 3, 1), 256),
        (read(0), 8, 0, atomic, 0),
        (add(0), 8, 0, response(0, 1, 1), 8),
        (add(0), 8, 0, response(0, 1, 1), 0),
        (flush(), 0, 0, response(0, 1, 1), 4),
        (atomic_write(0), 8, 0, atomic, 0),
    ];
    for (op, length, at, wrong, bytes) in cases {
        let name = format!("{op:?} {wrong:?} {bytes}");
        let mut lone = Lone::usual();
        lone.side.host.receives.push_back(vec![0; 4]);
        // What is before it counts as answered.
        lone.side.post(write(0), vec![1; 4]);
        lone.side.post(op, vec![0xee; length]);
        lone.side.post(send(), vec![1; 4]);
        lone.said();
        lone.give(1 + at, wrong, &vec![7; bytes]);
        assert_eq!(lone.said(), [], "{name}");
        let ended = [WcStatus::Success, WcStatus::BadResponse, WcStatus::Flushed];
        assert_eq!(lone.side.statuses(), ended, "{name}");
        assert_eq!(lone.state(), State::Err, "{name}");
        assert_eq!(lone.side.events, [Event::Failed], "{name}");
        // Nothing was put anywhere.
        assert_eq!(lone.side.host.incoming[1], vec![0xee; length], "{name}");
        // Its receive side has ended with it.
        assert_eq!(lone.ask(0, send_only(), b"abcd"), []);
        assert!(lone.side.host.received.is_empty());
    }
}

#[test]
fn a_bad_response_fails_its_own_request_and_no_earlier_one() {
    let mut lone = Lone::usual();
    for _ in 0..4 {
        lone.side.post(read(0), vec![0; 4]);
    }
    lone.said();
    lone.give(1, response(0, 1, 2), &[1; 3]);
    // The first one has not been answered: it is asked for, and what is behind the bad one is not.
    assert_eq!(lone.said(), [(0, asks(0, 4))]);
    assert_eq!(lone.side.statuses(), []);
    lone.give(1, response(0, 1, 2), &[1; 4]);
    lone.give(3, response(0, 1, 2), &[1; 4]);
    assert_eq!(lone.said(), []);
    lone.give(0, response(0, 1, 1), &[1; 4]);
    assert_eq!(lone.said(), []);
    let ended = [
        WcStatus::Success,
        WcStatus::BadResponse,
        WcStatus::Flushed,
        WcStatus::Flushed,
    ];
    assert_eq!(lone.side.statuses(), ended);
    assert_eq!(lone.state(), State::Err);
}

#[test]
fn responses_to_what_has_none_are_ignored() {
    let mut lone = Lone::usual();
    lone.side.post(write(0), vec![1; 4]);
    lone.side.post(send(), vec![1; 4]);
    lone.said();
    for n in [0, 1] {
        lone.give(n, response(0, 1, 1), &[1; 4]);
        lone.give(n, response(0, 3, 1), &[1; 256]);
        lone.give(n, Op::AtomicAcknowledge(acknowledged(1), 1), &[]);
    }
    assert_eq!(lone.said(), []);
    assert_eq!(lone.state(), State::Rts);
    assert_eq!(lone.side.statuses(), []);
    lone.give(1, ack(2), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
}

#[test]
fn a_scatter_list_that_fails_ends_the_read() {
    for (fault, status) in [
        (Fault::Access, WcStatus::LocalProtection),
        (Fault::Operational, WcStatus::LocalQpOperation),
    ] {
        for (op, length, reply, bytes) in [
            (read(0), 600, response(0, 3, 2), 256),
            (add(0), 8, Op::AtomicAcknowledge(acknowledged(2), 1), 0),
        ] {
            let mut lone = Lone::usual();
            lone.side.post(write(0), vec![1; 4]);
            lone.side.post(op, vec![0; length]);
            lone.side.post(send(), vec![1; 4]);
            lone.said();
            lone.side.host.response_faults = [Some(fault)].into();
            lone.give(1, reply, &vec![1; bytes]);
            assert_eq!(lone.said(), []);
            let ended = [WcStatus::Success, status, WcStatus::Flushed];
            assert_eq!(lone.side.statuses(), ended);
        }
    }
}

#[test]
fn a_scatter_list_that_is_busy_makes_the_response_lost() {
    let mut lone = Lone::usual();
    let slot = lone.side.post(read(0), vec![0; 600]);
    lone.said();
    let data = pattern(600, 1);
    lone.side.host.response_faults = [None, Some(Fault::Busy)].into();
    for n in 0..3 {
        answer(&mut lone, 0, n, &data);
    }
    assert_eq!(lone.said(), [(1, asks(256, 256))]);
    lone.give(1, response(0, 1, 1), &data[256..512]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
    assert_eq!(lone.side.host.incoming[slot.0 as usize], data);
}

#[test]
fn a_read_that_is_asked_for_again_after_a_timeout_starts_where_it_stopped() {
    let mut lone = Lone::new(&Setup::with(|attributes| attributes.timeout = 8));
    let data = pattern(1000, 1);
    lone.side.post(read(0x400), vec![0; 1000]);
    lone.side.post(read(0x1000), vec![0; 10]);
    lone.said();
    answer(&mut lone, 0, 0, &data);
    answer(&mut lone, 0, 1, &data);
    lone.said();
    let said = lone.wait(detection(8));
    let at = said.last().unwrap().0;
    let last: Vec<_> = said.into_iter().filter(|said| said.0 == at).collect();
    let last: Vec<_> = last.into_iter().map(|(_, n, op)| (n, op)).collect();
    assert_eq!(last, [(2, asks(0x600, 488)), (4, asks(0x1000, 10))]);
}
