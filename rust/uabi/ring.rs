// SPDX-License-Identifier: GPL-2.0

//! Rings: how their memory is laid out, and what two indices mean.
//!
//! A ring is a head with both indices, and elements behind it. Each side writes one index and reads
//! the other's. An index says which slot is next; of the slots, one is always free, so that equal
//! indices mean an empty ring and nothing else. The provider takes the size of the ring from its
//! head, which is in shared memory: it is written at creation and never read back. The driver has
//! its [`Layout`], and of its own index a private [`Cursor`].

use crate::{
    abi::ring as at,
    bytes::put, //
};

/// Elements are as large as a line of the cache at least.
const MIN_ELEMENT_BYTES: u32 = 64;

/// The size and the parts of a ring's memory. Offsets are from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// A power of two.
    slots: u32,
    log2_element: u32,
    total_bytes: u32,
}

impl Layout {
    /// Where the producer keeps its index, a `u32`.
    pub const PRODUCER: usize = at::PRODUCER;

    /// Where the consumer keeps its index, a `u32`.
    pub const CONSUMER: usize = at::CONSUMER;

    /// Where the elements begin.
    pub const DATA: usize = at::DATA;

    /// Bytes that [`Layout::head`] writes, from the beginning on.
    pub const HEAD_BYTES: usize = 8;

    /// A ring for at least `entries` elements at a time, each with room for `element_bytes`; none
    /// if it had 2^32 bytes or more, which the provider cannot count.
    ///
    /// It may hold more: [`Layout::capacity`] is what the user has to be told.
    pub fn new(entries: u32, element_bytes: u32) -> Option<Self> {
        let slots = entries.checked_add(1)?.checked_next_power_of_two()?;
        let element_bytes = element_bytes
            .max(MIN_ELEMENT_BYTES)
            .checked_next_power_of_two()?;
        let data_bytes = slots.checked_mul(element_bytes)?;
        let total_bytes = data_bytes.checked_add(u32::try_from(at::BYTES).ok()?)?;
        Some(Self {
            slots,
            log2_element: element_bytes.trailing_zeros(),
            total_bytes,
        })
    }

    /// Elements that it holds at a time.
    #[inline]
    pub const fn capacity(&self) -> u32 {
        self.mask()
    }

    /// Elements that it has memory for: a power of two.
    #[inline]
    pub const fn slots(&self) -> u32 {
        self.slots
    }

    /// The bits that count of an index.
    #[inline]
    pub const fn mask(&self) -> u32 {
        self.slots.wrapping_sub(1)
    }

    /// Bytes from one element to the next: a power of two.
    #[inline]
    pub const fn element_bytes(&self) -> u32 {
        1_u32.wrapping_shl(self.log2_element)
    }

    /// Bytes of the head and all elements.
    #[inline]
    pub const fn total_bytes(&self) -> u32 {
        self.total_bytes
    }

    /// Where the element of an index is; inside of the ring for any index.
    #[inline]
    pub const fn offset_of(&self, index: u32) -> usize {
        // Less than 2^32, like the ring.
        let index = (index & self.mask()) as usize;
        index.wrapping_shl(self.log2_element).wrapping_add(at::DATA)
    }

    /// The beginning of a new ring; the rest of it is zero.
    pub fn head(&self) -> [u8; Self::HEAD_BYTES] {
        let mut head = [0; Self::HEAD_BYTES];
        put::<{ at::LOG2_ELEMENT }, 4, { Self::HEAD_BYTES }>(
            &mut head,
            self.log2_element.to_ne_bytes(),
        );
        put::<{ at::INDEX_MASK }, 4, { Self::HEAD_BYTES }>(&mut head, self.mask().to_ne_bytes());
        head
    }

    /// A cursor at the beginning.
    #[inline]
    pub const fn cursor(&self) -> Cursor {
        Cursor {
            index: 0,
            mask: self.mask(),
        }
    }
}

/// The driver's own index into a ring, next to which the other side's may be anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    index: u32,
    mask: u32,
}

impl Cursor {
    /// The index, as it is written into the ring and as [`Layout::offset_of`] takes it.
    #[inline]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Of a consumer: elements to be read, given the producer's index. Less than there are slots.
    #[inline]
    pub const fn readable(&self, producer: u32) -> u32 {
        producer.wrapping_sub(self.index) & self.mask
    }

    /// Of a producer: elements that there is room for, given the consumer's index.
    #[inline]
    pub const fn writable(&self, consumer: u32) -> u32 {
        consumer.wrapping_sub(self.index).wrapping_sub(1) & self.mask
    }

    /// Of a producer: whether there is room for an element, given the consumer's index.
    #[inline]
    pub const fn has_room(&self, consumer: u32) -> bool {
        self.writable(consumer) != 0
    }

    /// Goes on by `count` elements.
    #[inline]
    pub fn advance(&mut self, count: u32) {
        self.index = self.index.wrapping_add(count) & self.mask;
    }

    /// Goes to where the other side is: to a consumer, all that was there is as read.
    #[inline]
    pub fn catch_up(&mut self, other: u32) {
        self.index = other & self.mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        let of = |entries, bytes| {
            let layout = Layout::new(entries, bytes).unwrap();
            (layout.capacity(), layout.element_bytes())
        };
        assert_eq!(of(0, 0), (0, 64));
        assert_eq!(of(1, 48), (1, 64));
        assert_eq!(of(2, 64), (3, 64));
        assert_eq!(of(3, 65), (3, 128));
        assert_eq!(of(4, 208 + 16), (7, 256));
        assert_eq!(of(128, 40 + 32 * 16), (255, 1024));
        assert_eq!(Layout::new(3, 65).unwrap().total_bytes(), 384 + 4 * 128);
    }

    #[test]
    fn a_ring_too_large_is_none() {
        let half = Layout::new((1 << 21) - 1, 1024).unwrap();
        assert_eq!(half.total_bytes(), (1 << 31) + 384);
        assert_eq!(Layout::new(1 << 21, 1024), None);
        assert_eq!(Layout::new(u32::MAX, 64), None);
        assert_eq!(Layout::new(1 << 31, 64), None);
        assert_eq!(Layout::new(0, u32::MAX), None);
        assert_eq!(Layout::new(1, 1 << 31), None);
        assert!(Layout::new(0, 1 << 31).is_some());
    }

    #[test]
    fn the_head_tells_the_provider_the_size() {
        let head = Layout::new(5, 100).unwrap().head();
        assert_eq!(head[..4], 7_u32.to_ne_bytes());
        assert_eq!(head[4..], 7_u32.to_ne_bytes());
    }

    #[test]
    fn elements_follow_each_other_and_wrap() {
        let layout = Layout::new(3, 64).unwrap();
        let offsets: Vec<_> = (0..6).map(|index| layout.offset_of(index)).collect();
        assert_eq!(offsets, [384, 448, 512, 576, 384, 448]);
        assert_eq!(layout.offset_of(u32::MAX), 576);
        assert_eq!(layout.cursor().index(), 0);
    }

    #[test]
    fn one_slot_stays_free() {
        let mut producer = Layout::new(3, 64).unwrap().cursor();
        let consumer = producer;
        for posted in 0..3 {
            assert_eq!(producer.writable(consumer.index()), 3 - posted);
            assert!(producer.has_room(consumer.index()));
            assert_eq!(consumer.readable(producer.index()), posted);
            producer.advance(1);
        }
        assert!(!producer.has_room(consumer.index()));
        assert_eq!(consumer.readable(producer.index()), 3);
        assert!(!Layout::new(0, 64).unwrap().cursor().has_room(0));
    }

    #[test]
    fn what_a_user_writes_counts_modulo_the_ring() {
        let mut cursor = Layout::new(7, 64).unwrap().cursor();
        cursor.advance(6);
        assert_eq!(cursor.readable(0xffff_fff0 + 1), 3);
        assert_eq!(cursor.writable(u32::MAX), 0);
        cursor.catch_up(0x1234_567b);
        assert_eq!(cursor.index(), 3);
    }
}
