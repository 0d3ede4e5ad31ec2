// SPDX-License-Identifier: GPL-2.0

//! The send queue's private memory: a ring of slots that the driver provides.
//!
//! Slots are counted without end; the ring is as long as a power of two, so that a count's low bits
//! are its index. A count that lies outside gives nothing rather than a panic.

use super::{
    error::WcStatus,
    wr::{
        SendOp,
        SendWr,
        SlotIndex, //
    },
};
use core::ops::DerefMut;

/// How a request is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Packets go out; a cumulative acknowledgement ends it (or nothing, without a connection's
    /// reliability).
    Message,
    /// One request packet goes out; it ends with responses of its own.
    Response,
    /// Nothing goes out.
    Local,
}

/// A send work request and how far it has got.
#[derive(Clone, Copy, Debug)]
pub struct SendSlot {
    pub(super) wr: SendWr,
    pub(super) kind: Kind,
    /// Packet sequence numbers that it takes; 0 for [`Kind::Local`].
    pub(super) packets: u32,
    /// Of a [`Kind::Response`]: numbers asked for up to now.
    pub(super) requested: u32,
    /// Of a [`Kind::Response`]: numbers answered without a gap.
    pub(super) progress: u32,
    /// It cannot be done: it fails when its turn to complete comes.
    pub(super) refused: Option<WcStatus>,
}

impl Default for SendSlot {
    fn default() -> Self {
        Self::new(SendWr::new(SendOp::Local, 0))
    }
}

impl SendSlot {
    pub(super) const fn new(wr: SendWr) -> Self {
        let kind = match wr.op {
            SendOp::Send(_) | SendOp::Write { .. } | SendOp::Datagram { .. } => Kind::Message,
            SendOp::Read { .. }
            | SendOp::CompareSwap(_)
            | SendOp::FetchAdd(_)
            | SendOp::Flush { .. }
            | SendOp::AtomicWrite { .. } => Kind::Response,
            SendOp::Local => Kind::Local,
        };
        Self {
            wr,
            kind,
            packets: 0,
            requested: 0,
            progress: 0,
            refused: None,
        }
    }
}

/// The ring of send slots.
pub(super) struct Ring<B> {
    slots: B,
    mask: u32,
}

impl<B: DerefMut<Target = [SendSlot]>> Ring<B> {
    /// None unless the length is a power of two that leaves room for counting.
    pub(super) fn new(slots: B) -> Option<Self> {
        let len = u32::try_from(slots.len()).ok()?;
        if !len.is_power_of_two() || len > 1 << 30 {
            return None;
        }
        Some(Self {
            slots,
            mask: len.wrapping_sub(1),
        })
    }

    pub(super) fn capacity(&self) -> u32 {
        self.mask.wrapping_add(1)
    }

    #[inline]
    pub(super) fn index(&self, count: u32) -> SlotIndex {
        SlotIndex(count & self.mask)
    }

    /// The count of a slot that is in use, the oldest of which is `oldest`.
    pub(super) fn count_of(&self, oldest: u32, index: SlotIndex) -> u32 {
        oldest.wrapping_add(index.0.wrapping_sub(oldest) & self.mask)
    }

    #[inline]
    pub(super) fn get(&self, count: u32) -> Option<&SendSlot> {
        self.slots.get((count & self.mask) as usize)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, count: u32) -> Option<&mut SendSlot> {
        self.slots.get_mut((count & self.mask) as usize)
    }
}
