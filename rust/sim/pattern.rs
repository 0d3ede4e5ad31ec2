// SPDX-License-Identifier: GPL-2.0

//! Message contents: bytes that a key and an offset determine.
//!
//! Each message has a key of its own. The oracle can say what any byte of any message must be
//! without keeping the message, and a byte of the wrong message or offset is a wrong byte.

/// Bytes that one word of the pattern makes.
const WORD: usize = 8;

/// A step of the golden ratio's fraction, to tell neighbouring words apart.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The contents of one message or memory region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern(pub u64);

impl Pattern {
    fn word(self, number: u64) -> [u8; WORD] {
        let mut mixed = self.0.wrapping_add(number.wrapping_mul(STEP));
        mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed ^ mixed >> 32).to_le_bytes()
    }

    /// Puts the bytes from `offset` on into `out`.
    pub fn fill(self, offset: u64, out: &mut [u8]) {
        let mut number = offset / WORD as u64;
        let skip = (offset % WORD as u64) as usize;
        let mut out = out;
        if skip != 0 {
            let head = out.len().min(WORD - skip);
            let (first, rest) = out.split_at_mut(head);
            first.copy_from_slice(&self.word(number)[skip..skip + head]);
            out = rest;
            number += 1;
        }
        for chunk in out.chunks_mut(WORD) {
            let word = self.word(number);
            chunk.copy_from_slice(&word[..chunk.len()]);
            number += 1;
        }
    }

    /// The bytes from `offset` on, so many.
    pub fn bytes(self, offset: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.fill(offset, &mut bytes);
        bytes
    }

    /// Where `data` is not what lies from `offset` on; nothing if it is.
    pub fn mismatch(self, offset: u64, data: &[u8]) -> Option<usize> {
        let mut expected = [0; 512];
        let mut at = 0;
        for chunk in data.chunks(expected.len()) {
            let expected = &mut expected[..chunk.len()];
            self.fill(offset + at as u64, expected);
            if expected != chunk {
                return chunk
                    .iter()
                    .zip(expected)
                    .position(|(got, want)| got != want)
                    .map(|index| at + index);
            }
            at += chunk.len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_a_piece_of_the_whole() {
        let pattern = Pattern(42);
        let whole = pattern.bytes(0, 1500);
        for (start, count) in [(0, 0), (0, 1), (3, 4), (3, 17), (7, 9), (8, 8), (511, 980)] {
            let piece = pattern.bytes(start as u64, count);
            assert_eq!(piece, whole[start..start + count]);
            assert_eq!(pattern.mismatch(start as u64, &piece), None);
        }
    }

    #[test]
    fn a_wrong_byte_key_or_offset_shows() {
        let pattern = Pattern(42);
        let mut bytes = pattern.bytes(5, 1200);
        assert!(pattern.mismatch(6, &bytes).is_some());
        assert!(Pattern(43).mismatch(5, &bytes).is_some());
        bytes[1000] ^= 1;
        assert_eq!(pattern.mismatch(5, &bytes), Some(1000));
    }
}
