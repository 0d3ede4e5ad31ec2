// SPDX-License-Identifier: GPL-2.0

//! The RDMA device of a link: what it says of itself, and its simplest objects.

use crate::{
    counters::Counters,
    limits,
    link::Link, //
};
use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    }, //
};
use kernel_ext::{
    net::NetDevice,
    rdma::{
        stats,
        Device,
        DeviceAttributes,
        Driver,
        DriverId,
        Mtu,
        PhysicalState,
        PortAttributes,
        PortState, //
    }, //
};

use oxe_proto::memory::PdId;

/// The driver. Its devices' part is the [`Link`].
pub(crate) struct OxeDevice;

/// A process that has the device open.
pub(crate) struct Ucontext(Arc<Link>);

impl Drop for Ucontext {
    fn drop(&mut self) {
        self.0.objects.ucontexts.give_back();
    }
}

/// A protection domain: no state, its identity is what counts.
pub(crate) struct Pd {
    pub(crate) link: Arc<Link>,
    pub(crate) id: PdId,
}

impl Drop for Pd {
    fn drop(&mut self) {
        self.link.objects.pds.give_back();
    }
}

impl Driver for OxeDevice {
    type Module = crate::LocalModule;
    type Data = Arc<Link>;
    type Ucontext = Ucontext;
    type Pd = Pd;

    /// The stock provider of rdma-core is `rxe`'s; oxe speaks its user ABI (`docs/uabi.md`).
    const DRIVER_ID: DriverId = DriverId::Rxe;
    const FIRMWARE: &'static CStr = limits::FIRMWARE_TEXT;
    const COUNTERS: &'static stats::Descriptors = Counters::NAMES;

    fn device_attributes(dev: &Device<Self>) -> Result<DeviceAttributes> {
        Ok(limits::device_attributes(dev.node_guid()))
    }

    fn port_attributes(dev: &Device<Self>) -> PortAttributes {
        let netdev = dev.data().netdev();
        let state = netdev
            .as_ref()
            .map_or(PortState::Down, |netdev| PortState::of(netdev));
        PortAttributes {
            state,
            physical_state: match &netdev {
                Some(_) if state == PortState::Active => PhysicalState::LinkUp,
                Some(netdev) if netdev.is_up() => PhysicalState::Polling,
                // Switched off, or without a network device: the RDMA device is about to go.
                _ => PhysicalState::Disabled,
            },
            max_mtu: Mtu::B4096,
            // There is no smaller MTU to name; packets that do not fit are refused by the network.
            active_mtu: netdev
                .as_ref()
                .and_then(|netdev| Mtu::of(netdev))
                .unwrap_or(Mtu::B256),
            physical_mtu: netdev.as_ref().map_or(0, |netdev| netdev.mtu()),
            max_message: limits::MAX_MESSAGE,
        }
    }

    fn netdev(dev: &Device<Self>) -> Option<ARef<NetDevice>> {
        dev.data().netdev()
    }

    fn read_counters(dev: &Device<Self>, mut to: stats::Counters<'_>) {
        for value in dev.data().counters.values() {
            to.push(value);
        }
    }

    fn alloc_ucontext(dev: &Device<Self>) -> Result<Ucontext> {
        let link = dev.data();
        link.objects.ucontexts.take()?;
        Ok(Ucontext(link.clone()))
    }

    fn alloc_pd(dev: &Device<Self>) -> Result<Pd> {
        let link = dev.data();
        link.objects.pds.take()?;
        Ok(Pd {
            id: PdId(link.objects.next_id()),
            link: link.clone(),
        })
    }

    fn released(link: Arc<Link>) {
        link.released();
    }
}
