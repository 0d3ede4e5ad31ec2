// SPDX-License-Identifier: GPL-2.0

//! Makes requests: which operation, how long, where to.

use super::{
    Application,
    Area,
    Targets, //
};
use crate::{
    pattern::Pattern,
    scenario::Sizes,
    work::LocalWork, //
};
use oxe_proto::{
    transport::wr::SendOp,
    types::{
        Immediate,
        Qkey,
        Rkey, //
    },
    wire::{
        atomic::AtomicEth,
        flush::Feth,
        packet::{
            Service,
            Tail, //
        },
    },
};

impl Application {
    pub(super) fn length(&mut self, targets: &Targets) -> u32 {
        let mtu = u64::from(targets.mtu.bytes());
        let length = match self.plan.sizes {
            Sizes::Fixed(bytes) => return bytes,
            Sizes::Mixed { most } => {
                let most = u64::from(most);
                let kinds = [(8, 0), (22, 1), (30, 2), (25, 3), (15, 4)];
                match self.rng.weighted(&kinds) {
                    0 => 0,
                    1 => self.rng.within(1..=64),
                    2 => self.rng.within(1..=6) * mtu + self.rng.below(3) - 1,
                    3 => self.rng.below(4 * mtu),
                    _ => self.rng.spread(mtu..=most.max(mtu)),
                }
                .min(most)
            }
        };
        let limit = if targets.service == Service::Ud {
            mtu
        } else {
            u64::from(targets.target.length)
        };
        length.min(limit).min(self.bytes_left.max(1)) as u32
    }

    /// A place for so many bytes in a region.
    fn place(&mut self, area: &Area, length: u32) -> u64 {
        let room = u64::from(area.length.saturating_sub(length));
        match self.rng.below(4) {
            0 => 0,
            1 => room,
            _ => self.rng.below(room + 1),
        }
    }

    pub(super) fn tail(&mut self) -> Tail {
        if self.rng.percent(40) {
            Tail::Immediate(self.immediate())
        } else {
            Tail::None
        }
    }

    fn immediate(&mut self) -> Immediate {
        Immediate((self.rng.bits() as u32).to_be_bytes())
    }

    pub(super) fn write(&mut self, targets: &Targets, length: u32, with_immediate: bool) -> SendOp {
        let address = targets.target.base + self.place(&targets.target, length);
        let immediate = with_immediate.then(|| self.immediate());
        SendOp::Write {
            address,
            rkey: Rkey(targets.target.key),
            immediate,
        }
    }

    pub(super) fn read(
        &mut self,
        targets: &Targets,
        length: u32,
    ) -> (SendOp, Option<(Pattern, u64)>) {
        let changing = self.rng.percent(30);
        let area = if changing {
            targets.target
        } else {
            targets.source
        };
        let offset = self.place(&area, length);
        let op = SendOp::Read {
            address: area.base + offset,
            rkey: Rkey(area.key),
        };
        (op, (!changing).then_some((targets.pattern, offset)))
    }

    fn word(&mut self, area: &Area) -> u64 {
        let first = area.base.next_multiple_of(8);
        let words = (area.base + u64::from(area.length) - first) / 8;
        // Few different words, so that operations meet.
        first + 8 * self.rng.below(words.min(4))
    }

    pub(super) fn atomic(&mut self, targets: &Targets) -> SendOp {
        let address = self.word(&targets.target);
        let atomic = AtomicEth {
            address,
            rkey: Rkey(targets.target.key),
            swap_add: self.rng.below(4),
            compare: self.rng.below(4),
        };
        if self.rng.percent(50) {
            SendOp::CompareSwap(atomic)
        } else {
            SendOp::FetchAdd(AtomicEth {
                compare: 0,
                ..atomic
            })
        }
    }

    pub(super) fn shared_atomic(&mut self, targets: &Targets) -> SendOp {
        let area = self.counters.unwrap_or(targets.target);
        SendOp::FetchAdd(AtomicEth {
            address: self.word(&area),
            rkey: Rkey(area.key),
            swap_add: self.rng.within(1..=1000),
            compare: 0,
        })
    }

    pub(super) fn flush(&mut self, targets: &Targets, length: u32) -> SendOp {
        SendOp::Flush {
            feth: Feth {
                visible: true,
                persistent: self.rng.percent(50),
                whole_region: self.rng.percent(30),
            },
            address: targets.target.base + self.place(&targets.target, length),
            rkey: Rkey(targets.target.key),
        }
    }

    pub(super) fn atomic_write(&mut self, targets: &Targets) -> SendOp {
        SendOp::AtomicWrite {
            address: self.word(&targets.target),
            rkey: Rkey(targets.target.key),
        }
    }

    pub(super) fn datagram(&mut self, targets: &Targets) -> SendOp {
        let own = self.rng.percent(20);
        let qkey = if own { Qkey(0x8000_0000) } else { targets.qkey };
        let with_immediate = self.rng.percent(40);
        SendOp::Datagram {
            dest_qp: targets.dest,
            qkey,
            immediate: with_immediate.then(|| self.immediate()),
        }
    }

    pub(super) fn local_work(&mut self, targets: &Targets) -> LocalWork {
        self.local_valid = !self.local_valid;
        if self.local_valid {
            LocalWork::Register(targets.local)
        } else {
            LocalWork::Invalidate(targets.local)
        }
    }
}
