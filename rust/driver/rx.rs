// SPDX-License-Identifier: GPL-2.0

//! From a datagram on port 4791 to the link that it is for.
//!
//! Context of all receiving: softirq, under RCU; no lock is taken.

use crate::link::Link;
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
use oxe_proto::wire::{
    packet::Packet,
    roce::MAX_HEADER_BYTES, //
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
        let payload_bytes = skb.len().saturating_sub(offset);
        link.counters.rcvd_pkts.increment();
        link.counters.rcvd_bytes.add(payload_bytes as u64);

        let mut head = [0; MAX_HEADER_BYTES];
        let there = payload_bytes.min(MAX_HEADER_BYTES);
        let head = head.get_mut(..there).unwrap_or_default();
        let packet = match skb.copy_bits(offset, head) {
            Ok(()) => Packet::parse(head, payload_bytes).ok(),
            Err(_) => None,
        };
        match packet {
            None => link.counters.rcvd_malformed.increment(),
            // There are no queue pairs.
            Some(_) => link.counters.rcvd_no_qp.increment(),
        }
    }
}
