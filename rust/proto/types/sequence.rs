// SPDX-License-Identifier: GPL-2.0

//! Sequence numbers: 24 bits, circular, hence without an order of their own.

use super::LOW_24;

/// Packet sequence number (PSN).
///
/// Two numbers compare by the sign of their distance ([`Psn::since`]); that is right as long as
/// fewer than 2^23 packets are under way, which the requester sees to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Psn(u32);

impl Psn {
    /// How many numbers lie on either side of one: 2^23.
    pub const HALF: u32 = 1 << 23;

    /// The number in the low 24 bits of `raw`.
    #[inline]
    pub const fn from_low_bits(raw: u32) -> Self {
        Self(raw & LOW_24)
    }

    /// The number, 0 to 0xffffff.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number `count` packets later.
    #[inline]
    pub const fn plus(self, count: u32) -> Self {
        Self::from_low_bits(self.0.wrapping_add(count))
    }

    /// The number `count` packets earlier.
    #[inline]
    pub const fn minus(self, count: u32) -> Self {
        Self::from_low_bits(self.0.wrapping_sub(count))
    }

    /// The number after this one.
    #[inline]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// Packets from `earlier` to this one: -2^23 to 2^23 - 1.
    #[inline]
    pub const fn since(self, earlier: Self) -> i32 {
        // The difference's sign bit moves to the top of the word and back.
        (self.0.wrapping_sub(earlier.0) << 8) as i32 >> 8
    }

    /// Whether this number comes before `other`.
    #[inline]
    pub const fn is_before(self, other: Self) -> bool {
        self.since(other) < 0
    }

    /// Whether this number comes after `other`.
    #[inline]
    pub const fn is_after(self, other: Self) -> bool {
        self.since(other) > 0
    }

    /// Packets from `earlier` to this one, which does not come before it; 0 if it does.
    #[inline]
    pub const fn count_since(self, earlier: Self) -> u32 {
        let distance = self.since(earlier);
        if distance < 0 {
            0
        } else {
            distance as u32
        }
    }
}

/// Message sequence number (MSN): the responder's count of finished messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Msn(u32);

impl Msn {
    /// The number in the low 24 bits of `raw`.
    #[inline]
    pub const fn from_low_bits(raw: u32) -> Self {
        Self(raw & LOW_24)
    }

    /// The number, 0 to 0xffffff.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number after one more message.
    #[inline]
    pub const fn next(self) -> Self {
        Self::from_low_bits(self.0.wrapping_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn psn(raw: u32) -> Psn {
        Psn::from_low_bits(raw)
    }

    #[test]
    fn numbers_keep_24_bits() {
        assert_eq!(psn(0xab12_3456).get(), 0x0012_3456);
        assert_eq!(psn(LOW_24).next(), psn(0));
        assert_eq!(psn(0).minus(1), psn(LOW_24));
        assert_eq!(Msn::from_low_bits(LOW_24).next(), Msn::default());
    }

    #[test]
    fn distance_has_a_sign() {
        for start in [0, 1, 0x7f_ffff, 0x80_0000, LOW_24] {
            let start = psn(start);
            assert_eq!(start.since(start), 0);
            for count in [1, 2, 0x1234, 0x7f_fffe, 0x7f_ffff] {
                let later = start.plus(count);
                assert_eq!(later.since(start), count as i32);
                assert_eq!(start.since(later), -(count as i32));
                assert!(start.is_before(later) && later.is_after(start));
                assert_eq!(later.count_since(start), count);
                assert_eq!(start.count_since(later), 0);
                assert_eq!(later.minus(count), start);
            }
            assert_eq!(start.plus(Psn::HALF).since(start), -(1 << 23));
        }
    }
}
