// SPDX-License-Identifier: GPL-2.0

//! Keys: an index that is the driver's and a variant that is the owner's.

use crate::types::Rkey;

/// Bits of the variant.
const VARIANT_BITS: u32 = 8;

/// Where a region or window is kept: 1 to 0xffffff, for both from one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyIndex(u32);

impl KeyIndex {
    /// The smallest one.
    pub const MIN: Self = Self(1);

    /// The largest one.
    pub const MAX: Self = Self(u32::MAX >> VARIANT_BITS);

    /// The index of this number; none for 0 and for what 24 bits do not hold.
    #[inline]
    pub const fn new(number: u32) -> Option<Self> {
        if number < Self::MIN.0 || number > Self::MAX.0 {
            None
        } else {
            Some(Self(number))
        }
    }

    /// The number, 1 to 0xffffff.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A key of a region or window, as its owner (L_Key) or a peer (R_Key) names it.
///
/// A region has the same number for both. The upper 24 bits say where it is kept; the lower 8 bits,
/// the variant, change with each registration or binding, so that an old key no longer fits. 0 is
/// no key: index 0 is not in use, hence no step of the variant leads there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u32);

impl Key {
    /// A key from its parts.
    #[inline]
    pub const fn new(index: KeyIndex, variant: u8) -> Self {
        Self(index.0.wrapping_shl(VARIANT_BITS) | variant as u32)
    }

    /// The key that a number is; none where the index is 0.
    #[inline]
    pub const fn from_raw(raw: u32) -> Option<Self> {
        if raw >> VARIANT_BITS == 0 {
            None
        } else {
            Some(Self(raw))
        }
    }

    /// The key that a peer names.
    #[inline]
    pub const fn from_rkey(rkey: Rkey) -> Option<Self> {
        Self::from_raw(rkey.0)
    }

    /// The number.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The key for a peer.
    #[inline]
    pub const fn rkey(self) -> Rkey {
        Rkey(self.0)
    }

    /// Where it is kept.
    #[inline]
    pub const fn index(self) -> KeyIndex {
        KeyIndex(self.0 >> VARIANT_BITS)
    }

    /// The owner's part.
    #[inline]
    pub const fn variant(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    /// The same index with another variant.
    #[inline]
    pub const fn with_variant(self, variant: u8) -> Self {
        Self::new(self.index(), variant)
    }

    /// The same index with the next variant, 0 after 255 (`ib_inc_rkey`).
    #[inline]
    pub const fn next(self) -> Self {
        self.with_variant(self.variant().wrapping_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_24_bits_and_not_0() {
        assert_eq!(KeyIndex::new(0), None);
        assert_eq!(KeyIndex::new(1), Some(KeyIndex::MIN));
        assert_eq!(KeyIndex::new(0x00ff_ffff), Some(KeyIndex::MAX));
        assert_eq!(KeyIndex::new(0x0100_0000), None);
        assert_eq!(KeyIndex::new(u32::MAX), None);
    }

    #[test]
    fn keys_are_an_index_and_a_variant() {
        let index = KeyIndex::new(0x0012_3456).unwrap();
        let key = Key::new(index, 0x78);
        assert_eq!(key.get(), 0x1234_5678);
        assert_eq!((key.index(), key.variant()), (index, 0x78));
        assert_eq!(Key::from_raw(0x1234_5678), Some(key));
        assert_eq!(Key::from_rkey(key.rkey()), Some(key));
        assert_eq!(key.with_variant(0x9a).get(), 0x1234_569a);
        assert_eq!(Key::new(KeyIndex::MAX, 0xff).get(), u32::MAX);
    }

    #[test]
    fn index_0_is_no_key() {
        for raw in [0, 1, 0xff] {
            assert_eq!(Key::from_raw(raw), None);
        }
        assert_eq!(Key::from_raw(0x100).map(Key::get), Some(0x100));
    }

    #[test]
    fn the_next_variant_leaves_the_index_alone() {
        let key = Key::new(KeyIndex::MIN, 0xfe);
        assert_eq!(key.next().get(), 0x1ff);
        assert_eq!(key.next().next().get(), 0x100);
        assert_eq!(Key::new(KeyIndex::MAX, 0xff).next().get(), 0xffff_ff00);
    }
}
