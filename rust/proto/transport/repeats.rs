// SPDX-License-Identifier: GPL-2.0

//! Answers to READs and atomics that are due once more, lowest number first.
//!
//! A peer that has lost several parts of an answer asks for each of them, so that many are due at a
//! time. There is no more room than for [`MOST`]; a request for another one counts as lost.

/// Parts that can be due at a time.
const MOST: usize = 16;

/// Packets of an answer that are to be sent: from `next` to before `to`, `start` being the first of
/// them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) start: u32,
    pub(super) next: u32,
    pub(super) to: u32,
}

impl Due {
    pub(super) const fn new(start: u32, to: u32) -> Self {
        Self {
            start,
            next: start,
            to,
        }
    }

    #[inline]
    pub(super) const fn is_pending(&self) -> bool {
        self.next < self.to
    }
}

/// A part, and the count of the kept request to whose answer it belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeat {
    pub(super) count: u32,
    pub(super) due: Due,
}

pub(super) struct Repeats {
    list: [Option<Repeat>; MOST],
    used: usize,
}

impl Repeats {
    pub(super) const fn new() -> Self {
        Self {
            list: [None; MOST],
            used: 0,
        }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Forgets the parts of an answer for which `drops` holds.
    pub(super) fn forget(&mut self, count: u32, drops: impl Fn(&Due) -> bool) {
        if self.is_empty() {
            return;
        }
        for place in &mut self.list {
            if place.is_some_and(|repeat| repeat.count == count && drops(&repeat.due)) {
                *place = None;
                self.used = self.used.saturating_sub(1);
            }
        }
    }

    /// Adds a part of an answer of `packets` packets.
    pub(super) fn add(&mut self, count: u32, due: Due, packets: u32) {
        if due.to == packets {
            // Everything from there on: the peer has got what is before, or never will.
            self.forget(count, |known| known.to > due.start);
        } else if self.covers(count, &due) {
            return;
        }
        self.put(Repeat { count, due });
    }

    /// Whether all of a part is due already.
    fn covers(&self, count: u32, due: &Due) -> bool {
        !self.is_empty()
            && self.list.iter().flatten().any(|known| {
                known.count == count && known.due.next <= due.start && due.to <= known.due.to
            })
    }

    /// Adds a part as it is, in place of what was left of it.
    pub(super) fn put(&mut self, repeat: Repeat) {
        let part = |due: &Due| (due.start, due.to);
        self.forget(repeat.count, |known| part(known) == part(&repeat.due));
        if let Some(place) = self.list.iter_mut().find(|place| place.is_none()) {
            *place = Some(repeat);
            self.used = self.used.saturating_add(1);
        }
    }

    /// The part with the lowest number; `oldest` is the count of the oldest kept request.
    pub(super) fn first(&self, oldest: u32) -> Option<Repeat> {
        if self.is_empty() {
            return None;
        }
        let place = |repeat: &&Repeat| (repeat.count.wrapping_sub(oldest), repeat.due.next);
        self.list.iter().flatten().min_by_key(place).copied()
    }

    /// A part has got on.
    pub(super) fn advance(&mut self, repeat: Repeat) {
        if repeat.due.is_pending() {
            self.put(repeat);
        } else {
            self.forget(repeat.count, |known| {
                (known.start, known.to) == (repeat.due.start, repeat.due.to)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(repeats: &mut Repeats, oldest: u32) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        while let Some(mut repeat) = repeats.first(oldest) {
            found.push((repeat.count, repeat.due.next));
            repeat.due.next = repeat.due.next.wrapping_add(1);
            repeats.advance(repeat);
        }
        assert!(repeats.is_empty());
        found
    }

    #[test]
    fn parts_come_lowest_number_first() {
        let mut repeats = Repeats::new();
        repeats.add(1, Due::new(5, 7), 9);
        repeats.add(u32::MAX, Due::new(3, 4), 9);
        repeats.add(1, Due::new(2, 3), 9);
        let order = [(u32::MAX, 3), (1, 2), (1, 5), (1, 6)];
        assert_eq!(all(&mut repeats, u32::MAX - 1), order);
    }

    #[test]
    fn what_is_due_already_is_not_due_twice() {
        let mut repeats = Repeats::new();
        repeats.add(0, Due::new(2, 6), 9);
        repeats.add(0, Due::new(3, 4), 9);
        repeats.add(0, Due::new(2, 6), 9);
        assert_eq!(all(&mut repeats, 0), [(0, 2), (0, 3), (0, 4), (0, 5)]);
    }

    #[test]
    fn all_the_rest_takes_the_place_of_what_it_overlaps() {
        let mut repeats = Repeats::new();
        repeats.add(0, Due::new(1, 2), 9);
        repeats.add(0, Due::new(4, 5), 9);
        repeats.add(0, Due::new(3, 9), 9);
        repeats.add(0, Due::new(7, 9), 9);
        assert_eq!(all(&mut repeats, 0), [(0, 1), (0, 7), (0, 8)]);
    }

    #[test]
    fn there_is_room_for_so_many() {
        let mut repeats = Repeats::new();
        for n in (0..).take(2 * MOST) {
            repeats.add(0, Due::new(2 * n, 2 * n + 1), 999);
        }
        let found = all(&mut repeats, 0);
        assert_eq!(found.len(), MOST);
    }
}
