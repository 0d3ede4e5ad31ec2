// SPDX-License-Identifier: GPL-2.0

//! Receive requests at a responder: taken, filled, completed.

use super::{
    effects::done,
    flow::Flow,
    Arrival,
    Oracle, //
};
use crate::{
    port::NETWORK_HEADER_BYTES,
    work::{
        Outlook,
        Receive, //
    },
};
use oxe_proto::{
    transport::{
        error::WcStatus,
        wr::{
            RecvCompletion,
            RecvKind,
            SendOp, //
        },
    },
    types::SrqNumber,
    wire::packet::{
        Service,
        Tail, //
    },
};

impl Oracle {
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
