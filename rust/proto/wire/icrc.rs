// SPDX-License-Identifier: GPL-2.0

//! The invariant CRC (ICRC) that ends each packet (InfiniBand Architecture, clause 7.8.1 and annex
//! A17, clause 17.9.2).
//!
//! It is Ethernet's CRC-32 over the packet from the IP header to the last byte of the pad, after
//! eight bytes of ones in the place of a header that Ethernet does not have. What routers change
//! counts as ones: the type of service, time to live and checksum of IPv4; the traffic class, flow
//! label and hop limit of IPv6; the checksum of UDP; and the byte of the base transport header that
//! holds the congestion bits.
//!
//! A receiver starts an [`Icrc`] over the IP and UDP headers as they came in. A sender starts one
//! from a [`FlowPrefix`], which it computes once for all packets of a queue pair. From the base
//! transport header on, both may feed a packet as it is, in one piece or in several.
//!
//! # Feeding the congestion bits as they are
//!
//! The byte that has to count as ones is in the middle of what follows. But a CRC is linear: a
//! change of that byte changes the register by something that does not depend on the rest, and a
//! change of the register four bytes earlier, in front of the base transport header, has the same
//! effect. So nothing is masked in memory, and a packet that lies there in one piece takes one call
//! of the CRC routine.

mod linear;
mod prefix;

use self::linear::BYTE_AFTER_FOUR;
pub use self::prefix::{
    FlowPrefix,
    SizedPrefix, //
};
use super::{
    bth::Bth,
    frame::{
        Frame,
        Network,
        Unframed, //
    },
    ipv4::Ipv4Header,
    ipv6::Ipv6Header,
    roce::{
        ICRC_BYTES,
        MIN_PAYLOAD_BYTES, //
    },
    udp::UdpHeader, //
};
use core::{
    fmt,
    marker::PhantomData, //
};

/// A routine that computes Ethernet's CRC-32.
pub trait Crc32 {
    /// The register after some more bytes.
    ///
    /// The polynomial is 0xedb88320, that is, bits go in from the lowest on. The register is the
    /// bare one: not inverted at the start or the end. The kernel's `crc32_le()` is such a routine.
    fn update(register: u32, bytes: &[u8]) -> u32;
}

/// The register after the eight bytes of ones that every packet starts with.
const START: u32 = 0xdebb_20e3;

/// An ICRC in the making.
pub struct Icrc<C> {
    register: u32,
    routine: PhantomData<fn() -> C>,
}

impl<C> Clone for Icrc<C> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Icrc<C> {}

impl<C> fmt::Debug for Icrc<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Icrc").field(&self.register).finish()
    }
}

impl<C> Icrc<C> {
    #[inline]
    const fn new(register: u32) -> Self {
        Self {
            register,
            routine: PhantomData,
        }
    }

    /// The ICRC as it is on the wire: the lowest byte first.
    #[inline]
    #[must_use]
    pub const fn finish(self) -> [u8; ICRC_BYTES] {
        (!self.register).to_le_bytes()
    }
}

impl<C: Crc32> Icrc<C> {
    /// Starts with the headers of a packet over IPv4, as they are on the wire.
    #[inline]
    #[must_use]
    pub fn over_ipv4(header: &[u8; Ipv4Header::BYTES], udp: &[u8; UdpHeader::BYTES]) -> Self {
        let mut masked = *header;
        let [_, tos, _, _, _, _, _, _, ttl, _, checksum1, checksum0, ..] = &mut masked;
        for byte in [tos, ttl, checksum1, checksum0] {
            *byte = 0xff;
        }
        Self::new(C::update(START, &masked)).over_udp(udp)
    }

    /// Starts with the headers of a packet over IPv6, as they are on the wire.
    #[inline]
    #[must_use]
    pub fn over_ipv6(header: &[u8; Ipv6Header::BYTES], udp: &[u8; UdpHeader::BYTES]) -> Self {
        let mut masked = *header;
        let [version, class, label1, label0, _, _, _, hop_limit, ..] = &mut masked;
        // The upper half of the byte, the version, counts.
        *version |= 0x0f;
        for byte in [class, label1, label0, hop_limit] {
            *byte = 0xff;
        }
        Self::new(C::update(START, &masked)).over_udp(udp)
    }

    #[inline]
    fn over_udp(self, udp: &[u8; UdpHeader::BYTES]) -> Self {
        let mut masked = *udp;
        let [.., checksum1, checksum0] = &mut masked;
        *checksum1 = 0xff;
        *checksum0 = 0xff;
        self.data(&masked)
    }

    /// Goes on with what follows the UDP header, as it is on the wire: the base transport header at
    /// least, in the same piece perhaps more.
    #[inline]
    #[must_use]
    pub fn headers(self, bytes: &[u8]) -> Self {
        let notify = bytes.get(Bth::NOTIFY_OFFSET).copied().unwrap_or(0xff);
        // What turns the byte to ones.
        let change = BYTE_AFTER_FOUR.of(notify ^ 0xff);
        Self::new(C::update(self.register ^ change, bytes))
    }

    /// As [`Self::headers`], for bytes that are not in one piece: `go_on` takes the register over
    /// them. `notify` is the one among them that holds the congestion bits, at
    /// [`Bth::NOTIFY_OFFSET`].
    ///
    /// # Errors
    ///
    /// Those of `go_on`.
    #[inline]
    pub fn headers_by<E>(
        self,
        notify: u8,
        go_on: impl FnOnce(u32) -> Result<u32, E>,
    ) -> Result<Self, E> {
        let change = BYTE_AFTER_FOUR.of(notify ^ 0xff);
        go_on(self.register ^ change).map(Self::new)
    }

    /// Goes on with more bytes.
    #[inline]
    #[must_use]
    pub fn data(self, bytes: &[u8]) -> Self {
        Self::new(C::update(self.register, bytes))
    }
}

/// The ICRC of a packet that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// The one that it carries, as it is on the wire.
    pub carried: [u8; ICRC_BYTES],
    /// The one that it should carry.
    pub computed: [u8; ICRC_BYTES],
}

impl Check {
    /// Checks a packet that lies in one piece, from the IP header on; what follows the IP packet is
    /// not looked at.
    ///
    /// # Errors
    ///
    /// What makes it no RoCEv2 packet.
    pub fn of_packet<C: Crc32>(bytes: &[u8]) -> Result<Self, Unframed> {
        let (frame, payload) = Frame::parse(bytes)?;
        if payload.len() < MIN_PAYLOAD_BYTES {
            return Err(Unframed::Lengths);
        }
        let (covered, &carried) = payload.split_last_chunk().ok_or(Unframed::Lengths)?;
        let icrc = match frame.network {
            Network::V4(_) => {
                let (header, rest) = bytes.split_first_chunk().ok_or(Unframed::Truncated)?;
                let udp = rest.first_chunk().ok_or(Unframed::Truncated)?;
                Icrc::<C>::over_ipv4(header, udp)
            }
            Network::V6(_) => {
                let (header, rest) = bytes.split_first_chunk().ok_or(Unframed::Truncated)?;
                let udp = rest.first_chunk().ok_or(Unframed::Truncated)?;
                Icrc::<C>::over_ipv6(header, udp)
            }
        };
        Ok(Self {
            carried,
            computed: icrc.headers(covered).finish(),
        })
    }

    /// Whether both are the same.
    #[inline]
    pub fn is_good(&self) -> bool {
        self.carried == self.computed
    }
}
