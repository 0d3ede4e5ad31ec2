// SPDX-License-Identifier: GPL-2.0

//! A packet's headers, parsed into what they mean.

use super::{
    aeth::Aeth,
    atomic::AtomicEth,
    deth::Deth,
    flush::Feth,
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
