// SPDX-License-Identifier: GPL-2.0

//! A peer's requester: requests become packets. [`super::completer`] takes the answers.

use super::{
    model::Frame,
    segment::packet_of,
    timers, //
};
use crate::{
    events::{
        Nanos,
        MICROSECOND, //
    },
    port::Port, //
};
use oxe_proto::{
    transport::{
        attributes::Attributes,
        error::{
            Fault,
            WcStatus, //
        },
        ports::Env,
        state::State,
        wr::{
            Completion,
            Payload,
            SendOp,
            SendWr,
            SlotIndex,
            Transmit, //
        },
        PostError, //
    },
    types::{
        Mtu,
        Psn, //
    },
};
use std::collections::VecDeque;

/// A request under way.
pub(super) struct Work {
    pub(super) wr: SendWr,
    /// Its first sequence number, counted without end.
    pub(super) first: u64,
    /// How many it has; none if it sends nothing.
    pub(super) packets: u64,
    pub(super) begun: bool,
    /// Its data cannot be had: it fails in its turn.
    broken: Option<WcStatus>,
}

impl Work {
    /// One past its last number.
    pub(super) fn end(&self) -> u64 {
        self.first + self.packets
    }

    /// Whether it ends with a response of its own.
    pub(super) fn is_read_like(&self) -> bool {
        !matches!(
            self.wr.op,
            SendOp::Send(_) | SendOp::Write { .. } | SendOp::Datagram { .. } | SendOp::Local
        )
    }
}

/// The sending half.
pub(super) struct Requester {
    /// Requests that have not ended, oldest first.
    pub(super) queue: VecDeque<Work>,
    /// Requests that have ended: what the oldest one's number is, counted without end.
    pub(super) ended: u64,
    reported: u64,
    capacity: u32,
    completions: VecDeque<Completion>,
    base: Psn,
    numbers: u64,
    /// The request to send from, counted without end, and the number to send next.
    pub(super) cursor: u64,
    pub(super) next: u64,
    /// Everything before it is acknowledged.
    pub(super) acked: u64,
    pub(super) retries: u8,
    pub(super) rnr_retries: u8,
    /// It has gone back, and nothing has moved since.
    pub(super) going_back: bool,
    quiet: u32,
    pub(super) timer: Option<Nanos>,
    pub(super) paused_until: Option<Nanos>,
    failed: bool,
    drain: Option<bool>,
}

impl Requester {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            queue: VecDeque::new(),
            ended: 0,
            reported: 0,
            capacity,
            completions: VecDeque::new(),
            base: Psn::default(),
            numbers: 0,
            cursor: 0,
            next: 0,
            acked: 0,
            retries: 0,
            rnr_retries: 0,
            going_back: false,
            quiet: 0,
            timer: None,
            paused_until: None,
            failed: false,
            drain: None,
        }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    pub(super) fn start(&mut self, attributes: &Attributes) {
        self.base = attributes.sq_psn;
        self.reload(attributes);
    }

    pub(super) fn reload(&mut self, attributes: &Attributes) {
        self.retries = attributes.retry_cnt;
        self.rnr_retries = attributes.rnr_retry;
    }

    pub(super) fn drain(&mut self, notify: bool) {
        self.drain = Some(notify);
    }

    /// Whether all that was begun has ended, for the first time since the drain began.
    pub(super) fn take_drained(&mut self) -> bool {
        let busy = self.queue.iter().any(|work| work.begun);
        if busy || self.drain.is_none() {
            return false;
        }
        self.drain.take() == Some(true)
    }

    pub(super) fn post(&mut self, wr: SendWr, mtu: Mtu) -> Result<SlotIndex, PostError> {
        let posted = self.ended + self.queue.len() as u64;
        if posted - self.reported >= u64::from(self.capacity) {
            return Err(PostError::Full);
        }
        let packets = match wr.op {
            SendOp::Local => 0,
            SendOp::Send(_) | SendOp::Write { .. } | SendOp::Read { .. } => {
                u64::from(mtu.packets(wr.length))
            }
            _ => 1,
        };
        self.queue.push_back(Work {
            wr,
            first: self.numbers,
            packets,
            begun: false,
            broken: None,
        });
        self.numbers += packets;
        Ok(self.slot(posted))
    }

    fn slot(&self, count: u64) -> SlotIndex {
        SlotIndex((count % u64::from(self.capacity)) as u32)
    }

    pub(super) fn psn(&self, number: u64) -> Psn {
        self.base.plus((number & 0xff_ffff) as u32)
    }

    /// The count of a sequence number.
    pub(super) fn count(&self, psn: Psn) -> Option<u64> {
        let distance = i64::from(psn.since(self.psn(self.acked)));
        self.acked.checked_add_signed(distance)
    }

    /// The oldest request ends.
    pub(super) fn end(&mut self, status: WcStatus) {
        let Some(work) = self.queue.pop_front() else {
            return;
        };
        self.completions.push_back(Completion {
            slot: self.slot(self.ended),
            status,
            reported: work.wr.signalled || status != WcStatus::Success,
        });
        self.ended += 1;
        self.acked = self.acked.max(work.end());
        if self.cursor < self.ended {
            self.cursor = self.ended;
            self.next = work.end();
        }
    }

    /// The oldest request fails, and with it the queue pair.
    pub(super) fn fail(&mut self, status: WcStatus) {
        self.end(status);
        self.failed = true;
    }

    /// All requests end.
    pub(super) fn flush(&mut self) {
        while !self.queue.is_empty() {
            self.end(WcStatus::Flushed);
        }
        self.timer = None;
        self.paused_until = None;
    }

    pub(super) fn poll_completion(&mut self) -> Option<Completion> {
        let completion = self.completions.pop_front()?;
        self.reported += 1;
        Some(completion)
    }

    pub(super) fn next_timeout(&self) -> Option<Nanos> {
        match (self.timer, self.paused_until) {
            (Some(timer), Some(pause)) => Some(timer.min(pause)),
            (timer, pause) => timer.or(pause),
        }
    }

    /// Starts the timer anew, if something is to be acknowledged.
    pub(super) fn rearm(&mut self, now: Nanos, frame: &Frame) {
        let wait = timers::acknowledgement(frame.attributes.timeout);
        let open = self.next > self.acked && self.paused_until.is_none();
        self.timer = wait
            .filter(|_| open)
            .map(|wait| timers::fires(now, wait, frame.habits.tick));
    }

    /// Everything from the oldest unacknowledged number on is to be sent again.
    pub(super) fn go_back(&mut self) {
        let acked = self.acked;
        let behind = self
            .queue
            .iter()
            .position(|work| work.end() > acked || work.packets == 0 && !work.begun);
        if let Some(index) = behind {
            self.cursor = self.ended + index as u64;
            self.next = self.acked.max(self.queue[index].first);
        }
        self.going_back = true;
    }

    /// The next packet.
    pub(super) fn poll(
        &mut self,
        now: Nanos,
        frame: &Frame,
        port: &mut Port<'_>,
    ) -> Option<Transmit> {
        loop {
            if self.paused_until.is_some() || self.failed {
                return None;
            }
            // Answers may have overtaken what was to be sent again.
            self.next = self.next.max(self.acked);
            let index = (self.cursor - self.ended) as usize;
            let reads = self.queue.iter().take(index);
            let reads = reads
                .filter(|work| work.is_read_like() && work.begun)
                .count();
            let work = self.queue.get(index)?;
            if let Some(status) = work.broken {
                if index == 0 {
                    self.fail(status);
                }
                return None;
            }
            if !work.begun {
                let held = frame.state != State::Rts
                    || (work.wr.fence || work.packets == 0) && reads > 0
                    || work.is_read_like() && reads >= usize::from(frame.attributes.max_rd_atomic);
                if held {
                    return None;
                }
            }
            if work.packets == 0 {
                self.do_local(index, port);
                continue;
            }
            if self.next - self.acked >= frame.habits.window {
                return None;
            }
            return Some(self.send(now, index, frame));
        }
    }

    fn do_local(&mut self, index: usize, port: &mut Port<'_>) {
        let slot = self.slot(self.cursor);
        if !self.queue[index].begun {
            self.queue[index].begun = true;
            if let Err(status) = port.local(slot) {
                self.queue[index].broken = Some(status);
                return;
            }
        }
        self.cursor += 1;
        self.end_local();
    }

    /// Local work that is done ends when all before it has ended.
    pub(super) fn end_local(&mut self) {
        while let Some(work) = self.queue.front() {
            if work.packets > 0 || !work.begun || work.broken.is_some() {
                return;
            }
            self.end(WcStatus::Success);
        }
    }

    fn send(&mut self, now: Nanos, index: usize, frame: &Frame) -> Transmit {
        let slot = self.slot(self.cursor);
        let psn = self.psn(self.next);
        let mtu = frame.attributes.path_mtu;
        let work = &mut self.queue[index];
        work.begun = true;
        let number = (self.next - work.first) as u32;
        let is_last = self.next + 1 == work.end() || work.is_read_like();
        let (op, bytes) = packet_of(&work.wr, number, work.packets as u32, mtu);
        let mut packet = frame.packet(op, psn, bytes);
        packet.addressing = frame.addressing(work.wr.srq);
        let receives = match work.wr.op {
            SendOp::Send(_) => true,
            SendOp::Write { immediate, .. } => immediate.is_some(),
            _ => false,
        };
        packet.solicited = work.wr.solicited && receives && is_last;
        self.quiet += 1;
        packet.ack_req = is_last || self.quiet >= frame.habits.ack_every;
        if packet.ack_req {
            self.quiet = 0;
        }
        self.next = if is_last { work.end() } else { self.next + 1 };
        if is_last {
            self.cursor += 1;
        }
        if self.timer.is_none() {
            self.rearm(now, frame);
        }
        let payload = if bytes > 0 {
            let offset = number * mtu.bytes();
            Payload::Local { slot, offset }
        } else {
            Payload::None
        };
        Transmit { packet, payload }
    }

    /// A packet's data could not be had: later again, or the request fails.
    pub(super) fn payload_fault(
        &mut self,
        now: Nanos,
        transmit: &Transmit,
        slot: SlotIndex,
        fault: Fault,
        frame: &Frame,
    ) {
        let found =
            (0..self.queue.len()).find(|&index| self.slot(self.ended + index as u64) == slot);
        let Some(index) = found else {
            return;
        };
        // It was not sent.
        self.cursor = self.ended + index as u64;
        self.next = self.count(transmit.packet.psn).unwrap_or(self.next);
        match fault.local() {
            Some(status) => {
                self.queue[index].broken = Some(status);
                if index == 0 {
                    self.fail(status);
                }
            }
            None => {
                let wait = 100 * MICROSECOND;
                self.paused_until = Some(timers::fires(now, wait, frame.habits.tick));
            }
        }
    }
}
