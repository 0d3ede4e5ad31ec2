// SPDX-License-Identifier: GPL-2.0

//! The engine: a stream of messages from a requester to a responder, headers and all, data aside.

use std::hint::black_box;

use oxe_proto::{
    transport::{
        attributes::{
            Access,
            Attributes,
            Change,
            Config, //
        },
        state::{
            AttributeMask,
            QpType,
            State, //
        },
        wr::{
            SendOp,
            SendWr, //
        },
        Resource,
        SendSlot,
        Verdict, //
    },
    types::{
        Instant,
        Mtu,
        Pkey,
        Qpn,
        Rkey, //
    },
    wire::{
        packet::{
            Packet,
            Tail, //
        },
        roce::MAX_HEADER_BYTES, //
    },
};
use oxe_witness::{
    handle_packet,
    modify,
    new,
    poll_burst,
    poll_completion,
    post_send,
    Nothing,
    Witness, //
};

const NOW: Instant = Instant::from_nanos(1);

/// One side of a connection.
struct Side<'m> {
    engine: Witness<'m>,
    env: Nothing,
}

impl<'m> Side<'m> {
    fn new(send: &'m mut [SendSlot], resources: &'m mut [Resource]) -> Self {
        use AttributeMask as M;
        let config = Config::new(QpType::Rc, Qpn::from_low_bits(0x11));
        let mut side = Self {
            engine: new(config, send, resources).expect("powers of two"),
            env: Nothing {
                capacity: u32::MAX,
                ..Nothing::default()
            },
        };
        let attributes = Attributes {
            access: Access::ALL,
            pkey: Pkey::DEFAULT_FULL,
            path_mtu: Mtu::B1024,
            max_rd_atomic: 16,
            max_dest_rd_atomic: 16,
            timeout: 14,
            retry_cnt: 7,
            ..Attributes::default()
        };
        let moves = [
            (State::Init, M::PKEY.with(M::PORT).with(M::ACCESS)),
            (
                State::Rtr,
                M::ADDRESS
                    .with(M::PATH_MTU)
                    .with(M::DEST_QP)
                    .with(M::RQ_PSN)
                    .with(M::MAX_DEST_RD_ATOMIC)
                    .with(M::MIN_RNR_TIMER),
            ),
            (
                State::Rts,
                M::SQ_PSN
                    .with(M::TIMEOUT)
                    .with(M::RETRY_CNT)
                    .with(M::RNR_RETRY)
                    .with(M::MAX_RD_ATOMIC),
            ),
        ];
        for (state, mask) in moves {
            let change = Change {
                state: Some(state),
                current: None,
                mask,
                attributes,
            };
            modify(&mut side.engine, NOW, &change, &mut side.env).expect("a legal move");
        }
        side
    }
}

/// What arrives of a packet at its other end: the headers, emitted and parsed.
#[inline(always)]
fn carry(head: &mut [u8; MAX_HEADER_BYTES], packet: &Packet, receiver: &mut Side<'_>) {
    let length = packet.emit(head).expect("room for every header");
    let bytes = packet.data_bytes as usize;
    let packet = Packet::parse(black_box(head), length + bytes + 4);
    let packet = packet.as_ref().expect("what was emitted");
    let verdict = handle_packet(&mut receiver.engine, NOW, packet, &[], &mut receiver.env);
    assert_eq!(verdict, Verdict::Done);
}

/// Sends `packets` packets in messages of `length` bytes, `most` at a time, and answers them.
fn stream(op: SendOp, length: u32, most: u32, packets: u64) {
    let (mut slots_a, mut slots_b) = ([SendSlot::default(); 64], [SendSlot::default(); 64]);
    let (mut kept_a, mut kept_b) = ([Resource::default(); 16], [Resource::default(); 16]);
    let mut requester = Side::new(&mut slots_a, &mut kept_a);
    let mut responder = Side::new(&mut slots_b, &mut kept_b);
    let mut head = [0; MAX_HEADER_BYTES];
    let mut left = packets;
    loop {
        while post_send(&mut requester.engine, SendWr::new(op, length)).is_ok() {}
        // As much as the window allows, then its acknowledgement.
        while let Some(burst) = poll_burst(&mut requester.engine, NOW, most, &mut requester.env) {
            carry(&mut head, &burst.first().packet, &mut responder);
            for number in 1..burst.count().min(left as u32) {
                carry(&mut head, &burst.packet(number).packet, &mut responder);
            }
            left = left.saturating_sub(burst.count().into());
            if left == 0 {
                return;
            }
        }
        while let Some(burst) = poll_burst(&mut responder.engine, NOW, most, &mut responder.env) {
            carry(&mut head, &burst.first().packet, &mut requester);
        }
        while let Some(completion) = poll_completion(&mut requester.engine) {
            black_box(completion);
        }
    }
}

const WRITE: SendOp = SendOp::Write {
    address: 0x1000,
    rkey: Rkey(0x1234),
    immediate: None,
};

/// WRITEs so long that nearly all packets are middle ones.
pub(crate) fn long_writes(packets: u64) {
    stream(WRITE, 1 << 30, 1, packets);
}

/// The same, taken from the requester in bursts as long as it gives them.
pub(crate) fn bursts(packets: u64) {
    stream(WRITE, 1 << 30, u32::MAX, packets);
}

/// WRITEs of one packet each.
pub(crate) fn short_writes(packets: u64) {
    stream(WRITE, 64, 1, packets);
}

/// SENDs of one packet each.
pub(crate) fn short_sends(packets: u64) {
    stream(SendOp::Send(Tail::None), 64, 1, packets);
}
