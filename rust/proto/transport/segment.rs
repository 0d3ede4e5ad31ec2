// SPDX-License-Identifier: GPL-2.0

//! Messages and packets: which packet of a request says what (IBTA 9.7.2, 9.8.2).

use super::{
    context::Context,
    error::WcStatus,
    state::QpType,
    wr::{
        Payload,
        SendOp,
        SendWr,
        SlotIndex,
        Transmit, //
    },
};
use crate::{
    types::{
        Immediate,
        Psn,
        Rkey,
        MAX_MESSAGE_BYTES, //
    },
    wire::{
        deth::Deth,
        packet::{
            Addressing,
            Op,
            Packet,
            Position,
            Tail, //
        },
        reth::Reth,
    },
};
use core::ops::Range;

/// Where packet `number` stands in its message.
#[inline]
pub(super) const fn position(number: u32, is_last: bool) -> Position {
    match (number == 0, is_last) {
        (true, true) => Position::Only,
        (true, false) => Position::First,
        (false, true) => Position::Last,
        (false, false) => Position::Middle,
    }
}

/// Why a request cannot be done by this queue pair at all.
pub(super) fn refusal(wr: &SendWr, context: &Context) -> Option<WcStatus> {
    use QpType::{
        Gsi,
        Rc,
        Uc,
        Ud,
        XrcIni, //
    };
    let qp_type = context.config.qp_type;
    let reliable = matches!(qp_type, Rc | XrcIni);
    let connected = reliable || qp_type == Uc;
    let (fits, exact) = match wr.op {
        SendOp::Send(Tail::Invalidate(_)) => (reliable, None),
        SendOp::Send(_) | SendOp::Write { .. } => (connected, None),
        SendOp::Read { .. } => (reliable, None),
        SendOp::CompareSwap(_) | SendOp::FetchAdd(_) => (reliable, Some(8)),
        // XRC has no opcodes for them.
        SendOp::Flush { .. } => (qp_type == Rc, None),
        SendOp::AtomicWrite { .. } => (qp_type == Rc, Some(8)),
        SendOp::Datagram { .. } => (matches!(qp_type, Ud | Gsi), None),
        SendOp::Local => (true, None),
    };
    let responses = u32::from(context.attributes.max_rd_atomic);
    let needs_response = !matches!(
        wr.op,
        SendOp::Send(_) | SendOp::Write { .. } | SendOp::Datagram { .. } | SendOp::Local
    );
    if !fits || (needs_response && responses == 0) {
        return Some(WcStatus::LocalQpOperation);
    }
    let longest = match wr.op {
        SendOp::Datagram { .. } => context.attributes.path_mtu.bytes(),
        SendOp::Local => u32::MAX,
        _ => MAX_MESSAGE_BYTES,
    };
    if wr.length > longest || exact.is_some_and(|exact| wr.length != exact) {
        return Some(WcStatus::LocalLength);
    }
    None
}

/// The address headers of a request.
#[inline]
fn addressing(wr: &SendWr, context: &Context) -> Addressing {
    match context.config.qp_type {
        QpType::XrcIni => Addressing::SharedQueue(wr.srq),
        _ => Addressing::Connected,
    }
}

#[inline]
fn send_op(position: Position, tail: Tail) -> Op {
    match position {
        Position::First => Op::SendFirst,
        Position::Middle => Op::SendMiddle,
        Position::Last => Op::SendLast(tail),
        Position::Only => Op::SendOnly(tail),
    }
}

#[inline]
fn write_op(position: Position, reth: Reth, immediate: Option<Immediate>) -> Op {
    match position {
        Position::First => Op::WriteFirst(reth),
        Position::Middle => Op::WriteMiddle,
        Position::Last => Op::WriteLast(immediate),
        Position::Only => Op::WriteOnly(reth, immediate),
    }
}

/// A packet of a SEND or WRITE that is neither first nor last: the most frequent one.
#[inline(always)]
pub(super) fn middle(
    wr: &SendWr,
    index: SlotIndex,
    number: u32,
    psn: Psn,
    context: &Context,
) -> Transmit {
    let mtu = context.attributes.path_mtu;
    let op = match wr.op {
        SendOp::Write { .. } => Op::WriteMiddle,
        _ => Op::SendMiddle,
    };
    let mut packet = context.packet(op, psn, mtu.bytes());
    packet.addressing = addressing(wr, context);
    Transmit {
        packet,
        payload: Payload::Local {
            slot: index,
            offset: number.wrapping_shl(mtu.shift()),
        },
    }
}

/// Packet `number` of a message: a SEND, WRITE or datagram.
#[inline(never)]
pub(super) fn message(
    wr: &SendWr,
    index: SlotIndex,
    number: u32,
    is_last: bool,
    psn: Psn,
    context: &Context,
) -> Transmit {
    let mtu = context.attributes.path_mtu;
    let offset = number.wrapping_shl(mtu.shift());
    let bytes = wr.length.saturating_sub(offset).min(mtu.bytes());
    let position = position(number, is_last);
    let op = match wr.op {
        SendOp::Write {
            address,
            rkey,
            immediate,
        } => write_op(position, reth(address, rkey, wr.length), immediate),
        SendOp::Send(tail) => send_op(position, tail),
        SendOp::Datagram { immediate, .. } => {
            send_op(position, immediate.map_or(Tail::None, Tail::Immediate))
        }
        _ => Op::SendMiddle,
    };
    let mut packet = context.packet(op, psn, bytes);
    packet.solicited = is_last && wr.solicited && takes_receive(&wr.op);
    if let SendOp::Datagram { dest_qp, qkey, .. } = wr.op {
        packet.dest_qp = dest_qp;
        packet.addressing = Addressing::Datagram(Deth {
            qkey: qkey.to_send(context.attributes.qkey),
            source_qp: context.config.qpn,
        });
    } else {
        packet.addressing = addressing(wr, context);
    }
    let payload = if bytes == 0 && !matches!(wr.op, SendOp::Datagram { .. }) {
        Payload::None
    } else {
        Payload::Local {
            slot: index,
            offset,
        }
    };
    Transmit { packet, payload }
}

/// Whether a message ends in a receive completion, which alone can be solicited.
const fn takes_receive(op: &SendOp) -> bool {
    match op {
        SendOp::Write { immediate, .. } => immediate.is_some(),
        _ => true,
    }
}

const fn reth(address: u64, rkey: Rkey, length: u32) -> Reth {
    Reth {
        address,
        rkey,
        length,
    }
}

/// The packet that asks for the responses in `range`, counted in packets.
pub(super) fn request(
    wr: &SendWr,
    index: SlotIndex,
    range: Range<u32>,
    psn: Psn,
    context: &Context,
) -> Transmit {
    let shift = context.attributes.path_mtu.shift();
    let mut payload = Payload::None;
    let mut bytes = 0;
    let op = match wr.op {
        SendOp::CompareSwap(atomic) => Op::CompareSwap(atomic),
        SendOp::FetchAdd(atomic) => Op::FetchAdd(atomic),
        SendOp::Flush {
            feth,
            address,
            rkey,
        } => Op::Flush(feth, reth(address, rkey, wr.length)),
        SendOp::AtomicWrite { address, rkey } => {
            bytes = 8;
            payload = Payload::Local {
                slot: index,
                offset: 0,
            };
            Op::AtomicWrite(reth(address, rkey, wr.length))
        }
        SendOp::Read { address, rkey } => {
            let from = range.start.wrapping_shl(shift);
            let to = u64::from(range.end)
                .wrapping_shl(shift)
                .min(u64::from(wr.length));
            let length = u32::try_from(to).unwrap_or(wr.length).saturating_sub(from);
            Op::ReadRequest(reth(address.wrapping_add(u64::from(from)), rkey, length))
        }
        // The other requests have no responses of their own.
        _ => Op::ReadRequest(Reth::default()),
    };
    let mut packet: Packet = context.packet(op, psn, bytes);
    packet.addressing = addressing(wr, context);
    packet.ack_req = true;
    Transmit { packet, payload }
}
