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
//! A packet of several segments (`SKB_GSO_UDP_L4`) would take a template of headers, from which the
//! segmentation code makes each segment's: it counts the IPv4 identification up, and computes the
//! UDP checksum, which `csum_start` and `csum_offset` have to point to (`CHECKSUM_PARTIAL`).
//!
//! C headers: [`include/linux/skbuff.h`](srctree/include/linux/skbuff.h),
//! [`include/net/ip.h`](srctree/include/net/ip.h)

use super::{
    Family,
    Route,
    SkBuff, //
};
use crate::bindings;
use core::{
    ptr::{
        self,
        NonNull, //
    },
    slice, //
};
use kernel::prelude::*;

/// Bytes of an IPv4 header without options and a UDP header.
pub const V4_HEADER_BYTES: usize = 28;

/// Bytes of an IPv6 header and a UDP header.
pub const V6_HEADER_BYTES: usize = 48;

/// The longest payload that the lengths in the headers can tell.
const MAX_PAYLOAD_BYTES: usize = 65535 - V6_HEADER_BYTES;

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

/// A UDP datagram that is being made.
///
/// # Invariants
///
/// `payload` points to the `payload_bytes` that are all there is in `skb`, initialised; nobody else
/// has access to them. `skb` has room for an IP and a UDP header in front.
pub struct TxBuffer {
    skb: SkBuff,
    payload: NonNull<u8>,
    payload_bytes: usize,
}

// SAFETY: A packet has one owner at a time and is tied to no thread.
unsafe impl Send for TxBuffer {}

impl TxBuffer {
    /// A datagram with `payload_bytes` of zeroes, in one piece.
    ///
    /// They are zeroed so that no forgotten byte of the kernel's memory goes out.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EMSGSIZE` if it is longer than a datagram can be; `ENOMEM`: for the transport above that
    /// may be as good as a packet lost.
    pub fn new(payload_bytes: usize) -> Result<Self> {
        if payload_bytes > MAX_PAYLOAD_BYTES {
            return Err(EMSGSIZE);
        }
        let mut payload = ptr::null_mut();
        // SAFETY: `payload` may be written.
        let skb = unsafe {
            bindings::oxe_helper_udp_skb_alloc(
                c_uint::try_from(payload_bytes).map_err(|_| EMSGSIZE)?,
                &mut payload,
            )
        };
        let skb = NonNull::new(skb).ok_or(ENOMEM)?;
        // SAFETY: Made for us just now: it has one reference, no device and no route.
        let skb = unsafe { SkBuff::from_raw(skb) };
        // INVARIANT: The function made the packet so, and nobody knows it.
        Ok(Self {
            skb,
            payload: NonNull::new(payload).ok_or(ENOMEM)?,
            payload_bytes,
        })
    }

    /// The payload.
    pub fn data(&mut self) -> &mut [u8] {
        // SAFETY: By the type invariant the bytes are there, initialised, and ours alone.
        unsafe { slice::from_raw_parts_mut(self.payload.as_ptr(), self.payload_bytes) }
    }

    /// Says which packets are of one flow, for whoever spreads packets over queues; otherwise each
    /// packet's headers are parsed for that. Best a number that is random, but for 0, and the same
    /// for all packets of the flow.
    pub fn set_flow_hash(&mut self, hash: u32) {
        // SAFETY: The packet is valid and ours.
        unsafe { bindings::oxe_helper_skb_set_flow_hash(self.skb.as_ptr(), hash) };
    }

    /// Sends it over IPv4 with `headers`, IPv4's and UDP's, in the order of the wire. The priority
    /// of the packet (`skb->priority`) follows from the type of service in them.
    ///
    /// Context: process or softirq, interrupts on. Spinlocks may be held: the packet is not
    /// received within the call, even if it is for this host.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the route is not one of IPv4, or the version, header length or total length in
    /// `headers` is wrong.
    pub fn send_v4(self, route: &Route, headers: &[u8; V4_HEADER_BYTES]) -> Result<Sent> {
        let [version_ihl, tos, length_high, length_low, ..] = *headers;
        let length = usize::from(u16::from_be_bytes([length_high, length_low]));
        if route.family() != Family::V4
            || version_ihl != 0x45
            || self.payload_bytes.checked_add(V4_HEADER_BYTES) != Some(length)
        {
            return Err(EINVAL);
        }
        // SAFETY: By the type invariant the packet has room in front; it becomes C's. The route is
        // valid and stays so for the call. The header length that IP goes by was checked.
        let sent = unsafe {
            bindings::oxe_helper_udp_skb_send_v4(
                self.skb.into_raw().as_ptr(),
                route.as_ptr(),
                tos,
                headers.as_ptr(),
            )
        };
        Ok(Sent::from_raw(sent))
    }

    /// Sends it over IPv6 with `headers`, IPv6's and UDP's, in the order of the wire. The priority
    /// of the packet (`skb->priority`) follows from the traffic class in them, as with IPv4.
    ///
    /// Context: as [`Self::send_v4`].
    ///
    /// # Errors
    ///
    /// `EINVAL` if the route is not one of IPv6, or the version or payload length in `headers` is
    /// wrong.
    pub fn send_v6(self, route: &Route, headers: &[u8; V6_HEADER_BYTES]) -> Result<Sent> {
        let [first, second, _, _, length_high, length_low, ..] = *headers;
        let length = usize::from(u16::from_be_bytes([length_high, length_low]));
        let [traffic_class, _] = (u16::from_be_bytes([first, second]) << 4).to_be_bytes();
        if route.family() != Family::V6
            || first >> 4 != 6
            || self.payload_bytes.checked_add(8) != Some(length)
        {
            return Err(EINVAL);
        }
        // SAFETY: By the type invariant the packet has room in front; it becomes C's. The route is
        // valid and stays so for the call.
        let sent = unsafe {
            bindings::oxe_helper_udp_skb_send_v6(
                self.skb.into_raw().as_ptr(),
                route.as_ptr(),
                traffic_class,
                headers.as_ptr(),
            )
        };
        Ok(Sent::from_raw(sent))
    }
}
