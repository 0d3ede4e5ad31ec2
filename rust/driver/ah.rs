// SPDX-License-Identifier: GPL-2.0

//! Address handles, and the way from an address to a route.

use crate::link::Link;
use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::{
    net::{
        FlowV4,
        FlowV6,
        Route, //
    },
    rdma::{
        AddressAttributes,
        Network, //
    },
    sync::{
        new_spinlock_bh,
        SpinLockBh, //
    }, //
};
use oxe_proto::{
    memory::PdId,
    types::Qpn,
    wire::{
        flow::FlowLabel,
        roce::UDP_PORT, //
    }, //
};

/// Where packets go, and the route there as it was when last used.
#[pin_data]
pub(crate) struct Path {
    pub(crate) address: AddressAttributes,
    /// UDP source port: one for the path's life, since ordering hangs on it.
    pub(crate) source_port: u16,
    pub(crate) flow_label: u32,
    #[pin]
    route: SpinLockBh<Option<Arc<Route>>>,
}

impl Path {
    /// The path from `local` to `remote` at an address.
    pub(crate) fn new(address: AddressAttributes, local: Qpn, remote: Qpn) -> impl PinInit<Self> {
        let label =
            FlowLabel::from_low_bits(address.flow_label).or(FlowLabel::between(local, remote));
        pin_init!(Self {
            source_port: label.source_port(),
            flow_label: address.flow_label,
            address,
            route <- new_spinlock_bh!(None, "oxe::Path::route"),
        })
    }

    /// A route that is valid now. Context: process or softirq.
    pub(crate) fn route(&self, link: &Link) -> Result<Arc<Route>> {
        let mut known = self.route.lock();
        if let Some(route) = known.as_ref().filter(|route| route.is_valid()) {
            return Ok(route.clone());
        }
        *known = None;
        let netdev = link.netdev().ok_or(ENODEV)?;
        let address = &self.address;
        let (source_port, destination_port) = (self.source_port, UDP_PORT);
        let route = match address.network {
            Network::V4 => Route::v4(
                &netdev,
                &FlowV4 {
                    source: v4(&address.sgid),
                    destination: v4(&address.dgid),
                    tos: address.traffic_class,
                    source_port,
                    destination_port,
                },
            )?,
            Network::V6 => Route::v6(
                &netdev,
                &FlowV6 {
                    source: address.sgid,
                    destination: address.dgid,
                    traffic_class: address.traffic_class,
                    flow_label: address.flow_label,
                    source_port,
                    destination_port,
                },
            )?,
        };
        let route = Arc::new(route, GFP_ATOMIC)?;
        *known = Some(route.clone());
        Ok(route)
    }
}

/// The IPv4 address in a mapped one.
pub(crate) fn v4(gid: &[u8; 16]) -> [u8; 4] {
    let [.., a, b, c, d] = *gid;
    [a, b, c, d]
}

/// An address handle.
pub(crate) struct Ah {
    link: Arc<Link>,
    pd: PdId,
    /// 0 if it is the kernel's, which needs no number.
    number: u32,
    path: Arc<Path>,
}

impl Ah {
    /// Makes one for a process. Context: process.
    pub(crate) fn new(link: &Arc<Link>, pd: PdId, address: AddressAttributes) -> Result<Arc<Self>> {
        link.objects.ah_count.take()?;
        let made = link.objects.ahs.insert_with(|number| {
            // Who will send by it is not known: each handle is a flow of its own.
            let path = Path::new(address, Qpn::from_low_bits(number), Qpn::GSI);
            let ah = Self {
                link: link.clone(),
                pd,
                number,
                path: Arc::pin_init(path, GFP_KERNEL)?,
            };
            Ok(Arc::new(ah, GFP_KERNEL)?)
        });
        if made.is_err() {
            link.objects.ah_count.give_back();
        }
        made
    }

    /// Makes one for the kernel. Context: any, unless `sleepable`.
    pub(crate) fn for_kernel(
        link: &Arc<Link>,
        pd: PdId,
        address: AddressAttributes,
        sleepable: bool,
    ) -> Result<Arc<Self>> {
        let flags = if sleepable { GFP_KERNEL } else { GFP_ATOMIC };
        // As above.
        let flow = Qpn::from_low_bits(link.objects.next_id() as u32);
        let ah = Self {
            link: link.clone(),
            pd,
            number: 0,
            path: Arc::pin_init(Path::new(address, flow, Qpn::GSI), flags)?,
        };
        let ah = Arc::new(ah, flags)?;
        link.objects.ah_count.take()?;
        Ok(ah)
    }

    /// What the process calls it.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// What it stands for.
    pub(crate) fn address(&self) -> AddressAttributes {
        self.path.address
    }

    /// The way to it, for a queue pair of domain `pd`.
    pub(crate) fn path_for(&self, pd: PdId) -> Option<Arc<Path>> {
        (self.pd == pd).then(|| self.path.clone())
    }

    /// Nobody finds it any more. Context: process; any for the kernel's.
    pub(crate) fn unlink(&self) {
        if self.number == 0 {
            self.link.objects.ah_count.give_back();
        } else if let Some(unlinked) = self.link.objects.ahs.remove(self.number, self) {
            drop(unlinked);
            self.link.objects.ah_count.give_back();
        }
    }
}
