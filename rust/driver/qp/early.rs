// SPDX-License-Identifier: GPL-2.0

//! Packets that came before their turn, and the limits to keeping them: a peer fills this memory.
//!
//! Context: process or softirq, with the queue pair's lock held.

use super::Inner;
use crate::link::Link;
use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::net::SkBuff;
use oxe_proto::{
    transport::{
        wr::EarlyIndex,
        EARLY_SLOTS, //
    },
    types::Instant, //
};

/// A packet.
pub(super) struct Held {
    pub(super) skb: SkBuff,
    /// Where its UDP payload starts.
    pub(super) offset: usize,
}

/// How long packets are kept while none has its turn, in ns.
const PATIENCE: u64 = 1_000_000_000;

/// The packets of a queue pair that wait for their turn, in the engine's places.
pub(super) struct Early {
    link: Arc<Link>,
    packets: KVVec<Option<Held>>,
    /// What they take of the link's memory for such packets.
    bytes: u32,
    /// When to look whether one has had its turn; set as long as some are kept.
    until: Option<u64>,
    /// One has had its turn since `until` was set.
    moved: bool,
}

impl Early {
    /// For a queue pair that keeps packets if `keeps`. Context: process.
    pub(super) fn new(link: &Arc<Link>, keeps: bool) -> Result<Self> {
        let places = if keeps { EARLY_SLOTS as usize } else { 0 };
        let mut packets = KVVec::with_capacity(places, GFP_KERNEL_ACCOUNT)?;
        for _ in 0..places {
            packets.push(None, GFP_KERNEL_ACCOUNT)?;
        }
        Ok(Self {
            link: link.clone(),
            packets,
            bytes: 0,
            until: None,
            moved: false,
        })
    }

    /// Keeps a packet; false if there is no room, and it is as good as lost.
    pub(super) fn keep(&mut self, now: Instant, index: EarlyIndex, held: Held) -> bool {
        let bytes = held.skb.footprint();
        let place = self.packets.get_mut(usize::from(index.0));
        let Some(place) = place.filter(|place| place.is_none()) else {
            return false;
        };
        if self.link.objects.early_bytes.take_some(bytes).is_err() {
            self.link.counters.rcvd_early_dropped.increment();
            return false;
        }
        *place = Some(held);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.until.is_none() {
            self.until = Some(now.as_nanos().saturating_add(PATIENCE));
            self.moved = false;
        }
        true
    }

    /// A packet has its turn.
    pub(super) fn take(&mut self, index: EarlyIndex) -> Option<Held> {
        let held = self.packets.get_mut(usize::from(index.0))?.take()?;
        self.give_back(held.skb.footprint());
        self.moved = true;
        Some(held)
    }

    fn give_back(&mut self, bytes: u32) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.link.objects.early_bytes.give_back_some(bytes);
    }

    /// Drops all.
    pub(super) fn clear(&mut self) {
        if self.until.take().is_some() {
            self.packets.iter_mut().for_each(|place| *place = None);
            self.give_back(self.bytes);
        }
    }

    /// When to call [`Inner::look_at_early`], in ns of the clock.
    pub(super) fn until(&self) -> Option<u64> {
        self.until
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Inner {
    /// Drops the packets that were kept, if none of them has had its turn for long: whoever sent
    /// what is missing may be gone.
    pub(super) fn look_at_early(&mut self, now: Instant) {
        let early = &mut self.side.early;
        if early.until.is_none_or(|until| now.as_nanos() < until) {
            return;
        }
        if core::mem::replace(&mut early.moved, false) {
            early.until = Some(now.as_nanos().saturating_add(PATIENCE));
            return;
        }
        for (index, place) in early.packets.iter().enumerate() {
            if place.is_some() {
                self.engine.early_lost(EarlyIndex(index as u16));
                early.link.counters.rcvd_early_dropped.increment();
            }
        }
        early.clear();
    }
}
