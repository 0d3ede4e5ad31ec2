// SPDX-License-Identifier: GPL-2.0

//! Choices read from a fuzzer's bytes.
//!
//! A target that needs more than bytes (which call comes next, with which numbers) makes its
//! choices with this. Where the bytes end, every choice is its first one and every number 0, so
//! that each input is valid and its beginning means the same with any end. What bytes mean must not
//! change: it would make a corpus worthless, which is why this is no library's.

/// The bytes that are not used up.
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// Reads from `data`.
    pub fn new(data: &'a [u8]) -> Self {
        Self { rest: data }
    }

    /// Whether all bytes are used up.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `N` bytes, zeros after the end.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let bytes = self.bytes(N);
        array[..bytes.len()].copy_from_slice(bytes);
        array
    }

    /// A byte.
    pub fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.array())
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// A number of 32 bits.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// A number of 64 bits.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// A truth.
    pub fn bool(&mut self) -> bool {
        self.u8() & 1 != 0
    }

    /// A number less than `end`, which is not 0. As few bytes are used as `end` needs.
    pub fn below(&mut self, end: u32) -> u32 {
        let number = match end {
            0..=0x100 => u32::from(self.u8()),
            0x101..=0x1_0000 => u32::from(self.u16()),
            _ => self.u32(),
        };
        number % end
    }

    /// One of several things, of which there is at least one.
    pub fn choose<'b, T>(&mut self, from: &'b [T]) -> &'b T {
        let end = u32::try_from(from.len()).expect("a choice among a few");
        &from[self.below(end) as usize]
    }

    /// The next bytes, at most `most` and fewer only at the end.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(most.min(self.rest.len()));
        self.rest = rest;
        bytes
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_used_in_order() {
        let mut input = Input::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(input.u16(), 0x0201);
        assert_eq!(input.below(256), 3);
        assert_eq!(input.below(0x1_0000), 0x0504);
        assert_eq!(*input.choose(&[10, 20, 30, 40]), 30);
        assert!(input.bool());
        assert_eq!(input.rest(), [8, 9]);
        assert!(input.is_empty());
    }

    #[test]
    fn zeros_follow_the_end() {
        let mut input = Input::new(&[0xff]);
        assert_eq!(input.u32(), 0xff);
        assert_eq!((input.u64(), input.below(7), input.bool()), (0, 0, false));
        assert_eq!(*input.choose(&["first", "second"]), "first");
        assert_eq!(input.bytes(3), []);
    }
}
