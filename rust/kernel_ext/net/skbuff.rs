// SPDX-License-Identifier: GPL-2.0

//! Packets.
//!
//! C header: [`include/linux/skbuff.h`](srctree/include/linux/skbuff.h)

use crate::bindings;
use core::{
    mem::ManuallyDrop,
    ptr::NonNull,
    slice, //
};
use kernel::prelude::*;

/// A packet that we own. It may be kept: neither its device nor its route is part of it. Dropping
/// it counts as a packet drop (`kfree_skb`).
///
/// The bytes in the linear part do not change while we have the packet; fragments may be pages that
/// somebody still writes to, so they are copied before they are looked at.
///
/// # Invariants
///
/// The pointer is a valid `sk_buff`, the only reference to which is ours. It has no device and no
/// route. Clones may share its data, which nobody writes to as long as they are shared.
pub struct SkBuff(NonNull<bindings::sk_buff>);

// SAFETY: A packet has one owner at a time and is tied to no thread.
unsafe impl Send for SkBuff {}

impl SkBuff {
    /// Takes a packet over from C.
    ///
    /// # Safety
    ///
    /// `skb` must be a valid packet without a device and a route, and the caller's reference to it,
    /// which has to be the only one, becomes ours.
    pub(crate) unsafe fn from_raw(skb: NonNull<bindings::sk_buff>) -> Self {
        // INVARIANT: By the contract.
        Self(skb)
    }

    /// The C struct.
    pub(crate) fn as_ptr(&self) -> *mut bindings::sk_buff {
        self.0.as_ptr()
    }

    /// Gives the packet to C.
    pub(super) fn into_raw(self) -> NonNull<bindings::sk_buff> {
        ManuallyDrop::new(self).0
    }

    /// Bytes in the packet.
    pub fn len(&self) -> usize {
        // SAFETY: Valid by the type invariant.
        unsafe { bindings::oxe_helper_skb_len(self.0.as_ptr()) as usize }
    }

    /// Bytes of memory that it takes.
    pub fn footprint(&self) -> u32 {
        // SAFETY: Valid by the type invariant.
        unsafe { bindings::oxe_helper_skb_truesize(self.as_ptr()) }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies bytes out, from `offset` on, wherever they lie.
    ///
    /// # Errors
    ///
    /// `EFAULT` if the packet is shorter.
    pub fn copy_bits(&self, offset: usize, to: &mut [u8]) -> Result {
        let offset = c_int::try_from(offset).map_err(|_| EFAULT)?;
        let len = c_int::try_from(to.len()).map_err(|_| EFAULT)?;
        // SAFETY: The packet is valid and `to` is valid for writing `len` bytes; the function
        // checks the packet's length.
        let err = unsafe {
            bindings::skb_copy_bits(self.0.as_ptr(), offset, to.as_mut_ptr().cast(), len)
        };
        kernel::error::to_result(err)
    }

    /// The bytes from `offset` on that lie in one piece, in the linear part; none if there are
    /// none.
    pub fn linear_payload(&self, offset: usize) -> Option<&[u8]> {
        // SAFETY: Valid by the type invariant.
        let len = unsafe { bindings::oxe_helper_skb_headlen(self.as_ptr()) as usize };
        // SAFETY: As above.
        let data = unsafe { bindings::oxe_helper_skb_data(self.as_ptr()) };
        // SAFETY: The linear part is `len` bytes at `data`. By the type invariant nobody writes to
        // it, and nothing moves it while it is borrowed.
        let linear = unsafe { slice::from_raw_parts(data, len) };
        linear.get(offset..).filter(|payload| !payload.is_empty())
    }

    /// Takes the CRC register on over bytes of the packet, wherever they lie; see
    /// [`crc32_le`](crate::crc32::crc32_le).
    ///
    /// Of a packet with fragments, that is the CRC of what they were when it was computed.
    ///
    /// # Errors
    ///
    /// `EFAULT` if the packet is shorter.
    pub fn crc32(&self, register: u32, offset: usize, len: usize) -> Result<u32> {
        let offset = c_uint::try_from(offset).map_err(|_| EFAULT)?;
        let len = c_uint::try_from(len).map_err(|_| EFAULT)?;
        let mut crc = register;
        // SAFETY: The packet is valid and `crc` may be written; the function checks the length.
        let err = unsafe { bindings::oxe_helper_skb_crc32(self.as_ptr(), offset, len, &mut crc) };
        kernel::error::to_result(err)?;
        Ok(crc)
    }

    /// A copy of the IPv4 header; none if it came by IPv6, or the header has options.
    pub fn network_header_v4(&self) -> Option<[u8; 20]> {
        let mut header = [0; 20];
        // SAFETY: The packet is valid, and `header` is valid for writing 20 bytes.
        let there =
            unsafe { bindings::oxe_helper_skb_ipv4_header(self.as_ptr(), header.as_mut_ptr()) };
        let [version_ihl, ..] = header;
        (there && version_ihl == 0x45).then_some(header)
    }

    /// A copy of the IPv6 header; none if it came by IPv4. UDP need not follow at once.
    pub fn network_header_v6(&self) -> Option<[u8; 40]> {
        let mut header = [0; 40];
        // SAFETY: The packet is valid, and `header` is valid for writing 40 bytes.
        let there =
            unsafe { bindings::oxe_helper_skb_ipv6_header(self.as_ptr(), header.as_mut_ptr()) };
        let [version, ..] = header;
        (there && version >> 4 == 6).then_some(header)
    }

    /// A copy of the UDP header, which a [`Receiver`](super::Receiver)'s packets begin with.
    pub fn udp_header(&self) -> Option<[u8; 8]> {
        self.linear_payload(0)?.first_chunk().copied()
    }

    /// The type of service or traffic class: 6 bits of DSCP, 2 bits of ECN.
    pub fn traffic_class(&self) -> Option<u8> {
        if let Some([_, tos, ..]) = self.network_header_v4() {
            return Some(tos);
        }
        let [first, second, ..] = self.network_header_v6()?;
        let [class, _] = (u16::from_be_bytes([first, second]) << 4).to_be_bytes();
        Some(class)
    }

    /// Who sent the Ethernet frame; none if there was none.
    pub fn source_mac(&self) -> Option<[u8; 6]> {
        let mut mac = [0; 6];
        // SAFETY: The packet is valid, and `mac` is valid for writing 6 bytes.
        unsafe { bindings::oxe_helper_skb_source_mac(self.as_ptr(), mac.as_mut_ptr()) }
            .then_some(mac)
    }

    /// A packet with the same data, which is kept as long as either is there.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn share(&self) -> Result<Self> {
        // SAFETY: The packet is valid.
        let skb = unsafe { bindings::oxe_helper_skb_clone(self.as_ptr()) };
        let skb = NonNull::new(skb).ok_or(ENOMEM)?;
        // SAFETY: Just made for us; as the original, it has no device and no route.
        Ok(unsafe { Self::from_raw(skb) })
    }

    /// A packet of one piece with the IP and UDP headers of this one, as they are, and `len` bytes
    /// of it from `offset` on behind them; for the packets of a [`Receiver`](super::Receiver).
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, also if there are not so many bytes.
    pub fn copy_part(&self, offset: usize, len: usize) -> Result<Self> {
        let offset = c_uint::try_from(offset).map_err(|_| ENOMEM)?;
        let len = c_uint::try_from(len).map_err(|_| ENOMEM)?;
        // SAFETY: The packet is valid; the function checks the bounds.
        let skb = unsafe { bindings::oxe_helper_udp_skb_copy(self.as_ptr(), offset, len) };
        let skb = NonNull::new(skb).ok_or(ENOMEM)?;
        // SAFETY: Just made for us, without a device and a route.
        Ok(unsafe { Self::from_raw(skb) })
    }

    /// Bytes of payload in each segment of a packet of several; none if it is a single one.
    pub fn segment_bytes(&self) -> Option<usize> {
        // SAFETY: The packet is valid.
        let bytes = unsafe { bindings::oxe_helper_skb_gso_size(self.as_ptr()) as usize };
        (bytes != 0).then_some(bytes)
    }
}

impl Drop for SkBuff {
    fn drop(&mut self) {
        // SAFETY: By the type invariant the reference is ours.
        unsafe { bindings::oxe_helper_kfree_skb(self.0.as_ptr()) };
    }
}
