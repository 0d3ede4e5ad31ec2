// SPDX-License-Identifier: GPL-2.0

//! From a datagram on port 4791 to the link that it is for.
//!
//! Context of all receiving: softirq, under RCU; no lock is taken.

use crate::{
    link::Link,
    qp::{
        self,
        Qp, //
    },
    tx::KernelCrc, //
};
use kernel::{
    prelude::*,
    sync::{
        rcu,
        Arc,
        ArcBorrow, //
    }, //
};
use kernel_ext::{
    net::{
        NetDevice,
        NetId,
        Receiver,
        SkBuff, //
    },
    sync::IdTable, //
};
use oxe_proto::wire::icrc::Icrc;

/// The links of a namespace, by interface index.
#[pin_data]
pub(crate) struct PortTable {
    net: NetId,
    #[pin]
    links: IdTable<Link>,
}

impl PortTable {
    pub(crate) fn new(net: NetId) -> Result<Arc<Self>> {
        Arc::pin_init(pin_init!(Self { net, links <- IdTable::new() }), GFP_KERNEL)
    }

    /// The namespace.
    pub(crate) fn net(&self) -> NetId {
        self.net
    }

    /// Lets `link` receive what comes in by the interface `ifindex`. Context: process.
    pub(crate) fn insert(&self, link: &Arc<Link>, ifindex: usize) -> Result {
        self.links.insert(ifindex, link.clone())
    }

    /// Ends that, and waits for what is being received. Context: process. Any number of times.
    pub(crate) fn remove(&self, link: &Link, ifindex: usize) {
        drop(self.links.remove(ifindex, link));
    }

    /// The link for packets of `netdev`: its own or, for a VLAN, that of the nearest device below
    /// that has one.
    fn find<'a>(&'a self, netdev: &NetDevice, rcu: &'a rcu::Guard) -> Option<ArcBorrow<'a, Link>> {
        let mut netdev = netdev;
        loop {
            if let Some(link) = self.links.get(netdev.ifindex(), rcu) {
                return Some(link);
            }
            netdev = netdev.vlan_lower_dev()?;
            // The index of a device in another namespace means nothing here.
            if netdev.net_id() != self.net {
                return None;
            }
        }
    }
}

impl Receiver for PortTable {
    fn receive(&self, netdev: &NetDevice, mut skb: SkBuff, offset: usize) {
        let rcu = rcu::read_lock();
        let Some(link) = self.find(netdev, &rcu) else {
            return;
        };
        let counters = &link.counters;
        counters.rcvd_pkts.increment();
        counters
            .rcvd_bytes
            .add(skb.len().saturating_sub(offset) as u64);
        if skb.make_linear().is_err() {
            // As good as lost.
            return;
        }
        let Some(packet) = qp::parse(&skb, offset) else {
            counters.rcvd_malformed.increment();
            return;
        };
        let Some(qp) = link.find_qp(packet.dest_qp, &rcu) else {
            counters.rcvd_no_qp.increment();
            return;
        };
        if has_good_icrc(&skb, offset) != Some(true) {
            counters.rcvd_bad_icrc.increment();
            return;
        }
        Qp::receive(qp, &packet, skb, offset, netdev.vlan_id());
    }
}

/// Whether a packet's ICRC is that of its bytes; nothing if it has not all headers.
fn has_good_icrc(skb: &SkBuff, offset: usize) -> Option<bool> {
    let udp = skb.udp_header()?;
    let icrc = match skb.network_header_v4() {
        Some(ip) => Icrc::<KernelCrc>::over_ipv4(&ip, &udp),
        None => Icrc::<KernelCrc>::over_ipv6(&skb.network_header_v6()?, &udp),
    };
    let (body, carried) = skb.linear_payload(offset)?.split_last_chunk()?;
    Some(icrc.headers(body).finish() == *carried)
}
