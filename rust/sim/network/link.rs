// SPDX-License-Identifier: GPL-2.0

//! One direction of a cable: a queue in front of a wire of a certain speed and length.

use super::{
    plan::LinkPlan,
    spoil::Spoiler, //
};
use crate::{
    events::Nanos,
    frame::Frame,
    rng::Rng, //
};
use std::collections::VecDeque;

/// What becomes of a frame that is given to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives, in order, once and whole.
    Passes,
    /// It arrives, but late, twice or damaged.
    Disturbed,
    /// It was dropped.
    Lost,
}

/// A link in one direction.
pub struct Link {
    plan: LinkPlan,
    spoiler: Spoiler,
    /// When each waiting frame will have left; ascending.
    leaving: VecDeque<Nanos>,
}

impl Link {
    /// An idle link.
    pub fn new(plan: LinkPlan, rng: Rng) -> Self {
        Self {
            spoiler: Spoiler::new(rng),
            plan,
            leaving: VecDeque::new(),
        }
    }

    /// What it is like.
    pub fn plan(&self) -> &LinkPlan {
        &self.plan
    }

    /// From now on everything is lost.
    pub fn cut(&mut self, now: Nanos) {
        self.plan.blackouts.push(now..Nanos::MAX);
    }

    /// Sends a frame at a moment, and puts what arrives, and when, into `arrivals`.
    pub fn send(
        &mut self,
        now: Nanos,
        mut frame: Frame,
        arrivals: &mut Vec<(Nanos, Frame)>,
    ) -> Fate {
        while self.leaving.front().is_some_and(|&at| at <= now) {
            self.leaving.pop_front();
        }
        if self.leaving.len() >= self.plan.queue && now < self.plan.heals_at {
            return Fate::Lost;
        }
        let free = self.leaving.back().copied().unwrap_or(now);
        let start = self.spoiler.after_pause(&self.plan, free.max(now));
        let wire = self.plan.time_of(u64::from(frame.wire_bytes()));
        let left = start.saturating_add(wire);
        if self
            .plan
            .mark_above
            .is_some_and(|above| self.leaving.len() > above)
        {
            frame.marked = frame.ect;
        }
        self.leaving.push_back(left);
        self.spoiler.pass(&self.plan, left, frame, arrivals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        frame::tests::frame,
        network::{
            Pauses,
            Reorder, //
        },
        rng::Chance, //
    };

    fn link(plan: LinkPlan) -> Link {
        Link::new(plan, Rng::new(1, "test", 0))
    }

    /// Sends frames with ascending numbers and says which arrive when.
    fn arrivals(plan: LinkPlan, count: u32, bytes: u32) -> Vec<(Nanos, u32)> {
        let mut link = link(plan);
        let mut out = Vec::new();
        for number in 0..count {
            let _ = link.send(0, frame(number, bytes), &mut out);
        }
        out.sort_by_key(|(at, _)| *at);
        out.iter()
            .map(|(at, frame)| (*at, frame.packet.psn.get()))
            .collect()
    }

    #[test]
    fn frames_follow_each_other_at_the_wires_speed() {
        // 1 Gbit/s: 8 ns a byte; 38 + 28 + 12 + 4 bytes around the data.
        let plan = LinkPlan::clean(1_000_000_000, 500);
        let got = arrivals(plan, 3, 918);
        let wire = 8 * (920 + 82);
        let expected = [1, 2, 3].map(|nth| (500 + nth * wire, nth as u32 - 1));
        assert_eq!(got, expected);
    }

    #[test]
    fn a_full_queue_drops_at_its_tail() {
        let plan = LinkPlan {
            queue: 3,
            ..LinkPlan::clean(1_000_000_000, 0)
        };
        let numbers: Vec<u32> = arrivals(plan, 10, 100).iter().map(|a| a.1).collect();
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[test]
    fn late_frames_are_overtaken_and_all_arrive() {
        let plan = LinkPlan {
            reorder: Some(Reorder {
                chance: Chance::percent(20),
                least: 1000,
                most: 50_000,
            }),
            ..LinkPlan::default()
        };
        let numbers: Vec<u32> = arrivals(plan, 500, 1000).iter().map(|a| a.1).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..500).collect::<Vec<_>>());
        assert_ne!(numbers, sorted);
    }

    #[test]
    fn pauses_delay_and_lose_nothing() {
        let plan = LinkPlan {
            pauses: Some(Pauses {
                every: 20_000,
                length: 100_000,
            }),
            ..LinkPlan::default()
        };
        let paused = arrivals(plan, 200, 1000);
        let smooth = arrivals(LinkPlan::default(), 200, 1000);
        assert_eq!(paused.len(), smooth.len());
        assert!(paused.last() > smooth.last());
        assert!(paused.iter().map(|a| a.1).eq(0..200));
    }

    #[test]
    fn blackouts_and_short_paths_lose() {
        let mut plan = LinkPlan::clean(1_000_000_000, 0);
        plan.blackouts.push(8_000..24_000);
        let got = arrivals(plan, 100, 1000);
        assert!(got.iter().all(|a| !(8_000..24_000).contains(&a.0)));
        assert!(got.len() > 90 && got.len() < 100);
        let plan = LinkPlan {
            path_bytes: 1000,
            ..LinkPlan::default()
        };
        assert!(arrivals(plan.clone(), 5, 1000).is_empty());
        assert_eq!(arrivals(plan, 5, 900).len(), 5);
    }

    #[test]
    fn loss_comes_as_often_as_told() {
        let plan = LinkPlan {
            loss: Chance::percent(5),
            ..LinkPlan::default()
        };
        let got = arrivals(plan, 10_000, 64).len();
        assert!((9_350..9_650).contains(&got), "{got}");
    }
}
