// SPDX-License-Identifier: GPL-2.0

//! Counters of a port: `rdma statistic show link`, `/sys/class/infiniband/*/ports/1/hw_counters`.

use crate::bindings;
use core::marker::PhantomData;
use kernel::prelude::*;

/// The name of a counter.
#[repr(transparent)]
pub struct Descriptor(bindings::rdma_stat_desc);

// SAFETY: The name is static, and nothing is ever written.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    /// A counter called `name`.
    pub const fn new(name: &'static CStr) -> Self {
        Self(bindings::rdma_stat_desc {
            name: name.as_ptr().cast(),
            flags: 0,
            priv_: core::ptr::null(),
        })
    }
}

/// The names of all counters of a port.
pub type Descriptors = [Descriptor];

/// Allocates the C side of the counters; they are read at most once per
/// `RDMA_HW_STATS_DEFAULT_LIFESPAN` ms.
pub(crate) fn alloc(descriptors: &'static Descriptors) -> *mut bindings::rdma_hw_stats {
    let Ok(len) = c_int::try_from(descriptors.len()) else {
        return core::ptr::null_mut();
    };
    // SAFETY: The descriptors are static, `len` of them, and transparent over the C struct.
    unsafe {
        bindings::rdma_alloc_hw_stats_struct(
            descriptors.as_ptr().cast(),
            len,
            bindings::RDMA_HW_STATS_DEFAULT_LIFESPAN as c_ulong,
        )
    }
}

/// Where the values of the counters go, in the order of the names.
pub struct Counters<'a> {
    values: *mut u64,
    left: usize,
    _stats: PhantomData<&'a mut bindings::rdma_hw_stats>,
}

impl<'a> Counters<'a> {
    /// # Safety
    ///
    /// `stats` must be valid for `'a`, made by [`alloc`], and nobody else's
    /// meanwhile.
    pub(crate) unsafe fn from_raw(stats: *mut bindings::rdma_hw_stats) -> Self {
        Self {
            // SAFETY: By the contract; the values are the array at the end of the struct.
            values: unsafe { (&raw mut (*stats).value).cast() },
            // SAFETY: As above.
            left: usize::try_from(unsafe { (*stats).num_counters }).unwrap_or(0),
            _stats: PhantomData,
        }
    }

    /// Sets the next counter; what is more than there are names is ignored.
    pub fn push(&mut self, value: u64) {
        if self.left == 0 {
            return;
        }
        // SAFETY: `left` values are left, from `values` on.
        unsafe { self.values.write(value) };
        // SAFETY: At most one past the end, since `left` was not 0.
        self.values = unsafe { self.values.add(1) };
        self.left = self.left.saturating_sub(1);
    }
}
