// SPDX-License-Identifier: GPL-2.0

//! Network devices.
//!
//! C header: [`include/linux/netdevice.h`](srctree/include/linux/netdevice.h)

use super::{
    Net,
    NetId,
    RtnlGuard, //
};
use crate::bindings;
use core::ptr::{
    self,
    NonNull, //
};
use kernel::{
    fmt,
    prelude::*,
    sync::aref::AlwaysRefCounted,
    types::Opaque, //
};

/// A network device (`struct net_device`).
#[repr(transparent)]
pub struct NetDevice(Opaque<bindings::net_device>);

// SAFETY: Network devices are reference counted and used from all threads. The methods read words
// that C reads without a lock as well, or ask for the rtnl lock.
unsafe impl Send for NetDevice {}
// SAFETY: As above.
unsafe impl Sync for NetDevice {}

// SAFETY: `dev_hold` keeps the device's memory until `dev_put`, and all network devices are counted
// so.
unsafe impl AlwaysRefCounted for NetDevice {
    fn inc_ref(&self) {
        // SAFETY: `self` is valid.
        unsafe { bindings::oxe_helper_dev_hold(self.as_ptr()) };
    }

    unsafe fn dec_ref(dev: NonNull<Self>) {
        // SAFETY: The caller gives up a count of its own.
        unsafe { bindings::oxe_helper_dev_put(dev.cast().as_ptr()) };
    }
}

/// What a device's link layer is (`ARPHRD_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// Ethernet, real or emulated, with a 6-byte address.
    Ethernet,
    /// The loopback device.
    Loopback,
    /// Internet packets without a link layer, such as TUN.
    None,
    /// Anything else; the number is the `ARPHRD_*`.
    Other(u16),
}

/// An extended unique identifier of 64 bits, in the order of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eui64(pub [u8; 8]);

impl Eui64 {
    /// One made of a random, locally administered EUI-48.
    pub fn random() -> Self {
        let mut eui = [0; 8];
        // SAFETY: Valid for writing 8 bytes.
        unsafe { bindings::oxe_helper_random_eui64(eui.as_mut_ptr()) };
        Self(eui)
    }
}

impl NetDevice {
    /// # Safety
    ///
    /// `dev` must be valid for `'a`.
    pub(crate) unsafe fn from_raw<'a>(dev: NonNull<bindings::net_device>) -> &'a Self {
        // SAFETY: By the contract; the type is transparent.
        unsafe { dev.cast().as_ref() }
    }

    /// The C struct.
    pub(crate) fn as_ptr(&self) -> *mut bindings::net_device {
        self.0.get()
    }

    /// Whether both are the same device.
    pub fn is(&self, other: &Self) -> bool {
        ptr::eq(self.as_ptr(), other.as_ptr())
    }

    /// The namespace. The device does not leave it as long as the lock is held.
    pub fn net<'a>(&'a self, _rtnl: &'a RtnlGuard) -> &'a Net {
        // SAFETY: `self` is valid. The namespace is not null, is changed with the rtnl lock held
        // alone, and ends only after all its devices have left.
        unsafe {
            Net::from_raw(NonNull::new_unchecked(bindings::oxe_helper_dev_net(
                self.as_ptr(),
            )))
        }
    }

    /// Which namespace the device is in, at this moment.
    pub fn net_id(&self) -> NetId {
        // SAFETY: `self` is valid; the pointer is not followed.
        NetId::of(unsafe { bindings::oxe_helper_dev_net(self.as_ptr()) })
    }

    /// Interface index: unique in the namespace.
    pub fn ifindex(&self) -> usize {
        // SAFETY: `self` is valid.
        let ifindex = unsafe { bindings::oxe_helper_dev_ifindex(self.as_ptr()) };
        // Interface indices are positive.
        usize::try_from(ifindex).unwrap_or(0)
    }

    /// Maximum transfer unit in bytes, without link-layer header.
    pub fn mtu(&self) -> u32 {
        // SAFETY: `self` is valid.
        unsafe { bindings::oxe_helper_dev_mtu(self.as_ptr()) }
    }

    /// Link layer. Neither it nor the address changes as long as the lock is held.
    pub fn link_type(&self, _rtnl: &RtnlGuard) -> LinkType {
        // SAFETY: `self` is valid.
        let (loopback, raw, addr_len) = unsafe {
            (
                bindings::oxe_helper_dev_is_loopback(self.as_ptr()),
                bindings::oxe_helper_dev_type(self.as_ptr()),
                bindings::oxe_helper_dev_addr_len(self.as_ptr()),
            )
        };
        if loopback {
            return LinkType::Loopback;
        }
        match u32::from(raw) {
            bindings::ARPHRD_ETHER if addr_len == 6 => LinkType::Ethernet,
            bindings::ARPHRD_NONE => LinkType::None,
            _ => LinkType::Other(raw),
        }
    }

    /// The EUI-64 of an Ethernet device's address; none for other devices.
    pub fn eui64(&self, rtnl: &RtnlGuard) -> Option<Eui64> {
        if self.link_type(rtnl) != LinkType::Ethernet {
            return None;
        }
        let mut eui = [0; 8];
        // SAFETY: `self` is valid and has an address of 6 bytes; `eui` is valid for writing 8
        // bytes.
        unsafe { bindings::oxe_helper_dev_eui64(self.as_ptr(), eui.as_mut_ptr()) };
        Some(Eui64(eui))
    }

    /// Whether the administrator has set it up.
    pub fn is_up(&self) -> bool {
        // SAFETY: `self` is valid.
        unsafe { bindings::oxe_helper_dev_is_up(self.as_ptr()) }
    }

    /// Whether it is registered: not yet on its way out.
    pub fn is_registered(&self, _rtnl: &RtnlGuard) -> bool {
        // SAFETY: `self` is valid.
        unsafe { bindings::oxe_helper_dev_is_registered(self.as_ptr()) }
    }

    /// The device below, if this one is a VLAN; it may be a VLAN, too.
    ///
    /// Context: under the rtnl lock, or while a packet of the device is in hand.
    pub fn vlan_lower_dev(&self) -> Option<&Self> {
        // SAFETY: `self` is valid.
        let real = unsafe { bindings::oxe_helper_vlan_lower_dev(self.as_ptr()) };
        // SAFETY: A VLAN device holds a reference to the one below until it is freed itself.
        NonNull::new(real).map(|real| unsafe { Self::from_raw(real) })
    }

    /// Whether the interface `ifindex` of the same namespace is one above this: a VLAN on it, for
    /// instance, or the bond that it is part of.
    ///
    /// Context: any.
    pub fn is_below(&self, ifindex: usize) -> bool {
        c_int::try_from(ifindex)
            // SAFETY: `self` is valid.
            .is_ok_and(|index| unsafe { bindings::oxe_helper_dev_is_below(self.as_ptr(), index) })
    }

    /// The VLAN identifier, if this is a VLAN.
    pub fn vlan_id(&self) -> Option<u16> {
        // SAFETY: `self` is valid.
        let id = unsafe { bindings::oxe_helper_vlan_id(self.as_ptr()) };
        u16::try_from(id).ok()
    }

    /// A copy of the name, for messages.
    pub fn name(&self) -> NetDeviceName {
        let mut name = [0; 16];
        // SAFETY: `self` is valid, and `name` is of the size of an interface name.
        unsafe { bindings::oxe_helper_dev_name(self.as_ptr(), name.as_mut_ptr()) };
        NetDeviceName(name)
    }
}

/// The name that a device had.
pub struct NetDeviceName([u8; 16]);

impl fmt::Display for NetDeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = CStr::from_bytes_until_nul(&self.0).map_err(|_| fmt::Error)?;
        f.write_str(name.to_str().unwrap_or("?"))
    }
}
