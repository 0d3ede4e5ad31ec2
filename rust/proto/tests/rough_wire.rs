// SPDX-License-Identifier: GPL-2.0

//! Whatever the wire does to packets, two engines do all that was asked of them, once.

mod pair;

use oxe_proto::{
    transport::error::WcStatus,
    types::{Instant, Span},
    wire::packet::Packet,
};
use pair::{craft::*, pattern, Pair, Setup, Side};

/// A wire that loses, doubles and reorders.
struct Wire {
    dice: u64,
    /// Of 1000.
    loss: u64,
    doubling: u64,
    under_way: Vec<(Instant, bool, Packet, Vec<u8>)>,
}

impl Wire {
    fn roll(&mut self, sides: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (self.dice >> 33) % sides
    }

    fn take(&mut self, now: Instant, to_b: bool, packets: Vec<(Packet, Vec<u8>)>) {
        for (packet, data) in packets {
            let copies = u64::from(self.roll(1000) >= self.loss)
                + u64::from(self.roll(1000) < self.doubling);
            for _ in 0..copies {
                // Most keep their order; some are late, a few very late.
                let late = match self.roll(20) {
                    0 => self.roll(40),
                    1 => self.roll(2_000),
                    _ => 0,
                };
                let arrival = now.after(Span::from_micros(5 + late));
                self.under_way.push((arrival, to_b, packet, data.clone()));
            }
        }
    }
}

fn run(pair: &mut Pair, wire: &mut Wire) {
    for _ in 0..200_000 {
        let sent = pair.a.send(pair.now);
        wire.take(pair.now, true, sent);
        let sent = pair.b.send(pair.now);
        wire.take(pair.now, false, sent);
        let arrivals = wire.under_way.iter().map(|packet| packet.0);
        let timers = [pair.a.engine.next_timeout(), pair.b.engine.next_timeout()];
        let next = arrivals.chain(timers.into_iter().flatten()).min();
        let Some(next) = next else {
            return;
        };
        pair.now = pair.now.max(next);
        let now = pair.now;
        let fire = |side: &mut Side| {
            if side.engine.next_timeout().is_some_and(|next| next <= now) {
                side.engine.handle_timeout(now, &mut side.host);
            }
        };
        let arrived;
        (arrived, wire.under_way) = std::mem::take(&mut wire.under_way)
            .into_iter()
            .partition(|packet| packet.0 <= now);
        for (_, to_b, packet, data) in arrived {
            let side = if to_b { &mut pair.b } else { &mut pair.a };
            side.receive(now, packet, data);
        }
        fire(&mut pair.a);
        fire(&mut pair.b);
    }
    panic!("does not come to rest");
}

/// All kinds of requests both ways; `wire` may do what it wants.
fn all_is_done_once(seed: u64, setups: [&Setup; 2], loss: u64, doubling: u64) {
    let mut pair = Pair::of(setups[0], setups[1]);
    let mut wire = Wire {
        dice: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        loss,
        doubling,
        under_way: Vec::new(),
    };
    let known = pattern(4000, 9);
    for side in [&mut pair.a, &mut pair.b] {
        side.host.memory[..4000].copy_from_slice(&known);
        side.host.receives.extend((0..20).map(|_| vec![0; 1000]));
    }
    let (mut sends, mut reads, mut adds, mut writes) = (0, Vec::new(), Vec::new(), 0_u8);
    for _ in 0..40 {
        let kind = wire.roll(5);
        let length = wire.roll(1000) as usize;
        for side in [&mut pair.a, &mut pair.b] {
            match kind {
                0 if sends < 20 => {
                    side.post(send(), pattern(length, sends as u8));
                }
                0 | 1 => {
                    let slot = side.post(read(length as u64), vec![0; 3 * length]);
                    if reads.len() < 64 {
                        reads.push((slot, length));
                    }
                }
                2 => {
                    adds.push(side.post(add(0x8_0000), vec![0; 8]));
                }
                3 => {
                    side.post(write(0x9_0000), vec![writes; 1000]);
                }
                _ => {
                    side.post(flush(), Vec::new());
                }
            }
        }
        sends += u32::from(kind == 0 && sends < 20);
        writes += u8::from(kind == 3);
    }
    run(&mut pair, &mut wire);
    let name = format!("seed {seed}, loss {loss}, doubling {doubling}");
    for (side, other) in [(&pair.a, &pair.b), (&pair.b, &pair.a)] {
        assert_eq!(side.statuses(), [WcStatus::Success; 40], "{name}");
        assert_eq!(other.host.received.len(), sends as usize, "{name}");
        for (n, (completion, buffer)) in other.host.received.iter().enumerate() {
            let bytes = completion.bytes as usize;
            assert_eq!(buffer[..bytes], pattern(bytes, n as u8), "{name}");
        }
        for &(slot, length) in &reads {
            let got = &side.host.incoming[slot.0 as usize];
            assert_eq!(got[..], known[length..4 * length], "{name}");
        }
        // Each atomic was done once, in order.
        for (n, slot) in adds.iter().step_by(2).enumerate() {
            let old = (n as u64).to_ne_bytes();
            assert_eq!(side.host.incoming[slot.0 as usize], old, "{name}");
        }
        assert_eq!(other.host.atomics as usize, adds.len() / 2, "{name}");
        if writes != 0 {
            let last = &other.host.memory[0x9_0000..0x9_0000 + 1000];
            assert!(last.iter().all(|byte| *byte == writes - 1), "{name}");
        }
    }
}

#[test]
fn whatever_the_wire_does_all_is_done_once() {
    let holding = Setup::default();
    let dropping = Setup {
        early_limit: 0,
        window: 64,
        ..Setup::default()
    };
    for seed in 0..120 {
        let loss = [0, 10, 50, 200][seed as usize % 4];
        let doubling = [0, 20, 100][seed as usize % 3];
        let setups = match seed % 3 {
            0 => [&holding, &holding],
            1 => [&holding, &dropping],
            _ => [&dropping, &dropping],
        };
        all_is_done_once(seed, setups, loss, doubling);
    }
}
