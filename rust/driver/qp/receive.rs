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
    Qp, //
};
use crate::link::Link;
use kernel::sync::ArcBorrow;
use kernel_ext::net::SkBuff;
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

impl Inner {
    /// Gives a packet to the engine, and those that were held for it.
    fn handle(&mut self, now: Instant, packet: &Packet, skb: SkBuff, offset: usize) {
        let mut next = Some((*packet, Held { skb, offset }));
        while let Some((packet, held)) = next.take() {
            let data = Data {
                skb: &held.skb,
                offset: held.offset.saturating_add(packet.header_bytes()),
                length: packet.data_bytes,
            };
            let mut port = Port {
                side: &mut self.side,
                packet: Some(data),
            };
            let verdict = self.engine.handle_packet(now, &packet, data, &mut port);
            if let Verdict::Hold(index) = verdict {
                match self.side.held.get_mut(usize::from(index.0)) {
                    Some(place) => *place = Some(held),
                    None => self.engine.early_lost(index),
                }
            }
            while let Some(index) = self.engine.poll_early() {
                let place = self.side.held.get_mut(usize::from(index.0));
                if let Some(held) = place.and_then(Option::take) {
                    next = parse(&held.skb, held.offset).map(|packet| (packet, held));
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

    /// A packet came for it, whose ICRC is right.
    pub(crate) fn receive(this: ArcBorrow<'_, Self>, packet: &Packet, skb: SkBuff, offset: usize) {
        let mut inner = this.inner.lock();
        if inner.dead {
            return;
        }
        let now = clock();
        inner.handle(now, packet, skb, offset);
        let more = inner.flow(now);
        Self::arm(this, &inner);
        let notices = inner.side.notices.take();
        drop(inner);
        Self::finish(this, notices, more);
    }
}
