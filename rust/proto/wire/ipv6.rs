// SPDX-License-Identifier: GPL-2.0

//! The IPv6 header (RFC 8200), as far as RoCEv2 needs it: without extension headers.

use super::{
    flow::FlowLabel,
    frame::Unframed, //
};

/// An IPv6 header that a UDP header follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ipv6Header {
    /// Traffic class: the differentiated services code point and the two congestion bits.
    pub traffic_class: u8,
    /// Flow label.
    pub flow_label: FlowLabel,
    /// Hop limit.
    pub hop_limit: u8,
    /// Source address.
    pub source: [u8; 16],
    /// Destination address.
    pub destination: [u8; 16],
}

impl Ipv6Header {
    /// Bytes on the wire.
    pub const BYTES: usize = 40;

    const VERSION: u8 = 6;
    const UDP: u8 = 17;
    const FRAGMENT: u8 = 44;

    /// Reads a header; also the length it gives, in bytes without itself.
    ///
    /// # Errors
    ///
    /// What makes it no IPv6 header before a UDP header.
    pub fn parse(raw: &[u8; Self::BYTES]) -> Result<(Self, u16), Unframed> {
        // The two addresses fill what the first eight bytes leave.
        let (&[a0, a1, a2, a3, l1, l0, next_header, hop_limit], addresses) =
            raw.split_first_chunk().ok_or(Unframed::Truncated)?;
        let (&source, rest) = addresses.split_first_chunk().ok_or(Unframed::Truncated)?;
        let &destination = rest.first_chunk().ok_or(Unframed::Truncated)?;

        let start = u32::from_be_bytes([a0, a1, a2, a3]);
        let version = a0 >> 4;
        if version != Self::VERSION {
            return Err(Unframed::Version(version));
        }
        match next_header {
            Self::UDP => (),
            Self::FRAGMENT => return Err(Unframed::Fragment),
            other => return Err(Unframed::Protocol(other)),
        }
        let header = Self {
            traffic_class: (start >> 20 & 0xff) as u8,
            flow_label: FlowLabel::from_low_bits(start),
            hop_limit,
            source,
            destination,
        };
        Ok((header, u16::from_be_bytes([l1, l0])))
    }

    /// The header as it is on the wire, with a length in bytes that does not count itself.
    pub fn to_bytes(self, length: u16) -> [u8; Self::BYTES] {
        let start = u32::from(Self::VERSION) << 28
            | u32::from(self.traffic_class) << 20
            | self.flow_label.get();
        let fields = start
            .to_be_bytes()
            .into_iter()
            .chain(length.to_be_bytes())
            .chain([Self::UDP, self.hop_limit])
            .chain(self.source)
            .chain(self.destination);
        let mut raw = [0; Self::BYTES];
        for (byte, field) in raw.iter_mut().zip(fields) {
            *byte = field;
        }
        raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw() -> [u8; 40] {
        let mut raw = [0; 40];
        raw[..8].copy_from_slice(&[0x62, 0xa3, 0x45, 0x67, 0, 24, 17, 63]);
        raw[8] = 0xfe;
        raw[23] = 1;
        raw[24] = 0xff;
        raw[39] = 2;
        raw
    }

    #[test]
    fn fields_of_a_header() {
        let (header, length) = Ipv6Header::parse(&raw()).unwrap();
        assert_eq!(header.traffic_class, 0x2a);
        assert_eq!(header.flow_label.get(), 0x3_4567);
        assert_eq!(header.hop_limit, 63);
        assert_eq!((header.source[0], header.source[15]), (0xfe, 1));
        assert_eq!((header.destination[0], header.destination[15]), (0xff, 2));
        assert_eq!(length, 24);
        assert_eq!(header.to_bytes(length), raw());
    }

    #[test]
    fn what_is_not_for_us() {
        for (byte, value, error) in [
            (0, 0x45, Unframed::Version(4)),
            (6, 44, Unframed::Fragment),
            (6, 0, Unframed::Protocol(0)),
        ] {
            let mut raw = raw();
            raw[byte] = value;
            assert_eq!(Ipv6Header::parse(&raw), Err(error));
        }
    }
}
