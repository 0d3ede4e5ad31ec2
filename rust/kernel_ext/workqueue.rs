// SPDX-License-Identifier: GPL-2.0

//! A workqueue of one's own.
//!
//! C header: [`include/linux/workqueue.h`](srctree/include/linux/workqueue.h)

use crate::bindings;
use core::ptr::NonNull;
use kernel::{
    prelude::*,
    workqueue::{
        Queue,
        RawWorkItem,
        Work, //
    }, //
};

/// What a workqueue is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Slow administrative work.
    ///
    /// No `WQ_MEM_RECLAIM`: its items may wait for queues without (those of ib_core), and memory is
    /// not reclaimed by them.
    Administration,
    /// The traffic of queue pairs: of high priority, on any CPU, and with a worker of its own for
    /// when memory is short, since a disk may be behind the queue pair.
    ///
    /// Its items must not wait for queues that lack `WQ_MEM_RECLAIM`, such as the above.
    Traffic,
}

impl Purpose {
    /// The `WQ_*` flags.
    fn flags(self) -> c_uint {
        match self {
            Self::Administration => bindings::wq_flags_WQ_UNBOUND,
            Self::Traffic => {
                bindings::wq_flags_WQ_UNBOUND
                    | bindings::wq_flags_WQ_HIGHPRI
                    | bindings::wq_flags_WQ_MEM_RECLAIM
            }
        }
    }
}

/// An unbound workqueue; destroyed, once empty, when dropped.
///
/// It must not be dropped by one of its own work items: the drop waits for them.
///
/// # Invariants
///
/// The pointer is a workqueue that only the drop destroys.
pub struct OwnedQueue(NonNull<bindings::workqueue_struct>);

// SAFETY: Workqueues may be used from any thread.
unsafe impl Send for OwnedQueue {}
// SAFETY: As above.
unsafe impl Sync for OwnedQueue {}

impl OwnedQueue {
    /// Creates a queue whose workers are called `name`.
    ///
    /// Context: process.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(name: &CStr, purpose: Purpose) -> Result<Self> {
        // SAFETY: `name` is a C string; it is copied.
        let queue =
            unsafe { bindings::oxe_helper_alloc_workqueue(name.as_char_ptr(), purpose.flags()) };
        // INVARIANT: It was just made for us.
        Ok(Self(NonNull::new(queue).ok_or(ENOMEM)?))
    }

    /// Queues a work item; gives it back if it is queued already.
    ///
    /// Context: any. What is given back is the caller's to drop: the last reference to an object
    /// may be among it. There is no delayed variant: the drop does not wait for timers.
    pub fn enqueue<W, const ID: u64>(&self, work: W) -> W::EnqueueOutput
    where
        W: RawWorkItem<ID> + Send + 'static,
    {
        // SAFETY: Valid by the type invariant for as long as `self`; both types stand for the same
        // C struct.
        let queue = unsafe { Queue::from_raw(self.0.as_ptr().cast()) };
        queue.enqueue(work)
    }

    /// Waits until the queue is empty, what its items queue meanwhile included.
    ///
    /// Context: process, not from one of its own items. Nobody else may be queueing: the kernel
    /// warns if so.
    pub fn drain(&self) {
        // SAFETY: The queue is valid by the type invariant.
        unsafe { bindings::drain_workqueue(self.0.as_ptr()) };
    }
}

/// Waits for a work item that is queued or running; not for what is queued meanwhile.
///
/// Context: process, not from the item itself, and without anything that it waits for.
pub fn flush<T: ?Sized, const ID: u64>(work: &Work<T, ID>) {
    // SAFETY: `work` is valid, so is its field.
    let raw = unsafe { Work::raw_get(work) };
    // SAFETY: Work items are initialised where they are made, by `new_work!`, and pinned. Both
    // types stand for the same C struct.
    unsafe { bindings::flush_work(raw.cast()) };
}

impl Drop for OwnedQueue {
    fn drop(&mut self) {
        // SAFETY: By the type invariant it is ours; nobody can queue any more, since that takes a
        // reference to `self`.
        unsafe { bindings::destroy_workqueue(self.0.as_ptr()) };
    }
}
