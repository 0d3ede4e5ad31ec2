// SPDX-License-Identifier: GPL-2.0

//! What waits for what at the requester: limits, fences, local work; what is refused; and the order
//! in which requests end.

mod pair;

use oxe_proto::{
    transport::{
        error::WcStatus,
        state::State,
        wr::{SendOp, SlotIndex},
    },
    types::MAX_MESSAGE_BYTES,
    wire::packet::Op,
};
use pair::{craft::*, Lone, Pair, Setup};

#[test]
fn no_more_reads_and_atomics_are_under_way_than_agreed() {
    for limit in 1..=5 {
        let setup = Setup::with(|attributes| attributes.max_rd_atomic = limit);
        let mut lone = Lone::new(&setup);
        let ops = [read(0), add(0), flush(), atomic_write(0)];
        for n in 0..12 {
            let op = ops[n % 4];
            let length = if matches!(op, SendOp::Flush { .. }) {
                0
            } else {
                8
            };
            lone.side.post(op, vec![0; length]);
        }
        // What comes after those held back waits, too.
        lone.side.post(write(0), vec![0; 4]);
        let mut sent = lone.said().len();
        assert_eq!(sent, usize::from(limit));
        for n in 0..12 {
            let (op, bytes) = match n % 4 {
                0 => (response(0, 1, 1), 8),
                1 => (Op::AtomicAcknowledge(acknowledged(1), 1), 0),
                _ => (response(0, 1, 1), 0),
            };
            lone.give(n, op, &vec![1; bytes]);
            sent += lone.said().len();
            assert_eq!(lone.side.done.len(), n as usize + 1);
            let under_way = (n as usize + 1 + usize::from(limit)).min(12);
            assert_eq!(sent, under_way + usize::from(under_way == 12));
        }
        lone.give(12, ack(13), &[]);
        lone.said();
        assert_eq!(lone.side.statuses(), [WcStatus::Success; 13]);
    }
}

#[test]
fn without_reads_agreed_they_are_refused() {
    for op in [read(0), add(0), flush(), atomic_write(0)] {
        let setup = Setup::with(|attributes| attributes.max_rd_atomic = 0);
        let mut lone = Lone::new(&setup);
        lone.side.post(write(0), vec![0; 4]);
        lone.side.post(op, vec![0; 8]);
        lone.side.post(write(0), vec![0; 4]);
        assert_eq!(lone.said(), [(0, write_only(0, 4))]);
        // The one before it completes first.
        assert_eq!(lone.side.statuses(), []);
        lone.give(0, ack(1), &[]);
        assert_eq!(lone.said(), []);
        let ended = [
            WcStatus::Success,
            WcStatus::LocalQpOperation,
            WcStatus::Flushed,
        ];
        assert_eq!(lone.side.statuses(), ended, "{op:?}");
        assert_eq!(lone.state(), State::Err);
    }
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    for (op, length) in [
        (send(), MAX_MESSAGE_BYTES + 1),
        (write(0), MAX_MESSAGE_BYTES + 1),
        (read(0), u32::MAX),
        (add(0), 7),
        (add(0), 16),
        (atomic_write(0), 0),
        (atomic_write(0), 9),
    ] {
        let mut lone = Lone::usual();
        let wr = oxe_proto::transport::wr::SendWr::new(op, length);
        lone.side.post_wr(wr, Vec::new());
        assert_eq!(lone.said(), []);
        assert_eq!(lone.side.statuses(), [WcStatus::LocalLength], "{op:?}");
        assert_eq!(lone.state(), State::Err);
    }
}

#[test]
fn a_fence_waits_for_reads_and_atomics_before_it() {
    for (op, length, reply, bytes) in [
        (read(0), 300, response(1, 2, 1), 44),
        (add(0), 8, Op::AtomicAcknowledge(acknowledged(1), 1), 0),
        (flush(), 0, response(0, 1, 1), 0),
        (atomic_write(0), 8, response(0, 1, 1), 0),
    ] {
        let after = [write(0), read(0), SendOp::Local, add(0)];
        for next in after {
            let mut lone = Lone::usual();
            let is_read = matches!(op, SendOp::Read { .. });
            lone.side.post(op, vec![0; length]);
            lone.side.post_wr(fenced(next, 8), vec![0; 8]);
            assert_eq!(lone.said().len(), 1);
            if is_read {
                lone.give(0, response(0, 2, 1), &[1; 256]);
                assert_eq!(lone.said(), []);
                assert!(lone.side.host.local.is_empty());
            }
            lone.give(i64::from(is_read), reply, &vec![1; bytes]);
            let sends = next != SendOp::Local;
            assert_eq!(lone.said().len(), usize::from(sends), "{op:?} {next:?}");
            assert_eq!(lone.side.host.local.is_empty(), sends);
        }
    }
    // It does not wait for WRITEs, unless it is local work; without it nothing waits.
    let mut lone = Lone::usual();
    lone.side.post(write(0), vec![0; 4]);
    lone.side.post_wr(fenced(SendOp::Local, 0), Vec::new());
    assert_eq!(lone.said().len(), 1);
    assert!(lone.side.host.local.is_empty());
    lone.give(0, ack(1), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
    let mut lone = Lone::usual();
    lone.side.post(write(0), vec![0; 4]);
    lone.side.post_wr(fenced(send(), 4), vec![0; 4]);
    lone.side.post(read(0), vec![0; 4]);
    lone.side.post(send(), vec![0; 4]);
    assert_eq!(lone.said().len(), 4);
}

#[test]
fn local_work_is_done_in_its_turn() {
    let mut lone = Lone::usual();
    lone.side.post(write(0), vec![0; 4]);
    let second = lone.side.post(SendOp::Local, Vec::new());
    lone.side.post_wr(unsignalled(SendOp::Local, 0), Vec::new());
    lone.side.post(read(0), vec![0; 4]);
    assert_eq!(lone.said().len(), 2);
    assert_eq!(lone.side.host.local[0], second);
    assert_eq!(lone.side.statuses(), []);
    lone.give(0, ack(1), &[]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 3]);
    lone.give(1, response(0, 1, 2), &[0; 4]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 4]);

    // One that fails lets those before it complete.
    lone.side.host.local_faults = [WcStatus::MemoryWindowBind].into();
    lone.side.post(write(0), vec![0; 4]);
    lone.side.post(SendOp::Local, Vec::new());
    lone.side.post(write(0), vec![0; 4]);
    assert_eq!(lone.said().len(), 1);
    assert_eq!(lone.side.done.len(), 4);
    lone.give(2, ack(3), &[]);
    assert_eq!(lone.said(), []);
    let ended = [
        WcStatus::Success,
        WcStatus::MemoryWindowBind,
        WcStatus::Flushed,
    ];
    assert_eq!(lone.side.statuses()[4..], ended);
}

#[test]
fn much_local_work_leaves_room_for_others_and_is_all_done() {
    let mut pair = Pair::new(&Setup::default());
    for n in 0..60 {
        let op = if n % 20 == 19 {
            write(0)
        } else {
            SendOp::Local
        };
        pair.a.post(op, Vec::new());
    }
    // One call does a part of it and says that it wants to be called again.
    assert!(pair.a.send_one(pair.now).is_none());
    let part = pair.a.host.local.len();
    assert!((1..=19).contains(&part), "{part}");
    let again = pair.a.engine.next_timeout();
    assert!(again.is_some_and(|again| again <= pair.now));
    pair.run_all();
    assert_eq!(pair.a.host.local.len(), 57);
    assert_eq!(pair.a.statuses(), [WcStatus::Success; 60]);
}

#[test]
fn completions_come_in_the_order_of_posting() {
    let mut pair = Pair::new(&Setup::default());
    pair.b.host.receives.extend((0..60).map(|_| vec![0; 2000]));
    let ops = [
        read(0),
        send(),
        add(0),
        write(0),
        flush(),
        SendOp::Local,
        atomic_write(8),
    ];
    let mut posted = Vec::new();
    for n in 0..50 {
        let op = ops[n * 5 % 7];
        let length = match op {
            SendOp::Flush { .. } | SendOp::Local => 0,
            SendOp::FetchAdd(_) | SendOp::AtomicWrite { .. } => 8,
            _ => n * 37,
        };
        let wr = if n % 3 == 0 {
            unsignalled(op, length as u32)
        } else {
            oxe_proto::transport::wr::SendWr::new(op, length as u32)
        };
        posted.push((pair.a.post_wr(wr, vec![1; length]), n % 3 != 0));
    }
    pair.run(|from, count, _| !(from == 'a' && count == 20 || from == 'b' && count == 9));
    let done: Vec<_> = pair
        .a
        .done
        .iter()
        .map(|done| (done.slot, done.reported))
        .collect();
    assert_eq!(done, posted);
    assert_eq!(pair.a.statuses(), [WcStatus::Success; 50]);
}

#[test]
fn the_send_queue_is_full_when_it_is_full() {
    let mut lone = Lone::usual();
    for n in 0..64 {
        assert_eq!(lone.side.post(send(), vec![1; 4]), SlotIndex(n));
    }
    let wr = oxe_proto::transport::wr::SendWr::new(send(), 4);
    let full = Err(oxe_proto::transport::PostError::Full);
    assert_eq!(lone.side.engine.post_send(wr), full);
    lone.said();
    lone.give(0, ack(1), &[]);
    // The slot is free when its completion has been taken.
    assert_eq!(lone.side.engine.post_send(wr), full);
    lone.said();
    assert_eq!(lone.side.engine.send_queue_len(), 63);
    assert_eq!(lone.side.post(send(), vec![1; 4]), SlotIndex(0));
}
