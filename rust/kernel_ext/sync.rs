// SPDX-License-Identifier: GPL-2.0

//! Synchronisation that the `kernel` crate lacks: lookup and publication under RCU, locks that are
//! shared with softirqs, timers.

mod id_table;
mod slot;
mod spinlock_bh;
pub mod timer;

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
