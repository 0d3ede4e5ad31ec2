// SPDX-License-Identifier: GPL-2.0

//! The driver's side of a queue pair, as its endpoint sees it: memory, receive queues and send
//! slots of one host. Everything that an endpoint does here goes past the oracle.

use crate::{
    events::Nanos,
    memory::Memory,
    oracle::{
        Arrival,
        Oracle, //
    },
    rng::{
        Chance,
        Rng, //
    },
    trace::{
        Mark,
        Trace, //
    },
    work::{
        LocalWork,
        Posted,
        Receive,
        ReceiveQueue, //
    },
};
use oxe_proto::{
    transport::{
        error::{
            Fault,
            WcStatus, //
        },
        ports::{
            Atomic,
            Env,
            Observation,
            Right,
            Taken, //
        },
        wr::{
            RecvCompletion,
            SlotIndex, //
        },
    },
    types::{
        Qpn,
        Rkey,
        SrqNumber, //
    },
    wire::flush::Feth, //
};
use std::collections::BTreeMap;

/// Bytes of a datagram's network header in a receive buffer.
pub const NETWORK_HEADER_BYTES: u32 = 40;

/// A shared receive queue.
#[derive(Debug)]
pub struct SharedQueue {
    /// Its number in XRC packets.
    pub number: SrqNumber,
    /// Its requests.
    pub queue: ReceiveQueue,
}

/// What the queue pairs of a host share.
#[derive(Default)]
pub struct Host {
    /// Registered memory.
    pub memory: Memory,
    /// Shared receive queues.
    pub shared: Vec<SharedQueue>,
}

/// What the driver keeps with a send request.
pub struct Slot {
    /// The request.
    pub posted: Posted,
    /// What a READ or atomic has put into its scatter list.
    pub sink: Vec<u8>,
}

/// Local faults, thrown by chance.
pub struct Dice {
    /// Its chance.
    pub rng: Rng,
    /// Memory or a queue is busy.
    pub busy: Chance,
    /// The data of a packet cannot be had for the moment.
    pub payload_busy: Chance,
    /// The data of a packet cannot be had.
    pub payload_fault: Chance,
    /// A packet that came early cannot be kept.
    pub early_lost: Chance,
    /// A packet is dropped before it reaches the wire.
    pub send_drop: Chance,
}

/// What the driver keeps of a queue pair, beside its endpoint.
pub struct Side {
    /// Its number in the simulator's count.
    pub index: usize,
    /// Its host.
    pub host: usize,
    /// Its number in packets.
    pub number: Qpn,
    /// Send requests by slot.
    pub slots: Vec<Option<Slot>>,
    /// Buffers of READs that later requests send from, by the READ's number.
    pub kept: BTreeMap<u64, Vec<u8>>,
    /// Its own receive queue.
    pub queue: ReceiveQueue,
    /// The shared receive queue in its place.
    pub shared: Option<usize>,
    /// The receive request in use, and the shared queue that it came from.
    pub current: Option<(Receive, Option<usize>)>,
    /// Local faults.
    pub dice: Dice,
    /// Queues of which receive requests were used up and not yet posted again.
    pub used: Vec<Option<usize>>,
}

impl Side {
    /// The request in a slot.
    pub fn posted(&self, slot: SlotIndex) -> Option<&Posted> {
        let slot = self.slots.get(slot.0 as usize)?.as_ref()?;
        Some(&slot.posted)
    }
}

/// What an endpoint is lent for the time of a call.
pub struct Port<'a> {
    /// The time.
    pub now: Nanos,
    /// The queue pair's own.
    pub side: &'a mut Side,
    /// Its host's.
    pub host: &'a mut Host,
    /// Who watches.
    pub oracle: &'a mut Oracle,
    /// The record.
    pub trace: &'a mut Trace,
    /// The packet that is being handled.
    pub arrival: Option<Arrival>,
}

impl Port<'_> {
    /// Whether memory is busy this time; for the peer that is a lost packet.
    fn is_busy(&mut self) -> bool {
        let busy = self.side.dice.rng.happens(self.side.dice.busy);
        if busy {
            self.oracle.disturbed(self.side.index);
            self.trace
                .note(self.now, Mark::Fault, self.side.index, &[], || {
                    "busy".into()
                });
        }
        busy
    }

    fn memory_note(&mut self, what: &'static str, address: u64, length: usize) {
        let values = [address, length as u64];
        self.trace
            .note(self.now, Mark::Memory, self.side.index, &values, || {
                format!("{what} {address:#x}+{length:#x}")
            });
    }

    fn slot(&mut self, index: SlotIndex) -> Option<&mut Slot> {
        self.side.slots.get_mut(index.0 as usize)?.as_mut()
    }

    /// Puts bytes into a request's sink.
    fn fill(&mut self, index: SlotIndex, offset: u32, data: &[u8]) -> Result<(), Fault> {
        if self.is_busy() {
            return Err(Fault::Busy);
        }
        let qp = self.side.index;
        let Some(slot) = self.slot(index) else {
            self.oracle
                .fail(qp, format!("answer for the free slot {}", index.0));
            return Err(Fault::Operational);
        };
        let end = offset as usize + data.len();
        if end > slot.posted.wr.length as usize {
            let id = slot.posted.id;
            self.oracle.fail(
                qp,
                format!("answer beyond the buffer of request {id}: {end} bytes"),
            );
            return Err(Fault::Access);
        }
        if slot.sink.len() < end {
            slot.sink.resize(end, 0);
        }
        slot.sink[offset as usize..end].copy_from_slice(data);
        let id = slot.posted.id;
        self.oracle.answered(qp, id, offset, data);
        self.memory_note("answer", u64::from(offset), data.len());
        Ok(())
    }

    fn place(&mut self, offset: u32, data: &[u8]) -> Result<(), Fault> {
        let Some((receive, _)) = self.side.current.as_mut() else {
            self.oracle.fail(
                self.side.index,
                "data for a receive request that was not taken".into(),
            );
            return Err(Fault::Operational);
        };
        let end = offset as usize + data.len();
        if end > receive.capacity as usize {
            self.oracle.fail(
                self.side.index,
                format!("{end} bytes into a shorter receive buffer"),
            );
            return Err(Fault::Access);
        }
        if receive.bytes.len() < end {
            receive.bytes.resize(end, 0);
        }
        receive.bytes[offset as usize..end].copy_from_slice(data);
        Ok(())
    }
}

impl Env for Port<'_> {
    type Data<'d> = &'d [u8];

    fn check_remote(
        &mut self,
        rkey: Rkey,
        address: u64,
        length: u32,
        right: Right,
    ) -> Result<(), Fault> {
        self.host.memory.check(rkey, address, length, right)
    }

    fn write_remote(&mut self, rkey: Rkey, address: u64, data: &[u8]) -> Result<(), Fault> {
        if self.is_busy() {
            return Err(Fault::Busy);
        }
        self.host.memory.write(rkey, address, data)?;
        self.memory_note("write", address, data.len());
        self.oracle
            .wrote(self.side.index, self.arrival, rkey, address, data);
        Ok(())
    }

    fn atomic(&mut self, rkey: Rkey, address: u64, operation: Atomic) -> Result<u64, Fault> {
        if self.is_busy() {
            return Err(Fault::Busy);
        }
        let before = self.host.memory.atomic(rkey, address, operation)?;
        self.memory_note("atomic", address, 8);
        self.oracle
            .did_atomic(self.side.index, rkey, address, operation, before);
        Ok(before)
    }

    fn atomic_write(&mut self, rkey: Rkey, address: u64, data: &[u8]) -> Result<(), Fault> {
        if self.is_busy() {
            return Err(Fault::Busy);
        }
        self.host.memory.write(rkey, address, data)?;
        self.memory_note("atomic write", address, data.len());
        self.oracle
            .wrote_atomically(self.side.index, rkey, address, data);
        Ok(())
    }

    fn flush(&mut self, rkey: Rkey, address: u64, length: u32, feth: Feth) -> Result<(), Fault> {
        if self.is_busy() {
            return Err(Fault::Busy);
        }
        if feth.whole_region {
            let region = self.host.memory.region(rkey.0);
            if !region.is_some_and(|region| region.valid) {
                return Err(Fault::Access);
            }
        } else {
            self.host
                .memory
                .check(rkey, address, length, Right::Write)?;
        }
        self.memory_note("flush", address, length as usize);
        self.oracle
            .flushed(self.side.index, self.arrival, rkey, feth);
        Ok(())
    }

    fn invalidate(&mut self, rkey: Rkey) -> Result<(), Fault> {
        if !self.host.memory.set_valid(rkey.0, false) {
            return Err(Fault::Access);
        }
        self.memory_note("invalidate", u64::from(rkey.0), 0);
        self.oracle.invalidated(self.side.index, rkey);
        Ok(())
    }

    fn take_receive(&mut self, srq: Option<SrqNumber>) -> Taken {
        let qp = self.side.index;
        if self.side.current.is_some() {
            self.oracle.fail(qp, "took a second receive request".into());
        }
        let shared = match srq {
            None => self.side.shared,
            Some(number) => {
                let found = self
                    .host
                    .shared
                    .iter()
                    .position(|queue| queue.number == number);
                if found.is_none() {
                    return Taken::Faulty(WcStatus::LocalProtection);
                }
                found
            }
        };
        let queue = match shared {
            Some(index) => &mut self.host.shared[index].queue,
            None => &mut self.side.queue,
        };
        let taken = queue.take();
        let capacity = taken.as_ref().map(|receive| receive.capacity);
        self.oracle.took_receive(qp, self.arrival, srq, capacity);
        let Some(receive) = taken else {
            return Taken::Empty;
        };
        let capacity = receive.capacity;
        self.side.current = Some((receive, shared));
        Taken::Ready { capacity }
    }

    fn place_receive(&mut self, offset: u32, data: &[u8]) -> Result<(), Fault> {
        if self.is_busy() {
            return Err(Fault::Busy);
        }
        self.place(offset, data)?;
        self.memory_note("place", u64::from(offset), data.len());
        self.oracle
            .placed(self.side.index, self.arrival, offset, data);
        Ok(())
    }

    fn place_network_header(&mut self) -> Result<(), Fault> {
        self.place(0, &[0; NETWORK_HEADER_BYTES as usize])
    }

    fn complete_receive(&mut self, completion: RecvCompletion) {
        let qp = self.side.index;
        let Some((receive, shared)) = self.side.current.take() else {
            self.oracle
                .fail(qp, "completed a receive request that was not taken".into());
            return;
        };
        let values = [
            receive.id,
            completion.status as u64,
            u64::from(completion.bytes),
        ];
        self.trace
            .note(self.now, Mark::ReceiveCompleted, qp, &values, || {
                format!("{} {completion:?}", receive.id)
            });
        self.side.used.push(shared);
        self.oracle
            .received(qp, self.arrival, &completion, &receive);
    }

    fn place_response(&mut self, slot: SlotIndex, offset: u32, data: &[u8]) -> Result<(), Fault> {
        self.fill(slot, offset, data)
    }

    fn place_value(&mut self, slot: SlotIndex, value: u64) -> Result<(), Fault> {
        self.fill(slot, 0, &value.to_ne_bytes())
    }

    fn local(&mut self, slot: SlotIndex) -> Result<(), WcStatus> {
        let qp = self.side.index;
        let Some(posted) = self.side.posted(slot).copied() else {
            self.oracle
                .fail(qp, format!("local work of the free slot {}", slot.0));
            return Err(WcStatus::LocalQpOperation);
        };
        self.oracle.worked_locally(qp, posted.id);
        let done = match posted.local {
            Some(LocalWork::Register(key)) => self.host.memory.set_valid(key, true),
            Some(LocalWork::Invalidate(key)) => self.host.memory.set_valid(key, false),
            None => false,
        };
        if done {
            Ok(())
        } else {
            Err(WcStatus::LocalProtection)
        }
    }

    fn observe(&mut self, _qpn: Qpn, what: Observation) {
        self.oracle.observed(self.side.index, what);
        self.trace
            .note(self.now, Mark::Event, self.side.index, &[], || {
                format!("{what:?}")
            });
    }
}
