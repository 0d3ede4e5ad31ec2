// SPDX-License-Identifier: GPL-2.0

//! Some seeds, quickly; `sim check` runs as many as there is time for.

use oxe_sim::{
    check::{
        self,
        Outcome,
        Plan, //
    },
    scenario::{
        self,
        EndpointKind,
        Mix,
        Stream, //
    },
    trace::Trace,
    world::World, //
};

#[test]
fn a_hundred_seeds_pass() {
    let plan = Plan {
        seeds: 0..100,
        time: None,
        threads: 2,
        progress: false,
    };
    let all_well = Outcome {
        passed: 100,
        failed: 0,
    };
    assert_eq!(check::check(&plan), all_well);
}

#[test]
fn a_seed_is_the_same_run_each_time() {
    for seed in 0..20 {
        let run = || World::run(&scenario::random(seed), Trace::silent());
        let (first, second) = (run(), run());
        assert_eq!(first.hash, second.hash, "seed {seed}");
        assert_eq!((first.steps, first.ended), (second.steps, second.ended));
    }
    let hash = |seed| World::run(&scenario::random(seed), Trace::silent()).hash;
    assert_ne!(hash(1), hash(2));
}

#[test]
fn a_trace_does_not_change_the_run() {
    let scenario = scenario::random(3);
    let silent = World::run(&scenario, Trace::silent());
    let kept = World::run(&scenario, Trace::keeping());
    assert_eq!(silent.hash, kept.hash);
    assert!(!kept.lines.is_empty());
}

#[test]
fn real_bytes_carry_the_same_messages() {
    let mix = Mix {
        send: 1,
        write: 1,
        read: 1,
        ..Mix::default()
    };
    for kind in EndpointKind::ALL {
        let mut stream = Stream::new(1, [kind, EndpointKind::Oxe], mix, 5000);
        stream.total = 500_000;
        let mut scenario = scenario::stream(&stream);
        let plain = World::run(&scenario, Trace::silent());
        scenario.bytes = true;
        let bytes = World::run(&scenario, Trace::silent());
        assert!(bytes.violation.is_none(), "{:?}", bytes.violation);
        assert_eq!(plain.total(), bytes.total());
        assert_eq!(plain.hash, bytes.hash);
    }
}
