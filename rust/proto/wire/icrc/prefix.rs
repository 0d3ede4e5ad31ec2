// SPDX-License-Identifier: GPL-2.0

//! The part of the CRC that the packets of a flow have in common.
//!
//! Of the IP and UDP headers only the two lengths and, over IPv4, the identification differ from
//! packet to packet. What they add to the register is looked up and not computed ([`linear`]):
//! eight look-ups for the lengths, which packets of one size share, and four for the
//! identification.
//!
//! [`linear`]: super::linear

use super::{
    linear::Field,
    Crc32,
    Icrc, //
};
use crate::wire::{
    frame::{
        Frame,
        Network, //
    },
    ipv4::Ipv4Header,
    udp::UdpHeader, //
};

/// Bytes of a UDP header.
const UDP_BYTES: u16 = 8;
const _: () = assert!(UDP_BYTES as usize == UdpHeader::BYTES);

/// Bytes of an IPv4 header.
const IPV4_BYTES: u16 = 20;
const _: () = assert!(IPV4_BYTES as usize == Ipv4Header::BYTES);

// A header's fields by the bytes that follow them up to the base transport header.
static UDP_LENGTH: Field = Field::followed_by(2);
static IPV4_LENGTH: Field = Field::followed_by(24);
static IPV4_ID: Field = Field::followed_by(22);
static IPV6_LENGTH: Field = Field::followed_by(42);

/// The IP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V4,
    V6,
}

/// The CRC over the headers of a flow's packets, without what differs between them.
///
/// Good for all packets with the same addresses, UDP ports and "don't fragment" bit, sent or
/// received; but not for received ones with IPv4's reserved flag set, which [`Icrc::over_ipv4`]
/// minds and this does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowPrefix {
    register: u32,
    version: Version,
}

impl FlowPrefix {
    /// The common part of packets with these headers; their IPv4 identification does not matter.
    pub fn new<C: Crc32>(frame: &Frame) -> Self {
        let udp = frame.udp.to_bytes(0);
        let (version, icrc) = match frame.network {
            Network::V4(header) => {
                let header = Ipv4Header { id: 0, ..header };
                let icrc = Icrc::<C>::over_ipv4(&header.to_bytes(0), &udp);
                (Version::V4, icrc)
            }
            Network::V6(header) => {
                let icrc = Icrc::<C>::over_ipv6(&header.to_bytes(0), &udp);
                (Version::V6, icrc)
            }
        };
        Self {
            register: icrc.register,
            version,
        }
    }

    /// The common part of the packets whose UDP payload has so many bytes, the ICRC's included.
    ///
    /// The number is one that IP can carry; the ICRC of a longer packet would be a wrong one.
    #[inline]
    pub fn sized(self, payload_bytes: u16) -> SizedPrefix {
        let udp_length = payload_bytes.wrapping_add(UDP_BYTES);
        let ip_length = match self.version {
            Version::V4 => IPV4_LENGTH.of(udp_length.wrapping_add(IPV4_BYTES)),
            Version::V6 => IPV6_LENGTH.of(udp_length),
        };
        SizedPrefix {
            register: self.register ^ UDP_LENGTH.of(udp_length) ^ ip_length,
            version: self.version,
        }
    }
}

/// The CRC over the headers of a flow's packets of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizedPrefix {
    register: u32,
    version: Version,
}

impl SizedPrefix {
    /// The ICRC of one of them, ready for what follows the UDP header.
    ///
    /// `id` is the IPv4 identification; IPv6 has none, and the number does not matter.
    #[inline]
    pub fn start<C: Crc32>(self, id: u16) -> Icrc<C> {
        let id = match self.version {
            Version::V4 => IPV4_ID.of(id),
            Version::V6 => 0,
        };
        Icrc::new(self.register ^ id)
    }
}
