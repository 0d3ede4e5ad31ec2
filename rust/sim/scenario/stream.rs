// SPDX-License-Identifier: GPL-2.0

//! One connection that carries one kind of request as fast as it can: what is measured.

use super::{
    usual_attributes,
    DicePlan,
    EndPlan,
    EndpointKind,
    HostPlan,
    Mix,
    PairPlan,
    ReceivePlan,
    Scenario,
    Sizes,
    Starved,
    WorkPlan, //
};
use crate::{
    events::{
        Nanos,
        MICROSECOND,
        SECOND, //
    },
    network::LinkPlan,
    rng::Chance, //
};
use oxe_proto::{
    transport::{
        attributes::Config,
        state::QpType, //
    },
    types::{
        Mtu,
        Qpn, //
    },
    wire::packet::Service, //
};

/// What is measured.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Seed.
    pub seed: u64,
    /// Requester and responder.
    pub endpoints: [EndpointKind; 2],
    /// What is posted.
    pub mix: Mix,
    /// Bytes of each message.
    pub size: u32,
    /// Bytes in all.
    pub total: u64,
    /// Requests under way at a time.
    pub depth: u32,
    /// Path MTU.
    pub mtu: Mtu,
    /// The way there.
    pub forward: LinkPlan,
    /// The way back.
    pub backward: LinkPlan,
    /// Code of the acknowledgement timeout.
    pub timeout: u8,
    /// What both hosts lack.
    pub starved: Option<Starved>,
    /// Virtual time after which it ends.
    pub limit: Nanos,
}

impl Stream {
    /// A stream over a clean link with the usual values.
    pub fn new(seed: u64, endpoints: [EndpointKind; 2], mix: Mix, size: u32) -> Self {
        Self {
            seed,
            endpoints,
            mix,
            size,
            total: 16 << 20,
            depth: 32,
            mtu: Mtu::B1024,
            forward: LinkPlan::default(),
            backward: LinkPlan::default(),
            timeout: 14,
            starved: None,
            limit: 20 * SECOND,
        }
    }
}

/// Work of which there is none.
const NO_WORK: WorkPlan = WorkPlan {
    messages: 0,
    bytes: 0,
    depth: 1,
    mix: Mix {
        send: 1,
        send_invalidate: 0,
        write: 0,
        write_immediate: 0,
        read: 0,
        atomic: 0,
        shared_atomic: 0,
        flush: 0,
        atomic_write: 0,
        local: 0,
    },
    sizes: Sizes::Fixed(8),
    unsignalled: Chance::NEVER,
    fence: Chance::NEVER,
    solicited: Chance::NEVER,
    from_sink: Chance::NEVER,
    invalid: Chance::NEVER,
    think: 0,
};

/// The scenario of a stream.
pub fn stream(stream: &Stream) -> Scenario {
    let mut attributes = usual_attributes(stream.mtu);
    attributes.timeout = stream.timeout;
    let messages = stream.total.div_ceil(u64::from(stream.size.max(1)));
    let work = WorkPlan {
        messages: u32::try_from(messages).unwrap_or(u32::MAX),
        bytes: u64::MAX,
        depth: stream.depth,
        mix: stream.mix,
        sizes: Sizes::Fixed(stream.size),
        ..NO_WORK
    };
    let receive = ReceivePlan {
        depth: 2 * stream.depth,
        initial: 2 * stream.depth,
        capacity: stream.size,
        delay: 0,
        short: Chance::NEVER,
    };
    let usual = Config::new(QpType::Rc, Qpn::default());
    let end = |index: usize, work: WorkPlan| EndPlan {
        host: index,
        endpoint: stream.endpoints[index],
        quirks: 0,
        attributes,
        slots: stream.depth.next_power_of_two(),
        window: usual.window,
        early_limit: usual.early_limit,
        min_probe: usual.min_probe,
        shared: None,
        work,
        receive,
        faults: DicePlan::default(),
    };
    let host = HostPlan {
        delay: (MICROSECOND, MICROSECOND),
        coalesce: 64,
        budget: 64,
        burst: 16,
        timer_slack: 0,
        stray_timer: Chance::NEVER,
        starved: stream.starved,
    };
    let idle = LinkPlan::default();
    Scenario {
        seed: stream.seed,
        hosts: vec![host; 2],
        links: vec![
            idle.clone(),
            stream.forward.clone(),
            stream.backward.clone(),
            idle,
        ],
        shared: Vec::new(),
        pairs: vec![PairPlan {
            service: Service::Rc,
            ends: [end(0, work), end(1, NO_WORK)],
            recovers: false,
        }],
        actions: Vec::new(),
        bytes: false,
        notifies: false,
        limit: stream.limit,
        measures: true,
    }
}
