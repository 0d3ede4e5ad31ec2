// SPDX-License-Identifier: GPL-2.0

//! Target `engine`: one queue pair, a peer that sends what it likes, a user who asks for what he
//! likes, memory that fails when it likes. What a driver relies on has to hold all the same.

mod choices;
mod host;

use std::collections::VecDeque;

use oxe_proto::{
    transport::{
        attributes::{
            Attributes,
            Change,
            Config, //
        },
        error::Fault,
        state::{
            AttributeMask,
            QpType,
            State, //
        },
        wr::{
            Payload,
            SlotIndex,
            Transmit, //
        },
        Engine,
        PostError,
        Resource,
        SendSlot,
        Storage,
        Verdict,
        EARLY_SLOTS, //
    },
    types::{
        Instant,
        Mtu,
        Psn,
        Qpn,
        Span, //
    },
    wire::{
        packet::Packet,
        roce::MAX_HEADER_BYTES, //
    },
};

use self::host::Host;
use crate::input::Input;

/// Bytes of any packet's data.
static DATA: [u8; 4096] = [0x5a; 4096];

/// Steps of one run.
const STEPS: usize = 400;

/// Packets that are sent at a time, at most: an answer to a READ can be long.
const BURST: u32 = 40;

/// Calls of `handle_timeout` that may be due at one time.
const TIMEOUTS: usize = 16;

struct Heap;

impl Storage for Heap {
    type Send = Vec<SendSlot>;
    type Resources = Vec<Resource>;
}

/// The queue pair and what its driver knows of it.
struct Driver {
    engine: Engine<Heap>,
    host: Host,
    now: Instant,
    qp_type: QpType,
    slots: usize,
    /// Requests without a completion, in order.
    posted: VecDeque<SlotIndex>,
    held: Vec<Option<Packet>>,
    /// The next request that a well-meaning peer would send.
    peer: Psn,
    /// The last request that was sent.
    sent: Psn,
}

/// Attributes that each move of a state takes at least, by kind of queue pair.
fn needs(qp_type: QpType, state: State) -> AttributeMask {
    use AttributeMask as M;
    let reliable = qp_type.is_reliable();
    match state {
        State::Init if qp_type.is_connected() => M::PKEY.with(M::PORT).with(M::ACCESS),
        State::Init => M::PKEY.with(M::PORT).with(M::QKEY),
        State::Rtr if qp_type.is_connected() => {
            let mask = M::ADDRESS
                .with(M::PATH_MTU)
                .with(M::DEST_QP)
                .with(M::RQ_PSN);
            if reliable && qp_type.has_responder() {
                mask.with(M::MAX_DEST_RD_ATOMIC).with(M::MIN_RNR_TIMER)
            } else {
                mask
            }
        }
        State::Rts => match qp_type {
            QpType::Rc | QpType::XrcIni => M::SQ_PSN
                .with(M::TIMEOUT)
                .with(M::RETRY_CNT)
                .with(M::RNR_RETRY)
                .with(M::MAX_RD_ATOMIC),
            QpType::XrcTgt => M::SQ_PSN.with(M::TIMEOUT),
            _ => M::SQ_PSN,
        },
        _ => M::NONE,
    }
}

impl Driver {
    fn new(input: &mut Input<'_>) -> Self {
        let qp_type = *input.choose(&[
            QpType::Rc,
            QpType::Uc,
            QpType::Ud,
            QpType::XrcIni,
            QpType::XrcTgt,
            QpType::Gsi,
        ]);
        let slots = *input.choose(&[8, 1, 2, 4, 16]);
        let resources = *input.choose(&[4, 0, 1, 16]);
        let config = Config {
            shared_receive: input.bool(),
            window: *input.choose(&[256, 1, 2, 65536]),
            early_limit: *input.choose(&[256, 0, 1, EARLY_SLOTS]),
            ..Config::new(qp_type, Qpn::from_low_bits(0x11))
        };
        let storage = (
            vec![SendSlot::default(); slots],
            vec![Resource::default(); resources],
        );
        let engine = Engine::new(config, storage.0, storage.1).expect("powers of two");
        let psn = Psn::from_low_bits(*input.choose(&[0xff_fffc, 0, 0x7f_fffc]));
        let mut driver = Self {
            engine,
            host: Host::new(slots),
            now: Instant::from_nanos(1_000_000),
            qp_type,
            slots,
            posted: VecDeque::new(),
            held: vec![None; EARLY_SLOTS as usize],
            peer: psn,
            sent: psn,
        };
        let attributes = Attributes {
            path_mtu: *input.choose(&Mtu::ALL),
            rq_psn: psn,
            sq_psn: psn,
            max_dest_rd_atomic: resources as u8,
            ..choices::attributes(input)
        };
        for state in [State::Init, State::Rtr, State::Rts] {
            driver.modify(state, needs(qp_type, state), attributes);
        }
        driver
    }

    fn modify(&mut self, state: State, mask: AttributeMask, attributes: Attributes) {
        let change = Change {
            state: Some(state),
            current: None,
            mask,
            attributes,
        };
        let before = self.engine.state();
        let done = self.engine.modify(self.now, &change, &mut self.host);
        if done.is_err() {
            assert_eq!(self.engine.state(), before);
            return;
        }
        assert_eq!(self.engine.state(), state);
        if state == State::Reset {
            self.posted.clear();
            self.host.reset();
        }
        if state == State::Rtr {
            self.peer = attributes.rq_psn;
        }
    }

    fn post(&mut self, input: &mut Input<'_>) {
        let wr = choices::request(input);
        let may = self.engine.state().may_post_send();
        let full = self.posted.len() == self.slots;
        match self.engine.post_send(wr) {
            Ok(slot) => {
                assert!(may && !full, "a slot too many");
                self.host.posted(slot, wr);
                self.posted.push_back(slot);
            }
            Err(PostError::Full) => assert!(full),
            // An XRC target has no send queue to post to.
            Err(PostError::State) => assert!(!may || !self.qp_type.has_requester()),
        }
    }

    /// A packet goes in; those that were held for it, too.
    fn receive(&mut self, packet: Packet, lose_held: bool) {
        let mut next = Some(packet);
        while let Some(packet) = next.take() {
            let data = &DATA[..packet.data_bytes as usize];
            match self
                .engine
                .handle_packet(self.now, &packet, data, &mut self.host)
            {
                Verdict::Done => {}
                Verdict::Hold(index) if lose_held => self.engine.early_lost(index),
                Verdict::Hold(index) => self.held[usize::from(index.0)] = Some(packet),
            }
            if let Some(index) = self.engine.poll_early() {
                next = self.held[usize::from(index.0)].take();
                assert!(next.is_some(), "{index:?} is not held");
            }
        }
    }

    /// Sends at most so many packets, one of which may have data that cannot be had.
    fn send(&mut self, most: u32, fault: Option<(u32, Fault)>) {
        for count in 0..most {
            let Some(transmit) = self.engine.poll_transmit(self.now, &mut self.host) else {
                return;
            };
            self.check_packet(&transmit);
            if transmit.packet.op.is_request() {
                self.sent = transmit.packet.psn;
            }
            match fault {
                Some((at, fault)) if at == count => {
                    self.engine
                        .payload_fault(self.now, &transmit, fault, &mut self.host);
                }
                _ => {}
            }
        }
    }

    /// What is sent is a packet, with data from where there is some.
    fn check_packet(&self, transmit: &Transmit) {
        let packet = &transmit.packet;
        let mut head = [0; MAX_HEADER_BYTES];
        let Some(bytes) = packet.emit(&mut head) else {
            panic!("no such packet: {packet:?}");
        };
        assert_eq!(
            Packet::parse(&head[..bytes], packet.wire_bytes()),
            Ok(*packet)
        );
        assert!(packet.data_bytes <= Mtu::B4096.bytes());
        if let Payload::Local { slot, offset } = transmit.payload {
            self.host.check_data(slot, offset, packet.data_bytes);
        }
    }

    fn pass_time(&mut self, span: Span) {
        self.now = self.now.after(span);
        for _ in 0..TIMEOUTS {
            match self.engine.next_timeout() {
                Some(then) if then <= self.now => {
                    self.engine.handle_timeout(self.now, &mut self.host);
                }
                _ => return,
            }
        }
        let then = self.engine.next_timeout();
        panic!(
            "{then:?} is not later than {:?}, whatever is done",
            self.now
        );
    }

    /// What has ended is taken, and is what was posted first.
    fn settle(&mut self) {
        while let Some(completion) = self.engine.poll_completion() {
            assert_eq!(Some(completion.slot), self.posted.pop_front());
            self.host.completed(completion.slot);
        }
        while self.engine.poll_event().is_some() {}
        assert_eq!(self.engine.send_queue_len() as usize, self.posted.len());
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.below(16) {
            0..=5 => {
                let packet = choices::packet(input, self.qp_type, self.peer, self.sent);
                if packet.psn == self.peer && packet.op.is_request() {
                    self.peer = self.peer.next();
                }
                self.receive(packet, input.below(16) == 15);
            }
            6..=8 => self.post(input),
            9 | 10 => self.send(1 + input.below(BURST), None),
            11 => {
                let fault = *input.choose(&host::FAULTS);
                let at = input.below(4);
                self.send(BURST, Some((at, fault)));
            }
            12 => {
                let shift = input.below(40);
                self.pass_time(Span::from_nanos(1 << shift));
            }
            13 => self.host.post_receive(input.u16()),
            14 => self.host.fail_next(input),
            _ => {
                let state = *input.choose(&choices::STATES);
                let mut mask = needs(self.qp_type, state);
                if self.engine.state() == State::Sqd || self.engine.state() == State::Sqe {
                    mask = AttributeMask::NONE;
                }
                let attributes = choices::attributes(input);
                self.modify(state, mask, attributes);
            }
        }
        self.settle();
    }
}

/// Plays a run.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mut driver = Driver::new(&mut input);
    for _ in 0..STEPS {
        if input.is_empty() {
            break;
        }
        driver.step(&mut input);
    }
    // An end for everything that was posted.
    driver.modify(State::Err, AttributeMask::NONE, Attributes::default());
    driver.send(BURST, None);
    driver.settle();
    assert!(driver.posted.is_empty(), "requests are left");
    assert!(!driver.host.has_current_receive(), "a receive is left");
}
