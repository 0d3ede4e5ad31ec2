// SPDX-License-Identifier: GPL-2.0

//! Address handles, and the way from an address to a route.

use crate::link::Link;
use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::{
    net::{
        CachedRoute,
        Flow,
        FlowV4,
        FlowV6, //
    },
    rdma::{
        AddressAttributes,
        Network, //
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

/// Where packets go.
pub(crate) struct Path {
    pub(crate) address: AddressAttributes,
    /// UDP source port: one for the path's life, since ordering hangs on it.
    pub(crate) source_port: u16,
    pub(crate) flow_label: u32,
    flow: Flow,
    /// Its number among the link's paths, under which its route is kept.
    number: u64,
}

impl Path {
    /// The path of `link` from `local` to `remote` at an address.
    pub(crate) fn new(link: &Link, address: AddressAttributes, local: Qpn, remote: Qpn) -> Self {
        let label =
            FlowLabel::from_low_bits(address.flow_label).or(FlowLabel::between(local, remote));
        let (source_port, destination_port) = (label.source_port(), UDP_PORT);
        let flow = match address.network {
            Network::V4 => Flow::V4(FlowV4 {
                source: v4(&address.sgid),
                destination: v4(&address.dgid),
                tos: address.traffic_class,
                source_port,
                destination_port,
            }),
            Network::V6 => Flow::V6(FlowV6 {
                source: address.sgid,
                destination: address.dgid,
                traffic_class: address.traffic_class,
                flow_label: address.flow_label,
                source_port,
                destination_port,
            }),
        };
        Self {
            source_port,
            flow_label: address.flow_label,
            address,
            flow,
            number: link.objects.next_id(),
        }
    }

    /// A route that is valid now, which is locked. Context: process or softirq.
    ///
    /// # Errors
    ///
    /// What says that there is no way at present.
    pub(crate) fn route<'a>(&self, link: &'a Link) -> Result<CachedRoute<'a>> {
        let interface = usize::try_from(self.address.interface).unwrap_or(0);
        link.routes
            .get(self.number, &self.flow, || link.interface_out(interface))
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
            let path = Path::new(link, address, Qpn::from_low_bits(number), Qpn::GSI);
            let ah = Self {
                link: link.clone(),
                pd,
                number,
                path: Arc::new(path, GFP_KERNEL_ACCOUNT)?,
            };
            Ok(Arc::new(ah, GFP_KERNEL_ACCOUNT)?)
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
        let flags = if sleepable {
            GFP_KERNEL_ACCOUNT
        } else {
            GFP_ATOMIC
        };
        // As above.
        let flow = Qpn::from_low_bits(link.objects.next_id() as u32);
        let ah = Self {
            link: link.clone(),
            pd,
            number: 0,
            path: Arc::new(Path::new(link, address, flow, Qpn::GSI), flags)?,
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
