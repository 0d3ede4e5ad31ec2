// SPDX-License-Identifier: GPL-2.0

//! Memory of the kernel that work requests of its users name by address.

use crate::{
    bindings,
    fill::Filler,
    net::SkBuff, //
};
use kernel::{
    error::to_result,
    prelude::*, //
};

/// All of the kernel's memory, for a protection domain of the kernel (`ib_device_ops.get_dma_mr`).
///
/// The device maps nothing for DMA (`ib_uses_virt_dma()`): an address in a list is a virtual one,
/// in the direct mapping of all memory. What is elsewhere is refused.
///
/// The one who posts a request promises that its memory is there, and left alone as the direction
/// asks for, until the request completes: that is ib_core's contract of `ib_post_send()` and
/// `ib_post_recv()`. So a driver passes here what came out of a request's list, as long as the
/// request has no completion, and nothing else; no peer and no process may name an address.
///
/// # Invariants
///
/// The kernel asked for it, for a domain of its own.
#[derive(Clone, Copy)]
pub struct DirectMemory(());

impl DirectMemory {
    /// # Safety
    ///
    /// Only in `get_dma_mr`.
    pub(super) unsafe fn new() -> Self {
        // INVARIANT: By the contract; ib_core calls it for the kernel alone.
        Self(())
    }

    /// Copies bytes in.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EFAULT` if there is no such memory.
    pub fn write(&self, address: u64, from: &[u8]) -> Result {
        // SAFETY: By the type invariant and the rule in the type's description, whoever posted the
        // request has promised that the bytes are there to be written.
        to_result(unsafe {
            bindings::oxe_helper_direct_write(address, from.as_ptr().cast(), from.len())
        })
    }

    /// Copies `len` bytes out, to what `to` has not filled yet.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// As of [`DirectMemory::write`]; `EFAULT` also if they do not fit.
    pub fn read(&self, address: u64, len: usize, to: &mut Filler<'_>) -> Result {
        let next = to.next(len)?;
        // SAFETY: As in `write`; they are there to be read. The filler has room for them.
        to_result(unsafe { bindings::oxe_helper_direct_read(address, next.cast(), len) })?;
        // SAFETY: The function has written all of them.
        unsafe { to.advance(len) };
        Ok(())
    }

    /// Copies `len` bytes of a packet in, from `skb_offset` on.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// As of [`DirectMemory::write`]; `EFAULT` also if the packet is shorter.
    pub fn copy_from_skb(
        &self,
        address: u64,
        skb: &SkBuff,
        skb_offset: usize,
        len: usize,
    ) -> Result {
        let end = skb_offset.checked_add(len).ok_or(EFAULT)?;
        if end > skb.len() || c_int::try_from(end).is_err() {
            return Err(EFAULT);
        }
        // Both are no more than `end`, which fits.
        let (from, len) = (skb_offset as c_int, len as c_int);
        // SAFETY: As in `write`. The packet is valid.
        to_result(unsafe {
            bindings::oxe_helper_direct_write_skb(address, skb.as_ptr(), from, len)
        })
    }
}
