// SPDX-License-Identifier: GPL-2.0

//! Network namespaces.
//!
//! C header: [`include/net/net_namespace.h`](srctree/include/net/net_namespace.h)

use crate::bindings;
use core::{
    marker::PhantomData,
    ops::Deref,
    ptr::NonNull, //
};
use kernel::{
    prelude::*,
    types::Opaque, //
};

/// A network namespace that somebody else keeps alive.
#[repr(transparent)]
pub struct Net(Opaque<bindings::net>);

impl Net {
    /// # Safety
    ///
    /// `net` must be valid for `'a`.
    pub(crate) unsafe fn from_raw<'a>(net: NonNull<bindings::net>) -> &'a Self {
        // SAFETY: By the contract; the type is transparent.
        unsafe { net.cast().as_ref() }
    }

    /// The C struct.
    pub(crate) fn as_ptr(&self) -> *mut bindings::net {
        self.0.get()
    }

    /// A reference of one's own; none if the namespace is ending already.
    pub fn try_get(&self) -> Option<NetRef> {
        // SAFETY: `self` is valid.
        let net = unsafe { bindings::oxe_helper_maybe_get_net(self.as_ptr()) };
        // INVARIANT: The reference was just taken.
        NonNull::new(net).map(NetRef)
    }

    /// Tells namespaces apart.
    pub fn id(&self) -> NetId {
        NetId::of(self.as_ptr())
    }
}

/// A namespace that cannot end.
///
/// # Invariants
///
/// The pointer is a valid namespace, of which we hold a reference.
pub struct NetRef(NonNull<bindings::net>);

// SAFETY: Namespaces are reference counted and tied to no thread.
unsafe impl Send for NetRef {}
// SAFETY: As above; what a shared reference gives may be asked for by any thread.
unsafe impl Sync for NetRef {}

impl Deref for NetRef {
    type Target = Net;

    fn deref(&self) -> &Net {
        // SAFETY: Valid by the type invariant.
        unsafe { Net::from_raw(self.0) }
    }
}

impl Drop for NetRef {
    fn drop(&mut self) {
        // SAFETY: The reference is ours by the type invariant.
        unsafe { bindings::oxe_helper_put_net(self.0.as_ptr()) };
    }
}

/// The identity of a namespace. A number only: it keeps nothing alive and may be used anew after
/// the namespace's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetId(usize);

impl NetId {
    pub(crate) fn of(net: *mut bindings::net) -> Self {
        Self(net as usize)
    }

    /// The namespace, for who knows that it is still there.
    pub(super) fn as_ptr(self) -> *mut bindings::net {
        self.0 as *mut bindings::net
    }
}

/// Told of the end of namespaces.
///
/// The C callback has no context argument, hence a type and no value.
pub trait ExitHandler: 'static {
    /// The namespace begins to go: nothing of it has gone yet, its network devices are all there.
    ///
    /// Context: process, sleeps. Several namespaces may end at once.
    fn begin(_net: NetId) {}

    /// The namespace is going: its network devices are unregistered (or moved away), and its
    /// sockets have to be closed before this returns.
    ///
    /// Context: process, sleeps. Several namespaces may end at once.
    fn exit(net: NetId);
}

/// While it lives, `T` is told of the end of each namespace.
///
/// Dropping it reports the end of all namespaces that there are.
///
/// # Invariants
///
/// `ops` is registered.
#[pin_data(PinnedDrop)]
pub struct ExitHook<T: ExitHandler> {
    #[pin]
    ops: Opaque<bindings::pernet_operations>,
    _handler: PhantomData<T>,
}

// SAFETY: The C struct is touched by C alone, under its own lock.
unsafe impl<T: ExitHandler> Send for ExitHook<T> {}
// SAFETY: As above.
unsafe impl<T: ExitHandler> Sync for ExitHook<T> {}

impl<T: ExitHandler> ExitHook<T> {
    /// Registers the hook. Context: process.
    pub fn new() -> impl PinInit<Self, Error> {
        // INVARIANT: Registered by the last step of the initialisation.
        try_pin_init!(Self {
            ops <- Opaque::try_ffi_init(|ops: *mut bindings::pernet_operations| {
                // SAFETY: Valid for writing.
                unsafe {
                    ops.write(bindings::pernet_operations {
                        pre_exit: Some(pre_exit_callback::<T>),
                        exit: Some(exit_callback::<T>),
                        ..Default::default()
                    });
                }
                // SAFETY: Initialised, and stays where it is until the drop unregisters it.
                kernel::error::to_result(unsafe { bindings::register_pernet_subsys(ops) })
            }),
            _handler: PhantomData,
        })
    }
}

#[pinned_drop]
impl<T: ExitHandler> PinnedDrop for ExitHook<T> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: Registered by the type invariant. Waits for running callbacks.
        unsafe { bindings::unregister_pernet_subsys(self.ops.get()) };
    }
}

/// # Safety
///
/// Only as a `pernet_operations.pre_exit`.
unsafe extern "C" fn pre_exit_callback<T: ExitHandler>(net: *mut bindings::net) {
    T::begin(NetId::of(net));
}

/// # Safety
///
/// Only as a `pernet_operations.exit`.
unsafe extern "C" fn exit_callback<T: ExitHandler>(net: *mut bindings::net) {
    T::exit(NetId::of(net));
}
