// SPDX-License-Identifier: GPL-2.0

//! Two engines and the memory behind them, joined by a wire that a test can cut; or one engine
//! whose peer is the test.

#![allow(dead_code, unused_imports)]

pub(crate) mod case;
pub(crate) mod craft;
mod host;
pub(crate) mod lone;
mod side;

pub(crate) use self::{
    host::{Faults, Host},
    lone::Lone,
    side::{Heap, Side},
};

use oxe_proto::{
    transport::{
        attributes::{Access, Attributes, Config},
        state::QpType,
    },
    types::{Instant, Mtu, Pkey, Psn, Qkey, Qpn, Rkey, Span},
    wire::packet::Packet,
};

/// The one memory region of each side starts here.
pub(crate) const BASE: u64 = 0x10_0000;
/// Its key.
pub(crate) const RKEY: Rkey = Rkey(0x1234);

/// What the two sides agree on.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) qp_type: QpType,
    pub(crate) mtu: Mtu,
    pub(crate) psn: u32,
    pub(crate) attributes: Attributes,
    pub(crate) window: u32,
    pub(crate) early_limit: u32,
    pub(crate) shared_receive: bool,
    /// Packets that are asked for at a time.
    pub(crate) burst: u32,
    /// Length of the send queue.
    pub(crate) slots: usize,
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
            window: 256,
            early_limit: 256,
            shared_receive: false,
            burst: 1,
            slots: 64,
            config: |config| config,
        }
    }
}

impl Setup {
    /// The usual one with other attributes.
    pub(crate) fn with(change: impl FnOnce(&mut Attributes)) -> Self {
        let mut setup = Self::default();
        change(&mut setup.attributes);
        setup
    }

    /// All attributes of a connection to `peer`.
    pub(crate) fn attributes_with(&self, peer: u32) -> Attributes {
        Attributes {
            path_mtu: self.mtu,
            dest_qp: Qpn::from_low_bits(peer),
            rq_psn: Psn::from_low_bits(self.psn),
            sq_psn: Psn::from_low_bits(self.psn),
            ..self.attributes
        }
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
        Self::of(setup, setup)
    }

    /// With a setup for each side.
    pub(crate) fn of(a: &Setup, b: &Setup) -> Self {
        let mut pair = Self {
            a: Side::new(a, 0x11),
            b: Side::new(b, 0x22),
            now: Instant::from_nanos(1_000_000),
            log: Vec::new(),
        };
        pair.a.connect(a, 0x22);
        pair.b.connect(b, 0x11);
        pair
    }

    /// Lets packets go to and fro, 5 µs each way, until nothing moves and no timer runs; `keep`
    /// says whether a packet arrives, given its sender and how many that one has sent before.
    pub(crate) fn run(&mut self, mut keep: impl FnMut(char, usize, &Packet) -> bool) {
        let mut counts = [0, 0];
        for _ in 0..20_000 {
            let moves = self.step(|from, packet| {
                let count = &mut counts[usize::from(from == 'b')];
                *count += 1;
                keep(from, *count - 1, packet)
            });
            if !moves {
                return;
            }
        }
        panic!("does not come to rest");
    }

    /// What each has to say reaches the other; if that is nothing, time passes until the next timer
    /// runs out. False if there is none either.
    pub(crate) fn step(&mut self, mut keep: impl FnMut(char, &Packet) -> bool) -> bool {
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
                let arrives = keep(from, &packet);
                self.log.push((from, packet, arrives));
                if arrives {
                    other.receive(self.now, packet, data);
                }
            }
        }
        if moved {
            return true;
        }
        let next = [self.a.engine.next_timeout(), self.b.engine.next_timeout()];
        let Some(next) = next.into_iter().flatten().min() else {
            return false;
        };
        self.now = self.now.max(next);
        for side in [&mut self.a, &mut self.b] {
            if side.engine.next_timeout().is_some_and(|t| t <= self.now) {
                side.engine.handle_timeout(self.now, &mut side.host);
            }
        }
        true
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

/// How long a side waits before a timeout of this code counts.
pub(crate) fn detection(code: u8) -> Span {
    Span::from_nanos((4096 << code) / 4 * 15)
}

/// `len` bytes that differ from place to place.
pub(crate) fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len)
        .map(|i| (i as u8).wrapping_mul(31).wrapping_add((i >> 8) as u8) ^ seed)
        .collect()
}
