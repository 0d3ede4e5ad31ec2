// SPDX-License-Identifier: GPL-2.0

//! From a scenario to hosts and queue pairs, and connections between them.

use super::{
    processor::Processor,
    Happening,
    Life,
    Qp,
    QueueName,
    Supply,
    World, //
};
use crate::{
    endpoint::{
        Endpoint,
        Step, //
    },
    endpoints,
    events::Events,
    memory::{
        Region,
        Rights, //
    },
    network::Network,
    oracle::{
        FlowPlan,
        Oracle, //
    },
    pattern::Pattern,
    port::{
        Dice,
        Host,
        SharedQueue,
        Side, //
    },
    rng::Rng,
    scenario::{
        EndpointKind,
        Scenario,
        Sizes, //
    },
    trace::Trace,
    work::ReceiveQueue,
    workload::{
        Application,
        Area,
        Targets, //
    },
};
use oxe_proto::{
    transport::{
        attributes::{
            Attributes,
            Config, //
        },
        state::QpType, //
    },
    types::{
        Psn,
        Qkey,
        Qpn,
        SrqNumber, //
    },
    wire::packet::Service, //
};
use std::collections::{
    BTreeMap,
    VecDeque, //
};

/// Makes or wraps an endpoint.
pub(super) type Wrap<'a> = Option<&'a dyn Fn(usize, Box<dyn Endpoint>) -> Box<dyn Endpoint>>;

/// The queue key of the datagram queue pairs of a pair.
fn qkey(pair: usize) -> Qkey {
    Qkey(0x0100_0000 + pair as u32)
}

fn qp_type(service: Service, end: usize) -> QpType {
    match (service, end) {
        (Service::Uc, _) => QpType::Uc,
        (Service::Ud, _) => QpType::Ud,
        (Service::Xrc, 0) => QpType::XrcIni,
        (Service::Xrc, _) => QpType::XrcTgt,
        _ => QpType::Rc,
    }
}

impl World {
    pub(super) fn new(scenario: Scenario, trace: Trace, wrap: Wrap<'_>) -> Self {
        let ends: Vec<(usize, bool, bool)> = scenario
            .pairs
            .iter()
            .flat_map(|pair| &pair.ends)
            .map(|end| {
                let strict = end.endpoint == EndpointKind::Oxe;
                (end.host, strict, end.shared.is_some())
            })
            .collect();
        let network = Network::new(scenario.seed, scenario.hosts.len(), |from, to| {
            scenario.link(from, to).clone()
        });
        let mut world = Self {
            events: Events::new(),
            network,
            hosts: scenario.hosts.iter().map(|_| Host::default()).collect(),
            processors: (0..scenario.hosts.len())
                .map(|host| Processor::new(scenario.seed, host))
                .collect(),
            qps: Vec::new(),
            supplies: Vec::new(),
            numbers: BTreeMap::new(),
            oracle: Oracle::new(&ends),
            trace,
            rng: Rng::new(scenario.seed, "world", 0),
            next_number: 16,
            next_key: 1,
            next_id: 0,
            in_flight: vec![0; scenario.pairs.len()],
            steps: 0,
            handled: 0,
            actions_done: 0,
            failures: 0,
            ended: 0,
            arrivals: Vec::new(),
            burst: Vec::new(),
            scenario,
        };
        world.make_shared_queues();
        for pair in 0..world.scenario.pairs.len() {
            for end in 0..2 {
                world.make_qp(pair, end, wrap);
            }
        }
        world.make_counters();
        for pair in 0..world.scenario.pairs.len() {
            world.connect(pair);
        }
        world
    }

    fn make_shared_queues(&mut self) {
        for index in 0..self.scenario.shared.len() {
            let plan = self.scenario.shared[index];
            let host = &mut self.hosts[plan.host];
            host.shared.push(SharedQueue {
                number: SrqNumber::from_low_bits(0x100 + index as u32),
                queue: ReceiveQueue::default(),
            });
            let queue = QueueName::Shared {
                host: plan.host,
                index: host.shared.len() - 1,
            };
            self.add_supply(queue, plan.receive, index as u64);
            self.start_supply(queue);
        }
    }

    fn add_supply(&mut self, queue: QueueName, plan: crate::scenario::ReceivePlan, number: u64) {
        let label = match queue {
            QueueName::Own(_) => "receives",
            QueueName::Shared { .. } => "shared receives",
        };
        let supply = Supply {
            plan,
            rng: Rng::new(self.scenario.seed, label, number),
            due: 0,
        };
        self.supplies.push((queue, supply));
    }

    fn make_qp(&mut self, pair: usize, end: usize, wrap: Wrap<'_>) {
        let index = self.qps.len();
        let plan = self.scenario.pairs[pair].ends[end];
        let seed = self.scenario.seed;
        let number = Qpn::from_low_bits(self.next_number);
        self.next_number += 1;
        self.numbers.insert(number.get(), index);
        let chances = plan.faults;
        let side = Side {
            index,
            host: plan.host,
            number,
            slots: (0..plan.slots).map(|_| None).collect(),
            kept: BTreeMap::new(),
            queue: ReceiveQueue::default(),
            shared: plan.shared,
            current: None,
            dice: Dice {
                rng: Rng::new(seed, "dice", index as u64),
                busy: chances.busy,
                broken: chances.broken,
                payload_busy: chances.payload_busy,
                payload_fault: chances.payload_fault,
                early_lost: chances.early_lost,
                no_room: chances.no_room,
                send_drop: chances.send_drop,
            },
            used: Vec::new(),
        };
        let endpoint = self.make_endpoint(pair, end, number);
        let endpoint = match wrap {
            Some(wrap) => wrap(index, endpoint),
            None => endpoint,
        };
        let service = self.scenario.pairs[pair].service;
        let mut work = plan.work;
        if service == Service::Xrc && end == 1 {
            work.messages = 0;
        }
        self.qps.push(Qp {
            endpoint,
            side,
            plan,
            attributes: Attributes::default(),
            targets: None,
            application: Application::new(work, Rng::new(seed, "application", index as u64)),
            inbox: VecDeque::new(),
            held: BTreeMap::new(),
            work_due: false,
            timer: None,
            state: Life::Down,
            life: 0,
            notified_at: None,
            drain_stay: None,
        });
        if plan.shared.is_none() {
            self.add_supply(QueueName::Own(index), plan.receive, index as u64);
        }
    }

    pub(super) fn make_endpoint(&self, pair: usize, end: usize, number: Qpn) -> Box<dyn Endpoint> {
        let plan = &self.scenario.pairs[pair].ends[end];
        let service = self.scenario.pairs[pair].service;
        let config = Config {
            port_mtu: plan.attributes.path_mtu,
            shared_receive: plan.shared.is_some(),
            window: plan.window,
            early_limit: plan.early_limit,
            min_probe: plan.min_probe,
            ..Config::new(qp_type(service, end), number)
        };
        let resources = plan.attributes.max_dest_rd_atomic;
        endpoints::make(plan.endpoint, config, plan.slots, resources, plan.quirks)
    }

    /// A key and an address that no other region has.
    pub(super) fn register(&mut self, host: usize, length: u32, rights: Rights) -> (Area, Pattern) {
        let key = self.next_key << 8 | self.rng.below(256) as u32;
        self.next_key += 1;
        let base = 0x7f00_0000_0000 + (u64::from(self.next_key) << 32) + self.rng.below(512) * 8;
        let pattern = Pattern(self.rng.bits());
        let region = Region::new(base, pattern, length as usize, rights);
        self.oracle.registered(host, key, &region);
        self.hosts[host].memory.insert(key, region);
        (Area { key, base, length }, pattern)
    }

    /// On each host, memory that all queue pairs add to.
    fn make_counters(&mut self) {
        for host in 0..self.hosts.len() {
            let (area, _) = self.register(host, 64, Rights::ALL);
            let ends = self.scenario.pairs.iter().flat_map(|pair| &pair.ends);
            let there: Vec<bool> = ends.map(|end| end.host == host).collect();
            for (index, there) in there.into_iter().enumerate() {
                if there {
                    self.qps[Self::peer(index)].application.counters = Some(area);
                }
            }
        }
    }

    /// Memory at the peer for what a queue pair sends.
    fn make_targets(&mut self, qp: usize) -> Targets {
        let peer = Self::peer(qp);
        let host = self.qps[peer].plan.host;
        let longest = match self.qps[qp].plan.work.sizes {
            Sizes::Fixed(bytes) => bytes,
            Sizes::Mixed { most } => most,
        };
        let old = self.qps[qp].targets.take();
        let still = old.as_ref().filter(|targets| {
            let region = self.hosts[host].memory.region(targets.target.key);
            region.is_some_and(|region| region.valid)
        });
        let (target, source, forbidden, local) = match (still, &old) {
            (Some(old), _) => (
                old.target,
                (old.source, old.pattern),
                old.forbidden,
                old.local,
            ),
            (None, Some(old)) => {
                let (target, _) = self.register(host, old.target.length, Rights::ALL);
                (target, (old.source, old.pattern), old.forbidden, old.local)
            }
            (None, None) => {
                let length = longest.max(256).next_multiple_of(8) + 64;
                let (target, _) = self.register(host, length, Rights::ALL);
                let source = self.register(host, length, Rights::READ);
                let (forbidden, _) = self.register(host, 256, Rights::WRITE);
                let (local, _) = self.register(self.qps[qp].plan.host, 64, Rights::ALL);
                (target, source, forbidden, local.key)
            }
        };
        let pair = qp / 2;
        let shared = &self.hosts[host].shared;
        Targets {
            service: self.scenario.pairs[pair].service,
            mtu: self.qps[qp].attributes.path_mtu,
            target,
            source: source.0,
            pattern: source.1,
            forbidden,
            local,
            access: self.qps[peer].plan.attributes.access,
            max_rd_atomic: self.qps[qp].attributes.max_rd_atomic,
            dest: self.qps[peer].side.number,
            qkey: qkey(pair),
            queues: shared.iter().map(|queue| queue.number).collect(),
        }
    }

    /// Attributes of both ends for a new connection.
    fn agree(&mut self, pair: usize) -> [Attributes; 2] {
        let mut number = || {
            let wrap = self.rng.percent(50);
            let far = if wrap { 200 } else { 1 << 24 };
            Psn::from_low_bits((self.rng.below(far) as u32).wrapping_neg())
        };
        let psns = [number(), number()];
        [0, 1].map(|end| {
            let qp = 2 * pair + end;
            let peer = Self::peer(qp);
            let depth = self.qps[peer].plan.attributes.max_dest_rd_atomic;
            let own = self.qps[qp].plan.attributes;
            Attributes {
                dest_qp: self.qps[peer].side.number,
                sq_psn: psns[end],
                rq_psn: psns[1 - end],
                max_rd_atomic: own.max_rd_atomic.min(depth),
                qkey: qkey(pair),
                ..own
            }
        })
    }

    /// Connects the two ends of a pair.
    pub(super) fn connect(&mut self, pair: usize) {
        let attributes = self.agree(pair);
        let service = self.scenario.pairs[pair].service;
        let ends = [(2 * pair, attributes[0]), (2 * pair + 1, attributes[1])];
        for (qp, attributes) in ends {
            self.qps[qp].attributes = attributes;
        }
        for (qp, attributes) in ends {
            let targets = self.make_targets(qp);
            let peer = Self::peer(qp);
            let hosts = [qp, peer].map(|qp| self.qps[qp].plan.host);
            let link = self.scenario.link(hosts[0], hosts[1]);
            let may_repeat = link.reorder.is_some() || !link.duplicate.is_never();
            self.oracle.connected(FlowPlan {
                from: qp,
                to: (service != Service::Ud).then_some(peer),
                service,
                number: self.qps[qp].side.number,
                attributes,
                window: self.qps[qp].plan.window,
                may_repeat,
                target: Some((self.qps[peer].plan.host, targets.target.key)),
            });
            self.qps[qp].targets = Some(targets);
            self.qps[qp].application.connected();
        }
        // One end is ready to send before the other is.
        let first = 2 * pair + self.rng.below(2) as usize;
        for qp in [first, Self::peer(first)] {
            self.step(qp, Step::Init);
            if self.qps[qp].side.shared.is_none() {
                self.start_supply(QueueName::Own(qp));
            }
        }
        let wait = self.rng.below(20_000);
        for (qp, send_after) in [(first, 0), (Self::peer(first), wait)] {
            self.step(qp, Step::Receive);
            let life = self.qps[qp].life;
            self.events.after(send_after, Happening::Send { qp, life });
        }
    }
}
