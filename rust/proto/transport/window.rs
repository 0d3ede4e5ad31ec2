// SPDX-License-Identifier: GPL-2.0

//! A bounded window of packet sequence numbers that came before their turn.

use super::{
    wr::EarlyIndex,
    EARLY_SLOTS, //
};
use crate::types::Psn;

const WORDS: usize = (EARLY_SLOTS / 64) as usize;
const LOW_BITS: u32 = EARLY_SLOTS.wrapping_sub(1);

/// One bit for each of the [`EARLY_SLOTS`] numbers from the expected one on; the caller sees to it
/// that no number beyond that gets in.
pub(super) struct Window {
    bits: [u64; WORDS],
    count: u32,
}

impl Window {
    pub(super) const fn new() -> Self {
        Self {
            bits: [0; WORDS],
            count: 0,
        }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many numbers are in it.
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// The index of a number.
    pub(super) const fn index(psn: Psn) -> EarlyIndex {
        EarlyIndex((psn.get() & LOW_BITS) as u16)
    }

    fn word(&mut self, psn: Psn) -> (Option<&mut u64>, u64) {
        let low = psn.get() & LOW_BITS;
        let bit = 1_u64.wrapping_shl(low & 63);
        (self.bits.get_mut((low >> 6) as usize), bit)
    }

    pub(super) fn contains(&self, psn: Psn) -> bool {
        let low = psn.get() & LOW_BITS;
        let bit = 1_u64.wrapping_shl(low & 63);
        self.bits
            .get((low >> 6) as usize)
            .is_some_and(|word| word & bit != 0)
    }

    /// Adds a number; false if it is there already.
    pub(super) fn insert(&mut self, psn: Psn) -> bool {
        let (Some(word), bit) = self.word(psn) else {
            return false;
        };
        let fresh = *word & bit == 0;
        *word |= bit;
        self.count = self.count.saturating_add(u32::from(fresh));
        fresh
    }

    /// Takes a number out; false if it was not there.
    pub(super) fn remove(&mut self, psn: Psn) -> bool {
        if self.count == 0 {
            return false;
        }
        let (Some(word), bit) = self.word(psn) else {
            return false;
        };
        let there = *word & bit != 0;
        *word &= !bit;
        self.count = self.count.saturating_sub(u32::from(there));
        there
    }

    /// Takes out `count` numbers from `psn` on.
    pub(super) fn remove_range(&mut self, psn: Psn, count: u32) {
        for step in 0..count.min(EARLY_SLOTS) {
            if self.count == 0 {
                return;
            }
            self.remove(psn.plus(step));
        }
    }

    /// Of so many numbers from `from` on, those at the start that are in it, or that are not.
    pub(super) fn run(&self, from: Psn, limit: u32, inside: bool) -> u32 {
        if self.count == 0 {
            return if inside { 0 } else { limit };
        }
        let mut run = 0_u32;
        while run < limit {
            let low = from.plus(run).get() & LOW_BITS;
            let word = self.bits.get((low >> 6) as usize).copied().unwrap_or(0);
            let ends = if inside { !word } else { word };
            let left = 64_u32.saturating_sub(low & 63);
            let step = ends.wrapping_shr(low & 63).trailing_zeros().min(left);
            run = run.saturating_add(step);
            if step < left {
                break;
            }
        }
        run.min(limit)
    }

    pub(super) fn remove_index(&mut self, index: EarlyIndex) {
        // The low bits are all that counts.
        self.remove(Psn::from_low_bits(u32::from(index.0)));
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_around_the_wrap() {
        let mut window = Window::new();
        let start = Psn::from_low_bits(0x00ff_fff0);
        for step in (0..EARLY_SLOTS).step_by(3) {
            assert!(window.insert(start.plus(step)));
            assert!(!window.insert(start.plus(step)));
        }
        for step in 0..EARLY_SLOTS {
            assert_eq!(window.contains(start.plus(step)), step % 3 == 0);
        }
        assert!(window.remove(start.plus(3)) && !window.remove(start.plus(3)));
        window.remove_index(Window::index(start.plus(6)));
        assert!(!window.contains(start.plus(6)));
        window.remove_range(start, EARLY_SLOTS + 5);
        assert!(window.is_empty());
    }

    #[test]
    fn runs_end_where_they_should() {
        let start = Psn::from_low_bits(0x00ff_fff0);
        let runs = [(0, 70), (71, 72), (130, 300), (960, 1024)];
        let mut window = Window::new();
        assert_eq!(window.run(start, 99, false), 99);
        for (from, to) in runs {
            for step in from..to {
                window.insert(start.plus(step));
            }
        }
        for inside in [true, false] {
            for from in 0..EARLY_SLOTS {
                let want = (from..EARLY_SLOTS)
                    .take_while(|&step| window.contains(start.plus(step)) == inside)
                    .fold(0, |count, _| count + 1);
                for limit in [0, 1, 5, EARLY_SLOTS] {
                    let limit = limit.min(EARLY_SLOTS - from);
                    assert_eq!(window.run(start.plus(from), limit, inside), want.min(limit));
                }
            }
        }
    }
}
