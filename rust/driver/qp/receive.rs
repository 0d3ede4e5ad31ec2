// SPDX-License-Identifier: GPL-2.0

//! Packets for a queue pair.
//!
//! Context: softirq.

use super::{
    env::Port,
    flow::clock,
    Data,
    Held,
    Inner,
    Qp,
    Side, //
};
use crate::link::Link;
use kernel::sync::ArcBorrow;
use kernel_ext::{
    net::SkBuff,
    rdma::Network, //
};
use oxe_proto::{
    transport::Verdict,
    types::Instant,
    wire::{
        packet::Packet,
        roce::MAX_HEADER_BYTES, //
    }, //
};

/// A packet's headers, read again from where they are.
pub(crate) fn parse(skb: &SkBuff, offset: usize) -> Option<Packet> {
    let bytes = skb.len().saturating_sub(offset);
    let mut head = [0; MAX_HEADER_BYTES];
    let head = head.get_mut(..bytes.min(MAX_HEADER_BYTES))?;
    skb.copy_bits(offset, head).ok()?;
    Packet::parse(head, bytes).ok()
}

impl Side {
    /// Whether a packet comes from where a connection's packets go to, and to where they go from.
    fn is_from_peer(&self, skb: &SkBuff) -> bool {
        if self.datagram {
            return true;
        }
        let Some(path) = &self.path else {
            return false;
        };
        let (here, there) = (&path.address.sgid, &path.address.dgid);
        match path.address.network {
            Network::V4 => skb.network_header_v4().is_some_and(|header| {
                header.get(12..16) == there.get(12..) && header.get(16..) == here.get(12..)
            }),
            Network::V6 => skb.network_header_v6().is_some_and(|header| {
                header.get(8..24) == Some(there) && header.get(24..) == Some(here)
            }),
        }
    }
}

impl Inner {
    /// Gives a packet to the engine, and those that were held for it.
    fn handle(&mut self, now: Instant, packet: &Packet, held: Held) {
        let mut next = Some((*packet, held));
        while let Some((packet, held)) = next.take() {
            let data = Data {
                skb: &held.skb,
                offset: held.offset.saturating_add(packet.header_bytes()),
                length: packet.data_bytes,
                vlan: held.vlan,
            };
            let mut port = Port {
                side: &mut self.side,
                packet: Some(data),
            };
            let verdict = self.engine.handle_packet(now, &packet, data, &mut port);
            if let Verdict::Hold(index) = verdict {
                match self.side.held.get_mut(usize::from(index.0)) {
                    Some(place) => {
                        *place = Some(held);
                        self.side.holding = true;
                    }
                    None => self.engine.early_lost(index),
                }
            }
            while let Some(index) = self.engine.poll_early() {
                let place = self.side.held.get_mut(usize::from(index.0));
                let held = place.and_then(Option::take);
                next = held.and_then(|held| {
                    let packet = parse(&held.skb, held.offset)?;
                    Some((packet, held))
                });
                if next.is_some() {
                    break;
                }
            }
        }
    }
}

impl Qp {
    /// Whether it is a queue pair of that link.
    pub(crate) fn is_of(&self, link: &Link) -> bool {
        core::ptr::eq(&*self.link, link)
    }

    /// A packet came for it, by a VLAN or not, whose ICRC is right.
    pub(crate) fn receive(
        this: ArcBorrow<'_, Self>,
        packet: &Packet,
        skb: SkBuff,
        offset: usize,
        vlan: Option<u16>,
    ) {
        let mut inner = this.inner.lock();
        if inner.dead {
            return;
        }
        if !inner.side.is_from_peer(&skb) {
            this.link.counters.rcvd_bad_address.increment();
            return;
        }
        let now = clock();
        inner.handle(now, packet, Held { skb, offset, vlan });
        let more = inner.flow(now);
        Self::arm(this, &inner);
        let notices = inner.side.notices.take();
        drop(inner);
        Self::finish(this, notices, more);
    }
}
