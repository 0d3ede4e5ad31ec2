// SPDX-License-Identifier: GPL-2.0

//! From a datagram on port 4791 to the link that it is for.
//!
//! Context of all receiving: softirq, under RCU; no lock is taken.

use crate::{
    datagrams::Datagrams,
    link::Link,
    qp::Qp, //
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
    fn receive(&self, netdev: &NetDevice, skb: SkBuff, offset: usize) {
        let rcu = rcu::read_lock();
        let Some(link) = self.find(netdev, &rcu) else {
            return;
        };
        let counters = &link.counters;
        let bytes = skb.len().saturating_sub(offset);
        counters.rcvd_bytes.add(bytes as u64);
        let datagrams = match Datagrams::of(&skb, offset) {
            Ok(datagrams) => datagrams,
            Err(count) => {
                counters.rcvd_pkts.add(count as u64);
                counters.rcvd_malformed.add(count as u64);
                return;
            }
        };
        counters.rcvd_pkts.add(datagrams.count() as u64);
        let mut number = 0;
        while number < datagrams.count() {
            let Some(packet) = datagrams.parse(number) else {
                counters.rcvd_malformed.increment();
                number = number.saturating_add(1);
                continue;
            };
            let Some(qp) = link.find_qp(packet.dest_qp, &rcu) else {
                counters.rcvd_no_qp.increment();
                number = number.saturating_add(1);
                continue;
            };
            let taken = Qp::receive(qp, &datagrams, number, packet, netdev.vlan_id());
            number = number.saturating_add(taken);
        }
    }
}
