// SPDX-License-Identifier: GPL-2.0

//! Atomic extended transport header (AtomicETH) and that of the answer (AtomicAckETH).

use crate::types::Rkey;

/// An atomic's target and operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicEth {
    /// Virtual address of the eight bytes, a multiple of 8.
    pub address: u64,
    /// The key that gives access.
    pub rkey: Rkey,
    /// What to swap in, or to add.
    pub swap_add: u64,
    /// What to compare with; unused by fetch and add.
    pub compare: u64,
}

impl AtomicEth {
    /// Bytes on the wire.
    pub const BYTES: usize = 28;

    /// Reads a header.
    #[inline]
    pub const fn parse(raw: &[u8; Self::BYTES]) -> Self {
        let &[a0, a1, a2, a3, a4, a5, a6, a7, k0, k1, k2, k3, ref operands @ ..] = raw;
        let &[s0, s1, s2, s3, s4, s5, s6, s7, c0, c1, c2, c3, c4, c5, c6, c7] = operands;
        Self {
            address: u64::from_be_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            rkey: Rkey(u32::from_be_bytes([k0, k1, k2, k3])),
            swap_add: u64::from_be_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
            compare: u64::from_be_bytes([c0, c1, c2, c3, c4, c5, c6, c7]),
        }
    }

    /// The header as it is on the wire.
    #[inline]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let [a0, a1, a2, a3, a4, a5, a6, a7] = self.address.to_be_bytes();
        let [k0, k1, k2, k3] = self.rkey.0.to_be_bytes();
        let [s0, s1, s2, s3, s4, s5, s6, s7] = self.swap_add.to_be_bytes();
        let [c0, c1, c2, c3, c4, c5, c6, c7] = self.compare.to_be_bytes();
        [
            a0, a1, a2, a3, a4, a5, a6, a7, k0, k1, k2, k3, //
            s0, s1, s2, s3, s4, s5, s6, s7, c0, c1, c2, c3, c4, c5, c6, c7,
        ]
    }
}

/// Bytes of an AtomicAckETH: the value that the memory held before, most significant byte first.
pub const ATOMIC_ACK_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_header() {
        let mut raw = [0; 28];
        raw.iter_mut().zip(0..).for_each(|(byte, i)| *byte = i);
        let atomic = AtomicEth::parse(&raw);
        assert_eq!(atomic.address, 0x0001_0203_0405_0607);
        assert_eq!(atomic.rkey, Rkey(0x0809_0a0b));
        assert_eq!(atomic.swap_add, 0x0c0d_0e0f_1011_1213);
        assert_eq!(atomic.compare, 0x1415_1617_1819_1a1b);
        assert_eq!(atomic.to_bytes(), raw);
    }
}
