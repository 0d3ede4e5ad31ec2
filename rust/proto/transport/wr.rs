// SPDX-License-Identifier: GPL-2.0

//! The vocabulary between a queue pair's engine and its driver: work requests in; packets to send
//! and completions out.

use super::error::WcStatus;
use crate::{
    types::{
        Immediate,
        Qkey,
        Qpn,
        Rkey,
        SrqNumber, //
    },
    wire::{
        atomic::AtomicEth,
        flush::Feth,
        packet::{
            Packet,
            Tail, //
        },
    },
};

/// Where the engine keeps a send work request, and where the driver keeps what belongs to it: its
/// `wr_id`, its gather list or inline data, its address handle. Less than the capacity of the send
/// queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SlotIndex(pub u32);

/// Where the driver keeps a packet that came too early; less than [`super::EARLY_SLOTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EarlyIndex(pub u16);

/// What a send work request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOp {
    /// SEND, with what its end carries.
    Send(Tail),
    /// RDMA WRITE.
    Write {
        /// Remote virtual address.
        address: u64,
        /// Remote key.
        rkey: Rkey,
        /// Immediate data, if there is any.
        immediate: Option<Immediate>,
    },
    /// RDMA READ into the request's scatter list.
    Read {
        /// Remote virtual address.
        address: u64,
        /// Remote key.
        rkey: Rkey,
    },
    /// Atomic compare and swap; the old value goes to the request's scatter list.
    CompareSwap(AtomicEth),
    /// Atomic fetch and add; the old value goes to the request's scatter list.
    FetchAdd(AtomicEth),
    /// FLUSH of `length` bytes of remote memory, or of the whole region.
    Flush {
        /// How far and of what.
        feth: Feth,
        /// Remote virtual address.
        address: u64,
        /// Remote key.
        rkey: Rkey,
    },
    /// ATOMIC WRITE of the eight bytes that the request's gather list holds.
    AtomicWrite {
        /// Remote virtual address, a multiple of 8.
        address: u64,
        /// Remote key.
        rkey: Rkey,
    },
    /// A datagram (UD); the driver keeps the address handle with the slot.
    Datagram {
        /// Destination queue pair.
        dest_qp: Qpn,
        /// Queue key; with its top bit set, the queue pair's own is sent.
        qkey: Qkey,
        /// Immediate data, if there is any.
        immediate: Option<Immediate>,
    },
    /// Work for the driver that sends nothing: LOCAL_INV, REG_MR, BIND_MW. Done in its turn by
    /// [`super::ports::Env::local`].
    Local,
}

/// A send work request as the engine needs it. The data stays with the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendWr {
    /// What to do.
    pub op: SendOp,
    /// Bytes of data: of the gather list or the inline data; for READ, of the scatter list; for
    /// FLUSH, of the range. Atomics have 8.
    pub length: u32,
    /// Wants a completion even when all goes well.
    pub signalled: bool,
    /// Wants an interrupt at the receiver.
    pub solicited: bool,
    /// Starts only when all earlier READs and atomics are complete; a [`SendOp::Local`] only when
    /// all earlier requests are.
    pub fence: bool,
    /// Shared receive queue at the target; of XRC only.
    pub srq: SrqNumber,
}

impl SendWr {
    /// A signalled request without other flags.
    pub const fn new(op: SendOp, length: u32) -> Self {
        Self {
            op,
            length,
            signalled: true,
            solicited: false,
            fence: false,
            srq: SrqNumber::from_low_bits(0),
        }
    }
}

/// Where a packet's data comes from; [`Packet::data_bytes`] says how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// There is none; of a datagram it is [`Self::Local`] even so, for its address.
    None,
    /// A send work request's gather list or inline data.
    Local {
        /// The request.
        slot: SlotIndex,
        /// Bytes into its data.
        offset: u32,
    },
    /// Registered memory that the peer reads.
    Remote {
        /// The key that the peer gave.
        rkey: Rkey,
        /// Virtual address.
        address: u64,
    },
}

/// A packet to send.
///
/// The driver emits the headers ([`Packet::emit`]), copies the payload behind them and is done with
/// both before it calls the engine again. If it cannot get at the payload it says so
/// (`payload_fault`), and of a burst sends none of the packets behind it; if it cannot send, the
/// packet is lost as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Headers.
    pub packet: Packet,
    /// Data.
    pub payload: Payload,
}

/// Packets to send that differ from one to the next by their number and the place of their data
/// only: from the middle of a message, each of the path MTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The first.
    first: Transmit,
    /// How many.
    count: u32,
}

impl Burst {
    /// A burst that begins with `first`.
    #[inline]
    pub(super) const fn new(first: Transmit, count: u32) -> Self {
        Self { first, count }
    }

    /// How many packets it has; at least one.
    #[inline]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Its first packet.
    #[inline]
    pub const fn first(&self) -> &Transmit {
        &self.first
    }

    /// Its packet `number`, counted from 0. The last one alone may ask for an acknowledgement.
    #[inline]
    pub const fn packet(&self, number: u32) -> Transmit {
        let mut transmit = self.first;
        let bytes = transmit.packet.data_bytes.wrapping_mul(number);
        transmit.packet.psn = transmit.packet.psn.plus(number);
        transmit.packet.ack_req &= number.wrapping_add(1) == self.count;
        match &mut transmit.payload {
            Payload::None => {}
            Payload::Local { offset, .. } => *offset = offset.wrapping_add(bytes),
            Payload::Remote { address, .. } => *address = address.wrapping_add(bytes as u64),
        }
        transmit
    }
}

/// The end of a send work request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Which one; the slot is free from now on.
    pub slot: SlotIndex,
    /// How it ended.
    pub status: WcStatus,
    /// Whether it makes a completion queue entry: it asked for one or it failed.
    pub reported: bool,
}

/// What a receive completion tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvKind {
    /// A SEND.
    Send,
    /// A WRITE with immediate data.
    WriteWithImmediate,
}

/// The end of a receive work request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvCompletion {
    /// How it ended; what follows means nothing unless it is a success.
    pub status: WcStatus,
    /// What came.
    pub kind: RecvKind,
    /// Bytes: of the message, of a datagram with the 40 before it, of the WRITE.
    pub bytes: u32,
    /// Immediate data, or the key that was invalidated.
    pub tail: Tail,
    /// The sender asked for an interrupt.
    pub solicited: bool,
    /// The sending queue pair: the connection's peer, or what a datagram says.
    pub source_qp: Qpn,
}
