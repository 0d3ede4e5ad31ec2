// SPDX-License-Identifier: GPL-2.0

//! A peer's responder: what it answers.

use super::{
    Answer,
    Kept,
    Resource,
    Responder, //
};
use crate::peers::model::Frame;
use oxe_proto::{
    transport::wr::{
        Payload,
        Transmit, //
    },
    types::Mtu,
    wire::{
        aeth::{
            Aeth,
            Syndrome, //
        },
        packet::{
            Op,
            Packet, //
        },
    },
};

impl Responder {
    /// A request that was done before.
    pub(super) fn repeat(&mut self, frame: &Frame, number: u64, packet: &Packet) {
        let found = self
            .resources
            .iter()
            .find(|kept| (kept.first..kept.first + kept.packets).contains(&number))
            .copied();
        match (packet.op, found) {
            (
                Op::ReadRequest(again),
                Some(Resource {
                    first,
                    kept: Kept::Read(reth),
                    ..
                }),
            ) => {
                let skip = (number - first) * u64::from(frame.attributes.path_mtu.bytes());
                let fits = again.rkey == reth.rkey
                    && again.address == reth.address.wrapping_add(skip)
                    && skip + u64::from(again.length) <= u64::from(reth.length);
                let whole = skip + u64::from(again.length) == u64::from(reth.length);
                if fits && (whole || !frame.habits.whole_repeats) {
                    self.answer_read(number, &again);
                }
            }
            (
                Op::CompareSwap(_) | Op::FetchAdd(_),
                Some(Resource {
                    kept: Kept::Atomic(before),
                    ..
                }),
            ) => self.answers.push_back(Answer::Value(number, before)),
            (
                Op::Flush(..) | Op::AtomicWrite(_),
                Some(Resource {
                    kept: Kept::Done, ..
                }),
            ) => {
                self.answers.push_back(Answer::Done(number));
            }
            (
                Op::ReadRequest(_)
                | Op::CompareSwap(_)
                | Op::FetchAdd(_)
                | Op::Flush(..)
                | Op::AtomicWrite(_),
                _,
            ) => (),
            _ => self.answers.push_back(Answer::Ack(self.expected - 1)),
        }
    }

    /// The next packet to send.
    pub(in crate::peers) fn poll(&mut self, frame: &mut Frame) -> Option<Transmit> {
        while frame.habits.merges_acks && self.answers.len() > 1 {
            match (self.answers[0], self.answers[1]) {
                (Answer::Ack(_), Answer::Ack(_)) => drop(self.answers.pop_front()),
                _ => break,
            }
        }
        if let Some(answer) = self.answers.pop_front() {
            return Some(self.answer(frame, answer));
        }
        let reading = self.reading.as_mut()?;
        let mtu: Mtu = frame.attributes.path_mtu;
        let bytes = reading.left.min(mtu.bytes());
        let ends = reading.left <= mtu.bytes();
        let begins = std::mem::replace(&mut reading.begins, false);
        let (number, rkey, address) = (reading.number, reading.rkey, reading.address);
        reading.number += 1;
        reading.address = address.wrapping_add(u64::from(bytes));
        reading.left -= bytes;
        if ends {
            self.reading = None;
        }
        let aeth = Aeth {
            syndrome: Syndrome::Ack(frame.credits()),
            msn: self.msn,
        };
        let op = match (begins, ends) {
            (true, true) => Op::ReadResponseOnly(aeth),
            (true, false) => Op::ReadResponseFirst(aeth),
            (false, false) => Op::ReadResponseMiddle,
            (false, true) => Op::ReadResponseLast(aeth),
        };
        let payload = if bytes > 0 {
            Payload::Remote { rkey, address }
        } else {
            Payload::None
        };
        Some(Transmit {
            packet: frame.packet(op, self.psn(number), bytes),
            payload,
        })
    }

    fn answer(&self, frame: &mut Frame, answer: Answer) -> Transmit {
        let ack = Aeth {
            syndrome: Syndrome::Ack(frame.credits()),
            msn: self.msn,
        };
        let (number, op) = match answer {
            Answer::Ack(number) => (number, Op::Acknowledge(ack)),
            Answer::Nak(number, syndrome) => (number, Op::Acknowledge(Aeth { syndrome, ..ack })),
            Answer::Value(number, before) => (number, Op::AtomicAcknowledge(ack, before)),
            Answer::Done(number) => (number, Op::ReadResponseOnly(ack)),
        };
        Transmit {
            packet: frame.packet(op, self.psn(number), 0),
            payload: Payload::None,
        }
    }
}
