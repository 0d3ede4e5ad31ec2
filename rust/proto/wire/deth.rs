// SPDX-License-Identifier: GPL-2.0

//! Datagram extended transport header (DETH).

use crate::types::{
    Qkey,
    Qpn, //
};

/// What a datagram says of its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deth {
    /// Must be that of the receiving queue pair.
    pub qkey: Qkey,
    /// The sending queue pair.
    pub source_qp: Qpn,
}

impl Deth {
    /// Bytes on the wire.
    pub const BYTES: usize = 8;

    /// Reads a header.
    #[inline]
    pub const fn parse(raw: &[u8; Self::BYTES]) -> Self {
        let &[k0, k1, k2, k3, reserved, q2, q1, q0] = raw;
        Self {
            qkey: Qkey(u32::from_be_bytes([k0, k1, k2, k3])),
            source_qp: Qpn::from_low_bits(u32::from_be_bytes([reserved, q2, q1, q0])),
        }
    }

    /// The header as it is on the wire.
    #[inline]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let [k0, k1, k2, k3] = self.qkey.0.to_be_bytes();
        let [reserved, q2, q1, q0] = self.source_qp.get().to_be_bytes();
        [k0, k1, k2, k3, reserved, q2, q1, q0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_header() {
        let deth = Deth::parse(&[0x80, 1, 0, 2, 0xff, 3, 4, 5]);
        assert_eq!(deth.qkey, Qkey(0x8001_0002));
        assert_eq!(deth.source_qp, Qpn::from_low_bits(0x03_0405));
        assert_eq!(deth.to_bytes(), [0x80, 1, 0, 2, 0, 3, 4, 5]);
    }
}
