// SPDX-License-Identifier: GPL-2.0

//! Send requests on their way to the engine: out of the ring that a process fills, or out of what
//! the kernel's users have posted.

use super::{
    flow::clock,
    Gather,
    Inner,
    Note,
    Qp,
    Sends, //
};
use kernel::{
    prelude::*,
    sync::{
        rcu,
        ArcBorrow, //
    }, //
};
use kernel_ext::sync::SpinLockBhGuard;
use oxe_uabi::{
    send::{
        self,
        Destination,
        Detail,
        SendElement, //
    },
    sge::Sge, //
};

/// Requests that are taken over in one go.
const BUDGET: u32 = 256;

/// As many at least leave the engine in each round of [`Qp::press_locked`], if it goes on.
const BURST: u32 = 64;

/// Copies a list to the place of slot `index` among the lists of all.
fn keep_list(
    lists: &mut [Sge],
    stride: usize,
    index: usize,
    list: impl Iterator<Item = Sge>,
) -> Gather {
    let start = index.saturating_mul(stride);
    let places = lists.get_mut(start..).unwrap_or_default();
    let mut count = 0;
    for (place, sge) in places.iter_mut().take(stride).zip(list) {
        *place = sge;
        count += 1;
    }
    Gather::List(count)
}

/// Copies inline data to the place of slot `index` among those of all.
fn keep_inline(inline: &mut [u8], stride: usize, index: usize, bytes: &[u8]) -> Gather {
    let start = index.saturating_mul(stride);
    let length = bytes.len().min(stride);
    let place = inline.get_mut(start..start.saturating_add(length));
    if let (Some(to), Some(bytes)) = (place, bytes.get(..length)) {
        to.copy_from_slice(bytes);
    }
    Gather::Inline(length as u32)
}

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
        let ring = match &mut side.sends {
            Sends::Shared(ring) => ring,
            Sends::Posted(_) => return self.take_posted(),
        };
        let Some(raw) = ring.peek() else {
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
                        keep_list(&mut side.lists, side.list_stride, index, list)
                    }
                    send::Gather::Inline(bytes) => {
                        keep_inline(&mut side.inline, side.inline_stride, index, bytes)
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
        ring.take();
        true
    }

    /// As [`Inner::take_post`], of what was posted by calls.
    fn take_posted(&mut self) -> bool {
        let side = &mut self.side;
        let Sends::Posted(posts) = &side.sends else {
            return false;
        };
        let engine = &mut self.engine;
        let (lists, list_stride) = (&mut side.lists, side.list_stride);
        let (inline, inline_stride) = (&mut side.inline, side.inline_stride);
        let mut slot = 0;
        let note = posts.take(|wr, list, bytes| {
            let Ok(taken) = engine.post_send(wr) else {
                return false;
            };
            slot = taken.0 as usize;
            keep_list(lists, list_stride, slot, list.iter().copied());
            keep_inline(inline, inline_stride, slot, bytes);
            true
        });
        let Some(note) = note else {
            return false;
        };
        if let Some(place) = side.notes.get_mut(slot) {
            *place = note;
        }
        true
    }
}

impl Qp {
    /// The process rang: it has put requests into its send queue. Context: a verb, process.
    pub(crate) fn ring(this: ArcBorrow<'_, Self>) -> Result {
        if this.kernel.is_some() {
            return Err(EINVAL);
        }
        let inner = this.inner.lock();
        if inner.dead || !inner.engine.state().may_post_send() {
            return Err(EINVAL);
        }
        Self::press_locked(&this, inner);
        Ok(())
    }

    /// Lets the engine look at what was posted. Context: process or softirq; within a verb.
    pub(super) fn press_on(this: ArcBorrow<'_, Self>) {
        let inner = this.inner.lock();
        if !inner.dead {
            Self::press_locked(&this, inner);
        }
    }

    fn press_locked<'a>(this: &'a ArcBorrow<'a, Self>, mut inner: SpinLockBhGuard<'a, Inner>) {
        if inner.side.datagram {
            let mtu = this.link.active_mtu();
            inner.engine.set_port_mtu(mtu);
        }
        // The process may destroy a datagram's address handle as soon as the verb is back: what it
        // has posted is taken now, as far as possible.
        let mut rounds = if inner.side.datagram {
            inner.side.sends.waiting() / BURST
        } else {
            0
        };
        let more = loop {
            let now = clock();
            let mut more = inner.take_posts();
            more |= inner.flow(now);
            if !more || rounds == 0 || inner.side.sends.waiting() == 0 {
                break more;
            }
            rounds = rounds.saturating_sub(1);
            // Others have their turn.
            drop(inner);
            inner = this.inner.lock();
            if inner.dead {
                return;
            }
        };
        Self::arm(*this, &inner);
        let mut notices = inner.side.notices.take();
        drop(inner);
        if more {
            notices.more();
        }
        // Nobody is told inside a verb.
        Self::tell_later(*this, notices);
    }
}
