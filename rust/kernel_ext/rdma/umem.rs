// SPDX-License-Identifier: GPL-2.0

//! Pinned memory of a process.
//!
//! C header: [`include/rdma/ib_umem.h`](srctree/include/rdma/ib_umem.h)

use crate::{
    bindings,
    fill::Filler,
    net::SkBuff, //
};
use core::ptr::NonNull;
use kernel::{
    error::{
        code::EIO,
        from_err_ptr,
        to_result, //
    },
    page::{
        PAGE_SHIFT,
        PAGE_SIZE, //
    },
    prelude::*, //
};

/// What to do with eight bytes in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// Adds to them.
    FetchAdd(u64),
    /// Puts `swap` in their place if they are `compare`.
    CompareSwap {
        /// What they have to be.
        compare: u64,
        /// What they become.
        swap: u64,
    },
}

/// Pages of a process that stay where they are, in the order of its addresses.
///
/// The process may write to them at any time: nothing here makes a reference into them. All
/// accesses are checked against the bounds and, for writing, against what the pages were pinned
/// for: a page that was pinned for reading may be everybody's.
///
/// Dropping it gives the pages back. Context of the drop: process, sleeps.
///
/// # Invariants
///
/// `umem` is ours, and has `pages`. `first` is less than a page, and `first` and `length` bytes
/// more are in `pages`. There is a device-model reference to `dev`, the device of `umem`.
pub struct Umem {
    umem: NonNull<bindings::ib_umem>,
    dev: NonNull<bindings::ib_device>,
    pages: KVVec<NonNull<bindings::page>>,
    first: usize,
    length: usize,
    writable: bool,
}

// SAFETY: The pages are pinned, whoever holds them; any thread may give them back.
unsafe impl Send for Umem {}
// SAFETY: All accesses are atomic or copies that expect the memory to change meanwhile.
unsafe impl Sync for Umem {}

impl Umem {
    /// Pins `length` bytes at the address `start` of the calling process, for writing if `access`
    /// (`enum ib_access_flags`) says so.
    ///
    /// Context: process, sleeps.
    ///
    /// # Safety
    ///
    /// `dev` must be valid during the call.
    pub(super) unsafe fn pin(
        dev: NonNull<bindings::ib_device>,
        start: u64,
        length: u64,
        access: c_int,
    ) -> Result<Self> {
        let start = usize::try_from(start).map_err(|_| EINVAL)?;
        let length = usize::try_from(length).map_err(|_| EINVAL)?;
        // SAFETY: By the contract; the function checks the range.
        let umem =
            unsafe { bindings::oxe_helper_ib_umem_get_va(dev.as_ptr(), start, length, access) };
        let umem = NonNull::new(from_err_ptr(umem)?).ok_or(EINVAL)?;
        // SAFETY: Valid by the contract.
        unsafe { bindings::oxe_helper_ib_device_get_memory(dev.as_ptr()) };
        // INVARIANT: Ours, as is the reference. No access passes the bounds until `length` is set.
        let mut this = Self {
            umem,
            dev,
            pages: KVVec::new(),
            first: start & PAGE_SIZE.wrapping_sub(1),
            length: 0,
            // SAFETY: Arithmetic only.
            writable: unsafe { bindings::oxe_helper_ib_access_writable(access) },
        };
        // SAFETY: Valid by the type invariant.
        let count = unsafe { bindings::oxe_helper_ib_umem_num_pages(umem.as_ptr()) };
        // 8 bytes a page: 128 MiB for 64 GiB, by vmalloc.
        this.pages.reserve(count, GFP_KERNEL_ACCOUNT)?;
        let room = this.pages.as_mut_ptr().cast();
        // SAFETY: There is room for `count` pointers, which are no null pointers.
        let found = unsafe { bindings::oxe_helper_ib_umem_pages(umem.as_ptr(), room, count) };
        let bytes = found.checked_mul(PAGE_SIZE).ok_or(EIO)?;
        if this.first.checked_add(length).is_none_or(|end| end > bytes) {
            return Err(EIO);
        }
        // SAFETY: So many have been written, and there was room for them.
        unsafe { this.pages.inc_len(found) };
        // INVARIANT: Checked above.
        this.length = length;
        Ok(this)
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.length as u64
    }

    /// Never: there is at least one byte.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether the pages were pinned for writing.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    fn check_writable(&self) -> Result {
        if self.writable {
            Ok(())
        } else {
            Err(EPERM)
        }
    }

    /// Calls `f` for each page of `len` bytes at `offset`, with where in the page the bytes are,
    /// how many came before, and how many they are; they end where the page does, or earlier.
    fn each_page(
        &self,
        offset: u64,
        len: usize,
        mut f: impl FnMut(*mut bindings::page, usize, usize, usize) -> Result,
    ) -> Result {
        let offset = usize::try_from(offset).map_err(|_| EFAULT)?;
        if offset.checked_add(len).is_none_or(|end| end > self.length) {
            return Err(EFAULT);
        }
        // No overflow, by the type invariant.
        let at = self.first.wrapping_add(offset);
        let mut in_page = at & PAGE_SIZE.wrapping_sub(1);
        let mut done = 0;
        for page in self.pages.iter().skip(at >> PAGE_SHIFT) {
            let left = len.wrapping_sub(done);
            if left == 0 {
                break;
            }
            let now = left.min(PAGE_SIZE.wrapping_sub(in_page));
            f(page.as_ptr(), in_page, done, now)?;
            done = done.wrapping_add(now);
            in_page = 0;
        }
        Ok(())
    }

    /// Copies bytes in.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EFAULT` if there is no room for them all, `EPERM` if the pages were not pinned for writing.
    /// Nothing is written then.
    pub fn write(&self, offset: u64, from: &[u8]) -> Result {
        self.check_writable()?;
        self.each_page(offset, from.len(), |page, at, done, len| {
            let from = from.as_ptr().wrapping_add(done);
            // SAFETY: The page is pinned by the type invariant, for writing as checked above;
            // `each_page` gives a part of it and of `from`.
            unsafe { bindings::oxe_helper_page_write(page, at, from.cast(), len) };
            Ok(())
        })
    }

    /// Copies `len` bytes out, to what `to` has not filled yet.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EFAULT` if they are not all inside, or do not fit; nothing is read then.
    pub fn read(&self, offset: u64, len: usize, to: &mut Filler<'_>) -> Result {
        let base = to.next(len)?;
        self.each_page(offset, len, |page, at, done, len| {
            let to = base.wrapping_add(done);
            // SAFETY: The page is pinned by the type invariant; `each_page` gives a part of it. The
            // filler has room for all the bytes at `base`.
            unsafe { bindings::oxe_helper_page_read(page, at, to.cast(), len) };
            Ok(())
        })?;
        // SAFETY: `each_page` has gone through all of them.
        unsafe { to.advance(len) };
        Ok(())
    }

    /// Copies `len` bytes of a packet in, from `skb_offset` on: straight into the pages.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// As of [`Umem::write`]; `EFAULT` also if the packet is shorter.
    pub fn copy_from_skb(
        &self,
        offset: u64,
        skb: &SkBuff,
        skb_offset: usize,
        len: usize,
    ) -> Result {
        self.check_writable()?;
        let end = skb_offset.checked_add(len).ok_or(EFAULT)?;
        if end > skb.len() || c_int::try_from(end).is_err() {
            return Err(EFAULT);
        }
        self.each_page(offset, len, |page, at, done, len| {
            // Both are less than `end`, which fits.
            let (from, len) = (skb_offset.wrapping_add(done) as c_int, len as c_int);
            // SAFETY: The page is pinned by the type invariant, for writing as checked above;
            // `each_page` gives a part of it. The packet is valid.
            to_result(unsafe {
                bindings::oxe_helper_page_write_skb(page, at, skb.as_ptr(), from, len)
            })
        })
    }

    /// Calls `f` for the eight bytes at `offset`, which are in one page and may be written to.
    fn word(&self, offset: u64, mut f: impl FnMut(*mut bindings::page, usize)) -> Result {
        self.check_writable()?;
        let at = offset.wrapping_add(self.first as u64);
        if at % size_of::<u64>() as u64 != 0 {
            return Err(EINVAL);
        }
        self.each_page(offset, size_of::<u64>(), |page, at, _, _| {
            f(page, at);
            Ok(())
        })
    }

    /// Changes the eight bytes at `offset` in one step, as seen by all processors, user space
    /// included; the result is what they were. They are a number of this machine.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EINVAL` if they are not aligned at the process's address, else as of [`Umem::write`].
    pub fn atomic64(&self, offset: u64, op: AtomicOp) -> Result<u64> {
        let mut old = 0;
        self.word(offset, |page, at| {
            old = match op {
                AtomicOp::FetchAdd(addend) => {
                    // SAFETY: The page is pinned by the type invariant; `word` gives eight aligned
                    // bytes of it that may be written to.
                    unsafe { bindings::oxe_helper_page_fetch_add(page, at, addend) }
                }
                AtomicOp::CompareSwap { compare, swap } => {
                    // SAFETY: As above.
                    unsafe { bindings::oxe_helper_page_cmpxchg(page, at, compare, swap) }
                }
            };
        })?;
        Ok(old)
    }

    /// Stores eight bytes in one piece, after all that was written before.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// As of [`Umem::atomic64`].
    pub fn write_u64_atomic(&self, offset: u64, value: u64) -> Result {
        self.word(offset, |page, at| {
            // SAFETY: The page is pinned by the type invariant; `word` gives eight aligned bytes of
            // it that may be written to.
            unsafe { bindings::oxe_helper_page_store(page, at, value) };
        })
    }
}

impl Drop for Umem {
    fn drop(&mut self) {
        // SAFETY: Ours by the type invariant; nobody uses the pages any more. The device's memory
        // is still there.
        unsafe { bindings::ib_umem_release(self.umem.as_ptr()) };
        // SAFETY: The reference is ours by the type invariant.
        unsafe { bindings::oxe_helper_ib_device_put_memory(self.dev.as_ptr()) };
    }
}
