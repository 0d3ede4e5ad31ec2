// SPDX-License-Identifier: GPL-2.0

//! The requester's side: what is sent, what comes back, how requests end.

use super::{
    flow::Flow,
    image::ReadOutlook,
    Oracle,
    Phase, //
};
use crate::{
    pattern::Pattern,
    trace::describe,
    work::{
        Outlook,
        Posted, //
    },
};
use oxe_proto::{
    transport::{
        error::WcStatus,
        wr::SendOp, //
    },
    wire::packet::{
        Addressing,
        Op,
        Packet,
        Service, //
    },
};

impl Oracle {
    /// A request was posted; `fixed` is what a READ of unchanging memory must bring.
    pub fn posted(&mut self, qp: usize, posted: &Posted, fixed: Option<(Pattern, u64)>) {
        let Some(flow) = self.ends[qp].out else {
            return self.fail(qp, "posted before it was connected".into());
        };
        let flow = &mut self.flows[flow];
        flow.add(*posted);
        flow.foresee();
        if let (Some((pattern, offset)), Some(message)) = (fixed, flow.messages.last_mut()) {
            message.read = Some(ReadOutlook::Pattern { pattern, offset });
        }
        if let (Outlook::Fails(status), Some(message)) = (posted.outlook, flow.messages.last()) {
            flow.local_faults.push((message.posted.id, status));
        }
    }

    pub(super) fn sent_request(&mut self, qp: usize, packet: &Packet, data: &[u8]) {
        let Some(number) = self.ends[qp].out else {
            return self.fail(qp, "sent a request before it was connected".into());
        };
        let state = self.ends[qp].state;
        let flow = &mut self.flows[number];
        let found = flow.locate(packet.psn);
        let wrong = match found {
            None => Some("a sequence number that no request has".into()),
            Some((index, number)) => check_start(flow, state, index, number)
                .or_else(|| check_packet(flow, packet, index, number))
                .or_else(|| check_data(flow, index, number, data)),
        };
        let (Some((index, number)), None) = (found, &wrong) else {
            let what = wrong.unwrap_or_default();
            return self.fail(qp, format!("sent {}: {what}", describe(packet)));
        };
        note_request(flow, packet, index, number);
    }

    /// A READ's or atomic's answer was put into its buffer.
    pub fn answered(&mut self, qp: usize, id: u64, offset: u32, data: &[u8]) {
        let Some(number) = self.ends[qp].out else {
            return;
        };
        let flow = &mut self.flows[number];
        let mtu = flow.plan.attributes.path_mtu;
        let completed = flow.completed;
        let position = flow
            .messages
            .iter()
            .rposition(|message| message.posted.id == id);
        let Some(index) = position.filter(|&index| index >= completed) else {
            return self.fail(qp, format!("an answer for request {id}, which has ended"));
        };
        let message = &mut flow.messages[index];
        if !message.started || !message.posted.wants_response() {
            return self.fail(
                qp,
                format!("an answer for request {id}, which asked for none"),
            );
        }
        message.sink.resize(message.posted.wr.length as usize, 0);
        message.sink[offset as usize..offset as usize + data.len()].copy_from_slice(data);
        if message.got.len() < message.packets as usize {
            message.got.resize(message.packets as usize, false);
        }
        if let Some(got) = message.got.get_mut((offset >> mtu.shift()) as usize) {
            *got = true;
        }
        flow.note_progress();
    }

    /// Local work was done.
    pub fn worked_locally(&mut self, qp: usize, id: u64) {
        let Some(number) = self.ends[qp].out else {
            return;
        };
        let flow = &mut self.flows[number];
        let Some(index) = flow
            .messages
            .iter()
            .rposition(|message| message.posted.id == id)
        else {
            return;
        };
        let again = std::mem::replace(&mut flow.messages[index].worked, true);
        let overtook = flow.messages[..index]
            .iter()
            .any(|message| message.packets > 0 && !message.started);
        if again || overtook || self.ends[qp].state != Phase::Send {
            self.fail(
                qp,
                format!("local request {id} was done twice or out of order"),
            );
        }
    }

    /// The data of a packet could not be had; the request is to end so, unless the fault passes.
    pub fn payload_failed(&mut self, qp: usize, id: u64, status: Option<WcStatus>) {
        let Some(number) = self.ends[qp].out else {
            return;
        };
        let flow = &mut self.flows[number];
        flow.disturbances += 1;
        flow.ever_disturbed = true;
        if let Some(message) = flow
            .messages
            .iter_mut()
            .rfind(|message| message.posted.id == id)
        {
            message.tried = true;
        }
        if let Some(status) = status {
            self.flows[number].local_faults.push((id, status));
        }
    }

    /// A request ended.
    pub fn completed(&mut self, qp: usize, posted: &Posted, status: WcStatus, reported: bool) {
        let Some(number) = self.ends[qp].out else {
            return self.fail(qp, "a request ended that was never sent anywhere".into());
        };
        let id = posted.id;
        if reported != (posted.wr.signalled || status != WcStatus::Success) {
            self.fail(
                qp,
                format!("request {id}: {status:?}, reported: {reported}"),
            );
        }
        let flow = &self.flows[number];
        let index = flow.completed;
        match flow.messages.get(index) {
            Some(message) if message.posted.id == id => (),
            next => {
                let next = next.map(|message| message.posted.id);
                return self.fail(qp, format!("request {id} ended, but {next:?} was next"));
            }
        }
        let wrong = if status == WcStatus::Success {
            check_success(flow, index)
        } else {
            self.check_failure(qp, number, index, status)
        };
        if let Some(what) = wrong {
            return self.fail(qp, format!("request {id} ended with {status:?}: {what}"));
        }
        let flow = &mut self.flows[number];
        flow.completed += 1;
        if status == WcStatus::Success {
            flow.stats.messages += 1;
            flow.stats.bytes += u64::from(posted.wr.length);
        } else if flow.failed.is_none() {
            flow.failed = Some((index, status));
            // An unreliable queue pair goes on to receive.
            self.ends[qp].may_fail |= flow.is_reliable();
        }
        // What it brought is not looked at again.
        let message = &mut self.flows[number].messages[index];
        message.sink = Vec::new();
        message.read = None;
        message.got = Vec::new();
    }
}

/// Whether a message may be begun, or gone on with.
fn check_start(flow: &Flow, state: Phase, index: usize, number: u32) -> Option<String> {
    let message = &flow.messages[index];
    let count = message.first + u64::from(number);
    if index < flow.completed {
        return Some("of a request that has ended".into());
    }
    if flow.failed.is_some() || !matches!(state, Phase::Send | Phase::Drain) {
        return Some(format!("after a failure or in the state {state:?}"));
    }
    if count > flow.high {
        return Some(format!("{} numbers were left out", count - flow.high));
    }
    if message.started {
        return None;
    }
    if state == Phase::Drain && !message.tried {
        return Some("begins a request while draining".into());
    }
    let earlier = &flow.messages[flow.completed..index];
    let unanswered = earlier
        .iter()
        .filter(|message| message.posted.wants_response() && !message.is_answered())
        .count();
    if message.posted.wr.fence && unanswered > 0 {
        return Some(format!(
            "fenced, but {unanswered} READs or atomics are not complete"
        ));
    }
    let limit = usize::from(flow.plan.attributes.max_rd_atomic);
    if message.posted.wants_response() && unanswered >= limit {
        return Some(format!(
            "{unanswered} READs or atomics under way, {limit} are allowed"
        ));
    }
    let unworked = earlier
        .iter()
        .any(|message| matches!(message.posted.wr.op, SendOp::Local) && !message.worked);
    unworked.then(|| "before the local work that was posted first".into())
}

/// Whether a packet says what its message wants.
fn check_packet(flow: &Flow, packet: &Packet, index: usize, number: u32) -> Option<String> {
    let message = &flow.messages[index];
    let attributes = &flow.plan.attributes;
    let mtu = attributes.path_mtu;
    let want = message.op(number, mtu);
    let again = message.first + u64::from(number) < flow.high;
    let is_part = again && is_part_of_read(packet, want.as_ref(), mtu.bytes());
    if want != Some(packet.op) && !is_part {
        return Some(format!(
            "packet {number} of {:?} must be {want:?}",
            message.posted
        ));
    }
    let bytes = message.data_bytes(number, mtu);
    if packet.data_bytes != bytes {
        return Some(format!("{bytes} bytes of data were due"));
    }
    let solicited = message.posted.wr.solicited
        && message.posted.takes_receive()
        && number + 1 == message.packets;
    let (dest, addressing) = match message.posted.wr.op {
        SendOp::Datagram { dest_qp, qkey, .. } => {
            let deth = oxe_proto::wire::deth::Deth {
                qkey: qkey.to_send(attributes.qkey),
                source_qp: flow.plan.number,
            };
            (dest_qp, Addressing::Datagram(deth))
        }
        _ if flow.plan.service == Service::Xrc => (
            attributes.dest_qp,
            Addressing::SharedQueue(message.posted.wr.srq),
        ),
        _ => (attributes.dest_qp, Addressing::Connected),
    };
    let fields = packet.service == flow.plan.service
        && packet.addressing == addressing
        && packet.dest_qp == dest
        && packet.pkey == attributes.pkey
        && packet.solicited == solicited
        && !packet.becn;
    (!fields).then(|| {
        let service = flow.plan.service;
        format!("should be {service:?} to {dest:?} {addressing:?}, solicited: {solicited}")
    })
}

/// Whether a packet asks again for a part of a READ: whole packets, or up to its end.
fn is_part_of_read(packet: &Packet, want: Option<&Op>, mtu: u32) -> bool {
    match (packet.op, want) {
        (Op::ReadRequest(part), Some(Op::ReadRequest(rest))) => {
            part.address == rest.address
                && part.rkey == rest.rkey
                && part.length < rest.length
                && part.length > 0
                && part.length % mtu == 0
        }
        _ => false,
    }
}

fn check_data(flow: &Flow, index: usize, number: u32, data: &[u8]) -> Option<String> {
    let (pattern, offset) = flow.messages[index].posted.source.expected();
    let mtu = flow.plan.attributes.path_mtu.bytes();
    pattern
        .mismatch(offset + u64::from(number) * u64::from(mtu), data)
        .map(|at| format!("byte {at} of its data is wrong"))
}

/// Counts a request packet that is as it must be.
fn note_request(flow: &mut Flow, packet: &Packet, index: usize, number: u32) {
    let mtu = flow.plan.attributes.path_mtu;
    let message = &mut flow.messages[index];
    message.started = true;
    let span = match packet.op {
        Op::ReadRequest(reth) => {
            let span = mtu.packets(reth.length);
            message.asked.push((number, number + span));
            span
        }
        _ => 1,
    };
    let count = message.first + u64::from(number);
    flow.stats.requests += 1;
    flow.stats.repeated += u64::from(count < flow.high);
    flow.high = flow.high.max(count + u64::from(span));
}

/// Whether a request may end well.
fn check_success(flow: &Flow, index: usize) -> Option<String> {
    let message = &flow.messages[index];
    let op = &message.posted.wr.op;
    match message.posted.outlook {
        Outlook::Succeeds | Outlook::Unheard => (),
        outlook => return Some(format!("it should have ended with {outlook:?}")),
    }
    if matches!(op, SendOp::Local) {
        return (!message.worked).then(|| "its work was not done".into());
    }
    if !message.started || message.last() >= flow.high {
        return Some("not all of it was sent".into());
    }
    if !flow.is_reliable() {
        return None;
    }
    if !message.executed {
        return Some("the responder has not done it".into());
    }
    if message.posted.wants_response() && !message.is_answered() {
        return Some("its answer has not come".into());
    }
    match op {
        SendOp::Read { .. } => {
            let wrong = message.read.as_ref()?.mismatch(&message.sink)?;
            Some(format!("byte {wrong} of what it read is wrong"))
        }
        SendOp::CompareSwap(_) | SendOp::FetchAdd(_) => {
            let want = message.found.map(u64::to_ne_bytes);
            let got = message.sink.as_slice();
            (want.as_ref().map(|bytes| bytes.as_slice()) != Some(got))
                .then(|| format!("found {:?}, told {got:?}", message.found))
        }
        _ => None,
    }
}
