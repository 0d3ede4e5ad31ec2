// SPDX-License-Identifier: GPL-2.0

//! The IPv4 header (RFC 791), as far as RoCEv2 needs it: without options, never a fragment.

use super::frame::Unframed;

/// An IPv4 header without options, of a whole UDP datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ipv4Header {
    /// Type of service: the differentiated services code point and the two congestion bits.
    pub tos: u8,
    /// Identification, which the ICRC covers.
    pub id: u16,
    /// Routers may not fragment it.
    pub dont_fragment: bool,
    /// Time to live.
    pub ttl: u8,
    /// Source address.
    pub source: [u8; 4],
    /// Destination address.
    pub destination: [u8; 4],
}

impl Ipv4Header {
    /// Bytes on the wire.
    pub const BYTES: usize = 20;

    const VERSION_AND_WORDS: u8 = 0x45;
    const DONT_FRAGMENT: u16 = 1 << 14;
    /// More fragments, and where in the datagram this one is.
    const FRAGMENT: u16 = 0x3fff;
    const UDP: u8 = 17;

    /// Reads a header; also the length it gives, in bytes with itself.
    ///
    /// The header checksum is not looked at: who receives from the network has had it checked.
    ///
    /// # Errors
    ///
    /// What makes it no IPv4 header of a whole UDP datagram.
    pub const fn parse(raw: &[u8; Self::BYTES]) -> Result<(Self, u16), Unframed> {
        let &[start, tos, l1, l0, i1, i0, f1, f0, ttl, protocol, _, _, addresses @ ..] = raw;
        let [s3, s2, s1, s0, d3, d2, d1, d0] = addresses;
        if start >> 4 != 4 {
            return Err(Unframed::Version(start >> 4));
        }
        if start != Self::VERSION_AND_WORDS {
            return Err(Unframed::Options);
        }
        if protocol != Self::UDP {
            return Err(Unframed::Protocol(protocol));
        }
        let fragment = u16::from_be_bytes([f1, f0]);
        if fragment & Self::FRAGMENT != 0 {
            return Err(Unframed::Fragment);
        }
        let header = Self {
            tos,
            id: u16::from_be_bytes([i1, i0]),
            dont_fragment: fragment & Self::DONT_FRAGMENT != 0,
            ttl,
            source: [s3, s2, s1, s0],
            destination: [d3, d2, d1, d0],
        };
        Ok((header, u16::from_be_bytes([l1, l0])))
    }

    /// The header as it is on the wire, checksum included, with a length in bytes that counts
    /// itself.
    pub const fn to_bytes(self, length: u16) -> [u8; Self::BYTES] {
        let fragment = if self.dont_fragment {
            Self::DONT_FRAGMENT
        } else {
            0
        };
        let start = u16::from_be_bytes([Self::VERSION_AND_WORDS, self.tos]);
        let ttl_protocol = u16::from_be_bytes([self.ttl, Self::UDP]);
        let [s3, s2, s1, s0] = self.source;
        let [d3, d2, d1, d0] = self.destination;

        // The sum of nine 16-bit words: no overflow.
        let mut sum = start as u32;
        sum = sum.wrapping_add(length as u32);
        sum = sum.wrapping_add(self.id as u32);
        sum = sum.wrapping_add(fragment as u32);
        sum = sum.wrapping_add(ttl_protocol as u32);
        sum = sum.wrapping_add(u16::from_be_bytes([s3, s2]) as u32);
        sum = sum.wrapping_add(u16::from_be_bytes([s1, s0]) as u32);
        sum = sum.wrapping_add(u16::from_be_bytes([d3, d2]) as u32);
        sum = sum.wrapping_add(u16::from_be_bytes([d1, d0]) as u32);
        // Twice: the first may carry again.
        sum = (sum & 0xffff).wrapping_add(sum >> 16);
        sum = (sum & 0xffff).wrapping_add(sum >> 16);

        let [l1, l0] = length.to_be_bytes();
        let [i1, i0] = self.id.to_be_bytes();
        let [f1, f0] = fragment.to_be_bytes();
        let [_, _, c1, c0] = (!sum).to_be_bytes();
        [
            Self::VERSION_AND_WORDS,
            self.tos,
            l1,
            l0,
            i1,
            i0,
            f1,
            f0,
            self.ttl,
            Self::UDP,
            c1,
            c0,
            s3,
            s2,
            s1,
            s0,
            d3,
            d2,
            d1,
            d0,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: [u8; 20] = [
        0x45, 0x02, 0x00, 0x2c, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x3c, 0x54, //
        192, 0, 2, 1, 198, 51, 100, 2,
    ];

    #[test]
    fn fields_of_a_header() {
        let (header, length) = Ipv4Header::parse(&RAW).unwrap();
        assert_eq!(header.tos, 2);
        assert_eq!(header.id, 0x1234);
        assert!(header.dont_fragment);
        assert_eq!(header.ttl, 64);
        assert_eq!(header.source, [192, 0, 2, 1]);
        assert_eq!(header.destination, [198, 51, 100, 2]);
        assert_eq!(length, 44);
        assert_eq!(header.to_bytes(length), RAW);
    }

    #[test]
    fn what_is_not_for_us() {
        for (byte, value, error) in [
            (0, 0x65, Unframed::Version(6)),
            (0, 0x46, Unframed::Options),
            (0, 0x44, Unframed::Options),
            (9, 6, Unframed::Protocol(6)),
            (6, 0x20, Unframed::Fragment),
            (7, 0x01, Unframed::Fragment),
        ] {
            let mut raw = RAW;
            raw[byte] = value;
            assert_eq!(Ipv4Header::parse(&raw), Err(error));
        }
    }
}
