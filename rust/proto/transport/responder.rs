// SPDX-License-Identifier: GPL-2.0

//! The responder: a peer's requests change memory and are answered (IBTA 9.7.4 to 9.7.8, 9.8.3).
//!
//! Requests are done in the order of their numbers. What comes ahead of a gap is kept by the driver
//! and has its turn when the gap closes, so that a peer that sends everything again finds most of
//! it acknowledged already. Answers are sent in the order of the requests, too: those to READs and
//! atomics first, then one acknowledgement for all that was done.

mod datagram;
mod execute;
mod reliable;
mod reply;
mod unreliable;

use super::{
    error::WcStatus,
    ports::Env,
    resources::{
        Resource,
        Resources, //
    },
    window::Window,
    wr::{
        EarlyIndex,
        RecvCompletion,
        RecvKind, //
    },
    Event,
};
use crate::{
    types::{
        Instant,
        Msn,
        Psn,
        Qpn,
        Rkey, //
    },
    wire::{
        aeth::NakCode,
        packet::Tail, //
    },
};
use core::ops::DerefMut;

use self::reply::Reply;

/// The message that is coming in.
#[derive(Clone, Copy)]
enum Message {
    /// None.
    Idle,
    /// A SEND of which so many bytes are here.
    Send { received: u32 },
    /// A WRITE of which so many bytes are still to come.
    Write {
        rkey: Rkey,
        address: u64,
        length: u32,
        remaining: u32,
    },
}

/// Why a request is not done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// It is wrong; the code says how.
    Nak(NakCode),
    /// It is longer than the receive request's buffers.
    TooLong,
    /// The receive request itself is bad.
    Receive(WcStatus),
    /// Its data has arrived but the key that it named cannot be invalidated.
    Invalidate,
    /// There is no receive request for it.
    NotReady,
    /// As if the packet had been lost.
    Later,
}

/// What a request did.
#[derive(Clone, Copy)]
struct Done {
    /// Packet sequence numbers that it takes.
    numbers: u32,
    /// A message is finished.
    finished: bool,
    /// It has an answer of its own.
    answered: bool,
}

pub(super) struct Responder<R> {
    expected: Psn,
    msn: Msn,
    message: Message,
    /// Bytes that the current receive request's buffers hold.
    receive: Option<u32>,
    resources: Resources<R>,
    reply: Reply,
    /// The gap before `expected` was told of, or the receiver was not ready for it.
    told: bool,
    early: Window,
    /// The driver cannot get at a payload: nothing is sent before.
    busy_until: Option<Instant>,
    /// A request was done.
    served: bool,
    /// Why the queue pair has to fail.
    failure: Option<Event>,
}

impl<R: DerefMut<Target = [Resource]>> Responder<R> {
    pub(super) fn new(ring: R) -> Option<Self> {
        Some(Self {
            expected: Psn::default(),
            msn: Msn::default(),
            message: Message::Idle,
            receive: None,
            resources: Resources::new(ring)?,
            reply: Reply::None,
            told: false,
            early: Window::new(),
            busy_until: None,
            served: false,
            failure: None,
        })
    }

    /// Forgets everything (to RESET).
    pub(super) fn reset(&mut self) {
        self.expected = Psn::default();
        self.msn = Msn::default();
        self.receive = None;
        self.silence();
        self.failure = None;
        self.served = false;
    }

    /// The first number to expect.
    pub(super) fn start_at(&mut self, psn: Psn) {
        self.expected = psn;
    }

    /// READs and atomics that can be kept.
    pub(super) fn depth(&self) -> u32 {
        self.resources.capacity()
    }

    /// Takes no more requests. A refusal that is due is still sent.
    pub(super) fn halt(&mut self) {
        self.message = Message::Idle;
        self.early.clear();
        self.busy_until = None;
        self.told = false;
        if !matches!(self.reply, Reply::Refuse(..)) {
            self.reply = Reply::None;
            self.resources.clear();
        }
    }

    /// Sends nothing more at all.
    pub(super) fn silence(&mut self) {
        self.reply = Reply::None;
        self.resources.clear();
        self.halt();
    }

    /// Ends the current receive request, if there is one, since the queue pair failed.
    pub(super) fn flush_current<E: Env>(&mut self, env: &mut E) {
        self.end_receive(WcStatus::Flushed, env);
    }

    /// Whether any request was done since RESET.
    #[inline]
    pub(super) fn has_served(&self) -> bool {
        self.served
    }

    pub(super) fn holds_early(&self) -> bool {
        !self.early.is_empty()
    }

    /// The queue pair has to fail, for a reason from outside.
    pub(super) fn fail(&mut self) {
        self.failure = Some(Event::Failed);
    }

    /// Whether the queue pair has to fail.
    #[inline]
    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Why the queue pair has to fail, once.
    pub(super) fn take_failure(&mut self) -> Option<Event> {
        self.failure.take()
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.busy_until
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.busy_until.is_some_and(|until| until <= now) {
            self.busy_until = None;
        }
    }

    /// The next packet that was held and now has its turn.
    pub(super) fn poll_early(&mut self) -> Option<EarlyIndex> {
        if self.early.is_empty() {
            return None;
        }
        if self.early.remove(self.expected) {
            return Some(Window::index(self.expected));
        }
        // More are held behind the next gap.
        if !self.told {
            self.tell_of_gap();
        }
        None
    }

    pub(super) fn early_lost(&mut self, index: EarlyIndex) {
        self.early.remove_index(index);
    }

    /// Ends the current receive request in an error.
    fn end_receive<E: Env>(&mut self, status: WcStatus, env: &mut E) {
        if self.receive.take().is_some() {
            env.complete_receive(RecvCompletion {
                status,
                kind: RecvKind::Send,
                bytes: 0,
                tail: Tail::None,
                solicited: true,
                source_qp: Qpn::default(),
            });
        }
    }
}
