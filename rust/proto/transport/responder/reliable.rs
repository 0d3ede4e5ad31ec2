// SPDX-License-Identifier: GPL-2.0

//! Reliable services: every request is done once, in order, and answered (IBTA 9.7.4, 9.7.5).

use super::{
    reply::Reply,
    Done,
    Message,
    Refusal,
    Responder, //
};
use crate::{
    transport::{
        context::Context,
        error::{
            receive_status_of_nak,
            WcStatus, //
        },
        ports::{
            Env,
            Observation, //
        },
        resources::Resource,
        window::Window,
        Event,
        Verdict,
        EARLY_SLOTS, //
    },
    wire::{
        aeth::NakCode,
        packet::{
            Op,
            Packet, //
        },
    },
};
use core::{
    cmp::Ordering,
    ops::DerefMut, //
};

impl<R: DerefMut<Target = [Resource]>> Responder<R> {
    /// A request came.
    #[inline]
    pub(in crate::transport) fn handle_reliable<E: Env>(
        &mut self,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
        context: &Context,
    ) -> Verdict {
        let distance = packet.psn.since(self.expected);
        match distance.cmp(&0) {
            Ordering::Equal => {
                match self.execute(packet, data, env, context) {
                    Ok(done) => self.accept(packet, done),
                    Err(refusal) => self.refuse(refusal, packet, env, context),
                }
                Verdict::Done
            }
            Ordering::Greater => self.handle_ahead(packet, distance.unsigned_abs(), env, context),
            Ordering::Less => {
                self.handle_duplicate(packet, env, context);
                Verdict::Done
            }
        }
    }

    /// The request is done.
    #[inline]
    fn accept(&mut self, packet: &Packet, done: Done) {
        if !self.early.is_empty() {
            self.early.remove_range(self.expected, done.numbers);
        }
        self.expected = self.expected.plus(done.numbers);
        if done.finished {
            self.msn = self.msn.next();
        }
        self.told = false;
        self.served = true;
        if done.answered {
            self.reply.answered();
        } else {
            self.reply.accepted(packet.ack_req);
        }
    }

    /// A request ahead of a gap.
    #[cold]
    fn handle_ahead<E: Env>(
        &mut self,
        packet: &Packet,
        distance: u32,
        env: &mut E,
        context: &Context,
    ) -> Verdict {
        let limit = context.config.early_limit.min(EARLY_SLOTS.wrapping_sub(1));
        let held = distance <= limit && self.early.insert(packet.psn);
        context.observe(
            env,
            Observation::OutOfSequence {
                psn: packet.psn,
                held,
            },
        );
        if !self.told {
            self.tell_of_gap();
        }
        if held {
            Verdict::Hold(Window::index(packet.psn))
        } else {
            Verdict::Done
        }
    }

    /// The peer shall hear that `expected` is missing; once.
    pub(super) fn tell_of_gap(&mut self) {
        self.told = true;
        self.reply = Reply::Sequence;
    }

    /// A request that was done before. It is no fault: its answer was lost, or late.
    #[cold]
    fn handle_duplicate<E: Env>(&mut self, packet: &Packet, env: &mut E, context: &Context) {
        context.observe(env, Observation::DuplicateRequest(packet.psn));
        match packet.op {
            Op::ReadRequest(reth) => {
                let wanted = (reth.rkey, reth.address, reth.length);
                self.resources.repeat_read(packet.psn, wanted, context);
            }
            Op::CompareSwap(_) | Op::FetchAdd(_) => {
                self.resources.repeat(packet.psn, true);
            }
            Op::Flush(feth, reth) => {
                // Once more does no harm, and the second may come because the first got stuck.
                if self.resources.repeat(packet.psn, false) {
                    let _ = env.flush(reth.rkey, reth.address, reth.length, feth);
                }
            }
            Op::AtomicWrite(_) => {
                self.resources.repeat(packet.psn, false);
            }
            _ if packet.ack_req => self.reply.again(),
            // Nobody waits for it.
            _ => {}
        }
    }

    /// A request is not done.
    #[cold]
    fn refuse<E: Env>(
        &mut self,
        refusal: Refusal,
        packet: &Packet,
        env: &mut E,
        context: &Context,
    ) {
        let (code, status, event) = match refusal {
            Refusal::Later => return,
            Refusal::NotReady => {
                context.observe(env, Observation::RnrSent(packet.psn));
                self.told = true;
                self.reply = Reply::NotReady;
                return;
            }
            Refusal::Nak(code) => (
                Some(code),
                receive_status_of_nak(code),
                match code {
                    NakCode::RemoteAccess => Event::AccessError,
                    NakCode::RemoteOperational => Event::Failed,
                    _ => Event::RequestError,
                },
            ),
            Refusal::TooLong => (
                Some(NakCode::InvalidRequest),
                WcStatus::LocalLength,
                Event::RequestError,
            ),
            Refusal::Receive(status) => (Some(NakCode::RemoteOperational), status, Event::Failed),
            Refusal::Invalidate => (None, WcStatus::RemoteInvalidRequest, Event::Failed),
        };
        context.observe(env, Observation::RequestRefused(packet.psn));
        self.end_receive(status, env);
        self.message = Message::Idle;
        self.reply = code.map_or(Reply::None, |code| Reply::Refuse(code, self.expected));
        self.failure = Some(event);
    }
}
