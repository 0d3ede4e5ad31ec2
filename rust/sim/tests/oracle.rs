// SPDX-License-Identifier: GPL-2.0

//! The oracle can fail: endpoints and links that do something wrong are caught, each for what it
//! does.

use oxe_proto::{
    transport::{
        attributes::Attributes,
        error::Fault,
        ports::{
            Atomic,
            Env, //
        },
        wr::{
            Completion,
            EarlyIndex,
            SendWr,
            SlotIndex,
            Transmit, //
        },
        Event,
        PostError,
        Verdict, //
    },
    types::Instant,
    wire::packet::{
        Op,
        Packet, //
    },
};
use oxe_sim::{
    endpoint::{
        Endpoint,
        Step, //
    },
    port::Port,
    rng::Chance,
    scenario::{
        self,
        EndpointKind,
        Mix,
        Scenario,
        Stream, //
    },
    trace::Trace,
    world::World, //
};

/// What an endpoint does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mutation {
    AtomicTwice,
    SkipsCompletion,
    SwapsCompletions,
    SaysUnsignalled,
    AcknowledgesTooMuch,
    WritesTwice,
    SendsWrongKey,
    ForgetsWork,
}

/// An endpoint that is like another one but for that.
struct Mutant {
    inner: Box<dyn Endpoint>,
    mutation: Mutation,
    count: u32,
    kept: Option<Completion>,
}

impl Endpoint for Mutant {
    fn step(
        &mut self,
        now: Instant,
        step: Step,
        attributes: &Attributes,
        port: &mut Port<'_>,
    ) -> bool {
        self.inner.step(now, step, attributes, port)
    }

    fn post_send(&mut self, wr: SendWr) -> Result<SlotIndex, PostError> {
        self.inner.post_send(wr)
    }

    fn handle_packet(
        &mut self,
        now: Instant,
        packet: &Packet,
        data: &[u8],
        port: &mut Port<'_>,
    ) -> Verdict {
        if self.mutation == Mutation::ForgetsWork && self.count > 20 {
            return Verdict::Done;
        }
        let verdict = self.inner.handle_packet(now, packet, data, port);
        match (self.mutation, packet.op) {
            (Mutation::AtomicTwice, Op::FetchAdd(atomic)) => {
                let operation = Atomic::FetchAdd {
                    add: atomic.swap_add,
                };
                let _ = port.atomic(atomic.rkey, atomic.address, operation);
            }
            (Mutation::WritesTwice, Op::WriteOnly(reth, _)) if !data.is_empty() => {
                let _ = port.write_remote(reth.rkey, reth.address, data);
            }
            (Mutation::ForgetsWork, _) => self.count += 1,
            _ => (),
        }
        verdict
    }

    fn handle_timeout(&mut self, now: Instant, port: &mut Port<'_>) {
        self.inner.handle_timeout(now, port);
    }

    fn poll_early(&mut self) -> Option<EarlyIndex> {
        self.inner.poll_early()
    }

    fn early_lost(&mut self, index: EarlyIndex) {
        self.inner.early_lost(index);
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        most: u32,
        burst: &mut Vec<Transmit>,
        port: &mut Port<'_>,
    ) {
        self.inner.poll_transmit(now, most, burst, port);
        for transmit in burst {
            match (self.mutation, &mut transmit.packet.op) {
                (Mutation::AcknowledgesTooMuch, Op::Acknowledge(_)) => {
                    transmit.packet.psn = transmit.packet.psn.plus(1);
                }
                (Mutation::SendsWrongKey, Op::WriteOnly(reth, _) | Op::WriteFirst(reth)) => {
                    reth.rkey.0 ^= 1;
                }
                _ => (),
            }
        }
    }

    fn payload_fault(
        &mut self,
        now: Instant,
        transmit: &Transmit,
        fault: Fault,
        port: &mut Port<'_>,
    ) {
        self.inner.payload_fault(now, transmit, fault, port);
    }

    fn poll_completion(&mut self) -> Option<Completion> {
        if let Some(kept) = self.kept.take() {
            return Some(kept);
        }
        let mut completion = self.inner.poll_completion()?;
        self.count += 1;
        match self.mutation {
            Mutation::SkipsCompletion if self.count == 5 => self.inner.poll_completion(),
            Mutation::SwapsCompletions => match self.inner.poll_completion() {
                Some(next) => {
                    self.kept = Some(completion);
                    Some(next)
                }
                None => Some(completion),
            },
            Mutation::SaysUnsignalled => {
                completion.reported = !completion.reported;
                Some(completion)
            }
            _ => Some(completion),
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.inner.poll_event()
    }

    fn holds_early(&self) -> bool {
        self.inner.holds_early()
    }

    fn abort(&mut self, port: &mut Port<'_>) {
        self.inner.abort(port);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.inner.next_timeout()
    }
}

/// Many short requests of every kind that the mutations need.
fn scenario(kind: EndpointKind) -> Scenario {
    let mix = Mix {
        send: 1,
        write: 1,
        read: 1,
        atomic: 1,
        shared_atomic: 1,
        ..Mix::default()
    };
    let mut stream = Stream::new(1, [kind; 2], mix, 200);
    stream.total = 200 * 200;
    let mut scenario = scenario::stream(&stream);
    // Nothing may be excused by the run being a measurement.
    scenario.measures = false;
    scenario
}

/// What the oracle says of a run in which one endpoint has a mutation.
fn verdict(kind: EndpointKind, at: usize, mutation: Mutation) -> String {
    let wrap = |index: usize, inner| -> Box<dyn Endpoint> {
        if index == at {
            Box::new(Mutant {
                inner,
                mutation,
                count: 0,
                kept: None,
            })
        } else {
            inner
        }
    };
    let report = World::run_with(&scenario(kind), Trace::silent(), &wrap);
    report
        .violation
        .map_or_else(String::new, |wrong| wrong.what)
}

#[test]
fn without_a_mutation_all_is_well() {
    for kind in EndpointKind::ALL {
        let report = World::run(&scenario(kind), Trace::silent());
        assert!(report.violation.is_none(), "{:?}", report.violation);
        assert_eq!((report.total().messages, report.failures), (200, 0));
    }
}

#[test]
fn each_mutation_is_caught_for_what_it_does() {
    let cases = [
        (1, Mutation::AtomicTwice, "FetchAdd"),
        (1, Mutation::WritesTwice, "a write"),
        (1, Mutation::AcknowledgesTooMuch, "more than were done"),
        (1, Mutation::ForgetsWork, "not finished"),
        (0, Mutation::SkipsCompletion, "was next"),
        (0, Mutation::SwapsCompletions, "was next"),
        (0, Mutation::SaysUnsignalled, "reported"),
        (0, Mutation::SendsWrongKey, "must be"),
    ];
    for kind in EndpointKind::ALL {
        for (at, mutation, want) in cases {
            let said = verdict(kind, at, mutation);
            // An engine that gives up needs a reason; a model is not asked for one.
            let gives_up = mutation == Mutation::ForgetsWork
                && (said.contains("0 losses") || kind != EndpointKind::Oxe);
            assert!(
                said.contains(want) || gives_up,
                "{kind:?} {mutation:?}: {said:?}"
            );
        }
    }
}

#[test]
fn a_link_that_forges_data_is_caught() {
    for kind in EndpointKind::ALL {
        let mut scenario = scenario(kind);
        for link in &mut scenario.links {
            link.forge = Chance::percent(5);
        }
        let report = World::run(&scenario, Trace::silent());
        let said = report
            .violation
            .map_or_else(String::new, |wrong| wrong.what);
        assert!(said.contains("wrong"), "{kind:?}: {said:?}");
    }
}
