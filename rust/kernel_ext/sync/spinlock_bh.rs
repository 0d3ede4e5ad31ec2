// SPDX-License-Identifier: GPL-2.0

//! Spinlocks that are shared with softirqs.
//!
//! C header: [`include/linux/spinlock.h`](srctree/include/linux/spinlock.h)

use crate::bindings;
use kernel::{
    prelude::*,
    sync::lock::{
        Backend,
        Guard,
        Lock, //
    }, //
};

/// A spinlock whose holder is not interrupted by softirqs, so that they may take it, too.
///
/// Context: process and softirq, interrupts on (the unlock runs softirqs that have come up
/// meanwhile). The holder must not sleep.
pub type SpinLockBh<T> = Lock<T, SpinLockBhBackend>;

/// What a held [`SpinLockBh`] gives.
pub type SpinLockBhGuard<'a, T> = Guard<'a, T, SpinLockBhBackend>;

/// Creates a [`SpinLockBh`] with a lock class of its own; lockdep shows it under the given name.
#[macro_export]
macro_rules! new_spinlock_bh {
    ($inner:expr $(, $name:literal)? $(,)?) => {
        $crate::sync::SpinLockBh::new(
            $inner,
            ::kernel::optional_name!($($name)?),
            ::kernel::static_lock_class!(),
        )
    };
}
pub use new_spinlock_bh;

/// The backend of [`SpinLockBh`]: a `spinlock_t`, taken by `spin_lock_bh`.
pub struct SpinLockBhBackend;

// SAFETY: `spin_lock_bh` makes the caller the only owner until `spin_unlock_bh`, and the default
// `relock` takes the lock by the same function.
unsafe impl Backend for SpinLockBhBackend {
    type State = kernel::bindings::spinlock_t;
    type GuardState = ();

    unsafe fn init(
        ptr: *mut Self::State,
        name: *const c_char,
        key: *mut kernel::bindings::lock_class_key,
    ) {
        // SAFETY: The caller passes a lock valid for writing, and a name and a key that stay.
        unsafe { kernel::bindings::__spin_lock_init(ptr, name, key) }
    }

    #[inline]
    unsafe fn lock(ptr: *mut Self::State) {
        // SAFETY: The caller has initialised it; both types stand for the same C struct.
        unsafe { bindings::oxe_helper_spin_lock_bh(ptr.cast()) }
    }

    #[inline]
    unsafe fn try_lock(ptr: *mut Self::State) -> Option<()> {
        // SAFETY: As above. If it fails, softirqs are as they were before.
        unsafe { bindings::oxe_helper_spin_trylock_bh(ptr.cast()) }.then_some(())
    }

    #[inline]
    unsafe fn unlock(ptr: *mut Self::State, (): &()) {
        // SAFETY: The caller owns the lock.
        unsafe { bindings::oxe_helper_spin_unlock_bh(ptr.cast()) }
    }

    #[inline]
    unsafe fn assert_is_held(ptr: *mut Self::State) {
        // SAFETY: The caller has initialised it.
        unsafe { kernel::bindings::spin_assert_is_held(ptr) }
    }
}
