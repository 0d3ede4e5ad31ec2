// SPDX-License-Identifier: GPL-2.0

//! A peer's responder: one request after the other, everything behind a gap dropped.

use super::{
    model::Frame,
    strict::Inspector, //
};
use crate::port::Port;
use oxe_proto::{
    transport::{
        attributes::Attributes,
        error::{
            receive_status_of_nak,
            Fault,
            WcStatus, //
        },
        ports::{
            Atomic,
            Env,
            Right,
            Taken, //
        },
        wr::{
            Payload,
            RecvCompletion,
            RecvKind,
            Transmit, //
        },
        Event, //
    },
    types::{
        Msn,
        Mtu,
        Psn,
        Rkey, //
    },
    wire::{
        aeth::{
            Aeth,
            NakCode,
            Syndrome, //
        },
        packet::{
            Addressing,
            Op,
            Packet,
            Tail, //
        },
        reth::Reth,
    },
};
use std::collections::VecDeque;

/// The message that is coming in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    Nothing,
    /// Bytes of a SEND that are here.
    Send(u32),
    /// Where a WRITE goes on, and bytes that are still to come.
    Write {
        rkey: Rkey,
        address: u64,
        left: u32,
    },
}

/// What is kept of a READ, an atomic and the like.
#[derive(Clone, Copy, Debug)]
enum Kept {
    Read(Reth),
    Atomic(u64),
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Resource {
    first: u64,
    packets: u64,
    kept: Kept,
}

/// A READ that is being answered.
#[derive(Clone, Copy, Debug)]
struct Reading {
    rkey: Rkey,
    address: u64,
    left: u32,
    number: u64,
    begins: bool,
    again: bool,
}

/// An answer that is ready.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Ack(u64),
    Nak(u64, Syndrome),
    Value(u64, u64),
    Done(u64),
}

/// Why a packet was not done.
enum Stop {
    Refuse(NakCode),
    NotReady,
    /// As if it had not come.
    Busy,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        fault.nak().map_or(Self::Busy, Self::Refuse)
    }
}

/// The receiving half.
#[derive(Default)]
pub(super) struct Responder {
    waiting: VecDeque<(Packet, Vec<u8>)>,
    answers: VecDeque<Answer>,
    reading: Option<Reading>,
    resources: VecDeque<Resource>,
    base: Psn,
    /// The number that is due, counted without end.
    pub(super) expected: u64,
    msn: Msn,
    gap_told: bool,
    pub(super) incoming: Option<Incoming>,
    receive: Option<u32>,
    stopped: bool,
    inspector: Inspector,
}

impl Responder {
    pub(super) fn start(&mut self, attributes: &Attributes) {
        self.base = attributes.rq_psn;
    }

    fn psn(&self, number: u64) -> Psn {
        self.base.plus((number & 0xff_ffff) as u32)
    }

    pub(super) fn count(&self, psn: Psn) -> Option<u64> {
        let distance = i64::from(psn.since(self.psn(self.expected)));
        self.expected.checked_add_signed(distance)
    }

    /// READs and atomics that have come for the first time and are not answered in full.
    fn unanswered(&self) -> usize {
        let expected = self.expected;
        let fresh = |packet: &Packet| self.count(packet.psn).is_some_and(|at| at >= expected);
        let reads = self.waiting.iter().filter(|(packet, _)| {
            let takes_place = matches!(
                packet.op,
                Op::ReadRequest(_) | Op::CompareSwap(_) | Op::FetchAdd(_)
            );
            takes_place && fresh(packet)
        });
        reads.count() + usize::from(self.reading.is_some_and(|reading| !reading.again))
    }

    /// Looks whether a requester may have sent this.
    pub(super) fn inspect(
        &mut self,
        frame: &Frame,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) {
        let Some(number) = self.count(packet.psn) else {
            return;
        };
        let unanswered = self.unanswered();
        let wrong = self
            .inspector
            .inspect(frame, number, packet, data.len(), unanswered);
        if let Some(what) = wrong {
            let sender = port
                .arrival
                .map_or(port.side.index, |arrival| arrival.sender);
            port.oracle
                .fail(sender, format!("a strict peer got {:?}: {what}", packet.op));
        }
    }

    /// A request packet came.
    pub(super) fn take(&mut self, packet: &Packet, data: &[u8]) {
        if !self.stopped {
            self.waiting.push_back((*packet, data.to_vec()));
        }
    }

    /// Does what has come, until a READ has to be answered first.
    pub(super) fn work(&mut self, frame: &mut Frame, port: &mut Port<'_>) {
        while self.reading.is_none() && !self.stopped {
            let Some((packet, data)) = self.waiting.pop_front() else {
                return;
            };
            let Some(number) = self.count(packet.psn) else {
                continue;
            };
            if number < self.expected {
                self.repeat(frame, number, &packet);
            } else if number > self.expected {
                if !self.gap_told {
                    self.gap_told = true;
                    let syndrome = Syndrome::Nak(NakCode::SequenceError);
                    self.answers.push_back(Answer::Nak(self.expected, syndrome));
                }
            } else {
                self.next(frame, number, &packet, &data, port);
            }
        }
    }

    /// The packet whose turn it is.
    fn next(
        &mut self,
        frame: &mut Frame,
        number: u64,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) {
        let span = match packet.op {
            Op::ReadRequest(reth) => u64::from(frame.attributes.path_mtu.packets(reth.length)),
            _ => 1,
        };
        match self.execute(frame, number, packet, data, port) {
            Ok(()) => {
                self.gap_told = false;
                self.expected += span;
                let answered = matches!(
                    packet.op,
                    Op::ReadRequest(_)
                        | Op::CompareSwap(_)
                        | Op::FetchAdd(_)
                        | Op::Flush(..)
                        | Op::AtomicWrite(_)
                );
                if packet.ack_req && !answered {
                    self.answers.push_back(Answer::Ack(number));
                }
            }
            Err(Stop::Busy) => (),
            Err(Stop::NotReady) => {
                self.gap_told |= !frame.habits.tells_after_not_ready;
                let code = frame.attributes.min_rnr_timer;
                self.answers
                    .push_back(Answer::Nak(number, Syndrome::RnrNak(code)));
            }
            Err(Stop::Refuse(code)) => self.refuse(frame, number, code, port),
        }
    }

    fn refuse(&mut self, frame: &mut Frame, number: u64, code: NakCode, port: &mut Port<'_>) {
        self.answers
            .push_back(Answer::Nak(number, Syndrome::Nak(code)));
        // The peer is told before the receive request ends, as far as anybody can see.
        if self.receive.take().is_some() {
            end_receive(receive_status_of_nak(code), port);
        }
        self.stopped = true;
        frame.fail(Some(match code {
            NakCode::RemoteAccess => Event::AccessError,
            _ => Event::RequestError,
        }));
    }

    fn execute(
        &mut self,
        frame: &Frame,
        number: u64,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Result<(), Stop> {
        let incoming = self.incoming.unwrap_or(Incoming::Nothing);
        let idle = incoming == Incoming::Nothing;
        let access = &frame.attributes.access;
        let bad = Err(Stop::Refuse(NakCode::InvalidRequest));
        match (packet.op, incoming) {
            (Op::SendFirst | Op::SendOnly(_), Incoming::Nothing) => {
                self.send(frame, 0, packet, data, port)
            }
            (Op::SendMiddle | Op::SendLast(_), Incoming::Send(here)) => {
                self.send(frame, here, packet, data, port)
            }
            (Op::WriteFirst(reth) | Op::WriteOnly(reth, _), Incoming::Nothing)
                if access.remote_write =>
            {
                if reth.length > 0 {
                    port.check_remote(reth.rkey, reth.address, reth.length, Right::Write)?;
                }
                let begun = (reth.rkey, reth.address, reth.length);
                self.write(frame, begun, packet, data, port)
            }
            (
                Op::WriteMiddle | Op::WriteLast(_),
                Incoming::Write {
                    rkey,
                    address,
                    left,
                },
            ) => self.write(frame, (rkey, address, left), packet, data, port),
            (Op::ReadRequest(reth), _) if idle && access.remote_read => {
                if reth.length > 0 {
                    port.check_remote(reth.rkey, reth.address, reth.length, Right::Read)?;
                }
                let packets = u64::from(frame.attributes.path_mtu.packets(reth.length));
                self.keep(frame, number, packets, Kept::Read(reth));
                self.msn = self.msn.next();
                self.answer_read(number, &reth);
                Ok(())
            }
            (Op::CompareSwap(atomic) | Op::FetchAdd(atomic), _) if idle && access.remote_atomic => {
                if atomic.address % 8 != 0 {
                    return bad;
                }
                let operation = match packet.op {
                    Op::CompareSwap(_) => Atomic::CompareSwap {
                        compare: atomic.compare,
                        swap: atomic.swap_add,
                    },
                    _ => Atomic::FetchAdd {
                        add: atomic.swap_add,
                    },
                };
                let before = port.atomic(atomic.rkey, atomic.address, operation)?;
                self.keep(frame, number, 1, Kept::Atomic(before));
                self.msn = self.msn.next();
                self.answers.push_back(Answer::Value(number, before));
                Ok(())
            }
            (Op::Flush(feth, reth), _) if idle => {
                port.flush(reth.rkey, reth.address, reth.length, feth)?;
                self.did(frame, number);
                Ok(())
            }
            (Op::AtomicWrite(reth), _) if idle && access.remote_write => {
                port.atomic_write(reth.rkey, reth.address, data)?;
                self.did(frame, number);
                Ok(())
            }
            _ => bad,
        }
    }

    fn did(&mut self, frame: &Frame, number: u64) {
        self.keep(frame, number, 1, Kept::Done);
        self.msn = self.msn.next();
        self.answers.push_back(Answer::Done(number));
    }

    fn keep(&mut self, frame: &Frame, first: u64, packets: u64, kept: Kept) {
        let depth = usize::from(frame.attributes.max_dest_rd_atomic).max(1);
        while self.resources.len() >= depth {
            self.resources.pop_front();
        }
        self.resources.push_back(Resource {
            first,
            packets,
            kept,
        });
    }

    fn answer_read(&mut self, number: u64, reth: &Reth) {
        self.reading = Some(Reading {
            rkey: reth.rkey,
            address: reth.address,
            left: reth.length,
            number,
            begins: true,
            again: number < self.expected,
        });
    }

    fn take_receive(&mut self, packet: &Packet, port: &mut Port<'_>) -> Result<u32, Stop> {
        if let Some(capacity) = self.receive {
            return Ok(capacity);
        }
        let srq = match packet.addressing {
            Addressing::SharedQueue(number) => Some(number),
            _ => None,
        };
        match port.take_receive(srq) {
            Taken::Ready { capacity } => {
                self.receive = Some(capacity);
                Ok(capacity)
            }
            Taken::Empty => Err(Stop::NotReady),
            Taken::Faulty(_) => Err(Stop::Refuse(NakCode::RemoteOperational)),
        }
    }

    fn send(
        &mut self,
        frame: &Frame,
        here: u32,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Result<(), Stop> {
        let capacity = self.take_receive(packet, port)?;
        let end = here + packet.data_bytes;
        if end > capacity {
            return Err(Stop::Refuse(NakCode::InvalidRequest));
        }
        if !data.is_empty() {
            port.place_receive(here, data)?;
        }
        self.incoming = Some(Incoming::Send(end));
        if let Op::SendLast(tail) | Op::SendOnly(tail) = packet.op {
            if let Tail::Invalidate(rkey) = tail {
                port.invalidate(rkey)?;
            }
            self.finish(frame, packet, RecvKind::Send, end, tail, port);
        }
        Ok(())
    }

    fn write(
        &mut self,
        frame: &Frame,
        (rkey, address, left): (Rkey, u64, u32),
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Result<(), Stop> {
        if packet.data_bytes > left {
            return Err(Stop::Refuse(NakCode::InvalidRequest));
        }
        let immediate = match packet.op {
            Op::WriteLast(immediate) | Op::WriteOnly(_, immediate) => immediate,
            _ => None,
        };
        if immediate.is_some() {
            self.take_receive(packet, port)?;
        }
        if !data.is_empty() {
            port.write_remote(rkey, address, data)?;
        }
        let rest = left - packet.data_bytes;
        self.incoming = Some(Incoming::Write {
            rkey,
            address: address.wrapping_add(u64::from(packet.data_bytes)),
            left: rest,
        });
        if matches!(packet.op, Op::WriteLast(_) | Op::WriteOnly(..)) {
            if rest > 0 {
                return Err(Stop::Refuse(NakCode::InvalidRequest));
            }
            match immediate {
                Some(immediate) => {
                    let kind = RecvKind::WriteWithImmediate;
                    let tail = Tail::Immediate(immediate);
                    // The bytes of the whole message: the inspector has counted them.
                    let bytes = self.inspector.message_bytes();
                    self.finish(frame, packet, kind, bytes, tail, port);
                }
                None => {
                    self.msn = self.msn.next();
                    self.incoming = None;
                    self.inspector.message_ends();
                }
            }
        } else if let Op::WriteFirst(_) | Op::WriteMiddle = packet.op {
            self.inspector.message_grows(packet.data_bytes);
        }
        Ok(())
    }

    fn finish(
        &mut self,
        frame: &Frame,
        packet: &Packet,
        kind: RecvKind,
        bytes: u32,
        tail: Tail,
        port: &mut Port<'_>,
    ) {
        let bytes = match kind {
            RecvKind::Send => bytes,
            RecvKind::WriteWithImmediate => bytes + packet.data_bytes,
        };
        self.msn = self.msn.next();
        self.incoming = None;
        self.inspector.message_ends();
        self.receive = None;
        port.complete_receive(RecvCompletion {
            status: WcStatus::Success,
            kind,
            bytes,
            tail,
            solicited: packet.solicited,
            source_qp: frame.attributes.dest_qp,
        });
    }

    /// A request that was done before.
    fn repeat(&mut self, frame: &Frame, number: u64, packet: &Packet) {
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
    pub(super) fn poll(&mut self, frame: &mut Frame) -> Option<Transmit> {
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

    /// What a peer reads cannot be had.
    pub(super) fn payload_fault(&mut self, psn: Psn, fault: Fault, frame: &mut Frame) {
        let Some(code) = fault.nak() else {
            return;
        };
        self.reading = None;
        let number = self.count(psn).unwrap_or(self.expected);
        self.answers
            .push_back(Answer::Nak(number, Syndrome::Nak(code)));
        self.stopped = true;
        frame.fail(Some(Event::AccessError));
    }

    /// The queue pair is in error: its receive request is flushed.
    pub(super) fn stop(&mut self, port: &mut Port<'_>) {
        self.stopped = true;
        self.waiting.clear();
        self.reading = None;
        if self.receive.take().is_some() {
            end_receive(WcStatus::Flushed, port);
        }
    }

    /// Nothing more is sent.
    pub(super) fn silence(&mut self) {
        self.answers.clear();
    }
}

fn end_receive(status: WcStatus, port: &mut Port<'_>) {
    port.complete_receive(RecvCompletion {
        status,
        kind: RecvKind::Send,
        bytes: 0,
        tail: Tail::None,
        solicited: false,
        source_qp: port.side.number,
    });
}
