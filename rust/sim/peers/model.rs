// SPDX-License-Identifier: GPL-2.0

//! A peer as an endpoint: a requester and a responder side by side.

use super::{
    habits::Habits,
    requester::Requester,
    responder::Responder, //
};
use crate::{
    endpoint::{
        Endpoint,
        Step, //
    },
    frame::is_request,
    port::Port, //
};
use oxe_proto::{
    transport::{
        attributes::{
            Attributes,
            Config, //
        },
        error::Fault,
        state::State,
        wr::{
            Completion,
            EarlyIndex,
            Payload,
            SendWr,
            SlotIndex,
            Transmit, //
        },
        Event,
        PostError,
        Verdict, //
    },
    types::{
        Instant,
        Psn,
        SrqNumber, //
    },
    wire::packet::{
        Addressing,
        Op,
        Packet,
        Service, //
    },
};
use std::collections::VecDeque;

/// What both halves look at.
pub(super) struct Frame {
    pub(super) habits: Habits,
    pub(super) config: Config,
    pub(super) attributes: Attributes,
    pub(super) state: State,
    pub(super) events: VecDeque<Event>,
    acks_sent: usize,
}

impl Frame {
    fn service(&self) -> Service {
        use oxe_proto::transport::state::QpType;
        match self.config.qp_type {
            QpType::XrcIni | QpType::XrcTgt => Service::Xrc,
            _ => Service::Rc,
        }
    }

    /// A packet to the other end.
    pub(super) fn packet(&self, op: Op, psn: Psn, data_bytes: u32) -> Packet {
        Packet {
            service: self.service(),
            op,
            addressing: Addressing::Connected,
            dest_qp: self.attributes.dest_qp,
            psn,
            pkey: self.attributes.pkey,
            ack_req: false,
            solicited: false,
            mig_req: self.habits.migrated,
            fecn: false,
            becn: false,
            data_bytes,
        }
    }

    /// The address header of a request.
    pub(super) fn addressing(&self, srq: SrqNumber) -> Addressing {
        match self.service() {
            Service::Xrc => Addressing::SharedQueue(srq),
            _ => Addressing::Connected,
        }
    }

    /// The next credit code.
    pub(super) fn credits(&mut self) -> u8 {
        self.acks_sent += 1;
        self.habits.credits[self.acks_sent % self.habits.credits.len()]
    }

    /// The queue pair has failed.
    pub(super) fn fail(&mut self, event: Option<Event>) {
        if self.state == State::Err {
            return;
        }
        self.state = State::Err;
        self.events.extend(event);
        self.events.push_back(Event::Failed);
        if self.config.shared_receive {
            self.events.push_back(Event::LastWqeReached);
        }
    }
}

/// A model of a peer.
pub struct Model {
    frame: Frame,
    requester: Requester,
    responder: Responder,
}

impl Model {
    /// A peer in RESET.
    pub fn new(habits: Habits, config: Config, slots: u32) -> Self {
        Self {
            frame: Frame {
                habits,
                config,
                attributes: Attributes::default(),
                state: State::Reset,
                events: VecDeque::new(),
                acks_sent: 0,
            },
            requester: Requester::new(slots),
            responder: Responder::default(),
        }
    }

    /// After any call: a failure of one half stops both.
    fn settle(&mut self, port: &mut Port<'_>) {
        if self.requester.has_failed() {
            self.frame.fail(None);
        }
        if self.frame.state == State::Err {
            self.requester.flush();
            self.responder.stop(port);
        }
    }
}

impl Endpoint for Model {
    fn step(
        &mut self,
        _now: Instant,
        step: Step,
        attributes: &Attributes,
        port: &mut Port<'_>,
    ) -> bool {
        use State::{
            Err,
            Init,
            Reset,
            Rtr,
            Rts,
            Sqd, //
        };
        let fits = matches!(
            (self.frame.state, step),
            (Reset, Step::Init)
                | (Init, Step::Receive)
                | (Rtr, Step::Send)
                | (Rts, Step::Drain { .. })
                | (Sqd, Step::Resume)
                | (_, Step::Error | Step::Reset)
        );
        if !fits {
            return false;
        }
        match step {
            Step::Init => self.frame.state = Init,
            Step::Receive => {
                self.frame.state = Rtr;
                self.frame.attributes = *attributes;
                self.responder.start(attributes);
            }
            Step::Send => {
                self.frame.state = Rts;
                self.requester.start(attributes);
            }
            Step::Drain { notify } => {
                self.frame.state = Sqd;
                self.requester.drain(notify);
            }
            Step::Resume => self.frame.state = Rts,
            Step::Error => {
                if self.frame.state != Err {
                    self.frame.state = Err;
                    if self.frame.config.shared_receive {
                        self.frame.events.push_back(Event::LastWqeReached);
                    }
                    self.responder.silence();
                }
                self.settle(port);
            }
            Step::Reset => {
                let slots = self.requester.capacity();
                *self = Self::new(self.frame.habits, self.frame.config, slots);
            }
        }
        true
    }

    fn post_send(&mut self, wr: SendWr) -> Result<SlotIndex, PostError> {
        if !self.frame.state.may_post_send() {
            return Err(PostError::State);
        }
        let mtu = self.frame.attributes.path_mtu;
        let slot = self.requester.post(wr, mtu)?;
        if self.frame.state == State::Err {
            self.requester.flush();
        }
        Ok(slot)
    }

    fn handle_packet(
        &mut self,
        now: Instant,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Verdict {
        let ours = packet.service == self.frame.service() && self.frame.state.receives();
        if ours && is_request(&packet.op) {
            if self.frame.habits.strict {
                self.responder.inspect(&self.frame, packet, data, port);
            }
            self.responder.take(packet, data);
            self.responder.work(&mut self.frame, port);
        } else if ours && self.frame.state.continues_requests() {
            self.requester
                .respond(now.as_nanos(), packet, data, &self.frame, port);
        }
        self.settle(port);
        Verdict::Done
    }

    fn handle_timeout(&mut self, now: Instant, port: &mut Port<'_>) {
        if self.frame.state.continues_requests() {
            self.requester.timeout(now.as_nanos(), &self.frame);
        }
        self.settle(port);
    }

    fn poll_early(&mut self) -> Option<EarlyIndex> {
        None
    }

    fn early_lost(&mut self, _index: EarlyIndex) {}

    fn poll_transmit(
        &mut self,
        now: Instant,
        _most: u32,
        burst: &mut Vec<Transmit>,
        port: &mut Port<'_>,
    ) {
        if let Some(transmit) = self.responder.poll(&mut self.frame) {
            self.responder.work(&mut self.frame, port);
            self.settle(port);
            burst.push(transmit);
        } else if self.frame.state.continues_requests() {
            burst.extend(self.requester.poll(now.as_nanos(), &self.frame, port));
            self.settle(port);
        }
    }

    fn payload_fault(
        &mut self,
        now: Instant,
        transmit: &Transmit,
        fault: Fault,
        port: &mut Port<'_>,
    ) {
        match transmit.payload {
            Payload::None => (),
            Payload::Local { slot, .. } => {
                self.requester
                    .payload_fault(now.as_nanos(), transmit, slot, fault, &self.frame);
            }
            Payload::Remote { .. } => {
                self.responder
                    .payload_fault(transmit.packet.psn, fault, &mut self.frame);
            }
        }
        self.settle(port);
    }

    fn poll_completion(&mut self) -> Option<Completion> {
        self.requester.poll_completion()
    }

    fn poll_event(&mut self) -> Option<Event> {
        if self.frame.state == State::Sqd && self.requester.take_drained() {
            return Some(Event::SendQueueDrained);
        }
        self.frame.events.pop_front()
    }

    fn holds_early(&self) -> bool {
        false
    }

    fn abort(&mut self, port: &mut Port<'_>) {
        self.frame.fail(None);
        self.settle(port);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.requester.next_timeout().map(Instant::from_nanos)
    }
}
