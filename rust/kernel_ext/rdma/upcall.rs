// SPDX-License-Identifier: GPL-2.0

//! Calls to the user of a verbs object, whose C struct may go at any time.

use core::{
    ops::Deref,
    ptr::NonNull, //
};
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Full,
            Relaxed, //
        },
        Completion, //
    }, //
};

/// Set in [`Upcall::users`] where nobody may enter.
const CLOSED: i32 = 1 << 30;

/// A pointer to a C object of ib_core, for calls to the handlers that are in it.
///
/// ib_core frees the object the moment that the driver has destroyed it, with no grace period.
/// So who uses the pointer is counted, and [`Upcall::close`] waits: not for a grace period, which
/// would cost each object milliseconds when a process exits, and not under RCU, since a handler may
/// be one that sleeps.
///
/// # Invariants
///
/// `object` is valid while `users` is not closed or not 0.
#[pin_data]
pub(super) struct Upcall<C> {
    object: NonNull<C>,
    users: Atomic<i32>,
    #[pin]
    idle: Completion,
}

// SAFETY: The pointer is given to functions of C that lock for themselves.
unsafe impl<C> Send for Upcall<C> {}
// SAFETY: As above.
unsafe impl<C> Sync for Upcall<C> {}

impl<C> Upcall<C> {
    /// Closed: nobody can enter yet.
    pub(super) fn new(object: NonNull<C>) -> impl PinInit<Self> {
        // INVARIANT: Closed.
        pin_init!(Self {
            object,
            users: Atomic::new(CLOSED),
            idle <- Completion::new(),
        })
    }

    /// Lets callers in. Called once at most.
    ///
    /// # Safety
    ///
    /// The object must be valid until [`Upcall::close`] has returned.
    pub(super) unsafe fn open(&self) {
        // INVARIANT: By the contract.
        self.users.xchg(0, Full);
    }

    /// Waits until nobody is in, and lets nobody in any more. Called once, after the opening.
    ///
    /// Context: process, may sleep; not from one of the object's handlers.
    pub(super) fn close(&self) {
        if self.users.fetch_add(CLOSED, Full) != 0 {
            self.idle.wait_for_completion();
        }
    }

    /// The object, if it is there; it stays until the result is dropped.
    ///
    /// Context: any.
    pub(super) fn enter(&self) -> Option<Entered<'_, C>> {
        let mut users = self.users.load(Relaxed);
        while users < CLOSED {
            match self.users.cmpxchg(users, users.wrapping_add(1), Full) {
                Ok(_) => return Some(Entered(self)),
                Err(now) => users = now,
            }
        }
        None
    }
}

/// Keeps the object of an [`Upcall`].
pub(super) struct Entered<'a, C>(&'a Upcall<C>);

impl<C> Deref for Entered<'_, C> {
    type Target = NonNull<C>;

    fn deref(&self) -> &NonNull<C> {
        &self.0.object
    }
}

impl<C> Drop for Entered<'_, C> {
    fn drop(&mut self) {
        // Who enters is let in before the closing or not at all, so this is the last one.
        if self.0.users.fetch_sub(1, Full) == CLOSED.wrapping_add(1) {
            self.0.idle.complete_all();
        }
    }
}
