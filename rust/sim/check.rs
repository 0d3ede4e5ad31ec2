// SPDX-License-Identifier: GPL-2.0

//! Many seeds, one after the other, on all processors.

use crate::{
    scenario,
    trace::Trace,
    world::{
        Report,
        World, //
    },
};
use std::{
    ops::Range,
    panic,
    sync::{
        atomic::{
            AtomicU64,
            Ordering, //
        },
        mpsc, //
    },
    thread,
    time::{
        Duration,
        Instant, //
    },
};

/// Every so many seeds a seed is run twice, and both runs must be the same.
const TWICE_EVERY: u64 = 50;

/// What to run, and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seeds.
    pub seeds: Range<u64>,
    /// Until when, if the seeds last so long.
    pub time: Option<Duration>,
    /// Threads.
    pub threads: usize,
    /// Says how it goes every few seconds.
    pub progress: bool,
}

/// How it went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Seeds that passed.
    pub passed: u64,
    /// Seeds that failed.
    pub failed: u64,
}

/// Runs a seed; the second value says what is wrong.
pub fn run(seed: u64) -> (Report, Option<String>) {
    let scenario = scenario::random(seed);
    let report = World::run(&scenario, Trace::silent());
    let mut wrong = report.violation.as_ref().map(|violation| {
        format!(
            "at {} ns, qp{}: {}",
            violation.at, violation.qp, violation.what
        )
    });
    if wrong.is_none() && seed % TWICE_EVERY == 0 {
        let again = World::run(&scenario, Trace::silent());
        if again.hash != report.hash {
            wrong = Some(format!(
                "not the same twice: {:016x} {:016x}",
                report.hash, again.hash
            ));
        }
    }
    (report, wrong)
}

/// Runs a seed; a panic is a failure too.
fn run_caught(seed: u64) -> Option<String> {
    match panic::catch_unwind(|| run(seed).1) {
        Ok(wrong) => wrong,
        Err(_) => Some("panic".into()),
    }
}

/// Runs all seeds and prints each that fails.
pub fn check(plan: &Plan) -> Outcome {
    let start = Instant::now();
    let next = AtomicU64::new(plan.seeds.start);
    let mut outcome = Outcome::default();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            let sender = sender.clone();
            let next = &next;
            scope.spawn(move || loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                let late = plan.time.is_some_and(|time| start.elapsed() >= time);
                if seed >= plan.seeds.end || late {
                    return;
                }
                if sender.send((seed, run_caught(seed))).is_err() {
                    return;
                }
            });
        }
        drop(sender);
        let mut told = Instant::now();
        for (seed, wrong) in receiver {
            match wrong {
                None => outcome.passed += 1,
                Some(what) => {
                    outcome.failed += 1;
                    println!("seed {seed}: {what}");
                    println!("  replay: sim run --seed {seed} --trace");
                }
            }
            if plan.progress && told.elapsed() >= Duration::from_secs(10) {
                told = Instant::now();
                let seconds = start.elapsed().as_secs();
                eprintln!(
                    "{seconds} s: {} passed, {} failed",
                    outcome.passed, outcome.failed
                );
            }
        }
    });
    outcome
}
