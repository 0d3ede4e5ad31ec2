// SPDX-License-Identifier: GPL-2.0

//! A run of which the seed decides everything.

use super::{
    usual_attributes,
    weather::links,
    Action,
    DicePlan,
    EndPlan,
    EndpointKind,
    HostPlan,
    Mix,
    PairPlan,
    Planned,
    ReceivePlan,
    Scenario,
    SharedPlan,
    Sizes,
    WorkPlan, //
};
use crate::{
    events::{
        Nanos,
        MICROSECOND,
        MILLISECOND,
        SECOND, //
    },
    network::LinkPlan,
    rng::{
        Chance,
        Rng, //
    },
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

/// What all parts of a run have to go by.
struct Bounds {
    /// The slowest link's bits per second.
    bandwidth: u64,
    /// The longest time that a packet and its answer take, but for queues.
    round_trip: Nanos,
    /// Something may get lost.
    faulty: bool,
    /// A link dies for ever.
    dies: bool,
    /// Failures may be provoked.
    fails: bool,
    /// Drivers have faults of their own.
    local_faults: bool,
}

/// The run of a seed.
pub fn random(seed: u64) -> Scenario {
    let mut rng = Rng::new(seed, "scenario", 0);
    let count = if rng.percent(80) { 2 } else { 3 };
    let hosts: Vec<HostPlan> = (0..count).map(|_| host(&mut rng)).collect();
    let fails = rng.percent(35);
    let dies = rng.percent(4);
    let links = links(&mut rng, count);
    let slowest = links.iter().map(|link| link.bandwidth).min().unwrap_or(1);
    let way = |link: &LinkPlan| {
        let late = link.reorder.map_or(0, |reorder| reorder.most);
        let pause = link.pauses.map_or(0, |pauses| pauses.length);
        3 * link.delay + late + pause
    };
    let processing = hosts
        .iter()
        .map(|host| host.delay.1 + host.timer_slack)
        .max();
    let bounds = Bounds {
        bandwidth: slowest,
        round_trip: 2 * links.iter().map(way).max().unwrap_or(0) + 4 * processing.unwrap_or(0),
        faulty: links.iter().any(LinkPlan::is_faulty),
        dies,
        fails,
        local_faults: rng.percent(40),
    };
    let mut scenario = Scenario {
        seed,
        hosts,
        links,
        shared: Vec::new(),
        pairs: Vec::new(),
        actions: Vec::new(),
        bytes: rng.percent(25),
        notifies: rng.percent(30),
        limit: 0,
        measures: false,
    };
    add_pairs(&mut rng, &mut scenario, &bounds);
    add_actions(&mut rng, &mut scenario, &bounds);
    scenario.limit = limit(&scenario, &bounds);
    scenario
}

fn host(rng: &mut Rng) -> HostPlan {
    let least = rng.spread(100..=5_000);
    HostPlan {
        delay: (least, least + rng.below(10_000)),
        coalesce: rng.spread(1..=64) as u32,
        budget: rng.spread(1..=64) as u32,
        burst: rng.pick(&[1, 1, 2, 5, 16, 64]),
        timer_slack: rng.pick(&[0, 1_000, 50_000]),
        stray_timer: Chance::percent(rng.pick(&[0, 0, 1, 20])),
        starved: None,
    }
}

fn add_pairs(rng: &mut Rng, scenario: &mut Scenario, bounds: &Bounds) {
    let count = rng.weighted(&[(60, 1), (20, 2), (12, 3), (8, 5)]);
    let hosts = scenario.hosts.len() as u64;
    for _ in 0..count {
        let service = rng.weighted(&[
            (72, Service::Rc),
            (9, Service::Uc),
            (9, Service::Ud),
            (10, Service::Xrc),
        ]);
        let first = rng.below(hosts) as usize;
        let second = (first + 1 + rng.below(hosts - 1) as usize) % scenario.hosts.len();
        let kinds = endpoints(rng, service);
        let mtu = rng.pick(&Mtu::ALL);
        let most = longest(rng, bounds);
        let mut ends = [(first, kinds[0]), (second, kinds[1])]
            .map(|(host, kind)| end(rng, host, kind, mtu, most, count, bounds));
        // Half a message of an unreliable connection would keep a receive request for ever.
        let share = service == Service::Xrc || service == Service::Rc && rng.percent(20);
        if share {
            for end in &mut ends {
                end.shared = Some(share_queue(rng, scenario, end.host));
            }
        }
        if service == Service::Xrc {
            ends[0].shared = None;
        }
        scenario.pairs.push(PairPlan {
            service,
            ends,
            recovers: !bounds.dies && bounds.fails && rng.percent(70),
        });
    }
}

fn endpoints(rng: &mut Rng, service: Service) -> [EndpointKind; 2] {
    use EndpointKind::{
        ConnectX,
        GoBackN,
        Oxe, //
    };
    if matches!(service, Service::Uc | Service::Ud) {
        return [Oxe; 2];
    }
    rng.weighted(&[
        (50, [Oxe, Oxe]),
        (12, [Oxe, GoBackN]),
        (12, [GoBackN, Oxe]),
        (10, [Oxe, ConnectX]),
        (10, [ConnectX, Oxe]),
        (2, [GoBackN, GoBackN]),
        (2, [GoBackN, ConnectX]),
        (2, [ConnectX, ConnectX]),
    ])
}

fn longest(rng: &mut Rng, bounds: &Bounds) -> u32 {
    let most = rng.weighted(&[
        (30, 4 << 10),
        (30, 16 << 10),
        (25, 64 << 10),
        (10, 256 << 10),
        (4, 1 << 20),
        (1, 4 << 20),
    ]);
    let odd = most + rng.below(2000) as u32;
    if bounds.bandwidth < 1_000_000_000 {
        odd.min(64 << 10)
    } else {
        odd
    }
}

/// A shared receive queue on a host: an old one or a new one.
fn share_queue(rng: &mut Rng, scenario: &mut Scenario, host: usize) -> usize {
    let there = scenario
        .shared
        .iter()
        .filter(|plan| plan.host == host)
        .count();
    if there > 0 && rng.percent(50) {
        return rng.below(there as u64) as usize;
    }
    let depth = rng.spread(1..=64) as u32;
    scenario.shared.push(SharedPlan {
        host,
        receive: ReceivePlan {
            depth,
            initial: rng.within(0..=u64::from(depth)) as u32,
            capacity: 8 << 20,
            delay: rng.pick(&[0, 1_000, 50_000, 500_000]),
            short: Chance::NEVER,
        },
    });
    there
}

fn end(
    rng: &mut Rng,
    host: usize,
    endpoint: EndpointKind,
    mtu: Mtu,
    most: u32,
    pairs: u32,
    bounds: &Bounds,
) -> EndPlan {
    let work = work(rng, most, bounds);
    let window = rng.pick(&[1, 2, 8, 32, 128, 256, 1024, 4096]);
    let faults = faults(rng, bounds);
    let quiet = !(bounds.local_faults || bounds.faulty || bounds.dies);
    let depth = rng.within(0..=16) as u8;
    let at_once = u64::from(most) * u64::from(work.depth);
    let in_flight = (u64::from(window.max(512)) * u64::from(mtu.bytes())).min(at_once)
        + u64::from(depth) * u64::from(most);
    let packets = in_flight / u64::from(mtu.bytes()) + 2 * u64::from(work.depth) + 10;
    let bits = 8 * (in_flight + 150 * packets) * u64::from(pairs) * 2;
    let drain = (u128::from(bits) * u128::from(SECOND) / u128::from(bounds.bandwidth)) as Nanos;
    let patience = 4 * (bounds.round_trip + drain);
    let mut attributes = Attributes {
        max_rd_atomic: depth,
        max_dest_rd_atomic: rng.within(0..=16) as u8,
        min_rnr_timer: rng.within(1..=16) as u8,
        timeout: timeout(rng, patience, quiet),
        retry_cnt: rng.weighted(&[(60, 7), (10, 6), (10, 4), (10, 2), (5, 1), (5, 0)]),
        rnr_retry: rng.weighted(&[(80, 7), (8, 6), (4, 2), (4, 1), (4, 0)]),
        access: access(rng),
        ..usual_attributes(mtu)
    };
    // It would try for ever where there is no answer any more.
    if (bounds.dies || bounds.fails) && endpoint == EndpointKind::GoBackN {
        attributes.retry_cnt = attributes.retry_cnt.min(6);
    }
    let receives = rng.pick(&[1, 2, 4, 16, 64]);
    EndPlan {
        host,
        endpoint,
        quirks: if rng.percent(50) { rng.bits() as u8 } else { 0 },
        attributes,
        slots: work.depth.next_power_of_two() << rng.below(2),
        window,
        early_limit: rng.pick(&[0, 1, 8, 64, 256, 1024]),
        min_probe: Span::from_nanos(rng.spread(20 * MICROSECOND..=5 * MILLISECOND)),
        shared: None,
        work,
        receive: ReceivePlan {
            depth: receives,
            initial: if rng.percent(60) {
                receives
            } else {
                rng.below(u64::from(receives) + 1) as u32
            },
            capacity: most + rng.pick(&[0, 40, 1000]) + 40,
            delay: rng.pick(&[0, 0, 1_000, 50_000, 500_000, 3_000_000]),
            short: if bounds.fails && rng.percent(10) {
                Chance::percent(2)
            } else {
                Chance::NEVER
            },
        },
        faults,
    }
}

/// A code of at least so long; none at all if nothing can get lost.
fn timeout(rng: &mut Rng, patience: Nanos, quiet: bool) -> u8 {
    if quiet && rng.percent(10) {
        return 0;
    }
    let least = (1..31).find(|&code| 4096 << code >= patience).unwrap_or(31);
    (least + rng.below(4) as u8).min(31)
}

fn access(rng: &mut Rng) -> Access {
    let mut access = Access::ALL;
    if rng.percent(8) {
        access.remote_atomic = false;
    }
    if rng.percent(8) {
        access.remote_read = false;
    }
    access
}

fn faults(rng: &mut Rng, bounds: &Bounds) -> DicePlan {
    let mut plan = DicePlan::default();
    if bounds.local_faults && rng.percent(60) {
        plan.busy = Chance::per_million(5_000);
        plan.payload_busy = Chance::per_million(rng.pick(&[0, 5_000]));
        plan.early_lost = Chance::per_million(rng.pick(&[0, 50_000]));
        plan.no_room = Chance::per_million(rng.pick(&[0, 10_000]));
        plan.send_drop = Chance::per_million(rng.pick(&[0, 5_000]));
        if bounds.fails && rng.percent(30) {
            plan.payload_fault = Chance::per_million(rng.pick(&[0, 500]));
            plan.broken = Chance::per_million(rng.pick(&[0, 1_000]));
        }
    }
    plan
}

fn work(rng: &mut Rng, most: u32, bounds: &Bounds) -> WorkPlan {
    let mut weight = |usual: u32| match rng.below(4) {
        0 => 0,
        1 => usual * 4,
        _ => usual,
    };
    let mix = Mix {
        send: weight(10).max(1),
        send_invalidate: weight(2),
        write: weight(12),
        write_immediate: weight(4),
        read: weight(10),
        atomic: weight(5),
        shared_atomic: weight(3),
        flush: weight(2),
        atomic_write: weight(2),
        local: weight(1),
    };
    WorkPlan {
        messages: if rng.percent(15) {
            0
        } else {
            rng.spread(2..=100) as u32
        },
        bytes: rng.weighted(&[(40, 64 << 10), (40, 256 << 10), (17, 1 << 20), (3, 4 << 20)]),
        depth: rng.spread(1..=32) as u32,
        mix,
        sizes: Sizes::Mixed { most },
        unsignalled: Chance::percent(rng.pick(&[0, 20, 90])),
        fence: Chance::percent(rng.pick(&[0, 0, 5, 30])),
        solicited: Chance::percent(rng.pick(&[0, 20])),
        from_sink: Chance::percent(30),
        invalid: if bounds.fails && rng.percent(50) {
            Chance::percent(3)
        } else {
            Chance::NEVER
        },
        think: rng.pick(&[0, 0, 0, 10_000, 300_000]),
    }
}

fn add_actions(rng: &mut Rng, scenario: &mut Scenario, bounds: &Bounds) {
    let count = if bounds.fails { rng.below(4) } else { 0 };
    let tunes = if rng.percent(15) {
        rng.within(1..=3)
    } else {
        0
    };
    let drains = if rng.percent(15) {
        rng.within(1..=3)
    } else {
        0
    };
    for _ in 0..tunes {
        scenario.actions.push(planned(rng, scenario, Action::Tune));
    }
    for number in 0..count + drains {
        let drain = Action::Drain {
            notify: rng.percent(60),
            stay: rng.spread(MICROSECOND..=5 * MILLISECOND),
        };
        let action = if number < count {
            rng.weighted(&[
                (30, Action::Error),
                (25, Action::Reset),
                (10, Action::Abort),
                (25, Action::Destroy),
                (20, Action::Invalidate),
            ])
        } else {
            drain
        };
        scenario.actions.push(planned(rng, scenario, action));
    }
    if bounds.dies {
        scenario
            .actions
            .push(planned(rng, scenario, Action::Isolate));
    }
    scenario.actions.sort_by_key(|planned| planned.step);
}

fn planned(rng: &mut Rng, scenario: &Scenario, action: Action) -> Planned {
    Planned {
        step: rng.spread(1..=4000),
        pair: rng.below(scenario.pairs.len() as u64) as usize,
        end: rng.below(2) as usize,
        action,
    }
}

/// When everything must be over: long after the last fault, however often it has to be tried.
fn limit(scenario: &Scenario, bounds: &Bounds) -> Nanos {
    let heal = |link: &LinkPlan| {
        let dark = link.blackouts.iter().map(|dark| dark.end).max();
        let heals = if link.is_faulty() || link.pauses.is_some() {
            link.heals_at
        } else {
            0
        };
        heals.max(dark.unwrap_or(0))
    };
    let healed = scenario.links.iter().map(heal).max().unwrap_or(0);
    let ends = || scenario.pairs.iter().flat_map(|pair| &pair.ends);
    let timeout = ends().map(|end| 4096 << end.attributes.timeout).max();
    let timeout = timeout.unwrap_or(0).max(8 * MILLISECOND);
    let delays = scenario.shared.iter().map(|shared| shared.receive.delay);
    let delay = delays.chain(ends().map(|end| end.receive.delay)).max();
    let each = |end: &EndPlan| {
        let wait = 20 * MILLISECOND + delay.unwrap_or(0) + end.work.think + bounds.round_trip;
        let failures = if bounds.fails { 100 * MILLISECOND } else { 0 };
        u64::from(end.work.messages) * (wait + failures)
    };
    let work: Nanos = ends().map(each).sum();
    healed + 100 * timeout + work + 30 * SECOND
}
