// SPDX-License-Identifier: GPL-2.0

//! What a driver supplies.

use super::{
    stats,
    Device,
    DeviceAttributes,
    PortAttributes, //
};
use crate::{
    bindings,
    net::NetDevice, //
};
use kernel::{
    prelude::*,
    sync::aref::ARef, //
};

/// The user-space provider that drives the device (`enum rdma_driver_id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum DriverId {
    /// rdma-core's `rxe` provider.
    Rxe = bindings::rdma_driver_id_RDMA_DRIVER_RXE,
}

impl DriverId {
    /// The version of the user ABI that the provider and the driver share.
    pub(crate) const fn uverbs_abi(self) -> u32 {
        match self {
            // In no header. The provider takes 1 and 2; 2 has one layout on all machines.
            Self::Rxe => 2,
        }
    }
}

/// An RDMA driver: one port, RoCEv2, on a network device.
///
/// Functions may be called by any number of threads at once, in process context, and may sleep,
/// unless they say otherwise.
pub trait Driver: Sized + 'static {
    /// The module that the code is in. An open device does not pin it, but is taken from the
    /// process that has it open.
    type Module: kernel::ModuleMetadata;
    /// The driver's part of a device.
    type Data: Send + Sync;
    /// The driver's part of a user context: a process that has the device open.
    type Ucontext: Send + Sync;
    /// The driver's part of a protection domain.
    type Pd: Send + Sync;

    /// The provider that speaks the driver's user ABI.
    const DRIVER_ID: DriverId;
    /// Shown as the firmware version in sysfs.
    const FIRMWARE: &'static CStr;
    /// The names of the port's counters, in the order of [`Driver::read_counters`].
    const COUNTERS: &'static stats::Descriptors;

    /// The attributes of the device. Called once, at registration.
    fn device_attributes(dev: &Device<Self>) -> Result<DeviceAttributes>;

    /// The attributes of the port, now.
    fn port_attributes(dev: &Device<Self>) -> PortAttributes;

    /// The network device, as long as there is one.
    ///
    /// Context: process, must not sleep.
    fn netdev(dev: &Device<Self>) -> Option<ARef<NetDevice>>;

    /// Reads the counters into `values`, in the order of [`Driver::COUNTERS`].
    fn read_counters(dev: &Device<Self>, values: stats::Counters<'_>);

    /// A process opens the device.
    fn alloc_ucontext(dev: &Device<Self>) -> Result<Self::Ucontext>;

    /// A protection domain is made.
    fn alloc_pd(dev: &Device<Self>) -> Result<Self::Pd>;

    /// The device was unregistered, by whomever, or its registration failed: the last call for it.
    /// No other function is running or will be called.
    ///
    /// Do not unregister or register devices from here: ib_core holds the lock of this device's
    /// registration.
    fn released(data: Self::Data);
}
