// SPDX-License-Identifier: GPL-2.0

//! What a run is made of: hosts, links, connections, what they send and what goes wrong.

mod random;
mod stream;
mod weather;

pub use self::{
    random::random,
    stream::{
        stream,
        Stream, //
    },
};

use crate::{
    events::Nanos,
    network::{
        LinkPlan,
        Pauses, //
    },
    rng::Chance, //
};
use oxe_proto::{
    transport::attributes::{
        Access,
        Attributes, //
    },
    types::{
        Mtu,
        Span, //
    },
    wire::packet::Service, //
};
use std::fmt;

/// What stands behind a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// The engine under test.
    Oxe,
    /// A model of a peer that goes back N, like the kernel's soft RoCE.
    GoBackN,
    /// A model of a peer like a network card: strict.
    ConnectX,
}

impl EndpointKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Oxe, Self::GoBackN, Self::ConnectX];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Oxe => "oxe",
            Self::GoBackN => "gobackn",
            Self::ConnectX => "connectx",
        }
    }
}

/// How long messages are.
#[derive(Clone, Copy, Debug)]
pub enum Sizes {
    /// All the same.
    Fixed(u32),
    /// Mostly short, many around packet borders, some up to the most.
    Mixed {
        /// The longest.
        most: u32,
    },
}

/// What is posted, each as often as its weight says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mix {
    /// SEND, datagrams.
    pub send: u32,
    /// SEND that invalidates a key.
    pub send_invalidate: u32,
    /// WRITE.
    pub write: u32,
    /// WRITE with immediate data.
    pub write_immediate: u32,
    /// READ.
    pub read: u32,
    /// Atomics on memory that only this queue pair changes.
    pub atomic: u32,
    /// FETCH ADD on memory that all queue pairs change.
    pub shared_atomic: u32,
    /// FLUSH.
    pub flush: u32,
    /// ATOMIC WRITE.
    pub atomic_write: u32,
    /// Local work.
    pub local: u32,
}

/// What an application posts on a queue pair.
#[derive(Clone, Copy, Debug)]
pub struct WorkPlan {
    /// Requests in all.
    pub messages: u32,
    /// Bytes in all; nothing is posted beyond.
    pub bytes: u64,
    /// Requests under way at a time.
    pub depth: u32,
    /// Operations.
    pub mix: Mix,
    /// Lengths.
    pub sizes: Sizes,
    /// Requests that want no completion.
    pub unsignalled: Chance,
    /// Requests with a fence.
    pub fence: Chance,
    /// Requests that want an interrupt at the receiver.
    pub solicited: Chance,
    /// SENDs of what a READ before them brought.
    pub from_sink: Chance,
    /// Requests that the peer must refuse.
    pub invalid: Chance,
    /// The longest time between two posts.
    pub think: Nanos,
}

/// How an application posts receive requests.
#[derive(Clone, Copy, Debug)]
pub struct ReceivePlan {
    /// Requests that wait at a time.
    pub depth: u32,
    /// Those at the start.
    pub initial: u32,
    /// Bytes of their buffers.
    pub capacity: u32,
    /// The longest time until a used one is posted again.
    pub delay: Nanos,
    /// Buffers that are too short.
    pub short: Chance,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct EndPlan {
    /// Its host.
    pub host: usize,
    /// What stands behind it.
    pub endpoint: EndpointKind,
    /// Habits in which a model differs from others of its kind, a bit each.
    pub quirks: u8,
    /// Attributes; those that the connection determines are filled in later.
    pub attributes: Attributes,
    /// Slots of its send queue; a power of two.
    pub slots: u32,
    /// Request packets under way at a time.
    pub window: u32,
    /// Packets that are kept when they come early.
    pub early_limit: u32,
    /// The shortest time to a probe.
    pub min_probe: Span,
    /// Shared receive queue of its host, by index.
    pub shared: Option<usize>,
    /// What it posts to send.
    pub work: WorkPlan,
    /// What it posts to receive, unless its queue is shared.
    pub receive: ReceivePlan,
    /// Chances of local faults.
    pub faults: DicePlan,
}

/// Chances of local faults.
#[derive(Clone, Copy, Debug, Default)]
pub struct DicePlan {
    /// Memory or a queue is busy.
    pub busy: Chance,
    /// Memory or a receive request fails for good.
    pub broken: Chance,
    /// The data of a packet cannot be had for the moment.
    pub payload_busy: Chance,
    /// The data of a packet cannot be had.
    pub payload_fault: Chance,
    /// A packet that came early cannot be kept.
    pub early_lost: Chance,
    /// There is no room for a packet at this host for now.
    pub no_room: Chance,
    /// A packet is dropped before it reaches the wire.
    pub send_drop: Chance,
}

/// A connection, or a pair of datagram queue pairs.
#[derive(Clone, Copy, Debug)]
pub struct PairPlan {
    /// Transport service.
    pub service: Service,
    /// Its ends.
    pub ends: [EndPlan; 2],
    /// After a failure it is set up anew, and the rest of the work goes on.
    pub recovers: bool,
}

/// A shared receive queue.
#[derive(Clone, Copy, Debug)]
pub struct SharedPlan {
    /// Its host.
    pub host: usize,
    /// What is posted to it.
    pub receive: ReceivePlan,
}

/// How a host's processor works.
#[derive(Clone, Copy, Debug)]
pub struct HostPlan {
    /// The shortest and longest time from an event to its handling.
    pub delay: (Nanos, Nanos),
    /// Packets that are handled before the endpoint is polled, at most.
    pub coalesce: u32,
    /// Packets that are sent in a row, at most.
    pub budget: u32,
    /// Packets that are taken out of an endpoint at once, at most.
    pub burst: u32,
    /// How late a timer fires at most.
    pub timer_slack: Nanos,
    /// A timer fires that was not set, when there is work anyhow.
    pub stray_timer: Chance,
    /// What it lacks, if it is starved.
    pub starved: Option<Starved>,
}

/// A host that has too little of a processor.
#[derive(Clone, Copy, Debug)]
pub struct Starved {
    /// Stops, in which nothing is done and no timer fires.
    pub stops: Pauses,
    /// What each packet takes, sent or received.
    pub packet: Nanos,
    /// Packets that wait to be received; more are dropped.
    pub queue: usize,
}

/// Something that happens to a queue pair or a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its owner moves it to ERR.
    Error,
    /// Its owner moves it to RESET; later both ends are connected anew.
    Reset,
    /// Its driver lets it fail.
    Abort,
    /// Its owner destroys it and makes a new one, as does the peer's.
    Destroy,
    /// Its owner drains its send queue, with or without the event, and goes on after a while.
    Drain {
        /// The event is wanted, and waited for.
        notify: bool,
        /// How long it stays drained.
        stay: Nanos,
    },
    /// Its owner changes attributes that may be changed.
    Tune,
    /// The memory that its peer writes to is taken away.
    Invalidate,
    /// Everything that its host sends is lost from now on.
    Isolate,
}

/// When something happens: after so many events of the run.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// Events before it.
    pub step: u64,
    /// The pair that it happens to.
    pub pair: usize,
    /// The end of the pair.
    pub end: usize,
    /// What happens.
    pub action: Action,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What all chance in it comes from.
    pub seed: u64,
    /// Hosts.
    pub hosts: Vec<HostPlan>,
    /// The link from each host to each other one: at `from * hosts + to`.
    pub links: Vec<LinkPlan>,
    /// Shared receive queues.
    pub shared: Vec<SharedPlan>,
    /// Connections.
    pub pairs: Vec<PairPlan>,
    /// What happens on the way, by step.
    pub actions: Vec<Planned>,
    /// Packets are sent as bytes, with headers and ICRC.
    pub bytes: bool,
    /// Congestion notifications are sent for marked packets.
    pub notifies: bool,
    /// Virtual time after which the run is given up.
    pub limit: Nanos,
    /// The run is a measurement: it may end at the limit.
    pub measures: bool,
}

impl Scenario {
    /// The link from one host to another.
    pub fn link(&self, from: usize, to: usize) -> &LinkPlan {
        &self.links[from * self.hosts.len() + to]
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {} hosts", self.seed, self.hosts.len())?;
        for (index, link) in self.links.iter().enumerate() {
            let (from, to) = (index / self.hosts.len(), index % self.hosts.len());
            if from != to {
                writeln!(f, "  link {from}->{to}: {link:?}")?;
            }
        }
        for pair in &self.pairs {
            writeln!(f, "  {:?}, recovers: {}", pair.service, pair.recovers)?;
            for end in &pair.ends {
                writeln!(f, "    {end:?}")?;
            }
        }
        for planned in &self.actions {
            writeln!(f, "  {planned:?}")?;
        }
        Ok(())
    }
}

/// Attributes with everything allowed and ordinary values.
pub fn usual_attributes(mtu: Mtu) -> Attributes {
    Attributes {
        access: Access::ALL,
        pkey: oxe_proto::types::Pkey::DEFAULT_FULL,
        path_mtu: mtu,
        max_rd_atomic: 16,
        max_dest_rd_atomic: 16,
        min_rnr_timer: 12,
        timeout: 14,
        retry_cnt: 7,
        rnr_retry: 7,
        ..Attributes::default()
    }
}
