// SPDX-License-Identifier: GPL-2.0

//! Ranges of addresses, which never wrap.

/// Consecutive addresses; the last one is at most 2^64 - 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Range {
    start: u64,
    length: u64,
}

impl Range {
    /// No address.
    pub const EMPTY: Self = Self {
        start: 0,
        length: 0,
    };

    /// `length` addresses from `start` on; none if they would wrap.
    #[inline]
    pub const fn new(start: u64, length: u64) -> Option<Self> {
        // Up to the last address; one fewer than there are.
        if length > 0 && length.wrapping_sub(1) > u64::MAX.wrapping_sub(start) {
            return None;
        }
        Some(Self { start, length })
    }

    /// The first address.
    #[inline]
    pub const fn start(self) -> u64 {
        self.start
    }

    /// How many there are.
    #[inline]
    pub const fn length(self) -> u64 {
        self.length
    }

    /// Whether `length` bytes that begin `offset` bytes after the start are all inside.
    ///
    /// No bytes are also inside at the end.
    #[inline]
    pub const fn holds(self, offset: u64, length: u64) -> bool {
        offset <= self.length && length <= self.length.wrapping_sub(offset)
    }

    /// How far after the start an address is, if it and the rest of `length` bytes are inside.
    #[inline]
    pub const fn offset_of(self, address: u64, length: u64) -> Option<u64> {
        if address < self.start {
            return None;
        }
        let offset = address.wrapping_sub(self.start);
        if self.holds(offset, length) {
            Some(offset)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_at_the_last_address() {
        assert!(Range::new(0, u64::MAX).is_some());
        assert!(Range::new(1, u64::MAX).is_some());
        assert!(Range::new(2, u64::MAX).is_none());
        assert!(Range::new(u64::MAX, 0).is_some());
        assert!(Range::new(u64::MAX, 1).is_some());
        assert!(Range::new(u64::MAX, 2).is_none());
        assert!(Range::new(u64::MAX - 0xfff, 0x1000).is_some());
        assert!(Range::new(u64::MAX - 0xfff, 0x1001).is_none());
    }

    #[test]
    fn borders() {
        let range = Range::new(0x1000, 0x100).unwrap();
        let rows: [(u64, u64, Option<u64>); 14] = [
            (0x0fff, 1, None),
            (0x0fff, 0x101, None),
            (0x1000, 0, Some(0)),
            (0x1000, 1, Some(0)),
            (0x1000, 0x100, Some(0)),
            (0x1000, 0x101, None),
            (0x1001, 0x100, None),
            (0x10ff, 1, Some(0xff)),
            (0x10ff, 2, None),
            (0x1100, 0, Some(0x100)),
            (0x1100, 1, None),
            (0x1101, 0, None),
            (0x1080, u64::MAX, None),
            // Wraps to just before the start.
            (0x1080, 0_u64.wrapping_sub(0x81), None),
        ];
        for (address, length, offset) in rows {
            assert_eq!(range.offset_of(address, length), offset, "{address:#x}");
        }
    }

    #[test]
    fn the_end_of_the_address_space() {
        let range = Range::new(0_u64.wrapping_sub(0x10), 0x10).unwrap();
        assert_eq!(range.offset_of(u64::MAX, 1), Some(0xf));
        assert_eq!(range.offset_of(u64::MAX, 2), None);
        assert_eq!(range.offset_of(u64::MAX - 0xf, 0x10), Some(0));
        assert_eq!(range.offset_of(u64::MAX - 0xf, 0x11), None);
        assert_eq!(range.offset_of(0, 0), None);

        let all = Range::new(0, u64::MAX).unwrap();
        assert_eq!(all.offset_of(0, u64::MAX), Some(0));
        assert_eq!(all.offset_of(1, u64::MAX), None);
        assert_eq!(all.offset_of(u64::MAX - 1, 1), Some(u64::MAX - 1));
        assert_eq!(all.offset_of(u64::MAX, 0), Some(u64::MAX));
        assert_eq!(all.offset_of(u64::MAX, 1), None);
        assert_eq!(Range::EMPTY.offset_of(0, 0), Some(0));
        assert_eq!(Range::EMPTY.offset_of(0, 1), None);
    }
}
