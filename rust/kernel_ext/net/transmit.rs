// SPDX-License-Identifier: GPL-2.0

//! UDP datagrams that go out.
//!
//! The caller makes all header bytes: a checksum of its own may cover fields that IP would
//! otherwise choose, such as the identification of IPv4. What the output path of IP still does to
//! the headers changes nothing: it writes the total length of IPv4 and the payload length of IPv6
//! once more (checked here to be the same), and computes the header checksum of IPv4. Nothing is
//! fragmented as long as the header says "don't fragment": too long a packet is dropped. Address
//! translation, which would change more, is the administrator's doing.
//!
//! No socket owns the packets: netfilter and traffic control see none, as with what the kernel's
//! tunnels send. So nothing but the caller bounds how many are on their way.
//!
//! Several datagrams that follow each other, of one size but for a shorter last one, take the way
//! through IP as one packet (`SKB_GSO_UDP_L4`). Somebody cuts it up where it cannot go on whole:
//! the network device, the kernel in front of it, or UDP at the receiving end. Each datagram then
//! has the headers of the whole, but for the lengths; the IPv4 identification counts up from one to
//! the next; the UDP checksum is a real one (for that, `csum_start` and `csum_offset` point to it,
//! `CHECKSUM_PARTIAL`), while that of a single datagram is what the caller made it.
//!
//! The memory of the datagrams is not zeroed first: a [`Filler`] sees to it that no forgotten byte
//! of the kernel's memory goes out.
//!
//! C headers: [`include/linux/skbuff.h`](srctree/include/linux/skbuff.h),
//! [`include/net/ip.h`](srctree/include/net/ip.h)

use super::{
    Family,
    Route,
    SkBuff, //
};
use crate::{
    bindings,
    fill::Filler, //
};
use core::ptr::{
    self,
    NonNull, //
};
use kernel::prelude::*;

/// Bytes of an IPv4 header without options and a UDP header.
pub const V4_HEADER_BYTES: usize = 28;

/// Bytes of an IPv6 header and a UDP header.
pub const V6_HEADER_BYTES: usize = 48;

/// Bytes of a link layer's header with VLAN tags, at most: the whole of a packet of several
/// datagrams is no longer than devices take.
const LINK_HEADER_BYTES: usize = 32;

/// The longest payload, of all datagrams together, that the lengths in the headers can tell.
pub const MAX_PAYLOAD_BYTES: usize = 65535 - V6_HEADER_BYTES - LINK_HEADER_BYTES;

/// Bytes that several datagrams lie in, in one piece: as much as the allocator has at hand.
const PIECE_BYTES: usize = 32768;

/// What became of a datagram that was given to IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Sent {
    /// It is on its way, as far as this host can tell.
    Accepted,
    /// As above, but a queue on its way is getting full.
    Congested,
    /// This host dropped it: a queue was full (`ENOBUFS`), a filter did not let it pass (`EPERM`),
    /// it was longer than the path allows (`EMSGSIZE`), memory was short (`ENOMEM`), and so on.
    /// For the transport above it is lost as on the wire.
    Dropped(Error),
}

impl Sent {
    /// From the result of `ip_local_out`: an errno or `NET_XMIT_*`.
    fn from_raw(raw: c_int) -> Self {
        match u32::try_from(raw) {
            Ok(bindings::NET_XMIT_SUCCESS) => Self::Accepted,
            Ok(bindings::NET_XMIT_CN) => Self::Congested,
            Ok(_) => Self::Dropped(ENOBUFS),
            Err(_) => Self::Dropped(Error::from_errno(raw)),
        }
    }
}

/// UDP datagrams that are being made, of one flow: one, or several that go out together.
///
/// # Invariants
///
/// The first `bytes` of the payload in `skb` are initialised: `count` datagrams of `datagram_bytes`
/// each, of which the last may be shorter. The `room` bytes at `next` follow them in the packet;
/// nobody else has access to those. The packet has room for an IP and a UDP header in front.
pub struct TxBuffer {
    skb: SkBuff,
    next: NonNull<u8>,
    room: usize,
    /// Bytes to come that have no memory yet.
    planned: usize,
    datagram_bytes: usize,
    count: usize,
    bytes: usize,
}

// SAFETY: A packet has one owner at a time and is tied to no thread.
unsafe impl Send for TxBuffer {}

impl TxBuffer {
    /// Room for `count` datagrams of `datagram_bytes` of payload each.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EINVAL` if it is none; `EMSGSIZE` if they are longer than a packet can be; `ENOMEM`: for
    /// the transport above that may be as good as a packet lost.
    pub fn new(datagram_bytes: usize, count: usize) -> Result<Self> {
        let planned = datagram_bytes.checked_mul(count).ok_or(EMSGSIZE)?;
        if count == 0 || datagram_bytes == 0 {
            return Err(EINVAL);
        }
        if planned > MAX_PAYLOAD_BYTES || (count != 1 && datagram_bytes > PIECE_BYTES) {
            return Err(EMSGSIZE);
        }
        // One lies behind the headers, several in pieces that are added as they are needed.
        let linear = if count == 1 { datagram_bytes } else { 0 };
        let mut next = ptr::null_mut();
        // SAFETY: `next` may be written.
        let skb = unsafe {
            bindings::oxe_helper_udp_skb_alloc(
                c_uint::try_from(linear).map_err(|_| EMSGSIZE)?,
                &mut next,
            )
        };
        let skb = NonNull::new(skb).ok_or(ENOMEM)?;
        // SAFETY: Made for us just now: it has one reference, no device and no route.
        let skb = unsafe { SkBuff::from_raw(skb) };
        // INVARIANT: The function made the packet so, and nobody knows it.
        Ok(Self {
            skb,
            next: NonNull::new(next).ok_or(ENOMEM)?,
            room: linear,
            planned: planned.wrapping_sub(linear),
            datagram_bytes,
            count: 0,
            bytes: 0,
        })
    }

    /// Adds memory, if there is none for the next datagram.
    fn add_room(&mut self) -> Result {
        if self.room != 0 {
            return Ok(());
        }
        // Whole datagrams: each lies in one piece.
        let over = PIECE_BYTES.checked_rem(self.datagram_bytes).unwrap_or(0);
        let bytes = self.planned.min(PIECE_BYTES.wrapping_sub(over));
        if bytes == 0 {
            return Err(EMSGSIZE);
        }
        // SAFETY: By the type invariant the packet is ours alone.
        let next = unsafe { bindings::oxe_helper_udp_skb_add(self.skb.as_ptr(), bytes as c_uint) };
        // INVARIANT: What was there before is filled, so these bytes are next in the packet.
        self.next = NonNull::new(next).ok_or(ENOMEM)?;
        self.room = bytes;
        self.planned = self.planned.wrapping_sub(bytes);
        Ok(())
    }

    /// Adds a datagram of `bytes` bytes that `fill` writes. After one that is shorter than was said
    /// there is no other.
    ///
    /// # Errors
    ///
    /// `EMSGSIZE` if it is too long, or there are as many as were said; `EINVAL` if it is empty or
    /// `fill` did not write all of it; `ENOMEM`; that of `fill`. The datagrams before it stay.
    pub fn add<E: From<Error>>(
        &mut self,
        bytes: usize,
        fill: impl FnOnce(&mut Filler<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if bytes == 0 {
            return Err(EINVAL.into());
        }
        self.add_room()?;
        let is_whole = self.count.checked_mul(self.datagram_bytes) == Some(self.bytes);
        if !is_whole || bytes > self.datagram_bytes || bytes > self.room {
            return Err(EMSGSIZE.into());
        }
        let next = self.next.as_ptr();
        // SAFETY: By the type invariant `room` bytes at `next` are ours alone, and `self` is
        // borrowed.
        let mut filler = unsafe { Filler::new(next, bytes) };
        fill(&mut filler)?;
        // Not another one, either.
        if filler.start() != next || filler.filled().len() != bytes {
            return Err(EINVAL.into());
        }
        // INVARIANT: They are initialised, and what follows is in the same piece.
        self.bytes = self.bytes.wrapping_add(bytes);
        self.count = self.count.wrapping_add(1);
        self.room = self.room.wrapping_sub(bytes);
        // SAFETY: Within the piece, or at its end.
        self.next = unsafe { self.next.add(bytes) };
        Ok(())
    }

    /// Datagrams in it.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of payload in it.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Cuts off what was not filled; what C has to know of the datagrams.
    fn close(&mut self) -> Result<c_uint> {
        if self.count == 0 {
            return Err(EINVAL);
        }
        if self.room != 0 {
            // SAFETY: By the type invariant the packet is ours alone.
            let err = unsafe {
                bindings::oxe_helper_udp_skb_trim(self.skb.as_ptr(), self.bytes as c_uint)
            };
            kernel::error::to_result(err)?;
            // INVARIANT: There is no room any more.
            self.room = 0;
        }
        // It was checked to be less than 2^16.
        Ok(if self.count == 1 {
            0
        } else {
            self.datagram_bytes as c_uint
        })
    }

    /// Says which packets are of one flow, for whoever spreads packets over queues; otherwise each
    /// packet's headers are parsed for that. Best a number that is random, but for 0, and the same
    /// for all packets of the flow.
    pub fn set_flow_hash(&mut self, hash: u32) {
        // SAFETY: The packet is valid and ours.
        unsafe { bindings::oxe_helper_skb_set_flow_hash(self.skb.as_ptr(), hash) };
    }

    /// Sends what was added over IPv4 with `headers`, IPv4's and UDP's, in the order of the wire.
    /// Their lengths are those of all datagrams together, the identification is the first one's.
    /// The priority of the packet (`skb->priority`) follows from the type of service in them.
    ///
    /// Context: process or softirq, interrupts on. Spinlocks may be held: the packet is not
    /// received within the call, even if it is for this host.
    ///
    /// # Errors
    ///
    /// `EINVAL` if nothing was added, the route is not one of IPv4, or the version, header length
    /// or total length in `headers` is wrong.
    pub fn send_v4(mut self, route: &Route, headers: &[u8; V4_HEADER_BYTES]) -> Result<Sent> {
        let [version_ihl, tos, length_high, length_low, ..] = *headers;
        let length = usize::from(u16::from_be_bytes([length_high, length_low]));
        if route.family() != Family::V4
            || version_ihl != 0x45
            || self.bytes.checked_add(V4_HEADER_BYTES) != Some(length)
        {
            return Err(EINVAL);
        }
        let datagram_bytes = self.close()?;
        // SAFETY: By the type invariant the packet has room in front, and what is in it is
        // initialised; it becomes C's. The route is
        // valid and stays so for the call. The header length that IP goes by was checked.
        let sent = unsafe {
            bindings::oxe_helper_udp_skb_send_v4(
                self.skb.into_raw().as_ptr(),
                route.as_ptr(),
                tos,
                headers.as_ptr(),
                datagram_bytes,
            )
        };
        Ok(Sent::from_raw(sent))
    }

    /// Sends what was added over IPv6 with `headers`, IPv6's and UDP's, in the order of the wire.
    /// The priority of the packet (`skb->priority`) follows from the traffic class in them, as with
    /// IPv4.
    ///
    /// Context: as [`Self::send_v4`].
    ///
    /// # Errors
    ///
    /// `EINVAL` if nothing was added, the route is not one of IPv6, or the version or payload
    /// length in `headers` is wrong.
    pub fn send_v6(mut self, route: &Route, headers: &[u8; V6_HEADER_BYTES]) -> Result<Sent> {
        let [first, second, _, _, length_high, length_low, ..] = *headers;
        let length = usize::from(u16::from_be_bytes([length_high, length_low]));
        let [traffic_class, _] = (u16::from_be_bytes([first, second]) << 4).to_be_bytes();
        if route.family() != Family::V6
            || first >> 4 != 6
            || self.bytes.checked_add(8) != Some(length)
        {
            return Err(EINVAL);
        }
        let datagram_bytes = self.close()?;
        // SAFETY: By the type invariant the packet has room in front, and what is in it is
        // initialised; it becomes C's. The route is
        // valid and stays so for the call.
        let sent = unsafe {
            bindings::oxe_helper_udp_skb_send_v6(
                self.skb.into_raw().as_ptr(),
                route.as_ptr(),
                traffic_class,
                headers.as_ptr(),
                datagram_bytes,
            )
        };
        Ok(Sent::from_raw(sent))
    }
}
