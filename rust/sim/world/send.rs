// SPDX-License-Identifier: GPL-2.0

//! What a driver sends: it gathers data and puts packets on the wire.

use super::{
    Happening,
    World, //
};
use crate::{
    events::{
        Nanos,
        MICROSECOND, //
    },
    frame::Frame,
    network::Fate,
    trace::{
        describe,
        Mark, //
    },
    wire::{
        self,
        Route, //
    },
    work::Source, //
};
use oxe_proto::{
    transport::{
        error::Fault,
        wr::{
            Payload,
            Transmit, //
        },
    },
    types::{
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
    /// Sends what an endpoint has, up to the budget; true if that was all.
    pub(super) fn send_all(&mut self, qp: usize) -> bool {
        let host = &self.scenario.hosts[self.qps[qp].plan.host];
        let (budget, most) = (host.budget, host.burst);
        let mut burst = std::mem::take(&mut self.burst);
        let mut sent = 0;
        while sent < budget {
            burst.clear();
            let most = most.min(budget - sent);
            self.call(qp, None, |endpoint, now, port| {
                endpoint.poll_transmit(now, most, &mut burst, port);
            });
            if burst.len() > most as usize {
                let what = format!("a burst of {} packets, not {most}", burst.len());
                self.oracle.fail(qp, what);
            }
            if burst.is_empty() {
                break;
            }
            for transmit in &burst {
                sent += 1;
                if !self.transmit(qp, transmit) {
                    break;
                }
            }
        }
        self.burst = burst;
        if sent >= budget {
            self.wake(qp);
        }
        sent < budget
    }

    /// Sends a packet, if its data can be had; false if not.
    fn transmit(&mut self, qp: usize, transmit: &Transmit) -> bool {
        let bytes = transmit.packet.data_bytes as usize;
        let dice = &mut self.qps[qp].side.dice;
        let data = if dice.rng.happens(dice.no_room) {
            self.oracle.not_sent(qp, &transmit.packet);
            Err(Fault::Busy)
        } else {
            self.gather(qp, &transmit.payload, bytes)
        };
        match data {
            Ok(data) => {
                self.oracle.sent(qp, &transmit.packet, &data);
                self.spend(qp);
                self.launch(qp, transmit.packet, data);
                true
            }
            Err(fault) => {
                let now = self.events.now();
                self.trace.note(now, Mark::Fault, qp, &[fault as u64], || {
                    format!("no data for {}: {fault:?}", describe(&transmit.packet))
                });
                self.call(qp, None, |endpoint, now, port| {
                    endpoint.payload_fault(now, transmit, fault, port);
                });
                false
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
        let bytes = if self.scenario.bytes {
            self.next_id = self.next_id.wrapping_add(1);
            let route = Route {
                from,
                to,
                sender: side.number,
                v6: qp / 2 % 2 == 1,
                id: self.next_id,
            };
            let bytes = wire::encode(&route, &packet, &data);
            if bytes.is_none() {
                let what = format!("{} cannot be written", describe(&packet));
                self.oracle.fail(qp, what);
            }
            bytes
        } else {
            None
        };
        let frame = Frame {
            sender: qp,
            flow: self.oracle.flow_of(qp),
            from,
            to,
            packet,
            data,
            bytes,
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

    /// Tells the sender of a marked packet to slow down.
    pub(super) fn notify(&mut self, qp: usize, frame: &Frame) {
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

    /// What is left of a frame once its CRC was looked at.
    pub(super) fn read(&mut self, mut frame: Frame) -> Option<Frame> {
        let Some(bytes) = &frame.bytes else {
            return (!frame.damaged).then_some(frame);
        };
        let read = wire::decode(bytes);
        if !frame.damaged && read.as_ref() != Some(&(frame.packet, frame.data.clone())) {
            let what = format!("{} became {read:?}", describe(&frame.packet));
            self.oracle.fail(frame.sender, what);
        }
        (frame.packet, frame.data) = read?;
        Some(frame)
    }
}
