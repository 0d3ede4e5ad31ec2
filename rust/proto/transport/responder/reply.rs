// SPDX-License-Identifier: GPL-2.0

//! What goes back to the peer.

use super::Responder;
use crate::{
    transport::{
        context::Context,
        error::Fault,
        ports::{
            Env,
            Observation, //
        },
        resources::{
            Resource,
            NO_LIMIT, //
        },
        wr::{
            Burst,
            Payload,
            Transmit, //
        },
        Event,
        BUSY_PAUSE, //
    },
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
        packet::Op,
    },
};
use core::ops::DerefMut;

/// The acknowledgement that is due once all answers before it are sent. It is made when it goes
/// out, so that it says the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// None.
    None,
    /// That all before the expected number is done.
    Acknowledge,
    /// And that the expected one is missing.
    Sequence,
    /// And that there is no receive request for the expected one.
    NotReady,
    /// The refusal of a number; the last thing that is said.
    Refuse(NakCode, Psn),
}

impl Reply {
    /// The expected request was done. What was said of it is no longer so.
    #[inline]
    pub(super) fn accepted(&mut self, ack_req: bool) {
        match self {
            Self::None if !ack_req => {}
            Self::Refuse(..) => {}
            _ => *self = Self::Acknowledge,
        }
    }

    /// The expected request was done and will be answered, which acknowledges all before it, too.
    pub(super) fn answered(&mut self) {
        if !matches!(self, Self::Refuse(..)) {
            *self = Self::None;
        }
    }

    /// The peer has not got an acknowledgement that was sent.
    pub(super) fn again(&mut self) {
        if *self == Self::None {
            *self = Self::Acknowledge;
        }
    }
}

impl<R: DerefMut<Target = [Resource]>> Responder<R> {
    /// Whether something is to be sent.
    #[inline]
    pub(in crate::transport) fn is_pending(&self) -> bool {
        self.reply != Reply::None || self.resources.is_pending()
    }

    /// The next packets to the peer, `most` of them at most.
    pub(in crate::transport) fn poll<E: Env>(
        &mut self,
        most: u32,
        env: &mut E,
        context: &Context,
    ) -> Option<Burst> {
        if self.busy_until.is_some() {
            return None;
        }
        if self.resources.is_pending() {
            return self.resources.poll(most, context);
        }
        let expected = self.expected;
        let (syndrome, psn) = match self.reply {
            Reply::None => return None,
            Reply::Acknowledge => (Syndrome::Ack(NO_LIMIT), expected.minus(1)),
            Reply::Sequence => {
                context.observe(env, Observation::SequenceNakSent(expected));
                (Syndrome::Nak(NakCode::SequenceError), expected)
            }
            Reply::NotReady => (Syndrome::RnrNak(context.attributes.min_rnr_timer), expected),
            Reply::Refuse(code, psn) => (Syndrome::Nak(code), psn),
        };
        self.reply = Reply::None;
        let aeth = Aeth {
            syndrome,
            msn: self.msn,
        };
        let transmit = Transmit {
            packet: context.packet(Op::Acknowledge(aeth), psn, 0),
            payload: Payload::None,
        };
        Some(Burst::new(transmit, 1))
    }

    /// An acknowledgement could not be sent for now.
    pub(in crate::transport) fn not_sent(&mut self, now: Instant, syndrome: Syndrome, psn: Psn) {
        self.busy_until = Some(now.after(BUSY_PAUSE));
        if self.reply == Reply::None {
            self.reply = match syndrome {
                Syndrome::Nak(NakCode::SequenceError) => Reply::Sequence,
                Syndrome::Nak(code) => Reply::Refuse(code, psn),
                Syndrome::RnrNak(_) => Reply::NotReady,
                Syndrome::Ack(_) | Syndrome::Reserved(_) => Reply::Acknowledge,
            };
        }
    }

    /// The memory of an answer cannot be read.
    pub(in crate::transport) fn payload_fault(&mut self, now: Instant, psn: Psn, fault: Fault) {
        let Some(code) = fault.nak() else {
            self.resources.take_back(psn, true);
            self.busy_until = Some(now.after(BUSY_PAUSE));
            return;
        };
        if self.resources.take_back(psn, false) {
            // The answer ends with the refusal; those behind it are not sent.
            self.resources.clear();
            self.reply = Reply::Refuse(code, psn);
            self.failure = Some(match code {
                NakCode::RemoteAccess => Event::AccessError,
                _ => Event::Failed,
            });
        }
    }
}
