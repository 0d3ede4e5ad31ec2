// SPDX-License-Identifier: GPL-2.0

//! Requests that come again: no fault, done once, answered again. The numbers of most tests here
//! wrap around.

mod pair;

use oxe_proto::{
    transport::{error::Fault, ports::Observation, state::State},
    types::Psn,
    wire::{
        packet::{Op, Tail},
        reth::Reth,
    },
};
use pair::{craft::*, pattern, Lone, Setup, BASE};

const MTU: usize = 256;

/// Nothing went wrong, and nothing was reported.
fn unharmed(lone: &Lone) {
    assert_eq!(lone.state(), State::Rts);
    assert!(lone.side.events.is_empty());
    let host = &lone.side.host;
    assert_eq!(
        host.count(|o| matches!(o, Observation::RequestRefused(_))),
        0
    );
}

fn duplicates(lone: &Lone) -> usize {
    let host = &lone.side.host;
    host.count(|o| matches!(o, Observation::DuplicateRequest(_)))
}

#[test]
fn sends_and_writes_are_done_once_and_acknowledged_with_the_newest_number() {
    for psn in [0, 1, 0x7f_fffe, 0x80_0000, 0xff_fff9, 0xff_fffd, 0xff_ffff] {
        let mut lone = Lone::new(&Setup {
            psn,
            ..Setup::default()
        });
        lone.side
            .host
            .receives
            .extend([vec![0; 600], vec![0; 600], vec![0; 600]]);
        let requests = [
            (send_only(), 3),
            (write_only(0, 4), 4),
            (Op::SendFirst, MTU),
            (Op::SendLast(Tail::Immediate(IMM)), 5),
            (Op::WriteFirst(reth(0, 300)), MTU),
            (Op::WriteLast(None), 44),
        ];
        for (n, (op, bytes)) in requests.into_iter().enumerate() {
            lone.ask(n as i64, op, &pattern(bytes, 1));
        }
        let memory = lone.side.host.memory.clone();
        let (writes, received) = (lone.side.host.writes, lone.side.host.received.len());
        for (n, (op, bytes)) in requests.into_iter().enumerate() {
            // Even if it brings other data now.
            let said = lone.ask(n as i64, op, &pattern(bytes, 7));
            assert_eq!(said, [(5, ack(4))], "{psn:x} {op:?}");
        }
        unharmed(&lone);
        assert_eq!(duplicates(&lone), 6);
        assert_eq!(lone.side.host.memory, memory);
        assert_eq!(lone.side.host.writes, writes);
        assert_eq!(lone.side.host.received.len(), received);
        assert_eq!(lone.side.host.receives.len(), 1);
        // And then it goes on.
        assert_eq!(lone.ask(6, send_only(), b"abc"), [(6, ack(5))]);
    }
}

#[test]
fn a_burst_of_duplicates_has_one_answer() {
    let mut lone = Lone::usual();
    for n in 0..40 {
        lone.give(n, write_only(0, 4), b"abcd");
    }
    assert_eq!(lone.said(), [(39, ack(40))]);
    for n in 0..40 {
        lone.give(n, write_only(0, 4), b"abcd");
    }
    assert_eq!(lone.said(), [(39, ack(40))]);
    unharmed(&lone);
}

#[test]
fn duplicates_leave_an_open_message_alone() {
    let mut lone = Lone::usual();
    lone.side.host.receives.push_back(vec![0; 600]);
    lone.ask(0, read_request(0, 300), &[]);
    lone.ask(2, write_only(0, 4), b"abcd");
    lone.give(3, Op::SendFirst, &pattern(MTU, 1));
    lone.give(4, Op::SendMiddle, &pattern(MTU, 2));
    lone.said();
    // The packets of the message itself, those before it, and a whole READ in between.
    assert_eq!(lone.ask(3, Op::SendFirst, &pattern(MTU, 9)), [(4, ack(2))]);
    assert_eq!(lone.ask(4, Op::SendMiddle, &pattern(MTU, 9)), [(4, ack(2))]);
    assert_eq!(lone.ask(2, write_only(0, 4), b"zzzz"), [(4, ack(2))]);
    assert_eq!(
        lone.ask(0, read_request(0, 300), &[]),
        [(0, response(0, 2, 1)), (1, response(1, 2, 1))]
    );
    assert_eq!(lone.ask(5, send_last(), b"end"), [(5, ack(3))]);
    unharmed(&lone);
    let (completion, buffer) = &lone.side.host.received[0];
    assert_eq!(completion.bytes, 515);
    assert_eq!(buffer[..MTU], pattern(MTU, 1));
    assert_eq!(buffer[MTU..2 * MTU], pattern(MTU, 2));
    assert_eq!(buffer[512..515], *b"end");
}

/// A READ of 900 bytes (4 packets, the last of 132) was served as number 0; the next is 4.
fn after_a_read() -> Lone {
    let mut lone = Lone::usual();
    lone.side.host.memory[..1000].copy_from_slice(&pattern(1000, 3));
    assert_eq!(lone.ask(0, read_request(0, 900), &[]).len(), 4);
    lone
}

/// Data of the answers.
fn data_said(lone: &mut Lone) -> (Vec<i64>, Vec<u8>) {
    let said = lone.said_in_full();
    let first = lone.psn(0);
    let numbers = said
        .iter()
        .map(|(p, _)| i64::from(p.psn.since(first)))
        .collect();
    (
        numbers,
        said.into_iter().flat_map(|(_, data)| data).collect(),
    )
}

#[test]
fn a_read_is_read_again_from_memory() {
    let mut lone = after_a_read();
    // What it finds now counts, as nobody knows which answer arrives.
    lone.side.host.memory[..1000].copy_from_slice(&pattern(1000, 4));
    lone.give(0, read_request(0, 900), &[]);
    let (numbers, data) = data_said(&mut lone);
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(data, pattern(900, 4));
    unharmed(&lone);
}

#[test]
fn a_part_of_a_read_begins_and_ends_at_packets() {
    let mut lone = after_a_read();
    let known = pattern(1000, 3);
    for (from, to) in [
        (0, 1),
        (0, 2),
        (0, 3),
        (1, 2),
        (1, 3),
        (2, 3),
        (1, 4),
        (3, 4),
        (2, 4),
    ] {
        let (start, end) = (from * MTU, (to * MTU).min(900));
        let part = read_request(start as u64, (end - start) as u32);
        lone.give(from as i64, part, &[]);
        let said = lone.said_in_full();
        let count = (to - from) as u32;
        let ops: Vec<_> = said.iter().map(|(packet, _)| packet.op).collect();
        let expected: Vec<_> = (0..count).map(|n| response(n, count, 1)).collect();
        assert_eq!(ops, expected, "{from}..{to}");
        for (n, (packet, _)) in said.iter().enumerate() {
            assert_eq!(packet.psn, lone.psn((from + n) as i64));
        }
        let data: Vec<u8> = said.into_iter().flat_map(|(_, data)| data).collect();
        assert_eq!(data, known[start..end], "{from}..{to}");
    }
    unharmed(&lone);
}

#[test]
fn a_read_of_what_was_not_asked_for_before_is_ignored() {
    let part = |number: i64, offset: u64, length: u32| (number, reth(offset, length));
    let other_key = Reth {
        rkey: BAD_KEY,
        ..reth(0, 900)
    };
    for (number, memory) in [
        (0, other_key),
        part(0, 4, 896),
        part(0, 0, 901),
        part(0, 256, 644),
        part(1, 0, 256),
        part(1, 256, 645),
        part(1, 257, 256),
        part(3, 768, 256),
        part(0, 0, u32::MAX),
        (
            0,
            Reth {
                address: u64::MAX,
                ..reth(0, 900)
            },
        ),
        (
            0,
            Reth {
                address: BASE - 256,
                ..reth(0, 900)
            },
        ),
        // Before all that is kept.
        part(-1, 0, 900),
        part(-100, 0, 900),
    ] {
        let mut lone = after_a_read();
        let said = lone.ask(number, Op::ReadRequest(memory), &[]);
        assert_eq!(said, [], "{number} {memory:?}");
        unharmed(&lone);
        assert_eq!(lone.ask(4, write_only(0, 1), b"x"), [(4, ack(2))]);
    }
}

#[test]
fn a_part_of_a_read_that_ends_within_a_packet_is_ignored() {
    // An answer of whole packets would be longer than what is asked for.
    for (number, offset, length) in [
        (0, 0, 1),
        (0, 0, 255),
        (0, 0, 300),
        (0, 0, 899),
        (1, 256, 0),
        (0, 0, 0),
        (3, 768, 100),
        (3, 768, 0),
        (2, 512, 300),
    ] {
        let mut lone = after_a_read();
        let said = lone.ask(number, read_request(offset, length), &[]);
        assert_eq!(said, [], "{number} {offset} {length}");
        unharmed(&lone);
    }
}

#[test]
fn a_read_that_comes_again_while_it_is_answered_is_answered_once_more() {
    for sent_before in 0..=4 {
        let mut lone = Lone::usual();
        lone.give(0, read_request(0, 900), &[]);
        for n in 0..sent_before {
            assert_eq!(lone.say_one(), Some((n, response(n as u32, 4, 1))));
        }
        lone.give(0, read_request(0, 900), &[]);
        let said = lone.said();
        let whole: Vec<_> = (0..4).map(|n| (n, response(n as u32, 4, 1))).collect();
        assert_eq!(said, whole, "{sent_before}");
        unharmed(&lone);
    }
}

#[test]
fn a_part_that_comes_again_while_the_rest_is_sent_leaves_nothing_out() {
    for sent_before in 0..=4_i64 {
        for (from, to) in [(0, 1), (0, 3), (1, 2), (1, 4), (2, 3), (3, 4)] {
            let mut lone = Lone::usual();
            lone.side.host.memory[..1000].copy_from_slice(&pattern(1000, 3));
            lone.give(0, read_request(0, 900), &[]);
            let mut all = Vec::new();
            for _ in 0..sent_before {
                all.extend(lone.side.send_one(lone.now));
            }
            let end = (to * 256).min(900);
            let part = read_request(from as u64 * 256, (end - from * 256) as u32);
            lone.give(from, part, &[]);
            let after = lone.said_in_full();
            let asked_again = from..to.min(sent_before.max(from));
            for number in asked_again {
                let psn = lone.psn(number);
                assert!(after.iter().any(|(packet, _)| packet.psn == psn));
            }
            all.extend(after);
            for number in 0..4 {
                let psn = lone.psn(number);
                let those = all.iter().filter(|(packet, data)| {
                    packet.psn == psn && packet.data_bytes as usize == data.len()
                });
                let start = number as usize * MTU;
                let expected = &pattern(1000, 3)[start..(start + MTU).min(900)];
                let mut times = 0;
                for (packet, data) in those.filter(|(packet, _)| packet.data_bytes != 0) {
                    assert_eq!(data, expected, "{packet:?}");
                    times += 1;
                }
                assert!(
                    (1..=2).contains(&times),
                    "{sent_before} {from}..{to} {number}"
                );
            }
            unharmed(&lone);
        }
    }
}

#[test]
fn an_atomic_is_done_once_and_its_result_is_kept() {
    let mut lone = Lone::usual();
    for n in 0..4 {
        let said = lone.ask(n, fetch_add(0x40), &[]);
        assert_eq!(
            said[0],
            (
                n,
                Op::AtomicAcknowledge(acknowledged(n as u32 + 1), n as u64)
            )
        );
    }
    for n in (0..4).chain([3, 1, 0, 2]) {
        // The operands of a duplicate do not matter.
        let other = Op::CompareSwap(atomic_at(0x48));
        for op in [fetch_add(0x40), other] {
            let said = lone.ask(n, op, &[]);
            let kept = Op::AtomicAcknowledge(acknowledged(n as u32 + 1), n as u64);
            assert_eq!(said, [(n, kept)]);
        }
    }
    assert_eq!(lone.side.host.atomics, 4);
    assert_eq!(lone.side.host.memory[0x40], 4);
    unharmed(&lone);
}

#[test]
fn what_is_older_than_the_kept_requests_is_ignored() {
    let setup = Setup::with(|attributes| attributes.max_dest_rd_atomic = 2);
    let mut lone = Lone::new(&setup);
    lone.ask(0, fetch_add(0), &[]);
    lone.ask(1, read_request(0, 300), &[]);
    lone.ask(3, Op::Flush(VISIBLE, reth(0, 8)), &[]);
    lone.ask(4, fetch_add(0), &[]);
    lone.ask(5, Op::AtomicWrite(reth(8, 8)), &[1; 8]);
    assert_eq!(lone.ask(0, fetch_add(0), &[]), []);
    assert_eq!(lone.ask(1, read_request(0, 300), &[]), []);
    assert_eq!(lone.ask(2, read_request(256, 44), &[]), []);
    assert_eq!(lone.ask(3, Op::Flush(VISIBLE, reth(0, 8)), &[]), []);
    let kept = Op::AtomicAcknowledge(acknowledged(4), 1);
    assert_eq!(lone.ask(4, fetch_add(0), &[]), [(4, kept)]);
    assert_eq!(
        lone.ask(5, Op::AtomicWrite(reth(8, 8)), &[2; 8]),
        [(5, response(0, 1, 5))]
    );
    assert_eq!(lone.side.host.atomics, 2);
    assert_eq!(lone.side.host.flushes, 1);
    unharmed(&lone);
}

#[test]
fn the_kind_of_a_duplicate_is_that_of_the_first() {
    let mut lone = Lone::usual();
    lone.ask(0, read_request(0, 8), &[]);
    lone.ask(1, fetch_add(0), &[]);
    lone.ask(2, Op::Flush(VISIBLE, reth(0, 8)), &[]);
    lone.ask(3, write_only(0, 1), b"x");
    for (n, op) in [
        (0, fetch_add(0)),
        (0, Op::Flush(VISIBLE, reth(0, 8))),
        (1, read_request(0, 8)),
        (1, Op::Flush(VISIBLE, reth(0, 8))),
        (2, read_request(0, 8)),
        (2, fetch_add(0)),
        (3, read_request(0, 8)),
        (3, fetch_add(0)),
    ] {
        assert_eq!(lone.ask(n, op, &[]), [], "{n} {op:?}");
    }
    assert_eq!(lone.side.host.atomics, 1);
    unharmed(&lone);
}

#[test]
fn a_flush_is_done_again_and_an_atomic_write_is_not() {
    let mut lone = Lone::usual();
    let flush = Op::Flush(VISIBLE, reth(0, 64));
    let write = Op::AtomicWrite(reth(0x20, 8));
    assert_eq!(lone.ask(0, flush, &[]), [(0, response(0, 1, 1))]);
    assert_eq!(lone.ask(1, write, &[1; 8]), [(1, response(0, 1, 2))]);
    assert_eq!(lone.ask(0, flush, &[]), [(0, response(0, 1, 1))]);
    assert_eq!(lone.side.host.flushes, 2);
    assert_eq!(lone.ask(1, write, &[2; 8]), [(1, response(0, 1, 2))]);
    assert_eq!(lone.side.host.writes, 1);
    assert_eq!(lone.side.host.memory[0x20..0x28], [1; 8]);
    unharmed(&lone);
}

#[test]
fn several_repetitions_are_answered_in_the_order_of_their_numbers() {
    let mut lone = Lone::usual();
    lone.ask(0, read_request(0, 300), &[]);
    lone.ask(2, fetch_add(0), &[]);
    lone.ask(3, read_request(0, 10), &[]);
    lone.ask(4, write_only(0, 1), b"x");
    lone.give(4, write_only(0, 1), b"x");
    lone.give(3, read_request(0, 10), &[]);
    lone.give(0, read_request(0, 300), &[]);
    lone.give(2, fetch_add(0), &[]);
    assert_eq!(
        lone.said(),
        [
            (0, response(0, 2, 1)),
            (1, response(1, 2, 1)),
            (2, Op::AtomicAcknowledge(acknowledged(2), 0)),
            (3, response(0, 1, 3)),
            (4, ack(4)),
        ]
    );
}

#[test]
fn memory_that_is_gone_when_a_read_comes_again_is_no_fault() {
    let mut lone = after_a_read();
    for fault in [Fault::Access, Fault::Operational] {
        lone.side.host.payload_faults = [None, Some(fault)].into();
        let said = lone.ask(0, read_request(0, 900), &[]);
        assert_eq!(said, [(0, response(0, 4, 1))]);
        unharmed(&lone);
    }
    // It may be back the next time.
    assert_eq!(lone.ask(0, read_request(0, 900), &[]).len(), 4);
    assert_eq!(lone.ask(4, write_only(0, 1), b"x"), [(4, ack(2))]);
}

#[test]
fn half_of_all_numbers_are_duplicates() {
    let mut lone = Lone::usual();
    lone.ask(0, write_only(0, 1), b"x");
    let half = i64::from(Psn::HALF);
    // The expected number is 1.
    assert_eq!(lone.ask(1 - half, write_only(0, 1), b"y"), [(0, ack(1))]);
    assert_eq!(lone.side.host.memory[0], b'x');
    assert_eq!(duplicates(&lone), 1);
    assert_eq!(
        lone.ask(half, write_only(0, 1), b"y"),
        [(1, sequence_nak(1))]
    );
    assert_eq!(duplicates(&lone), 1);
    unharmed(&lone);
}

#[test]
fn duplicates_are_answered_while_a_gap_is_open() {
    let mut lone = Lone::usual();
    lone.ask(0, write_only(0, 1), b"x");
    lone.ask(1, fetch_add(8), &[]);
    assert_eq!(lone.ask(3, write_only(0, 1), b"y"), [(2, sequence_nak(2))]);
    assert_eq!(lone.ask(0, write_only(0, 1), b"x"), [(1, ack(2))]);
    let kept = Op::AtomicAcknowledge(acknowledged(2), 0);
    assert_eq!(lone.ask(1, fetch_add(8), &[]), [(1, kept)]);
    assert_eq!(lone.ask(2, write_only(0, 1), b"z"), [(3, ack(4))]);
    assert_eq!(lone.side.host.memory[0], b'y');
    unharmed(&lone);
}
