// SPDX-License-Identifier: GPL-2.0

//! What must be true of every run, whoever the endpoints are.
//!
//! The oracle is told of each request that is posted, each packet that is sent, each touch of
//! memory and each completion, and knows from the requests alone what all of it must be. It is made
//! from the rules of the transport and of the verbs, not from any endpoint's code:
//!
//! * [`message`]: what each packet of a request must say, and which sequence numbers it has;
//! * [`requester`]: what may be sent when, and how requests may end;
//! * [`effects`] and [`receive`]: effects, exactly once and in order;
//! * [`responder`]: what may be answered;
//! * [`image`]: what memory must hold, and what a READ may bring;
//! * [`failure`]: which failures have a reason.
//!
//! The first violation ends a run.

mod effects;
mod failure;
mod flow;
mod image;
mod message;
mod receive;
mod requester;
mod responder;

pub use self::flow::{
    FlowPlan,
    Stats, //
};

use self::{
    flow::Flow,
    image::Image, //
};
use crate::{
    endpoint::Step,
    events::Nanos,
    frame::is_request,
    memory::{
        Memory,
        Region, //
    },
};
use oxe_proto::{
    transport::{
        ports::Observation,
        Event, //
    },
    types::Psn,
    wire::packet::Packet, //
};
use std::collections::BTreeMap;

/// Which packet is being handled when something happens.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The queue pair that sent it, in the simulator's count.
    pub sender: usize,
    /// The flow that it is part of.
    pub flow: Option<usize>,
    /// Its sequence number.
    pub psn: Psn,
    /// Its number among all that were handled.
    pub serial: u64,
}

/// Something that must not be.
#[derive(Clone, Debug)]
pub struct Violation {
    /// When.
    pub at: Nanos,
    /// At which queue pair.
    pub qp: usize,
    /// What.
    pub what: String,
}

/// A queue pair as the oracle sees it.
#[derive(Clone, Debug)]
struct End {
    /// The flow that it sends.
    out: Option<usize>,
    /// The flow that it receives, unless it is a datagram queue pair.
    inward: Option<usize>,
    state: Phase,
    shared: bool,
    /// Judged strictly: an engine under test and not a model of a peer.
    strict: bool,
    drain_wanted: bool,
    drained: bool,
    last_seen: bool,
    established: bool,
    /// It told its driver that it failed.
    failed: bool,
    /// Its receive request was flushed: it must have failed.
    flushed: bool,
    /// It has a reason to fail: as requester a completion with an error, as responder a request
    /// that it refuses.
    may_fail: bool,
}

/// State of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Reset,
    Init,
    Receive,
    Send,
    Drain,
    Error,
}

/// Who watches.
pub struct Oracle {
    now: Nanos,
    flows: Vec<Flow>,
    ends: Vec<End>,
    images: BTreeMap<(usize, u32), Image>,
    hosts: Vec<usize>,
    violation: Option<Violation>,
}

impl Oracle {
    /// An oracle for queue pairs on these hosts; `strict` says which are under test, `shared` which
    /// have a shared receive queue.
    pub fn new(ends: &[(usize, bool, bool)]) -> Self {
        let end = |&(_, strict, shared): &(usize, bool, bool)| End {
            out: None,
            inward: None,
            state: Phase::Reset,
            shared,
            strict,
            drain_wanted: false,
            drained: false,
            last_seen: false,
            established: false,
            failed: false,
            flushed: false,
            may_fail: false,
        };
        Self {
            now: 0,
            flows: Vec::new(),
            ends: ends.iter().map(end).collect(),
            images: BTreeMap::new(),
            hosts: ends.iter().map(|&(host, _, _)| host).collect(),
            violation: None,
        }
    }

    /// Time moves on.
    pub fn tick(&mut self, now: Nanos) {
        self.now = now;
    }

    /// The first violation.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Something is wrong.
    pub fn fail(&mut self, qp: usize, what: String) {
        if self.violation.is_none() {
            self.violation = Some(Violation {
                at: self.now,
                qp,
                what,
            });
        }
    }

    /// A region was registered.
    pub fn registered(&mut self, host: usize, key: u32, region: &Region) {
        self.images.insert((host, key), Image::of(key, region));
    }

    /// A queue pair starts to send to another one, or to anybody.
    pub fn connected(&mut self, plan: FlowPlan) {
        let number = self.flows.len();
        self.ends[plan.from].out = Some(number);
        if let Some(to) = plan.to {
            self.ends[to].inward = Some(number);
        }
        let image = plan
            .target
            .and_then(|(host, key)| self.images.get(&(host, key)))
            .cloned();
        self.flows.push(Flow::new(plan, image));
    }

    /// The flow that a queue pair sends.
    pub fn flow_of(&self, qp: usize) -> Option<usize> {
        self.ends[qp].out
    }

    /// A queue pair was moved.
    pub fn stepped(&mut self, qp: usize, step: Step) {
        let end = &mut self.ends[qp];
        match step {
            Step::Init => end.state = Phase::Init,
            Step::Receive => end.state = Phase::Receive,
            Step::Send => end.state = Phase::Send,
            Step::Resume => {
                end.state = Phase::Send;
                if let Some(flow) = end.out {
                    self.flows[flow].resume();
                }
            }
            Step::Drain { notify } => {
                end.state = Phase::Drain;
                end.drain_wanted = notify;
                end.drained = false;
            }
            Step::Error => {
                end.state = Phase::Error;
                end.may_fail = true;
            }
            Step::Reset => {
                let (strict, shared) = (end.strict, end.shared);
                *end = End {
                    out: None,
                    inward: None,
                    state: Phase::Reset,
                    shared,
                    strict,
                    drain_wanted: false,
                    drained: false,
                    last_seen: false,
                    established: false,
                    failed: false,
                    flushed: false,
                    may_fail: false,
                };
            }
        }
    }

    /// A queue pair told of something.
    pub fn told(&mut self, qp: usize, event: Event) {
        match event {
            Event::CommunicationEstablished => {
                if std::mem::replace(&mut self.ends[qp].established, true) {
                    self.fail(qp, "communication established twice".into());
                }
            }
            Event::SendQueueDrained => self.told_drained(qp),
            Event::LastWqeReached => {
                if !self.ends[qp].shared {
                    self.fail(qp, "last receive reached without a shared queue".into());
                } else if std::mem::replace(&mut self.ends[qp].last_seen, true) {
                    self.fail(qp, "last receive reached twice".into());
                } else if !self.has_reason(qp) {
                    self.fail(qp, "last receive reached without an error".into());
                }
            }
            Event::RequestError | Event::AccessError | Event::Failed => {
                if !self.has_reason(qp) {
                    self.fail(qp, format!("{event:?} without a reason"));
                }
                self.ends[qp].failed |= event == Event::Failed;
            }
        }
    }

    /// Whether a queue pair has a reason to fail: as requester, one of its requests failed; as
    /// responder, it refuses one.
    fn has_reason(&mut self, qp: usize) -> bool {
        let refuses = self.ends[qp].inward.is_some_and(|flow| {
            self.flows[flow].settle();
            self.may_refuse(flow)
        });
        self.ends[qp].may_fail |= refuses;
        self.ends[qp].may_fail
    }

    fn told_drained(&mut self, qp: usize) {
        let end = &self.ends[qp];
        if end.state != Phase::Drain || !end.drain_wanted || end.drained {
            let (state, again) = (end.state, end.drained);
            self.fail(qp, format!("drained in {state:?}, again: {again}"));
            return;
        }
        self.ends[qp].drained = true;
        let Some(flow) = self.ends[qp].out else {
            return;
        };
        let flow = &self.flows[flow];
        // What is complete but not yet polled from the endpoint has been answered.
        if let Some(message) = flow.started_and_unanswered() {
            let id = flow.messages[message].posted.id;
            self.fail(qp, format!("drained while request {id} is under way"));
        }
    }

    /// A packet left a queue pair.
    pub fn sent(&mut self, qp: usize, packet: &Packet, data: &[u8]) {
        if packet.data_bytes as usize != data.len() {
            let told = packet.data_bytes;
            self.fail(qp, format!("{} bytes of data, not {told}", data.len()));
        }
        if is_request(&packet.op) {
            self.sent_request(qp, packet, data);
        } else {
            self.sent_response(qp, packet, data);
        }
    }

    /// A packet reached the queue pair that it is for.
    pub fn delivered(&mut self, qp: usize, flow: Option<usize>, packet: &Packet) {
        if is_request(&packet.op) {
            if let Some(flow) = self.ends[qp].inward.or(flow) {
                self.flows[flow].request_arrived(packet.psn);
            }
        } else if let Some(flow) = self.ends[qp].out {
            self.flows[flow].response_arrived(packet);
        }
    }

    /// A packet from or to a queue pair was lost, or something that comes to the same.
    pub fn disturbed(&mut self, qp: usize) {
        let end = &self.ends[qp];
        for flow in [end.out, end.inward].into_iter().flatten() {
            self.flows[flow].disturbances += 1;
            self.flows[flow].ever_disturbed = true;
        }
    }

    /// The peer of a queue pair is gone, or the way to it: its requests may run out of retries.
    pub fn peer_lost(&mut self, qp: usize) {
        if let Some(flow) = self.ends[qp].out {
            self.flows[flow].peer_lost = true;
        }
    }

    /// A queue pair's driver lets it fail.
    pub fn aborted(&mut self, qp: usize) {
        self.ends[qp].may_fail = true;
    }

    /// A region will be invalidated, so that requests may be refused.
    pub fn region_lost(&mut self, host: usize, key: u32) {
        if let Some(image) = self.images.get_mut(&(host, key)) {
            image.lost = true;
        }
    }

    /// An endpoint told its watchers of something.
    pub fn observed(&mut self, _qp: usize, _what: Observation) {}

    /// The packets of a queue pair since it was connected.
    pub fn stats(&self, qp: usize) -> Stats {
        let mut sum = Stats::default();
        for flow in self.flows.iter().filter(|flow| flow.plan.from == qp) {
            sum.add(&flow.stats);
        }
        sum
    }

    /// The run is over: everything that was posted has ended, and memory is as it must be.
    pub fn finish(&mut self, hosts: &[&Memory]) {
        for qp in 0..self.ends.len() {
            let end = &self.ends[qp];
            if let Some(flow) = end.out {
                let flow = &self.flows[flow];
                if flow.completed < flow.messages.len() && end.state != Phase::Drain {
                    let id = flow.messages[flow.completed].posted.id;
                    self.fail(qp, format!("request {id} never ended"));
                }
            }
            let end = &self.ends[qp];
            if end.state == Phase::Drain && end.drain_wanted && !end.drained && !end.may_fail {
                self.fail(qp, "never told that it is drained".into());
            }
            let end = &self.ends[qp];
            let in_error = end.state == Phase::Error || end.failed;
            let (flushed, shared, last_seen) = (end.flushed, end.shared, end.last_seen);
            if flushed && !in_error {
                self.fail(qp, "a receive request was flushed for no reason".into());
            }
            if in_error && shared && !last_seen {
                self.fail(
                    qp,
                    "in error, but the last receive was never reached".into(),
                );
            }
        }
        self.compare_memory(hosts);
    }

    fn compare_memory(&mut self, hosts: &[&Memory]) {
        let mut wrong = None;
        for (&(host, key), image) in &self.images {
            let Some(region) = hosts[host].region(key) else {
                continue;
            };
            if let Some(at) = image.mismatch(&region.bytes) {
                wrong = Some(format!("host {host}, key {key:#x}: byte {at} is wrong"));
                break;
            }
        }
        if let Some(what) = wrong {
            self.fail(0, what);
        }
    }
}
