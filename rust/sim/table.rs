// SPDX-License-Identifier: GPL-2.0

//! Tables of goodput under loss and reordering, relative to a perfect network.

use crate::{
    events::MICROSECOND,
    network::{
        LinkPlan,
        Reorder, //
    },
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
use std::{
    fmt::Write,
    sync::{
        atomic::{
            AtomicUsize,
            Ordering, //
        },
        Mutex, //
    },
    thread, //
};

/// What is measured, and how often.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Runs of each cell, with a seed each.
    pub seeds: u64,
    /// Bytes of each run.
    pub total: u64,
    /// Threads.
    pub threads: usize,
    workloads: Vec<Workload>,
}

#[derive(Clone, Copy, Debug)]
struct Workload {
    name: &'static str,
    mix: Mix,
    size: u32,
}

/// A state of the network, both ways.
#[derive(Clone, Copy, Debug)]
struct Weather {
    name: &'static str,
    /// Packets lost, and packets late, in a million.
    loss: u32,
    late: u32,
}

/// Requester and responder of each row.
const PAIRS: [[EndpointKind; 2]; 4] = [
    [EndpointKind::Oxe, EndpointKind::Oxe],
    [EndpointKind::Oxe, EndpointKind::GoBackN],
    [EndpointKind::GoBackN, EndpointKind::Oxe],
    [EndpointKind::GoBackN, EndpointKind::GoBackN],
];

/// How late a late packet is at most.
const LATE: u64 = 50 * MICROSECOND;

const WEATHER: [Weather; 8] = [
    Weather::new("none", 0, 0),
    Weather::new("0.1 %", 1_000, 0),
    Weather::new("1 %", 10_000, 0),
    Weather::new("5 %", 50_000, 0),
    Weather::new("10 %", 100_000, 0),
    Weather::new("0.1 % late", 0, 1_000),
    Weather::new("1 % late", 0, 10_000),
    Weather::new("10 % late", 0, 100_000),
];

impl Weather {
    const fn new(name: &'static str, loss: u32, late: u32) -> Self {
        Self { name, loss, late }
    }

    fn link(&self) -> LinkPlan {
        LinkPlan {
            loss: Chance::per_million(self.loss),
            reorder: (self.late > 0).then_some(Reorder {
                chance: Chance::per_million(self.late),
                least: LATE / 10,
                most: LATE,
            }),
            ..LinkPlan::default()
        }
    }
}

impl Plan {
    /// What takes a few minutes.
    pub fn usual(threads: usize) -> Self {
        let none = Mix::default();
        let write = Mix { write: 1, ..none };
        let send = Mix { send: 1, ..none };
        let read = Mix { read: 1, ..none };
        let workload = |name, mix, size| Workload { name, mix, size };
        Self {
            seeds: 5,
            total: 32 << 20,
            threads,
            workloads: vec![
                workload("WRITE 64 KiB", write, 64 << 10),
                workload("WRITE 1 MiB", write, 1 << 20),
                workload("SEND 64 KiB", send, 64 << 10),
                workload("READ 64 KiB", read, 64 << 10),
            ],
        }
    }

    /// What takes seconds.
    pub fn quick(&mut self) {
        self.seeds = 3;
        self.total = 4 << 20;
    }

    /// Goodput of one run, in bits per second.
    fn measure(
        &self,
        workload: &Workload,
        kinds: [EndpointKind; 2],
        at: &Weather,
        seed: u64,
    ) -> f64 {
        let mut stream = Stream::new(seed, kinds, workload.mix, workload.size);
        stream.total = self.total;
        stream.forward = at.link();
        stream.backward = at.link();
        let scenario = scenario::stream(&stream);
        let report = World::run(&scenario, Trace::silent());
        match &report.violation {
            None if report.failures == 0 => report.goodput(),
            wrong => {
                let failures = report.failures;
                eprintln!("{stream:?}: {failures} failures, violation: {wrong:?}");
                0.0
            }
        }
    }
}

/// The middle value, the least and the most.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let first = values.first().copied().unwrap_or_default();
    let last = values.last().copied().unwrap_or_default();
    let middle = values.get(values.len() / 2).copied().unwrap_or_default();
    (middle, first, last)
}

/// Runs everything and returns the table as text.
pub fn table(plan: &Plan) -> String {
    let rows: Vec<_> = plan
        .workloads
        .iter()
        .flat_map(|workload| PAIRS.map(|kinds| (*workload, kinds)))
        .collect();
    let cells = rows.len() * WEATHER.len();
    let results: Vec<Mutex<Vec<f64>>> = (0..cells).map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let jobs = cells * plan.seeds as usize;
    thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            scope.spawn(|| loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= jobs {
                    return;
                }
                let (cell, seed) = (job % cells, (job / cells) as u64);
                let (workload, kinds) = &rows[cell / WEATHER.len()];
                let at = &WEATHER[cell % WEATHER.len()];
                let goodput = plan.measure(workload, *kinds, at, seed);
                if let Ok(mut values) = results[cell].lock() {
                    values.push(goodput);
                }
            });
        }
    });
    let values: Vec<_> = results
        .into_iter()
        .map(|cell| spread(cell.into_inner().unwrap_or_default()))
        .collect();
    render(plan, &rows, &values)
}

fn render(
    plan: &Plan,
    rows: &[(Workload, [EndpointKind; 2])],
    values: &[(f64, f64, f64)],
) -> String {
    let mut text = format!(
        "Goodput over a link of 10 Gbit/s and 10 us one way, path MTU 1024, timeout 14,\n\
         32 messages under way, {} MiB a run; loss and lateness (5 to 50 us) hit both\n\
         directions. Without faults in Gbit/s, otherwise in percent of that: the median of\n\
         {} seeds (least-most).\n\n",
        plan.total >> 20,
        plan.seeds
    );
    let _ = write!(text, "{:<12} {:<17}", "", "");
    for at in &WEATHER {
        let _ = write!(text, " {:>15}", at.name);
    }
    text.push('\n');
    for (row, (workload, kinds)) in rows.iter().enumerate() {
        let cells = &values[row * WEATHER.len()..(row + 1) * WEATHER.len()];
        let whole = cells[0].0.max(1.0);
        let pair = format!("{}->{}", kinds[0].name(), kinds[1].name());
        let _ = write!(
            text,
            "{:<12} {pair:<17} {:>15.2}",
            workload.name,
            whole / 1e9
        );
        for (middle, least, most) in &cells[1..] {
            let percent = |value: &f64| 100.0 * value / whole;
            let cell = format!(
                "{:.1} ({:.0}-{:.0})",
                percent(middle),
                percent(least),
                percent(most)
            );
            let _ = write!(text, " {cell:>15}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_some_values() {
        assert_eq!(spread(vec![3.0, 1.0, 2.0]), (2.0, 1.0, 3.0));
        assert_eq!(spread(Vec::new()), (0.0, 0.0, 0.0));
    }

    #[test]
    fn loss_costs_goodput() {
        let mut plan = Plan::usual(1);
        plan.total = 1 << 20;
        let workload = plan.workloads[0];
        let measure = |at: &Weather| plan.measure(&workload, PAIRS[3], at, 1);
        assert!(measure(&WEATHER[0]) > 2.0 * measure(&WEATHER[3]));
    }
}
