// SPDX-License-Identifier: GPL-2.0

//! What has happened at all, and how often: a simulator proves nothing about what it never does.

use crate::scenario::Action;
use oxe_proto::{
    transport::{
        error::WcStatus,
        ports::Observation,
        Event, //
    },
    wire::packet::Op, //
};
use std::{
    collections::BTreeMap,
    fmt::{
        self,
        Debug, //
    },
    mem::{
        discriminant,
        Discriminant, //
    },
};

/// Counts the variants of an enum.
#[derive(Clone, Debug)]
struct Counter<T> {
    /// Few enough to look through.
    seen: Vec<(Discriminant<T>, String, u64)>,
}

impl<T> Default for Counter<T> {
    fn default() -> Self {
        Self { seen: Vec::new() }
    }
}

impl<T: Debug> Counter<T> {
    fn count(&mut self, what: &T) {
        let variant = discriminant(what);
        match self.seen.iter_mut().find(|(known, _, _)| *known == variant) {
            Some((_, _, count)) => *count += 1,
            None => {
                let text = format!("{what:?}");
                let end = text.find(|letter: char| !letter.is_alphanumeric());
                let name = text[..end.unwrap_or(text.len())].to_owned();
                self.seen.push((variant, name, 1));
            }
        }
    }
}

/// Counts of what happened in one run or several.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<String, u64>,
}

/// Counts of a run in progress.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    observed: Counter<Observation>,
    told: Counter<Event>,
    completed: Counter<WcStatus>,
    received: Counter<WcStatus>,
    sent: Counter<Op>,
    acted: Counter<Action>,
}

impl Tally {
    /// An engine told its watchers of something.
    pub fn observed(&mut self, what: &Observation) {
        self.observed.count(what);
    }

    /// A queue pair told its driver of something.
    pub fn told(&mut self, what: &Event) {
        self.told.count(what);
    }

    /// A send request ended.
    pub fn completed(&mut self, what: &WcStatus) {
        self.completed.count(what);
    }

    /// A receive request ended.
    pub fn received(&mut self, what: &WcStatus) {
        self.received.count(what);
    }

    /// A packet was sent.
    pub fn sent(&mut self, what: &Op) {
        self.sent.count(what);
    }

    /// Something was done to a queue pair.
    pub fn acted(&mut self, what: &Action) {
        self.acted.count(what);
    }

    /// All counts by name.
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage::default();
        coverage.take("observed", &self.observed);
        coverage.take("event", &self.told);
        coverage.take("send ended", &self.completed);
        coverage.take("receive ended", &self.received);
        coverage.take("sent", &self.sent);
        coverage.take("action", &self.acted);
        coverage
    }
}

impl Coverage {
    fn take<T>(&mut self, group: &str, counter: &Counter<T>) {
        for (_, name, count) in &counter.seen {
            *self.counts.entry(format!("{group} {name}")).or_default() += count;
        }
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        for (name, count) in &other.counts {
            *self.counts.entry(name.clone()).or_default() += count;
        }
    }

    /// How often something happened.
    pub fn of(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in &self.counts {
            writeln!(f, "{count:>12} {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_counted_by_name() {
        let mut tally = Tally::default();
        for status in [WcStatus::Success, WcStatus::Flushed, WcStatus::Success] {
            tally.completed(&status);
        }
        let mut sum = tally.coverage();
        sum.add(&tally.coverage());
        assert_eq!(sum.of("send ended Success"), 4);
        assert_eq!(sum.of("send ended Flushed"), 2);
        assert_eq!(sum.of("receive ended Success"), 0);
        assert!(sum.to_string().contains("4 send ended Success"));
    }
}
