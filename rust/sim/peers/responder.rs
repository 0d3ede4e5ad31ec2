// SPDX-License-Identifier: GPL-2.0

//! A peer's responder: one request after the other, everything behind a gap dropped.

mod answer;
mod execute;

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
        ports::Env,
        wr::{
            RecvCompletion,
            RecvKind, //
        },
        Event, //
    },
    types::{
        Msn,
        Psn,
        Rkey, //
    },
    wire::{
        aeth::{
            NakCode,
            Syndrome, //
        },
        packet::{
            Op,
            Packet,
            Tail, //
        },
        reth::Reth, //
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
