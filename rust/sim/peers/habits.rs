// SPDX-License-Identifier: GPL-2.0

//! Where peers differ.

use crate::events::Nanos;

/// How a peer behaves where the rules leave it room.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// Sequence numbers that it has under way at most.
    pub window: u64,
    /// Packets in a row of which the last asks for an acknowledgement.
    pub ack_every: u32,
    /// The migration bit of its packets.
    pub migrated: bool,
    /// Credit codes of its acknowledgements, in turn.
    pub credits: &'static [u8],
    /// What its timers count in.
    pub tick: Nanos,
    /// A retry count of 7 means for ever.
    pub endless_retries: bool,
    /// Asks for a READ response again as soon as a later one shows that it is missing, instead of
    /// waiting for the timer.
    pub asks_at_once: bool,
    /// Sends one acknowledgement for several.
    pub merges_acks: bool,
    /// What comes behind a request that its receiver was not ready for is told to be out of
    /// sequence.
    pub tells_after_not_ready: bool,
    /// Answers a repeated READ only if it ends where the original did.
    pub whole_repeats: bool,
    /// Takes note of everything that a requester may not send.
    pub strict: bool,
}
