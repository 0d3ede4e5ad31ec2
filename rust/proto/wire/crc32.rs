// SPDX-License-Identifier: GPL-2.0

//! Ethernet's CRC-32 by tables, for hosts.
//!
//! The slow fallback, some bytes a nanosecond at best: a processor's carry-less multiplication is
//! many times faster. The module does not have it; there, the kernel's routine is used.

use super::icrc::Crc32;

/// The CRC's polynomial, the lowest bit standing for the highest power.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// What each byte adds to the register with none to seven bytes after it.
static TABLES: [[u32; 256]; 8] = [
    table(0),
    table(1),
    table(2),
    table(3),
    table(4),
    table(5),
    table(6),
    table(7),
];

const fn table(bytes_after: u32) -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0u32;
    let mut left: &mut [u32] = &mut table;
    while let Some((entry, rest)) = left.split_first_mut() {
        let mut register = byte;
        let mut bits = bytes_after.wrapping_add(1).wrapping_mul(8);
        while bits > 0 {
            let out = register & 1;
            register >>= 1;
            if out != 0 {
                register ^= POLYNOMIAL;
            }
            bits = bits.wrapping_sub(1);
        }
        *entry = register;
        byte = byte.wrapping_add(1);
        left = rest;
    }
    table
}

#[inline]
fn entry(table: &[u32; 256], byte: u8) -> u32 {
    table.get(usize::from(byte)).copied().unwrap_or_default()
}

/// Eight bytes a step, a table each.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoftCrc32;

impl Crc32 for SoftCrc32 {
    fn update(mut register: u32, mut bytes: &[u8]) -> u32 {
        let [t0, t1, t2, t3, t4, t5, t6, t7] = &TABLES;
        while let Some((&[b0, b1, b2, b3, b4, b5, b6, b7], rest)) = bytes.split_first_chunk() {
            let [r0, r1, r2, r3] = (register ^ u32::from_le_bytes([b0, b1, b2, b3])).to_le_bytes();
            register = entry(t7, r0)
                ^ entry(t6, r1)
                ^ entry(t5, r2)
                ^ entry(t4, r3)
                ^ entry(t3, b4)
                ^ entry(t2, b5)
                ^ entry(t1, b6)
                ^ entry(t0, b7);
            bytes = rest;
        }
        for &byte in bytes {
            let [low, ..] = register.to_le_bytes();
            register = register >> 8 ^ entry(t0, low ^ byte);
        }
        register
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_crc() {
        assert_eq!(!SoftCrc32::update(!0, b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn pieces_of_any_length() {
        let mut bytes = [0u8; 61];
        for (byte, value) in bytes.iter_mut().zip(0u8..) {
            *byte = value.wrapping_mul(37) ^ 0x5a;
        }
        let whole = SoftCrc32::update(!0, &bytes);
        for at in 0..bytes.len() {
            let (one, other) = bytes.split_at(at);
            let register = SoftCrc32::update(!0, one);
            assert_eq!(SoftCrc32::update(register, other), whole);
        }
    }
}
