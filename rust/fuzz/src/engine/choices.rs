// SPDX-License-Identifier: GPL-2.0

//! What peer and user come up with.

use oxe_proto::{
    transport::{
        attributes::{
            Access,
            Attributes, //
        },
        state::{
            QpType,
            State, //
        },
        wr::{
            SendOp,
            SendWr, //
        },
    },
    types::{
        Immediate,
        Msn,
        Pkey,
        Psn,
        Qkey,
        Qpn,
        Rkey,
        SrqNumber, //
    },
    wire::{
        aeth::{
            Aeth,
            Syndrome, //
        },
        atomic::AtomicEth,
        deth::Deth,
        flush::Feth,
        packet::{
            Addressing,
            Op,
            Packet,
            Service,
            Tail, //
        },
        reth::Reth,
    },
};

use crate::input::Input;

pub(super) const STATES: [State; 7] = [
    State::Rts,
    State::Err,
    State::Reset,
    State::Init,
    State::Rtr,
    State::Sqd,
    State::Sqe,
];

/// Lengths at the borders of packets and of what there is.
const LENGTHS: [u32; 14] = [
    0,
    1,
    8,
    255,
    256,
    257,
    512,
    1024,
    1025,
    4096,
    8192,
    65536,
    1 << 31,
    u32::MAX,
];

const KEY: Rkey = Rkey(0x1234);

fn address(input: &mut Input<'_>) -> u64 {
    *input.choose(&[0x1000, 0x1001, 0, u64::MAX, u64::MAX - 7])
}

fn length(input: &mut Input<'_>) -> u32 {
    *input.choose(&LENGTHS)
}

fn tail(input: &mut Input<'_>) -> Tail {
    *input.choose(&[
        Tail::None,
        Tail::Immediate(Immediate([1, 2, 3, 4])),
        Tail::Invalidate(KEY),
    ])
}

fn immediate(input: &mut Input<'_>) -> Option<Immediate> {
    input.bool().then_some(Immediate([1, 2, 3, 4]))
}

fn atomic(input: &mut Input<'_>) -> AtomicEth {
    AtomicEth {
        address: address(input),
        rkey: KEY,
        swap_add: 1,
        compare: 2,
    }
}

fn feth(input: &mut Input<'_>) -> Feth {
    let bits = input.u8();
    Feth {
        visible: bits & 1 != 0,
        persistent: bits & 2 != 0,
        whole_region: bits & 4 != 0,
    }
}

fn reth(input: &mut Input<'_>) -> Reth {
    Reth {
        address: address(input),
        rkey: KEY,
        length: length(input),
    }
}

fn aeth(input: &mut Input<'_>) -> Aeth {
    // Acknowledgements and what refuses, each half of the time.
    let byte = input.u8();
    let syndrome = if byte & 0x80 == 0 {
        byte & 0x1f
    } else {
        byte & 0x7f
    };
    Aeth {
        syndrome: Syndrome::from_byte(syndrome),
        msn: Msn::from_low_bits(u32::from(input.u8())),
    }
}

pub(super) fn attributes(input: &mut Input<'_>) -> Attributes {
    let bits = input.u8();
    Attributes {
        access: Access {
            remote_write: bits & 1 == 0,
            remote_read: bits & 2 == 0,
            remote_atomic: bits & 4 == 0,
            flush_global: bits & 8 == 0,
            flush_persistent: bits & 16 == 0,
        },
        pkey: Pkey::DEFAULT_FULL,
        dest_qp: Qpn::from_low_bits(0x22),
        max_rd_atomic: input.u8() % 8,
        min_rnr_timer: input.u8() % 33,
        timeout: input.u8() % 33,
        retry_cnt: input.u8() % 9,
        rnr_retry: input.u8() % 9,
        qkey: Qkey(0x1111),
        sq_drained_event: bits & 32 != 0,
        ..Attributes::default()
    }
}

/// A send request, sensible or not.
pub(super) fn request(input: &mut Input<'_>) -> SendWr {
    let op = match input.below(9) {
        0 => SendOp::Send(tail(input)),
        1 => SendOp::Write {
            address: address(input),
            rkey: KEY,
            immediate: immediate(input),
        },
        2 => SendOp::Read {
            address: address(input),
            rkey: KEY,
        },
        3 => SendOp::CompareSwap(atomic(input)),
        4 => SendOp::FetchAdd(atomic(input)),
        5 => SendOp::Flush {
            feth: feth(input),
            address: address(input),
            rkey: KEY,
        },
        6 => SendOp::AtomicWrite {
            address: address(input),
            rkey: KEY,
        },
        7 => SendOp::Datagram {
            dest_qp: Qpn::from_low_bits(0x33),
            qkey: Qkey(0x8000_0000),
            immediate: immediate(input),
        },
        _ => SendOp::Local,
    };
    let bits = input.u8();
    SendWr {
        signalled: bits & 1 == 0,
        solicited: bits & 2 != 0,
        fence: bits & 4 != 0,
        ..SendWr::new(op, length(input))
    }
}

fn operation(input: &mut Input<'_>) -> Op {
    match input.below(20) {
        0 => Op::SendFirst,
        1 => Op::SendMiddle,
        2 => Op::SendLast(tail(input)),
        3 => Op::SendOnly(tail(input)),
        4 => Op::WriteFirst(reth(input)),
        5 => Op::WriteMiddle,
        6 => Op::WriteLast(immediate(input)),
        7 => Op::WriteOnly(reth(input), immediate(input)),
        8 => Op::ReadRequest(reth(input)),
        9 => Op::ReadResponseFirst(aeth(input)),
        10 => Op::ReadResponseMiddle,
        11 => Op::ReadResponseLast(aeth(input)),
        12 => Op::ReadResponseOnly(aeth(input)),
        13 => Op::Acknowledge(aeth(input)),
        14 => Op::AtomicAcknowledge(aeth(input), 9),
        15 => Op::CompareSwap(atomic(input)),
        16 => Op::FetchAdd(atomic(input)),
        17 => Op::Flush(feth(input), reth(input)),
        18 => Op::AtomicWrite(reth(input)),
        _ => Op::Cnp,
    }
}

/// A packet that comes in: mostly of the right service and near the numbers that are waited for,
/// `peer` of requests and `sent` of answers.
pub(super) fn packet(input: &mut Input<'_>, qp_type: QpType, peer: Psn, sent: Psn) -> Packet {
    let own = match qp_type {
        QpType::Rc => Service::Rc,
        QpType::Uc => Service::Uc,
        QpType::Ud | QpType::Gsi => Service::Ud,
        QpType::XrcIni | QpType::XrcTgt => Service::Xrc,
    };
    let op = operation(input);
    let expected = if op.is_response() { sent } else { peer };
    let psn = match input.u8() {
        0x00..=0x9f => expected,
        near @ 0xa0..=0xef => expected
            .plus(u32::from(near & 0xf))
            .minus(u32::from(near >> 6) * 4),
        _ => Psn::from_low_bits(input.u32()),
    };
    let bits = input.u8();
    let mut packet = Packet {
        service: own,
        op,
        addressing: Addressing::Connected,
        dest_qp: Qpn::from_low_bits(0x11),
        psn,
        pkey: Pkey(if bits & 0x0f == 0x0f { 0x7fff } else { 0xffff }),
        ack_req: bits & 0x10 != 0,
        solicited: bits & 0x20 != 0,
        mig_req: true,
        fecn: false,
        becn: bits & 0x40 != 0,
        data_bytes: length(input).min(4096),
    };
    let addressings = [
        Addressing::Connected,
        Addressing::Datagram(Deth {
            qkey: Qkey(if bits & 0x80 == 0 { 0x1111 } else { 0x2222 }),
            source_qp: Qpn::from_low_bits(0x22),
        }),
        Addressing::SharedQueue(SrqNumber::from_low_bits(5)),
    ];
    let services = [own, Service::Rc, Service::Cnp];
    // What there is no packet of, such as an atomic of a datagram, becomes something that there is.
    for service in services {
        for addressing in addressings {
            packet.service = service;
            packet.addressing = addressing;
            if packet.opcode().is_some() {
                if op == Op::Cnp {
                    packet.data_bytes = 0;
                }
                return packet;
            }
        }
    }
    Packet {
        op: Op::SendOnly(Tail::None),
        service: Service::Rc,
        addressing: Addressing::Connected,
        ..packet
    }
}
