// SPDX-License-Identifier: GPL-2.0

//! The memory and queues behind the engine: they hold nothing, but see to it that the engine asks
//! for what it may ask for.

use std::collections::VecDeque;

use oxe_proto::{
    transport::{
        error::{
            Fault,
            WcStatus, //
        },
        ports::{
            Atomic,
            Env,
            Right,
            Taken, //
        },
        wr::{
            RecvCompletion,
            SendOp,
            SendWr,
            SlotIndex, //
        },
    },
    types::{
        Rkey,
        SrqNumber, //
    },
    wire::flush::Feth, //
};

use crate::input::Input;

pub(super) const FAULTS: [Fault; 3] = [Fault::Access, Fault::Operational, Fault::Busy];

/// A receive request's capacity, or that it cannot be used.
type Receive = Option<u32>;

#[derive(Default)]
pub(super) struct Host {
    /// What was posted and not completed, by slot.
    requests: Vec<Option<SendWr>>,
    receives: VecDeque<Receive>,
    current: Option<Receive>,
    /// What the next calls answer.
    answers: VecDeque<Result<(), Fault>>,
}

impl Host {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            requests: vec![None; slots],
            ..Self::default()
        }
    }

    /// The queue pair was reset: all requests are forgotten.
    pub(super) fn reset(&mut self) {
        self.requests.fill(None);
        self.receives.clear();
        self.current = None;
    }

    pub(super) fn posted(&mut self, slot: SlotIndex, wr: SendWr) {
        let before = self.requests[slot.0 as usize].replace(wr);
        assert_eq!(before, None, "{slot:?} is in use");
    }

    pub(super) fn completed(&mut self, slot: SlotIndex) {
        let before = self.requests[slot.0 as usize].take();
        assert!(before.is_some(), "{slot:?} is not in use");
    }

    /// Every eighth cannot be used.
    pub(super) fn post_receive(&mut self, number: u16) {
        let usable = number % 8 != 7;
        self.receives.push_back(usable.then_some(u32::from(number)));
    }

    pub(super) fn has_current_receive(&self) -> bool {
        self.current.is_some()
    }

    /// One of the next calls fails.
    pub(super) fn fail_next(&mut self, input: &mut Input<'_>) {
        for _ in 0..input.below(4) {
            self.answers.push_back(Ok(()));
        }
        self.answers.push_back(Err(*input.choose(&FAULTS)));
    }

    /// Bytes that a request has are its own.
    pub(super) fn check_data(&self, slot: SlotIndex, offset: u32, bytes: u32) {
        let wr = self.request(slot);
        assert!(
            u64::from(offset) + u64::from(bytes) <= u64::from(wr.length),
            "{bytes} bytes at {offset} of {wr:?}"
        );
    }

    fn request(&self, slot: SlotIndex) -> &SendWr {
        self.requests[slot.0 as usize]
            .as_ref()
            .expect("the request is posted")
    }

    fn answer(&mut self) -> Result<(), Fault> {
        self.answers.pop_front().unwrap_or(Ok(()))
    }

    fn current(&self) -> &Receive {
        self.current.as_ref().expect("a receive request is taken")
    }
}

impl Env for Host {
    type Data<'d> = &'d [u8];

    fn check_remote(&mut self, _: Rkey, _: u64, length: u32, _: Right) -> Result<(), Fault> {
        assert_ne!(length, 0);
        self.answer()
    }

    fn write_remote(&mut self, _: Rkey, _: u64, _: &[u8]) -> Result<(), Fault> {
        self.answer()
    }

    fn atomic(&mut self, _: Rkey, address: u64, _: Atomic) -> Result<u64, Fault> {
        assert_eq!(address % 8, 0);
        self.answer().map(|()| 7)
    }

    fn atomic_write(&mut self, _: Rkey, address: u64, data: &[u8]) -> Result<(), Fault> {
        assert_eq!(address % 8, 0);
        assert_eq!(data.len(), 8);
        self.answer()
    }

    fn flush(&mut self, _: Rkey, _: u64, _: u32, _: Feth) -> Result<(), Fault> {
        self.answer()
    }

    fn invalidate(&mut self, _: Rkey) -> Result<(), Fault> {
        self.answer()
    }

    fn take_receive(&mut self, _: Option<SrqNumber>) -> Taken {
        assert_eq!(self.current, None);
        let Some(receive) = self.receives.pop_front() else {
            return Taken::Empty;
        };
        self.current = Some(receive);
        match receive {
            Some(capacity) => Taken::Ready { capacity },
            None => Taken::Faulty(WcStatus::LocalProtection),
        }
    }

    fn place_receive(&mut self, offset: u32, data: &[u8]) -> Result<(), Fault> {
        let capacity = self.current().expect("it can be used");
        let end = u64::from(offset) + data.len() as u64;
        assert!(end <= u64::from(capacity), "{end} bytes in {capacity}");
        self.answer()
    }

    fn place_network_header(&mut self) -> Result<(), Fault> {
        assert!(self.current().expect("it can be used") >= 40);
        self.answer()
    }

    fn complete_receive(&mut self, completion: RecvCompletion) {
        let receive = self.current.take().expect("a receive request is taken");
        assert!(receive.is_some() || completion.status != WcStatus::Success);
    }

    fn place_response(&mut self, slot: SlotIndex, offset: u32, data: &[u8]) -> Result<(), Fault> {
        assert!(matches!(self.request(slot).op, SendOp::Read { .. }));
        self.check_data(slot, offset, data.len() as u32);
        self.answer()
    }

    fn place_value(&mut self, slot: SlotIndex, _: u64) -> Result<(), Fault> {
        let op = self.request(slot).op;
        assert!(matches!(op, SendOp::CompareSwap(_) | SendOp::FetchAdd(_)));
        self.answer()
    }

    fn local(&mut self, slot: SlotIndex) -> Result<(), WcStatus> {
        assert_eq!(self.request(slot).op, SendOp::Local);
        self.answer().map_err(|_| WcStatus::MemoryWindowBind)
    }
}
