// SPDX-License-Identifier: GPL-2.0

//! What an engine asks of its driver while it works: the only calls that go outward.
//!
//! All are synchronous, since what the engine does next depends on their answers; none may sleep
//! where the engine is used under a spinlock, and none may call the engine. The driver passes its
//! [`Env`] in with each call: the engine holds none.

use super::{
    error::{
        Fault,
        WcStatus, //
    },
    wr::{
        RecvCompletion,
        SlotIndex, //
    },
};
use crate::{
    types::{
        Psn,
        Qpn,
        Rkey,
        SrqNumber, //
    },
    wire::flush::Feth,
};

/// A right to remote memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Right {
    /// READ.
    Read,
    /// WRITE.
    Write,
}

/// An atomic operation on eight bytes of memory in host order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atomic {
    /// Replaces the value if it equals `compare`.
    CompareSwap {
        /// What it must equal.
        compare: u64,
        /// What to put in its place.
        swap: u64,
    },
    /// Adds, wrapping.
    FetchAdd {
        /// What to add.
        add: u64,
    },
}

/// A receive work request, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is taken from its queue and is the engine's current one.
    Ready {
        /// Bytes that its buffers hold.
        capacity: u32,
    },
    /// The queue is empty.
    Empty,
    /// It is taken from its queue, but it cannot be used; it wants a completion with the status.
    Faulty(WcStatus),
}

/// What happened, for counters, traces and tests. Nothing depends on who listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A packet for a service, state or side that this queue pair has not.
    Unexpected,
    /// A packet with a partition key that does not match.
    BadPkey,
    /// A datagram with a queue key that does not match.
    BadQkey,
    /// A request that was served before.
    DuplicateRequest(Psn),
    /// A request ahead of a missing one; held for later or not.
    OutOfSequence {
        /// Its number.
        psn: Psn,
        /// Whether the driver keeps it.
        held: bool,
    },
    /// A message or datagram without a receive request for it (UC and UD).
    NoReceive,
    /// A message of an unreliable connection lost its rest.
    MessageDropped,
    /// A receiver-not-ready answer sent.
    RnrSent(Psn),
    /// A sequence error sent.
    SequenceNakSent(Psn),
    /// A request refused for good; the queue pair fails.
    RequestRefused(Psn),
    /// A receiver-not-ready answer came.
    RnrReceived(Psn),
    /// A sequence error came.
    SequenceNakReceived(Psn),
    /// An answer that nothing waits for.
    StaleResponse(Psn),
    /// A later answer showed that this one was lost.
    ResponseMissing(Psn),
    /// A request packet sent again.
    Retransmitted(Psn),
    /// The acknowledgement timer ran out.
    AckTimeout(Psn),
    /// A probe was sent before the acknowledgement timer ran out.
    Probe(Psn),
    /// A request failed after all retries.
    RetriesExceeded(Psn),
    /// A request failed after all receiver-not-ready retries.
    RnrRetriesExceeded(Psn),
    /// A congestion notification came.
    CongestionNotified,
}

/// The driver's side of a queue pair.
pub trait Env {
    /// The data of a received packet, as the driver has it. The engine never looks at it.
    type Data<'d>: Copy;

    // Memory that a peer names.

    /// Whether all of `length` bytes (not 0) may be used so.
    fn check_remote(
        &mut self,
        rkey: Rkey,
        address: u64,
        length: u32,
        right: Right,
    ) -> Result<(), Fault>;

    /// Writes a packet's data, checking key, range and right again.
    fn write_remote(&mut self, rkey: Rkey, address: u64, data: Self::Data<'_>)
        -> Result<(), Fault>;

    /// Does an atomic on eight bytes and returns what they were.
    fn atomic(&mut self, rkey: Rkey, address: u64, operation: Atomic) -> Result<u64, Fault>;

    /// Writes a packet's eight bytes at once (ATOMIC WRITE).
    fn atomic_write(&mut self, rkey: Rkey, address: u64, data: Self::Data<'_>)
        -> Result<(), Fault>;

    /// Makes earlier writes visible or persistent. What takes long is begun, refused with
    /// [`Fault::Busy`] and found done when the peer asks again.
    fn flush(&mut self, rkey: Rkey, address: u64, length: u32, feth: Feth) -> Result<(), Fault>;

    /// Invalidates a key on behalf of the peer.
    fn invalidate(&mut self, rkey: Rkey) -> Result<(), Fault>;

    // Receive requests.

    /// Takes the next receive request; of the queue that an XRC packet names, if it names one.
    fn take_receive(&mut self, srq: Option<SrqNumber>) -> Taken;

    /// Puts data into the current receive request's buffers.
    fn place_receive(&mut self, offset: u32, data: Self::Data<'_>) -> Result<(), Fault>;

    /// Puts the 40 bytes of a datagram's network header at the start of the current receive
    /// request's buffers.
    fn place_network_header(&mut self) -> Result<(), Fault>;

    /// Ends the current receive request. The engine has none from now on.
    fn complete_receive(&mut self, completion: RecvCompletion);

    // Send requests.

    /// Puts a READ response's data into a request's scatter list.
    fn place_response(
        &mut self,
        slot: SlotIndex,
        offset: u32,
        data: Self::Data<'_>,
    ) -> Result<(), Fault>;

    /// Puts an atomic's old value, in host order, into a request's scatter list.
    fn place_value(&mut self, slot: SlotIndex, value: u64) -> Result<(), Fault>;

    /// Does a request that sends nothing ([`super::wr::SendOp::Local`]).
    fn local(&mut self, slot: SlotIndex) -> Result<(), WcStatus>;

    // Watching.

    /// Something happened at queue pair `qpn`.
    #[inline]
    fn observe(&mut self, qpn: Qpn, what: Observation) {
        let _ = (qpn, what);
    }
}
