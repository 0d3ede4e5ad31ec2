// SPDX-License-Identifier: GPL-2.0

//! The UDP header (RFC 768).

/// A UDP header without the length, which follows from what it is put before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpHeader {
    /// Source port; receivers do not look at it.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Checksum; 0 for none, as usual over IPv6 as well.
    pub checksum: u16,
}

impl UdpHeader {
    /// Bytes on the wire.
    pub const BYTES: usize = 8;

    /// Reads a header; also the length it gives, in bytes with itself.
    #[inline]
    pub const fn parse(raw: &[u8; Self::BYTES]) -> (Self, u16) {
        let &[s1, s0, d1, d0, l1, l0, c1, c0] = raw;
        let header = Self {
            source_port: u16::from_be_bytes([s1, s0]),
            destination_port: u16::from_be_bytes([d1, d0]),
            checksum: u16::from_be_bytes([c1, c0]),
        };
        (header, u16::from_be_bytes([l1, l0]))
    }

    /// The header as it is on the wire, with a length in bytes that counts itself.
    #[inline]
    pub const fn to_bytes(self, length: u16) -> [u8; Self::BYTES] {
        let [s1, s0] = self.source_port.to_be_bytes();
        let [d1, d0] = self.destination_port.to_be_bytes();
        let [l1, l0] = length.to_be_bytes();
        let [c1, c0] = self.checksum.to_be_bytes();
        [s1, s0, d1, d0, l1, l0, c1, c0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_header() {
        let raw = [0xc1, 0x23, 0x12, 0xb7, 0, 24, 0xab, 0xcd];
        let (header, length) = UdpHeader::parse(&raw);
        assert_eq!(header.source_port, 0xc123);
        assert_eq!(header.destination_port, 4791);
        assert_eq!(header.checksum, 0xabcd);
        assert_eq!(length, 24);
        assert_eq!(header.to_bytes(length), raw);
    }
}
