// SPDX-License-Identifier: GPL-2.0

//! The engine of one queue pair: what its driver calls.

use super::{
    attributes::{
        Change,
        Config, //
    },
    context::Context,
    error::Fault,
    ports::{
        Env,
        Observation, //
    },
    requester::Requester,
    resources::Resource,
    responder::Responder,
    slots::SendSlot,
    state::{
        ModifyError,
        QpType,
        State, //
    },
    wr::{
        Burst,
        Completion,
        EarlyIndex,
        Payload,
        SendWr,
        SlotIndex,
        Transmit, //
    },
    Event,
    Events,
    PostError,
    Verdict,
    BUSY_PAUSE, //
};
use crate::{
    types::{
        Instant,
        Mtu, //
    },
    wire::packet::{
        Op,
        Packet, //
    },
};
use core::ops::DerefMut;

/// The memory that an engine works in; the driver allocates it.
pub trait Storage {
    /// One slot for each send work request; a power of two.
    type Send: DerefMut<Target = [SendSlot]>;
    /// One for each READ or atomic that the peer may have under way, whatever modify will say; a
    /// power of two, or none at all.
    type Resources: DerefMut<Target = [Resource]>;
}

/// One queue pair. See [the module](super) for how it is driven.
///
/// Not locked: the driver sees to it that one call is made at a time. No method sleeps or
/// allocates, so any context will do that the [`Env`] is made for.
pub struct Engine<S: Storage> {
    context: Context,
    requester: Requester<S::Send>,
    responder: Responder<S::Resources>,
    events: Events,
    /// Whose turn it is to send.
    requester_first: bool,
}

impl<S: Storage> Engine<S> {
    /// A queue pair in RESET; none if the storage has not the lengths that [`Storage`] asks for, or
    /// a number of `config` is out of its range.
    pub fn new(config: Config, send: S::Send, resources: S::Resources) -> Option<Self> {
        if !config.is_valid() {
            return None;
        }
        Some(Self {
            context: Context::new(config),
            requester: Requester::new(send)?,
            responder: Responder::new(resources)?,
            events: Events::default(),
            requester_first: false,
        })
    }

    /// Its state.
    #[inline]
    pub fn state(&self) -> State {
        self.context.state
    }

    /// Its attributes.
    #[inline]
    pub fn attributes(&self) -> &super::attributes::Attributes {
        &self.context.attributes
    }

    /// The port's MTU has changed. Connections keep their path MTU.
    pub fn set_port_mtu(&mut self, mtu: Mtu) {
        self.context.set_port_mtu(mtu);
    }

    /// Send work requests that are posted and have no completion yet.
    #[inline]
    pub fn send_queue_len(&self) -> u32 {
        self.requester.posted.wrapping_sub(self.requester.reported)
    }

    /// Send work requests that there is room for at a time.
    #[inline]
    pub fn send_queue_capacity(&self) -> u32 {
        self.requester.ring.capacity()
    }

    /// Takes a send work request. The driver puts what belongs to it at the slot before it calls
    /// the engine again.
    ///
    /// What is wrong with a request is said in its completion.
    ///
    /// # Errors
    ///
    /// [`PostError::Full`] with all slots in use, [`PostError::State`] before RTS.
    #[inline]
    pub fn post_send(&mut self, wr: SendWr) -> Result<SlotIndex, PostError> {
        self.requester.post(wr, &self.context)
    }

    /// A packet came, its ICRC and its addresses are right, and its destination is this queue pair.
    #[inline]
    pub fn handle_packet<E: Env>(
        &mut self,
        now: Instant,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
    ) -> Verdict {
        let context = &self.context;
        if !context.accepts(packet, env) {
            return Verdict::Done;
        }
        match packet.op {
            Op::Acknowledge(_)
            | Op::AtomicAcknowledge(..)
            | Op::ReadResponseFirst(_)
            | Op::ReadResponseMiddle
            | Op::ReadResponseLast(_)
            | Op::ReadResponseOnly(_) => {
                if context.state.continues_requests() && context.config.qp_type.is_reliable() {
                    self.requester
                        .handle_response(now, packet, data, env, context);
                    self.settle(env);
                } else {
                    context.observe(env, Observation::Unexpected);
                }
                Verdict::Done
            }
            Op::Cnp => {
                context.observe(env, Observation::CongestionNotified);
                Verdict::Done
            }
            _ => self.handle_request(packet, data, env),
        }
    }

    #[inline]
    fn handle_request<E: Env>(
        &mut self,
        packet: &Packet,
        data: E::Data<'_>,
        env: &mut E,
    ) -> Verdict {
        let context = &self.context;
        let verdict = match context.config.qp_type {
            QpType::Rc | QpType::XrcTgt => {
                self.responder.handle_reliable(packet, data, env, context)
            }
            QpType::Uc => {
                self.responder.handle_unreliable(packet, data, env, context);
                Verdict::Done
            }
            QpType::Ud | QpType::Gsi => {
                self.responder.handle_datagram(packet, data, env, context);
                Verdict::Done
            }
            QpType::XrcIni => {
                context.observe(env, Observation::Unexpected);
                Verdict::Done
            }
        };
        if context.state == State::Rtr && self.responder.has_served() {
            self.events.add_once(Event::CommunicationEstablished);
        }
        self.settle(env);
        verdict
    }

    /// [`Self::next_timeout`] may have come.
    pub fn handle_timeout<E: Env>(&mut self, now: Instant, env: &mut E) {
        if self.context.state.continues_requests() {
            self.requester.handle_timeout(now, env, &self.context);
        }
        self.responder.handle_timeout(now);
        self.settle(env);
    }

    /// A packet could not be sent, since this host has no room for it now ([`Fault::Busy`]), or the
    /// payload of a packet that [`Self::poll_transmit`] or [`Self::poll_burst`] has just given
    /// cannot be had. It was not sent, nor any behind it.
    pub fn payload_fault<E: Env>(
        &mut self,
        now: Instant,
        transmit: &Transmit,
        fault: Fault,
        env: &mut E,
    ) {
        let psn = transmit.packet.psn;
        match transmit.payload {
            Payload::None => match transmit.packet.op {
                Op::Acknowledge(aeth) => self.responder.not_sent(now, aeth.syndrome, psn),
                op if op.is_request() => self.requester.not_sent(now, psn),
                _ => {
                    self.responder.payload_fault(now, psn, Fault::Busy);
                }
            },
            Payload::Remote { .. } => self.responder.payload_fault(now, psn, fault),
            Payload::Local { slot, offset } => {
                let number = offset >> self.context.attributes.path_mtu.shift();
                self.requester.take_back(slot, number, psn, &self.context);
                match fault.local() {
                    Some(status) => {
                        self.requester.refuse(slot, status);
                    }
                    None => self.requester.busy_until = Some(now.after(BUSY_PAUSE)),
                }
            }
        }
        self.settle(env);
    }

    /// A packet that was held and now has its turn: it goes to [`Self::handle_packet`] again.
    #[inline]
    pub fn poll_early(&mut self) -> Option<EarlyIndex> {
        self.responder.poll_early()
    }

    /// A packet that was to be held could not be.
    pub fn early_lost(&mut self, index: EarlyIndex) {
        self.responder.early_lost(index);
    }

    /// The next packet to send.
    #[inline]
    pub fn poll_transmit<E: Env>(&mut self, now: Instant, env: &mut E) -> Option<Transmit> {
        self.poll_burst(now, 1, env).map(|burst| *burst.first())
    }

    /// The next packets to send, `most` (at least one) at most.
    #[inline]
    pub fn poll_burst<E: Env>(&mut self, now: Instant, most: u32, env: &mut E) -> Option<Burst> {
        // In turn, if both halves have something to say.
        if self.responder.is_pending() && !self.requester_first {
            self.requester_first = true;
            let burst = self.responder.poll(most, env, &self.context);
            if burst.is_some() {
                return burst;
            }
        }
        self.requester_first = false;
        if self.context.state.continues_requests() {
            let burst = self.requester.poll(now, most, env, &self.context);
            if burst.is_some() {
                return burst;
            }
            self.settle(env);
        }
        if self.responder.is_pending() {
            return self.responder.poll(most, env, &self.context);
        }
        None
    }

    /// The next send work request that has ended.
    #[inline]
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.requester.poll_completion(&self.context)
    }

    /// The next event.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.context.state == State::Sqd
            && self.requester.take_drained()
            && self.context.attributes.sq_drained_event
        {
            self.events.add(Event::SendQueueDrained);
        }
        self.events.take()
    }

    /// When [`Self::handle_timeout`] is to be called.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        match (self.requester.next_timeout(), self.responder.next_timeout()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether packets are held. If not, the driver drops what it still has.
    #[inline]
    pub fn holds_early(&self) -> bool {
        self.responder.holds_early()
    }

    /// The queue pair fails for a reason that the driver has, such as a completion queue that ran
    /// over.
    pub fn abort<E: Env>(&mut self, env: &mut E) {
        self.responder.fail();
        self.settle(env);
    }

    /// Changes state and attributes. RESET forgets what was posted, and the current receive request
    /// without a call: the driver does the same.
    ///
    /// # Errors
    ///
    /// The move does not exist, or wants other attributes, or one has a value out of range. Nothing
    /// has changed then.
    pub fn modify<E: Env>(
        &mut self,
        now: Instant,
        change: &Change,
        env: &mut E,
    ) -> Result<(), ModifyError> {
        let (from, to) = self.context.check(change, self.responder.depth())?;
        self.context.apply(change);
        self.context.state = to;
        match (from, to) {
            (_, State::Reset) => {
                self.requester.reset();
                self.responder.reset();
                self.events = Events::default();
                self.context.forget();
            }
            (State::Err, State::Err) => {}
            (_, State::Err) => {
                self.responder.silence();
                self.stop(env);
            }
            (State::Init, State::Rtr) => {
                self.responder.start_at(self.context.attributes.rq_psn);
            }
            (State::Rtr, State::Rts) => {
                self.requester.begin(&self.context.attributes);
                self.events.forget(Event::CommunicationEstablished);
            }
            (State::Sqe, State::Rts) => self.requester.resume(),
            (State::Rts, State::Sqd) => self.requester.watch_drain(),
            _ => {}
        }
        if change.mask.intersects(super::state::AttributeMask::TIMEOUT) {
            self.requester.new_timeout(now, &self.context);
        }
        Ok(())
    }

    /// Lets the failures of the two halves become the queue pair's.
    #[inline]
    fn settle<E: Env>(&mut self, env: &mut E) {
        if self.requester.failure.is_some() || self.responder.has_failed() {
            self.fail(env);
        }
    }

    #[cold]
    fn fail<E: Env>(&mut self, env: &mut E) {
        let event = self.responder.take_failure();
        if matches!(self.context.state, State::Err | State::Reset) {
            return;
        }
        if event.is_none() && !self.context.config.qp_type.is_reliable() {
            // Its receive side goes on.
            self.context.state = State::Sqe;
            self.requester.halt();
            return;
        }
        self.context.state = State::Err;
        if let Some(event) = event {
            self.events.add(event);
        }
        self.events.add(Event::Failed);
        self.stop(env);
    }

    /// Both halves stop: what is queued will be flushed.
    fn stop<E: Env>(&mut self, env: &mut E) {
        self.requester.halt();
        self.responder.halt();
        self.responder.flush_current(env);
        if self.context.config.shared_receive {
            self.events.add(Event::LastWqeReached);
        }
    }
}
