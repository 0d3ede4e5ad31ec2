// SPDX-License-Identifier: GPL-2.0

//! The IP and UDP headers around a packet (InfiniBand Architecture, annex A17, clause 17.9).
//!
//! For those who have no IP stack between them and the network, such as tools that read captures.

use super::{
    ipv4::Ipv4Header,
    ipv6::Ipv6Header,
    roce::UDP_PORT,
    udp::UdpHeader, //
};

/// Why an IP packet holds no RoCEv2 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unframed {
    /// It ends before its headers, or before the length they give.
    Truncated,
    /// An IP version other than 4 and 6.
    Version(u8),
    /// IPv4 options.
    Options,
    /// A fragment.
    Fragment,
    /// Something else than UDP; of IPv6, perhaps an extension header.
    Protocol(u8),
    /// Another UDP port than RoCEv2's.
    Port(u16),
    /// The lengths in the IP and UDP headers contradict each other.
    Lengths,
}

/// The network header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// IPv4.
    V4(Ipv4Header),
    /// IPv6.
    V6(Ipv6Header),
}

impl Network {
    /// Bytes on the wire.
    #[inline]
    pub const fn bytes(&self) -> usize {
        match self {
            Self::V4(_) => Ipv4Header::BYTES,
            Self::V6(_) => Ipv6Header::BYTES,
        }
    }
}

/// The headers around a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The network header.
    pub network: Network,
    /// The UDP header.
    pub udp: UdpHeader,
}

impl Frame {
    /// Reads the headers of a packet to [`UDP_PORT`] from an IP header on; also gives the UDP
    /// payload. What follows the IP packet, as padding to an Ethernet frame's shortest length does,
    /// is cut off.
    ///
    /// The checksums of IPv4 and UDP are not looked at.
    ///
    /// # Errors
    ///
    /// What makes it no RoCEv2 packet.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), Unframed> {
        let (network, datagram) = match bytes.first().ok_or(Unframed::Truncated)? >> 4 {
            4 => {
                let (raw, rest) = bytes.split_first_chunk().ok_or(Unframed::Truncated)?;
                let (header, length) = Ipv4Header::parse(raw)?;
                let length = usize::from(length)
                    .checked_sub(Ipv4Header::BYTES)
                    .ok_or(Unframed::Lengths)?;
                (
                    Network::V4(header),
                    rest.get(..length).ok_or(Unframed::Truncated)?,
                )
            }
            6 => {
                let (raw, rest) = bytes.split_first_chunk().ok_or(Unframed::Truncated)?;
                let (header, length) = Ipv6Header::parse(raw)?;
                let datagram = rest.get(..usize::from(length)).ok_or(Unframed::Truncated)?;
                (Network::V6(header), datagram)
            }
            other => return Err(Unframed::Version(other)),
        };
        let (raw, payload) = datagram.split_first_chunk().ok_or(Unframed::Lengths)?;
        let (udp, length) = UdpHeader::parse(raw);
        if udp.destination_port != UDP_PORT {
            return Err(Unframed::Port(udp.destination_port));
        }
        if usize::from(length) != datagram.len() {
            return Err(Unframed::Lengths);
        }
        Ok((Self { network, udp }, payload))
    }

    /// Bytes of the headers.
    #[inline]
    pub const fn bytes(&self) -> usize {
        self.network.bytes().saturating_add(UdpHeader::BYTES)
    }

    /// Writes the headers to the start of `out` and tells their length in bytes.
    ///
    /// Nothing if they do not fit, or if the packet would be too long for IP.
    pub fn emit(&self, payload_bytes: usize, out: &mut [u8]) -> Option<usize> {
        let udp_length = payload_bytes.checked_add(UdpHeader::BYTES)?;
        let udp_length = u16::try_from(udp_length).ok()?;
        let udp = self.udp.to_bytes(udp_length);
        let (network_out, rest) = out.split_at_mut_checked(self.network.bytes())?;
        match self.network {
            Network::V4(header) => {
                let length = usize::from(udp_length).checked_add(Ipv4Header::BYTES)?;
                let length = u16::try_from(length).ok()?;
                *network_out.first_chunk_mut()? = header.to_bytes(length);
            }
            Network::V6(header) => {
                *network_out.first_chunk_mut()? = header.to_bytes(udp_length);
            }
        }
        *rest.first_chunk_mut()? = udp;
        Some(self.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4() -> Frame {
        Frame {
            network: Network::V4(Ipv4Header {
                id: 7,
                dont_fragment: true,
                ttl: 64,
                source: [10, 0, 0, 1],
                destination: [10, 0, 0, 2],
                ..Ipv4Header::default()
            }),
            udp: UdpHeader {
                source_port: 0xc001,
                destination_port: UDP_PORT,
                checksum: 0,
            },
        }
    }

    fn v6() -> Frame {
        Frame {
            network: Network::V6(Ipv6Header::default()),
            ..v4()
        }
    }

    /// A frame of 16 bytes, and 3 that do not belong to it.
    fn emitted(frame: Frame) -> (usize, [u8; 80]) {
        let mut bytes = [0xaa; 80];
        let headers = frame.emit(16, &mut bytes).unwrap();
        assert_eq!(headers, frame.bytes());
        (headers, bytes)
    }

    #[test]
    fn what_is_emitted_is_parsed_and_cut_to_its_length() {
        for frame in [v4(), v6()] {
            let (headers, bytes) = emitted(frame);
            let end = headers + 16;
            assert_eq!(
                Frame::parse(&bytes[..end + 3]),
                Ok((frame, &bytes[headers..end]))
            );
            for end in 0..end {
                assert_eq!(Frame::parse(&bytes[..end]), Err(Unframed::Truncated));
            }
        }
    }

    #[test]
    fn lengths_that_contradict_each_other() {
        for frame in [v4(), v6()] {
            let (headers, good) = emitted(frame);
            let udp_length = headers - 3;
            for length in [0, 8, 23, 25] {
                let mut bytes = good;
                bytes[udp_length] = length;
                assert_eq!(Frame::parse(&bytes), Err(Unframed::Lengths));
            }
        }
        let (_, mut bytes) = emitted(v4());
        bytes[3] = 19;
        assert_eq!(Frame::parse(&bytes), Err(Unframed::Lengths));
        bytes[3] = 27;
        assert_eq!(Frame::parse(&bytes), Err(Unframed::Lengths));
        let (_, mut bytes) = emitted(v6());
        bytes[5] = 7;
        assert_eq!(Frame::parse(&bytes), Err(Unframed::Lengths));
    }

    #[test]
    fn other_ports_and_versions() {
        let (headers, mut bytes) = emitted(v4());
        bytes[headers - 5] = 0xb8;
        assert_eq!(Frame::parse(&bytes), Err(Unframed::Port(4792)));
        bytes[0] = 0x55;
        assert_eq!(Frame::parse(&bytes), Err(Unframed::Version(5)));
    }

    #[test]
    fn the_longest_frame() {
        let mut bytes = [0; 48];
        assert!(v4().emit(65_507, &mut bytes).is_some());
        assert_eq!(v4().emit(65_508, &mut bytes), None);
        assert!(v6().emit(65_527, &mut bytes).is_some());
        assert_eq!(v6().emit(65_528, &mut bytes), None);
        assert_eq!(v6().emit(usize::MAX, &mut bytes), None);
        assert_eq!(v4().emit(16, &mut bytes[..27]), None);
        assert_eq!(v6().emit(16, &mut bytes[..47]), None);
    }
}
