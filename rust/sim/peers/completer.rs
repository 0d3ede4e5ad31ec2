// SPDX-License-Identifier: GPL-2.0

//! A peer's requester: what the answers do to its requests.

use super::{
    model::Frame,
    requester::Requester,
    timers, //
};
use crate::{
    events::Nanos,
    port::Port, //
};
use oxe_proto::{
    transport::{
        error::{
            Fault,
            WcStatus, //
        },
        ports::Env,
        wr::{
            SendOp,
            SlotIndex, //
        },
    },
    wire::{
        aeth::{
            NakCode,
            Syndrome, //
        },
        packet::{
            Op,
            Packet, //
        },
    },
};

impl Requester {
    /// A response came.
    pub(super) fn respond(
        &mut self,
        now: Nanos,
        packet: &Packet,
        data: &[u8],
        frame: &Frame,
        port: &mut Port<'_>,
    ) {
        if packet.op == Op::Cnp || self.has_failed() {
            return;
        }
        let Some(number) = self.count(packet.psn) else {
            return;
        };
        let acked = self.acked;
        self.take(now, number, packet, data, frame, port);
        self.end_local();
        if self.acked > acked {
            self.going_back = false;
            self.reload(&frame.attributes);
        }
        if self.paused_until.is_none() && !self.has_failed() {
            self.rearm(now, frame);
        }
    }

    fn take(
        &mut self,
        now: Nanos,
        number: u64,
        packet: &Packet,
        data: &[u8],
        frame: &Frame,
        port: &mut Port<'_>,
    ) {
        let acked = self.acked;
        // Requests before the one that the response is for.
        loop {
            self.end_local();
            let Some(work) = self.queue.front() else {
                return;
            };
            if number < work.end() {
                break;
            }
            // What was not sent (again) in full cannot be acknowledged.
            if self.next < work.end() {
                return;
            }
            if work.is_read_like() {
                // Its own response must have been lost.
                return self.try_again(now, frame, false);
            }
            self.end(WcStatus::Success);
        }
        if number < self.acked {
            return;
        }
        if self.acked > acked || number > self.acked {
            self.reload(&frame.attributes);
        }
        match packet.op {
            Op::Acknowledge(aeth) => self.take_ack(now, number, aeth.syndrome, frame),
            _ => self.take_data(now, number, packet, data, frame, port),
        }
    }

    fn take_ack(&mut self, now: Nanos, number: u64, syndrome: Syndrome, frame: &Frame) {
        let Some(work) = self.queue.front() else {
            return;
        };
        match syndrome {
            Syndrome::Ack(_) => {
                if work.is_read_like() || number >= self.next {
                    return;
                }
                let ends = number + 1 == work.end();
                self.acked = number + 1;
                if ends {
                    self.end(WcStatus::Success);
                }
            }
            Syndrome::RnrNak(code) => {
                self.acked = number;
                if frame.attributes.rnr_retry != 7 {
                    if self.rnr_retries == 0 {
                        return self.fail(WcStatus::RnrRetryExceeded);
                    }
                    self.rnr_retries -= 1;
                }
                let wait = timers::rnr(code);
                self.timer = None;
                self.paused_until = Some(timers::fires(now, wait, frame.habits.tick));
            }
            Syndrome::Nak(NakCode::SequenceError) => {
                if number > self.acked {
                    self.acked = number;
                    self.going_back = false;
                }
                self.try_again(now, frame, false);
            }
            Syndrome::Nak(code) => {
                self.acked = number;
                self.fail(match code {
                    NakCode::RemoteAccess => WcStatus::RemoteAccess,
                    NakCode::RemoteOperational => WcStatus::RemoteOperation,
                    _ => WcStatus::RemoteInvalidRequest,
                });
            }
            Syndrome::Reserved(_) => (),
        }
    }

    fn take_data(
        &mut self,
        now: Nanos,
        number: u64,
        packet: &Packet,
        data: &[u8],
        frame: &Frame,
        port: &mut Port<'_>,
    ) {
        let Some(work) = self.queue.front() else {
            return;
        };
        if !work.is_read_like() {
            return self.fail(WcStatus::BadResponse);
        }
        if number > self.acked {
            if frame.habits.asks_at_once {
                self.try_again(now, frame, false);
            }
            return;
        }
        let slot = SlotIndex((self.ended % u64::from(self.capacity())) as u32);
        let mtu = frame.attributes.path_mtu.bytes();
        let place = (number - work.first) as u32;
        let is_last = number + 1 == work.end();
        let placed = match (work.wr.op, packet.op) {
            (SendOp::Read { .. }, Op::AtomicAcknowledge(..)) => None,
            (SendOp::Read { .. }, _) => {
                let due = work.wr.length.saturating_sub(place * mtu).min(mtu);
                if due != packet.data_bytes {
                    None
                } else if due == 0 {
                    Some(Ok(()))
                } else {
                    Some(port.place_response(slot, place * mtu, data))
                }
            }
            (SendOp::CompareSwap(_) | SendOp::FetchAdd(_), Op::AtomicAcknowledge(_, value)) => {
                Some(port.place_value(slot, value))
            }
            (SendOp::Flush { .. } | SendOp::AtomicWrite { .. }, Op::ReadResponseOnly(_)) => {
                Some(Ok(()))
            }
            _ => None,
        };
        match placed {
            None => self.fail(WcStatus::BadResponse),
            Some(Err(Fault::Busy)) => (),
            Some(Err(fault)) => self.fail(fault.local().unwrap_or(WcStatus::LocalProtection)),
            Some(Ok(())) => {
                self.acked = number + 1;
                if is_last {
                    self.end(WcStatus::Success);
                }
            }
        }
    }

    /// Goes back, if a retry is left.
    fn try_again(&mut self, now: Nanos, frame: &Frame, for_time: bool) {
        if self.going_back && !for_time {
            return;
        }
        let endless = frame.habits.endless_retries && frame.attributes.retry_cnt == 7;
        if !endless {
            if self.retries == 0 {
                return self.fail(WcStatus::RetryExceeded);
            }
            self.retries -= 1;
        }
        self.go_back();
        self.rearm(now, frame);
    }

    /// A timer has run out.
    pub(super) fn timeout(&mut self, now: Nanos, frame: &Frame) {
        if self.paused_until.is_some_and(|at| at <= now) {
            self.paused_until = None;
            self.go_back();
            self.going_back = false;
        }
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.try_again(now, frame, true);
            // Nothing is on its way until the first packet is sent again.
            self.rearm_after_timeout(now, frame);
        }
    }

    fn rearm_after_timeout(&mut self, now: Nanos, frame: &Frame) {
        if !self.has_failed() && !self.queue.is_empty() {
            let wait = timers::acknowledgement(frame.attributes.timeout);
            self.timer = wait.map(|wait| timers::fires(now, wait, frame.habits.tick));
        }
    }
}
