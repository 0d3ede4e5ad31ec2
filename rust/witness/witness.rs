// SPDX-License-Identifier: GPL-2.0

//! The protocol as machine code.
//!
//! Most of the protocol is generic over its driver, and so is in no object of its own. Here it is
//! compiled for the simplest driver there can be: one that counts what it is asked for. Each
//! function is one entry of the engine, under a name that tools can find. The same of the user ABI
//! is in [`uabi`].

#![no_std]
#![forbid(unsafe_code)]

pub mod uabi;

use oxe_proto::{
    transport::{
        attributes::Change,
        error::{Fault, WcStatus},
        ports::{Atomic, Env, Right, Taken},
        state::ModifyError,
        wr::{Burst, Completion, EarlyIndex, RecvCompletion, SendWr, SlotIndex, Transmit},
        Engine, Event, PostError, Resource, SendSlot, Storage, Verdict,
    },
    types::{Instant, Rkey, SrqNumber},
    wire::{flush::Feth, packet::Packet},
};

/// Memory that somebody else allocated.
pub struct Borrowed<'m>(core::marker::PhantomData<&'m ()>);

impl<'m> Storage for Borrowed<'m> {
    type Send = &'m mut [SendSlot];
    type Resources = &'m mut [Resource];
}

/// An engine with borrowed memory.
pub type Witness<'m> = Engine<Borrowed<'m>>;

/// A driver whose memory is boundless and holds nothing.
#[derive(Debug, Default)]
pub struct Nothing {
    /// What it was asked to do.
    pub calls: u64,
    /// What it answers instead, if anything.
    pub fault: Option<Fault>,
    /// Bytes that its receive requests hold; 0 for none at all.
    pub capacity: u32,
}

impl Nothing {
    #[inline]
    fn done(&mut self) -> Result<(), Fault> {
        self.calls = self.calls.wrapping_add(1);
        self.fault.map_or(Ok(()), Err)
    }
}

impl Env for Nothing {
    type Data<'d> = &'d [u8];

    #[inline]
    fn check_remote(&mut self, _: Rkey, _: u64, _: u32, _: Right) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn write_remote(&mut self, _: Rkey, _: u64, _: &[u8]) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn atomic(&mut self, _: Rkey, _: u64, _: Atomic) -> Result<u64, Fault> {
        self.done().map(|()| 0)
    }

    #[inline]
    fn atomic_write(&mut self, _: Rkey, _: u64, _: &[u8]) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn flush(&mut self, _: Rkey, _: u64, _: u32, _: Feth) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn invalidate(&mut self, _: Rkey) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn take_receive(&mut self, _: Option<SrqNumber>) -> Taken {
        match (self.done(), self.capacity) {
            (Err(_), _) => Taken::Faulty(WcStatus::LocalQpOperation),
            (Ok(()), 0) => Taken::Empty,
            (Ok(()), capacity) => Taken::Ready { capacity },
        }
    }

    #[inline]
    fn place_receive(&mut self, _: u32, _: &[u8]) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn place_network_header(&mut self) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn complete_receive(&mut self, _: RecvCompletion) {
        self.calls = self.calls.wrapping_add(1);
    }

    #[inline]
    fn place_response(&mut self, _: SlotIndex, _: u32, _: &[u8]) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn place_value(&mut self, _: SlotIndex, _: u64) -> Result<(), Fault> {
        self.done()
    }

    #[inline]
    fn local(&mut self, _: SlotIndex) -> Result<(), WcStatus> {
        self.done().map_err(|_| WcStatus::LocalQpOperation)
    }
}

/// [`Packet::parse`].
#[inline(never)]
pub fn parse(head: &[u8], bytes: usize) -> Option<Packet> {
    Packet::parse(head, bytes).ok()
}

/// [`Packet::emit`].
#[inline(never)]
pub fn emit(packet: &Packet, out: &mut [u8]) -> Option<usize> {
    packet.emit(out)
}

/// [`Engine::post_send`].
#[inline(never)]
pub fn post_send(engine: &mut Witness<'_>, wr: SendWr) -> Result<SlotIndex, PostError> {
    engine.post_send(wr)
}

/// [`Engine::handle_packet`].
#[inline(never)]
pub fn handle_packet(
    engine: &mut Witness<'_>,
    now: Instant,
    packet: &Packet,
    data: &[u8],
    env: &mut Nothing,
) -> Verdict {
    engine.handle_packet(now, packet, data, env)
}

/// [`Engine::handle_timeout`].
#[inline(never)]
pub fn handle_timeout(engine: &mut Witness<'_>, now: Instant, env: &mut Nothing) {
    engine.handle_timeout(now, env);
}

/// [`Engine::payload_fault`].
#[inline(never)]
pub fn payload_fault(
    engine: &mut Witness<'_>,
    now: Instant,
    transmit: &Transmit,
    fault: Fault,
    env: &mut Nothing,
) {
    engine.payload_fault(now, transmit, fault, env);
}

/// [`Engine::modify`].
#[inline(never)]
pub fn modify(
    engine: &mut Witness<'_>,
    now: Instant,
    change: &Change,
    env: &mut Nothing,
) -> Result<(), ModifyError> {
    engine.modify(now, change, env)
}

/// [`Engine::poll_early`] and [`Engine::early_lost`].
#[inline(never)]
pub fn poll_early(engine: &mut Witness<'_>, lost: Option<EarlyIndex>) -> Option<EarlyIndex> {
    if let Some(index) = lost {
        engine.early_lost(index);
    }
    engine.poll_early()
}

/// [`Engine::poll_transmit`].
#[inline(never)]
pub fn poll_transmit(
    engine: &mut Witness<'_>,
    now: Instant,
    env: &mut Nothing,
) -> Option<Transmit> {
    engine.poll_transmit(now, env)
}

/// [`Engine::poll_burst`].
#[inline(never)]
pub fn poll_burst(
    engine: &mut Witness<'_>,
    now: Instant,
    most: u32,
    env: &mut Nothing,
) -> Option<Burst> {
    engine.poll_burst(now, most, env)
}

/// [`Engine::poll_completion`].
#[inline(never)]
pub fn poll_completion(engine: &mut Witness<'_>) -> Option<Completion> {
    engine.poll_completion()
}

/// [`Engine::poll_event`].
#[inline(never)]
pub fn poll_event(engine: &mut Witness<'_>) -> Option<Event> {
    engine.poll_event()
}

/// [`Engine::next_timeout`].
#[inline(never)]
pub fn next_timeout(engine: &Witness<'_>) -> Option<Instant> {
    engine.next_timeout()
}

/// [`Engine::new`].
#[inline(never)]
pub fn new<'m>(
    config: oxe_proto::transport::attributes::Config,
    send: &'m mut [SendSlot],
    resources: &'m mut [Resource],
) -> Option<Witness<'m>> {
    Engine::new(config, send, resources)
}
