// SPDX-License-Identifier: GPL-2.0

//! Chance: one seeded generator per component.
//!
//! Each component has a generator of its own, made from the run's seed and a label that never
//! changes. What one component draws does not shift what another one gets, so a seed stays the same
//! run when a component is added. All arithmetic is on integers, so that it is the same everywhere.

use siphasher::sip::SipHasher13;
use std::{
    hash::Hasher,
    ops::RangeInclusive, //
};

/// A pseudo-random generator.
#[derive(Clone, Debug)]
pub struct Rng(oorandom::Rand64);

/// A probability, in parts of 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chance(u64);

impl Chance {
    /// Never.
    pub const NEVER: Self = Self(0);

    /// Always.
    pub const ALWAYS: Self = Self(1 << 32);

    /// So many times in a million.
    pub const fn per_million(parts: u32) -> Self {
        Self(((parts as u64) << 32) / 1_000_000)
    }

    /// So many times in a hundred.
    pub const fn percent(parts: u32) -> Self {
        Self::per_million(parts.saturating_mul(10_000))
    }

    /// The probability of a number from 0 to 1; nothing for other numbers.
    pub fn from_fraction(fraction: f64) -> Option<Self> {
        if (0.0..=1.0).contains(&fraction) {
            Some(Self((fraction * 4_294_967_296.0) as u64))
        } else {
            None
        }
    }

    /// As a number from 0 to 1, to show.
    pub fn fraction(self) -> f64 {
        self.0 as f64 / 4_294_967_296.0
    }

    /// Whether it never happens.
    pub const fn is_never(self) -> bool {
        self.0 == 0
    }
}

impl Rng {
    /// The generator of the component with this label and number in the run with this seed.
    pub fn new(seed: u64, label: &str, number: u64) -> Self {
        let half = |key: u64| {
            let mut hasher = SipHasher13::new_with_keys(seed, key);
            hasher.write(label.as_bytes());
            hasher.write_u8(0xff);
            hasher.write(&number.to_le_bytes());
            u128::from(hasher.finish())
        };
        Self(oorandom::Rand64::new(half(1) << 64 | half(2)))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.rand_u64()
    }

    /// A number less than `end`; 0 if that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        if end == 0 {
            0
        } else {
            self.0.rand_range(0..end)
        }
    }

    /// A number in the range.
    pub fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (start, end) = range.into_inner();
        start.wrapping_add(self.below(end.saturating_sub(start).saturating_add(1)))
    }

    /// A number in the range, small ones as often as each doubling of them.
    pub fn spread(&mut self, range: RangeInclusive<u64>) -> u64 {
        let (start, end) = range.into_inner();
        let shifts = u64::from((end.max(1) / start.max(1)).max(1).ilog2());
        let low = start.max(1) << self.within(0..=shifts);
        self.within(low..=low.saturating_mul(2)).clamp(start, end)
    }

    /// Whether it happens this time.
    pub fn happens(&mut self, chance: Chance) -> bool {
        !chance.is_never() && self.bits() >> 32 < chance.0
    }

    /// True `parts` times in a hundred.
    pub fn percent(&mut self, parts: u32) -> bool {
        self.happens(Chance::percent(parts))
    }

    /// One of the values.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// One of the values, each as often as its weight says.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn weighted<T: Copy>(&mut self, values: &[(u32, T)]) -> T {
        let total = values.iter().map(|&(weight, _)| u64::from(weight)).sum();
        let mut at = self.below(total);
        for &(weight, value) in values {
            if at < u64::from(weight) {
                return value;
            }
            at -= u64::from(weight);
        }
        values[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_numbers_split_the_seed() {
        let first = |seed, label, number| Rng::new(seed, label, number).bits();
        assert_eq!(first(1, "link", 0), first(1, "link", 0));
        assert_ne!(first(1, "link", 0), first(1, "link", 1));
        assert_ne!(first(1, "link", 0), first(1, "host", 0));
        assert_ne!(first(1, "link", 0), first(2, "link", 0));
    }

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut rng = Rng::new(7, "fixed", 3);
        let drawn = [rng.below(1000), rng.within(5..=9), rng.spread(1..=1 << 20)];
        assert_eq!(drawn, [490, 9, 2211]);
    }

    #[test]
    fn ranges_are_kept() {
        let mut rng = Rng::new(1, "ranges", 0);
        for _ in 0..10_000 {
            assert!(rng.below(3) < 3);
            assert!((5..=9).contains(&rng.within(5..=9)));
            assert!((3..=1000).contains(&rng.spread(3..=1000)));
            assert!([1, 2].contains(&rng.pick(&[1, 2])));
            assert_eq!(rng.weighted(&[(0, 1), (5, 2)]), 2);
        }
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.within(4..=4), 4);
    }

    #[test]
    fn chances_come_true_about_as_often() {
        let mut rng = Rng::new(2, "chances", 0);
        let chance = Chance::from_fraction(0.1).unwrap();
        let hits = (0..100_000).filter(|_| rng.happens(chance)).count();
        assert!((9_500..10_500).contains(&hits), "{hits}");
        assert!(!rng.happens(Chance::NEVER));
        assert!(rng.happens(Chance::ALWAYS));
        assert_eq!(Chance::from_fraction(1.5), None);
    }
}
