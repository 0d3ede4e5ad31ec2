// SPDX-License-Identifier: GPL-2.0

//! What goes wrong on a wire.

use super::{
    link::Fate,
    plan::LinkPlan, //
};
use crate::{
    events::Nanos,
    frame::Frame,
    rng::Rng, //
};

/// The state of a link's faults.
pub(super) struct Spoiler {
    rng: Rng,
    bad: bool,
    /// When the next pause begins, and when it ends.
    pause: Option<(Nanos, Nanos)>,
}

impl Spoiler {
    pub(super) fn new(rng: Rng) -> Self {
        Self {
            rng,
            bad: false,
            pause: None,
        }
    }

    /// The first moment, not before `at`, at which the link is not paused.
    pub(super) fn after_pause(&mut self, plan: &LinkPlan, at: Nanos) -> Nanos {
        let Some(pauses) = plan.pauses else {
            return at;
        };
        let mut at = at;
        while at < plan.heals_at {
            let (start, end) = match self.pause {
                Some(pause) => pause,
                None => self.next_pause(pauses.every, pauses.length, 0),
            };
            if at < start {
                break;
            }
            at = at.max(end);
            self.next_pause(pauses.every, pauses.length, at);
        }
        at
    }

    fn next_pause(&mut self, every: Nanos, length: Nanos, from: Nanos) -> (Nanos, Nanos) {
        let start = from.saturating_add(1 + self.rng.below(every));
        let pause = (start, start.saturating_add(1 + self.rng.below(length)));
        self.pause = Some(pause);
        pause
    }

    fn is_lost(&mut self, plan: &LinkPlan, frame: &Frame) -> bool {
        if let Some(burst) = plan.burst {
            let turns = if self.bad { burst.leave } else { burst.enter };
            self.bad ^= self.rng.happens(turns);
            if self.bad && self.rng.happens(burst.loss) {
                return true;
            }
        }
        frame.ip_bytes() > plan.path_bytes || self.rng.happens(plan.loss)
    }

    /// Lets a frame through that leaves the wire's near end at `left`.
    pub(super) fn pass(
        &mut self,
        plan: &LinkPlan,
        left: Nanos,
        mut frame: Frame,
        arrivals: &mut Vec<(Nanos, Frame)>,
    ) -> Fate {
        if plan.blackouts.iter().any(|dark| dark.contains(&left)) {
            return Fate::Lost;
        }
        let arrival = left.saturating_add(plan.delay);
        if left >= plan.heals_at {
            arrivals.push((arrival, frame));
            return Fate::Passes;
        }
        if self.is_lost(plan, &frame) {
            return Fate::Lost;
        }
        let mut fate = Fate::Passes;
        if self.rng.happens(plan.corrupt) {
            frame.damaged = true;
            if let Some(bytes) = &mut frame.bytes {
                for _ in 0..=self.rng.below(4) {
                    let bit = self.rng.below(8 * bytes.len() as u64) as usize;
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            }
            fate = Fate::Disturbed;
        }
        if self.rng.happens(plan.forge) && !frame.data.is_empty() {
            let at = self.rng.below(frame.data.len() as u64) as usize;
            frame.data[at] ^= 1 << self.rng.below(8);
        }
        if self.rng.happens(plan.duplicate) {
            let mut copy = frame.clone();
            copy.duplicate = true;
            let late = self.rng.below(plan.delay.saturating_mul(2) + 1000);
            arrivals.push((arrival.saturating_add(late), copy));
            fate = Fate::Disturbed;
        }
        let mut at = arrival;
        if let Some(reorder) = plan.reorder {
            if self.rng.happens(reorder.chance) {
                at = at.saturating_add(self.rng.within(reorder.least..=reorder.most));
                fate = Fate::Disturbed;
            }
        }
        arrivals.push((at, frame));
        fate
    }
}
