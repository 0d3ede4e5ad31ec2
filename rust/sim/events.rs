// SPDX-License-Identifier: GPL-2.0

//! What is to happen, by virtual time; of what happens at the same time, by the order of asking.

use std::{
    cmp::{
        Ordering,
        Reverse, //
    },
    collections::BinaryHeap, //
};

/// Virtual nanoseconds since the start of the run.
pub type Nanos = u64;

/// A microsecond.
pub const MICROSECOND: Nanos = 1_000;

/// A millisecond.
pub const MILLISECOND: Nanos = 1_000_000;

/// A second.
pub const SECOND: Nanos = 1_000_000_000;

struct Entry<T> {
    at: Nanos,
    number: u64,
    what: T,
}

impl<T> Entry<T> {
    fn key(&self) -> (Nanos, u64) {
        (self.at, self.number)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// The queue of what is to happen.
pub struct Events<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    now: Nanos,
    asked: u64,
}

impl<T> Events<T> {
    /// An empty queue at time 0.
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            now: 0,
            asked: 0,
        }
    }

    /// The time of what happened last.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Lets something happen at a time; now, if that is past.
    pub fn at(&mut self, at: Nanos, what: T) {
        self.heap.push(Reverse(Entry {
            at: at.max(self.now),
            number: self.asked,
            what,
        }));
        self.asked += 1;
    }

    /// Lets something happen after a while.
    pub fn after(&mut self, wait: Nanos, what: T) {
        self.at(self.now.saturating_add(wait), what);
    }

    /// The next thing; time moves on to it.
    pub fn pop(&mut self) -> Option<T> {
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.at;
        Some(entry.what)
    }
}

impl<T> Default for Events<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_time_then_by_order_of_asking() {
        let mut events = Events::new();
        events.at(5, 'c');
        events.at(3, 'a');
        events.at(5, 'd');
        events.at(4, 'b');
        let mut seen = String::new();
        while let Some(what) = events.pop() {
            seen.push(what);
            if what == 'b' {
                events.at(1, 'B');
            }
        }
        assert_eq!(seen, "abBcd");
        assert_eq!(events.now(), 5);
        events.after(2, 'e');
        assert_eq!(events.pop(), Some('e'));
        assert_eq!(events.now(), 7);
    }
}
