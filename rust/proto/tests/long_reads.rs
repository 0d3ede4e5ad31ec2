// SPDX-License-Identifier: GPL-2.0

//! READs of more packets than one request asks for, and the longest there are.

mod pair;

use oxe_proto::{
    transport::error::WcStatus,
    types::{Span, MAX_MESSAGE_BYTES},
    wire::packet::{Op, Packet},
};
use pair::{craft::*, Lone, Setup, BASE, RKEY};

/// Numbers that one request of a long READ asks for.
const PART: u32 = 1 << 21;

fn long_read(length: u32) -> oxe_proto::transport::wr::SendWr {
    oxe_proto::transport::wr::SendWr::new(read(0), length)
}

/// Gives `count` responses from number `from` on.
fn answer_part(lone: &mut Lone, from: u32, count: u32, data: &[u8]) {
    for n in 0..count {
        let packet = Packet {
            ack_req: false,
            ..lone.packet(i64::from(from + n), response(n, count, 1), data.len())
        };
        let host = &mut lone.side.host;
        let verdict = lone
            .side
            .engine
            .handle_packet(lone.now, &packet, data, host);
        assert_eq!(verdict, oxe_proto::transport::Verdict::Done);
    }
}

#[test]
fn a_long_read_is_asked_for_in_parts() {
    let mut lone = Lone::usual();
    lone.side.host.forgetful = true;
    lone.side
        .post_wr(long_read((PART + 1) * 256 + 7), Vec::new());
    lone.side.post(write(0), vec![1; 4]);
    let first = Op::ReadRequest(reth(0, PART * 256));
    assert_eq!(lone.said(), [(0, first)]);
    answer_part(&mut lone, 0, PART - 1, &[0; 256]);
    assert_eq!(lone.said(), []);
    answer_part(&mut lone, PART - 1, 1, &[0; 256]);
    let end = i64::from(PART);
    let second = Op::ReadRequest(reth(u64::from(PART) * 256, 263));
    // The WRITE follows with the number after the READ's.
    assert_eq!(lone.said(), [(end, second), (end + 2, write_only(0, 4))]);
    lone.give(end, response(0, 2, 1), &[0; 256]);
    lone.give(end + 1, response(1, 2, 1), &[0; 7]);
    lone.give(end + 2, ack(2), &[]);
    assert_eq!(lone.said(), []);
    assert_eq!(lone.side.statuses(), [WcStatus::Success; 2]);
}

#[test]
fn long_reads_leave_the_window_open() {
    let setup = Setup {
        window: 1,
        ..Setup::default()
    };
    let mut lone = Lone::new(&setup);
    lone.side.host.forgetful = true;
    lone.side.post_wr(long_read((PART + 1) * 256), Vec::new());
    lone.said();
    answer_part(&mut lone, 0, PART, &[0; 256]);
    lone.said();
    answer_part(&mut lone, PART, 1, &[0; 256]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
    lone.side.post(write(0), vec![1; 4]);
    assert_eq!(lone.said(), [(i64::from(PART) + 1, write_only(0, 4))]);
}

#[test]
fn the_longest_read_takes_its_last_packets_from_the_right_place() {
    let setup = Setup {
        mtu: oxe_proto::types::Mtu::B4096,
        ..Setup::default()
    };
    let mut lone = Lone::new(&setup);
    lone.side.host.forgetful = true;
    lone.side.post_wr(long_read(MAX_MESSAGE_BYTES), Vec::new());
    lone.said();
    let packets = MAX_MESSAGE_BYTES / 4096;
    answer_part(&mut lone, 0, packets - 1, &[0; 4096]);
    lone.said();
    assert_eq!(lone.side.statuses(), []);
    // The last is lost: after a while it alone is asked for.
    let said = lone.wait(Span::from_micros(60_000));
    let (_, n, Op::ReadRequest(memory)) = said[0] else {
        panic!("{said:?}");
    };
    assert_eq!(n, i64::from(packets - 1));
    assert_eq!(memory.length, 4096);
    assert_eq!(memory.address, BASE + u64::from(MAX_MESSAGE_BYTES) - 4096);
    assert_eq!(memory.rkey, RKEY);
    lone.give(n, response(0, 1, 1), &[0; 4096]);
    lone.said();
    assert_eq!(lone.side.statuses(), [WcStatus::Success]);
}
