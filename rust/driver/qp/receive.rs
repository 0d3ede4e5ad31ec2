// SPDX-License-Identifier: GPL-2.0

//! Packets for a queue pair.
//!
//! Context: softirq.

use super::{
    early::Held,
    env::Port,
    flow::clock,
    Data,
    Inner,
    Qp,
    Side, //
};
use crate::{
    datagrams::{
        parse,
        Datagrams, //
    },
    link::Link, //
};
use kernel::sync::ArcBorrow;
use kernel_ext::{
    net::SkBuff,
    rdma::Network, //
};
use oxe_proto::{
    transport::Verdict,
    types::{
        Instant,
        Qpn, //
    },
    wire::packet::Packet, //
};

/// Bytes of a management datagram (IBTA 13.4.2). A shorter one would leave what another peer has
/// sent in the rest of the buffer, which may go out again with the answer.
const MAD_BYTES: u32 = 256;

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

/// A packet for the engine: where it is now, or kept.
enum Source<'p, 's> {
    Fresh(&'p Datagrams<'s>, usize),
    Kept(Held),
}

impl Source<'_, '_> {
    fn data(&self, packet: &Packet, vlan: Option<u16>) -> Data<'_> {
        let (skb, offset, part) = match self {
            Self::Fresh(datagrams, number) => (
                datagrams.skb(),
                datagrams.offset(*number),
                datagrams.part(*number),
            ),
            Self::Kept(held) => (&held.skb, held.offset, None),
        };
        Data {
            skb,
            offset: offset.saturating_add(packet.header_bytes()),
            length: packet.data_bytes,
            vlan,
            part,
        }
    }

    /// Keeps it for later, if there is memory.
    fn keep(self) -> Option<Held> {
        match self {
            Self::Fresh(datagrams, number) => {
                let (skb, offset) = datagrams.keep(number).ok()?;
                Some(Held { skb, offset })
            }
            Self::Kept(held) => Some(held),
        }
    }
}

impl Inner {
    /// Gives a packet to the engine, and those that were held for it.
    fn handle(
        &mut self,
        now: Instant,
        packet: &Packet,
        datagrams: &Datagrams<'_>,
        number: usize,
        vlan: Option<u16>,
    ) {
        let mut next = Some((*packet, Source::Fresh(datagrams, number)));
        while let Some((packet, source)) = next.take() {
            let data = source.data(&packet, vlan);
            let mut port = Port {
                side: &mut self.side,
                packet: Some(data),
            };
            let verdict = self.engine.handle_packet(now, &packet, data, &mut port);
            if let Verdict::Hold(index) = verdict {
                let kept = source
                    .keep()
                    .is_some_and(|held| self.side.early.keep(now, index, held));
                if !kept {
                    self.engine.early_lost(index);
                }
            }
            while let Some(index) = self.engine.poll_early() {
                next = self.side.early.take(index).and_then(|held| {
                    let bytes = held.skb.len().checked_sub(held.offset)?;
                    let packet = parse(&held.skb, held.offset, bytes)?;
                    Some((packet, Source::Kept(held)))
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

    /// Datagrams came for it, by a VLAN or not: from `first` on, which has the headers `packet`,
    /// those for the same queue pair. How many these are.
    pub(crate) fn receive(
        this: ArcBorrow<'_, Self>,
        datagrams: &Datagrams<'_>,
        first: usize,
        packet: Packet,
        vlan: Option<u16>,
    ) -> usize {
        let counters = &this.link.counters;
        let mut inner = this.inner.lock();
        if inner.dead {
            return datagrams.alike(first, &packet);
        }
        if !inner.side.is_from_peer(datagrams.skb()) {
            drop(inner);
            let count = datagrams.alike(first, &packet);
            counters.rcvd_bad_address.add(count as u64);
            return count;
        }
        let now = clock();
        let (mut number, mut next) = (first, Some(packet));
        while let Some(packet) = next.take() {
            if datagrams.has_good_icrc(number) != Some(true) {
                counters.rcvd_bad_icrc.increment();
            } else if this.qpn == Qpn::GSI && packet.data_bytes != MAD_BYTES {
                counters.rcvd_malformed.increment();
            } else {
                inner.handle(now, &packet, datagrams, number, vlan);
            }
            number = number.saturating_add(1);
            next = datagrams
                .parse(number)
                .filter(|next| next.dest_qp == packet.dest_qp);
        }
        let more = inner.flow(now);
        Self::arm(this, &inner);
        let notices = inner.side.notices.take();
        drop(inner);
        Self::finish(this, notices, more);
        number.saturating_sub(first)
    }
}
