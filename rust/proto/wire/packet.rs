// SPDX-License-Identifier: GPL-2.0

//! A packet's headers, parsed into what they mean.

mod emit;
mod parse;

use super::{
    aeth::Aeth,
    atomic::AtomicEth,
    deth::Deth,
    flush::Feth,
    opcode::{
        Class,
        Operation, //
    },
    reth::Reth, //
};
use crate::types::{
    Immediate,
    Pkey,
    Psn,
    Qpn,
    Rkey,
    SrqNumber, //
};

/// Transport service that a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Reliable connection.
    Rc,
    /// Unreliable connection.
    Uc,
    /// Unreliable datagram.
    Ud,
    /// Extended reliable connection.
    Xrc,
    /// None: a congestion notification packet.
    Cnp,
}

/// Where in its message a packet stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// The first of several.
    First,
    /// Neither first nor last.
    Middle,
    /// The last of several.
    Last,
    /// The whole message.
    Only,
}

impl Position {
    /// Whether a message starts here.
    #[inline]
    pub const fn is_start(self) -> bool {
        matches!(self, Self::First | Self::Only)
    }

    /// Whether a message ends here.
    #[inline]
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }
}

/// What the end of a SEND may carry beside data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing.
    None,
    /// Immediate data.
    Immediate(Immediate),
    /// A key for the receiver to invalidate.
    Invalidate(Rkey),
}

/// What a packet says: its operation with the headers that belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// First packet of a SEND.
    SendFirst,
    /// Middle packet of a SEND.
    SendMiddle,
    /// Last packet of a SEND.
    SendLast(Tail),
    /// A SEND in one packet.
    SendOnly(Tail),
    /// First packet of a WRITE.
    WriteFirst(Reth),
    /// Middle packet of a WRITE.
    WriteMiddle,
    /// Last packet of a WRITE.
    WriteLast(Option<Immediate>),
    /// A WRITE in one packet.
    WriteOnly(Reth, Option<Immediate>),
    /// READ request.
    ReadRequest(Reth),
    /// First packet of a READ's response.
    ReadResponseFirst(Aeth),
    /// Middle packet of a READ's response.
    ReadResponseMiddle,
    /// Last packet of a READ's response.
    ReadResponseLast(Aeth),
    /// A READ's response in one packet; also the answer to FLUSH and ATOMIC WRITE.
    ReadResponseOnly(Aeth),
    /// Acknowledgement, positive or negative.
    Acknowledge(Aeth),
    /// Answer to an atomic: what the memory held before.
    AtomicAcknowledge(Aeth, u64),
    /// Atomic compare and swap.
    CompareSwap(AtomicEth),
    /// Atomic fetch and add.
    FetchAdd(AtomicEth),
    /// FLUSH.
    Flush(Feth, Reth),
    /// ATOMIC WRITE: eight bytes of data.
    AtomicWrite(Reth),
    /// Congestion notification.
    Cnp,
}

impl Op {
    /// The operation, as an opcode names it.
    #[inline]
    pub const fn operation(&self) -> Operation {
        match self {
            Self::SendFirst => Operation::SendFirst,
            Self::SendMiddle => Operation::SendMiddle,
            Self::SendLast(Tail::None) => Operation::SendLast,
            Self::SendLast(Tail::Immediate(_)) => Operation::SendLastImmediate,
            Self::SendLast(Tail::Invalidate(_)) => Operation::SendLastInvalidate,
            Self::SendOnly(Tail::None) => Operation::SendOnly,
            Self::SendOnly(Tail::Immediate(_)) => Operation::SendOnlyImmediate,
            Self::SendOnly(Tail::Invalidate(_)) => Operation::SendOnlyInvalidate,
            Self::WriteFirst(_) => Operation::WriteFirst,
            Self::WriteMiddle => Operation::WriteMiddle,
            Self::WriteLast(None) => Operation::WriteLast,
            Self::WriteLast(Some(_)) => Operation::WriteLastImmediate,
            Self::WriteOnly(_, None) => Operation::WriteOnly,
            Self::WriteOnly(_, Some(_)) => Operation::WriteOnlyImmediate,
            Self::ReadRequest(_) => Operation::ReadRequest,
            Self::ReadResponseFirst(_) => Operation::ReadResponseFirst,
            Self::ReadResponseMiddle => Operation::ReadResponseMiddle,
            Self::ReadResponseLast(_) => Operation::ReadResponseLast,
            Self::ReadResponseOnly(_) => Operation::ReadResponseOnly,
            Self::Acknowledge(_) => Operation::Acknowledge,
            Self::AtomicAcknowledge(..) => Operation::AtomicAcknowledge,
            Self::CompareSwap(_) => Operation::CompareSwap,
            Self::FetchAdd(_) => Operation::FetchAdd,
            Self::Flush(..) => Operation::Flush,
            Self::AtomicWrite(_) => Operation::AtomicWrite,
            Self::Cnp => Operation::Cnp,
        }
    }

    /// What its message is about.
    #[inline]
    pub const fn class(&self) -> Class {
        match self {
            Self::SendFirst | Self::SendMiddle | Self::SendLast(_) | Self::SendOnly(_) => {
                Class::Send
            }
            Self::WriteFirst(_) | Self::WriteMiddle | Self::WriteLast(_) | Self::WriteOnly(..) => {
                Class::Write
            }
            Self::ReadRequest(_) => Class::Read,
            Self::ReadResponseFirst(_)
            | Self::ReadResponseMiddle
            | Self::ReadResponseLast(_)
            | Self::ReadResponseOnly(_) => Class::ReadResponse,
            Self::Acknowledge(_) => Class::Acknowledge,
            Self::AtomicAcknowledge(..) => Class::AtomicAcknowledge,
            Self::CompareSwap(_) | Self::FetchAdd(_) => Class::Atomic,
            Self::Flush(..) => Class::Flush,
            Self::AtomicWrite(_) => Class::AtomicWrite,
            Self::Cnp => Class::Cnp,
        }
    }

    /// Where in its message a packet of this operation stands.
    #[inline]
    pub const fn position(&self) -> Position {
        match self {
            Self::SendFirst | Self::WriteFirst(_) | Self::ReadResponseFirst(_) => Position::First,
            Self::SendMiddle | Self::WriteMiddle | Self::ReadResponseMiddle => Position::Middle,
            Self::SendLast(_) | Self::WriteLast(_) | Self::ReadResponseLast(_) => Position::Last,
            _ => Position::Only,
        }
    }

    /// Whether a requester sends it to a responder.
    #[inline]
    pub const fn is_request(&self) -> bool {
        self.class().is_request()
    }

    /// Whether a responder sends it to a requester.
    #[inline]
    pub const fn is_response(&self) -> bool {
        self.class().is_response()
    }

    /// Whether data belongs into it.
    #[inline]
    pub const fn carries_data(&self) -> bool {
        matches!(
            self.class(),
            Class::Send | Class::Write | Class::AtomicWrite | Class::ReadResponse
        )
    }

    /// The remote memory that it names.
    #[inline]
    pub const fn reth(&self) -> Option<&Reth> {
        match self {
            Self::WriteFirst(reth)
            | Self::WriteOnly(reth, _)
            | Self::ReadRequest(reth)
            | Self::Flush(_, reth)
            | Self::AtomicWrite(reth) => Some(reth),
            _ => None,
        }
    }

    /// The acknowledgement that it is or carries.
    #[inline]
    pub const fn aeth(&self) -> Option<&Aeth> {
        match self {
            Self::ReadResponseFirst(aeth)
            | Self::ReadResponseLast(aeth)
            | Self::ReadResponseOnly(aeth)
            | Self::Acknowledge(aeth)
            | Self::AtomicAcknowledge(aeth, _) => Some(aeth),
            _ => None,
        }
    }

    /// The immediate data that it carries.
    #[inline]
    pub const fn immediate(&self) -> Option<Immediate> {
        match self {
            Self::SendLast(Tail::Immediate(immediate))
            | Self::SendOnly(Tail::Immediate(immediate))
            | Self::WriteLast(Some(immediate))
            | Self::WriteOnly(_, Some(immediate)) => Some(*immediate),
            _ => None,
        }
    }

    /// The key that it asks the receiver to invalidate.
    #[inline]
    pub const fn invalidates(&self) -> Option<Rkey> {
        match self {
            Self::SendLast(Tail::Invalidate(rkey)) | Self::SendOnly(Tail::Invalidate(rkey)) => {
                Some(*rkey)
            }
            _ => None,
        }
    }
}

/// The address headers that some services add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// None: the connection says it all.
    Connected,
    /// A datagram's (UD).
    Datagram(Deth),
    /// The shared receive queue of an XRC request.
    SharedQueue(SrqNumber),
}

/// A packet without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Transport service.
    pub service: Service,
    /// Operation and its headers.
    pub op: Op,
    /// Address headers.
    pub addressing: Addressing,
    /// Destination queue pair.
    pub dest_qp: Qpn,
    /// Packet sequence number.
    pub psn: Psn,
    /// Partition key.
    pub pkey: Pkey,
    /// The responder shall acknowledge this packet.
    pub ack_req: bool,
    /// Solicited event: the receiver asks for an interrupt at the end of the message.
    pub solicited: bool,
    /// Path migration state.
    pub mig_req: bool,
    /// Forward explicit congestion notification.
    pub fecn: bool,
    /// Backward explicit congestion notification.
    pub becn: bool,
    /// Bytes of data, pad not counted.
    pub data_bytes: u32,
}
