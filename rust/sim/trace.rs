// SPDX-License-Identifier: GPL-2.0

//! What happened: a hash of all of it, and, if asked for, a line for each event.

use crate::events::Nanos;
use oxe_proto::wire::{
    aeth::{
        Aeth,
        NakCode,
        Syndrome, //
    },
    atomic::AtomicEth,
    packet::{
        Addressing,
        Op,
        Packet,
        Service,
        Tail, //
    },
    reth::Reth, //
};
use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// Where the lines go.
enum Lines {
    Nowhere,
    Output,
    Kept(Vec<String>),
}

/// The record of a run.
pub struct Trace {
    hasher: SipHasher13,
    lines: Lines,
}

/// What a record is about; part of the hash.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum Mark {
    /// A packet left a queue pair.
    Sent = 1,
    /// A packet was lost.
    Lost,
    /// A packet reached a queue pair.
    Received,
    /// A packet came before its turn and was kept.
    Held,
    /// A send request was posted.
    Posted,
    /// A send request ended.
    Completed,
    /// A receive request ended.
    ReceiveCompleted,
    /// A queue pair told of something.
    Event,
    /// A queue pair was modified.
    Modified,
    /// A timer ran out.
    Timer,
    /// A fault was injected.
    Fault,
    /// Memory was changed.
    Memory,
}

impl Trace {
    /// A record that keeps the hash alone.
    pub fn silent() -> Self {
        Self::new(Lines::Nowhere)
    }

    /// A record that prints a line for each event.
    pub fn printing() -> Self {
        Self::new(Lines::Output)
    }

    /// A record that keeps the last lines.
    pub fn keeping() -> Self {
        Self::new(Lines::Kept(Vec::new()))
    }

    fn new(lines: Lines) -> Self {
        Self {
            hasher: SipHasher13::new(),
            lines,
        }
    }

    /// The hash of everything up to now.
    pub fn hash(&self) -> u64 {
        self.hasher.finish()
    }

    /// The kept lines.
    pub fn lines(&self) -> &[String] {
        match &self.lines {
            Lines::Kept(lines) => lines,
            _ => &[],
        }
    }

    /// Records something that happened at a queue pair, with what makes it different from others.
    pub fn note(
        &mut self,
        now: Nanos,
        mark: Mark,
        qp: usize,
        values: &[u64],
        text: impl FnOnce() -> String,
    ) {
        self.hasher.write(&now.to_le_bytes());
        self.hasher.write(&[mark as u8]);
        self.hasher.write(&(qp as u64).to_le_bytes());
        for value in values {
            self.hasher.write(&value.to_le_bytes());
        }
        if matches!(self.lines, Lines::Nowhere) {
            return;
        }
        let line = format!("{now:>13} qp{qp} {mark:?} {}", text());
        match &mut self.lines {
            Lines::Nowhere => (),
            Lines::Output => println!("{line}"),
            Lines::Kept(lines) => {
                if lines.len() >= 4000 {
                    lines.drain(..2000);
                }
                lines.push(line);
            }
        }
    }

    /// Records what happened to a packet.
    pub fn packet(&mut self, now: Nanos, mark: Mark, qp: usize, packet: &Packet) {
        self.note(now, mark, qp, &digest(packet), || describe(packet));
    }
}

/// A packet's fields as numbers.
fn digest(packet: &Packet) -> [u64; 5] {
    let flags = u64::from(packet.ack_req)
        | u64::from(packet.solicited) << 1
        | u64::from(packet.mig_req) << 2
        | u64::from(packet.fecn) << 3
        | u64::from(packet.becn) << 4;
    let service = match packet.service {
        Service::Rc => 0,
        Service::Uc => 1,
        Service::Ud => 2,
        Service::Xrc => 3,
        Service::Cnp => 4,
    };
    let addressing = match packet.addressing {
        Addressing::Connected => 0,
        Addressing::Datagram(deth) => {
            1 << 60 | u64::from(deth.qkey.0) << 24 ^ u64::from(deth.source_qp.get())
        }
        Addressing::SharedQueue(number) => 2 << 60 | u64::from(number.get()),
    };
    let (code, operand) = digest_op(&packet.op);
    [
        u64::from(packet.psn.get()) << 24 | u64::from(packet.dest_qp.get()),
        flags << 56 | service << 48 | code << 32 | u64::from(packet.data_bytes),
        u64::from(packet.pkey.0),
        addressing,
        operand,
    ]
}

fn digest_tail(tail: Tail) -> u64 {
    match tail {
        Tail::None => 0,
        Tail::Immediate(immediate) => 1 << 40 | u64::from(u32::from_be_bytes(immediate.0)),
        Tail::Invalidate(rkey) => 2 << 40 | u64::from(rkey.0),
    }
}

fn digest_reth(reth: &Reth) -> u64 {
    reth.address.rotate_left(17) ^ u64::from(reth.rkey.0) << 32 ^ u64::from(reth.length)
}

fn digest_atomic(atomic: &AtomicEth) -> u64 {
    atomic.address.rotate_left(7)
        ^ u64::from(atomic.rkey.0).rotate_left(23)
        ^ atomic.swap_add.rotate_left(41)
        ^ atomic.compare
}

fn digest_aeth(aeth: &Aeth) -> u64 {
    let syndrome = match aeth.syndrome {
        Syndrome::Ack(code) => u64::from(code),
        Syndrome::RnrNak(code) => 0x100 | u64::from(code),
        Syndrome::Nak(code) => 0x200 | code as u64,
        Syndrome::Reserved(raw) => 0x300 | u64::from(raw),
    };
    syndrome << 32 | u64::from(aeth.msn.get())
}

fn digest_op(op: &Op) -> (u64, u64) {
    let immediate =
        |immediate: &Option<_>| digest_tail(immediate.map_or(Tail::None, Tail::Immediate));
    match op {
        Op::SendFirst => (1, 0),
        Op::SendMiddle => (2, 0),
        Op::SendLast(tail) => (3, digest_tail(*tail)),
        Op::SendOnly(tail) => (4, digest_tail(*tail)),
        Op::WriteFirst(reth) => (5, digest_reth(reth)),
        Op::WriteMiddle => (6, 0),
        Op::WriteLast(data) => (7, immediate(data)),
        Op::WriteOnly(reth, data) => (8, digest_reth(reth) ^ immediate(data).rotate_left(3)),
        Op::ReadRequest(reth) => (9, digest_reth(reth)),
        Op::ReadResponseFirst(aeth) => (10, digest_aeth(aeth)),
        Op::ReadResponseMiddle => (11, 0),
        Op::ReadResponseLast(aeth) => (12, digest_aeth(aeth)),
        Op::ReadResponseOnly(aeth) => (13, digest_aeth(aeth)),
        Op::Acknowledge(aeth) => (14, digest_aeth(aeth)),
        Op::AtomicAcknowledge(aeth, before) => (15, digest_aeth(aeth) ^ before.rotate_left(11)),
        Op::CompareSwap(atomic) => (16, digest_atomic(atomic)),
        Op::FetchAdd(atomic) => (17, digest_atomic(atomic)),
        Op::Flush(feth, reth) => {
            let bits = u64::from(feth.visible)
                | u64::from(feth.persistent) << 1
                | u64::from(feth.whole_region) << 2;
            (18, digest_reth(reth) ^ bits.rotate_left(60))
        }
        Op::AtomicWrite(reth) => (19, digest_reth(reth)),
        Op::Cnp => (20, 0),
    }
}

/// A packet in one line.
pub fn describe(packet: &Packet) -> String {
    let flag = |set, name: &'static str| if set { name } else { "" };
    format!(
        "{} psn {:#08x} to {:#x} {} bytes{}{}",
        describe_op(&packet.op),
        packet.psn.get(),
        packet.dest_qp.get(),
        packet.data_bytes,
        flag(packet.ack_req, " A"),
        flag(packet.solicited, " SE"),
    )
}

fn describe_aeth(aeth: &Aeth) -> String {
    let what = match aeth.syndrome {
        Syndrome::Ack(code) => format!("credits {code}"),
        Syndrome::RnrNak(code) => format!("RNR {code}"),
        Syndrome::Nak(NakCode::SequenceError) => "NAK sequence".to_owned(),
        Syndrome::Nak(code) => format!("NAK {code:?}"),
        Syndrome::Reserved(raw) => format!("reserved {raw:#x}"),
    };
    format!("{what} msn {}", aeth.msn.get())
}

fn describe_reth(reth: &Reth) -> String {
    format!(
        "{:#x}+{:#x} key {:#x}",
        reth.address, reth.length, reth.rkey.0
    )
}

fn describe_op(op: &Op) -> String {
    match op {
        Op::WriteFirst(reth) => format!("WRITE first {}", describe_reth(reth)),
        Op::WriteOnly(reth, immediate) => {
            let immediate = immediate.map_or("", |_| " imm");
            format!("WRITE only{immediate} {}", describe_reth(reth))
        }
        Op::ReadRequest(reth) => format!("READ {}", describe_reth(reth)),
        Op::AtomicWrite(reth) => format!("ATOMIC WRITE {}", describe_reth(reth)),
        Op::ReadResponseFirst(aeth) => format!("READ response first {}", describe_aeth(aeth)),
        Op::ReadResponseLast(aeth) => format!("READ response last {}", describe_aeth(aeth)),
        Op::ReadResponseOnly(aeth) => format!("READ response only {}", describe_aeth(aeth)),
        Op::Acknowledge(aeth) => format!("ACK {}", describe_aeth(aeth)),
        Op::AtomicAcknowledge(aeth, before) => {
            format!("atomic ACK {before:#x} {}", describe_aeth(aeth))
        }
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::frame;

    #[test]
    fn each_field_counts() {
        let base = frame(5, 100).packet;
        let hash = |packet: &Packet| {
            let mut trace = Trace::silent();
            trace.packet(1, Mark::Sent, 2, packet);
            trace.hash()
        };
        let mut changed = vec![base; 5];
        changed[0].psn = base.psn.next();
        changed[1].ack_req = true;
        changed[2].op = Op::SendLast(Tail::None);
        changed[3].data_bytes = 99;
        changed[4].service = Service::Xrc;
        for packet in changed {
            assert_ne!(hash(&packet), hash(&base), "{packet:?}");
        }
    }

    #[test]
    fn lines_are_kept_if_asked_for() {
        let mut trace = Trace::keeping();
        trace.packet(7, Mark::Sent, 1, &frame(5, 100).packet);
        assert_eq!(trace.lines().len(), 1);
        assert!(trace.lines()[0].contains("SendMiddle psn 0x000005"));
    }
}
