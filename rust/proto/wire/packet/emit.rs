// SPDX-License-Identifier: GPL-2.0

//! From a packet to the bytes of a datagram.

use super::{
    Addressing,
    Op,
    Packet,
    Tail, //
};
use crate::{
    types::Immediate,
    wire::{
        bth::Bth,
        opcode::{
            self,
            Headers,
            Opcode, //
        },
        roce::{
            CNP_RESERVED_BYTES,
            ICRC_BYTES, //
        }, //
    }, //
};

/// The room not yet written.
struct Writer<'a> {
    rest: &'a mut [u8],
}

impl Writer<'_> {
    /// Writes the next bytes.
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) -> Option<()> {
        let rest = core::mem::take(&mut self.rest);
        let (next, rest) = rest.split_first_chunk_mut()?;
        *next = bytes;
        self.rest = rest;
        Some(())
    }

    #[inline(always)]
    fn tail(&mut self, tail: Tail) -> Option<()> {
        match tail {
            Tail::None => Some(()),
            Tail::Immediate(immediate) => self.put(immediate.0),
            Tail::Invalidate(rkey) => self.put(rkey.0.to_be_bytes()),
        }
    }

    #[inline(always)]
    fn immediate(&mut self, immediate: Option<Immediate>) -> Option<()> {
        match immediate {
            None => Some(()),
            Some(immediate) => self.put(immediate.0),
        }
    }

    #[inline(always)]
    fn addressing(&mut self, addressing: &Addressing) -> Option<()> {
        match addressing {
            Addressing::Connected => Some(()),
            Addressing::Datagram(deth) => self.put(deth.to_bytes()),
            Addressing::SharedQueue(number) => self.put(number.get().to_be_bytes()),
        }
    }

    #[inline(always)]
    fn op(&mut self, op: &Op) -> Option<()> {
        match op {
            Op::SendFirst | Op::SendMiddle | Op::WriteMiddle | Op::ReadResponseMiddle => Some(()),
            Op::SendLast(tail) | Op::SendOnly(tail) => self.tail(*tail),
            Op::WriteLast(immediate) => self.immediate(*immediate),
            Op::WriteOnly(reth, immediate) => {
                self.put(reth.to_bytes())?;
                self.immediate(*immediate)
            }
            Op::WriteFirst(reth) | Op::ReadRequest(reth) | Op::AtomicWrite(reth) => {
                self.put(reth.to_bytes())
            }
            Op::ReadResponseFirst(aeth)
            | Op::ReadResponseLast(aeth)
            | Op::ReadResponseOnly(aeth)
            | Op::Acknowledge(aeth) => self.put(aeth.to_bytes()),
            Op::AtomicAcknowledge(aeth, before) => {
                self.put(aeth.to_bytes())?;
                self.put(before.to_be_bytes())
            }
            Op::CompareSwap(atomic) | Op::FetchAdd(atomic) => self.put(atomic.to_bytes()),
            Op::Flush(feth, reth) => {
                self.put(feth.to_bytes())?;
                self.put(reth.to_bytes())
            }
            Op::Cnp => self.put([0; CNP_RESERVED_BYTES]),
        }
    }
}

impl Addressing {
    /// The header that this is.
    #[inline]
    const fn headers(&self) -> Headers {
        match self {
            Self::Connected => Headers::NONE,
            Self::Datagram(_) => Headers::DETH,
            Self::SharedQueue(_) => Headers::XRCETH,
        }
    }
}

impl Packet {
    /// The opcode's byte. [`Packet::opcode`] tells whether there is such a packet.
    #[inline]
    pub const fn opcode_byte(&self) -> u8 {
        opcode::byte(self.service, self.op.operation())
    }

    /// What the table of opcodes says of this packet; nothing if there is no such packet, for its
    /// service does not have the operation or wants another addressing.
    #[inline]
    pub fn opcode(&self) -> Option<&'static Opcode> {
        let operation = self.op.operation();
        let addresses = Headers::DETH.with(Headers::XRCETH);
        let opcode = opcode::lookup(opcode::byte(self.service, operation))?;
        let right = opcode.operation == operation
            && opcode.headers.among(addresses) == self.addressing.headers();
        right.then_some(opcode)
    }

    /// Bytes of all headers; 0 if there is no such packet.
    #[inline]
    pub fn header_bytes(&self) -> usize {
        self.opcode().map_or(0, Opcode::header_bytes)
    }

    /// Bytes that make the data a multiple of 4: 0 to 3.
    #[inline]
    pub const fn pad_bytes(&self) -> usize {
        (self.data_bytes.wrapping_neg() & 3) as usize
    }

    /// Bytes of the UDP payload: headers, data, pad and ICRC.
    #[inline]
    pub fn wire_bytes(&self) -> usize {
        self.header_bytes()
            .saturating_add(self.data_bytes as usize)
            .saturating_add(self.pad_bytes())
            .saturating_add(ICRC_BYTES)
    }

    /// Writes the headers to the start of `out` and tells their length in bytes.
    ///
    /// Nothing if they do not fit, when some may have been written, or if there is no such packet
    /// ([`Packet::opcode`]).
    pub fn emit(&self, out: &mut [u8]) -> Option<usize> {
        let opcode = self.opcode()?;
        let bth = Bth {
            opcode: opcode::byte(opcode.service, opcode.operation),
            solicited: self.solicited,
            mig_req: self.mig_req,
            pad_bytes: (self.data_bytes.wrapping_neg() & 3) as u8,
            pkey: self.pkey,
            fecn: self.fecn,
            becn: self.becn,
            dest_qp: self.dest_qp,
            ack_req: self.ack_req,
            psn: self.psn,
        };
        let mut writer = Writer { rest: out };
        writer.put(bth.to_bytes())?;
        // Most packets of a long message have no more than that.
        if opcode.headers != Headers::NONE {
            self.emit_extensions(writer)?;
        }
        Some(opcode.header_bytes())
    }

    /// Writes what follows the base transport header. On its own, so that packets that have nothing
    /// there do not pay for it.
    #[inline(never)]
    fn emit_extensions(&self, mut writer: Writer<'_>) -> Option<()> {
        writer.addressing(&self.addressing)?;
        writer.op(&self.op)
    }
}
