// SPDX-License-Identifier: GPL-2.0

//! Packets that the engine wants sent: those that go out together, and where their data is.
//!
//! The engine gives packets one by one, or alike ones in bursts. They are noted in a [`Run`] as
//! long as they fit together, and then made and sent at once. So data is copied a little after the
//! engine was asked for the packet, but under the same hold of the lock, and before any request is
//! reported to have ended: nothing that it depends on has changed. If it goes wrong at a packet,
//! the engine is told of that one, and takes back those behind it as well.
//!
//! Context: process or softirq, with the queue pair's lock held.

use super::{
    data,
    env::Port,
    Gather,
    Inner,
    Side, //
};
use crate::{
    ah::Path,
    mr::Remote,
    tx, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::fill::Filler;
use oxe_proto::{
    memory::RemoteUse,
    transport::{
        error::Fault,
        wr::{
            Burst,
            Payload,
            SlotIndex,
            Transmit, //
        }, //
    },
    types::Instant, //
};

/// Packets that are sent in one go; then others have their turn.
const BUDGET: u32 = 64;

/// How long this host may have no room for a packet before that counts as lost, in ns. Some refuse
/// for ever with the same word: filters, or a device whose other end takes no such packets.
const NO_ROOM: u64 = 20_000_000;

/// Bursts that go out together at most.
const PARTS: usize = 32;

/// Some packets of a burst.
struct Part {
    burst: Burst,
    first: u32,
    count: u32,
}

/// Packets that go out together: of one half of the engine, by one path, of one size but for a
/// shorter last one.
pub(super) struct Run {
    parts: KVVec<Part>,
    path: Option<Arc<Path>>,
    are_requests: bool,
    /// Bytes of UDP payload of each packet but the last.
    bytes: usize,
    count: usize,
    /// The last one is shorter.
    ended: bool,
}

impl Run {
    /// An empty one.
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            parts: KVVec::with_capacity(PARTS, GFP_KERNEL_ACCOUNT)?,
            path: None,
            are_requests: false,
            bytes: 0,
            count: 0,
            ended: false,
        })
    }

    /// Forgets them.
    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.path = None;
        self.count = 0;
        self.ended = false;
    }

    /// Takes packets of a burst, from `first` on: how many; none if they do not fit.
    fn take(&mut self, burst: &Burst, first: u32, path: &Arc<Path>) -> u32 {
        let packet = &burst.first().packet;
        let bytes = packet.wire_bytes();
        match &self.path {
            None => {
                self.path = Some(path.clone());
                self.are_requests = packet.op.is_request();
                self.bytes = bytes;
            }
            Some(known) => {
                let fits = !self.ended
                    && bytes <= self.bytes
                    && self.are_requests == packet.op.is_request()
                    && Arc::ptr_eq(known, path);
                if !fits {
                    return 0;
                }
            }
        }
        let room = tx::together(self.bytes).saturating_sub(self.count);
        let mut count = burst.count().saturating_sub(first).min(room as u32);
        if bytes < self.bytes {
            count = count.min(1);
        }
        let part = Part {
            burst: *burst,
            first,
            count,
        };
        if count == 0 || self.parts.push_within_capacity(part).is_err() {
            return 0;
        }
        self.ended = bytes < self.bytes;
        self.count = self.count.saturating_add(count as usize);
        count
    }

    /// The packets behind the first `skip`.
    fn packets(&self, skip: usize) -> Packets<'_> {
        let mut packets = Packets {
            parts: &self.parts,
            done: 0,
        };
        for _ in 0..skip {
            packets.next();
        }
        packets
    }
}

/// See [`Run::packets`].
#[derive(Clone)]
struct Packets<'r> {
    parts: &'r [Part],
    /// Packets of the first part that were given.
    done: u32,
}

impl Iterator for Packets<'_> {
    type Item = Transmit;

    fn next(&mut self) -> Option<Transmit> {
        let (part, rest) = self.parts.split_first()?;
        let number = part.first.wrapping_add(self.done);
        self.done = self.done.wrapping_add(1);
        if self.done == part.count {
            self.parts = rest;
            self.done = 0;
        }
        Some(part.burst.packet(number))
    }
}

impl Side {
    /// A slot's inline data.
    fn inline(&self, slot: SlotIndex, length: u32) -> &[u8] {
        let start = (slot.0 as usize).saturating_mul(self.inline_stride);
        self.inline
            .get(start..start.saturating_add(length as usize))
            .unwrap_or_default()
    }

    /// Copies a packet's payload to where it goes out from.
    fn fill(&self, transmit: &Transmit, to: &mut Filler<'_>) -> Result<(), Fault> {
        let length = transmit.packet.data_bytes;
        match transmit.payload {
            Payload::None => Ok(()),
            Payload::Remote { rkey, address } => Remote {
                link: &self.link,
                pd: self.pd,
                qp: self.id,
            }
            .with(
                rkey,
                address,
                length.into(),
                RemoteUse::Read,
                |memory, place| memory.read(place.offset, length as usize, to),
            ),
            Payload::Local { slot, offset } => {
                let note = self.notes.get(slot.0 as usize).ok_or(Fault::Operational)?;
                match note.gather {
                    Gather::List(_) => {
                        data::gather(&self.link, self.pd, self.list(slot), offset, length, to)
                    }
                    Gather::Inline(all) => {
                        let start = offset as usize;
                        let from = self
                            .inline(slot, all)
                            .get(start..start.saturating_add(length as usize))
                            .ok_or(Fault::Operational)?;
                        to.put(from).map_err(|_| Fault::Operational)
                    }
                }
            }
        }
    }

    /// Where a packet goes.
    fn path_of(&self, transmit: &Transmit) -> Option<Arc<Path>> {
        match transmit.payload {
            Payload::Local { slot, .. } if self.datagram => self
                .notes
                .get(slot.0 as usize)
                .and_then(|note| note.path.clone()),
            _ => self.path.clone(),
        }
    }

    /// Sends the run, and forgets it.
    ///
    /// # Errors
    ///
    /// A packet that was not sent, nor any behind it, and why.
    fn send_run(&mut self, now: Instant) -> Result<(), (Transmit, Fault)> {
        let lost = self
            .full_since
            .is_some_and(|since| now.since(since).as_nanos() >= NO_ROOM);
        let run = &self.run;
        let (mut done, mut id, mut full) = (0, self.ip_id, self.full_since);
        let mut result = Ok(());
        while let (Some(path), true) = (&run.path, done < run.count) {
            let left = run.count.saturating_sub(done);
            let packets = run.packets(done);
            match tx::send(&self.link, path, id, run.bytes, left, packets, |t, to| {
                self.fill(t, to)
            }) {
                Ok(sent) => {
                    done = done.saturating_add(sent);
                    id = id.wrapping_add(sent as u16);
                    full = None;
                }
                // The transport recovers from it, or says that it cannot.
                Err(Fault::Busy) if lost => break,
                Err(fault) => {
                    if fault == Fault::Busy {
                        full = full.or(Some(now));
                    }
                    let unsent = run.packets(done).next();
                    result = unsent.map_or(Ok(()), |transmit| Err((transmit, fault)));
                    break;
                }
            }
        }
        self.ip_id = id;
        self.full_since = full;
        self.run.clear();
        result
    }
}

impl Inner {
    /// The engine hears that a packet was not sent, nor any behind it.
    fn not_sent(&mut self, now: Instant, transmit: &Transmit, fault: Fault) {
        let mut port = Port {
            side: &mut self.side,
            packet: None,
        };
        self.engine.payload_fault(now, transmit, fault, &mut port);
    }

    /// Sends the run. False if the engine has taken some of it back.
    fn send_run(&mut self, now: Instant) -> bool {
        match self.side.send_run(now) {
            Ok(()) => true,
            Err((transmit, fault)) => {
                self.not_sent(now, &transmit, fault);
                false
            }
        }
    }

    /// Sends the packets of a burst, together with what the run has. Some may be left in the run.
    fn add_burst(&mut self, now: Instant, burst: &Burst) {
        let is_request = burst.first().packet.op.is_request();
        let path = self.side.path_of(burst.first());
        let mut done = 0;
        while done < burst.count() {
            if let Some(path) = &path {
                let taken = self.side.run.take(burst, done, path);
                done = done.saturating_add(taken);
                if taken != 0 {
                    continue;
                }
            }
            // First what was given before it.
            let is_behind = self.side.run.are_requests == is_request;
            if !self.send_run(now) && is_behind {
                return;
            }
            if path.is_none() {
                self.not_sent(now, burst.first(), Fault::Operational);
                return;
            }
        }
    }

    /// Sends what the engine wants sent, up to the budget. True if something may be left.
    pub(super) fn transmit(&mut self, now: Instant) -> bool {
        let mut left = BUDGET;
        while left != 0 {
            let mut port = Port {
                side: &mut self.side,
                packet: None,
            };
            if let Some(burst) = self.engine.poll_burst(now, left, &mut port) {
                left = left.saturating_sub(burst.count());
                self.add_burst(now, &burst);
            } else if self.send_run(now) {
                return false;
            }
        }
        self.send_run(now);
        true
    }
}
