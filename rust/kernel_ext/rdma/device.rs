// SPDX-License-Identifier: GPL-2.0

//! The life of a device: allocation, registration, the end.

use super::{
    driver::Driver,
    ops::VTable,
    Guid,
    Verbs, //
};
use crate::{
    bindings,
    net::{
        Net,
        NetDevice, //
    }, //
};
use core::{
    cell::UnsafeCell,
    marker::PhantomData,
    mem::{
        forget,
        offset_of,
        size_of,
        MaybeUninit, //
    },
    ptr::{
        self,
        NonNull, //
    }, //
};
use kernel::{
    error::{
        code::ENFILE,
        to_result, //
    },
    prelude::*,
    types::Opaque, //
};

/// An RDMA device: `struct ib_device` and the driver's part behind it.
///
/// There is a reference to one only where the driver's part is valid: inside of the calls of
/// [`Driver`] and of [`Handle::with_registered`].
///
/// # Invariants
///
/// `ib` is initialised by `_ib_alloc_device`; `data` is initialised until [`Driver::released`]
/// takes it.
#[repr(C)]
pub struct Device<T: Driver> {
    ib: Opaque<bindings::ib_device>,
    data: UnsafeCell<MaybeUninit<T::Data>>,
}

impl<T: Driver> Device<T> {
    /// The driver's part.
    pub fn data(&self) -> &T::Data {
        // SAFETY: By the type invariant and by where references come from, it is initialised and
        // not taken meanwhile.
        unsafe { (*self.data.get()).assume_init_ref() }
    }

    /// The node GUID.
    pub fn node_guid(&self) -> Guid {
        // SAFETY: Set before registration, not changed afterwards.
        let raw = unsafe { (*self.ib.get()).node_guid };
        // The C field is big-endian in memory.
        crate::net::Eui64(raw.to_ne_bytes())
    }

    /// Speed and width of the port, as `enum ib_port_speed` and `enum ib_port_width`.
    ///
    /// Context: process, takes the rtnl lock.
    pub(super) fn eth_speed(&self) -> Result<(u16, u8)> {
        let (mut speed, mut width) = (0, 0);
        // SAFETY: The device is valid, has a port 1, and both may be written.
        let err = unsafe { bindings::ib_get_eth_speed(self.ib.get(), 1, &mut speed, &mut width) };
        to_result(err)?;
        Ok((speed, width))
    }

    /// # Safety
    ///
    /// `ib` must be a device made by [`Unregistered::new`] for `T` whose `data` is not taken during
    /// `'a`.
    pub(super) unsafe fn from_raw<'a>(ib: *mut bindings::ib_device) -> &'a Self {
        // SAFETY: By the contract; `ib` is the first member.
        unsafe { &*ib.cast() }
    }

    /// Takes the driver's part out.
    ///
    /// # Safety
    ///
    /// Only in `dealloc_driver`: the last callback, called once.
    pub(super) unsafe fn take_data(ib: *mut bindings::ib_device) -> T::Data {
        // SAFETY: By the contract, initialised and used by nobody else.
        unsafe { (*(*ib.cast::<Self>()).data.get()).assume_init_read() }
    }
}

/// Most bytes of a description that ends with a zero.
const DESCRIPTION_BYTES: usize = bindings::IB_DEVICE_NODE_DESC_MAX as usize - 1;

/// A device that ib_core has not seen. Dropping it frees it, [`Driver::released`] included.
///
/// # Invariants
///
/// The pointer is a device of ours that was not registered.
pub struct Unregistered<'net, T: Driver>(NonNull<Device<T>>, PhantomData<&'net Net>);

impl<'net, T: Driver> Unregistered<'net, T> {
    /// Allocates a device for `net` (in shared mode ib_core takes the initial namespace instead),
    /// which moves no data.
    ///
    /// Context: process.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(net: &'net Net, node_guid: Guid, description: &CStr, data: T::Data) -> Result<Self> {
        // SAFETY: A table for `T`.
        unsafe { Self::with_ops(net, node_guid, description, data, &VTable::<T>::OPS) }
    }

    /// The same, with all that [`Verbs`] has.
    ///
    /// Context: process.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn with_verbs(
        net: &'net Net,
        node_guid: Guid,
        description: &CStr,
        data: T::Data,
    ) -> Result<Self>
    where
        T: Verbs,
    {
        // SAFETY: A table for `T`.
        unsafe { Self::with_ops(net, node_guid, description, data, &VTable::<T>::WITH_VERBS) }
    }

    /// # Safety
    ///
    /// The operations must be for devices of `T`.
    unsafe fn with_ops(
        net: &'net Net,
        node_guid: Guid,
        description: &CStr,
        data: T::Data,
        ops: &'static bindings::ib_device_ops,
    ) -> Result<Self> {
        const {
            assert!(offset_of!(Device<T>, ib) == 0);
            assert!(
                align_of::<Device<T>>() <= 8,
                "kmalloc promises no more for any size"
            );
        }
        // SAFETY: Not smaller than the C struct, which comes first.
        let ib = unsafe { bindings::_ib_alloc_device(size_of::<Device<T>>(), net.as_ptr()) };
        let dev = NonNull::new(ib.cast::<Device<T>>()).ok_or(ENOMEM)?;
        // SAFETY: Ours alone so far.
        unsafe { (*dev.as_ref().data.get()).write(data) };
        // INVARIANT: Just made.
        let this = Self(dev, PhantomData);
        // SAFETY: A valid, unregistered device; nobody else writes to it.
        unsafe {
            (*ib).node_type = bindings::RDMA_NODE_IB_CA as u8;
            (*ib).phys_port_cnt = 1;
            (*ib).num_comp_vectors = bindings::oxe_helper_num_possible_cpus() as c_int;
            (*ib).node_guid = u64::from_ne_bytes(node_guid.0);
            // Without these two, ib_core refuses the provider's doorbells.
            (*ib).uverbs_cmd_mask |= (1
                << bindings::ib_uverbs_write_cmds_IB_USER_VERBS_CMD_POST_SEND)
                | (1 << bindings::ib_uverbs_write_cmds_IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
            // All but the last byte, which stays zero.
            let room = &mut (*ib).node_desc[..DESCRIPTION_BYTES];
            for (to, from) in room.iter_mut().zip(description.to_bytes()) {
                *to = *from;
            }
            // The name comes from the user: no other name is tried, and udev leaves it alone.
            bindings::oxe_helper_ib_mark_name_assigned_by_user(ib);
            bindings::ib_set_device_ops(ib, ops);
        }
        Ok(this)
    }

    /// Registers the device; it belongs to ib_core from then on, and may be gone when this returns.
    ///
    /// Context: process, takes the rtnl lock.
    ///
    /// # Errors
    ///
    /// `EEXIST` if the name is taken; whatever ib_core says. The device is freed then.
    pub fn register(self, name: &CStr) -> Result<Registration<T>> {
        // SAFETY: A valid device.
        let handle = unsafe { Handle::new(self.0) };
        // SAFETY: By the type invariant; the name is a C string, which is copied. The namespace
        // lives for `'net`.
        let err = unsafe {
            bindings::ib_register_device(
                self.0.as_ptr().cast(),
                name.as_char_ptr(),
                ptr::null_mut(),
            )
        };
        // ENFILE is what ib_core's assign_name() says of a name that exists.
        to_result(err).map_err(|e| if e == ENFILE { EEXIST } else { e })?;
        forget(self);
        Ok(Registration(handle))
    }
}

impl<T: Driver> Drop for Unregistered<'_, T> {
    fn drop(&mut self) {
        // SAFETY: By the type invariant; calls `dealloc_driver`.
        unsafe { bindings::ib_dealloc_device(self.0.as_ptr().cast()) };
    }
}

/// A device that was registered, and may have been unregistered by others. Dropping it unregisters
/// the device if nobody has, and waits for anybody who is at it.
///
/// Context of the drop: that of [`Handle::unregister`].
pub struct Registration<T: Driver>(Handle<T>);

impl<T: Driver> Registration<T> {
    /// A handle of one's own.
    pub fn handle(&self) -> Handle<T> {
        self.0.clone()
    }
}

impl<T: Driver> Drop for Registration<T> {
    fn drop(&mut self) {
        self.0.unregister();
    }
}

/// A device that stays registered for `'a`.
pub struct Registered<'a, T: Driver>(&'a Device<T>);

impl<T: Driver> Registered<'_, T> {
    /// Lets the device's users know if the state of its port, which is that of `netdev`, is another
    /// than ib_core last told them.
    ///
    /// Context: process, interrupts on.
    pub fn port_state_changed(&self, netdev: &NetDevice) {
        // SAFETY: Both are valid. The device is registered, so ib_core waits for the work that this
        // queues before it frees it.
        unsafe { bindings::ib_dispatch_port_state_event(self.0.ib.get(), netdev.as_ptr()) };
    }
}

/// Keeps the memory of a device, registered or not, and gives no access to the driver's part.
///
/// # Invariants
///
/// The pointer is a device of ours of which we hold a device-model reference.
pub struct Handle<T: Driver>(NonNull<Device<T>>);

// SAFETY: ib_core's functions on devices lock for themselves; the driver's part, which
// `with_registered` leads to, is `Send` and `Sync`.
unsafe impl<T: Driver> Send for Handle<T> {}
// SAFETY: As above.
unsafe impl<T: Driver> Sync for Handle<T> {}

impl<T: Driver> Handle<T> {
    /// # Safety
    ///
    /// `dev` must be a valid device made by [`Unregistered::new`].
    unsafe fn new(dev: NonNull<Device<T>>) -> Self {
        // SAFETY: By the contract.
        unsafe { bindings::oxe_helper_ib_device_get_memory(dev.as_ptr().cast()) };
        // INVARIANT: The reference was just taken.
        Self(dev)
    }

    /// Unregisters the device if it is registered, and waits for anybody else who is at it:
    /// afterwards no callback runs, [`Driver::released`] included.
    ///
    /// Context: process, without the rtnl lock, not from [`Driver::released`].
    pub fn unregister(&self) {
        // SAFETY: The memory is valid by the type invariant, and that is all it takes: ib_core
        // looks under the lock of the registration whether there is anything left to do. (See
        // __ib_unregister_device.)
        unsafe { bindings::ib_unregister_device(self.0.as_ptr().cast()) };
    }

    /// Calls `f` if the device is registered; it stays so meanwhile.
    ///
    /// Context: any.
    pub fn with_registered<R>(&self, f: impl FnOnce(Registered<'_, T>) -> R) -> Option<R> {
        let ib = self.0.as_ptr().cast();
        // SAFETY: The memory is valid by the type invariant.
        if !unsafe { bindings::oxe_helper_ib_device_try_get(ib) } {
            return None;
        }
        // SAFETY: A registered device: `data` is taken only after it was unregistered, which waits
        // for the put below.
        let result = f(Registered(unsafe { Device::from_raw(ib) }));
        // SAFETY: Balances the get above.
        unsafe { bindings::ib_device_put(ib) };
        Some(result)
    }
}

impl<T: Driver> Clone for Handle<T> {
    fn clone(&self) -> Self {
        // SAFETY: Valid by the type invariant.
        unsafe { Self::new(self.0) }
    }
}

impl<T: Driver> Drop for Handle<T> {
    fn drop(&mut self) {
        // SAFETY: The reference is ours by the type invariant.
        unsafe { bindings::oxe_helper_ib_device_put_memory(self.0.as_ptr().cast()) };
    }
}
