// SPDX-License-Identifier: GPL-2.0

//! Responses that were asked for again, and what shows that one of them is lost once more.
//!
//! A peer answers in the order in which it is asked. So whatever answers one request shows that
//! what an earlier one asked for, and has not come, will not come: it can be asked for again at
//! once, and need not be before.

use super::{
    window::Window,
    EARLY_SLOTS, //
};
use crate::types::Psn;

/// Requests that are remembered.
const MOST: usize = 32;

/// Parts of responses that brought nothing, in a row, before the peer gets whole requests only: it
/// may insist on the end that the first request had.
const IN_VAIN: u8 = 8;

/// What a request counts for that a timer gave up.
const GIVEN_UP: u8 = 4;

/// A request for numbers `from` to before `to`.
#[derive(Clone, Copy, Default)]
struct Ask {
    from: Psn,
    to: Psn,
    /// What has this number or a later one was asked for after it.
    high: Psn,
    /// It ends before the first request for these numbers did.
    part: bool,
    /// Some of it has come.
    answered: bool,
}

impl Ask {
    fn holds(&self, psn: Psn) -> bool {
        !psn.is_before(self.from) && psn.is_before(self.to)
    }
}

/// What was asked for again and may be under way, oldest request first.
///
/// # Invariants
///
/// `under_way` has no number that lies in none of the requests, and those are within
/// [`EARLY_SLOTS`] of each other.
pub(super) struct Asks {
    list: [Ask; MOST],
    used: usize,
    under_way: Window,
    in_vain: u8,
}

impl Asks {
    pub(super) const fn new() -> Self {
        const NONE: Ask = Ask {
            from: Psn::from_low_bits(0),
            to: Psn::from_low_bits(0),
            high: Psn::from_low_bits(0),
            part: false,
            answered: false,
        };
        Self {
            list: [NONE; MOST],
            used: 0,
            under_way: Window::new(),
            in_vain: 0,
        }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    pub(super) const fn is_full(&self) -> bool {
        self.used == MOST
    }

    /// Whether the peer answers for a part of a response, as far as is known.
    pub(super) const fn takes_parts(&self) -> bool {
        self.in_vain < IN_VAIN
    }

    /// Forgets what was asked for, but not what the peer is like.
    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.under_way.clear();
    }

    /// Of so many numbers from `psn` on, those at the start that are under way, or that are not.
    pub(super) fn run(&self, psn: Psn, limit: u32, under_way: bool) -> u32 {
        self.under_way.run(psn, limit, under_way)
    }

    /// `count` numbers from `from` on are asked for, the newest number being the one before `high`;
    /// a `part` of what the first request asked for. Without room it is as if the oldest had been
    /// lost.
    pub(super) fn add(&mut self, from: Psn, count: u32, high: Psn, part: bool) {
        if self.is_full() {
            self.retain(|nth, _| nth != 0);
        }
        let count = count.min(EARLY_SLOTS);
        let ask = Ask {
            from,
            to: from.plus(count),
            high,
            part,
            answered: false,
        };
        if let Some(place) = self.list.get_mut(self.used) {
            *place = ask;
            self.used = self.used.saturating_add(1);
            for step in 0..count {
                self.under_way.insert(from.plus(step));
            }
        }
    }

    /// How many numbers are under way.
    pub(super) const fn count(&self) -> u32 {
        self.under_way.count()
    }

    /// The peer has answered for a part.
    #[inline]
    pub(super) fn part_came(&mut self) {
        self.in_vain = 0;
    }

    /// The newest request that asked for this number.
    fn newest_for(&self, psn: Psn) -> Option<usize> {
        let (mut hit, mut nth) = (None, 0_usize);
        for ask in self.list.iter().take(self.used) {
            if ask.holds(psn) {
                hit = Some(nth);
            }
            nth = nth.saturating_add(1);
        }
        hit
    }

    /// A number has come: what was asked for before it is lost.
    pub(super) fn arrived(&mut self, psn: Psn) {
        let Some(hit) = self.newest_for(psn) else {
            return;
        };
        if let Some(ask) = self.list.get_mut(hit) {
            if !ask.part && !ask.answered && psn != ask.from {
                // It may be the answer to the first request.
                return;
            }
            ask.answered = true;
            let skipped = Ask {
                to: psn.next(),
                ..*ask
            };
            ask.from = skipped.to;
            self.unmark(&skipped);
        }
        self.retain(|nth, ask| nth >= hit && ask.from != ask.to);
    }

    /// Everything before `psn` has come or was overtaken.
    pub(super) fn overtaken(&mut self, psn: Psn) {
        if self.retain(|_, ask| !psn.is_after(ask.high)) {
            self.in_vain = self.in_vain.saturating_add(1);
        }
    }

    /// Everything before `una` has come.
    pub(super) fn trim(&mut self, una: Psn) {
        for nth in 0..self.used {
            let Some(ask) = self.list.get_mut(nth) else {
                break;
            };
            if ask.from.is_before(una) {
                ask.answered = true;
                let gone = Ask {
                    to: if ask.to.is_before(una) { ask.to } else { una },
                    ..*ask
                };
                ask.from = gone.to;
                self.unmark(&gone);
            }
        }
        self.retain(|_, ask| ask.from != ask.to);
    }

    /// Nothing is expected any more of the request that asked for this number: time has run out, or
    /// it was not sent. False if there is none.
    pub(super) fn give_up(&mut self, psn: Psn, sent: bool) -> bool {
        let Some(hit) = self.newest_for(psn) else {
            return false;
        };
        if self.retain(|nth, _| nth != hit) && sent {
            self.in_vain = self.in_vain.saturating_add(GIVEN_UP);
        }
        true
    }

    fn unmark(&mut self, ask: &Ask) {
        self.under_way
            .remove_range(ask.from, ask.to.count_since(ask.from));
    }

    /// Drops some of the requests; true if a part that brought nothing is among them.
    fn retain(&mut self, keep: impl Fn(usize, &Ask) -> bool) -> bool {
        let mut in_vain = false;
        let mut kept = 0_usize;
        for nth in 0..self.used {
            let Some(ask) = self.list.get(nth).copied() else {
                break;
            };
            if !keep(nth, &ask) {
                in_vain |= ask.part && !ask.answered;
                self.unmark(&ask);
                continue;
            }
            if let Some(place) = self.list.get_mut(kept) {
                *place = ask;
            }
            kept = kept.saturating_add(1);
        }
        self.used = kept;
        in_vain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn psn(n: u32) -> Psn {
        Psn::from_low_bits(0xff_fff0).plus(n)
    }

    fn asks(parts: &[(u32, u32)]) -> Asks {
        let mut asks = Asks::new();
        for &(from, count) in parts {
            asks.add(psn(from), count, psn(100), true);
        }
        asks
    }

    fn under_way(asks: &Asks) -> Vec<u32> {
        (0..200)
            .filter(|&n| asks.run(psn(n), 1, true) == 1)
            .collect()
    }

    #[test]
    fn an_answer_shows_that_what_was_asked_for_before_is_lost() {
        let mut asks = asks(&[(1, 2), (5, 3), (10, 1), (2, 1)]);
        assert_eq!(under_way(&asks), [1, 2, 5, 6, 7, 10]);
        asks.arrived(psn(6));
        assert_eq!(under_way(&asks), [7, 10]);
        asks.arrived(psn(7));
        assert_eq!(under_way(&asks), [10]);
        // The one that was asked for last.
        asks.arrived(psn(2));
        assert!(asks.is_empty());
        assert_eq!(under_way(&asks), []);
    }

    #[test]
    fn the_middle_of_a_whole_answer_may_be_that_to_the_first_request() {
        let mut asks = Asks::new();
        asks.add(psn(1), 5, psn(100), false);
        asks.arrived(psn(3));
        assert_eq!(under_way(&asks), [1, 2, 3, 4, 5]);
        asks.arrived(psn(1));
        assert_eq!(under_way(&asks), [2, 3, 4, 5]);
        asks.arrived(psn(4));
        assert_eq!(under_way(&asks), [5]);
    }

    #[test]
    fn so_does_what_was_sent_later() {
        let mut asks = asks(&[(1, 2)]);
        asks.add(psn(5), 1, psn(120), true);
        asks.overtaken(psn(100));
        assert_eq!(under_way(&asks), [1, 2, 5]);
        asks.overtaken(psn(101));
        assert_eq!(under_way(&asks), [5]);
    }

    #[test]
    fn what_has_come_leaves_no_trace() {
        let mut asks = asks(&[(1, 5), (8, 2)]);
        asks.trim(psn(3));
        assert_eq!(under_way(&asks), [3, 4, 5, 8, 9]);
        asks.trim(psn(9));
        assert_eq!(under_way(&asks), [9]);
        asks.trim(psn(20));
        assert!(asks.is_empty());
    }

    #[test]
    fn without_room_the_oldest_goes() {
        let mut asks = Asks::new();
        for n in (0..).take(MOST) {
            assert!(!asks.is_full());
            asks.add(psn(2 * n), 1, psn(100), true);
        }
        assert!(asks.is_full());
        asks.add(psn(199), 1, psn(100), true);
        let mut left: Vec<_> = (1..).take(MOST - 1).map(|n| 2 * n).collect();
        left.push(199);
        assert_eq!(under_way(&asks), left);
    }

    #[test]
    fn a_peer_that_answers_no_parts_gets_whole_requests() {
        let mut asks = asks(&[(1, 1), (3, 1)]);
        asks.give_up(psn(1), true);
        assert!(asks.takes_parts());
        asks.give_up(psn(3), true);
        assert!(!asks.takes_parts());
        // A part that was answered, a whole, and one that was not sent say nothing.
        let mut asks = Asks::new();
        for n in 0..9 {
            asks.add(psn(n), 3, psn(100), n % 3 == 0);
            match n % 3 {
                0 => asks.arrived(psn(n)),
                1 => asks.overtaken(psn(150)),
                _ => {}
            }
            asks.give_up(psn(n + 1), n % 3 != 2);
        }
        assert!(asks.takes_parts() && asks.in_vain == 0);
    }

    #[test]
    fn one_answer_clears_the_peer() {
        let mut asks = asks(&[(1, 1), (3, 1), (5, 1)]);
        asks.give_up(psn(1), true);
        asks.arrived(psn(5));
        asks.part_came();
        assert_eq!(asks.in_vain, 0);
        assert!(asks.is_empty());
        // However many get lost at a time, that is once.
        for n in 0..20 {
            asks.add(psn(n), 1, psn(100), true);
        }
        asks.overtaken(psn(110));
        assert_eq!(asks.in_vain, 1);
    }
}
