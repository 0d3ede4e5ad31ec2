// SPDX-License-Identifier: GPL-2.0

//! Effects at a responder: memory and receive requests, exactly once and in order.

use super::{
    flow::Flow,
    Arrival,
    Oracle, //
};
use crate::{
    memory::after,
    work::Outlook, //
};
use oxe_proto::{
    transport::{
        ports::Atomic,
        wr::SendOp, //
    },
    types::Rkey,
    wire::{
        flush::Feth,
        packet::{
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
    pub(super) fn at(&mut self, qp: usize, arrival: Option<Arrival>) -> Option<(usize, usize)> {
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

    pub(super) fn wrong_effect(&mut self, qp: usize, flow: usize, index: usize, what: &str) {
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
}

/// A message's effects have all happened.
pub(super) fn done(flow: &mut Flow, index: usize) {
    flow.messages[index].executed = true;
    flow.cursor = index + 1;
    flow.progress = 0;
}
