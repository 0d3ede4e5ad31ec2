// SPDX-License-Identifier: GPL-2.0

//! What the requester sends again after a loss (IBTA 9.7.5.1.3, 9.7.7).

use super::{
    context::Context,
    ports::{
        Env,
        Observation, //
    },
    requester::{
        Cursor,
        Requester, //
    },
    segment,
    slots::{
        Kind,
        SendSlot, //
    },
    wr::Transmit,
    EARLY_SLOTS,
};
use crate::types::{
    Instant,
    Psn, //
};
use core::{
    cmp::Ordering,
    ops::{
        DerefMut,
        Range, //
    },
};

/// How the requester gets over a loss.
#[derive(Clone, Copy, Default)]
pub(super) struct Recovery {
    /// The oldest packet is to be sent again by itself.
    pub(super) head: bool,
    /// Responses may be missing that were not asked for again.
    pub(super) gaps: bool,
    /// For this number `head` was.
    pub(super) tried: Option<Psn>,
    /// The peer said that it had not got it.
    pub(super) missing: bool,
    /// Times that the timers tried the same number.
    pub(super) attempts: u32,
    /// What is before this number answers a probe.
    pub(super) probed_to: Option<Psn>,
    /// Packets that were filled in one by one, in a row.
    pub(super) singles: u32,
    /// How sure it is that the peer keeps nothing that comes early: 0 to 3.
    pub(super) drops_early: u8,
}

impl Recovery {
    #[inline]
    pub(super) const fn is_due(&self) -> bool {
        self.head || self.gaps
    }
}

impl<B: DerefMut<Target = [SendSlot]>> Requester<B> {
    /// What is to be sent again ahead of all else, if anything is.
    #[cold]
    pub(super) fn resend<E: Env>(
        &mut self,
        now: Instant,
        env: &mut E,
        context: &Context,
    ) -> Option<Transmit> {
        if self.recovery.head {
            self.recovery.head = false;
            let transmit = self.resend_head(env, context);
            if transmit.is_some() {
                if self.recovery.missing {
                    self.retry.time_again(self.una, now);
                }
                return transmit;
            }
        }
        let transmit = self.ask_for_missing(now, env, context);
        self.recovery.gaps = transmit.is_some();
        transmit
    }

    /// The packet at `una` again: of a message that one; of a READ what is missing up to the next
    /// response that is there.
    pub(super) fn resend_head<E: Env>(
        &mut self,
        env: &mut E,
        context: &Context,
    ) -> Option<Transmit> {
        if self.una_slot == self.fresh || !self.is_outstanding() {
            return None;
        }
        let slot = self.ring.get(self.una_slot)?;
        let index = self.ring.index(self.una_slot);
        match slot.kind {
            Kind::Local => None,
            Kind::Message => {
                let is_last = self.una_done.wrapping_add(1) == slot.packets;
                let mut transmit =
                    segment::message(&slot.wr, index, self.una_done, is_last, self.una, context);
                transmit.packet.ack_req = true;
                context.observe(env, Observation::Retransmitted(self.una));
                Some(transmit)
            }
            Kind::Response => {
                self.asks.give_up(self.una, true);
                let slot = self.ring.get(self.una_slot)?;
                let first = self.una.minus(self.una_done);
                let rest = self.una_done..slot.requested;
                let range = if self.asks_for_parts() {
                    self.missing(slot, first, rest)?
                } else {
                    rest
                };
                if self.recovery.attempts != 0 {
                    self.recovery.probed_to = Some(first.plus(range.end));
                }
                self.ask(self.una_slot, range, self.una, env, context)
            }
        }
    }

    /// Whether what is missing is asked for alone: not of a peer that answers whole requests only,
    /// as far as is known.
    pub(super) fn asks_for_parts(&self) -> bool {
        self.asks.takes_parts() && self.recovery.attempts <= 1
    }

    /// Asks for responses of a slot again, from the number `psn` on.
    pub(super) fn ask<E: Env>(
        &mut self,
        count: u32,
        range: Range<u32>,
        psn: Psn,
        env: &mut E,
        context: &Context,
    ) -> Option<Transmit> {
        let slot = self.ring.get(count)?;
        let index = self.ring.index(count);
        let numbers = range.end.saturating_sub(range.start);
        let near = EARLY_SLOTS.saturating_sub(psn.count_since(self.una));
        let is_part = range.end != slot.requested;
        let transmit = segment::request(&slot.wr, index, range, psn, context);
        if near != 0 {
            self.asks.add(psn, numbers.min(near), self.high, is_part);
        }
        context.observe(env, Observation::Retransmitted(psn));
        Some(transmit)
    }

    /// Asks for the next responses that are missing although something behind them has come, and
    /// that are not asked for already.
    fn ask_for_missing<E: Env>(
        &mut self,
        now: Instant,
        env: &mut E,
        context: &Context,
    ) -> Option<Transmit> {
        if self.asks.is_full() {
            return None;
        }
        let (count, range, psn) = self.next_gap()?;
        context.observe(env, Observation::ResponseMissing(psn));
        if psn == self.una {
            self.retry.time_again(psn, now);
        } else {
            self.retry.forget_timed_if(psn);
        }
        self.ask(count, range, psn, env, context)
    }

    /// A slot, which of its responses, and the first one's number.
    fn next_gap(&self) -> Option<(u32, Range<u32>, Psn)> {
        // What is ahead of the cursor it will come to.
        let acked = self.acked.count_since(self.una);
        let passed = self.cursor.psn.count_since(self.una);
        let near = self.una.plus(acked.min(passed).min(EARLY_SLOTS));
        let mut first = self.una.minus(self.una_done);
        let mut count = self.una_slot;
        while count != self.fresh && first.is_before(near) {
            let slot = self.ring.get(count)?;
            if slot.kind == Kind::Response && slot.refused.is_none() {
                let end = near.count_since(first).min(slot.requested);
                let mut from = slot.progress;
                while let Some(missing) = self.missing(slot, first, from..end) {
                    let whole = missing.start..slot.requested;
                    let psn = first.plus(missing.start);
                    let length = missing.end.saturating_sub(missing.start);
                    let known = self.asks.run(psn, length, true);
                    if !self.asks_for_parts() {
                        // One at a time.
                        return (known == 0).then_some((count, whole, psn));
                    }
                    if known != length {
                        let fresh = length.saturating_sub(known);
                        let psn = psn.plus(known);
                        let length = self.asks.run(psn, fresh, false);
                        let start = missing.start.saturating_add(known);
                        return Some((count, start..start.saturating_add(length), psn));
                    }
                    from = missing.end;
                }
            }
            first = first.plus(slot.packets);
            count = count.wrapping_add(1);
        }
        None
    }

    /// The first responses in `range`, counted from the slot's number `first`, that have not come.
    pub(super) fn missing(
        &self,
        slot: &SendSlot,
        first: Psn,
        range: Range<u32>,
    ) -> Option<Range<u32>> {
        let from = range.start.max(slot.progress);
        if from >= range.end {
            return None;
        }
        let psn = first.plus(from);
        let length = range.end.saturating_sub(from);
        // Farther away nothing comes early.
        let near = EARLY_SLOTS
            .saturating_sub(psn.count_since(self.una))
            .min(length);
        let there = self.early.run(psn, near, true);
        if there == length {
            return None;
        }
        let left = near.saturating_sub(there);
        let gap = self.early.run(psn.plus(there), left, false);
        let start = from.saturating_add(there);
        let end = match gap.cmp(&left) {
            Ordering::Less => start.saturating_add(gap),
            _ => range.end,
        };
        Some(start..end)
    }

    /// Everything from `una` on is to be sent again.
    pub(super) fn rewind(&mut self) {
        self.cursor = Cursor {
            slot: self.una_slot,
            sent: self.una_done,
            psn: self.una,
        };
        self.recovery.head = false;
        self.recovery.missing = false;
        self.asks.clear();
        self.retry.forget_timed();
    }
}
