// SPDX-License-Identifier: GPL-2.0

//! What the engine wants done: packets sent, completions reported, events told, a timer armed.

use super::{
    env::Port,
    Gather,
    Inner,
    Notices,
    Qp,
    Receives,
    Sends,
    Side, //
};
use kernel::sync::ArcBorrow;
use kernel_ext::sync::timer::now;
use oxe_proto::{
    transport::{
        error::WcStatus,
        state::State,
        wr::{
            Completion,
            SlotIndex, //
        },
        Event, //
    },
    types::Instant, //
};
use oxe_uabi::{
    cqe::{
        Cqe,
        WcOpcode, //
    },
    recv::RecvElement,
    sge::Sge, //
};

/// Completions that are reported in one go.
const COMPLETIONS: u32 = 256;

/// How often a failed queue pair looks for receive requests to flush, in ns: nobody rings for it.
const FLUSH_PAUSE: u64 = 50_000_000;

impl Side {
    /// A slot's part of the gather lists.
    pub(super) fn list(&self, slot: SlotIndex) -> &[Sge] {
        let start = (slot.0 as usize).saturating_mul(self.list_stride);
        let count = match self.notes.get(slot.0 as usize).map(|note| note.gather) {
            Some(Gather::List(count)) => count as usize,
            _ => 0,
        };
        self.lists
            .get(start..start.saturating_add(count.min(self.list_stride)))
            .unwrap_or_default()
    }

    /// The current receive request's list.
    pub(super) fn current_sges(&self) -> &[Sge] {
        let count = self.current.as_ref().map_or(0, |current| current.count);
        self.current_list.get(..count).unwrap_or_default()
    }

    /// Reports the end of a send request.
    fn complete(&mut self, completion: Completion) {
        let slot = completion.slot.0 as usize;
        let Some(note) = self.notes.get_mut(slot) else {
            return;
        };
        note.path = None;
        if let Sends::Posted(posts) = &self.sends {
            // Before its user is told, who may post again then.
            posts.ended();
        }
        if !completion.reported {
            return;
        }
        let good = completion.status == WcStatus::Success;
        let mut cqe = Cqe::new(note.wr_id, completion.status, note.opcode, self.qpn);
        cqe.byte_len = note.bytes;
        // A failure is as good as solicited: who waits for one wants to hear of it.
        let added = self.send_cq.add(&cqe, self.origin(None), !good);
        self.notices.sent(added);
    }

    /// Ends receive requests that are queued, `most` at most: the queue pair failed. True if there
    /// may be more.
    fn flush_receives(&mut self, most: u32) -> bool {
        for _ in 0..most {
            let wr_id = match &mut self.receives {
                Receives::Shared(ring) => {
                    let wr_id = ring.peek().map(|raw| RecvElement::parse(raw).wr_id);
                    if wr_id.is_some() {
                        ring.take();
                    }
                    wr_id
                }
                Receives::Posted(posts) => posts.flush(),
            };
            let Some(wr_id) = wr_id else {
                return false;
            };
            let cqe = Cqe::new(wr_id, WcStatus::Flushed, WcOpcode::Receive, self.qpn);
            let added = self.recv_cq.add(&cqe, self.origin(None), true);
            self.notices.received(added);
        }
        true
    }
}

/// The time as the engine has it.
pub(super) fn clock() -> Instant {
    Instant::from_nanos(now())
}

impl Inner {
    /// Handles timeouts that have come.
    fn expire(&mut self, now: Instant) {
        if self.engine.next_timeout().is_some_and(|at| at <= now) {
            let mut port = Port {
                side: &mut self.side,
                packet: None,
            };
            self.engine.handle_timeout(now, &mut port);
        }
    }

    /// Does what the engine wants done, up to the budget. True if something is left.
    pub(super) fn flow(&mut self, now: Instant) -> bool {
        let mut more = self.transmit(now);
        let mut completions = COMPLETIONS;
        while completions != 0 {
            let Some(completion) = self.engine.poll_completion() else {
                break;
            };
            self.side.complete(completion);
            completions = completions.wrapping_sub(1);
        }
        more |= completions == 0;
        while let Some(event) = self.engine.poll_event() {
            if event != Event::Failed {
                self.side.notices.event(event);
            }
        }
        if self.engine.state() == State::Err {
            more |= self.side.flush_receives(COMPLETIONS);
        }
        if !self.engine.holds_early() {
            self.side.early.clear();
        }
        if self.side.notices.lost() && self.engine.state() != State::Err {
            let mut port = Port {
                side: &mut self.side,
                packet: None,
            };
            self.engine.abort(&mut port);
            self.side.notices.add(Notices::FATAL);
            more = true;
        }
        // What the process has posted may have had to wait for room.
        more || (self.starved && self.has_room())
    }
}

impl Qp {
    /// Lets the engine go on, in the work item or after a timer: what is to be told, and whether
    /// something is left to do.
    pub(super) fn run_once(this: ArcBorrow<'_, Self>) -> (Notices, bool) {
        let mut inner = this.inner.lock();
        if inner.dead {
            return (Notices::default(), false);
        }
        let now = clock();
        inner.expire(now);
        inner.look_at_early(now);
        let mut more = inner.take_posts();
        more |= inner.flow(now);
        Self::arm(this, &inner);
        (inner.side.notices.take(), more)
    }

    /// Arms the timer for what the engine waits for.
    pub(super) fn arm(this: ArcBorrow<'_, Self>, inner: &Inner) {
        let engine = inner.engine.next_timeout().map(|at| at.as_nanos());
        let early = inner.side.early.until();
        match engine.into_iter().chain(early).min() {
            Some(at) => this.timer.arm(this, at),
            None if inner.engine.state() == State::Err && this.kernel.is_none() => {
                this.timer.arm(this, now().saturating_add(FLUSH_PAUSE));
            }
            None => this.timer.cancel(),
        }
    }
}
