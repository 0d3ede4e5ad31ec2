// SPDX-License-Identifier: GPL-2.0

//! One side whose peer is the test: packets made by hand go in, what it says is looked at.
//!
//! Packet sequence numbers are counted from the connection's first one, in both directions.

use super::{craft, Setup, Side};
use oxe_proto::{
    transport::state::{QpType, State},
    types::{Instant, Psn, Span},
    wire::packet::{Op, Packet},
};

/// Number of the peer's queue pair.
pub(crate) const PEER: u32 = 0x11;

pub(crate) struct Lone {
    pub(crate) side: Side,
    pub(crate) now: Instant,
    pub(crate) setup: Setup,
}

impl Lone {
    /// Connected and ready to send.
    pub(crate) fn new(setup: &Setup) -> Self {
        let mut lone = Self::reset(setup);
        lone.side.connect(setup, PEER);
        lone
    }

    /// With all attributes as usual.
    pub(crate) fn usual() -> Self {
        Self::new(&Setup::default())
    }

    pub(crate) fn of(qp_type: QpType) -> Self {
        Self::new(&Setup {
            qp_type,
            ..Setup::default()
        })
    }

    /// Not connected yet.
    pub(crate) fn reset(setup: &Setup) -> Self {
        Self {
            side: Side::new(setup, 0x22),
            now: Instant::from_nanos(1_000_000),
            setup: setup.clone(),
        }
    }

    pub(crate) fn state(&self) -> State {
        self.side.state()
    }

    /// The `n`th number.
    pub(crate) fn psn(&self, n: i64) -> Psn {
        Psn::from_low_bits((i64::from(self.setup.psn) + n) as u32)
    }

    /// The packet with the `n`th number.
    pub(crate) fn packet(&self, n: i64, op: Op, bytes: usize) -> Packet {
        let mut packet = craft::packet(self.setup.qp_type, self.psn(n), op, bytes);
        packet.ack_req = op.is_request();
        packet
    }

    /// A packet from the peer; a request asks for an acknowledgement.
    pub(crate) fn give(&mut self, n: i64, op: Op, data: &[u8]) {
        let packet = self.packet(n, op, data.len());
        self.side.receive(self.now, packet, data.to_vec());
    }

    /// The same without asking for an acknowledgement.
    pub(crate) fn give_quietly(&mut self, n: i64, op: Op, data: &[u8]) {
        let packet = Packet {
            ack_req: false,
            ..self.packet(n, op, data.len())
        };
        self.side.receive(self.now, packet, data.to_vec());
    }

    /// Everything that it sends now.
    pub(crate) fn said_in_full(&mut self) -> Vec<(Packet, Vec<u8>)> {
        self.side.send(self.now)
    }

    /// Number and operation of a packet.
    fn short(&self, packet: &Packet) -> (i64, Op) {
        (i64::from(packet.psn.since(self.psn(0))), packet.op)
    }

    /// Numbers and operations of what it sends now.
    pub(crate) fn said(&mut self) -> Vec<(i64, Op)> {
        let packets = self.said_in_full();
        packets
            .iter()
            .map(|(packet, _)| self.short(packet))
            .collect()
    }

    /// Number and operation of one packet that it sends now.
    pub(crate) fn say_one(&mut self) -> Option<(i64, Op)> {
        let (packet, _) = self.side.send_one(self.now)?;
        Some(self.short(&packet))
    }

    /// What it says to a packet.
    pub(crate) fn ask(&mut self, n: i64, op: Op, data: &[u8]) -> Vec<(i64, Op)> {
        self.give(n, op, data);
        self.said()
    }

    /// Lets time pass; what was sent meanwhile, and when.
    pub(crate) fn wait(&mut self, span: Span) -> Vec<(Instant, i64, Op)> {
        let end = self.now.after(span);
        let mut all = Vec::new();
        for _ in 0..1_000_000 {
            let said = self.said();
            all.extend(said.into_iter().map(|(n, op)| (self.now, n, op)));
            match self.side.engine.next_timeout() {
                Some(next) if next <= end => {
                    self.now = self.now.max(next);
                    self.side
                        .engine
                        .handle_timeout(self.now, &mut self.side.host);
                }
                _ => {
                    self.now = end;
                    return all;
                }
            }
        }
        panic!("timers without end");
    }

    /// Lets time pass and does not look.
    pub(crate) fn sleep(&mut self, span: Span) {
        self.wait(span);
    }
}
