// SPDX-License-Identifier: GPL-2.0

//! Two engines and the memory behind them, joined by a wire that a test can cut.

#![allow(dead_code)]

use oxe_proto::{
    transport::{
        attributes::{Access, Attributes, Change, Config},
        error::{Fault, WcStatus},
        ports::{Atomic, Env, Observation, Right, Taken},
        state::{AttributeMask, QpType, State},
        wr::{Completion, Payload, RecvCompletion, SendOp, SendWr, SlotIndex, Transmit},
        Engine, Event, Resource, SendSlot, Storage, Verdict,
    },
    types::{Instant, Mtu, Pkey, Psn, Qkey, Qpn, Rkey, Span, SrqNumber},
    wire::{flush::Feth, packet::Packet},
};
use std::collections::VecDeque;

/// The one memory region of each side starts here.
pub(crate) const BASE: u64 = 0x10_0000;
/// Its key.
pub(crate) const RKEY: Rkey = Rkey(0x1234);

pub(crate) struct Heap;

impl Storage for Heap {
    type Send = Vec<SendSlot>;
    type Resources = Vec<Resource>;
}

/// A side's memory, queues and what was seen there.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) memory: Vec<u8>,
    /// Data of send requests, by slot.
    pub(crate) outgoing: Vec<Vec<u8>>,
    /// Where responses go, by slot.
    pub(crate) incoming: Vec<Vec<u8>>,
    /// Posted receive buffers.
    pub(crate) receives: VecDeque<Vec<u8>>,
    pub(crate) current: Option<Vec<u8>>,
    pub(crate) received: Vec<(RecvCompletion, Vec<u8>)>,
    pub(crate) seen: Vec<Observation>,
    pub(crate) atomics: u32,
    pub(crate) writes: u32,
    pub(crate) local: Vec<SlotIndex>,
    pub(crate) invalidated: Vec<Rkey>,
    /// What the next accesses to remote memory answer instead of working.
    pub(crate) faults: VecDeque<Option<Fault>>,
}

impl Host {
    fn range(&self, rkey: Rkey, address: u64, length: usize) -> Result<usize, Fault> {
        let start = address.checked_sub(BASE).ok_or(Fault::Access)?;
        let end = start.checked_add(length as u64).ok_or(Fault::Access)?;
        if rkey != RKEY || end > self.memory.len() as u64 {
            return Err(Fault::Access);
        }
        Ok(start as usize)
    }

    fn fault(&mut self) -> Result<(), Fault> {
        match self.faults.pop_front().flatten() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }
}

impl Env for Host {
    type Data<'d> = &'d [u8];

    fn check_remote(&mut self, rkey: Rkey, address: u64, len: u32, _: Right) -> Result<(), Fault> {
        self.range(rkey, address, len as usize).map(|_| ())
    }

    fn write_remote(&mut self, rkey: Rkey, address: u64, data: &[u8]) -> Result<(), Fault> {
        self.fault()?;
        let start = self.range(rkey, address, data.len())?;
        self.memory[start..start + data.len()].copy_from_slice(data);
        self.writes += 1;
        Ok(())
    }

    fn atomic(&mut self, rkey: Rkey, address: u64, operation: Atomic) -> Result<u64, Fault> {
        let start = self.range(rkey, address, 8)?;
        let place: &mut [u8; 8] = (&mut self.memory[start..start + 8]).try_into().unwrap();
        let old = u64::from_ne_bytes(*place);
        let new = match operation {
            Atomic::CompareSwap { compare, swap } if compare == old => swap,
            Atomic::CompareSwap { .. } => old,
            Atomic::FetchAdd { add } => old.wrapping_add(add),
        };
        *place = new.to_ne_bytes();
        self.atomics += 1;
        Ok(old)
    }

    fn atomic_write(&mut self, rkey: Rkey, address: u64, data: &[u8]) -> Result<(), Fault> {
        self.write_remote(rkey, address, data)
    }

    fn flush(&mut self, rkey: Rkey, address: u64, length: u32, _: Feth) -> Result<(), Fault> {
        self.range(rkey, address, length as usize).map(|_| ())
    }

    fn invalidate(&mut self, rkey: Rkey) -> Result<(), Fault> {
        self.invalidated.push(rkey);
        if rkey == RKEY {
            Ok(())
        } else {
            Err(Fault::Access)
        }
    }

    fn take_receive(&mut self, _: Option<SrqNumber>) -> Taken {
        assert!(self.current.is_none());
        self.current = self.receives.pop_front();
        match &self.current {
            Some(buffer) => Taken::Ready {
                capacity: buffer.len() as u32,
            },
            None => Taken::Empty,
        }
    }

    fn place_receive(&mut self, offset: u32, data: &[u8]) -> Result<(), Fault> {
        let buffer = self.current.as_mut().unwrap();
        buffer[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }

    fn place_network_header(&mut self) -> Result<(), Fault> {
        self.current.as_mut().unwrap()[..40].fill(0xee);
        Ok(())
    }

    fn complete_receive(&mut self, completion: RecvCompletion) {
        let buffer = self.current.take().unwrap();
        self.received.push((completion, buffer));
    }

    fn place_response(&mut self, slot: SlotIndex, offset: u32, data: &[u8]) -> Result<(), Fault> {
        let buffer = &mut self.incoming[slot.0 as usize];
        buffer[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }

    fn place_value(&mut self, slot: SlotIndex, value: u64) -> Result<(), Fault> {
        self.incoming[slot.0 as usize] = value.to_ne_bytes().to_vec();
        Ok(())
    }

    fn local(&mut self, slot: SlotIndex) -> Result<(), WcStatus> {
        self.local.push(slot);
        Ok(())
    }

    fn observe(&mut self, _: Qpn, what: Observation) {
        self.seen.push(what);
    }
}

/// A queue pair with its host.
pub(crate) struct Side {
    pub(crate) engine: Engine<Heap>,
    pub(crate) host: Host,
    pub(crate) done: Vec<Completion>,
    pub(crate) events: Vec<Event>,
    held: Vec<Option<(Packet, Vec<u8>)>>,
}

/// What the two sides agree on.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) qp_type: QpType,
    pub(crate) mtu: Mtu,
    pub(crate) psn: u32,
    pub(crate) attributes: Attributes,
    pub(crate) config: fn(Config) -> Config,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            qp_type: QpType::Rc,
            mtu: Mtu::B256,
            psn: 0xff_fffa,
            attributes: Attributes {
                access: Access::ALL,
                pkey: Pkey::DEFAULT_FULL,
                max_rd_atomic: 4,
                max_dest_rd_atomic: 4,
                min_rnr_timer: 1,
                timeout: 14,
                retry_cnt: 7,
                rnr_retry: 7,
                qkey: Qkey(0x1111),
                ..Attributes::default()
            },
            config: |config| config,
        }
    }
}

impl Side {
    fn new(setup: &Setup, qpn: u32) -> Self {
        let config = (setup.config)(Config::new(setup.qp_type, Qpn::from_low_bits(qpn)));
        let slots = vec![SendSlot::default(); 64];
        let resources = vec![Resource::default(); 16];
        Self {
            engine: Engine::new(config, slots, resources).unwrap(),
            host: Host {
                memory: vec![0; 1 << 20],
                outgoing: vec![Vec::new(); 64],
                incoming: vec![Vec::new(); 64],
                ..Host::default()
            },
            done: Vec::new(),
            events: Vec::new(),
            held: vec![None; 1024],
        }
    }

    /// Changes state; the attributes that the move asks for are all taken from `attributes`.
    pub(crate) fn modify(&mut self, state: State, mask: AttributeMask, attributes: Attributes) {
        let change = Change {
            state: Some(state),
            current: None,
            mask,
            attributes,
        };
        self.engine
            .modify(Instant::default(), &change, &mut self.host)
            .unwrap();
    }

    fn connect(&mut self, setup: &Setup, peer: u32) {
        use AttributeMask as M;
        let attributes = Attributes {
            path_mtu: setup.mtu,
            dest_qp: Qpn::from_low_bits(peer),
            rq_psn: Psn::from_low_bits(setup.psn),
            sq_psn: Psn::from_low_bits(setup.psn),
            ..setup.attributes
        };
        let reliable = setup.qp_type.is_reliable();
        let (init, mut rtr, mut rts) = if setup.qp_type.is_connected() {
            let rtr = M::ADDRESS
                .with(M::PATH_MTU)
                .with(M::DEST_QP)
                .with(M::RQ_PSN);
            (M::PKEY.with(M::PORT).with(M::ACCESS), rtr, M::SQ_PSN)
        } else {
            (M::PKEY.with(M::PORT).with(M::QKEY), M::NONE, M::SQ_PSN)
        };
        if reliable {
            rtr = rtr.with(M::MAX_DEST_RD_ATOMIC).with(M::MIN_RNR_TIMER);
            rts = rts
                .with(M::TIMEOUT)
                .with(M::RETRY_CNT)
                .with(M::RNR_RETRY)
                .with(M::MAX_RD_ATOMIC);
        }
        self.modify(State::Init, init, attributes);
        self.modify(State::Rtr, rtr, attributes);
        self.modify(State::Rts, rts, attributes);
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
        let mut next = Some((packet, data));
        while let Some((packet, data)) = next.take() {
            let verdict = self
                .engine
                .handle_packet(now, &packet, data.as_slice(), &mut self.host);
            if let Verdict::Hold(index) = verdict {
                self.held[usize::from(index.0)] = Some((packet, data));
            }
            if let Some(index) = self.engine.poll_early() {
                next = self.held[usize::from(index.0)].take();
                assert!(next.is_some());
            }
        }
    }

    /// The payload of a packet.
    fn data(&self, transmit: &Transmit) -> Result<Vec<u8>, Fault> {
        let bytes = transmit.packet.data_bytes as usize;
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

    /// Everything that it has to send now.
    pub(crate) fn send(&mut self, now: Instant) -> Vec<(Packet, Vec<u8>)> {
        let mut packets = Vec::new();
        while let Some(transmit) = self.engine.poll_transmit(now, &mut self.host) {
            match self.data(&transmit) {
                Ok(data) => packets.push((transmit.packet, data)),
                Err(fault) => self
                    .engine
                    .payload_fault(now, &transmit, fault, &mut self.host),
            }
        }
        while let Some(completion) = self.engine.poll_completion() {
            self.done.push(completion);
        }
        while let Some(event) = self.engine.poll_event() {
            self.events.push(event);
        }
        packets
    }
}

/// Both sides, `a` and `b`, and the time.
pub(crate) struct Pair {
    pub(crate) a: Side,
    pub(crate) b: Side,
    pub(crate) now: Instant,
    /// Every packet that was sent, with who sent it and whether it arrived.
    pub(crate) log: Vec<(char, Packet, bool)>,
}

impl Pair {
    pub(crate) fn new(setup: &Setup) -> Self {
        let mut pair = Self {
            a: Side::new(setup, 0x11),
            b: Side::new(setup, 0x22),
            now: Instant::from_nanos(1_000_000),
            log: Vec::new(),
        };
        pair.a.connect(setup, 0x22);
        pair.b.connect(setup, 0x11);
        pair
    }

    /// Lets packets go to and fro, 5 µs each way, until nothing moves and no timer runs; `keep`
    /// says whether a packet arrives, given its sender and how many that one has sent before.
    pub(crate) fn run(&mut self, mut keep: impl FnMut(char, usize, &Packet) -> bool) {
        let mut counts = [0, 0];
        for _ in 0..20_000 {
            let mut moved = false;
            for from in ['a', 'b'] {
                let (one, other) = if from == 'a' {
                    (&mut self.a, &mut self.b)
                } else {
                    (&mut self.b, &mut self.a)
                };
                let packets = one.send(self.now);
                moved |= !packets.is_empty();
                self.now = self.now.after(Span::from_micros(5));
                for (packet, data) in packets {
                    let count = &mut counts[usize::from(from == 'b')];
                    let arrives = keep(from, *count, &packet);
                    *count += 1;
                    self.log.push((from, packet, arrives));
                    if arrives {
                        other.receive(self.now, packet, data);
                    }
                }
            }
            if moved {
                continue;
            }
            let next = [self.a.engine.next_timeout(), self.b.engine.next_timeout()];
            let Some(next) = next.into_iter().flatten().min() else {
                return;
            };
            self.now = self.now.max(next);
            for side in [&mut self.a, &mut self.b] {
                if side.engine.next_timeout().is_some_and(|t| t <= self.now) {
                    side.engine.handle_timeout(self.now, &mut side.host);
                }
            }
        }
        panic!("does not come to rest");
    }

    pub(crate) fn run_all(&mut self) {
        self.run(|_, _, _| true);
    }

    /// Packets that `from` sent.
    pub(crate) fn sent(&self, from: char) -> Vec<Packet> {
        self.log
            .iter()
            .filter(|(sender, ..)| *sender == from)
            .map(|(_, packet, _)| *packet)
            .collect()
    }
}

/// `len` bytes that differ from place to place.
pub(crate) fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8) ^ seed)
        .collect()
}
