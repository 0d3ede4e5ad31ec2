// SPDX-License-Identifier: GPL-2.0

//! What a field of the input adds to the CRC's register, by where the field is.
//!
//! A CRC is linear: the register after an input is the exclusive or of that after the same input
//! with some bits cleared and of what those bits add, which depends on how many bytes follow them
//! and on nothing else. The tables here hold it for each half byte of a field.

/// The CRC's polynomial, the lowest bit standing for the highest power.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The register after a byte of zeros.
const fn forward(mut register: u32) -> u32 {
    let mut bit = 0u32;
    while bit < 8 {
        let out = register & 1;
        register >>= 1;
        if out != 0 {
            register ^= POLYNOMIAL;
        }
        bit = bit.wrapping_add(1);
    }
    register
}

/// The register before a byte of zeros: the reverse of [`forward`].
const fn backward(mut register: u32) -> u32 {
    let mut bit = 0u32;
    while bit < 8 {
        // The polynomial has the top bit, to which nothing else moves.
        let out = register >> 31;
        if out != 0 {
            register ^= POLYNOMIAL;
        }
        register = register << 1 | out;
        bit = bit.wrapping_add(1);
    }
    register
}

/// What the sixteen values of a half byte add.
struct HalfByte([u32; 16]);

impl HalfByte {
    /// For a half byte that sits at bit `shift` of a byte; the register is that after `zeros` bytes
    /// more or, where it is below 0, before so many bytes.
    const fn new(shift: u32, zeros: i32) -> Self {
        let mut table = [0; 16];
        let mut value = 0u32;
        let mut left: &mut [u32] = &mut table;
        while let Some((entry, rest)) = left.split_first_mut() {
            let mut register = value << shift;
            let mut zeros = zeros;
            while zeros > 0 {
                register = forward(register);
                zeros = zeros.wrapping_sub(1);
            }
            while zeros < 0 {
                register = backward(register);
                zeros = zeros.wrapping_add(1);
            }
            *entry = register;
            value = value.wrapping_add(1);
            left = rest;
        }
        Self(table)
    }

    /// What the lower four bits of `value` add.
    #[inline]
    fn of(&self, value: u16) -> u32 {
        self.0
            .get(usize::from(value & 0x0f))
            .copied()
            .unwrap_or_default()
    }
}

/// What a byte adds.
pub(super) struct Byte {
    low: HalfByte,
    high: HalfByte,
}

impl Byte {
    /// For a byte that goes into the register after `zeros` more bytes or, where it is below 0,
    /// went in so many bytes before.
    const fn new(zeros: i32) -> Self {
        Self {
            low: HalfByte::new(0, zeros),
            high: HalfByte::new(4, zeros),
        }
    }

    #[inline]
    pub(super) fn of(&self, value: u8) -> u32 {
        let value = u16::from(value);
        self.low.of(value) ^ self.high.of(value >> 4)
    }
}

/// What a field of two bytes, the higher first, adds.
pub(super) struct Field {
    high: Byte,
    low: Byte,
}

impl Field {
    /// For a field that `bytes_after` bytes follow.
    pub(super) const fn followed_by(bytes_after: i32) -> Self {
        Self {
            high: Byte::new(bytes_after.wrapping_add(2)),
            low: Byte::new(bytes_after.wrapping_add(1)),
        }
    }

    #[inline]
    pub(super) fn of(&self, value: u16) -> u32 {
        let [high, low] = value.to_be_bytes();
        self.high.of(high) ^ self.low.of(low)
    }
}

/// By how much the register has to differ for a byte to seem different that comes after four other
/// bytes.
pub(super) static BYTE_AFTER_FOUR: Byte = Byte::new(-4);

#[cfg(test)]
mod tests {
    use super::*;

    fn update(register: u32, bytes: &[u8]) -> u32 {
        bytes
            .iter()
            .fold(register, |r, &byte| forward(r ^ u32::from(byte)))
    }

    #[test]
    fn backward_is_the_reverse_of_forward() {
        for shift in 0..32 {
            assert_eq!(backward(forward(1 << shift)), 1 << shift);
            assert_eq!(forward(backward(1 << shift)), 1 << shift);
        }
    }

    #[test]
    fn a_field_adds_what_it_changes() {
        let field = Field::followed_by(3);
        for value in (0..=u16::MAX).step_by(251) {
            let [high, low] = value.to_be_bytes();
            let without = update(0x1234_5678, &[9, 0, 0, 7, 8, 9]);
            let with = update(0x1234_5678, &[9, high, low, 7, 8, 9]);
            assert_eq!(without ^ field.of(value), with);
        }
    }

    #[test]
    fn a_byte_that_comes_later() {
        for change in 0..=u8::MAX {
            let bare = update(0x1234_5678, &[1, 2, 3, 4, 5 ^ change, 6]);
            let register = 0x1234_5678 ^ BYTE_AFTER_FOUR.of(change);
            assert_eq!(update(register, &[1, 2, 3, 4, 5, 6]), bare);
        }
    }
}
