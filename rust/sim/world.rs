// SPDX-License-Identifier: GPL-2.0

//! A run: hosts with queue pairs on a network, in virtual time.
//!
//! * [`build`]: from a scenario to queue pairs that are connected;
//! * [`driver`] and [`send`]: what a driver does for an endpoint;
//! * [`processor`]: hosts that are starved;
//! * [`applications`]: posts and completions;
//! * [`life`]: moves between states, failures, connecting anew.

mod applications;
mod build;
mod driver;
mod life;
mod processor;
mod send;

use crate::{
    coverage::Coverage,
    endpoint::{
        Endpoint,
        Step, //
    },
    events::{
        Events,
        Nanos, //
    },
    frame::Frame,
    network::Network,
    oracle::{
        Oracle,
        Stats,
        Violation, //
    },
    port::{
        Host,
        Side, //
    },
    rng::Rng,
    scenario::{
        EndPlan,
        ReceivePlan,
        Scenario, //
    },
    trace::Trace,
    workload::{
        Application,
        Targets, //
    },
};
use oxe_proto::transport::{
    attributes::Attributes,
    wr::Transmit, //
};
use processor::Processor;
use std::collections::{
    BTreeMap,
    VecDeque, //
};

/// A receive queue: of a queue pair, or shared on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueueName {
    Own(usize),
    Shared { host: usize, index: usize },
}

/// What happens at a moment.
enum Happening {
    Arrive(Box<Frame>),
    Work { qp: usize, life: u32 },
    Timer { qp: usize, life: u32, at: Nanos },
    Post { qp: usize },
    Supply { queue: QueueName },
    Resume { qp: usize, life: u32 },
    Tell { qp: usize, life: u32 },
    Send { qp: usize, life: u32 },
    Reconnect { pair: usize },
}

/// State of a queue pair as its owner knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Down,
    Receives,
    Works,
    Drains,
    /// Its send queue has failed, but it goes on to receive (SQE).
    Stalled,
    Failed,
}

struct Qp {
    endpoint: Box<dyn Endpoint>,
    side: Side,
    plan: EndPlan,
    attributes: Attributes,
    targets: Option<Targets>,
    application: Application,
    inbox: VecDeque<Frame>,
    held: BTreeMap<u16, Frame>,
    work_due: bool,
    timer: Option<Nanos>,
    state: Life,
    /// Counts connections, so that what was meant for an earlier one is not done to a later one.
    life: u32,
    notified_at: Option<Nanos>,
    drain_stay: Option<Nanos>,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Report {
    /// The hash of everything that happened.
    pub hash: u64,
    /// What must not have been.
    pub violation: Option<Violation>,
    /// Events.
    pub steps: u64,
    /// When the last request ended.
    pub ended: Nanos,
    /// Whether the time limit ended it.
    pub cut: bool,
    /// Packets and bytes of each queue pair.
    pub stats: Vec<Stats>,
    /// Requests that ended with an error.
    pub failures: u64,
    /// What happened at all.
    pub coverage: Coverage,
    /// Kept trace lines.
    pub lines: Vec<String>,
}

impl Report {
    /// Packets and bytes of all queue pairs.
    pub fn total(&self) -> Stats {
        let mut sum = Stats::default();
        for stats in &self.stats {
            sum.add(stats);
        }
        sum
    }

    /// Bits per second that requests carried until the last one ended.
    pub fn goodput(&self) -> f64 {
        self.total().bytes as f64 * 8e9 / self.ended.max(1) as f64
    }
}

/// A run in progress.
pub struct World {
    scenario: Scenario,
    events: Events<Happening>,
    network: Network,
    hosts: Vec<Host>,
    processors: Vec<Processor>,
    qps: Vec<Qp>,
    supplies: Vec<(QueueName, Supply)>,
    numbers: BTreeMap<u32, usize>,
    oracle: Oracle,
    trace: Trace,
    rng: Rng,
    next_number: u32,
    next_key: u32,
    next_id: u16,
    in_flight: Vec<u64>,
    steps: u64,
    handled: u64,
    actions_done: usize,
    failures: u64,
    ended: Nanos,
    arrivals: Vec<(Nanos, Frame)>,
    burst: Vec<Transmit>,
}

/// Who posts receive requests to a queue.
struct Supply {
    plan: ReceivePlan,
    rng: Rng,
    /// Requests asked for and not yet posted.
    due: u32,
}

/// Events without time going on, after which a run is taken to hang.
const STILL_EVENTS: u64 = 200_000;

impl World {
    /// Runs a scenario to its end.
    pub fn run(scenario: &Scenario, trace: Trace) -> Report {
        let mut world = Self::new(scenario.clone(), trace, None);
        world.go();
        world.report()
    }

    /// Runs a scenario with endpoints that a function makes or wraps.
    pub fn run_with(
        scenario: &Scenario,
        trace: Trace,
        wrap: &dyn Fn(usize, Box<dyn Endpoint>) -> Box<dyn Endpoint>,
    ) -> Report {
        let mut world = Self::new(scenario.clone(), trace, Some(wrap));
        world.go();
        world.report()
    }

    fn go(&mut self) {
        let mut still = (0, 0);
        while self.oracle.violation().is_none() {
            self.act();
            let Some(what) = self.events.pop() else {
                break;
            };
            let now = self.events.now();
            if now > self.scenario.limit {
                if !self.scenario.measures {
                    self.overdue();
                }
                return;
            }
            still = if now == still.0 {
                (now, still.1 + 1)
            } else {
                (now, 0)
            };
            if still.1 > STILL_EVENTS {
                self.oracle.fail(0, "time stands still".into());
                return;
            }
            self.oracle.tick(now);
            self.steps += 1;
            self.happen(what);
        }
        if self.oracle.violation().is_none() {
            let memories: Vec<_> = self.hosts.iter().map(|host| &host.memory).collect();
            self.oracle.finish(&memories);
        }
    }

    /// The time limit has passed: say what is not finished.
    fn overdue(&mut self) {
        let open = self
            .qps
            .iter()
            .position(|qp| qp.application.outstanding() > 0);
        let qp = open.unwrap_or(0);
        let text = format!(
            "not finished at the limit of {} ms: {} requests open",
            self.scenario.limit / 1_000_000,
            self.qps[qp].application.outstanding()
        );
        self.oracle.fail(qp, text);
    }

    fn happen(&mut self, what: Happening) {
        match what {
            Happening::Arrive(frame) => self.arrive(*frame),
            Happening::Work { qp, life } if self.is_current(qp, life) => self.work(qp),
            Happening::Timer { qp, life, at } if self.is_current(qp, life) => self.timer(qp, at),
            Happening::Post { qp } => self.post(qp),
            Happening::Supply { queue } => self.supply(queue),
            Happening::Resume { qp, life } if self.is_current(qp, life) => self.resume(qp),
            Happening::Tell { qp, life } if self.is_current(qp, life) => self.told(qp),
            Happening::Send { qp, life } if self.is_current(qp, life) => {
                if self.qps[qp].state == Life::Receives {
                    self.step(qp, Step::Send);
                }
            }
            Happening::Reconnect { pair } => self.reconnect(pair),
            _ => (),
        }
    }

    fn is_current(&self, qp: usize, life: u32) -> bool {
        self.qps[qp].life == life
    }

    fn report(self) -> Report {
        Report {
            hash: self.trace.hash(),
            violation: self.oracle.violation().cloned(),
            steps: self.steps,
            ended: self.ended,
            cut: self.events.now() > self.scenario.limit,
            stats: (0..self.qps.len())
                .map(|qp| self.oracle.stats(qp))
                .collect(),
            failures: self.failures,
            coverage: self.oracle.tally.coverage(),
            lines: self.trace.lines().to_vec(),
        }
    }

    fn peer(qp: usize) -> usize {
        qp ^ 1
    }
}
