// SPDX-License-Identifier: GPL-2.0

//! What a driver does for its endpoints.

use super::{
    Happening,
    Life,
    Qp,
    QueueName,
    World, //
};
use crate::{
    endpoint::Endpoint,
    events::{
        Nanos,
        MICROSECOND, //
    },
    frame::{
        is_request,
        Frame, //
    },
    network::Fate,
    oracle::Arrival,
    port::{
        Port,
        Slot, //
    },
    trace::{
        describe,
        Mark, //
    },
    work::Source,
};
use oxe_proto::{
    transport::{
        error::{
            Fault,
            WcStatus, //
        },
        wr::{
            Completion,
            EarlyIndex,
            Payload,
            Transmit, //
        },
        Event,
        Verdict, //
    },
    types::{
        Instant,
        Pkey,
        Psn, //
    },
    wire::packet::{
        Addressing,
        Op,
        Packet,
        Service, //
    },
};

/// The shortest time between two congestion notifications to one queue pair.
const NOTIFY_EVERY: Nanos = 50 * MICROSECOND;

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
        let found = self.numbers.get(&frame.packet.dest_qp.get()).copied();
        let Some(qp) = found.filter(|_| !frame.damaged) else {
            let now = self.events.now();
            self.trace
                .packet(now, Mark::Lost, frame.sender, &frame.packet);
            return;
        };
        if frame.marked {
            self.notify(qp, &frame);
        }
        self.qps[qp].inbox.push_back(frame);
        self.wake(qp);
    }

    /// Tells the sender of a marked packet to slow down.
    fn notify(&mut self, qp: usize, frame: &Frame) {
        let now = self.events.now();
        let last = self.qps[qp].notified_at;
        let early = last.is_some_and(|last| now - last < NOTIFY_EVERY);
        if early || !self.scenario.notifies || frame.packet.op == Op::Cnp {
            return;
        }
        self.qps[qp].notified_at = Some(now);
        let packet = Packet {
            service: Service::Cnp,
            op: Op::Cnp,
            addressing: Addressing::Connected,
            dest_qp: self.qps[frame.sender].side.number,
            psn: Psn::default(),
            pkey: Pkey::DEFAULT_FULL,
            ack_req: false,
            solicited: false,
            mig_req: false,
            fecn: false,
            becn: true,
            data_bytes: 0,
        };
        self.launch(qp, packet, Vec::new());
    }

    /// A queue pair has processor time.
    pub(super) fn work(&mut self, qp: usize) {
        self.qps[qp].work_due = false;
        for _ in 0..self.scenario.hosts[self.qps[qp].plan.host].coalesce {
            let Some(frame) = self.qps[qp].inbox.pop_front() else {
                break;
            };
            self.receive(qp, frame, false);
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
        let budget = self.scenario.hosts[self.qps[qp].plan.host].budget;
        let mut sent = 0;
        while sent < budget {
            let transmit = self.call(qp, None, |endpoint, now, port| {
                endpoint.poll_transmit(now, port)
            });
            let Some(transmit) = transmit else { break };
            self.transmit(qp, &transmit);
            sent += 1;
        }
        if sent == budget {
            self.wake(qp);
        }
        while let Some(completion) = self.qps[qp].endpoint.poll_completion() {
            self.complete(qp, completion);
        }
        while let Some(event) = self.qps[qp].endpoint.poll_event() {
            self.tell(qp, event);
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
        self.qps[qp].timer = None;
        let now = self.events.now();
        self.trace.note(now, Mark::Timer, qp, &[at], String::new);
        self.call(qp, None, |endpoint, now, port| {
            endpoint.handle_timeout(now, port)
        });
        self.poll(qp);
    }

    /// Sends a packet, if its data can be had.
    fn transmit(&mut self, qp: usize, transmit: &Transmit) {
        let bytes = transmit.packet.data_bytes as usize;
        match self.gather(qp, &transmit.payload, bytes) {
            Ok(data) => {
                self.oracle.sent(qp, &transmit.packet, &data);
                self.launch(qp, transmit.packet, data);
            }
            Err(fault) => {
                let now = self.events.now();
                self.trace.note(now, Mark::Fault, qp, &[fault as u64], || {
                    format!("no data for {}: {fault:?}", describe(&transmit.packet))
                });
                self.call(qp, None, |endpoint, now, port| {
                    endpoint.payload_fault(now, transmit, fault, port);
                });
            }
        }
    }

    /// A packet's data.
    fn gather(&mut self, qp: usize, payload: &Payload, bytes: usize) -> Result<Vec<u8>, Fault> {
        let side = &mut self.qps[qp].side;
        if matches!(payload, Payload::None) {
            return Ok(vec![0; bytes]);
        }
        let fault = if side.dice.rng.happens(side.dice.payload_busy) {
            Some(Fault::Busy)
        } else if side.dice.rng.happens(side.dice.payload_fault) {
            Some(side.dice.rng.pick(&[Fault::Access, Fault::Operational]))
        } else {
            None
        };
        match *payload {
            Payload::Local { slot, offset } => {
                let Some(posted) = side.posted(slot).copied() else {
                    let what = format!("data of the free slot {}", slot.0);
                    self.oracle.fail(qp, what);
                    return Err(Fault::Access);
                };
                if let Some(fault) = fault {
                    self.oracle.payload_failed(qp, posted.id, fault.local());
                    return Err(fault);
                }
                Ok(self.local_data(qp, posted.source, offset, bytes))
            }
            Payload::Remote { rkey, address } => {
                if let Some(fault) = fault {
                    self.oracle.responder_failed(qp, fault.nak());
                    return Err(fault);
                }
                let host = self.qps[qp].side.host;
                let memory = &mut self.hosts[host].memory;
                let data = memory.read(rkey, address, bytes as u32).map(<[u8]>::to_vec);
                if data.is_err() {
                    self.oracle.disturbed(qp);
                }
                data
            }
            Payload::None => Ok(Vec::new()),
        }
    }

    fn local_data(&mut self, qp: usize, source: Source, offset: u32, bytes: usize) -> Vec<u8> {
        match source {
            Source::Memory {
                pattern,
                offset: start,
            } => pattern.bytes(start + u64::from(offset), bytes),
            Source::Sink { read, .. } => {
                let side = &self.qps[qp].side;
                let open = side.slots.iter().flatten();
                let sink = side.kept.get(&read).or_else(|| {
                    open.map(|slot| (slot.posted.id, &slot.sink))
                        .find(|(id, _)| *id == read)
                        .map(|(_, sink)| sink)
                });
                let from = offset as usize;
                sink.and_then(|sink| sink.get(from..from + bytes))
                    .map_or_else(|| vec![0; bytes], <[u8]>::to_vec)
            }
        }
    }

    /// Puts a packet on the wire.
    fn launch(&mut self, qp: usize, packet: Packet, data: Vec<u8>) {
        let now = self.events.now();
        self.trace.packet(now, Mark::Sent, qp, &packet);
        let dest = self.numbers.get(&packet.dest_qp.get()).copied();
        let from = self.qps[qp].plan.host;
        let to = self.qps[dest.unwrap_or(Self::peer(qp))].plan.host;
        let side = &mut self.qps[qp].side;
        let frame = Frame {
            sender: qp,
            flow: self.oracle.flow_of(qp),
            from,
            to,
            packet,
            data,
            ect: !matches!(packet.op, Op::Acknowledge(_) | Op::Cnp),
            marked: false,
            damaged: false,
            duplicate: false,
        };
        let fate = if side.dice.rng.happens(side.dice.send_drop) {
            Fate::Lost
        } else {
            self.network
                .link(from, to)
                .send(now, frame, &mut self.arrivals)
        };
        if fate != Fate::Passes {
            self.oracle.disturbed(qp);
        }
        if fate == Fate::Lost {
            self.trace.packet(now, Mark::Lost, qp, &packet);
        }
        for (at, frame) in self.arrivals.drain(..) {
            self.in_flight[frame.sender / 2] += 1;
            self.events.at(at, Happening::Arrive(Box::new(frame)));
        }
    }

    /// A send request has ended.
    fn complete(&mut self, qp: usize, completion: Completion) {
        let now = self.events.now();
        let slot = self.qps[qp].side.slots.get_mut(completion.slot.0 as usize);
        let Some(Slot { posted, sink }) = slot.and_then(Option::take) else {
            let what = format!("the free slot {} is complete", completion.slot.0);
            return self.oracle.fail(qp, what);
        };
        let values = [posted.id, completion.status as u64];
        self.trace.note(now, Mark::Completed, qp, &values, || {
            format!("{} {:?} {:?}", posted.id, completion.status, posted.wr.op)
        });
        self.oracle
            .completed(qp, &posted, completion.status, completion.reported);
        self.ended = now;
        if posted.keep_sink {
            self.qps[qp].side.kept.insert(posted.id, sink);
        }
        if completion.status != WcStatus::Success {
            self.failures += 1;
        }
        self.qps[qp].application.completed();
        if completion.status != WcStatus::Success {
            let unreliable = matches!(
                self.scenario.pairs[qp / 2].service,
                Service::Uc | Service::Ud
            );
            if unreliable && self.qps[qp].state != Life::Failed {
                self.stalled(qp);
            } else {
                self.broke(qp);
            }
        }
    }

    fn tell(&mut self, qp: usize, event: Event) {
        let now = self.events.now();
        self.trace.note(now, Mark::Event, qp, &[event as u64], || {
            format!("{event:?}")
        });
        self.oracle.told(qp, event);
        match event {
            Event::Failed => self.broke(qp),
            Event::SendQueueDrained => self.drained(qp),
            _ => (),
        }
    }

    /// Receive requests that were used up are posted again after a while.
    pub(super) fn give_back(&mut self, qp: usize) {
        for shared in std::mem::take(&mut self.qps[qp].side.used) {
            let queue = match shared {
                None => QueueName::Own(qp),
                Some(index) => QueueName::Shared {
                    host: self.qps[qp].plan.host,
                    index,
                },
            };
            self.order(queue, 1);
        }
    }

    /// The application posts what it may.
    pub(super) fn post(&mut self, qp: usize) {
        loop {
            let Qp {
                application, state, ..
            } = &self.qps[qp];
            let may = matches!(
                state,
                Life::Works | Life::Drains | Life::Stalled | Life::Failed
            );
            if !may || !application.wants_to_post() {
                return;
            }
            let in_vain = matches!(state, Life::Stalled | Life::Failed);
            if in_vain && !self.qps[qp].application.may_post_in_vain() {
                return;
            }
            let now = self.events.now();
            if let Some(at) = self.qps[qp].application.thinks_until(now) {
                self.events.at(at, Happening::Post { qp });
                return;
            }
            self.post_one(qp);
            if self.oracle.violation().is_some() {
                return;
            }
        }
    }

    fn post_one(&mut self, qp: usize) {
        let host = self.qps[Self::peer(qp)].plan.host;
        let Some(targets) = self.qps[qp].targets.take() else {
            return;
        };
        let throwaway = if self.qps[qp].application.will_invalidate(&targets) {
            let (area, _) = self.register(host, 8, crate::memory::Rights::ALL);
            Some(area.key)
        } else {
            None
        };
        let now = self.events.now();
        self.qps[qp].application.thinks_from(now);
        let (posted, fixed) = self.qps[qp].application.make(&targets, throwaway);
        self.qps[qp].targets = Some(targets);
        match self.qps[qp].endpoint.post_send(posted.wr) {
            Ok(slot) => {
                self.trace.note(now, Mark::Posted, qp, &[posted.id], || {
                    format!("{posted:?}")
                });
                self.oracle.posted(qp, &posted, fixed);
                let place = self.qps[qp].side.slots.get_mut(slot.0 as usize);
                match place {
                    Some(place @ None) => {
                        let sink = Vec::new();
                        *place = Some(Slot { posted, sink });
                    }
                    _ => {
                        let what = format!("a request at the slot {}, which is in use", slot.0);
                        self.oracle.fail(qp, what);
                    }
                }
                self.wake(qp);
            }
            Err(error) => self
                .oracle
                .fail(qp, format!("a request was not taken: {error:?}")),
        }
    }
}
