// SPDX-License-Identifier: GPL-2.0

//! Requests ahead of a missing one: the peer hears of each gap once, and what came early has its
//! turn when the gap closes.

mod pair;

use oxe_proto::{
    transport::{error::WcStatus, ports::Observation, state::State, Event},
    types::Psn,
    wire::{aeth::NakCode, packet::Op},
};
use pair::{craft::*, pattern, Lone, Pair, Setup};

fn held(lone: &Lone) -> Vec<(i64, bool)> {
    let seen = lone.side.host.seen.iter();
    seen.filter_map(|seen| match seen {
        Observation::OutOfSequence { psn, held } => {
            Some((i64::from(psn.since(lone.psn(0))), *held))
        }
        _ => None,
    })
    .collect()
}

fn naks(lone: &Lone) -> usize {
    let host = &lone.side.host;
    host.count(|seen| matches!(seen, Observation::SequenceNakSent(_)))
}

fn with_limit(early_limit: u32) -> Lone {
    let mut lone = Lone::new(&Setup {
        early_limit,
        ..Setup::default()
    });
    lone.side
        .host
        .receives
        .extend((0..40).map(|_| vec![0; 600]));
    lone
}

fn lone() -> Lone {
    with_limit(256)
}

/// The first bytes of what was received.
fn received(lone: &Lone) -> Vec<u8> {
    let received = lone.side.host.received.iter();
    received.map(|(_, buffer)| buffer[0]).collect()
}

#[test]
fn a_gap_is_told_once_and_what_is_held_follows_in_order() {
    for psn in [0, 0xff_fff8, 0xff_fffe, 0xff_ffff, 0x7f_ffff] {
        let mut lone = Lone::new(&Setup {
            psn,
            ..Setup::default()
        });
        lone.side.host.receives.extend((0..10).map(|_| vec![0; 10]));
        assert_eq!(lone.ask(0, send_only(), &[0]), [(0, ack(1))]);
        assert_eq!(lone.ask(3, send_only(), &[3]), [(1, sequence_nak(1))]);
        // In whatever order the rest comes, there is no second one.
        for n in [5, 2, 4, 9, 3] {
            assert_eq!(lone.ask(n, send_only(), &[n as u8]), [], "{psn:x} {n}");
        }
        assert_eq!(received(&lone), [0]);
        lone.give(1, send_only(), &[1]);
        assert_eq!(received(&lone), [0, 1, 2, 3, 4, 5]);
        // The second gap is told of when the first has closed.
        assert_eq!(lone.said(), [(6, sequence_nak(6))]);
        for n in [7, 6] {
            lone.give(n, send_only(), &[n as u8]);
        }
        assert_eq!(lone.said(), [(8, sequence_nak(8))]);
        assert_eq!(lone.ask(8, send_only(), &[8]), [(9, ack(10))]);
        assert_eq!(received(&lone), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(naks(&lone), 3);
        assert_eq!(lone.state(), State::Rts);
        assert!(lone.side.events.is_empty());
    }
}

#[test]
fn a_gap_that_closes_before_the_nak_goes_out_needs_none() {
    let mut lone = lone();
    lone.give(1, send_only(), &[1]);
    lone.give(0, send_only(), &[0]);
    assert_eq!(lone.said(), [(1, ack(2))]);
    assert_eq!(naks(&lone), 0);
}

#[test]
fn a_nak_for_a_gap_acknowledges_what_is_before_it() {
    let mut lone = lone();
    for n in 0..5 {
        lone.give_quietly(n, send_only(), &[n as u8]);
    }
    lone.give_quietly(7, send_only(), &[7]);
    assert_eq!(lone.said(), [(5, sequence_nak(5))]);
}

#[test]
fn answers_to_reads_come_before_the_nak() {
    let mut lone = lone();
    lone.give(0, read_request(0, 300), &[]);
    lone.give(4, send_only(), &[4]);
    assert_eq!(
        lone.said(),
        [
            (0, response(0, 2, 1)),
            (1, response(1, 2, 1)),
            (2, sequence_nak(1)),
        ]
    );
}

#[test]
fn without_early_packets_it_is_go_back_n() {
    let mut lone = with_limit(0);
    assert_eq!(lone.ask(1, send_only(), &[1]), [(0, sequence_nak(0))]);
    assert_eq!(lone.ask(2, send_only(), &[2]), []);
    assert_eq!(lone.ask(0, send_only(), &[0]), [(0, ack(1))]);
    // 1 was dropped: the next one ahead shows it.
    assert_eq!(lone.ask(2, send_only(), &[2]), [(1, sequence_nak(1))]);
    assert_eq!(lone.ask(3, send_only(), &[3]), []);
    assert_eq!(lone.ask(1, send_only(), &[1]), [(1, ack(2))]);
    assert_eq!(lone.ask(2, send_only(), &[2]), [(2, ack(3))]);
    assert_eq!(received(&lone), [0, 1, 2]);
    assert_eq!(
        held(&lone),
        [(1, false), (2, false), (2, false), (3, false)]
    );
}

#[test]
fn only_so_many_ahead_are_held() {
    let mut lone = with_limit(4);
    for n in 1..8 {
        lone.give(n, send_only(), &[n as u8]);
    }
    let expected: Vec<_> = (1..8).map(|n| (n, n <= 4)).collect();
    assert_eq!(held(&lone), expected);
    assert_eq!(lone.said(), [(0, sequence_nak(0))]);
    // Nothing shows that more was lost.
    assert_eq!(lone.ask(0, send_only(), &[0]), [(4, ack(5))]);
    assert_eq!(lone.ask(8, send_only(), &[8]), [(5, sequence_nak(5))]);
    assert_eq!(received(&lone), [0, 1, 2, 3, 4]);
}

#[test]
fn never_more_than_the_slots_are_held() {
    let mut lone = with_limit(1024);
    for n in [
        1,
        1022,
        1023,
        1024,
        1025,
        2047,
        2048,
        1 << 20,
        (1 << 23) - 1,
    ] {
        lone.give(n, write_only(0, 1), b"x");
        assert_eq!(held(&lone).last(), Some(&(n, n < 1024)));
    }
    assert_eq!(lone.said(), [(0, sequence_nak(0))]);
}

#[test]
fn a_long_gap_closes_from_a_full_window() {
    let mut lone = with_limit(1024);
    for n in (1..1024).rev() {
        lone.give_quietly(n, write_only(0, 1), &[n as u8]);
    }
    lone.give_quietly(0, write_only(0, 1), &[0]);
    assert_eq!(lone.side.host.writes, 1024);
    assert_eq!(lone.said(), [(1023, ack(1024))]);
    assert_eq!(lone.side.host.memory[0], 255);
}

#[test]
fn what_the_driver_could_not_keep_is_missing() {
    let mut lone = lone();
    lone.side.keeps_none = true;
    lone.give(1, send_only(), &[1]);
    lone.side.keeps_none = false;
    lone.give(2, send_only(), &[2]);
    assert_eq!(lone.said(), [(0, sequence_nak(0))]);
    // 2 is held: it shows the gap.
    lone.give(0, send_only(), &[0]);
    assert_eq!(lone.said(), [(1, sequence_nak(1))]);
    assert_eq!(lone.ask(1, send_only(), &[1]), [(2, ack(3))]);
    assert_eq!(received(&lone), [0, 1, 2]);

    // Without anything held behind it, the next one ahead shows it; or it just comes again.
    lone.side.keeps_none = true;
    assert_eq!(lone.ask(4, send_only(), &[4]), [(3, sequence_nak(3))]);
    assert_eq!(lone.ask(3, send_only(), &[3]), [(3, ack(4))]);
    assert_eq!(lone.ask(5, send_only(), &[5]), [(4, sequence_nak(4))]);
    assert_eq!(lone.ask(4, send_only(), &[4]), [(4, ack(5))]);
    assert_eq!(lone.ask(5, send_only(), &[5]), [(5, ack(6))]);
    assert_eq!(received(&lone), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_is_held_takes_its_turn_with_all_that_that_means() {
    // Its fault is one when its turn comes.
    let mut lone = lone();
    lone.give(2, Op::SendMiddle, &[0; 256]);
    lone.give(3, send_only(), &[3]);
    lone.give(1, send_only(), &[1]);
    assert_eq!(lone.said(), [(0, sequence_nak(0))]);
    assert_eq!(lone.state(), State::Rts);
    lone.give(0, send_only(), &[0]);
    let refusal = nak(NakCode::InvalidRequest, 2);
    assert_eq!(lone.said(), [(2, refusal)]);
    assert_eq!(lone.side.events, [Event::RequestError, Event::Failed]);
    assert_eq!(received(&lone), [0, 1]);

    // There may be no receive request for it; what is behind it waits on.
    let mut lone = self::lone();
    lone.side.host.receives.truncate(2);
    for n in [2, 3, 1] {
        lone.give(n, send_only(), &[n as u8]);
    }
    assert_eq!(lone.said(), [(0, sequence_nak(0))]);
    assert_eq!(lone.ask(0, send_only(), &[0]), [(2, rnr(1, 2))]);
    lone.side.host.receives.extend([vec![0; 1], vec![0; 1]]);
    assert_eq!(lone.ask(2, send_only(), &[2]), [(3, ack(4))]);
    assert_eq!(received(&lone), [0, 1, 2, 3]);
    assert_eq!(naks(&lone), 1);
}

#[test]
fn messages_of_every_kind_are_held() {
    let mut lone = lone();
    lone.side.host.memory[..600].copy_from_slice(&pattern(600, 5));
    lone.give(8, write_only(0, 600 - 88), &pattern(512, 1)[..256]);
    assert_eq!(lone.said(), [(0, sequence_nak(0))]);
    lone.give(7, fetch_add(0x1000), &[]);
    lone.give(4, read_request(0, 600), &[]);
    lone.give(3, send_last(), &pattern(44, 3));
    lone.give(2, Op::SendFirst, &pattern(256, 2));
    lone.give(1, Op::WriteLast(None), &pattern(44, 1));
    lone.give(0, Op::WriteFirst(reth(0x2000, 300)), &pattern(256, 0));
    let said = lone.said();
    let expected = [
        (4, response(0, 3, 3)),
        (5, response(1, 3, 3)),
        (6, response(2, 3, 3)),
        (7, Op::AtomicAcknowledge(acknowledged(4), 0)),
    ];
    assert_eq!(said[..4], expected);
    // The last one was wrong, for its length.
    assert_eq!(said[4..], [(8, nak(NakCode::InvalidRequest, 4))]);
    assert_eq!(lone.side.host.received[0].0.bytes, 300);
}

#[test]
fn an_early_read_takes_the_numbers_of_its_responses() {
    // A peer that counts wrongly: 3 and 4 are in the READ's range. They are not done.
    let mut lone = lone();
    lone.give(2, read_request(0, 1000), &[]);
    lone.give(3, send_only(), &[3]);
    lone.give(4, fetch_add(0x1000), &[]);
    lone.give(6, send_only(), &[6]);
    lone.give(1, send_only(), &[1]);
    assert_eq!(lone.said(), [(0, sequence_nak(0))]);
    lone.give(0, send_only(), &[0]);
    let said = lone.said();
    assert_eq!(
        said[..4].iter().map(|(n, _)| *n).collect::<Vec<_>>(),
        [2, 3, 4, 5]
    );
    assert_eq!(said.last(), Some(&(6, ack(4))));
    assert_eq!(received(&lone), [0, 1, 6]);
    assert_eq!(lone.side.host.atomics, 0);

    // One that takes more numbers than the window has.
    let mut lone = self::lone();
    lone.side.host.forgetful = true;
    for n in 2..200 {
        lone.give(n, write_only(0, 1), b"x");
    }
    lone.give(1, read_request(0, 256 << 20), &[]);
    lone.give(0, send_only(), &[0]);
    assert_eq!(lone.side.host.writes, 0);
    let after = 1 + (1 << 20);
    lone.give(after + 1, send_only(), &[2]);
    lone.give(after, send_only(), &[1]);
    assert_eq!(lone.side.host.received.len(), 3);
    assert_eq!(lone.say_one(), Some((1, response(0, 1 << 20, 2))));
}

#[test]
fn the_first_that_came_early_is_kept() {
    let mut lone = lone();
    lone.give(1, send_only(), &[1]);
    lone.give(1, fetch_add(0), &[]);
    lone.give(1, send_only(), &[99]);
    lone.give(0, send_only(), &[0]);
    assert_eq!(lone.side.host.atomics, 0);
    assert_eq!(received(&lone), [0, 1]);
    assert_eq!(lone.said(), [(1, ack(2))]);
}

#[test]
fn nothing_held_outlives_the_connection() {
    let mut lone = lone();
    assert!(!lone.side.engine.holds_early());
    lone.give(1, send_only(), &[1]);
    lone.give(2, send_only(), &[2]);
    assert!(lone.side.engine.holds_early());
    lone.side.go(State::Reset);
    assert!(!lone.side.engine.holds_early());
    assert_eq!(lone.said(), []);
    lone.side.connect(&lone.setup, pair::lone::PEER);
    lone.side.host.receives.extend((0..4).map(|_| vec![0; 10]));
    assert_eq!(lone.ask(0, send_only(), &[7]), [(0, ack(1))]);
    assert_eq!(received(&lone), [7]);
    assert_eq!(lone.ask(1, send_only(), &[8]), [(1, ack(2))]);
}

#[test]
fn only_what_is_missing_is_sent_again_to_a_peer_that_holds() {
    for lost in [0, 1, 7, 30] {
        let mut pair = Pair::new(&Setup::default());
        pair.a.post(write(0), pattern(40 * 256, 1));
        pair.run(|from, count, _| from != 'a' || count != lost);
        assert_eq!(pair.a.statuses(), [WcStatus::Success]);
        assert_eq!(pair.sent('a').len(), 41);
        assert_eq!(pair.b.host.memory[..40 * 256], pattern(40 * 256, 1));
    }
    // Several at once: each is sent again once.
    let mut pair = Pair::new(&Setup::default());
    pair.a.post(write(0), pattern(40 * 256, 1));
    pair.run(|from, count, _| from != 'a' || ![3, 4, 9, 20].contains(&count));
    assert_eq!(pair.a.statuses(), [WcStatus::Success]);
    assert_eq!(pair.sent('a').len(), 44);
}

#[test]
fn a_peer_that_holds_nothing_gets_everything_again() {
    let one = Setup::default();
    let other = Setup {
        early_limit: 0,
        ..Setup::default()
    };
    for lost in [0, 1, 7, 30, 39] {
        let mut pair = Pair::of(&one, &other);
        pair.a.post(write(0), pattern(40 * 256, 1));
        pair.run(|from, count, _| from != 'a' || count != lost);
        assert_eq!(pair.a.statuses(), [WcStatus::Success]);
        assert_eq!(pair.b.host.memory[..40 * 256], pattern(40 * 256, 1));
        assert_eq!(pair.b.host.writes, 40);
    }
    // It is remembered that it holds nothing: later losses cost one round trip, not two.
    let mut pair = Pair::of(&one, &other);
    for _ in 0..6 {
        pair.a.post(write(0), pattern(40 * 256, 1));
        let sent = pair.sent('a').len();
        let mut count = 0;
        pair.run(|from, _, _| {
            count += usize::from(from == 'a');
            from != 'a' || count != 5
        });
        assert!(pair.sent('a').len() - sent <= 40 + 40);
    }
    assert_eq!(pair.a.statuses(), [WcStatus::Success; 6]);
}

#[test]
fn numbers_half_way_round_are_ahead() {
    let mut lone = lone();
    let farthest = i64::from(Psn::HALF) - 1;
    assert_eq!(
        lone.ask(farthest, send_only(), &[1]),
        [(0, sequence_nak(0))]
    );
    assert_eq!(held(&lone), [(farthest, false)]);
}
