// SPDX-License-Identifier: GPL-2.0

//! Synchronisation that the `kernel` crate lacks: lookup and publication under RCU, locks that are
//! shared with softirqs, timers.

mod id_table;
mod slot;
mod spinlock_bh;
pub mod timer;

use crate::bindings;

pub use id_table::{
    IdTable,
    Unlinked, //
};
pub use slot::{
    Published,
    Slot, //
};
pub use spinlock_bh::{
    new_spinlock_bh,
    SpinLockBh,
    SpinLockBhBackend,
    SpinLockBhGuard, //
};
pub use timer::{
    Timer,
    TimerHandler, //
};

/// Whether the caller may take a [`SpinLockBh`]: not in a hardirq and not with interrupts off.
///
/// Context: any.
#[inline]
pub fn may_lock_bh() -> bool {
    // SAFETY: A look at the state of this processor.
    unsafe { bindings::oxe_helper_may_run_softirqs() }
}
