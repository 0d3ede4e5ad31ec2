// SPDX-License-Identifier: GPL-2.0

//! Answers to READs that get lost: each missing part is asked for once a round trip, and answered.

mod pair;

use oxe_proto::{
    transport::{error::WcStatus, ports::Observation},
    types::Span,
    wire::packet::Op,
};
use pair::{craft::*, pattern, Lone, Pair, Setup};

const MTU: usize = 256;

fn asks(offset: u64, length: u32) -> Op {
    read_request(offset, length)
}

/// What asks for packets `from` to before `to` of a READ at offset 0.
fn part(from: u32, to: u32) -> Op {
    asks(u64::from(from) * MTU as u64, (to - from) * MTU as u32)
}

/// Gives packet `number` of `count` that were asked for from packet `start` on; the READ's first
/// number is `at`.
fn answer(lone: &mut Lone, at: i64, start: u32, number: u32, count: u32) {
    let op = response(number, count, 1);
    lone.give(at + i64::from(start + number), op, &[1; MTU]);
}

/// A READ of 10 packets of whose answer some are lost.
fn with_holes(holes: &[u32]) -> Lone {
    let mut lone = Lone::usual();
    lone.side.post(read(0), vec![0; 10 * MTU]);
    assert_eq!(lone.said(), [(0, part(0, 10))]);
    for number in (0..10).filter(|number| !holes.contains(number)) {
        answer(&mut lone, 0, 0, number, 10);
    }
    lone
}

#[test]
fn all_holes_are_asked_for_at_once() {
    let mut lone = with_holes(&[1, 4, 5, 8]);
    let asked = [(1, part(1, 2)), (4, part(4, 6)), (8, part(8, 9))];
    assert_eq!(lone.said(), asked);
    for (start, number, count) in [(1, 0, 1), (4, 0, 2), (4, 1, 2), (8, 0, 1)] {
        assert_eq!(lone.said(), []);
        answer(&mut lone, 0, start, number, count);
    }
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}

#[test]
fn a_hole_is_asked_for_once_however_much_comes_behind_it() {
    let mut lone = Lone::usual();
    lone.side.post(read(0), vec![0; 10 * MTU]);
    lone.said();
    for number in 1..10 {
        answer(&mut lone, 0, 0, number, 10);
        let asked: &[_] = if number == 1 { &[(0, part(0, 1))] } else { &[] };
        assert_eq!(lone.said(), asked, "{number}");
    }
}

#[test]
fn holes_of_later_requests_are_not_left_for_later() {
    let mut lone = Lone::usual();
    lone.side.post(read(0), vec![0; 3 * MTU]);
    lone.side.post(write(0), vec![0; 4]);
    lone.side.post(read(0), vec![0; 3 * MTU]);
    lone.side.post(add(0), vec![0; 8]);
    lone.side.post(add(0), vec![0; 8]);
    assert_eq!(lone.said().len(), 5);
    for (at, number) in [(0, 0), (0, 2), (4, 0), (4, 2)] {
        answer(&mut lone, at, 0, number, 3);
    }
    lone.give(8, Op::AtomicAcknowledge(acknowledged(5), 7), &[]);
    let asked = [(1, part(1, 2)), (5, part(1, 2)), (7, fetch_add(0))];
    assert_eq!(lone.said(), asked);
    answer(&mut lone, 0, 1, 0, 1);
    answer(&mut lone, 4, 1, 0, 1);
    lone.give(7, Op::AtomicAcknowledge(acknowledged(5), 6), &[]);
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 5]);
}

#[test]
fn the_answer_to_a_later_request_shows_that_an_earlier_ones_is_lost() {
    let mut lone = with_holes(&[1, 4, 8]);
    assert_eq!(lone.said().len(), 3);
    answer(&mut lone, 0, 4, 0, 1);
    assert_eq!(lone.said(), [(1, part(1, 2))]);
    // That of 8 was asked for before, so it says nothing of 1.
    answer(&mut lone, 0, 8, 0, 1);
    assert_eq!(lone.said(), []);
    answer(&mut lone, 0, 1, 0, 1);
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}

#[test]
fn so_does_the_answer_to_what_was_sent_later() {
    let mut lone = with_holes(&[1]);
    assert_eq!(lone.said(), [(1, part(1, 2))]);
    lone.side.post(read(0), vec![0; 2 * MTU]);
    assert_eq!(lone.said().len(), 1);
    answer(&mut lone, 10, 0, 0, 2);
    assert_eq!(lone.said(), [(1, part(1, 2))]);
    // That one was asked for before.
    answer(&mut lone, 10, 0, 1, 2);
    assert_eq!(lone.said(), []);
}

#[test]
fn a_peer_that_gives_no_parts_is_asked_for_the_rest() {
    let mut lone = with_holes(&[1, 8]);
    assert_eq!(lone.said(), [(1, part(1, 2)), (8, part(8, 9))]);
    let said = lone.wait(Span::from_micros(60_000));
    let rest = said.iter().find(|(_, n, op)| *n == 1 && *op == part(1, 10));
    assert!(rest.is_some(), "{said:?}");
    for number in 0..9 {
        answer(&mut lone, 0, 1, number, 9);
    }
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}

#[test]
fn a_responder_answers_all_parts_that_it_is_asked_for() {
    let mut lone = Lone::usual();
    lone.give(0, part(0, 10), &[]);
    assert_eq!(lone.said().len(), 10);
    for (from, to) in [(7, 8), (1, 3), (4, 5), (1, 3)] {
        lone.give(i64::from(from), part(from, to), &[]);
    }
    let said = [
        (1, response(0, 2, 1)),
        (2, response(1, 2, 1)),
        (4, response(0, 1, 1)),
        (7, response(0, 1, 1)),
    ];
    assert_eq!(lone.said(), said);
    // What is asked for a second time later on is answered once more.
    lone.give(4, part(4, 5), &[]);
    assert_eq!(lone.said(), [(4, response(0, 1, 1))]);
}

#[test]
fn parts_come_before_what_is_answered_for_the_first_time() {
    let mut lone = Lone::usual();
    lone.give(0, part(0, 4), &[]);
    lone.give(4, part(0, 3), &[]);
    for n in 0..5 {
        assert_eq!(lone.say_one().map(|said| said.0), Some(n));
    }
    lone.give(1, part(1, 2), &[]);
    lone.give(3, part(3, 4), &[]);
    let said: Vec<_> = lone.said().into_iter().map(|said| said.0).collect();
    assert_eq!(said, [1, 3, 5, 6]);
}

#[test]
fn no_more_is_asked_for_than_the_window_takes() {
    let setup = Setup {
        window: 4,
        ..Setup::with(|attributes| attributes.max_rd_atomic = 16)
    };
    let mut lone = Lone::new(&setup);
    for _ in 0..5 {
        lone.side.post(read(0), vec![0; 3 * MTU]);
    }
    // Twice the window, and what the last one has beyond.
    let first = [(0, part(0, 3)), (3, part(0, 3)), (6, part(0, 3))];
    assert_eq!(lone.said(), first);
    answer(&mut lone, 0, 0, 0, 3);
    assert_eq!(lone.said(), []);
    // What comes early makes room as well.
    answer(&mut lone, 0, 0, 2, 3);
    assert_eq!(lone.said(), [(1, part(1, 2)), (9, part(0, 3))]);
    // A second copy does not.
    answer(&mut lone, 0, 0, 2, 3);
    answer(&mut lone, 0, 0, 2, 3);
    answer(&mut lone, 0, 0, 2, 3);
    assert_eq!(lone.said(), []);
}

#[test]
fn a_fifth_of_all_packets_may_get_lost() {
    for lost in 2..6 {
        let mut pair = Pair::new(&Setup::with(|attributes| attributes.timeout = 0));
        let data = pattern(40 * MTU, 3);
        pair.b.host.memory[..data.len()].copy_from_slice(&data);
        let slots: Vec<_> = (0..4)
            .map(|_| pair.a.post(read(0), vec![0; 40 * MTU]))
            .collect();
        pair.run(|_, count, _| count % 5 != lost && count % 7 != lost);
        assert_eq!(pair.a.statuses(), [WcStatus::Success; 4]);
        for slot in slots {
            assert_eq!(pair.a.host.incoming[slot.0 as usize], data);
        }
        // Hardly anything is sent that was not lost.
        let lost = pair
            .log
            .iter()
            .filter(|(from, _, kept)| *from == 'b' && !kept);
        let most = 160 + lost.count() * 3 / 2;
        assert!(pair.sent('b').len() <= most, "{}", pair.sent('b').len());
        let probes = pair
            .a
            .host
            .count(|seen| matches!(seen, Observation::Probe(_)));
        assert!(probes < 10, "{probes}");
    }
}
