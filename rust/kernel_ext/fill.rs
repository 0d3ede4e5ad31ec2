// SPDX-License-Identifier: GPL-2.0

//! Memory that is being initialised.

use core::{
    marker::PhantomData,
    mem::MaybeUninit,
    ptr,
    slice, //
};
use kernel::prelude::*;

/// Memory that is being initialised, from the front on: what has not been written cannot be read.
///
/// # Invariants
///
/// `start` points to `capacity` bytes that may be written to, and that nobody else has access to
/// for `'a`; the first `filled` of them, which are no more than that, are initialised.
pub struct Filler<'a> {
    start: *mut u8,
    filled: usize,
    capacity: usize,
    memory: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

impl Filler<'_> {
    /// Begins with `capacity` bytes at `start`.
    ///
    /// # Safety
    ///
    /// They may be written to, and nobody else has access to them for the lifetime of the result.
    pub(crate) unsafe fn new(start: *mut u8, capacity: usize) -> Self {
        // INVARIANT: By the contract.
        Self {
            start,
            filled: 0,
            capacity,
            memory: PhantomData,
        }
    }

    /// Where it begins.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Bytes that are still to be written.
    #[inline]
    pub fn left(&self) -> usize {
        // By the type invariant there is no underflow.
        self.capacity.wrapping_sub(self.filled)
    }

    /// What has been written.
    #[inline]
    pub fn filled(&self) -> &[u8] {
        // SAFETY: By the type invariant these bytes are initialised, and nobody else writes to
        // them.
        unsafe { slice::from_raw_parts(self.start, self.filled) }
    }

    /// Where the next `len` bytes go to.
    ///
    /// # Errors
    ///
    /// `EFAULT` if that is more than is left.
    #[inline]
    pub(crate) fn next(&self, len: usize) -> Result<*mut u8> {
        if len > self.left() {
            return Err(EFAULT);
        }
        Ok(self.start.wrapping_add(self.filled))
    }

    /// The next `len` bytes have been written.
    ///
    /// # Safety
    ///
    /// They have, and [`Self::next`] has said that there is room for them.
    #[inline]
    pub(crate) unsafe fn advance(&mut self, len: usize) {
        // INVARIANT: By the contract.
        self.filled = self.filled.wrapping_add(len);
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    ///
    /// `EFAULT` if there is no room for them all; nothing is written then.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> Result {
        let next = self.next(bytes.len())?;
        // SAFETY: There is room for the bytes at `next`, and by the type invariant nobody else has
        // access to it.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), next, bytes.len()) };
        // SAFETY: Just written.
        unsafe { self.advance(bytes.len()) };
        Ok(())
    }
}
