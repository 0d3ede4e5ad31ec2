// SPDX-License-Identifier: GPL-2.0

//! A peer's requests as packets.

use oxe_proto::{
    transport::wr::{
        SendOp,
        SendWr, //
    },
    types::Mtu,
    wire::{
        packet::{
            Op,
            Position, //
        },
        reth::Reth, //
    },
};

/// What packet `number` of a request says, and its bytes of data.
pub(super) fn packet_of(wr: &SendWr, number: u32, packets: u32, mtu: Mtu) -> (Op, u32) {
    let offset = number * mtu.bytes();
    let rest = wr.length.saturating_sub(offset);
    let position = match (number == 0, number + 1 == packets) {
        (true, true) => Position::Only,
        (true, false) => Position::First,
        (false, false) => Position::Middle,
        (false, true) => Position::Last,
    };
    let reth = |address: u64, rkey, length| Reth {
        address,
        rkey,
        length,
    };
    match wr.op {
        SendOp::Send(tail) => {
            let op = match position {
                Position::First => Op::SendFirst,
                Position::Middle => Op::SendMiddle,
                Position::Last => Op::SendLast(tail),
                Position::Only => Op::SendOnly(tail),
            };
            (op, rest.min(mtu.bytes()))
        }
        SendOp::Write {
            address,
            rkey,
            immediate,
        } => {
            let reth = reth(address, rkey, wr.length);
            let op = match position {
                Position::First => Op::WriteFirst(reth),
                Position::Middle => Op::WriteMiddle,
                Position::Last => Op::WriteLast(immediate),
                Position::Only => Op::WriteOnly(reth, immediate),
            };
            (op, rest.min(mtu.bytes()))
        }
        SendOp::Read { address, rkey } => {
            let from = address.wrapping_add(u64::from(offset));
            (Op::ReadRequest(reth(from, rkey, rest)), 0)
        }
        SendOp::CompareSwap(atomic) => (Op::CompareSwap(atomic), 0),
        SendOp::FetchAdd(atomic) => (Op::FetchAdd(atomic), 0),
        SendOp::Flush {
            feth,
            address,
            rkey,
        } => (Op::Flush(feth, reth(address, rkey, wr.length)), 0),
        SendOp::AtomicWrite { address, rkey } => (Op::AtomicWrite(reth(address, rkey, 8)), 8),
        SendOp::Datagram { .. } | SendOp::Local => (Op::SendMiddle, 0),
    }
}
