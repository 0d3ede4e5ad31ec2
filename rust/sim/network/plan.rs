// SPDX-License-Identifier: GPL-2.0

//! What a link is like.

use crate::{
    events::{
        Nanos,
        MICROSECOND, //
    },
    rng::Chance, //
};
use std::ops::Range;

/// Loss that comes in bursts (Gilbert and Elliott): a link is good or bad and changes at random
/// with each packet.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Becoming bad.
    pub enter: Chance,
    /// Becoming good again.
    pub leave: Chance,
    /// Loss while bad.
    pub loss: Chance,
}

impl Burst {
    /// Bursts of so many packets on average, in which all are lost, so often that the overall loss
    /// is that of `loss`.
    pub fn of(loss: Chance, packets: u64) -> Self {
        let leave = 1.0 / packets.max(1) as f64;
        let share = loss.fraction().min(0.99);
        let enter = (leave * share / (1.0 - share)).min(1.0);
        Self {
            enter: Chance::from_fraction(enter).unwrap_or(Chance::ALWAYS),
            leave: Chance::from_fraction(leave).unwrap_or(Chance::ALWAYS),
            loss: Chance::ALWAYS,
        }
    }
}

/// Packets that come late.
#[derive(Clone, Copy, Debug)]
pub struct Reorder {
    /// How many.
    pub chance: Chance,
    /// How late at least.
    pub least: Nanos,
    /// How late at most.
    pub most: Nanos,
}

/// A link that a receiver stops at times (priority flow control): nothing is lost.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    /// The longest time between two pauses.
    pub every: Nanos,
    /// The longest pause.
    pub length: Nanos,
}

/// A link in one direction.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Bits per second.
    pub bandwidth: u64,
    /// Propagation delay.
    pub delay: Nanos,
    /// Packets that wait for the wire; more are dropped.
    pub queue: usize,
    /// Packets waiting from which on those that pass are marked as congested.
    pub mark_above: Option<usize>,
    /// The longest IP packet that gets through.
    pub path_bytes: u32,
    /// Loss of single packets.
    pub loss: Chance,
    /// Loss in bursts.
    pub burst: Option<Burst>,
    /// Packets out of order.
    pub reorder: Option<Reorder>,
    /// Packets that come twice.
    pub duplicate: Chance,
    /// Packets that are damaged, which the CRC shows.
    pub corrupt: Chance,
    /// Packets whose data is damaged and whose CRC is made good again: no network of ours, but the
    /// oracle's own test.
    pub forge: Chance,
    /// Stops.
    pub pauses: Option<Pauses>,
    /// Times in which everything is lost.
    pub blackouts: Vec<Range<Nanos>>,
    /// From when on nothing is lost any more but in blackouts.
    pub heals_at: Nanos,
}

impl LinkPlan {
    /// A link without faults.
    pub const fn clean(bandwidth: u64, delay: Nanos) -> Self {
        Self {
            bandwidth,
            delay,
            queue: 100_000,
            mark_above: None,
            path_bytes: u32::MAX,
            loss: Chance::NEVER,
            burst: None,
            reorder: None,
            duplicate: Chance::NEVER,
            corrupt: Chance::NEVER,
            forge: Chance::NEVER,
            pauses: None,
            blackouts: Vec::new(),
            heals_at: Nanos::MAX,
        }
    }

    /// How long so many bytes take on the wire.
    pub fn time_of(&self, bytes: u64) -> Nanos {
        (u128::from(bytes) * 8_000_000_000 / u128::from(self.bandwidth)) as Nanos
    }

    /// Whether packets may get lost, late or doubled at all.
    pub fn is_faulty(&self) -> bool {
        !(self.loss.is_never()
            && self.burst.is_none()
            && self.reorder.is_none()
            && self.duplicate.is_never()
            && self.corrupt.is_never()
            && self.blackouts.is_empty())
            || self.path_bytes < u32::MAX
            || self.queue < 1000
    }

    /// Whether it ends in a blackout without end.
    pub fn dies(&self) -> bool {
        self.blackouts.iter().any(|dark| dark.end == Nanos::MAX)
    }
}

impl Default for LinkPlan {
    /// 10 Gbit/s, 10 µs.
    fn default() -> Self {
        Self::clean(10_000_000_000, 10 * MICROSECOND)
    }
}
