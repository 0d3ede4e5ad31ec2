// SPDX-License-Identifier: GPL-2.0

//! The responder's side: effects, exactly once and in order, and what is answered.

use super::{
    flow::{
        Flow,
        Refusal, //
    },
    Arrival,
    Oracle, //
};
use crate::{
    memory::after,
    port::NETWORK_HEADER_BYTES,
    trace::describe,
    work::{
        Outlook,
        Receive, //
    },
};
use oxe_proto::{
    transport::{
        error::WcStatus,
        ports::Atomic,
        wr::{
            RecvCompletion,
            RecvKind,
            SendOp, //
        }, //
    },
    types::{
        Rkey,
        SrqNumber, //
    },
    wire::{
        aeth::{
            Aeth,
            NakCode,
            Syndrome, //
        },
        flush::Feth,
        packet::{
            Op,
            Packet,
            Service,
            Tail, //
        },
    },
};

impl Oracle {
    /// The flow that a queue pair receives, and the message that it is at.
    ///
    /// A reliable responder is where its cursor is. An unreliable one is where the packet in hand
    /// says, which must not be before what it has done.
    fn at(&mut self, qp: usize, arrival: Option<Arrival>) -> Option<(usize, usize)> {
        let inward = self.ends[qp].inward;
        let Some(number) = inward.or(arrival.and_then(|arrival| arrival.flow)) else {
            self.fail(qp, "an effect without a flow".into());
            return None;
        };
        let flow = &mut self.flows[number];
        if !flow.is_reliable() {
            let place = arrival.and_then(|arrival| {
                let (index, packet) = flow.locate(arrival.psn)?;
                Some((index, packet, arrival.serial))
            });
            let Some((index, packet, serial)) = place else {
                self.fail(qp, "an effect of a packet that was never sent".into());
                return None;
            };
            if flow.plan.service == Service::Uc && flow.begins(index, packet, serial).is_none() {
                let id = flow.messages[index].posted.id;
                self.fail(qp, format!("request {id} has an effect again, or late"));
                return None;
            }
            return Some((number, index));
        }
        flow.settle();
        if flow.cursor >= flow.messages.len() {
            self.fail(qp, "an effect, but nothing is left to be done".into());
            return None;
        }
        if flow.refusal.is_some() {
            self.fail(qp, "an effect after a refusal".into());
            return None;
        }
        Some((number, flow.cursor))
    }

    fn wrong_effect(&mut self, qp: usize, flow: usize, index: usize, what: &str) {
        let message = &self.flows[flow].messages[index];
        let text = format!(
            "{what}, but request {} is due ({:?}, {} bytes), {} bytes of it are done",
            message.posted.id,
            message.posted.wr.op,
            message.posted.wr.length,
            self.flows[flow].progress
        );
        self.fail(qp, text);
    }

    /// A packet's data was written to memory.
    pub fn wrote(
        &mut self,
        qp: usize,
        arrival: Option<Arrival>,
        rkey: Rkey,
        address: u64,
        data: &[u8],
    ) {
        let Some((number, index)) = self.at(qp, arrival) else {
            return;
        };
        let flow = &mut self.flows[number];
        let message = &flow.messages[index];
        let SendOp::Write {
            address: start,
            rkey: key,
            immediate,
        } = message.posted.wr.op
        else {
            return self.wrong_effect(qp, number, index, "a write");
        };
        let due =
            (message.posted.wr.length - flow.progress).min(flow.plan.attributes.path_mtu.bytes());
        let fits = key == rkey
            && address == start.wrapping_add(u64::from(flow.progress))
            && data.len() == due as usize
            && !message.executed
            && !matches!(message.posted.outlook, Outlook::Refused(_));
        if !fits {
            let what = format!("a write of {} bytes at {address:#x}", data.len());
            return self.wrong_effect(qp, number, index, &what);
        }
        let (pattern, offset) = message.posted.source.expected();
        if let Some(at) = pattern.mismatch(offset + u64::from(flow.progress), data) {
            return self.wrong_effect(
                qp,
                number,
                index,
                &format!("a write with a wrong byte {at}"),
            );
        }
        flow.progress += due;
        if flow.progress == message.posted.wr.length && immediate.is_none() {
            done(flow, index);
        }
        self.change_image(qp, rkey, address, data);
    }

    fn change_image(&mut self, qp: usize, rkey: Rkey, address: u64, data: &[u8]) {
        let host = self.hosts[qp];
        let image = self.images.get_mut(&(host, rkey.0));
        match image.and_then(|image| image.at(address, data.len())) {
            Some(bytes) => bytes.copy_from_slice(data),
            None => self.fail(qp, format!("memory outside of any region: {address:#x}")),
        }
    }

    /// An atomic was done.
    pub fn did_atomic(
        &mut self,
        qp: usize,
        rkey: Rkey,
        address: u64,
        operation: Atomic,
        before: u64,
    ) {
        let Some((number, index)) = self.at(qp, None) else {
            return;
        };
        let flow = &mut self.flows[number];
        let message = &mut flow.messages[index];
        let fits = match (message.posted.wr.op, operation) {
            (SendOp::CompareSwap(want), Atomic::CompareSwap { compare, swap }) => {
                (want.rkey, want.address) == (rkey, address)
                    && (want.compare, want.swap_add) == (compare, swap)
            }
            (SendOp::FetchAdd(want), Atomic::FetchAdd { add }) => {
                (want.rkey, want.address, want.swap_add) == (rkey, address, add)
            }
            _ => false,
        };
        if !fits {
            return self.wrong_effect(qp, number, index, &format!("{operation:?}"));
        }
        let must = message.must_find;
        message.found = Some(before);
        done(flow, index);
        if must.is_some_and(|must| must != before) {
            self.fail(
                qp,
                format!("an atomic found {before:#x} where {must:#x?} must be"),
            );
        }
        let host = self.hosts[qp];
        let image = self.images.get_mut(&(host, rkey.0));
        let bytes = image.and_then(|image| image.at(address, 8));
        match bytes {
            Some(bytes) if *bytes == before.to_ne_bytes() => {
                bytes.copy_from_slice(&after(before, operation).to_ne_bytes());
            }
            _ => self.fail(qp, "an atomic found what nobody has put there".into()),
        }
    }

    /// An ATOMIC WRITE was done.
    pub fn wrote_atomically(&mut self, qp: usize, rkey: Rkey, address: u64, data: &[u8]) {
        let Some((number, index)) = self.at(qp, None) else {
            return;
        };
        let flow = &mut self.flows[number];
        let message = &flow.messages[index];
        let (pattern, offset) = message.posted.source.expected();
        let want = SendOp::AtomicWrite { address, rkey };
        if message.posted.wr.op != want
            || data.len() != 8
            || pattern.mismatch(offset, data).is_some()
        {
            return self.wrong_effect(qp, number, index, "an atomic write");
        }
        done(flow, index);
        self.change_image(qp, rkey, address, data);
    }

    /// A FLUSH was done; once more is no harm.
    pub fn flushed(&mut self, qp: usize, arrival: Option<Arrival>, rkey: Rkey, feth: Feth) {
        let Some(number) = self.ends[qp].inward else {
            return;
        };
        let flow = &mut self.flows[number];
        flow.settle();
        let place = arrival.and_then(|arrival| flow.locate(arrival.psn));
        let index = place.map_or(flow.cursor, |(index, _)| index);
        let asked = flow.messages.get(index).is_some_and(|message| {
            matches!(message.posted.wr.op, SendOp::Flush { feth: want, rkey: key, .. }
                if want == feth && key == rkey)
        });
        if !asked || index > flow.cursor {
            self.fail(qp, "a flush that nobody asked for, or too early".into());
        } else if index == flow.cursor {
            done(flow, index);
        }
    }

    /// A key was invalidated on behalf of the peer.
    pub fn invalidated(&mut self, qp: usize, rkey: Rkey) {
        let Some((number, index)) = self.at(qp, None) else {
            return;
        };
        let want = SendOp::Send(Tail::Invalidate(rkey));
        if self.flows[number].messages[index].posted.wr.op != want {
            self.wrong_effect(qp, number, index, &format!("{rkey:?} invalidated"));
        }
    }

    /// A receive request was asked for; `capacity` is none if there was none.
    pub fn took_receive(
        &mut self,
        qp: usize,
        arrival: Option<Arrival>,
        srq: Option<SrqNumber>,
        capacity: Option<u32>,
    ) {
        let Some((number, index)) = self.at(qp, arrival) else {
            return;
        };
        let flow = &mut self.flows[number];
        let message = &flow.messages[index];
        if !message.posted.takes_receive() || message.executed {
            return self.wrong_effect(qp, number, index, "a receive request is taken");
        }
        if srq.is_some_and(|srq| srq != message.posted.wr.srq) {
            return self.wrong_effect(qp, number, index, &format!("the wrong queue {srq:?}"));
        }
        if capacity.is_none() {
            // What is under way behind it finds a gap.
            flow.ever_disturbed = true;
            flow.messages[index].starved = true;
        }
        let length = flow.messages[index].posted.wr.length;
        let is_send = matches!(flow.messages[index].posted.wr.op, SendOp::Send(_));
        if is_send && capacity.is_some_and(|capacity| capacity < length) {
            flow.too_long = Some(index);
        }
    }

    /// Data was put into a receive request's buffers.
    pub fn placed(&mut self, qp: usize, arrival: Option<Arrival>, offset: u32, data: &[u8]) {
        let Some((number, index)) = self.at(qp, arrival) else {
            return;
        };
        let flow = &mut self.flows[number];
        let message = &flow.messages[index];
        let is_datagram = flow.plan.service == Service::Ud;
        let (done, start) = if is_datagram {
            (0, NETWORK_HEADER_BYTES)
        } else {
            (flow.progress, flow.progress)
        };
        let due = (message.posted.wr.length - done).min(flow.plan.attributes.path_mtu.bytes());
        let is_send = matches!(
            message.posted.wr.op,
            SendOp::Send(_) | SendOp::Datagram { .. }
        );
        if !is_send || offset != start || data.len() != due as usize {
            let what = format!("{} bytes placed at {offset}", data.len());
            return self.wrong_effect(qp, number, index, &what);
        }
        let (pattern, from) = message.posted.source.expected();
        if let Some(at) = pattern.mismatch(from + u64::from(done), data) {
            return self.wrong_effect(qp, number, index, &format!("a wrong byte {at} placed"));
        }
        if !is_datagram {
            flow.progress += due;
        }
    }

    /// A receive request ended.
    pub fn received(
        &mut self,
        qp: usize,
        arrival: Option<Arrival>,
        completion: &RecvCompletion,
        receive: &Receive,
    ) {
        if completion.status != WcStatus::Success {
            return self.received_badly(qp, completion.status);
        }
        let Some((number, index)) = self.at(qp, arrival) else {
            return;
        };
        let flow = &self.flows[number];
        let message = &flow.messages[index];
        let length = message.posted.wr.length;
        let is_datagram = flow.plan.service == Service::Ud;
        let (kind, tail) = match message.posted.wr.op {
            SendOp::Send(tail) => (RecvKind::Send, tail),
            SendOp::Datagram { immediate, .. } => (
                RecvKind::Send,
                immediate.map_or(Tail::None, Tail::Immediate),
            ),
            SendOp::Write {
                immediate: Some(immediate),
                ..
            } => (RecvKind::WriteWithImmediate, Tail::Immediate(immediate)),
            _ => return self.wrong_effect(qp, number, index, "a receive completion"),
        };
        if !is_datagram && flow.progress != length {
            return self.wrong_effect(qp, number, index, "a receive completion too early");
        }
        let want = RecvCompletion {
            status: WcStatus::Success,
            kind,
            bytes: length + if is_datagram { NETWORK_HEADER_BYTES } else { 0 },
            tail,
            solicited: message.posted.wr.solicited,
            source_qp: flow.plan.number,
        };
        if *completion != want {
            return self.fail(qp, format!("{completion:?} should be {want:?}"));
        }
        if let Some(what) = check_buffer(flow, index, receive) {
            return self.wrong_effect(qp, number, index, &what);
        }
        if is_datagram {
            self.heard(qp, number, index);
        } else {
            let flow = &mut self.flows[number];
            done(flow, index);
        }
    }

    /// A datagram was received.
    fn heard(&mut self, qp: usize, flow: usize, index: usize) {
        let message = &mut self.flows[flow].messages[index];
        message.received += 1;
        let (received, copies) = (message.received, message.copies);
        if received > copies {
            self.fail(
                qp,
                format!("{copies} copies of a datagram, {received} times received"),
            );
        } else if message.posted.outlook != Outlook::Succeeds {
            self.fail(qp, "received a datagram that is not for it".into());
        }
    }

    /// A receive request ended with an error.
    fn received_badly(&mut self, qp: usize, status: WcStatus) {
        let Some(number) = self.ends[qp].inward else {
            return;
        };
        let allowed = self.may_refuse(number);
        match status {
            // Why must be told before the run is over.
            WcStatus::Flushed => self.ends[qp].flushed = true,
            _ if !allowed => self.fail(qp, format!("a receive request ended with {status:?}")),
            _ => self.ends[qp].may_fail = true,
        }
    }

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

/// A message's effects have all happened.
fn done(flow: &mut Flow, index: usize) {
    flow.messages[index].executed = true;
    flow.cursor = index + 1;
    flow.progress = 0;
}

/// Whether a receive buffer holds what was sent, and nothing behind it.
fn check_buffer(flow: &Flow, index: usize, receive: &Receive) -> Option<String> {
    let posted = &flow.messages[index].posted;
    let skip = match posted.wr.op {
        SendOp::Datagram { .. } => NETWORK_HEADER_BYTES,
        SendOp::Send(_) => 0,
        // An unreliable message that lost its rest may have left something behind.
        _ if !flow.is_reliable() => return None,
        _ => return (!receive.bytes.is_empty()).then(|| "a touched receive buffer".into()),
    };
    let (pattern, offset) = posted.source.expected();
    let data = receive.bytes.get(skip as usize..).unwrap_or_default();
    let long_enough = if flow.is_reliable() {
        data.len() == posted.wr.length as usize
    } else {
        data.len() >= posted.wr.length as usize
    };
    if !long_enough {
        return Some(format!("a receive buffer with {} bytes", data.len()));
    }
    pattern
        .mismatch(offset, &data[..posted.wr.length as usize])
        .map(|at| format!("a receive buffer with a wrong byte {at}"))
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
