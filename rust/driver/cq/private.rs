// SPDX-License-Identifier: GPL-2.0

//! The completions of a queue of the kernel, which polls by calls.

use kernel::prelude::*;
use kernel_ext::rdma::{
    Completions,
    DatagramSource,
    Extra,
    QpReference,
    WorkCompletion, //
};
use oxe_proto::wire::packet::Tail;
use oxe_uabi::cqe::{
    status_number,
    Cqe, //
};

/// What the kernel is told beside what a process is.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// The queue pair of the request.
    pub(crate) qp: QpReference,
    /// Of a datagram that came: its source.
    pub(crate) source: Option<DatagramSource>,
}

/// A ring of completions, in memory of the driver's own.
pub(super) struct Private {
    entries: KVVec<Option<WorkCompletion>>,
    /// Where the oldest is.
    first: usize,
    count: usize,
}

impl Private {
    /// An empty one with room for `capacity`, not 0. Context: process.
    pub(super) fn new(capacity: u32) -> Result<Self> {
        Ok(Self {
            entries: KVVec::from_elem(None, capacity as usize, GFP_KERNEL_ACCOUNT)?,
            first: 0,
            count: 0,
        })
    }

    /// Where the entry is that follows the oldest by `distance`, less than there are.
    fn place(&self, distance: usize) -> usize {
        let at = self.first.saturating_add(distance);
        at.checked_sub(self.entries.len()).unwrap_or(at)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a completion; false if there is no room.
    pub(super) fn push(&mut self, cqe: &Cqe, origin: Origin) -> bool {
        if self.count >= self.entries.len() {
            return false;
        }
        let at = self.place(self.count);
        let Some(entry) = self.entries.get_mut(at) else {
            return false;
        };
        *entry = Some(WorkCompletion {
            wr_id: cqe.wr_id,
            status: status_number(cqe.status),
            opcode: cqe.opcode.number(),
            byte_len: cqe.byte_len,
            extra: match cqe.tail {
                Tail::None => Extra::None,
                Tail::Immediate(immediate) => Extra::Immediate(immediate.0),
                Tail::Invalidate(rkey) => Extra::Invalidated(rkey.0),
            },
            qp: origin.qp,
            source_qp: cqe.source_qp.get(),
            source: origin.source,
        });
        self.count = self.count.saturating_add(1);
        true
    }

    /// Takes out as many as there is room for.
    pub(super) fn poll(&mut self, to: &mut Completions<'_>) {
        while self.count != 0 && !to.is_full() {
            let at = self.first;
            if let Some(entry) = self.entries.get_mut(at).and_then(Option::take) {
                to.push(&entry);
            }
            self.first = self.place(1);
            self.count = self.count.saturating_sub(1);
        }
    }

    /// Drops the completions of a queue pair that goes.
    pub(super) fn forget(&mut self, qp: QpReference) {
        let mut kept = 0;
        for distance in 0..self.count {
            let at = self.place(distance);
            let entry = self.entries.get_mut(at).and_then(Option::take);
            let Some(entry) = entry.filter(|entry| entry.qp != qp) else {
                continue;
            };
            let to = self.place(kept);
            if let Some(place) = self.entries.get_mut(to) {
                *place = Some(entry);
            }
            kept = kept.saturating_add(1);
        }
        self.count = kept;
    }
}
