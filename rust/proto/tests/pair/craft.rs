// SPDX-License-Identifier: GPL-2.0

//! Packets and requests made by hand.

use super::{BASE, RKEY};
use oxe_proto::{
    transport::{
        state::QpType,
        wr::{SendOp, SendWr},
    },
    types::{Immediate, Msn, Pkey, Psn, Qkey, Qpn, Rkey, SrqNumber},
    wire::{
        aeth::{Aeth, NakCode, Syndrome},
        atomic::AtomicEth,
        deth::Deth,
        flush::Feth,
        packet::{Addressing, Op, Packet, Service, Tail},
        reth::Reth,
    },
};

/// A key that opens nothing.
pub(crate) const BAD_KEY: Rkey = Rkey(0x666);
pub(crate) const IMM: Immediate = Immediate(*b"imm!");
/// The shared receive queue that XRC requests name.
pub(crate) const SRQ: SrqNumber = SrqNumber::from_low_bits(5);
pub(crate) const QKEY: Qkey = Qkey(0x1111);

/// Whether a payload belongs into the packet is not looked at.
pub(crate) fn packet(qp_type: QpType, psn: Psn, op: Op, bytes: usize) -> Packet {
    let service = match qp_type {
        QpType::Rc => Service::Rc,
        QpType::Uc => Service::Uc,
        QpType::Ud | QpType::Gsi => Service::Ud,
        QpType::XrcIni | QpType::XrcTgt => Service::Xrc,
    };
    let addressing = match service {
        Service::Xrc if op.is_request() => Addressing::SharedQueue(SRQ),
        Service::Ud => Addressing::Datagram(Deth {
            qkey: QKEY,
            source_qp: Qpn::from_low_bits(0x11),
        }),
        _ => Addressing::Connected,
    };
    Packet {
        service,
        op,
        addressing,
        dest_qp: Qpn::from_low_bits(0x22),
        psn,
        pkey: Pkey::DEFAULT_FULL,
        ack_req: false,
        solicited: false,
        mig_req: true,
        fecn: false,
        becn: false,
        data_bytes: bytes as u32,
    }
}

pub(crate) fn reth(offset: u64, length: u32) -> Reth {
    Reth {
        address: BASE.wrapping_add(offset),
        rkey: RKEY,
        length,
    }
}

pub(crate) fn atomic_at(offset: u64) -> AtomicEth {
    AtomicEth {
        address: BASE + offset,
        rkey: RKEY,
        swap_add: 1,
        compare: 0,
    }
}

pub(crate) const VISIBLE: Feth = Feth {
    visible: true,
    persistent: false,
    whole_region: false,
};

pub(crate) const PERSISTENT: Feth = Feth {
    visible: false,
    persistent: true,
    whole_region: false,
};

pub(crate) fn aeth(syndrome: Syndrome, msn: u32) -> Aeth {
    Aeth {
        syndrome,
        msn: Msn::from_low_bits(msn),
    }
}

/// An acknowledgement as a side sends it: without a limit of credits.
pub(crate) fn ack(msn: u32) -> Op {
    Op::Acknowledge(aeth(Syndrome::Ack(31), msn))
}

pub(crate) fn nak(code: NakCode, msn: u32) -> Op {
    Op::Acknowledge(aeth(Syndrome::Nak(code), msn))
}

pub(crate) fn sequence_nak(msn: u32) -> Op {
    nak(NakCode::SequenceError, msn)
}

pub(crate) fn rnr(code: u8, msn: u32) -> Op {
    Op::Acknowledge(aeth(Syndrome::RnrNak(code), msn))
}

pub(crate) fn acknowledged(msn: u32) -> Aeth {
    aeth(Syndrome::Ack(31), msn)
}

/// Operation of a response of `count` packets.
pub(crate) fn response(number: u32, count: u32, msn: u32) -> Op {
    let aeth = acknowledged(msn);
    match (number == 0, number + 1 == count) {
        (true, true) => Op::ReadResponseOnly(aeth),
        (true, false) => Op::ReadResponseFirst(aeth),
        (false, false) => Op::ReadResponseMiddle,
        (false, true) => Op::ReadResponseLast(aeth),
    }
}

pub(crate) fn send_only() -> Op {
    Op::SendOnly(Tail::None)
}

pub(crate) fn send_last() -> Op {
    Op::SendLast(Tail::None)
}

/// A WRITE in one packet.
pub(crate) fn write_only(offset: u64, length: u32) -> Op {
    Op::WriteOnly(reth(offset, length), None)
}

pub(crate) fn read_request(offset: u64, length: u32) -> Op {
    Op::ReadRequest(reth(offset, length))
}

pub(crate) fn fetch_add(offset: u64) -> Op {
    Op::FetchAdd(atomic_at(offset))
}

// Work requests.

pub(crate) fn send() -> SendOp {
    SendOp::Send(Tail::None)
}

pub(crate) fn write(offset: u64) -> SendOp {
    SendOp::Write {
        address: BASE + offset,
        rkey: RKEY,
        immediate: None,
    }
}

pub(crate) fn write_immediate(offset: u64) -> SendOp {
    SendOp::Write {
        address: BASE + offset,
        rkey: RKEY,
        immediate: Some(IMM),
    }
}

pub(crate) fn read(offset: u64) -> SendOp {
    SendOp::Read {
        address: BASE + offset,
        rkey: RKEY,
    }
}

pub(crate) fn add(offset: u64) -> SendOp {
    SendOp::FetchAdd(atomic_at(offset))
}

pub(crate) fn flush() -> SendOp {
    SendOp::Flush {
        feth: VISIBLE,
        address: BASE,
        rkey: RKEY,
    }
}

pub(crate) fn atomic_write(offset: u64) -> SendOp {
    SendOp::AtomicWrite {
        address: BASE + offset,
        rkey: RKEY,
    }
}

pub(crate) fn datagram() -> SendOp {
    SendOp::Datagram {
        dest_qp: Qpn::from_low_bits(0x22),
        qkey: QKEY,
        immediate: None,
    }
}

pub(crate) fn fenced(op: SendOp, length: u32) -> SendWr {
    SendWr {
        fence: true,
        ..SendWr::new(op, length)
    }
}

pub(crate) fn unsignalled(op: SendOp, length: u32) -> SendWr {
    SendWr {
        signalled: false,
        ..SendWr::new(op, length)
    }
}
