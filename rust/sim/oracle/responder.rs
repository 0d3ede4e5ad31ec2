// SPDX-License-Identifier: GPL-2.0

//! The responder's side: effects, exactly once and in order, and what is answered.

use super::{
    flow::{
        Flow,
        Refusal, //
    },
    Oracle, //
};
use crate::trace::describe;
use oxe_proto::{
    transport::wr::SendOp,
    wire::{
        aeth::{
            Aeth,
            NakCode,
            Syndrome, //
        },
        packet::{
            Op,
            Packet, //
        },
    },
};

impl Oracle {
    /// Whether the message that a responder is at may be refused by some code.
    pub(super) fn may_refuse(&self, number: usize) -> bool {
        let flow = &self.flows[number];
        let codes = [
            NakCode::InvalidRequest,
            NakCode::RemoteAccess,
            NakCode::RemoteOperational,
        ];
        flow.refusal.is_some()
            || !flow.responder_faults.is_empty()
            || (flow.completed.min(flow.cursor)..=flow.cursor)
                .filter(|&index| index < flow.messages.len())
                .any(|index| {
                    codes
                        .iter()
                        .any(|&code| self.check_refusal(flow, index, code).is_none())
                })
    }

    /// The responder's own memory failed: it may refuse requests with this code.
    pub fn responder_failed(&mut self, qp: usize, code: Option<NakCode>) {
        self.disturbed(qp);
        if let (Some(number), Some(code)) = (self.ends[qp].inward, code) {
            self.flows[number].responder_faults.push(code);
        }
    }

    pub(super) fn sent_response(&mut self, qp: usize, packet: &Packet, _data: &[u8]) {
        if packet.op == Op::Cnp {
            return;
        }
        let Some(number) = self.ends[qp].inward else {
            return self.fail(qp, format!("sent {} to nobody", describe(packet)));
        };
        self.flows[number].settle();
        let wrong = match packet.op {
            Op::Acknowledge(aeth) => self.check_acknowledge(qp, number, packet, &aeth),
            _ => check_response(&self.flows[number], packet),
        };
        if let Some(what) = wrong {
            return self.fail(qp, format!("sent {}: {what}", describe(packet)));
        }
        let stats = &mut self.flows[number].stats;
        stats.responses += 1;
        stats.read_responses += u64::from(!matches!(packet.op, Op::Acknowledge(_)));
    }

    fn check_acknowledge(
        &mut self,
        qp: usize,
        number: usize,
        packet: &Packet,
        aeth: &Aeth,
    ) -> Option<String> {
        let flow = &self.flows[number];
        let count = flow.count(packet.psn)?;
        let expected = flow.expected();
        match aeth.syndrome {
            Syndrome::Ack(_) if count >= expected => Some(format!(
                "{} numbers more than were done",
                count - expected + 1
            )),
            Syndrome::Ack(_) => check_msn(flow, aeth),
            Syndrome::RnrNak(_) if count > expected || !flow.was_starved(count) => {
                Some("there was a receive request, or it is another packet's turn".into())
            }
            Syndrome::RnrNak(_) => None,
            Syndrome::Nak(NakCode::SequenceError) if count > expected || !flow.ever_disturbed => {
                Some(format!("nothing was missing; expects number {expected}"))
            }
            Syndrome::Nak(NakCode::SequenceError) => None,
            Syndrome::Nak(code) => {
                let Some(index) = flow.find(count) else {
                    return Some("refuses what was never sent".into());
                };
                let wrong = self.check_refusal(flow, index, code);
                if wrong.is_none() {
                    self.flows[number].refusal = Some(Refusal {
                        message: index,
                        code,
                    });
                    self.ends[qp].may_fail = true;
                }
                wrong
            }
            Syndrome::Reserved(_) => Some("no such syndrome".into()),
        }
    }
}

/// Whether the message count of an answer is that of finished messages.
fn check_msn(flow: &Flow, aeth: &Aeth) -> Option<String> {
    let local = |index: usize| {
        flow.messages[..index]
            .iter()
            .filter(|message| message.packets == 0)
            .count()
    };
    let (least, most) = flow.finished();
    let (least, most) = (least - local(least), most - local(most));
    let inside = (least..=most).any(|count| (count & 0xff_ffff) as u32 == aeth.msn.get());
    (!inside).then(|| format!("{least} to {most} messages are done"))
}

/// Whether a READ's or atomic's answer is what it must be.
fn check_response(flow: &Flow, packet: &Packet) -> Option<String> {
    let Some((index, number)) = flow.locate(packet.psn) else {
        return Some("answers what was never asked".into());
    };
    let message = &flow.messages[index];
    if !message.arrived || index > flow.cursor {
        return Some("answers what has not come".into());
    }
    let earlier = &flow.messages[flow.completed.min(index)..index];
    if earlier.iter().any(|message| !message.executed) {
        return Some("answers before earlier requests are done".into());
    }
    match (message.posted.wr.op, packet.op) {
        (SendOp::CompareSwap(_) | SendOp::FetchAdd(_), Op::AtomicAcknowledge(_, before)) => {
            (message.found != Some(before)).then(|| format!("found {:?}", message.found))
        }
        (SendOp::Flush { .. } | SendOp::AtomicWrite { .. }, Op::ReadResponseOnly(_)) => {
            (!message.executed || packet.data_bytes != 0).then(|| "it was not done".into())
        }
        (SendOp::Read { .. }, op) => {
            let mtu = flow.plan.attributes.path_mtu.bytes();
            let rest = message.posted.wr.length - number * mtu;
            let starts = message.asked.iter().any(|&(start, _)| start == number);
            let ends = message.asked.iter().any(|&(_, end)| end == number + 1);
            let inside = |middle: bool| {
                message.asked.iter().any(|&(start, end)| {
                    start < number && (number + 1 < end) == middle && number < end
                })
            };
            let placed = match op {
                Op::ReadResponseFirst(_) => starts,
                Op::ReadResponseMiddle => inside(true),
                Op::ReadResponseLast(_) => inside(false),
                Op::ReadResponseOnly(_) => starts && ends,
                _ => false,
            };
            if !placed {
                Some(format!(
                    "packet {number} of a READ, asked for {:?}",
                    message.asked
                ))
            } else {
                (packet.data_bytes != rest.min(mtu)).then(|| format!("{rest} bytes are left"))
            }
        }
        (asked, _) => Some(format!("answers {asked:?}")),
    }
}
