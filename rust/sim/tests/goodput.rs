// SPDX-License-Identifier: GPL-2.0

//! What losses may cost, so that a change for the worse shows; docs/performance.md has the figures.

use oxe_sim::{
    network::LinkPlan,
    oracle::Stats,
    rng::Chance,
    scenario::{
        self,
        EndpointKind,
        Mix,
        Stream, //
    },
    trace::Trace,
    world::World, //
};

/// Goodput in bits per second and packets of a stream of 64 KiB requests between engines, some of
/// whose packets get lost: the middle one of three runs.
fn run(mix: Mix, loss: u32) -> (f64, Stats) {
    let mut runs: Vec<_> = (1..4)
        .map(|seed| {
            let mut stream = Stream::new(seed, [EndpointKind::Oxe; 2], mix, 64 << 10);
            stream.total = 2 << 20;
            let link = LinkPlan {
                loss: Chance::percent(loss),
                ..LinkPlan::default()
            };
            stream.forward = link.clone();
            stream.backward = link;
            let report = World::run(&scenario::stream(&stream), Trace::silent());
            assert!(report.failures == 0 && report.violation.is_none());
            (report.goodput(), report.total())
        })
        .collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    runs[1]
}

#[test]
fn reads_lose_little_more_than_the_network_does() {
    let mix = Mix {
        read: 1,
        ..Mix::default()
    };
    let (whole, clean) = run(mix, 0);
    for (loss, least, most) in [(1, 0.9, 1.05), (5, 0.6, 1.2), (10, 0.4, 1.4)] {
        let (goodput, stats) = run(mix, loss);
        assert!(goodput > least * whole, "{loss} %: {goodput} of {whole}");
        let times = stats.read_responses as f64 / clean.read_responses as f64;
        assert!(times < most, "{loss} %: {times} times the responses");
    }
}

#[test]
fn a_lost_packet_of_a_write_is_sent_again_alone() {
    let mix = Mix {
        write: 1,
        ..Mix::default()
    };
    let (whole, clean) = run(mix, 0);
    let (goodput, stats) = run(mix, 1);
    assert!(goodput > 0.8 * whole, "{goodput} of {whole}");
    assert!(stats.requests * 20 < clean.requests * 21, "{stats:?}");
}
