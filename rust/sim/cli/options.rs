// SPDX-License-Identifier: GPL-2.0

//! What the command line asks for.

use super::values;
use crate::{
    check,
    events::{
        Nanos,
        MICROSECOND, //
    },
    network::{
        Burst,
        LinkPlan,
        Reorder, //
    },
    rng::Chance,
    scenario::{
        self,
        EndpointKind,
        Mix,
        Scenario,
        Stream, //
    },
    table, //
};
use lexopt::prelude::*;
use oxe_proto::types::Mtu;
use std::{
    thread,
    time::Duration, //
};

/// A parsed command line.
pub(super) enum Command {
    Help,
    Run(Box<Run>),
    Check(check::Plan),
    Table(table::Plan),
}

/// One run.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    seed: Option<u64>,
    pub(super) trace: bool,
    workload: Option<Mix>,
    size: Option<u32>,
    total: Option<u64>,
    depth: Option<u32>,
    peers: Option<[EndpointKind; 2]>,
    mtu: Option<Mtu>,
    timeout: Option<u8>,
    loss: Option<Chance>,
    burst: Option<u64>,
    reorder: Option<Chance>,
    late: Option<Nanos>,
    duplicate: Option<Chance>,
    corrupt: Option<Chance>,
    bandwidth: Option<u64>,
    delay: Option<Nanos>,
    queue: Option<usize>,
    bytes: bool,
}

/// The operations of a stream; none if the seed decides.
fn workload(name: &str) -> Result<Option<Mix>, String> {
    let none = Mix::default();
    Ok(Some(match name {
        "random" => return Ok(None),
        "write" => Mix { write: 1, ..none },
        "write-imm" => Mix {
            write_immediate: 1,
            ..none
        },
        "send" => Mix { send: 1, ..none },
        "read" => Mix { read: 1, ..none },
        "atomic" => Mix { atomic: 1, ..none },
        "mixed" => Mix {
            send: 1,
            write: 1,
            read: 1,
            ..none
        },
        _ => return Err(format!("{name:?} is no workload")),
    }))
}

impl Run {
    /// The scenario that it runs.
    pub(super) fn scenario(&self) -> Scenario {
        let seed = self.seed.unwrap_or_default();
        let mut scenario = match self.workload {
            None => scenario::random(seed),
            Some(mix) => scenario::stream(&self.stream(seed, mix)),
        };
        for link in &mut scenario.links {
            self.change_link(link);
        }
        for end in scenario.pairs.iter_mut().flat_map(|pair| &mut pair.ends) {
            end.attributes.path_mtu = self.mtu.unwrap_or(end.attributes.path_mtu);
            end.attributes.timeout = self.timeout.unwrap_or(end.attributes.timeout);
        }
        if let Some(kinds) = self.peers {
            for pair in &mut scenario.pairs {
                pair.ends[0].endpoint = kinds[0];
                pair.ends[1].endpoint = kinds[1];
            }
        }
        scenario.bytes |= self.bytes;
        scenario
    }

    fn stream(&self, seed: u64, mix: Mix) -> Stream {
        let usual = [EndpointKind::Oxe; 2];
        let mut stream = Stream::new(
            seed,
            self.peers.unwrap_or(usual),
            mix,
            self.size.unwrap_or(64 << 10),
        );
        stream.total = self.total.unwrap_or(stream.total);
        stream.depth = self.depth.unwrap_or(stream.depth);
        stream
    }

    fn change_link(&self, link: &mut LinkPlan) {
        link.bandwidth = self.bandwidth.unwrap_or(link.bandwidth);
        link.delay = self.delay.unwrap_or(link.delay);
        link.queue = self.queue.unwrap_or(link.queue);
        link.duplicate = self.duplicate.unwrap_or(link.duplicate);
        link.corrupt = self.corrupt.unwrap_or(link.corrupt);
        if let Some(loss) = self.loss {
            (link.loss, link.burst) = match self.burst {
                None => (loss, None),
                Some(packets) => (Chance::NEVER, Some(Burst::of(loss, packets))),
            };
        }
        if let Some(chance) = self.reorder {
            let most = self.late.unwrap_or(50 * MICROSECOND);
            link.reorder = Some(Reorder {
                chance,
                least: most / 10,
                most,
            });
        }
    }
}

/// Parses a command line.
pub(super) fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let Some(argument) = parser.next()? else {
        return Err("no command".into());
    };
    match argument {
        Short('h') | Long("help") => Ok(Command::Help),
        Value(name) => match name.string()?.as_str() {
            "run" => run(&mut parser),
            "check" => check(&mut parser, false),
            "soak" => check(&mut parser, true),
            "table" => table(&mut parser),
            other => Err(format!("{other:?} is no command: run, check, soak, table").into()),
        },
        other => Err(other.unexpected()),
    }
}

/// The value of the option before it, read by a function.
fn value<T>(
    parser: &mut lexopt::Parser,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, lexopt::Error> {
    let text = parser.value()?.string()?;
    Ok(read(&text)?)
}

fn run(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut run = Run::default();
    while let Some(argument) = parser.next()? {
        let number = |text: &str| values::number(text, 1..1 << 20);
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help),
            Long("seed") => run.seed = Some(parser.value()?.parse()?),
            Long("trace") => run.trace = true,
            Long("workload") => run.workload = value(parser, workload)?,
            Long("size") => run.size = Some(value(parser, values::message)?),
            Long("total") => run.total = Some(value(parser, values::bytes)?),
            Long("depth") => run.depth = Some(value(parser, number)? as u32),
            Long("peer") => run.peers = Some([EndpointKind::Oxe, value(parser, values::kind)?]),
            Long("peers") => run.peers = Some(value(parser, values::kinds)?),
            Long("mtu") => run.mtu = Some(value(parser, values::mtu)?),
            Long("timeout") => {
                let code = value(parser, |text| values::number(text, 0..32))?;
                run.timeout = Some(code as u8);
            }
            Long("loss") => run.loss = Some(value(parser, values::chance)?),
            Long("burst") => run.burst = Some(value(parser, number)?),
            Long("reorder") => run.reorder = Some(value(parser, values::chance)?),
            Long("late") => run.late = Some(value(parser, values::micros)?),
            Long("dup") => run.duplicate = Some(value(parser, values::chance)?),
            Long("corrupt") => run.corrupt = Some(value(parser, values::chance)?),
            Long("bandwidth") => run.bandwidth = Some(value(parser, values::gigabits)?),
            Long("delay") => run.delay = Some(value(parser, values::micros)?),
            Long("queue") => run.queue = Some(value(parser, number)? as usize),
            Long("bytes") => run.bytes = true,
            other => return Err(other.unexpected()),
        }
    }
    if run.seed.is_none() {
        return Err("run needs --seed".into());
    }
    let of_stream = run.size.is_some() || run.total.is_some() || run.depth.is_some();
    if of_stream && run.workload.is_none() {
        return Err("--size, --total and --depth need --workload, and not a random one".into());
    }
    if run.burst.is_some() && run.loss.is_none() {
        return Err("--burst needs --loss".into());
    }
    Ok(Command::Run(Box::new(run)))
}

/// As many threads as there are processors.
fn usual_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn check(parser: &mut lexopt::Parser, endless: bool) -> Result<Command, lexopt::Error> {
    let mut seeds = None;
    let mut time = None;
    let mut from = 0;
    let mut threads = usual_threads();
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help),
            Long("seeds") if !endless => seeds = Some(value(parser, values::seeds)?),
            Long("for") if !endless => {
                let seconds = value(parser, |text| values::number(text, 1..10_000_000))?;
                time = Some(Duration::from_secs(seconds));
            }
            Long("from") => from = parser.value()?.parse()?,
            Long("threads") => {
                threads = value(parser, |text| values::number(text, 1..1025))? as usize;
            }
            other => return Err(other.unexpected()),
        }
    }
    if !endless && seeds.is_none() && time.is_none() {
        return Err("check needs --seeds or --for".into());
    }
    Ok(Command::Check(check::Plan {
        seeds: seeds.unwrap_or(from..u64::MAX),
        time,
        threads,
        progress: true,
    }))
}

fn table(parser: &mut lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut plan = table::Plan::usual(usual_threads());
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help),
            Long("seeds") => plan.seeds = value(parser, |text| values::number(text, 1..1000))?,
            Long("total") => plan.total = value(parser, values::bytes)?,
            Long("quick") => plan.quick(),
            Long("threads") => {
                plan.threads = value(parser, |text| values::number(text, 1..1025))? as usize;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Table(plan))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        let words = std::iter::once("sim").chain(line.split_whitespace());
        parse(lexopt::Parser::from_iter(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn wrong_lines_are_told_apart() {
        for (line, want) in [
            ("", "no command"),
            ("fly", "is no command"),
            ("run", "needs --seed"),
            ("run --seed 1 --loss 2", "no probability"),
            ("run --seed 1 --size 4", "need --workload"),
            ("run --seed 1 --burst 4", "needs --loss"),
            ("run --seed 1 --workload x", "no workload"),
            ("check", "needs --seeds"),
            ("check --seeds 4", "no range"),
            ("soak --for 3", "invalid option"),
            ("table --seeds 0", "no number"),
        ] {
            let error = parsed(line).err().unwrap_or_default();
            assert!(error.contains(want), "{line}: {error}");
        }
    }

    #[test]
    fn options_reach_the_scenario() {
        let line = "run --seed 3 --workload read --size 1K --total 8K --peers gobackn,oxe \
                    --loss 1% --burst 4 --reorder 0.1 --mtu 256 --timeout 9 --bytes";
        let Ok(Command::Run(run)) = parsed(line) else {
            panic!("not a run");
        };
        let scenario = run.scenario();
        let end = &scenario.pairs[0].ends[0];
        assert_eq!(end.endpoint, EndpointKind::GoBackN);
        assert_eq!(end.attributes.path_mtu, Mtu::B256);
        assert_eq!(end.attributes.timeout, 9);
        assert_eq!(end.work.messages, 8);
        assert!(scenario.links[1].burst.is_some() && scenario.links[1].loss.is_never());
        assert!(scenario.links[1].reorder.is_some() && scenario.bytes);
    }
}
