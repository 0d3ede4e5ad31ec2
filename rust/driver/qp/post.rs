// SPDX-License-Identifier: GPL-2.0

//! Work requests that a process has put into its send queue.

use super::{
    flow::clock,
    Gather,
    Inner,
    Note,
    Qp, //
};
use kernel::{
    prelude::*,
    sync::{
        rcu,
        ArcBorrow, //
    }, //
};
use oxe_uabi::send::{
    self,
    Destination,
    Detail,
    SendElement, //
};

/// Requests that are taken over in one go.
const BUDGET: u32 = 256;

impl Inner {
    /// Whether the engine can take a request.
    pub(super) fn has_room(&self) -> bool {
        self.engine.send_queue_len() < self.engine.send_queue_capacity()
    }

    /// Takes over what is in the send queue, as far as there is room. True if some is left.
    pub(super) fn take_posts(&mut self) -> bool {
        if !self.engine.state().may_post_send() {
            return false;
        }
        for _ in 0..BUDGET {
            self.starved = !self.has_room();
            if self.starved {
                return false;
            }
            if !self.take_post() {
                return false;
            }
        }
        true
    }

    /// Takes over one request; false if there is none.
    fn take_post(&mut self) -> bool {
        let side = &mut self.side;
        let Some(raw) = side.send_ring.peek() else {
            return false;
        };
        let element = SendElement::parse(raw, side.queue);
        let Ok(slot) = self.engine.post_send(element.to_post()) else {
            return false;
        };
        let index = slot.0 as usize;
        let mut note = Note {
            wr_id: element.wr_id,
            opcode: element.completes_as,
            ..Note::default()
        };
        match element.request {
            Ok(request) => {
                note.bytes = request.wr.length;
                note.gather = match request.gather {
                    send::Gather::Sges(list) => {
                        let start = index.saturating_mul(side.list_stride);
                        let places = side.lists.get_mut(start..).unwrap_or_default();
                        let mut count = 0;
                        for (place, sge) in places.iter_mut().take(side.list_stride).zip(list) {
                            *place = sge;
                            count += 1;
                        }
                        Gather::List(count)
                    }
                    send::Gather::Inline(bytes) => {
                        let start = index.saturating_mul(side.inline_stride);
                        let end = start.saturating_add(bytes.len().min(side.inline_stride));
                        if let Some(to) = side.inline.get_mut(start..end) {
                            if let Some(bytes) = bytes.get(..to.len()) {
                                to.copy_from_slice(bytes);
                            }
                        }
                        Gather::Inline(bytes.len().min(side.inline_stride) as u32)
                    }
                };
                if let Detail::Datagram(Destination::Handle(number)) = request.detail {
                    let rcu = rcu::read_lock();
                    note.path = side
                        .link
                        .objects
                        .ahs
                        .get(number.get(), &rcu)
                        .and_then(|ah| ah.path_for(side.pd));
                }
            }
            Err(status) => note.refused = Some(status),
        }
        if let Some(place) = side.notes.get_mut(index) {
            *place = note;
        }
        side.send_ring.take();
        true
    }
}

impl Qp {
    /// The process rang: it has put requests into its send queue. Context: a verb, process.
    pub(crate) fn ring(this: ArcBorrow<'_, Self>) -> Result {
        let mut inner = this.inner.lock();
        if inner.dead || !inner.engine.state().may_post_send() {
            return Err(EINVAL);
        }
        let now = clock();
        if inner.side.datagram {
            let mtu = this.link.active_mtu();
            inner.engine.set_port_mtu(mtu);
        }
        let mut more = inner.take_posts();
        more |= inner.flow(now);
        Self::arm(this, &inner);
        let mut notices = inner.side.notices.take();
        drop(inner);
        if more {
            notices.more();
        }
        // Nobody is told inside a verb.
        Self::tell_later(this, notices);
        Ok(())
    }
}
