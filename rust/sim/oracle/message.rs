// SPDX-License-Identifier: GPL-2.0

//! A send request as a row of packets.

use super::image::ReadOutlook;
use crate::work::Posted;
use oxe_proto::{
    transport::wr::SendOp,
    types::Mtu,
    wire::{
        packet::{
            Op,
            Tail, //
        },
        reth::Reth, //
    },
};

/// A posted request and what has become of it.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) posted: Posted,
    /// The first of its sequence numbers, counted without end from the flow's first one.
    pub(super) first: u64,
    /// How many it has.
    pub(super) packets: u32,
    /// A packet of it was sent.
    pub(super) started: bool,
    /// It was to be sent, but its data could not be had.
    pub(super) tried: bool,
    /// A request packet of it has reached the responder.
    pub(super) arrived: bool,
    /// There was no receive request for it when it was its turn.
    pub(super) starved: bool,
    /// All of its effects have happened.
    pub(super) executed: bool,
    /// Its local work was done.
    pub(super) worked: bool,
    /// Parts of a READ that were asked for, in packets.
    pub(super) asked: Vec<(u32, u32)>,
    /// What an atomic found, when it was done.
    pub(super) found: Option<u64>,
    /// What it must find, if only this flow changes the memory.
    pub(super) must_find: Option<u64>,
    /// What a READ may bring.
    pub(super) read: Option<ReadOutlook>,
    /// Which packets' worth of it its answers have brought.
    pub(super) got: Vec<bool>,
    /// What its answers have brought.
    pub(super) sink: Vec<u8>,
    /// An answer of its own has reached the requester.
    pub(super) response_arrived: bool,
    /// How often a datagram was received, and how often the network delivered it.
    pub(super) received: u32,
    pub(super) copies: u32,
}

impl Message {
    pub(super) fn new(posted: Posted, first: u64, mtu: Mtu) -> Self {
        let packets = match posted.wr.op {
            SendOp::Local => 0,
            SendOp::Send(_) | SendOp::Write { .. } | SendOp::Read { .. } => {
                mtu.packets(posted.wr.length)
            }
            _ => 1,
        };
        Self {
            posted,
            first,
            packets,
            started: false,
            tried: false,
            arrived: false,
            starved: false,
            executed: false,
            worked: false,
            asked: Vec::new(),
            found: None,
            must_find: None,
            read: None,
            got: Vec::new(),
            sink: Vec::new(),
            response_arrived: false,
            received: 0,
            copies: 0,
        }
    }

    /// The last of its sequence numbers.
    pub(super) fn last(&self) -> u64 {
        (self.first + u64::from(self.packets)).saturating_sub(1)
    }

    /// Nothing at the responder shows when it is done: no memory is touched and no receive request
    /// used.
    pub(super) fn is_silent(&self) -> bool {
        match self.posted.wr.op {
            SendOp::Local | SendOp::Read { .. } => true,
            SendOp::Write { immediate, .. } => immediate.is_none() && self.posted.wr.length == 0,
            _ => false,
        }
    }

    /// Whether its response has come in full.
    pub(super) fn is_answered(&self) -> bool {
        match self.posted.wr.op {
            SendOp::Read { .. } if self.posted.wr.length > 0 => {
                self.got.len() == self.packets as usize && self.got.iter().all(|&got| got)
            }
            SendOp::CompareSwap(_) | SendOp::FetchAdd(_) => self.got == [true],
            _ => self.response_arrived,
        }
    }

    /// Bytes of data in one of its packets.
    pub(super) fn data_bytes(&self, number: u32, mtu: Mtu) -> u32 {
        let offset = u64::from(number) * u64::from(mtu.bytes());
        let rest = u64::from(self.posted.bytes_out()).saturating_sub(offset);
        rest.min(u64::from(mtu.bytes())) as u32
    }

    /// What one of its packets must say; of a READ, one that asks for the rest from there.
    pub(super) fn op(&self, number: u32, mtu: Mtu) -> Option<Op> {
        let is_first = number == 0;
        let is_last = number + 1 == self.packets;
        let wr = &self.posted.wr;
        let send = |tail| match (is_first, is_last) {
            (true, true) => Op::SendOnly(tail),
            (true, false) => Op::SendFirst,
            (false, false) => Op::SendMiddle,
            (false, true) => Op::SendLast(tail),
        };
        let offset = number * mtu.bytes();
        Some(match wr.op {
            SendOp::Send(tail) => send(tail),
            SendOp::Datagram { immediate, .. } => {
                send(immediate.map_or(Tail::None, Tail::Immediate))
            }
            SendOp::Write {
                address,
                rkey,
                immediate,
            } => {
                let reth = Reth {
                    address,
                    rkey,
                    length: wr.length,
                };
                match (is_first, is_last) {
                    (true, true) => Op::WriteOnly(reth, immediate),
                    (true, false) => Op::WriteFirst(reth),
                    (false, false) => Op::WriteMiddle,
                    (false, true) => Op::WriteLast(immediate),
                }
            }
            SendOp::Read { address, rkey } => Op::ReadRequest(Reth {
                address: address.wrapping_add(u64::from(offset)),
                rkey,
                length: wr.length.saturating_sub(offset),
            }),
            SendOp::CompareSwap(atomic) => Op::CompareSwap(atomic),
            SendOp::FetchAdd(atomic) => Op::FetchAdd(atomic),
            SendOp::Flush {
                feth,
                address,
                rkey,
            } => {
                let length = wr.length;
                Op::Flush(
                    feth,
                    Reth {
                        address,
                        rkey,
                        length,
                    },
                )
            }
            SendOp::AtomicWrite { address, rkey } => Op::AtomicWrite(Reth {
                address,
                rkey,
                length: 8,
            }),
            SendOp::Local => return None,
        })
    }
}
