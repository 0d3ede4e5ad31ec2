// SPDX-License-Identifier: GPL-2.0

//! What stands behind a queue pair: an engine under test or a model of a peer.
//!
//! The contract is that of [`oxe_proto::transport`]; the simulator drives all endpoints alike.

use crate::port::Port;
use oxe_proto::{
    transport::{
        attributes::Attributes,
        error::Fault,
        wr::{
            Completion,
            EarlyIndex,
            SendWr,
            SlotIndex,
            Transmit, //
        },
        Event,
        PostError,
        Verdict, //
    },
    types::Instant,
    wire::packet::Packet, //
};

/// A move between states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// From RESET to INIT.
    Init,
    /// From INIT to RTR.
    Receive,
    /// From RTR to RTS.
    Send,
    /// From RTS to SQD, with or without an event at its end.
    Drain {
        /// The event is wanted.
        notify: bool,
    },
    /// From SQD, or SQE, to RTS.
    Resume,
    /// To ERR.
    Error,
    /// To RESET.
    Reset,
}

/// An engine, or what takes its place.
pub trait Endpoint {
    /// Moves to another state; false if that is refused.
    fn step(
        &mut self,
        now: Instant,
        step: Step,
        attributes: &Attributes,
        port: &mut Port<'_>,
    ) -> bool;

    /// Takes a send request.
    fn post_send(&mut self, wr: SendWr) -> Result<SlotIndex, PostError>;

    /// A packet came in.
    fn handle_packet(
        &mut self,
        now: Instant,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Verdict;

    /// The time of [`Endpoint::next_timeout`] has come.
    fn handle_timeout(&mut self, now: Instant, port: &mut Port<'_>);

    /// A kept packet has its turn.
    fn poll_early(&mut self) -> Option<EarlyIndex>;

    /// A packet could not be kept.
    fn early_lost(&mut self, index: EarlyIndex);

    /// The next packets to send, so many at most and at least one if there are any, go behind those
    /// in `burst`.
    fn poll_transmit(
        &mut self,
        now: Instant,
        most: u32,
        burst: &mut Vec<Transmit>,
        port: &mut Port<'_>,
    );

    /// A packet's data could not be had; it was not sent, nor what is behind it in its burst.
    fn payload_fault(
        &mut self,
        now: Instant,
        transmit: &Transmit,
        fault: Fault,
        port: &mut Port<'_>,
    );

    /// The next send request that has ended.
    fn poll_completion(&mut self) -> Option<Completion>;

    /// The next thing to tell.
    fn poll_event(&mut self) -> Option<Event>;

    /// Whether packets are kept for it. If not, the driver drops what it still has.
    fn holds_early(&self) -> bool;

    /// It fails for a reason that its driver has.
    fn abort(&mut self, port: &mut Port<'_>);

    /// When to call without an event.
    fn next_timeout(&self) -> Option<Instant>;
}
