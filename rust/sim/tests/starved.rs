// SPDX-License-Identifier: GPL-2.0

//! Hosts that are starved: slow, with queues that run over, and with stops that are longer than the
//! acknowledgement timeout. Slow is not dead: nothing may run out of retries.

use oxe_sim::{
    events::{
        Nanos,
        MICROSECOND,
        MILLISECOND,
        SECOND, //
    },
    network::Pauses,
    scenario::{
        self,
        EndpointKind,
        Mix,
        Starved,
        Stream, //
    },
    trace::Trace,
    world::World, //
};

/// 128 requests of 64 KiB under way, 1024 bytes a packet, timeout 67 ms, 7 retries.
fn stream(seed: u64, mix: Mix, starved: Starved) -> Stream {
    let mut stream = Stream::new(seed, [EndpointKind::Oxe; 2], mix, 64 << 10);
    stream.total = 8 << 20;
    stream.depth = 128;
    stream.starved = Some(starved);
    stream.limit = 600 * SECOND;
    stream
}

fn check(seed: u64, mix: Mix, packet: Nanos, queue: usize, stops: Pauses) {
    let starved = Starved {
        stops,
        packet,
        queue,
    };
    let stream = stream(seed, mix, starved);
    let report = World::run(&scenario::stream(&stream), Trace::silent());
    let name = format!("seed {seed}, {mix:?}, {starved:?}");
    assert!(report.violation.is_none(), "{name}: {:?}", report.violation);
    assert_eq!(report.failures, 0, "{name}");
    assert!(!report.cut, "{name}");
}

fn check_all(mix: Mix) {
    let stops = Pauses {
        every: 300 * MILLISECOND,
        length: SECOND,
    };
    for seed in 0..2 {
        for packet in [20, 200] {
            for queue in [64, 1000] {
                check(seed, mix, packet * MICROSECOND, queue, stops);
            }
        }
    }
}

#[test]
fn reads_of_starved_hosts_do_not_run_out_of_retries() {
    check_all(Mix {
        read: 1,
        ..Mix::default()
    });
}

#[test]
fn sends_of_starved_hosts_do_not_run_out_of_retries() {
    check_all(Mix {
        send: 1,
        ..Mix::default()
    });
}

#[test]
fn all_kinds_at_once_do_not_run_out_of_retries() {
    check_all(Mix {
        send: 2,
        write: 2,
        read: 2,
        atomic: 1,
        ..Mix::default()
    });
}
