// SPDX-License-Identifier: GPL-2.0

//! What happens to network devices.
//!
//! C header: [`include/linux/netdevice.h`](srctree/include/linux/netdevice.h)

use super::NetDevice;
use crate::bindings;
use core::ptr::NonNull;
use kernel::{
    prelude::*,
    types::Opaque, //
};

/// An event of a network device (`enum netdev_cmd`), as far as an RDMA device cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is going away, or moving to another namespace; references have to be dropped.
    Unregister,
    /// It was set up, set down, or its carrier changed.
    LinkState,
    /// Its maximum transfer unit changed.
    Mtu,
}

impl Event {
    /// The event of a `NETDEV_*` number, unless nobody cares.
    fn from_raw(raw: c_ulong) -> Option<Self> {
        match u32::try_from(raw).ok()? {
            bindings::netdev_cmd_NETDEV_UNREGISTER => Some(Self::Unregister),
            bindings::netdev_cmd_NETDEV_UP
            | bindings::netdev_cmd_NETDEV_DOWN
            | bindings::netdev_cmd_NETDEV_CHANGE => Some(Self::LinkState),
            bindings::netdev_cmd_NETDEV_CHANGEMTU => Some(Self::Mtu),
            _ => None,
        }
    }
}

/// Takes the events of a [`Notifier`].
pub trait EventHandler: Send + Sync + 'static {
    /// `event` happened to `device`.
    ///
    /// Context: process, with the rtnl lock held.
    fn event(&self, event: Event, device: &NetDevice);
}

/// A subscription to the events of all network devices of all namespaces, until it is dropped. The
/// drop reports `Event::Unregister` for every device that there is.
///
/// # Invariants
///
/// `block` is registered from the end of the initialisation to the drop.
#[repr(C)]
#[pin_data(PinnedDrop)]
pub struct Notifier<T: EventHandler> {
    /// First, so that a pointer to it is one to the whole.
    #[pin]
    block: Opaque<bindings::notifier_block>,
    handler: T,
}

// SAFETY: The block is touched by C alone, under its own lock; the handler is `Send` and `Sync`.
unsafe impl<T: EventHandler> Send for Notifier<T> {}
// SAFETY: As above.
unsafe impl<T: EventHandler> Sync for Notifier<T> {}

impl<T: EventHandler> Notifier<T> {
    /// Subscribes. What there is already is reported as `Event::LinkState` to begin with.
    ///
    /// Context: process.
    pub fn new(handler: T) -> impl PinInit<Self, Error> {
        // INVARIANT: Registered by the last step of the initialisation.
        try_pin_init!(Self {
            handler,
            block <- Opaque::try_ffi_init(|block: *mut bindings::notifier_block| {
                // SAFETY: Valid for writing. `handler` is initialised before and the whole is
                // pinned, so the callback finds it behind the block.
                unsafe {
                    block.write(bindings::notifier_block {
                        notifier_call: Some(event_callback::<T>),
                        ..Default::default()
                    });
                }
                // SAFETY: The block is initialised and stays where it is until the drop unregisters
                // it.
                kernel::error::to_result(unsafe { bindings::register_netdevice_notifier(block) })
            }),
        })
    }
}

#[pinned_drop]
impl<T: EventHandler> PinnedDrop for Notifier<T> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: Registered by the type invariant. Waits for running callbacks.
        unsafe { bindings::unregister_netdevice_notifier(self.block.get()) };
    }
}

/// # Safety
///
/// Only as the call of a block inside of a pinned [`Notifier<T>`].
unsafe extern "C" fn event_callback<T: EventHandler>(
    block: *mut bindings::notifier_block,
    event: c_ulong,
    info: *mut c_void,
) -> c_int {
    if let Some(event) = Event::from_raw(event) {
        // SAFETY: `block` is the first member of a `Notifier<T>` that lives until the block is
        // unregistered.
        let notifier = unsafe { &*block.cast::<Notifier<T>>() };
        // SAFETY: The chain passes a valid `netdev_notifier_info`.
        let dev = unsafe { bindings::oxe_helper_notifier_info_to_dev(info) };
        if let Some(dev) = NonNull::new(dev) {
            // SAFETY: The device is valid for the duration of the call.
            let dev = unsafe { NetDevice::from_raw(dev) };
            notifier.handler.event(event, dev);
        }
    }
    bindings::NOTIFY_DONE as c_int
}
