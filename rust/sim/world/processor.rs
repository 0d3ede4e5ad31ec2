// SPDX-License-Identifier: GPL-2.0

//! The processor of a host that has too little of it.

use super::World;
use crate::{
    events::Nanos,
    rng::Rng,
    scenario::Starved, //
};

/// When a host's processor is busy, and when it stops.
pub(super) struct Processor {
    rng: Rng,
    /// Until when it is busy.
    free_at: Nanos,
    /// When it stops next.
    stops_at: Nanos,
}

impl Processor {
    pub(super) fn new(seed: u64, host: usize) -> Self {
        Self {
            rng: Rng::new(seed, "processor", host as u64),
            free_at: 0,
            stops_at: 0,
        }
    }
}

impl World {
    /// When a queue pair's host gets to do something; now, unless it is starved.
    pub(super) fn host_free_at(&mut self, qp: usize) -> Nanos {
        let now = self.events.now();
        let host = self.qps[qp].plan.host;
        let Some(starved) = self.scenario.hosts[host].starved else {
            return now;
        };
        let processor = &mut self.processors[host];
        while processor.stops_at <= now {
            let length = processor.rng.within(0..=starved.stops.length);
            processor.free_at = processor.free_at.max(processor.stops_at + length);
            let pause = processor.rng.within(0..=starved.stops.every);
            processor.stops_at = processor.free_at + pause + 1;
        }
        processor.free_at.max(now)
    }

    /// A queue pair's host handles a packet.
    pub(super) fn spend(&mut self, qp: usize) {
        let host = self.qps[qp].plan.host;
        if let Some(starved) = self.scenario.hosts[host].starved {
            let now = self.events.now();
            let processor = &mut self.processors[host];
            processor.free_at = processor.free_at.max(now) + starved.packet;
        }
    }

    /// Whether a host's queue has room for a packet that comes.
    pub(super) fn has_room(&self, qp: usize) -> bool {
        let host = &self.scenario.hosts[self.qps[qp].plan.host];
        let room = |starved: &Starved| starved.queue > self.qps[qp].inbox.len();
        host.starved.as_ref().is_none_or(room)
    }
}
