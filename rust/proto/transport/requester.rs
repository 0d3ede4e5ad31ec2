// SPDX-License-Identifier: GPL-2.0

//! The requester: send work requests become packets.
//!
//! The send queue is a ring of slots with four marks, each at or behind the next:
//!
//! ```text
//! reported       una_slot            fresh           posted
//!    |  complete    |   under way      |  not started   |
//! ```
//!
//! `cursor` walks between `una_slot` and `posted`: up to `fresh` it sends again, from there it
//! starts slots. `una` is the oldest packet sequence number without an answer, `high` the one after
//! the newest sent. [`completer`](super::completer) moves `una`.

use super::{
    asks::Asks,
    attributes::Attributes,
    context::Context,
    error::WcStatus,
    ports::{
        Env,
        Observation, //
    },
    resend::Recovery,
    retry::Retry,
    segment,
    slots::{
        Kind,
        Ring,
        SendSlot, //
    },
    state::State,
    window::Window,
    wr::{
        Burst,
        Completion,
        SendOp,
        SendWr,
        SlotIndex, //
    },
    PostError, BUSY_PAUSE,
};
use crate::types::{
    Instant,
    Psn, //
};
use core::ops::DerefMut;

/// Packet sequence numbers that one READ request asks for at most. Longer READs are asked for in
/// parts, so that never more than 2^23 numbers are under way.
const READ_PART: u32 = 1 << 21;

/// New packets without AckReq in a row, at most.
const QUIET_PACKETS: u32 = 32;

/// Requests without packets that are done at a time; then others have their turn.
const MAX_LOCALS: u32 = 16;

/// A place in the send queue: so many packets of a slot are behind it.
#[derive(Clone, Copy, Default)]
pub(super) struct Cursor {
    pub(super) slot: u32,
    pub(super) sent: u32,
    pub(super) psn: Psn,
}

/// The sending half.
///
/// # Invariants
///
/// While requests are started or go on (RTS, SQD), counting without end:
///
/// * `reported <= una_slot <= cursor.slot <= fresh <= posted`, but for a cursor that
///   [`Requester::advance`] is about to pull along;
/// * `una <= acked <= high` and `una <= cursor.psn <= high`, within 2^23 of each other;
/// * `una` is `una_done` packets into `una_slot`;
/// * `early` holds numbers after `una` and less than [`super::EARLY_SLOTS`] away, each beyond the
///   `progress` of its slot;
/// * `sent_count - done_count` is the number of message packets that are not acknowledged and of
///   other requests that are not complete;
/// * `fresh - una_slot` is at most the window and the initiator depth together, so that a walk from
///   one to the other is short;
/// * something is under way only while a timer runs or [`Requester::poll`] has something to give.
///
/// In the error states all that counts is `reported`, `una_slot` (the next to be flushed) and
/// `posted`.
pub(super) struct Requester<B> {
    pub(super) ring: Ring<B>,
    pub(super) reported: u32,
    pub(super) una_slot: u32,
    pub(super) fresh: u32,
    pub(super) posted: u32,
    /// Packets of `una_slot` before `una`.
    pub(super) una_done: u32,
    pub(super) una: Psn,
    /// Everything before it is acknowledged, READ responses aside.
    pub(super) acked: Psn,
    pub(super) high: Psn,
    pub(super) cursor: Cursor,
    /// Request packets sent and done with, to be compared with each other.
    pub(super) sent_count: u32,
    pub(super) done_count: u32,
    /// How many may be under way at most: the window, or less for a peer that keeps nothing.
    pub(super) limit: u32,
    /// Responses asked for and placed, to be compared with each other.
    pub(super) asked_count: u32,
    pub(super) placed_count: u32,
    /// How many responses may be under way before more are asked for.
    pub(super) response_limit: u32,
    /// READs and atomics under way.
    pub(super) rd_outstanding: u32,
    /// Responses that came before their turn.
    pub(super) early: Window,
    /// Responses that were asked for again.
    pub(super) asks: Asks,
    pub(super) recovery: Recovery,
    pub(super) retry: Retry,
    /// The driver cannot get at a payload: nothing is sent before.
    pub(super) busy_until: Option<Instant>,
    /// New packets without AckReq since the last with it.
    quiet: u32,
    /// The slot that failed, and how; what is posted after it is flushed.
    pub(super) failure: Option<(u32, WcStatus)>,
    /// That all is drained has been said.
    drained: bool,
}

impl<B: DerefMut<Target = [SendSlot]>> Requester<B> {
    pub(super) fn new(slots: B) -> Option<Self> {
        Some(Self {
            ring: Ring::new(slots)?,
            reported: 0,
            una_slot: 0,
            fresh: 0,
            posted: 0,
            una_done: 0,
            una: Psn::default(),
            acked: Psn::default(),
            high: Psn::default(),
            cursor: Cursor::default(),
            sent_count: 0,
            done_count: 0,
            limit: u32::MAX,
            asked_count: 0,
            placed_count: 0,
            response_limit: u32::MAX,
            rd_outstanding: 0,
            early: Window::new(),
            asks: Asks::new(),
            recovery: Recovery::default(),
            retry: Retry::default(),
            busy_until: None,
            quiet: 0,
            failure: None,
            drained: false,
        })
    }

    /// Forgets everything (to RESET).
    pub(super) fn reset(&mut self) {
        self.reported = self.posted;
        self.una_slot = self.posted;
        self.fresh = self.posted;
        self.cursor = Cursor {
            slot: self.posted,
            ..Cursor::default()
        };
        self.una_done = 0;
        self.sent_count = 0;
        self.done_count = 0;
        self.limit = u32::MAX;
        self.asked_count = 0;
        self.placed_count = 0;
        self.response_limit = u32::MAX;
        self.rd_outstanding = 0;
        self.early.clear();
        self.asks = Asks::new();
        self.recovery = Recovery::default();
        self.retry = Retry::default();
        self.busy_until = None;
        self.quiet = 0;
        self.failure = None;
        self.drained = false;
        self.start_at(Psn::default());
    }

    /// The first number to send.
    pub(super) fn start_at(&mut self, psn: Psn) {
        self.una = psn;
        self.acked = psn;
        self.high = psn;
        self.cursor.psn = psn;
    }

    /// Takes a request.
    pub(super) fn post(&mut self, wr: SendWr, context: &Context) -> Result<SlotIndex, PostError> {
        if !context.state.may_post_send() {
            return Err(PostError::State);
        }
        if self.posted.wrapping_sub(self.reported) >= self.ring.capacity() {
            return Err(PostError::Full);
        }
        let mut slot = SendSlot::new(wr);
        slot.refused = segment::refusal(&wr, context);
        if let Some(place) = self.ring.get_mut(self.posted) {
            *place = slot;
        }
        let index = self.ring.index(self.posted);
        self.posted = self.posted.wrapping_add(1);
        Ok(index)
    }

    /// The next request that has ended.
    pub(super) fn poll_completion(&mut self, context: &Context) -> Option<Completion> {
        let count = self.reported;
        if count == self.posted {
            return None;
        }
        let is_front = count == self.una_slot;
        let status = if !is_front {
            // Flushed, if it was left over from a failure.
            let slot = self.ring.get(count)?;
            slot.refused.unwrap_or(WcStatus::Success)
        } else {
            match self.failure {
                Some((failed, status)) if failed == count => status,
                _ if matches!(context.state, State::Err | State::Sqe) => WcStatus::Flushed,
                _ => return None,
            }
        };
        let slot = self.ring.get(count)?;
        let reported = slot.wr.signalled || status != WcStatus::Success;
        self.reported = count.wrapping_add(1);
        if is_front {
            // Those behind it are not under way any more: they end one by one.
            self.una_slot = self.reported;
        }
        Some(Completion {
            slot: self.ring.index(count),
            status,
            reported,
        })
    }

    /// Stops all sending: the queue pair is in an error state. What is posted will be flushed.
    pub(super) fn halt(&mut self) {
        self.retry.stop();
        self.busy_until = None;
        self.recovery = Recovery::default();
        self.early.clear();
        self.asks.clear();
        self.fresh = self.posted;
        self.cursor.slot = self.posted;
        self.cursor.sent = 0;
        self.rd_outstanding = 0;
    }

    /// Whether anything waits for an answer.
    #[inline]
    pub(super) fn is_outstanding(&self) -> bool {
        self.una != self.high
    }

    /// Once, when everything started is complete.
    pub(super) fn take_drained(&mut self) -> bool {
        let drained = self.una_slot == self.fresh;
        let news = drained && !self.drained;
        self.drained = drained;
        news
    }

    /// A drain begins anew.
    pub(super) fn watch_drain(&mut self) {
        self.drained = false;
    }

    /// The oldest request failed.
    pub(super) fn fail(&mut self, status: WcStatus) {
        if self.failure.is_none() {
            self.failure = Some((self.una_slot, status));
        }
    }

    /// The next packets, `most` of them at most, if any may go out now.
    #[inline]
    pub(super) fn poll<E: Env>(
        &mut self,
        now: Instant,
        most: u32,
        env: &mut E,
        context: &Context,
    ) -> Option<Burst> {
        if self.retry.waits_for_receiver() || self.failure.is_some() || self.busy_until.is_some() {
            return None;
        }
        let again = self.recovery.is_due();
        if let Some(transmit) = again.then(|| self.resend(now, env, context)).flatten() {
            self.sent_some(now, context);
            return Some(Burst::new(transmit, 1));
        }
        let burst = self.step(now, most, env, context);
        if burst.is_some() {
            self.sent_some(now, context);
            return burst;
        }
        // It comes to rest behind packets that did not ask for an acknowledgement, since more was
        // to follow at once: a drain, or a request that cannot be done, came between.
        if self.quiet == 0 || !self.awaits_acknowledgement(context) {
            return None;
        }
        self.quiet = 0;
        let transmit = self.resend_head(env, context)?;
        self.sent_some(now, context);
        Some(Burst::new(transmit, 1))
    }

    /// Whether the oldest request under way ends with an acknowledgement.
    fn awaits_acknowledgement(&self, context: &Context) -> bool {
        context.config.qp_type.is_reliable()
            && self.is_outstanding()
            && self
                .ring
                .get(self.una_slot)
                .is_some_and(|slot| slot.kind == Kind::Message && slot.refused.is_none())
    }

    /// Packets go out: somebody has to answer them, or they are done.
    #[inline]
    fn sent_some(&mut self, now: Instant, context: &Context) {
        if context.config.qp_type.is_reliable() {
            self.retry
                .arm(now, &context.attributes, context.config.min_probe);
        } else {
            self.acked = self.high;
            self.advance();
        }
    }

    /// Sends from the cursor.
    #[inline]
    fn step<E: Env>(
        &mut self,
        now: Instant,
        most: u32,
        env: &mut E,
        context: &Context,
    ) -> Option<Burst> {
        // The usual case: on with a message whose packets go out for the first time.
        let is_new = self.cursor.psn == self.high;
        if self.cursor.sent != 0 && is_new && self.cursor.slot != self.posted {
            let slot = self.ring.get(self.cursor.slot)?;
            if slot.kind == Kind::Message && slot.refused.is_none() {
                return self.send_message(now, most, env, context);
            }
        }
        self.step_slowly(now, most, env, context)
    }

    #[inline(never)]
    fn step_slowly<E: Env>(
        &mut self,
        now: Instant,
        most: u32,
        env: &mut E,
        context: &Context,
    ) -> Option<Burst> {
        let mut locals = 0;
        loop {
            if self.cursor.slot == self.posted {
                return None;
            }
            let slot = self.ring.get(self.cursor.slot)?;
            let (kind, refused, packets) = (slot.kind, slot.refused, slot.packets);
            let is_fresh = self.cursor.slot == self.fresh;
            if is_fresh && !context.state.starts_requests() {
                return None;
            }
            if let Some(status) = refused {
                // Requests end in their order.
                if self.una_slot == self.cursor.slot {
                    self.fail(status);
                }
                return None;
            }
            if is_fresh && !self.may_start(slot, context) {
                if kind == Kind::Response && context.attributes.max_rd_atomic == 0 {
                    // It never will.
                    self.ring.get_mut(self.cursor.slot)?.refused = Some(WcStatus::LocalQpOperation);
                    continue;
                }
                return None;
            }
            match kind {
                Kind::Local => {
                    if is_fresh {
                        if locals == MAX_LOCALS {
                            self.busy_until = Some(now);
                            return None;
                        }
                        locals = locals.wrapping_add(1);
                        self.fresh = self.fresh.wrapping_add(1);
                        if let Err(status) = env.local(self.ring.index(self.cursor.slot)) {
                            self.ring.get_mut(self.cursor.slot)?.refused = Some(status);
                            continue;
                        }
                    }
                    self.next_slot();
                    self.advance();
                }
                Kind::Message => {
                    if is_fresh {
                        self.start(context);
                    } else if self.skip_acknowledged(packets) {
                        continue;
                    }
                    return self.send_message(now, most, env, context);
                }
                Kind::Response => {
                    if is_fresh {
                        self.start(context);
                    } else if self.skip_answered() {
                        continue;
                    }
                    return self.send_request(now, env, context);
                }
            }
        }
    }

    /// Whether a slot may be started now, in a state in which requests are started.
    fn may_start(&self, slot: &SendSlot, context: &Context) -> bool {
        if slot.wr.fence && self.rd_outstanding > 0 {
            return false;
        }
        match slot.kind {
            // What it does may take away what earlier ones still need.
            Kind::Local => {
                let under_way = self.fresh.wrapping_sub(self.una_slot);
                under_way == 0 || (!slot.wr.fence && under_way < context.config.window)
            }
            Kind::Message => self.has_window(context),
            Kind::Response => {
                self.has_window(context)
                    && self.asked_count.wrapping_sub(self.placed_count)
                        < self.response_window(context)
                    && self.rd_outstanding < u32::from(context.attributes.max_rd_atomic)
                    && self.high.count_since(self.una) < Psn::HALF.saturating_sub(2 * READ_PART)
            }
        }
    }

    #[inline]
    fn has_window(&self, context: &Context) -> bool {
        self.room(context) != 0
    }

    /// Request packets that may go out before one is answered.
    #[inline]
    fn room(&self, context: &Context) -> u32 {
        let under_way = self.sent_count.wrapping_sub(self.done_count);
        context
            .config
            .window
            .min(self.limit)
            .saturating_sub(under_way)
    }

    /// Responses that may be under way before more are asked for.
    fn response_window(&self, context: &Context) -> u32 {
        let window = context.config.window.saturating_mul(2);
        window.min(self.response_limit)
    }

    /// The slot under the cursor gets its numbers.
    fn start(&mut self, context: &Context) {
        if let Some(slot) = self.ring.get_mut(self.cursor.slot) {
            let has_data = slot.kind == Kind::Message || matches!(slot.wr.op, SendOp::Read { .. });
            slot.packets = if has_data {
                context.attributes.path_mtu.packets(slot.wr.length)
            } else {
                1
            };
            if slot.kind == Kind::Response {
                self.rd_outstanding = self.rd_outstanding.saturating_add(1);
            }
        }
        self.fresh = self.fresh.wrapping_add(1);
    }

    #[inline]
    fn next_slot(&mut self) {
        self.cursor.slot = self.cursor.slot.wrapping_add(1);
        self.cursor.sent = 0;
    }

    /// Moves on over what the peer has acknowledged; true if that was all of the slot.
    fn skip_acknowledged(&mut self, packets: u32) -> bool {
        let left = packets.saturating_sub(self.cursor.sent);
        let known = self.acked.count_since(self.cursor.psn).min(left);
        self.cursor.psn = self.cursor.psn.plus(known);
        self.cursor.sent = self.cursor.sent.saturating_add(known);
        let all = known == left;
        if all {
            self.next_slot();
        }
        all
    }

    /// Moves on over what was answered; true if nothing is left to ask for.
    fn skip_answered(&mut self) -> bool {
        let Some(slot) = self.ring.get(self.cursor.slot) else {
            return true;
        };
        let packets = slot.packets;
        let first = self.cursor.psn.minus(self.cursor.sent);
        let missing = self.missing(slot, first, self.cursor.sent..slot.requested);
        self.cursor.sent = missing.map_or(slot.requested, |missing| missing.start);
        self.cursor.psn = first.plus(self.cursor.sent);
        let all = self.cursor.sent >= packets;
        if all {
            self.next_slot();
        }
        all
    }

    /// The next packets of the message under the cursor.
    #[inline(always)]
    fn send_message<E: Env>(
        &mut self,
        now: Instant,
        most: u32,
        env: &mut E,
        context: &Context,
    ) -> Option<Burst> {
        let is_new = self.cursor.psn == self.high;
        let room = self.room(context);
        if is_new && room == 0 {
            return None;
        }
        let slot = self.ring.get(self.cursor.slot)?;
        let (psn, number) = (self.cursor.psn, self.cursor.sent);
        let index = self.ring.index(self.cursor.slot);
        let left = slot.packets.wrapping_sub(number);
        let is_last = left == 1;
        let mut count = 1;
        let mut transmit = if number != 0 && !is_last {
            if is_new {
                let loud = QUIET_PACKETS.saturating_sub(self.quiet).max(1);
                count = most.min(room).min(loud).min(left.wrapping_sub(1)).max(1);
            }
            segment::middle(&slot.wr, index, number, psn, context)
        } else {
            segment::message(&slot.wr, index, number, is_last, psn, context)
        };
        self.cursor.psn = psn.plus(count);
        self.cursor.sent = number.wrapping_add(count);
        if is_last {
            self.next_slot();
        }
        if is_new {
            self.high = self.cursor.psn;
            self.sent_count = self.sent_count.wrapping_add(count);
        } else {
            context.observe(env, Observation::Retransmitted(psn));
        }
        if context.config.qp_type.is_reliable() && self.wants_ack(count, is_last, context) {
            transmit.packet.ack_req = true;
            if is_new {
                self.retry.time(self.high.minus(1), now);
            }
        }
        Some(Burst::new(transmit, count))
    }

    /// Whether the packet before the cursor, the last of `count`, is to be acknowledged: where the
    /// sender would otherwise come to rest, and now and then in between.
    #[inline]
    fn wants_ack(&mut self, count: u32, is_last: bool, context: &Context) -> bool {
        self.quiet = self.quiet.saturating_add(count);
        let wants = self.quiet >= QUIET_PACKETS.min(context.config.window >> 2)
            || !self.has_window(context)
            || (is_last && !self.goes_on(context));
        if wants {
            self.quiet = 0;
        }
        wants
    }

    /// Whether another message follows at once.
    fn goes_on(&self, context: &Context) -> bool {
        self.cursor.slot != self.posted
            && self.ring.get(self.cursor.slot).is_some_and(|next| {
                next.kind == Kind::Message && next.refused.is_none() && !next.wr.fence
            })
            && context.state == State::Rts
    }

    /// The request of the READ, atomic or FLUSH under the cursor.
    fn send_request<E: Env>(
        &mut self,
        now: Instant,
        env: &mut E,
        context: &Context,
    ) -> Option<Burst> {
        let (count, psn, from) = (self.cursor.slot, self.cursor.psn, self.cursor.sent);
        let index = self.ring.index(count);
        let is_new = psn == self.high;
        let slot = self.ring.get_mut(count)?;
        let (transmit, to) = if is_new {
            if from != 0 && self.una != psn {
                // The part before this one is still being answered, or an earlier request.
                return None;
            }
            let to = from.saturating_add(READ_PART).min(slot.packets);
            slot.requested = to;
            (
                segment::request(&slot.wr, index, from..to, psn, context),
                to,
            )
        } else {
            let slot = self.ring.get(count)?;
            let first = psn.minus(from);
            let room = self.response_window(context);
            let room = room.saturating_sub(self.asks.count());
            if room == 0 {
                return None;
            }
            let to = match self.missing(slot, first, from..slot.requested) {
                // The peer may not have got the request yet: then this one is the first.
                Some(missing) if self.asks_for_parts() && self.acked.is_after(first) => {
                    missing.end.min(from.saturating_add(room))
                }
                _ => slot.requested,
            };
            (self.ask(count, from..to, psn, env, context)?, to)
        };
        self.cursor.psn = psn.plus(to.saturating_sub(from));
        self.cursor.sent = to;
        if is_new {
            self.high = self.cursor.psn;
            self.asked_count = self.asked_count.wrapping_add(to.saturating_sub(from));
            if from == 0 {
                self.sent_count = self.sent_count.wrapping_add(1);
            }
            self.retry.time(psn, now);
        }
        if self.ring.get(count)?.packets == to {
            self.next_slot();
        }
        self.quiet = 0;
        Some(Burst::new(transmit, 1))
    }

    /// A packet could not be filled: it was not sent, and is the next to be.
    pub(super) fn take_back(&mut self, slot: SlotIndex, number: u32, psn: Psn, context: &Context) {
        let count = self.ring.count_of(self.reported, slot);
        self.cursor = Cursor {
            slot: count,
            sent: number,
            psn,
        };
        self.retry.forget_timed();
        // It may have been the one that was to ask for an acknowledgement.
        self.quiet = self.quiet.max(1);
        if psn == self.una {
            // Nothing was sent that could be answered.
            self.retry.stop();
        }
        if !context.config.qp_type.is_reliable() {
            // It had counted as done.
            self.una_slot = count;
            self.una_done = number;
            self.start_at(psn);
            self.done_count = self.sent_count;
        }
    }

    /// A packet without data could not be sent for now.
    pub(super) fn not_sent(&mut self, now: Instant, psn: Psn) {
        if self.asks.give_up(psn, false) && psn.is_before(self.acked) {
            self.recovery.gaps = true;
        } else if let Some((slot, sent)) = self.find(psn) {
            self.cursor = Cursor { slot, sent, psn };
            self.retry.forget_timed();
            self.quiet = self.quiet.max(1);
        }
        self.busy_until = Some(now.after(BUSY_PAUSE));
    }

    /// A request cannot be done; it fails once all before it are complete.
    pub(super) fn refuse(&mut self, slot: SlotIndex, status: WcStatus) {
        let count = self.ring.count_of(self.reported, slot);
        if let Some(slot) = self.ring.get_mut(count) {
            slot.refused = Some(status);
        }
    }

    /// Sending begins (to RTS).
    pub(super) fn begin(&mut self, attributes: &Attributes) {
        self.start_at(attributes.sq_psn);
        self.retry.reload(attributes);
    }

    /// Sending goes on after a failure (from SQE to RTS). What is left over of it is still flushed.
    pub(super) fn resume(&mut self) {
        let mut status = self
            .failure
            .take()
            .filter(|(count, _)| *count == self.una_slot)
            .map_or(WcStatus::Flushed, |(_, status)| status);
        while self.una_slot != self.posted {
            if let Some(slot) = self.ring.get_mut(self.una_slot) {
                slot.refused = Some(status);
            }
            status = WcStatus::Flushed;
            self.una_slot = self.una_slot.wrapping_add(1);
        }
        self.fresh = self.posted;
        self.una_done = 0;
        self.done_count = self.sent_count;
        self.start_at(self.high);
        self.cursor.slot = self.posted;
        self.cursor.sent = 0;
    }

    /// The timeout was changed while answers are awaited.
    pub(super) fn new_timeout(&mut self, now: Instant, context: &Context) {
        self.retry.reload(&context.attributes);
        if self.is_outstanding() && !self.retry.waits_for_receiver() {
            self.retry
                .rearm(now, &context.attributes, context.config.min_probe);
        }
    }
}
