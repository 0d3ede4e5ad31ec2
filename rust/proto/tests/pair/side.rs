// SPDX-License-Identifier: GPL-2.0

//! A queue pair with its host, and how it is driven.

use super::{Host, Setup};
use oxe_proto::{
    transport::{
        attributes::{Attributes, Change, Config},
        error::{Fault, WcStatus},
        state::{AttributeMask, ModifyError, State},
        wr::{Completion, Payload, SendOp, SendWr, SlotIndex, Transmit},
        Engine, Event, Resource, SendSlot, Storage, Verdict,
    },
    types::{Instant, Psn, Qpn},
    wire::packet::Packet,
};

pub(crate) struct Heap;

impl Storage for Heap {
    type Send = Vec<SendSlot>;
    type Resources = Vec<Resource>;
}

pub(crate) struct Side {
    pub(crate) engine: Engine<Heap>,
    pub(crate) host: Host,
    pub(crate) done: Vec<Completion>,
    pub(crate) events: Vec<Event>,
    /// Packets that come early cannot be kept.
    pub(crate) keeps_none: bool,
    burst: u32,
    /// When it was last driven.
    now: Instant,
    held: Vec<Option<(Packet, Vec<u8>)>>,
}

impl Side {
    pub(crate) fn new(setup: &Setup, qpn: u32) -> Self {
        let config = Config {
            window: setup.window,
            early_limit: setup.early_limit,
            port_mtu: setup.mtu,
            shared_receive: setup.shared_receive,
            ..Config::new(setup.qp_type, Qpn::from_low_bits(qpn))
        };
        let slots = vec![SendSlot::default(); setup.slots];
        let resources = vec![Resource::default(); 16];
        Self {
            engine: Engine::new((setup.config)(config), slots, resources).unwrap(),
            host: Host::new(setup.slots),
            done: Vec::new(),
            events: Vec::new(),
            keeps_none: false,
            burst: setup.burst,
            now: Instant::default(),
            held: vec![None; 1024],
        }
    }

    pub(crate) fn state(&self) -> State {
        self.engine.state()
    }

    pub(crate) fn try_modify(
        &mut self,
        state: State,
        mask: AttributeMask,
        attributes: Attributes,
    ) -> Result<(), ModifyError> {
        let change = Change {
            state: Some(state),
            current: None,
            mask,
            attributes,
        };
        let result = self.engine.modify(self.now, &change, &mut self.host);
        if state == State::Reset && result.is_ok() {
            // As a driver does: nothing of the receive queue is left.
            self.host.current = None;
            self.host.receives.clear();
        }
        result
    }

    /// Changes state; the attributes that the move asks for are all taken from `attributes`.
    pub(crate) fn modify(&mut self, state: State, mask: AttributeMask, attributes: Attributes) {
        self.try_modify(state, mask, attributes).unwrap();
    }

    /// A move that takes no attributes.
    pub(crate) fn go(&mut self, state: State) {
        self.modify(state, AttributeMask::NONE, Attributes::default());
    }

    /// To INIT and RTR, from RESET.
    pub(crate) fn listen(&mut self, setup: &Setup, peer: u32) {
        use AttributeMask as M;
        let attributes = setup.attributes_with(peer);
        if setup.qp_type.is_datagram() {
            self.modify(State::Init, M::PKEY.with(M::PORT).with(M::QKEY), attributes);
            self.modify(State::Rtr, M::NONE, attributes);
            return;
        }
        let init = M::PKEY.with(M::PORT).with(M::ACCESS);
        let mut rtr = M::ADDRESS
            .with(M::PATH_MTU)
            .with(M::DEST_QP)
            .with(M::RQ_PSN);
        if setup.qp_type.is_reliable() && setup.qp_type.has_responder() {
            rtr = rtr.with(M::MAX_DEST_RD_ATOMIC).with(M::MIN_RNR_TIMER);
        }
        self.modify(State::Init, init, attributes);
        self.modify(State::Rtr, rtr, attributes);
    }

    /// To RTS, from RTR.
    pub(crate) fn talk(&mut self, setup: &Setup, peer: u32) {
        use AttributeMask as M;
        let mut rts = M::SQ_PSN;
        if setup.qp_type.is_reliable() {
            rts = rts.with(M::TIMEOUT);
        }
        if setup.qp_type.is_reliable() && setup.qp_type.has_requester() {
            rts = rts
                .with(M::RETRY_CNT)
                .with(M::RNR_RETRY)
                .with(M::MAX_RD_ATOMIC);
        }
        self.modify(State::Rts, rts, setup.attributes_with(peer));
    }

    pub(crate) fn connect(&mut self, setup: &Setup, peer: u32) {
        self.listen(setup, peer);
        self.talk(setup, peer);
    }

    /// Posts a request whose data is `data`, or whose responses have room in `data`.
    pub(crate) fn post_wr(&mut self, wr: SendWr, data: Vec<u8>) -> SlotIndex {
        let slot = self.engine.post_send(wr).unwrap();
        self.host.incoming[slot.0 as usize] = data.clone();
        self.host.outgoing[slot.0 as usize] = data;
        slot
    }

    pub(crate) fn post(&mut self, op: SendOp, data: Vec<u8>) -> SlotIndex {
        self.post_wr(SendWr::new(op, data.len() as u32), data)
    }

    pub(crate) fn statuses(&self) -> Vec<WcStatus> {
        self.done.iter().map(|done| done.status).collect()
    }

    pub(crate) fn receive(&mut self, now: Instant, packet: Packet, data: Vec<u8>) {
        self.now = now;
        let mut next = Some((packet, data));
        while let Some((packet, data)) = next.take() {
            let verdict = self
                .engine
                .handle_packet(now, &packet, data.as_slice(), &mut self.host);
            match verdict {
                Verdict::Hold(index) if self.keeps_none => self.engine.early_lost(index),
                Verdict::Hold(index) => self.held[usize::from(index.0)] = Some((packet, data)),
                Verdict::Done => {}
            }
            if let Some(index) = self.engine.poll_early() {
                next = self.held[usize::from(index.0)].take();
                assert!(next.is_some());
            }
        }
    }

    /// The payload of a packet.
    fn data(&mut self, transmit: &Transmit) -> Result<Vec<u8>, Fault> {
        if transmit.payload == Payload::None {
            return Ok(Vec::new());
        }
        if let Some(fault) = self.host.payload_faults.pop_front().flatten() {
            return Err(fault);
        }
        let bytes = transmit.packet.data_bytes as usize;
        if self.host.forgetful {
            return Ok(vec![0; bytes]);
        }
        match transmit.payload {
            Payload::None => Ok(Vec::new()),
            Payload::Local { slot, offset } => self.host.outgoing[slot.0 as usize]
                .get(offset as usize..offset as usize + bytes)
                .map(<[u8]>::to_vec)
                .ok_or(Fault::Access),
            Payload::Remote { rkey, address } => {
                let start = self.host.range(rkey, address, bytes)?;
                Ok(self.host.memory[start..start + bytes].to_vec())
            }
        }
    }

    /// One packet, if there is one to send now.
    pub(crate) fn send_one(&mut self, now: Instant) -> Option<(Packet, Vec<u8>)> {
        let mut packets = self.send_burst(now, 1);
        assert!(packets.len() <= 1);
        packets.pop()
    }

    /// Up to `most` packets that go out at once.
    fn send_burst(&mut self, now: Instant, most: u32) -> Vec<(Packet, Vec<u8>)> {
        self.now = now;
        for _ in 0..1000 {
            let Some(burst) = self.engine.poll_burst(now, most, &mut self.host) else {
                return Vec::new();
            };
            assert!((1..=most).contains(&burst.count()));
            let mut packets = Vec::new();
            for number in 0..burst.count() {
                let transmit = burst.packet(number);
                match self.data(&transmit) {
                    Ok(data) => packets.push((transmit.packet, data)),
                    Err(fault) => {
                        self.engine
                            .payload_fault(now, &transmit, fault, &mut self.host);
                        break;
                    }
                }
            }
            if !packets.is_empty() {
                return packets;
            }
        }
        panic!("does not learn that a payload cannot be had");
    }

    /// Takes completions and events.
    pub(crate) fn collect(&mut self) {
        while let Some(completion) = self.engine.poll_completion() {
            self.done.push(completion);
        }
        while let Some(event) = self.engine.poll_event() {
            self.events.push(event);
        }
    }

    /// Everything that it has to send now.
    pub(crate) fn send(&mut self, now: Instant) -> Vec<(Packet, Vec<u8>)> {
        let mut packets = Vec::new();
        loop {
            let burst = self.send_burst(now, self.burst);
            if burst.is_empty() {
                self.collect();
                return packets;
            }
            packets.extend(burst);
        }
    }
}
