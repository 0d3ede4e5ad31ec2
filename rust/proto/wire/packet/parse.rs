// SPDX-License-Identifier: GPL-2.0

//! From the bytes of a datagram to a packet.

use super::{
    Addressing,
    Op,
    Packet,
    Tail, //
};
use crate::{
    types::{
        Immediate,
        Rkey,
        SrqNumber, //
    },
    wire::{
        aeth::Aeth,
        atomic::{
            AtomicEth,
            ATOMIC_ACK_BYTES, //
        },
        bth::{
            Bth,
            Malformed, //
        },
        deth::Deth,
        flush::Feth,
        opcode::{
            self,
            Headers,
            Opcode,
            Operation, //
        },
        reth::Reth,
        roce::CNP_RESERVED_BYTES, //
    }, //
};

/// The headers not yet read.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// The next `N` bytes.
    #[inline(always)]
    fn take<const N: usize>(&mut self) -> Result<&[u8; N], Malformed> {
        let (next, rest) = self.rest.split_first_chunk().ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(next)
    }

    #[inline(always)]
    fn reth(&mut self) -> Result<Reth, Malformed> {
        self.take().map(Reth::parse)
    }

    #[inline(always)]
    fn aeth(&mut self) -> Result<Aeth, Malformed> {
        self.take().map(Aeth::parse)
    }

    #[inline(always)]
    fn immediate(&mut self) -> Result<Immediate, Malformed> {
        self.take().copied().map(Immediate)
    }

    #[inline(always)]
    fn tail_immediate(&mut self) -> Result<Tail, Malformed> {
        self.immediate().map(Tail::Immediate)
    }

    #[inline(always)]
    fn tail_invalidate(&mut self) -> Result<Tail, Malformed> {
        let key = self.take().copied().map(u32::from_be_bytes)?;
        Ok(Tail::Invalidate(Rkey(key)))
    }

    /// The address headers among `headers`, which come first.
    #[inline(always)]
    fn addressing(&mut self, headers: Headers) -> Result<Addressing, Malformed> {
        if headers.has(Headers::DETH) {
            self.take().map(Deth::parse).map(Addressing::Datagram)
        } else if headers.has(Headers::XRCETH) {
            let number = self.take().copied().map(u32::from_be_bytes)?;
            Ok(Addressing::SharedQueue(SrqNumber::from_low_bits(number)))
        } else {
            Ok(Addressing::Connected)
        }
    }

    /// The headers of an operation.
    #[inline(always)]
    fn op(&mut self, operation: Operation) -> Result<Op, Malformed> {
        Ok(match operation {
            Operation::SendFirst => Op::SendFirst,
            Operation::SendMiddle => Op::SendMiddle,
            Operation::SendLast => Op::SendLast(Tail::None),
            Operation::SendLastImmediate => Op::SendLast(self.tail_immediate()?),
            Operation::SendLastInvalidate => Op::SendLast(self.tail_invalidate()?),
            Operation::SendOnly => Op::SendOnly(Tail::None),
            Operation::SendOnlyImmediate => Op::SendOnly(self.tail_immediate()?),
            Operation::SendOnlyInvalidate => Op::SendOnly(self.tail_invalidate()?),
            Operation::WriteFirst => Op::WriteFirst(self.reth()?),
            Operation::WriteMiddle => Op::WriteMiddle,
            Operation::WriteLast => Op::WriteLast(None),
            Operation::WriteLastImmediate => Op::WriteLast(Some(self.immediate()?)),
            Operation::WriteOnly => Op::WriteOnly(self.reth()?, None),
            Operation::WriteOnlyImmediate => Op::WriteOnly(self.reth()?, Some(self.immediate()?)),
            Operation::ReadRequest => Op::ReadRequest(self.reth()?),
            Operation::ReadResponseFirst => Op::ReadResponseFirst(self.aeth()?),
            Operation::ReadResponseMiddle => Op::ReadResponseMiddle,
            Operation::ReadResponseLast => Op::ReadResponseLast(self.aeth()?),
            Operation::ReadResponseOnly => Op::ReadResponseOnly(self.aeth()?),
            Operation::Acknowledge => Op::Acknowledge(self.aeth()?),
            Operation::AtomicAcknowledge => {
                let aeth = self.aeth()?;
                let before: &[u8; ATOMIC_ACK_BYTES] = self.take()?;
                Op::AtomicAcknowledge(aeth, u64::from_be_bytes(*before))
            }
            Operation::CompareSwap => Op::CompareSwap(self.take().map(AtomicEth::parse)?),
            Operation::FetchAdd => Op::FetchAdd(self.take().map(AtomicEth::parse)?),
            Operation::Flush => Op::Flush(self.take().map(Feth::parse)?, self.reth()?),
            Operation::AtomicWrite => Op::AtomicWrite(self.reth()?),
            Operation::Cnp => {
                let _reserved: &[u8; CNP_RESERVED_BYTES] = self.take()?;
                Op::Cnp
            }
        })
    }
}

/// An operation that has no header of its own; [`None`] for others.
#[inline(always)]
const fn bare(operation: Operation) -> Option<Op> {
    Some(match operation {
        Operation::SendFirst => Op::SendFirst,
        Operation::SendMiddle => Op::SendMiddle,
        Operation::SendLast => Op::SendLast(Tail::None),
        Operation::SendOnly => Op::SendOnly(Tail::None),
        Operation::WriteMiddle => Op::WriteMiddle,
        Operation::WriteLast => Op::WriteLast(None),
        Operation::ReadResponseMiddle => Op::ReadResponseMiddle,
        _ => return None,
    })
}

impl Packet {
    /// Reads the headers of a datagram.
    ///
    /// `head` is the first bytes of the UDP payload, [`MAX_HEADER_BYTES`] of them or all that there
    /// are; `payload_bytes` is the length of the whole, pad and ICRC included.
    ///
    /// This checks that the datagram has the form of a packet. Whether the packet makes sense where
    /// it comes is for its receiver to say, which may have to say it to the sender: data in a READ
    /// request or in an acknowledgement, or a middle packet shorter than the path MTU, is found in
    /// [`Packet::data_bytes`] only. The bytes of the pad are not looked at.
    ///
    /// # Errors
    ///
    /// What makes the datagram no packet. Nothing is sent in answer to those.
    ///
    /// [`MAX_HEADER_BYTES`]: crate::wire::roce::MAX_HEADER_BYTES
    pub fn parse(head: &[u8], payload_bytes: usize) -> Result<Self, Malformed> {
        let (bth, rest) = head.split_first_chunk().ok_or(Malformed::Short)?;
        let Bth {
            opcode, pad_bytes, ..
        } = Bth::parse(bth)?;
        let opcode = opcode::lookup(opcode).ok_or(Malformed::Opcode(opcode))?;

        let payload_bytes = u16::try_from(payload_bytes).map_err(|_| Malformed::Long)?;
        let padded_bytes = u32::from(payload_bytes)
            .checked_sub(opcode.overhead_bytes())
            .ok_or(Malformed::Short)?;
        if padded_bytes % 4 != 0 {
            return Err(Malformed::Unaligned);
        }
        let data_bytes = padded_bytes
            .checked_sub(u32::from(pad_bytes))
            .ok_or(Malformed::Pad)?;

        // Most packets of a long message have no more headers than that.
        if opcode.headers == Headers::NONE {
            if let Some(op) = bare(opcode.operation) {
                return Ok(Self::assemble(
                    bth,
                    opcode,
                    op,
                    Addressing::Connected,
                    data_bytes,
                ));
            }
        }
        Self::parse_extensions(bth, opcode, rest, data_bytes)
    }

    /// Reads what follows the base transport header. On its own, so that packets that have nothing
    /// there do not pay for it.
    #[inline(never)]
    fn parse_extensions(
        bth: &[u8; Bth::BYTES],
        opcode: &Opcode,
        rest: &[u8],
        data_bytes: u32,
    ) -> Result<Self, Malformed> {
        let mut reader = Reader { rest };
        let addressing = reader.addressing(opcode.headers)?;
        let op = reader.op(opcode.operation)?;
        if matches!(op, Op::Cnp) && data_bytes != 0 {
            return Err(Malformed::StrayData);
        }
        Ok(Self::assemble(bth, opcode, op, addressing, data_bytes))
    }

    #[inline(always)]
    fn assemble(
        bth: &[u8; Bth::BYTES],
        opcode: &Opcode,
        op: Op,
        addressing: Addressing,
        data_bytes: u32,
    ) -> Self {
        let bth = Bth::of_any_version(bth);
        Self {
            service: opcode.service,
            op,
            addressing,
            dest_qp: bth.dest_qp,
            psn: bth.psn,
            pkey: bth.pkey,
            ack_req: bth.ack_req,
            solicited: bth.solicited,
            mig_req: bth.mig_req,
            fecn: bth.fecn,
            becn: bth.becn,
            data_bytes,
        }
    }
}
