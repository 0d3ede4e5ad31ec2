// SPDX-License-Identifier: GPL-2.0

//! Packets.
//!
//! C header: [`include/linux/skbuff.h`](srctree/include/linux/skbuff.h)

use crate::bindings;
use core::ptr::NonNull;
use kernel::prelude::*;

/// A packet that we own. Dropping it counts as a packet drop (`kfree_skb`).
///
/// # Invariants
///
/// The pointer is a valid `sk_buff`, one reference of which is ours.
pub struct SkBuff(NonNull<bindings::sk_buff>);

// SAFETY: A packet has one owner at a time and is tied to no thread.
unsafe impl Send for SkBuff {}

impl SkBuff {
    /// Takes a packet over from C.
    ///
    /// # Safety
    ///
    /// `skb` must be a valid packet, and the caller's reference to it becomes ours.
    pub(crate) unsafe fn from_raw(skb: NonNull<bindings::sk_buff>) -> Self {
        // INVARIANT: By the contract.
        Self(skb)
    }

    /// The C struct.
    pub(crate) fn as_ptr(&self) -> *mut bindings::sk_buff {
        self.0.as_ptr()
    }

    /// Bytes in the packet.
    pub fn len(&self) -> usize {
        // SAFETY: Valid by the type invariant.
        unsafe { bindings::oxe_helper_skb_len(self.0.as_ptr()) as usize }
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
}

impl Drop for SkBuff {
    fn drop(&mut self) {
        // SAFETY: By the type invariant the reference is ours.
        unsafe { bindings::oxe_helper_kfree_skb(self.0.as_ptr()) };
    }
}
