// SPDX-License-Identifier: GPL-2.0

//! The completer: what the responder answers moves the requester on (IBTA 9.7.5, 9.7.9, 9.9.2).
//!
//! An acknowledgement counts for every packet up to its number. READs and atomics end with their
//! own responses only; each response has its place by its number, so that one that comes early is
//! put there at once and only what is missing is asked for again.

use super::{
    context::Context,
    error::{
        status_of_nak,
        Fault,
        WcStatus, //
    },
    ports::{
        Env,
        Observation, //
    },
    requester::{
        Cursor,
        Requester, //
    },
    resend::Recovery,
    retry::Expired,
    slots::{
        Kind,
        SendSlot, //
    },
    wr::{
        SendOp,
        SlotIndex, //
    },
    EARLY_SLOTS,
};
use crate::{
    types::{
        Instant,
        Psn, //
    },
    wire::{
        aeth::{
            Aeth,
            NakCode,
            Syndrome, //
        },
        packet::{
            Op,
            Packet, //
        },
        rnr::rnr_delay,
    },
};
use core::ops::DerefMut;

/// Responses to ask for at a time after a timeout: there are more with each one that comes.
const FEW_RESPONSES: u32 = 32;

/// The window for a peer that keeps nothing of what comes early.
const NARROW: u32 = 64;

/// How often a peer must have dropped what came early before that is taken for granted.
const DROPS_EARLY: u8 = 2;

impl<B: DerefMut<Target = [SendSlot]>> Requester<B> {
    /// A response came.
    pub(super) fn handle_response<E: Env>(
        &mut self,
        now: Instant,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
        context: &Context,
    ) {
        let psn = packet.psn;
        self.retry.hear();
        if self.failure.is_some() || psn.is_before(self.una) || !psn.is_before(self.high) {
            context.observe(env, Observation::StaleResponse(psn));
            return;
        }
        match packet.op {
            Op::Acknowledge(aeth) => self.acknowledge(now, psn, aeth.syndrome, env, context),
            Op::ReadResponseFirst(_)
            | Op::ReadResponseMiddle
            | Op::ReadResponseLast(_)
            | Op::ReadResponseOnly(_) => {
                let bytes = packet.data_bytes;
                let good = is_good(packet.op.aeth());
                let ends = packet.op.position().is_end();
                self.respond(now, psn, ends, env, context, |slot, number, index, env| {
                    if !good || bytes != response_bytes(slot, number, context)? {
                        return None;
                    }
                    if bytes == 0 {
                        return Some(Ok(()));
                    }
                    let offset = number.wrapping_shl(context.attributes.path_mtu.shift());
                    Some(env.place_response(index, offset, data))
                });
            }
            Op::AtomicAcknowledge(aeth, value) => {
                let good = is_good(Some(&aeth));
                self.respond(now, psn, true, env, context, |slot, _, index, env| {
                    let is_atomic =
                        matches!(slot.wr.op, SendOp::CompareSwap(_) | SendOp::FetchAdd(_));
                    (good && is_atomic).then(|| env.place_value(index, value))
                });
            }
            _ => context.observe(env, Observation::StaleResponse(psn)),
        }
    }

    /// An acknowledgement, positive or negative.
    fn acknowledge<E: Env>(
        &mut self,
        now: Instant,
        psn: Psn,
        syndrome: Syndrome,
        env: &mut E,
        context: &Context,
    ) {
        match syndrome {
            Syndrome::Ack(_) => {
                let before = self.recovery;
                self.acknowledged_before(psn.next());
                self.progress(now, context);
                self.learn(now, before, psn);
            }
            Syndrome::RnrNak(code) => {
                self.acknowledged_before(psn);
                self.progress(now, context);
                if self.una == psn && !self.retry.waits_for_receiver() {
                    self.receiver_not_ready(now, code, env, context);
                }
            }
            Syndrome::Nak(NakCode::SequenceError) => {
                context.observe(env, Observation::SequenceNakReceived(psn));
                let singly = self.recovery.tried == Some(psn.minus(1));
                self.acknowledged_before(psn);
                self.progress(now, context);
                if self.una == psn {
                    self.recovery.singles = if singly {
                        self.recovery.singles.saturating_add(1)
                    } else {
                        0
                    };
                    self.recover(env, context);
                }
            }
            Syndrome::Nak(code) => {
                self.acknowledged_before(psn);
                self.progress(now, context);
                if let Some(status) = status_of_nak(code) {
                    if let Some((count, number)) = self.find(psn) {
                        self.refused_at(count, number, psn, status);
                    }
                    if self.failure.is_none() {
                        // A peer that has refused one says little more, if anything.
                        self.retry.last_chance();
                        self.retry
                            .rearm(now, &context.attributes, context.config.min_probe);
                    }
                }
            }
            Syndrome::Reserved(_) => context.observe(env, Observation::StaleResponse(psn)),
        }
    }

    /// A response to a READ, an atomic, a FLUSH or an ATOMIC WRITE, which `ends` an answer; `place`
    /// puts it where it belongs, or says that it is none for this request.
    fn respond<E: Env>(
        &mut self,
        now: Instant,
        psn: Psn,
        ends: bool,
        env: &mut E,
        context: &Context,
        place: impl FnOnce(&SendSlot, u32, SlotIndex, &mut E) -> Option<Result<(), Fault>>,
    ) {
        let Some((count, number)) = self.find(psn) else {
            return;
        };
        let index = self.ring.index(count);
        let Some(slot) = self.ring.get_mut(count) else {
            return;
        };
        if slot.kind != Kind::Response || slot.refused.is_some() || number < slot.progress {
            context.observe(env, Observation::StaleResponse(psn));
            return;
        }
        let is_early = number > slot.progress;
        if is_early && (psn.count_since(self.una) >= EARLY_SLOTS || self.early.contains(psn)) {
            context.observe(env, Observation::StaleResponse(psn));
            return;
        }
        match place(slot, number, index, env) {
            None => {
                self.fail_at(count, WcStatus::BadResponse);
                return;
            }
            Some(Err(fault)) => {
                if let Some(status) = fault.local() {
                    self.fail_at(count, status);
                }
                return;
            }
            Some(Ok(())) => {}
        }
        if ends && number.wrapping_add(1) != slot.requested {
            self.asks.part_came();
        }
        if is_early {
            self.early.insert(psn);
            self.retry.gets_on(now, &context.attributes);
        } else {
            slot.progress = number.wrapping_add(1);
        }
        // It may have come early before, with its slot not yet the oldest.
        if is_early || !self.early.remove(psn) {
            self.placed_count = self.placed_count.wrapping_add(1);
            self.response_limit = self.response_limit.saturating_add(1);
        }
        if !self.asks.is_empty() {
            self.asks.arrived(psn);
        }
        self.acknowledged_before(psn.next());
        self.progress(now, context);
    }

    /// A request fails for what its response was. Those before it count as answered, unless a
    /// response of theirs is missing.
    fn fail_at(&mut self, count: u32, status: WcStatus) {
        let number = self.ring.get(count).map_or(0, |slot| slot.progress);
        let psn = self.psn_of(count).plus(number);
        self.acknowledged_before(psn);
        self.advance();
        self.refused_at(count, number, psn, status);
    }

    /// A request under way will fail with `status`, once those before it are complete; it and what
    /// is behind it are not sent any more.
    fn refused_at(&mut self, slot: u32, sent: u32, psn: Psn, status: WcStatus) {
        if slot == self.una_slot {
            self.fail(status);
            return;
        }
        if let Some(slot) = self.ring.get_mut(slot) {
            slot.refused.get_or_insert(status);
        }
        if psn.is_before(self.cursor.psn) {
            self.cursor = Cursor { slot, sent, psn };
        }
        self.recovery.gaps = true;
    }

    /// The first number of a slot under way.
    fn psn_of(&self, count: u32) -> Psn {
        let mut at = self.una_slot;
        let mut psn = self.una.minus(self.una_done);
        while at != count && at != self.fresh {
            psn = psn.plus(self.ring.get(at).map_or(0, |slot| slot.packets));
            at = at.wrapping_add(1);
        }
        psn
    }

    /// The slot under way to which a number belongs, and which of its packets it is.
    pub(super) fn find(&self, psn: Psn) -> Option<(u32, u32)> {
        let mut count = self.una_slot;
        let mut number = psn.count_since(self.una).saturating_add(self.una_done);
        while count != self.fresh {
            let packets = self.ring.get(count)?.packets;
            if number < packets {
                return Some((count, number));
            }
            number = number.saturating_sub(packets);
            count = count.wrapping_add(1);
        }
        None
    }

    fn acknowledged_before(&mut self, psn: Psn) {
        if psn.is_after(self.acked) {
            self.acked = psn;
        }
    }

    /// Moves `una` as far as the answers reach.
    pub(super) fn advance(&mut self) {
        while self.una_slot != self.fresh {
            let Some(slot) = self.ring.get_mut(self.una_slot) else {
                return;
            };
            if slot.refused.is_some() {
                break;
            }
            let left = slot.packets.saturating_sub(self.una_done);
            let step = match slot.kind {
                // Nothing to wait for, and no numbers.
                Kind::Local => 0,
                Kind::Message => {
                    let step = self.acked.count_since(self.una).min(left);
                    self.done_count = self.done_count.wrapping_add(step);
                    step
                }
                Kind::Response => {
                    // What came early now joins.
                    while slot.progress < slot.packets {
                        let next = self.una.plus(slot.progress.saturating_sub(self.una_done));
                        if !self.early.remove(next) {
                            break;
                        }
                        slot.progress = slot.progress.wrapping_add(1);
                    }
                    slot.progress.saturating_sub(self.una_done)
                }
            };
            self.una = self.una.plus(step);
            self.una_done = self.una_done.saturating_add(step);
            if step != left {
                break;
            }
            if slot.kind == Kind::Response {
                self.done_count = self.done_count.wrapping_add(1);
                self.rd_outstanding = self.rd_outstanding.saturating_sub(1);
            }
            self.una_slot = self.una_slot.wrapping_add(1);
            self.una_done = 0;
        }
        if self.acked.is_before(self.una) {
            self.acked = self.una;
        }
        // What was to be sent again may be there already; its slot may be in use anew.
        let behind = self.una_slot.wrapping_sub(self.cursor.slot);
        if self.cursor.psn.is_before(self.una) {
            self.rewind();
            // So the peer had kept it.
            self.recovery.drops_early = 0;
        } else if behind != 0 && behind < u32::MAX >> 1 {
            self.rewind();
        }
    }

    /// After an answer: moves on, restarts timers, and looks whether a response is missing.
    fn progress(&mut self, now: Instant, context: &Context) {
        let before = self.una;
        self.advance();
        if self.una != before {
            if self.recovery.drops_early < DROPS_EARLY {
                self.limit = u32::MAX;
            }
            // The answer to a probe measures nothing, so its patience has to last.
            let by_probe = self.recovery.tried.is_some() && !self.recovery.missing;
            if !by_probe && self.recovery.probed_to.is_none() {
                self.retry.was_patient();
            }
            // What a READ is answered with comes a packet at a time.
            self.recovery.probed_to = self.recovery.probed_to.filter(|to| to.is_after(self.una));
            self.recovery.tried = None;
            self.recovery.attempts = 0;
            self.recovery.head = false;
            self.retry.reload(&context.attributes);
            self.retry.acknowledged(self.una, now);
            if self.is_outstanding() {
                self.retry
                    .rearm(now, &context.attributes, context.config.min_probe);
            } else {
                self.retry.stop();
            }
        }
        if !self.asks.is_empty() {
            self.asks.trim(self.una);
            self.asks.overtaken(self.acked);
        }
        self.recovery.gaps = self.acked.is_after(self.una) && self.awaits_response();
        if self.una_slot != self.fresh {
            let refused = self.ring.get(self.una_slot).and_then(|slot| slot.refused);
            if let Some(status) = refused {
                self.fail(status);
            }
        }
    }

    /// Whether the oldest request under way ends with a response of its own.
    fn awaits_response(&self) -> bool {
        self.una_slot != self.fresh
            && self
                .ring
                .get(self.una_slot)
                .is_some_and(|slot| slot.kind == Kind::Response && slot.refused.is_none())
    }

    /// The peer says that it has not got the packet at `una`.
    fn recover<E: Env>(&mut self, env: &mut E, context: &Context) {
        if self.retry.waits_for_receiver() {
            return;
        }
        if self.recovery.tried == Some(self.una) {
            // It is on its way; whatever that was for, the peer had not got it.
            self.recovery.missing = true;
            return;
        }
        if !self.retry.use_retry() {
            context.observe(env, Observation::RetriesExceeded(self.una));
            self.fail(WcStatus::RetryExceeded);
            return;
        }
        self.recovery.tried = Some(self.una);
        self.recovery.missing = true;
        self.retry.forget_timed_if(self.una);
        if self.recovery.drops_early >= DROPS_EARLY || self.recovery.singles >= 3 {
            self.recovery.singles = 0;
            self.narrow();
            self.rewind();
        } else {
            self.recovery.head = true;
        }
    }

    /// A peer that drops what comes early loses the whole window with each packet: a narrow one.
    fn narrow(&mut self) {
        if self.recovery.drops_early >= DROPS_EARLY {
            self.limit = NARROW;
        }
    }

    /// After a packet was sent again by itself, what the acknowledgement says of the peer: one that
    /// names just that packet has dropped what came behind it, one that names more has kept it.
    fn learn(&mut self, now: Instant, before: Recovery, acknowledged: Psn) {
        let Some(head) = before.tried else {
            return;
        };
        if !self.is_outstanding() || acknowledged.is_before(head) {
            return;
        }
        let filled = acknowledged == head;
        if before.missing {
            if !filled {
                self.recovery.drops_early = 0;
            } else if self.cursor.psn == self.high {
                self.recovery.drops_early = self.recovery.drops_early.saturating_add(1).min(3);
                self.rewind();
            }
            return;
        }
        // What comes next was perhaps lost, and the refusal that named it as well.
        self.recovery.singles = before.singles.saturating_add(u32::from(filled));
        if !self.retry.may_answer_probe(now) && self.recovery.singles < 2 {
            // A late answer to the first try: nothing was lost. Two in a row would be rare.
            return;
        }
        if self.recovery.singles >= 2 && self.cursor.psn == self.high {
            self.rewind();
        } else {
            self.recovery.tried = Some(self.una);
            self.recovery.head = true;
        }
    }

    /// The receiver had no receive request for the packet at `una`.
    fn receiver_not_ready<E: Env>(
        &mut self,
        now: Instant,
        code: u8,
        env: &mut E,
        context: &Context,
    ) {
        context.observe(env, Observation::RnrReceived(self.una));
        if !self.retry.use_rnr_retry(&context.attributes) {
            context.observe(env, Observation::RnrRetriesExceeded(self.una));
            self.fail(WcStatus::RnrRetryExceeded);
            return;
        }
        self.recovery.head = false;
        self.retry.pause(now, rnr_delay(code));
    }

    /// A timer ran out.
    pub(super) fn handle_timeout<E: Env>(&mut self, now: Instant, env: &mut E, context: &Context) {
        if self.busy_until.is_some_and(|until| until <= now) {
            self.busy_until = None;
        }
        while let Some(expired) = self.retry.expired(now) {
            let una = self.una;
            if self.busy_until.is_some() && expired != Expired::Rnr {
                // It is our own data that is waited for.
                self.retry
                    .rearm(now, &context.attributes, context.config.min_probe);
                continue;
            }
            match expired {
                Expired::Rnr => {
                    self.recovery.tried = Some(una);
                    self.recovery.missing = true;
                    if self.recovery.drops_early >= DROPS_EARLY {
                        self.rewind();
                    } else {
                        self.recovery.head = true;
                    }
                }
                Expired::Probe => {
                    context.observe(env, Observation::Probe(una));
                    self.retry.probed(now);
                    self.retry.forget_timed_if(una);
                    self.recovery.tried = Some(una);
                    self.recovery.missing = false;
                    self.recovery.attempts = self.recovery.attempts.saturating_add(1);
                    self.recovery.head = true;
                }
                Expired::Ack => {
                    context.observe(env, Observation::AckTimeout(una));
                    if !self.retry.use_timeout() {
                        context.observe(env, Observation::RetriesExceeded(una));
                        self.fail(WcStatus::RetryExceeded);
                        return;
                    }
                    self.recovery.tried = Some(una);
                    self.recovery.attempts = self.recovery.attempts.saturating_add(1);
                    self.asks.give_up(una, true);
                    self.response_limit = FEW_RESPONSES;
                    self.rewind();
                }
            }
            if expired != Expired::Rnr && self.is_outstanding() {
                self.retry
                    .arm(now, &context.attributes, context.config.min_probe);
            }
        }
    }

    /// The next moment at which [`Self::handle_timeout`] has something to do.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        match (self.retry.next(), self.busy_until) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// Whether a response's acknowledgement, if it has one, is positive: refusals come by themselves.
const fn is_good(aeth: Option<&Aeth>) -> bool {
    match aeth {
        None => true,
        Some(aeth) => matches!(aeth.syndrome, Syndrome::Ack(_)),
    }
}

/// Bytes that a response packet must have; none if the request has no such responses.
fn response_bytes(slot: &SendSlot, number: u32, context: &Context) -> Option<u32> {
    let mtu = context.attributes.path_mtu;
    match slot.wr.op {
        SendOp::Read { .. } => Some(
            slot.wr
                .length
                .saturating_sub(number.wrapping_shl(mtu.shift()))
                .min(mtu.bytes()),
        ),
        SendOp::Flush { .. } | SendOp::AtomicWrite { .. } => Some(0),
        _ => None,
    }
}
