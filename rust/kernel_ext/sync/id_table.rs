// SPDX-License-Identifier: GPL-2.0

//! From a number to an object, read under RCU: one lookup, no lock, no reference count.
//!
//! C header: [`include/linux/xarray.h`](srctree/include/linux/xarray.h)

use crate::bindings;
use core::{
    marker::PhantomData,
    mem::{
        align_of,
        ManuallyDrop, //
    },
    ptr, //
};
use kernel::{
    prelude::*,
    sync::{
        rcu,
        Arc,
        ArcBorrow, //
    },
    types::Opaque, //
};

/// A table of `Arc<T>` by number.
///
/// The table's own reference is given up only after an RCU grace period ([`Unlinked`]), so what a
/// reader finds has a count of at least one for as long as the reader's critical section lasts.
///
/// # Invariants
///
/// Every entry came from [`Arc::into_raw`] and stands for one reference.
#[pin_data(PinnedDrop)]
pub struct IdTable<T: Send + Sync> {
    #[pin]
    xa: Opaque<bindings::xarray>,
    _entries: PhantomData<Arc<T>>,
}

// SAFETY: The xarray locks itself for writers and is read under RCU; the entries are `Send` and
// `Sync`.
unsafe impl<T: Send + Sync> Send for IdTable<T> {}
// SAFETY: As above.
unsafe impl<T: Send + Sync> Sync for IdTable<T> {}

impl<T: Send + Sync> IdTable<T> {
    /// An empty table.
    pub fn new() -> impl PinInit<Self> {
        // INVARIANT: No entries.
        pin_init!(Self {
            xa <- Opaque::ffi_init(|xa| {
                // SAFETY: `xa` is valid for writing and stays where it is.
                unsafe { bindings::oxe_helper_xa_init(xa) }
            }),
            _entries: PhantomData,
        })
    }

    /// Enters `value` under `id`.
    ///
    /// Context: process, may sleep.
    ///
    /// # Errors
    ///
    /// `EBUSY` if `id` is taken, `ENOMEM`.
    pub fn insert(&self, id: usize, value: Arc<T>) -> Result {
        const {
            assert!(
                align_of::<T>() >= 4,
                "the low bits of an xarray entry are the xarray's"
            );
        }
        let raw = Arc::into_raw(value).cast_mut();
        // INVARIANT: The entry came from `Arc::into_raw`.
        //
        // SAFETY: The xarray is initialised, and the entry is aligned as the xarray wants (asserted
        // above).
        let err = unsafe { bindings::oxe_helper_xa_insert(self.xa.get(), id, raw.cast()) };
        kernel::error::to_result(err).inspect_err(|_| {
            // SAFETY: It came from `Arc::into_raw` above and was not stored.
            drop(unsafe { Arc::from_raw(raw) });
        })
    }

    /// Looks `id` up.
    ///
    /// Context: any.
    pub fn get<'a>(&'a self, id: usize, _rcu: &'a rcu::Guard) -> Option<ArcBorrow<'a, T>> {
        // SAFETY: The xarray is initialised.
        let entry = unsafe { bindings::xa_load(self.xa.get(), id) };
        if entry.is_null() {
            return None;
        }
        // SAFETY: By the type invariant it came from `Arc::into_raw`; the table's reference
        // outlives the RCU critical section that `_rcu` stands for, since `Unlinked` waits for a
        // grace period.
        Some(unsafe { ArcBorrow::from_raw(entry.cast::<T>()) })
    }

    /// Takes `value` out if it is what stands under `id`; nobody finds it from now on.
    ///
    /// Context: process.
    pub fn remove(&self, id: usize, value: &T) -> Option<Unlinked<T>> {
        let wanted = ptr::from_ref(value).cast_mut().cast();
        // SAFETY: The xarray is initialised. The entry is compared, not followed.
        let entry = unsafe { bindings::oxe_helper_xa_erase_entry(self.xa.get(), id, wanted) };
        if entry != wanted {
            return None;
        }
        // SAFETY: What the xarray returned was an entry, so by the type invariant it came from
        // `Arc::into_raw`, and the table's reference is ours now.
        Some(Unlinked(ManuallyDrop::new(unsafe {
            Arc::from_raw(entry.cast())
        })))
    }
}

#[pinned_drop]
impl<T: Send + Sync> PinnedDrop for IdTable<T> {
    fn drop(self: Pin<&mut Self>) {
        let mut id = 0;
        loop {
            // SAFETY: The xarray is initialised and `id` is valid for writing.
            let entry = unsafe { bindings::oxe_helper_xa_first(self.xa.get(), &mut id) };
            if entry.is_null() {
                break;
            }
            // SAFETY: The xarray is initialised.
            unsafe { bindings::xa_erase(self.xa.get(), id) };
            // SAFETY: By the type invariant it came from `Arc::into_raw`. Nobody reads: a reader
            // would borrow the table.
            drop(unsafe { Arc::from_raw(entry.cast::<T>()) });
        }
    }
}

/// An object that is out of its table but may still be borrowed by readers.
///
/// Dropping it waits for a grace period, then gives the table's reference up. It must not be
/// dropped where an `rcu::Guard` is held: that is no place to wait. Context of the drop:
/// process. The wait is an expedited one: a process may leave many objects behind.
#[must_use = "dropping it waits for a grace period"]
pub struct Unlinked<T>(ManuallyDrop<Arc<T>>);

impl<T> Drop for Unlinked<T> {
    fn drop(&mut self) {
        // SAFETY: Process context, as the type asks for; no RCU critical section is open there.
        unsafe { bindings::synchronize_rcu_expedited() };
        // SAFETY: Dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}
