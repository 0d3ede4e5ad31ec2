// SPDX-License-Identifier: GPL-2.0

//! What a driver does for its endpoints.

use super::{
    Happening,
    Qp,
    World, //
};
use crate::{
    endpoint::Endpoint,
    events::Nanos,
    frame::{
        is_request,
        Frame, //
    },
    oracle::Arrival,
    port::Port,
    trace::Mark, //
};
use oxe_proto::{
    transport::{
        wr::EarlyIndex,
        Verdict, //
    },
    types::Instant, //
};

impl World {
    /// Calls an endpoint with its port.
    pub(super) fn call<R>(
        &mut self,
        qp: usize,
        arrival: Option<Arrival>,
        call: impl FnOnce(&mut dyn Endpoint, Instant, &mut Port<'_>) -> R,
    ) -> R {
        let now = self.events.now();
        let Qp { endpoint, side, .. } = &mut self.qps[qp];
        let mut port = Port {
            now,
            host: &mut self.hosts[side.host],
            side,
            oracle: &mut self.oracle,
            trace: &mut self.trace,
            arrival,
        };
        call(endpoint.as_mut(), Instant::from_nanos(now), &mut port)
    }

    /// A moment after now, as a host's processor is busy.
    pub(super) fn delay(&mut self, qp: usize) -> Nanos {
        let (least, most) = self.scenario.hosts[self.qps[qp].plan.host].delay;
        self.rng.within(least..=most)
    }

    /// Lets a queue pair have processor time soon.
    pub(super) fn wake(&mut self, qp: usize) {
        if !self.qps[qp].work_due {
            self.qps[qp].work_due = true;
            let wait = self.delay(qp);
            let life = self.qps[qp].life;
            self.events.after(wait, Happening::Work { qp, life });
        }
    }

    /// A frame has come to its host.
    pub(super) fn arrive(&mut self, frame: Frame) {
        self.in_flight[frame.sender / 2] -= 1;
        let (sender, packet) = (frame.sender, frame.packet);
        let whole = self.read(frame);
        let found = whole.and_then(|frame| {
            let qp = self.numbers.get(&frame.packet.dest_qp.get()).copied()?;
            Some((qp, frame))
        });
        let Some((qp, frame)) = found else {
            let now = self.events.now();
            self.trace.packet(now, Mark::Lost, sender, &packet);
            return;
        };
        if frame.marked {
            self.notify(qp, &frame);
        }
        if !self.has_room(qp) {
            let now = self.events.now();
            self.oracle.disturbed(qp);
            self.trace.packet(now, Mark::Lost, sender, &packet);
            return;
        }
        self.qps[qp].inbox.push_back(frame);
        self.wake(qp);
    }

    /// A queue pair has processor time.
    pub(super) fn work(&mut self, qp: usize) {
        let (now, free) = (self.events.now(), self.host_free_at(qp));
        if free > now {
            let life = self.qps[qp].life;
            self.events.at(free, Happening::Work { qp, life });
            return;
        }
        self.qps[qp].work_due = false;
        for _ in 0..self.scenario.hosts[self.qps[qp].plan.host].coalesce {
            let Some(frame) = self.qps[qp].inbox.pop_front() else {
                break;
            };
            self.spend(qp);
            self.receive(qp, frame, false);
        }
        let stray = self.scenario.hosts[self.qps[qp].plan.host].stray_timer;
        if self.rng.happens(stray) {
            self.call(qp, None, |endpoint, now, port| {
                endpoint.handle_timeout(now, port);
            });
        }
        self.poll(qp);
        if !self.qps[qp].inbox.is_empty() {
            self.wake(qp);
        }
    }

    /// Hands a packet to its queue pair, for the first time or from where it was kept.
    fn receive(&mut self, qp: usize, frame: Frame, kept: bool) {
        let now = self.events.now();
        if !kept {
            self.trace.packet(now, Mark::Received, qp, &frame.packet);
            self.oracle.delivered(qp, frame.flow, &frame.packet);
        }
        let arrival = is_request(&frame.packet.op).then_some(Arrival {
            sender: frame.sender,
            flow: frame.flow,
            psn: frame.packet.psn,
            serial: self.handled,
        });
        self.handled += 1;
        let verdict = self.call(qp, arrival, |endpoint, now, port| {
            endpoint.handle_packet(now, &frame.packet, &frame.data, port)
        });
        if let Verdict::Hold(EarlyIndex(index)) = verdict {
            self.trace.packet(now, Mark::Held, qp, &frame.packet);
            let dice = &mut self.qps[qp].side.dice;
            if dice.rng.happens(dice.early_lost) {
                self.oracle.disturbed(qp);
                self.qps[qp].endpoint.early_lost(EarlyIndex(index));
                self.qps[qp].held.remove(&index);
            } else {
                self.qps[qp].held.insert(index, frame);
            }
        }
    }

    /// Takes everything out of an endpoint, in the order of the contract.
    pub(super) fn poll(&mut self, qp: usize) {
        while let Some(index) = self.qps[qp].endpoint.poll_early() {
            match self.qps[qp].held.remove(&index.0) {
                Some(frame) => self.receive(qp, frame, true),
                None => {
                    let what = format!("asked for the packet at {}, which it let go", index.0);
                    return self.oracle.fail(qp, what);
                }
            }
        }
        let rests = self.send_all(qp);
        while let Some(completion) = self.qps[qp].endpoint.poll_completion() {
            self.complete(qp, completion);
        }
        while let Some(event) = self.qps[qp].endpoint.poll_event() {
            self.tell(qp, event);
        }
        if rests {
            self.oracle.rested(qp);
        }
        if !self.qps[qp].endpoint.holds_early() {
            self.qps[qp].held.clear();
        }
        self.give_back(qp);
        self.arm(qp);
        self.post(qp);
    }

    /// Sets the one timer.
    fn arm(&mut self, qp: usize) {
        let Some(at) = self.qps[qp].endpoint.next_timeout() else {
            self.qps[qp].timer = None;
            return;
        };
        let at = at.as_nanos();
        if self.qps[qp].timer != Some(at) {
            self.qps[qp].timer = Some(at);
            let slack = self.scenario.hosts[self.qps[qp].plan.host].timer_slack;
            let late = self.rng.within(0..=slack);
            let life = self.qps[qp].life;
            let fires = at.max(self.events.now() + 1).saturating_add(late);
            self.events.at(fires, Happening::Timer { qp, life, at });
        }
    }

    /// A timer that was set for `at` fires.
    pub(super) fn timer(&mut self, qp: usize, at: Nanos) {
        if self.qps[qp].timer != Some(at) {
            return;
        }
        let (now, free) = (self.events.now(), self.host_free_at(qp));
        if free > now {
            let life = self.qps[qp].life;
            self.events.at(free, Happening::Timer { qp, life, at });
            return;
        }
        self.qps[qp].timer = None;
        let now = self.events.now();
        self.trace.note(now, Mark::Timer, qp, &[at], String::new);
        self.call(qp, None, |endpoint, now, port| {
            endpoint.handle_timeout(now, port)
        });
        self.poll(qp);
    }
}
