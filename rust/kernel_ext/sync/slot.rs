// SPDX-License-Identifier: GPL-2.0

//! A static through which C callbacks that carry no context find the module's state.

use core::ptr;
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Full, //
        },
        rcu,
        Arc,
        ArcBorrow, //
    }, //
};

/// Holds at most one `Arc<T>`, readable from any context.
///
/// # Invariants
///
/// The pointer is null or came from [`Arc::into_raw`], and the reference count that it stands for
/// is dropped only after the pointer was taken out and an RCU grace period has passed.
pub struct Slot<T: 'static>(Atomic<*mut T>);

impl<T: Send + Sync + 'static> Slot<T> {
    /// An empty slot.
    pub const fn new() -> Self {
        // INVARIANT: The pointer is null.
        Self(Atomic::new(ptr::null_mut()))
    }

    /// What is published, if anything is.
    ///
    /// Context: any.
    pub fn get(&self) -> Option<Arc<T>> {
        let _rcu = rcu::read_lock();
        let value = self.0.load(Acquire);
        if value.is_null() {
            return None;
        }
        // SAFETY: By the type invariant the pointer came from `Arc::into_raw`, and its count is not
        // dropped before the end of this RCU read-side critical section.
        Some(unsafe { ArcBorrow::from_raw(value) }.into())
    }

    /// Publishes `value` until the result is dropped.
    ///
    /// # Errors
    ///
    /// `EBUSY` if something is published already.
    pub fn publish(&'static self, value: Arc<T>) -> Result<Published<T>> {
        let raw = Arc::into_raw(value).cast_mut();
        // INVARIANT: The pointer came from `Arc::into_raw`.
        match self.0.cmpxchg(ptr::null_mut(), raw, Full) {
            Ok(_) => Ok(Published(self)),
            Err(_) => {
                // SAFETY: It came from `Arc::into_raw` above and was not stored.
                drop(unsafe { Arc::from_raw(raw) });
                Err(EBUSY)
            }
        }
    }
}

impl<T: Send + Sync + 'static> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Keeps a value in its [`Slot`]. Dropping it empties the slot and waits for an RCU grace period.
///
/// Context of the drop: process.
pub struct Published<T: Send + Sync + 'static>(&'static Slot<T>);

impl<T: Send + Sync + 'static> Drop for Published<T> {
    fn drop(&mut self) {
        let raw = self.0 .0.xchg(ptr::null_mut(), Full);
        rcu::synchronize_rcu();
        if !raw.is_null() {
            // SAFETY: By the invariant of `Slot` it came from `Arc::into_raw`; the grace period has
            // passed, so no reader borrows the count any more.
            drop(unsafe { Arc::from_raw(raw) });
        }
    }
}
