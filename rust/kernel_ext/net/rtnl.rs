// SPDX-License-Identifier: GPL-2.0

//! The lock of the network configuration.
//!
//! C header: [`include/linux/rtnetlink.h`](srctree/include/linux/rtnetlink.h)

use crate::bindings;
use kernel::types::NotThreadSafe;

/// Evidence that this thread holds the rtnl lock: no network device is registered or unregistered
/// meanwhile.
///
/// # Invariants
///
/// The lock is held by this thread while the guard lives.
pub struct RtnlGuard(#[allow(dead_code)] NotThreadSafe);

impl RtnlGuard {
    /// Takes the lock. Context: process, without the lock.
    #[must_use]
    pub fn lock() -> Self {
        // SAFETY: Process context, by the contract of this function; a second lock by the same
        // thread would hang, which is not unsound.
        unsafe { bindings::rtnl_lock() };
        // INVARIANT: Just taken.
        Self(NotThreadSafe)
    }
}

impl Drop for RtnlGuard {
    fn drop(&mut self) {
        // SAFETY: Held by the type invariant.
        unsafe { bindings::rtnl_unlock() };
    }
}
