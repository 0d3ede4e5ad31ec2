// SPDX-License-Identifier: GPL-2.0

//! `rdma link add NAME type TYPE netdev DEV`.
//!
//! `rdma link del` needs nothing of the driver: ib_core unregisters the device.
//!
//! C header: [`include/rdma/rdma_netlink.h`](srctree/include/rdma/rdma_netlink.h)

use crate::{
    bindings,
    net::NetDevice, //
};
use core::{
    marker::PhantomData,
    ptr::NonNull, //
};
use kernel::{
    error::from_result,
    prelude::*,
    types::Opaque, //
};

/// A type of links.
///
/// The C callback has no context argument, hence a type and no value.
pub trait LinkDriver: 'static {
    /// What stands behind `type`.
    const TYPE: &'static CStr;

    /// Makes an RDMA device called `name` on `netdev`.
    ///
    /// Context: process, sleeps. The network device is kept for the duration of the call, but may
    /// be unregistered.
    fn new_link(name: &CStr, netdev: &NetDevice) -> Result;
}

/// While it lives, links of `T`'s type can be made. Dropping it waits for calls that run.
///
/// # Invariants
///
/// `ops` is registered.
#[pin_data(PinnedDrop)]
pub struct Registration<T: LinkDriver> {
    #[pin]
    ops: Opaque<bindings::rdma_link_ops>,
    _driver: PhantomData<T>,
}

// SAFETY: The C struct is touched by C alone, under its own lock.
unsafe impl<T: LinkDriver> Send for Registration<T> {}
// SAFETY: As above.
unsafe impl<T: LinkDriver> Sync for Registration<T> {}

impl<T: LinkDriver> Registration<T> {
    /// Registers the type. Context: process.
    ///
    /// # Errors
    ///
    /// `EEXIST` if there is such a type already.
    pub fn new() -> impl PinInit<Self, Error> {
        // INVARIANT: Registered by the last step of the initialisation, or not initialised.
        try_pin_init!(Self {
            ops <- Opaque::try_ffi_init(|ops: *mut bindings::rdma_link_ops| {
                // SAFETY: Valid for writing.
                unsafe {
                    ops.write(bindings::rdma_link_ops {
                        type_: T::TYPE.as_char_ptr(),
                        newlink: Some(newlink_callback::<T>),
                        ..Default::default()
                    });
                }
                // SAFETY: Initialised, and stays where it is until the drop unregisters it.
                unsafe { bindings::rdma_link_register(ops) };
                // SAFETY: Initialised above. ib_core links the type in, or refuses silently.
                if unsafe { (*ops).list.next.is_null() } {
                    return Err(EEXIST);
                }
                Ok(())
            }),
            _driver: PhantomData,
        })
    }
}

#[pinned_drop]
impl<T: LinkDriver> PinnedDrop for Registration<T> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: Registered by the type invariant.
        unsafe { bindings::rdma_link_unregister(self.ops.get()) };
    }
}

/// # Safety
///
/// Only as a `rdma_link_ops.newlink`.
unsafe extern "C" fn newlink_callback<T: LinkDriver>(
    name: *const c_char,
    netdev: *mut bindings::net_device,
) -> c_int {
    from_result(|| {
        let netdev = NonNull::new(netdev).ok_or(EINVAL)?;
        // SAFETY: ib_core passes a C string.
        let name = unsafe { CStr::from_char_ptr(name) };
        // SAFETY: ib_core holds a reference during the call.
        T::new_link(name, unsafe { NetDevice::from_raw(netdev) })?;
        Ok(0)
    })
}
