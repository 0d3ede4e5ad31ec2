// SPDX-License-Identifier: GPL-2.0

//! RDMA extended transport header (RETH): which remote memory.

use crate::types::Rkey;

/// Remote memory of a WRITE, READ, FLUSH or ATOMIC WRITE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reth {
    /// Virtual address of its first byte.
    pub address: u64,
    /// The key that gives access.
    pub rkey: Rkey,
    /// Bytes of the whole message.
    pub length: u32,
}

impl Reth {
    /// Bytes on the wire.
    pub const BYTES: usize = 16;

    /// Reads a header.
    #[inline]
    pub const fn parse(raw: &[u8; Self::BYTES]) -> Self {
        let &[a0, a1, a2, a3, a4, a5, a6, a7, k0, k1, k2, k3, l0, l1, l2, l3] = raw;
        Self {
            address: u64::from_be_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            rkey: Rkey(u32::from_be_bytes([k0, k1, k2, k3])),
            length: u32::from_be_bytes([l0, l1, l2, l3]),
        }
    }

    /// The header as it is on the wire.
    #[inline]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let [a0, a1, a2, a3, a4, a5, a6, a7] = self.address.to_be_bytes();
        let [k0, k1, k2, k3] = self.rkey.0.to_be_bytes();
        let [l0, l1, l2, l3] = self.length.to_be_bytes();
        [
            a0, a1, a2, a3, a4, a5, a6, a7, k0, k1, k2, k3, l0, l1, l2, l3,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_header() {
        let raw = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        let reth = Reth::parse(&raw);
        assert_eq!(reth.address, 0x0001_0203_0405_0607);
        assert_eq!(reth.rkey, Rkey(0x0809_0a0b));
        assert_eq!(reth.length, 0x0c0d_0e0f);
        assert_eq!(reth.to_bytes(), raw);
    }
}
