// SPDX-License-Identifier: GPL-2.0

//! What a process may map of a device: one [`UserMemory`] for each offset that it was told.
//!
//! ib_core keeps the offsets of a user context, in entries that the driver allocates and ib_core
//! counts. An entry must be gone before its context is freed; [`Mappings`] sees to that, so that a
//! [`Mapping`] may be dropped at any time.
//!
//! The device may go while pages are mapped. Nothing is taken away from the process then: the pages
//! are ordinary memory, which the process's own mappings keep.

use super::UserMemory;
use crate::bindings;
use core::ptr::NonNull;
use kernel::{
    error::{
        from_result,
        to_result, //
    },
    mm::virt,
    new_mutex,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    },
    types::Opaque, //
};

/// What ib_core has of a mapping.
///
/// Made by [`Mappings::insert`], freed by [`mmap_free`]; all entries of our user contexts are such.
#[repr(C)]
struct Entry {
    /// First: what ib_core takes it for.
    c: Opaque<bindings::rdma_user_mmap_entry>,
    memory: Arc<UserMemory>,
}

/// The entries of a user context.
#[pin_data]
pub(super) struct Mappings {
    /// The context, until it goes.
    #[pin]
    context: Mutex<Option<ContextPtr>>,
}

/// A pointer to a user context, valid while it is in [`Mappings`].
struct ContextPtr(NonNull<bindings::ib_ucontext>);

// SAFETY: ib_core's functions on the entries of a context lock for themselves.
unsafe impl Send for ContextPtr {}

impl Mappings {
    /// Those of `context`, none yet.
    ///
    /// # Safety
    ///
    /// [`Mappings::close`] must be called before `context` is freed.
    pub(super) unsafe fn new(context: NonNull<bindings::ib_ucontext>) -> Result<Arc<Self>> {
        let init = pin_init!(Self {
            context <- new_mutex!(Some(ContextPtr(context)), "rdma::Mappings::context"),
        });
        Arc::pin_init(init, GFP_KERNEL_ACCOUNT)
    }

    /// Has `memory` mapped by whoever maps the offset that the result has.
    pub(super) fn insert(self: &Arc<Self>, memory: &Arc<UserMemory>) -> Result<Mapping> {
        let size = u32::try_from(memory.len()).map_err(|_| EINVAL)?;
        let entry = KBox::new(
            Entry {
                c: Opaque::zeroed(),
                memory: memory.clone(),
            },
            GFP_KERNEL_ACCOUNT,
        )?;
        let context = self.context.lock();
        let context_ptr = context.as_ref().ok_or(ENODEV)?.0.as_ptr();
        let entry = NonNull::from(KBox::leak(entry));
        let c = entry.as_ptr().cast::<bindings::rdma_user_mmap_entry>();
        // Not the offset 0, which some take for none.
        //
        // SAFETY: The context is valid, since `close` waits for the lock; the entry is ours.
        let err = unsafe {
            bindings::rdma_user_mmap_entry_insert_range(context_ptr, c, memory.len(), 1, u32::MAX)
        };
        to_result(err).inspect_err(|_| {
            // SAFETY: Leaked above; ib_core has refused it.
            drop(unsafe { KBox::from_raw(entry.as_ptr()) });
        })?;
        // SAFETY: ib_core has set it, and does not change it.
        let page = unsafe { (*c).start_pgoff };
        // INVARIANT: The context is there, as the lock is held, and ib_core has the entry, with the
        // one reference that it made for us.
        Ok(Mapping {
            entry,
            mappings: self.clone(),
            // The page number has 32 bits.
            offset: (page as u64).wrapping_mul(PAGE_SIZE as u64),
            size,
        })
    }

    /// Takes back all entries that are left; what is mapped stays mapped.
    ///
    /// Context: process, may sleep.
    pub(super) fn close(&self) {
        let mut context = self.context.lock();
        let Some(ContextPtr(ptr)) = context.take() else {
            return;
        };
        let mut page = 0;
        loop {
            // SAFETY: The context is valid until this function returns, by the contract of `new`.
            let entry = unsafe {
                bindings::oxe_helper_xa_find(&raw mut (*ptr.as_ptr()).mmap_xa, &mut page)
            };
            if entry.is_null() {
                break;
            }
            let entry = entry.cast::<bindings::rdma_user_mmap_entry>();
            // SAFETY: It is one of ours, whose reference nobody gives up: that takes the lock.
            page = unsafe { (*entry).start_pgoff.wrapping_add((*entry).npages) };
            // SAFETY: As above. The mapping finds that there is no context any more, and leaves the
            // reference to us.
            unsafe { bindings::rdma_user_mmap_entry_remove(entry) };
        }
    }
}

/// Memory that a process may map. Dropping it takes the offset back; what is mapped stays mapped.
///
/// Context of the drop: process, may sleep.
///
/// # Invariants
///
/// As long as `mappings` has a context, `entry` is valid and one reference of it is ours.
pub struct Mapping {
    entry: NonNull<Entry>,
    mappings: Arc<Mappings>,
    offset: u64,
    size: u32,
}

// SAFETY: The entry is touched under the lock of `mappings`.
unsafe impl Send for Mapping {}
// SAFETY: As above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// What the process has to pass as the offset to mmap().
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The most bytes that it may map there.
    pub fn size(&self) -> u32 {
        self.size
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let context = self.mappings.context.lock();
        if context.is_some() {
            // SAFETY: By the type invariant the reference is ours; the context stays while the lock
            // is held.
            unsafe { bindings::rdma_user_mmap_entry_remove(self.entry.as_ptr().cast()) };
        }
    }
}

/// `ib_device_ops.mmap`.
pub(super) unsafe extern "C" fn mmap(
    context: *mut bindings::ib_ucontext,
    vma: *mut bindings::vm_area_struct,
) -> c_int {
    from_result(|| {
        // SAFETY: ib_core passes on what the memory management gave it, under the mmap lock.
        let area = unsafe { virt::VmaRef::from_raw(vma.cast()) };
        if area.flags() & virt::flags::SHARED == 0 {
            return Err(EINVAL);
        }
        // SAFETY: As above.
        let page = unsafe { bindings::oxe_helper_vma_pgoff(vma) };
        // SAFETY: ib_core passes a valid context.
        let c = unsafe { bindings::rdma_user_mmap_entry_get_pgoff(context, page) };
        if c.is_null() {
            return Err(EINVAL);
        }
        // SAFETY: All entries of our contexts are such, and this one is valid until the put below.
        let memory = unsafe { (*c.cast::<Entry>()).memory.clone() };
        // SAFETY: Balances the get above; the memory has a reference of its own.
        unsafe { bindings::rdma_user_mmap_entry_put(c) };
        if area.end().saturating_sub(area.start()) > memory.len() {
            return Err(EINVAL);
        }
        // SAFETY: The area is being set up, and no larger than the memory, which is of vmalloc();
        // each page that is mapped gets a reference.
        to_result(unsafe { bindings::oxe_helper_map_vmalloc(vma, memory.as_ptr()) })?;
        Ok(0)
    })
}

/// `ib_device_ops.mmap_free`: the last reference to an entry has gone.
pub(super) unsafe extern "C" fn mmap_free(c: *mut bindings::rdma_user_mmap_entry) {
    // SAFETY: All entries of our contexts came from `Mappings::insert`; ib_core is done with it.
    drop(unsafe { KBox::from_raw(c.cast::<Entry>()) });
}
