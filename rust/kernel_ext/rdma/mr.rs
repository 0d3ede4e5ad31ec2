// SPDX-License-Identifier: GPL-2.0

//! Memory regions.

use super::{
    direct_memory::DirectMemory,
    object::Object,
    ops::no_udata,
    umem::Umem,
    Verbs, //
};
use crate::bindings;
use core::ptr::NonNull;
use kernel::{
    error::code::EOPNOTSUPP,
    prelude::*, //
};

/// Who may do what to a memory region, or through a queue pair (`enum ib_access_flags`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// This side may have it written to.
    pub local_write: bool,
    /// The peer may write.
    pub remote_write: bool,
    /// The peer may read.
    pub remote_read: bool,
    /// The peer may do atomic operations.
    pub remote_atomic: bool,
    /// Memory windows may be bound to it.
    pub mw_bind: bool,
    /// The peer may flush to where all see it.
    pub flush_global: bool,
    /// The peer may flush to persistence.
    pub flush_persistent: bool,
}

/// Each flag with its bit.
macro_rules! access_bits {
    ($($field:ident = $bit:ident,)*) => {
        /// All that [`Access`] has.
        const KNOWN_ACCESS: u32 = 0 $(| bindings::$bit)*;

        impl Access {
            /// Those that are known; others are left out.
            pub(super) fn from_bits_truncate(bits: c_int) -> Self {
                let bits = bits as u32;
                Self { $($field: bits & bindings::$bit != 0,)* }
            }

            /// As `enum ib_access_flags`.
            pub(super) fn bits(self) -> c_int {
                let mut bits = 0;
                $(if self.$field { bits |= bindings::$bit; })*
                bits as c_int
            }
        }
    };
}

access_bits! {
    local_write = ib_access_flags_IB_ACCESS_LOCAL_WRITE,
    remote_write = ib_access_flags_IB_ACCESS_REMOTE_WRITE,
    remote_read = ib_access_flags_IB_ACCESS_REMOTE_READ,
    remote_atomic = ib_access_flags_IB_ACCESS_REMOTE_ATOMIC,
    mw_bind = ib_access_flags_IB_ACCESS_MW_BIND,
    flush_global = ib_access_flags_IB_ACCESS_FLUSH_GLOBAL,
    flush_persistent = ib_access_flags_IB_ACCESS_FLUSH_PERSISTENT,
}

impl Access {
    /// Refuses flags that have to be obeyed and are not known, such as on-demand paging.
    fn from_bits(bits: c_int) -> Result<Self> {
        let may_be_ignored = bindings::ib_access_flags_IB_ACCESS_OPTIONAL;
        if bits as u32 & !(KNOWN_ACCESS | may_be_ignored) != 0 {
            return Err(EOPNOTSUPP);
        }
        Ok(Self::from_bits_truncate(bits))
    }
}

/// Memory of a process that it registers.
pub struct UserRegion {
    /// The memory; for writing if `access` has any flag by which it is written to.
    pub umem: Umem,
    /// Where it begins in the process.
    pub start: u64,
    /// Bytes.
    pub length: u64,
    /// Where it begins in the addresses of the wire and of work requests; it has the page offset of
    /// `start`.
    pub iova: u64,
    /// What may be done to it.
    pub access: Access,
}

/// The keys of a memory region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// For this side.
    pub lkey: u32,
    /// For the peer.
    pub rkey: u32,
}

/// Makes the C object for a region that the driver has.
fn finish<D>(
    made: Result<(D, Keys)>,
    room: KBox<Object<bindings::ib_mr, D>>,
) -> Result<*mut bindings::ib_mr> {
    let (data, keys) = made?;
    let mr = KBox::into_raw(room).cast::<bindings::ib_mr>();
    // SAFETY: Ours alone; it is the first member of the object.
    unsafe {
        (*mr).lkey = keys.lkey;
        (*mr).rkey = keys.rkey;
    }
    // SAFETY: Being created, of the object's size.
    unsafe { Object::init(mr, data) };
    Ok(mr)
}

/// `ib_device_ops.reg_user_mr`.
pub(super) unsafe extern "C" fn reg_user_mr<T: Verbs>(
    pd: *mut bindings::ib_pd,
    start: u64,
    length: u64,
    iova: u64,
    access: c_int,
    dmah: *mut bindings::ib_dmah,
    udata: *mut bindings::ib_udata,
) -> *mut bindings::ib_mr {
    let make = || {
        if !dmah.is_null() {
            return Err(EOPNOTSUPP);
        }
        // SAFETY: From ib_core, as an argument of this operation.
        unsafe { no_udata(udata)? };
        let flags = Access::from_bits(access)?;
        let room = Object::alloc()?;
        // SAFETY: Created by `alloc_pd`; not destroyed during an operation on it.
        let data = unsafe { Object::<_, T::Pd>::data(pd) };
        // SAFETY: ib_core has set it.
        let dev = NonNull::new(unsafe { (*pd).device }).ok_or(EINVAL)?;
        let region = UserRegion {
            // SAFETY: The device is there during the call.
            umem: unsafe { Umem::pin(dev, start, length, access)? },
            start,
            length,
            iova,
            access: flags,
        };
        finish(T::reg_user_mr(data, region), room)
    };
    make().unwrap_or_else(|e| e.to_ptr())
}

/// `ib_device_ops.get_dma_mr`.
pub(super) unsafe extern "C" fn get_dma_mr<T: Verbs>(
    pd: *mut bindings::ib_pd,
    access: c_int,
) -> *mut bindings::ib_mr {
    let make = || {
        let flags = Access::from_bits(access)?;
        let room = Object::alloc()?;
        // SAFETY: Created by `alloc_pd`; not destroyed during an operation on it.
        let data = unsafe { Object::<_, T::Pd>::data(pd) };
        // SAFETY: This is the operation.
        let memory = unsafe { DirectMemory::new() };
        finish(T::get_dma_mr(data, memory, flags), room)
    };
    make().unwrap_or_else(|e| e.to_ptr())
}

/// `ib_device_ops.dereg_mr`.
pub(super) unsafe extern "C" fn dereg_mr<T: Verbs>(
    mr: *mut bindings::ib_mr,
    _udata: *mut bindings::ib_udata,
) -> c_int {
    // SAFETY: Made by `finish`, and dropped below.
    T::dereg_mr(unsafe { Object::<_, T::Mr>::data(mr) });
    // SAFETY: ib_core deregisters it once, and then does not touch it any more.
    unsafe { Object::<_, T::Mr>::drop(mr) };
    // SAFETY: As above; `finish` took it from its box.
    drop(unsafe { KBox::from_raw(mr.cast::<Object<bindings::ib_mr, T::Mr>>()) });
    0
}
