// SPDX-License-Identifier: GPL-2.0

//! Reliable connections: what arrives, how losses are got over, and how requests end.

mod pair;

use oxe_proto::{
    transport::{error::WcStatus, wr::SendOp},
    types::{Immediate, Rkey},
    wire::{
        atomic::AtomicEth,
        flush::Feth,
        packet::{Op, Tail},
    },
};
use pair::{pattern, Pair, Setup, BASE, RKEY};

const SIZES: [usize; 12] = [0, 1, 3, 255, 256, 257, 511, 512, 513, 1000, 5000, 70_000];

fn write(offset: u64) -> SendOp {
    SendOp::Write {
        address: BASE + offset,
        rkey: RKEY,
        immediate: None,
    }
}

fn read(offset: u64) -> SendOp {
    SendOp::Read {
        address: BASE + offset,
        rkey: RKEY,
    }
}

#[test]
fn sends_of_every_size() {
    let mut pair = Pair::new(&Setup::default());
    for (n, size) in SIZES.into_iter().enumerate() {
        pair.b.host.receives.push_back(vec![0; size]);
        pair.a
            .post(SendOp::Send(Tail::None), pattern(size, n as u8));
    }
    pair.run_all();
    assert_eq!(pair.a.statuses(), vec![WcStatus::Success; SIZES.len()]);
    assert_eq!(pair.b.host.received.len(), SIZES.len());
    for (n, (completion, buffer)) in pair.b.host.received.iter().enumerate() {
        assert_eq!(completion.bytes as usize, SIZES[n]);
        assert_eq!(*buffer, pattern(SIZES[n], n as u8));
    }
}

#[test]
fn writes_reads_and_atomics() {
    let mut pair = Pair::new(&Setup::default());
    for (n, size) in SIZES.into_iter().enumerate() {
        // Without a fence a READ may see what a later WRITE wrote: each has a place of its own.
        let place = n as u64 * 0x1_4000;
        pair.a.post(write(place), pattern(size, n as u8));
        pair.a.post(read(place), vec![0; size]);
    }
    let add = AtomicEth {
        address: BASE + 0xf_8000,
        rkey: RKEY,
        swap_add: 5,
        compare: 0,
    };
    for _ in 0..6 {
        pair.a.post(SendOp::FetchAdd(add), vec![0; 8]);
    }
    let flush = SendOp::Flush {
        feth: Feth {
            visible: true,
            ..Feth::default()
        },
        address: BASE,
        rkey: RKEY,
    };
    pair.a.post(flush, Vec::new());
    let atomic_write = SendOp::AtomicWrite {
        address: BASE + 0xf_8008,
        rkey: RKEY,
    };
    pair.a.post(atomic_write, pattern(8, 9));
    pair.run_all();
    let count = 2 * SIZES.len() + 8;
    assert_eq!(pair.a.statuses(), vec![WcStatus::Success; count]);
    for (n, size) in SIZES.into_iter().enumerate() {
        assert_eq!(
            pair.a.host.incoming[2 * n + 1],
            pattern(size, n as u8),
            "{size}"
        );
    }
    assert_eq!(pair.b.host.memory[0xf_8000], 30);
    assert_eq!(pair.b.host.memory[0xf_8008..0xf_8010], pattern(8, 9));
    assert_eq!(
        pair.a.host.incoming[2 * SIZES.len() + 5],
        25_u64.to_ne_bytes()
    );
}

#[test]
fn every_single_loss_is_got_over() {
    let work = |pair: &mut Pair| {
        pair.b.host.receives.extend([vec![0; 2000], vec![0; 700]]);
        pair.a.post(SendOp::Send(Tail::None), pattern(2000, 1));
        pair.a.post(read(0x1000), vec![0; 3000]);
        pair.a.post(write(0x8000), pattern(1500, 2));
        let add = AtomicEth {
            address: BASE + 0x8_0000,
            rkey: RKEY,
            swap_add: 1,
            compare: 0,
        };
        pair.a.post(SendOp::FetchAdd(add), vec![0; 8]);
        pair.a.post(read(0x1000), vec![0; 600]);
        pair.a.post(
            SendOp::Send(Tail::Immediate(Immediate(*b"abcd"))),
            pattern(700, 3),
        );
    };
    let mut longest = 0;
    for from in ['a', 'b'] {
        for lost in 0.. {
            let mut pair = Pair::new(&Setup::default());
            let known = pattern(0x2000, 7);
            pair.b.host.memory[0x1000..0x3000].copy_from_slice(&known);
            work(&mut pair);
            pair.run(|sender, count, _| sender != from || count != lost);
            assert_eq!(
                pair.a.statuses(),
                vec![WcStatus::Success; 6],
                "{from}{lost}"
            );
            assert_eq!(pair.a.host.incoming[1], known[..3000]);
            assert_eq!(pair.a.host.incoming[4], known[..600]);
            assert_eq!(pair.b.host.memory[0x8000..0x8000 + 1500], pattern(1500, 2));
            assert_eq!(pair.b.host.atomics, 1);
            assert_eq!(pair.b.host.received.len(), 2);
            assert_eq!(pair.b.host.received[0].1, pattern(2000, 1));
            assert_eq!(pair.b.host.received[1].1[..700], pattern(700, 3));
            longest = longest.max(pair.sent(from).len());
            if lost >= pair.sent(from).len() {
                break;
            }
        }
    }
    assert!(longest > 20);
}

#[test]
fn a_refused_key_ends_both_sides() {
    let mut pair = Pair::new(&Setup::default());
    pair.b.host.receives.extend([vec![0; 10], vec![0; 10]]);
    pair.a.post(SendOp::Send(Tail::None), pattern(10, 1));
    let bad = SendOp::Write {
        address: BASE,
        rkey: Rkey(1),
        immediate: None,
    };
    pair.a.post(bad, pattern(10, 2));
    pair.a.post(SendOp::Send(Tail::None), pattern(10, 3));
    pair.run_all();
    assert_eq!(
        pair.a.statuses(),
        [WcStatus::Success, WcStatus::RemoteAccess, WcStatus::Flushed]
    );
    assert_eq!(pair.b.host.received.len(), 1);
    assert!(
        matches!(pair.log.last(), Some(('b', packet, _)) if matches!(packet.op, Op::Acknowledge(_)))
    );
}
