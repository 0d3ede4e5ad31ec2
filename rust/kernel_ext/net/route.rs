// SPDX-License-Identifier: GPL-2.0

//! Routes of UDP flows.
//!
//! C headers: [`include/net/route.h`](srctree/include/net/route.h),
//! [`include/net/ip6_route.h`](srctree/include/net/ip6_route.h),
//! [`include/net/dst.h`](srctree/include/net/dst.h)

use super::{
    Family,
    NetId, //
};
use crate::bindings;
use core::ptr::{
    self,
    NonNull, //
};
use kernel::prelude::*;

/// A UDP flow over IPv4: what a route is chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowV4 {
    /// An address of this host.
    pub source: [u8; 4],
    /// Unicast or multicast.
    pub destination: [u8; 4],
    /// Type of service; the ECN bits do not count.
    pub tos: u8,
    /// Source port: counts where there are several paths.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

/// A UDP flow over IPv6: what a route is chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowV6 {
    /// An address of this host.
    pub source: [u8; 16],
    /// Unicast, link-local unicast or multicast.
    pub destination: [u8; 16],
    /// Traffic class.
    pub traffic_class: u8,
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Source port: counts where there are several paths.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

/// A UDP flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Over IPv4.
    V4(FlowV4),
    /// Over IPv6.
    V6(FlowV6),
}

/// The way that packets of a flow take, as the routing tables were when it was looked up: see
/// [`RouteCache`](super::RouteCache), which has them all.
///
/// It keeps neither the network device nor the namespace. A route of a device that has gone is no
/// longer valid, and what is sent by it is dropped.
///
/// # Invariants
///
/// `dst` is a valid route of an IP `family`, a reference to which is ours. Its namespace does not
/// end the parts that routing consists of as long as `self` exists: the route's operations and
/// counters are there.
pub struct Route {
    dst: NonNull<bindings::dst_entry>,
    family: Family,
    /// IPv6 tells by it whether the route is still the best one.
    cookie: u32,
}

// SAFETY: Routes are reference counted and tied to no thread.
unsafe impl Send for Route {}
// SAFETY: What the methods read may be read by any thread; C sees to what changes.
unsafe impl Sync for Route {}

impl Route {
    /// The route for a `flow` that leaves by the interface `oif` of the namespace `net`. If the
    /// destination is an address of that interface itself, the route leads back to this host.
    ///
    /// Context: process or softirq; does not sleep.
    ///
    /// # Errors
    ///
    /// `ENETUNREACH`, `EHOSTUNREACH`, `ENODEV` and others that IP gives; `EINVAL` for a source that
    /// is none; `ENOMEM`; `EAFNOSUPPORT` for IPv6 where the kernel runs without.
    ///
    /// # Safety
    ///
    /// No `exit` of a subsystem of `net` may have been called, nor be called before the route has
    /// been dropped.
    pub(super) unsafe fn look_up(net: NetId, oif: usize, flow: &Flow) -> Result<Self> {
        let oif = c_int::try_from(oif).map_err(|_| ENODEV)?;
        let mut dst = ptr::null_mut();
        // IPv4 does without.
        let mut cookie = 0;
        let (family, err) = match flow {
            Flow::V4(flow) => {
                // SAFETY: The namespace is valid by the contract, the addresses are of 4 bytes, and
                // `dst` may be written.
                let err = unsafe {
                    bindings::oxe_helper_route_v4(
                        net.as_ptr(),
                        oif,
                        flow.source.as_ptr(),
                        flow.destination.as_ptr(),
                        flow.tos,
                        flow.source_port,
                        flow.destination_port,
                        &mut dst,
                    )
                };
                (Family::V4, err)
            }
            Flow::V6(flow) => {
                // SAFETY: The namespace is valid by the contract, the addresses are of 16 bytes,
                // and `dst` and `cookie` may be written.
                let err = unsafe {
                    bindings::oxe_helper_route_v6(
                        net.as_ptr(),
                        oif,
                        flow.source.as_ptr(),
                        flow.destination.as_ptr(),
                        flow.traffic_class,
                        flow.flow_label,
                        flow.source_port,
                        flow.destination_port,
                        &mut dst,
                        &mut cookie,
                    )
                };
                (Family::V6, err)
            }
        };
        kernel::error::to_result(err)?;
        // INVARIANT: Just looked up in `net`, with a reference for us; the rest by the contract.
        Ok(Self {
            dst: NonNull::new(dst).ok_or(ENETUNREACH)?,
            family,
            cookie,
        })
    }

    /// The C struct.
    pub(super) fn as_ptr(&self) -> *mut bindings::dst_entry {
        self.dst.as_ptr()
    }

    /// Whether it is a route of IPv4 or IPv6.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Whether nothing has happened that calls for another lookup. Context: any but hard
    /// interrupts.
    pub fn is_valid(&self) -> bool {
        // SAFETY: The route and its namespace are valid by the type invariant.
        unsafe { bindings::oxe_helper_dst_is_valid(self.as_ptr(), self.cookie) }
    }

    /// Whether it leads back to this host. What is sent by it passes the loopback device and comes
    /// to [`Receiver`](super::Receiver) as any packet does, as come in by the device that has the
    /// destination address.
    pub fn is_local(&self) -> bool {
        match self.family {
            // SAFETY: A valid route of IPv4 by the type invariant.
            Family::V4 => unsafe { bindings::oxe_helper_dst_is_local_v4(self.as_ptr()) },
            // SAFETY: A valid route of IPv6 by the type invariant.
            Family::V6 => unsafe { bindings::oxe_helper_dst_is_local_v6(self.as_ptr()) },
        }
    }

    /// Bytes that an IP packet may have on the path, as far as is known. It changes with what path
    /// MTU discovery finds.
    pub fn mtu(&self) -> u32 {
        // SAFETY: The route and its namespace are valid by the type invariant.
        unsafe { bindings::oxe_helper_dst_mtu(self.as_ptr()) }
    }

    /// How many datagrams of `bytes` of payload each may go out together, by a
    /// [`TxBuffer`](super::TxBuffer): at least one. It changes with the settings of the interface.
    pub fn datagrams(&self, bytes: usize) -> usize {
        let bytes = c_uint::try_from(bytes).unwrap_or(c_uint::MAX).max(1);
        // SAFETY: The route is valid by the type invariant; it always has some device.
        unsafe { bindings::oxe_helper_dst_datagrams(self.as_ptr(), bytes) as usize }
    }

    /// Index of the interface that packets leave by; that of the loopback device if it is local.
    pub fn ifindex(&self) -> usize {
        // SAFETY: The route is valid by the type invariant; it always has some device.
        let ifindex = unsafe { bindings::oxe_helper_dst_ifindex(self.as_ptr()) };
        // Interface indices are positive.
        usize::try_from(ifindex).unwrap_or(0)
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        // SAFETY: The reference is ours by the type invariant.
        unsafe { bindings::dst_release(self.as_ptr()) };
    }
}
