// SPDX-License-Identifier: GPL-2.0

//! Memory of the kernel that a process may map: rings of queues.
//!
//! What a process can write to changes at any time. Nothing here makes a reference into the memory
//! or reads a byte twice: words are loaded and stored atomically, everything else is copied.

use crate::bindings;
use core::ptr::NonNull;
use kernel::{
    page::{
        page_align,
        PAGE_SIZE, //
    },
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Release, //
        },
        Arc, //
    }, //
};

/// Zeroed pages that [`User::map`](super::User::map) shares with a process, which they are charged
/// to (its memory cgroup).
///
/// A page that a process has mapped lives on without this: the mapping has a reference to each.
///
/// Dropping it frees the pages; context of the drop: process, may sleep.
///
/// # Invariants
///
/// `start` is the beginning of `len` bytes of vmalloc memory; `len` is a multiple of the page
/// size and fits in 32 bits.
pub struct UserMemory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: Any thread may free or access vmalloc memory, which is mapped for all.
unsafe impl Send for UserMemory {}
// SAFETY: All accesses are atomic or copies that expect the memory to change meanwhile.
unsafe impl Sync for UserMemory {}

impl UserMemory {
    /// Allocates `bytes`, rounded up to pages.
    ///
    /// Context: process, may sleep.
    ///
    /// # Errors
    ///
    /// `EINVAL` for nothing and for more than 32 bits can count, `ENOMEM`.
    pub fn new(bytes: usize) -> Result<Arc<Self>> {
        let len = page_align(bytes).ok_or(EINVAL)?;
        if len == 0 || u32::try_from(len).is_err() {
            return Err(EINVAL);
        }
        // SAFETY: Any size but zero may be asked for.
        let start = unsafe { bindings::oxe_helper_vmalloc_shared(len) };
        let start = NonNull::new(start.cast()).ok_or(ENOMEM)?;
        // INVARIANT: Just allocated, of a size that was checked above.
        Ok(Arc::new(Self { start, len }, GFP_KERNEL_ACCOUNT)?)
    }

    /// Bytes, whole pages.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: there is at least one page.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The first byte.
    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }

    /// Where the `len` bytes at `offset` are, if they are inside.
    fn at(&self, offset: usize, len: usize) -> Option<*mut u8> {
        let end = offset.checked_add(len)?;
        if end > self.len {
            return None;
        }
        Some(self.start.as_ptr().wrapping_add(offset))
    }

    fn word(&self, offset: usize) -> Option<&Atomic<u32>> {
        if offset % size_of::<u32>() != 0 {
            return None;
        }
        let at = self.at(offset, size_of::<u32>())?;
        // SAFETY: By the type invariant the four bytes at `at` are valid for as long as `self`, and
        // they are aligned, since `start` is a page's. The kernel accesses them through `Atomic`
        // and through C's memcpy, with which the kernel's memory model allows for races.
        Some(unsafe { Atomic::from_ptr(at.cast()) })
    }

    /// Loads the word at `offset`: what its writer had written before it stored the word is seen
    /// from now on. `None` if it is not aligned or not inside.
    ///
    /// Context: any.
    pub fn load_acquire_u32(&self, offset: usize) -> Option<u32> {
        Some(self.word(offset)?.load(Acquire))
    }

    /// Stores the word at `offset` after everything that was written before. `None` if it is not
    /// aligned or not inside.
    ///
    /// Context: any.
    pub fn store_release_u32(&self, offset: usize, value: u32) -> Option<()> {
        self.word(offset)?.store(value, Release);
        Some(())
    }

    /// Copies bytes out, each read once.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EFAULT` if they are not all inside.
    pub fn copy_from(&self, offset: usize, to: &mut [u8]) -> Result {
        let from = self.at(offset, to.len()).ok_or(EFAULT)?;
        // SAFETY: By the type invariant `from` is valid for reading that many bytes, `to` is valid
        // for writing as many and is no part of the shared memory. It is C that copies: the memory
        // may change meanwhile.
        unsafe { bindings::oxe_helper_copy(to.as_mut_ptr().cast(), from.cast(), to.len()) };
        Ok(())
    }

    /// Copies bytes in, each written once.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EFAULT` if there is no room for them all.
    pub fn copy_to(&self, offset: usize, from: &[u8]) -> Result {
        let to = self.at(offset, from.len()).ok_or(EFAULT)?;
        // SAFETY: By the type invariant `to` is valid for writing that many bytes, `from` is valid
        // for reading as many and is no part of the shared memory. It is C that copies: the memory
        // may change meanwhile.
        unsafe { bindings::oxe_helper_copy(to.cast(), from.as_ptr().cast(), from.len()) };
        Ok(())
    }
}

const _: () = assert!(PAGE_SIZE % size_of::<u32>() == 0);

impl Drop for UserMemory {
    fn drop(&mut self) {
        // SAFETY: By the type invariant it came from vmalloc(); nobody has a pointer into it.
        unsafe { bindings::vfree(self.as_ptr()) };
    }
}
