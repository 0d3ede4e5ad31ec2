// SPDX-License-Identifier: GPL-2.0

//! A side's memory and queues, which can be told to fail.

use super::{BASE, RKEY};
use oxe_proto::{
    transport::{
        error::{Fault, WcStatus},
        ports::{Atomic, Env, Observation, Right, Taken},
        wr::{RecvCompletion, SlotIndex},
    },
    types::{Qpn, Rkey, SrqNumber},
    wire::flush::Feth,
};
use std::collections::VecDeque;

/// What the next calls answer instead of working, one entry a call.
pub(crate) type Faults = VecDeque<Option<Fault>>;

/// A side's memory, queues and what was seen there.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) memory: Vec<u8>,
    /// Data of send requests, by slot.
    pub(crate) outgoing: Vec<Vec<u8>>,
    /// Where responses go, by slot.
    pub(crate) incoming: Vec<Vec<u8>>,
    /// Posted receive buffers.
    pub(crate) receives: VecDeque<Vec<u8>>,
    /// Receive requests that are bad; they come before those in `receives`.
    pub(crate) bad_receives: VecDeque<WcStatus>,
    pub(crate) current: Option<Vec<u8>>,
    pub(crate) received: Vec<(RecvCompletion, Vec<u8>)>,
    /// Shared receive queues that were asked for.
    pub(crate) asked: Vec<Option<SrqNumber>>,
    pub(crate) seen: Vec<Observation>,
    pub(crate) atomics: u32,
    pub(crate) writes: u32,
    pub(crate) flushes: u32,
    pub(crate) local: Vec<SlotIndex>,
    pub(crate) invalidated: Vec<Rkey>,
    /// Of accesses to remote memory.
    pub(crate) faults: Faults,
    /// Of checks of remote memory.
    pub(crate) check_faults: Faults,
    /// Of the receive buffers.
    pub(crate) receive_faults: Faults,
    /// Of the scatter lists of READs and atomics.
    pub(crate) response_faults: Faults,
    /// Of the payload of what is to be sent.
    pub(crate) payload_faults: Faults,
    /// Of [`Env::local`].
    pub(crate) local_faults: VecDeque<WcStatus>,
    /// Has memory of any size and keeps no data.
    pub(crate) forgetful: bool,
}

fn next(faults: &mut Faults) -> Result<(), Fault> {
    faults.pop_front().flatten().map_or(Ok(()), Err)
}

impl Host {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            memory: vec![0; 1 << 20],
            outgoing: vec![Vec::new(); slots],
            incoming: vec![Vec::new(); slots],
            ..Self::default()
        }
    }

    /// Where in `memory` something is.
    pub(crate) fn range(&self, rkey: Rkey, address: u64, length: usize) -> Result<usize, Fault> {
        let start = address.checked_sub(BASE).ok_or(Fault::Access)?;
        let end = start.checked_add(length as u64).ok_or(Fault::Access)?;
        if rkey != RKEY || (end > self.memory.len() as u64 && !self.forgetful) {
            return Err(Fault::Access);
        }
        Ok(start as usize)
    }

    /// How often something was seen.
    pub(crate) fn count(&self, wanted: impl Fn(&Observation) -> bool) -> usize {
        self.seen.iter().filter(|seen| wanted(seen)).count()
    }

    /// Statuses of the receive completions.
    pub(crate) fn receive_statuses(&self) -> Vec<WcStatus> {
        self.received.iter().map(|(done, _)| done.status).collect()
    }
}

impl Env for Host {
    type Data<'d> = &'d [u8];

    fn check_remote(&mut self, rkey: Rkey, address: u64, len: u32, _: Right) -> Result<(), Fault> {
        next(&mut self.check_faults)?;
        self.range(rkey, address, len as usize).map(|_| ())
    }

    fn write_remote(&mut self, rkey: Rkey, address: u64, data: &[u8]) -> Result<(), Fault> {
        next(&mut self.faults)?;
        let start = self.range(rkey, address, data.len())?;
        if !self.forgetful {
            self.memory[start..start + data.len()].copy_from_slice(data);
        }
        self.writes += 1;
        Ok(())
    }

    fn atomic(&mut self, rkey: Rkey, address: u64, operation: Atomic) -> Result<u64, Fault> {
        next(&mut self.faults)?;
        let start = self.range(rkey, address, 8)?;
        let place: &mut [u8; 8] = (&mut self.memory[start..start + 8]).try_into().unwrap();
        let old = u64::from_ne_bytes(*place);
        let new = match operation {
            Atomic::CompareSwap { compare, swap } if compare == old => swap,
            Atomic::CompareSwap { .. } => old,
            Atomic::FetchAdd { add } => old.wrapping_add(add),
        };
        *place = new.to_ne_bytes();
        self.atomics += 1;
        Ok(old)
    }

    fn atomic_write(&mut self, rkey: Rkey, address: u64, data: &[u8]) -> Result<(), Fault> {
        assert_eq!(data.len(), 8);
        self.write_remote(rkey, address, data)
    }

    fn flush(&mut self, rkey: Rkey, address: u64, length: u32, _: Feth) -> Result<(), Fault> {
        next(&mut self.faults)?;
        self.range(rkey, address, length as usize)?;
        self.flushes += 1;
        Ok(())
    }

    fn invalidate(&mut self, rkey: Rkey) -> Result<(), Fault> {
        self.invalidated.push(rkey);
        if rkey == RKEY {
            Ok(())
        } else {
            Err(Fault::Access)
        }
    }

    fn take_receive(&mut self, srq: Option<SrqNumber>) -> Taken {
        assert!(self.current.is_none(), "the last one has not ended");
        self.asked.push(srq);
        if let Some(status) = self.bad_receives.pop_front() {
            self.current = Some(Vec::new());
            return Taken::Faulty(status);
        }
        self.current = self.receives.pop_front();
        match &self.current {
            Some(_) if self.forgetful => Taken::Ready { capacity: u32::MAX },
            Some(buffer) => Taken::Ready {
                capacity: buffer.len() as u32,
            },
            None => Taken::Empty,
        }
    }

    fn place_receive(&mut self, offset: u32, data: &[u8]) -> Result<(), Fault> {
        next(&mut self.receive_faults)?;
        let buffer = self.current.as_mut().expect("no receive request");
        if !self.forgetful {
            buffer[offset as usize..][..data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    fn place_network_header(&mut self) -> Result<(), Fault> {
        next(&mut self.receive_faults)?;
        self.current.as_mut().expect("no receive request")[..40].fill(0xee);
        Ok(())
    }

    fn complete_receive(&mut self, completion: RecvCompletion) {
        let buffer = self.current.take().expect("no receive request");
        self.received.push((completion, buffer));
    }

    fn place_response(&mut self, slot: SlotIndex, offset: u32, data: &[u8]) -> Result<(), Fault> {
        next(&mut self.response_faults)?;
        if !self.forgetful {
            let buffer = &mut self.incoming[slot.0 as usize];
            buffer[offset as usize..][..data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    fn place_value(&mut self, slot: SlotIndex, value: u64) -> Result<(), Fault> {
        next(&mut self.response_faults)?;
        self.incoming[slot.0 as usize] = value.to_ne_bytes().to_vec();
        Ok(())
    }

    fn local(&mut self, slot: SlotIndex) -> Result<(), WcStatus> {
        self.local.push(slot);
        self.local_faults.pop_front().map_or(Ok(()), Err)
    }

    fn observe(&mut self, _: Qpn, what: Observation) {
        self.seen.push(what);
    }
}
