// SPDX-License-Identifier: GPL-2.0

//! The command line.

mod options;
mod values;

use self::options::{
    Command,
    Run, //
};
use crate::{
    check::{
        self,
        Outcome, //
    },
    scenario::Scenario,
    table,
    trace::Trace,
    world::{
        Report,
        World, //
    },
};
use std::process::ExitCode;

const HELP: &str = "\
Runs the protocol engine of oxe in simulated networks.

usage: sim run --seed SEED [OPTION]...     one run
       sim check --seeds A..B [--threads N]    all runs of these seeds
       sim check --for SECONDS [--from SEED] [--threads N]
       sim soak [--from SEED] [--threads N]    runs without end
       sim table [--seeds N] [--total BYTES] [--quick] [--threads N]
                                           goodput under loss and reordering

options of run:
  --trace            print a line for each event
  --workload NAME    random (the default: the seed decides everything), or a stream of
                     write, write-imm, send, read, atomic, mixed
  --size BYTES       of each message of a stream (64K)
  --total BYTES      of a stream (16M)
  --depth N          messages under way of a stream (32)
  --peer KIND        the responder: oxe, gobackn, connectx
  --peers KIND,KIND  requester and responder
  --mtu BYTES        path MTU: 256, 512, 1024, 2048, 4096
  --timeout CODE     acknowledgement timeout, 4.096 us * 2^CODE; 0 is none
  --loss P           packets lost, both ways: 0.01 or 1%
  --burst PACKETS    losses come in bursts of about so many
  --reorder P        packets out of order
  --late US          how late they are at most (50)
  --dup P            packets doubled
  --corrupt P        packets damaged
  --bandwidth GBIT   of each link (10)
  --delay US         of each link, one way (10)
  --queue PACKETS    in front of each link
  --bytes            send real bytes, with headers and ICRC
";

/// Runs the program.
pub fn main() -> ExitCode {
    match options::parse(lexopt::Parser::from_env()) {
        Ok(command) => execute(command),
        Err(error) => {
            eprintln!("sim: {error}");
            eprintln!("Try 'sim --help'.");
            ExitCode::from(2)
        }
    }
}

fn execute(command: Command) -> ExitCode {
    let good = match command {
        Command::Help => {
            print!("{HELP}");
            true
        }
        Command::Run(run) => one(&run),
        Command::Check(plan) => {
            let Outcome { passed, failed } = check::check(&plan);
            println!("{passed} passed, {failed} failed");
            failed == 0
        }
        Command::Table(plan) => {
            print!("{}", table::table(&plan));
            true
        }
    };
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn one(run: &Run) -> bool {
    let scenario = run.scenario();
    let trace = if run.trace {
        print!("{scenario}");
        Trace::printing()
    } else {
        Trace::silent()
    };
    let report = World::run(&scenario, trace);
    print!("{}", describe(&scenario, &report));
    report.violation.is_none()
}

/// A run's result in a few lines.
fn describe(scenario: &Scenario, report: &Report) -> String {
    let total = report.total();
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let mut lines = vec![
        format!("seed       {}", scenario.seed),
        format!("trace hash {:016x}", report.hash),
        format!(
            "time       {:.3} ms{}, {} events",
            report.ended as f64 / 1e6,
            if report.cut { " (time limit)" } else { "" },
            report.steps
        ),
        format!(
            "requests   {} ended well, {} with an error; {} bytes",
            total.messages, report.failures, total.bytes
        ),
        format!("goodput    {:.4} Gbit/s", report.goodput() / 1e9),
        format!(
            "packets    {} requests, of which {:.2} % again; {} responses",
            total.requests,
            share(total.repeated, total.requests),
            total.responses
        ),
    ];
    lines.push(match &report.violation {
        None => "oracle     no violation".to_owned(),
        Some(wrong) => format!(
            "oracle     VIOLATION at {} ns, qp{}: {}",
            wrong.at, wrong.qp, wrong.what
        ),
    });
    lines.join("\n") + "\n"
}
