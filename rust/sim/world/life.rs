// SPDX-License-Identifier: GPL-2.0

//! What owners do to their queue pairs: modify, destroy, connect anew; and what befalls them.

use super::{
    Happening,
    Life,
    Qp,
    QueueName,
    World, //
};
use crate::{
    endpoint::Step,
    events::{
        MICROSECOND,
        MILLISECOND, //
    },
    scenario::{
        Action,
        ReceivePlan, //
    },
    trace::Mark, //
};
use oxe_proto::types::Qpn;

impl World {
    /// Does what the scenario has planned for this step.
    pub(super) fn act(&mut self) {
        while let Some(planned) = self.scenario.actions.get(self.actions_done).copied() {
            if planned.step > self.steps {
                return;
            }
            self.actions_done += 1;
            let qp = 2 * planned.pair + planned.end;
            let now = self.events.now();
            let code = [self.actions_done as u64];
            self.trace.note(now, Mark::Fault, qp, &code, || {
                format!("{:?}", planned.action)
            });
            self.action(qp, planned.action);
        }
    }

    fn action(&mut self, qp: usize, action: Action) {
        let state = self.qps[qp].state;
        match action {
            Action::Error if state != Life::Down => {
                self.step(qp, Step::Error);
                self.broke(qp);
                self.poll(qp);
            }
            Action::Abort if !matches!(state, Life::Down | Life::Failed) => {
                self.oracle.aborted(qp);
                self.call(qp, None, |endpoint, _, port| endpoint.abort(port));
                self.poll(qp);
            }
            Action::Reset if state != Life::Down => {
                self.abandon(qp);
                self.step(qp, Step::Reset);
                self.forget(qp);
                self.tell_peer(qp);
                self.settle(qp / 2);
            }
            Action::Destroy if state != Life::Down => {
                for qp in [qp, Self::peer(qp)] {
                    self.destroy(qp);
                }
                self.settle(qp / 2);
            }
            Action::Drain { notify, stay } if state == Life::Works => {
                if self.step(qp, Step::Drain { notify }) {
                    if notify {
                        self.qps[qp].drain_stay = Some(stay);
                    } else {
                        let life = self.qps[qp].life;
                        self.events.after(stay, Happening::Resume { qp, life });
                    }
                    self.poll(qp);
                }
            }
            Action::Invalidate => {
                let host = self.qps[Self::peer(qp)].plan.host;
                if let Some(key) = self.qps[qp].targets.as_ref().map(|t| t.target.key) {
                    self.oracle.region_lost(host, key);
                    self.hosts[host].memory.set_valid(key, false);
                }
            }
            Action::Isolate => self.isolate(self.qps[qp].plan.host),
            _ => (),
        }
    }

    fn isolate(&mut self, host: usize) {
        let now = self.events.now();
        for other in 0..self.hosts.len() {
            self.network.link(host, other).cut(now);
            self.network.link(other, host).cut(now);
        }
        for qp in 0..self.qps.len() {
            let hosts = [self.qps[qp].plan.host, self.qps[Self::peer(qp)].plan.host];
            if hosts.contains(&host) {
                self.oracle.peer_lost(qp);
            }
        }
    }

    /// Moves a queue pair; false if it refused.
    pub(super) fn step(&mut self, qp: usize, step: Step) -> bool {
        let attributes = self.qps[qp].attributes;
        let now = self.events.now();
        self.trace
            .note(now, Mark::Modified, qp, &[], || format!("{step:?}"));
        // The oracle sees the move first: flushed receive requests are part of it.
        if step != Step::Reset {
            self.oracle.stepped(qp, step);
        }
        let done = self.call(qp, None, |endpoint, now, port| {
            endpoint.step(now, step, &attributes, port)
        });
        if step == Step::Reset {
            self.oracle.stepped(qp, step);
        }
        if !done {
            let state = self.qps[qp].state;
            self.oracle
                .fail(qp, format!("{step:?} refused in {state:?}"));
            return false;
        }
        let state = &mut self.qps[qp].state;
        match step {
            Step::Init => *state = Life::Down,
            Step::Receive => *state = Life::Receives,
            Step::Send | Step::Resume => *state = Life::Works,
            Step::Drain { .. } => *state = Life::Drains,
            Step::Error => *state = Life::Failed,
            Step::Reset => *state = Life::Down,
        }
        if matches!(step, Step::Send | Step::Resume) {
            self.post(qp);
            self.wake(qp);
        }
        true
    }

    /// A drained queue pair stays so for a while.
    pub(super) fn drained(&mut self, qp: usize) {
        if let Some(stay) = self.qps[qp].drain_stay.take() {
            let life = self.qps[qp].life;
            self.events.after(stay, Happening::Resume { qp, life });
        }
    }

    pub(super) fn resume(&mut self, qp: usize) {
        let Qp {
            state, application, ..
        } = &mut self.qps[qp];
        match state {
            Life::Stalled if application.outstanding() == 0 => application.recovered(),
            Life::Drains => (),
            _ => return,
        }
        self.step(qp, Step::Resume);
    }

    /// A request failed on an unreliable queue pair, which stops sending alone. Its owner waits
    /// until all is flushed and goes on.
    pub(super) fn stalled(&mut self, qp: usize) {
        self.qps[qp].state = Life::Stalled;
        self.qps[qp].application.failed();
        if self.qps[qp].application.outstanding() == 0 {
            let life = self.qps[qp].life;
            let wait = self.rng.spread(MICROSECOND..=MILLISECOND);
            self.events.after(wait, Happening::Resume { qp, life });
        }
    }

    /// A queue pair is in an error state: its receive requests are flushed, its peer's owner will
    /// hear of it.
    pub(super) fn broke(&mut self, qp: usize) {
        if self.qps[qp].state == Life::Failed && self.qps[qp].application.knows_of_failure() {
            self.settle(qp / 2);
            return;
        }
        self.qps[qp].state = Life::Failed;
        self.qps[qp].application.failed();
        self.qps[qp].side.queue.clear();
        self.tell_peer(qp);
        self.wake(qp);
        self.settle(qp / 2);
    }

    /// What a queue pair has posted ends in nothing.
    fn abandon(&mut self, qp: usize) {
        let side = &mut self.qps[qp].side;
        side.slots.iter_mut().for_each(|slot| *slot = None);
        side.kept.clear();
        side.queue.clear();
        self.qps[qp].application.abandoned();
    }

    /// What belonged to a connection is dropped.
    fn forget(&mut self, qp: usize) {
        let host = self.qps[qp].plan.host;
        if let Some((_, Some(index))) = self.qps[qp].side.current.take() {
            self.order(QueueName::Shared { host, index }, 1);
        }
        let qp = &mut self.qps[qp];
        qp.held.clear();
        qp.inbox.clear();
        qp.timer = None;
        qp.work_due = false;
        qp.drain_stay = None;
        qp.state = Life::Down;
        qp.life += 1;
    }

    fn destroy(&mut self, qp: usize) {
        self.abandon(qp);
        self.forget(qp);
        self.oracle.stepped(qp, Step::Reset);
        let old = self.qps[qp].side.number;
        self.numbers.remove(&old.get());
        let number = Qpn::from_low_bits(self.next_number);
        self.next_number += 1;
        self.numbers.insert(number.get(), qp);
        self.qps[qp].side.number = number;
        self.qps[qp].endpoint = self.make_endpoint(qp / 2, qp % 2, number);
    }

    fn tell_peer(&mut self, qp: usize) {
        let peer = Self::peer(qp);
        self.oracle.peer_lost(peer);
        let life = self.qps[peer].life;
        let wait = self.rng.spread(10 * MICROSECOND..=50 * MILLISECOND);
        self.events.after(wait, Happening::Tell { qp: peer, life });
    }

    /// The owner of a queue pair hears that the other end has failed.
    pub(super) fn told(&mut self, qp: usize) {
        if matches!(
            self.qps[qp].state,
            Life::Receives | Life::Works | Life::Drains | Life::Stalled
        ) {
            self.step(qp, Step::Error);
            self.broke(qp);
            self.poll(qp);
        }
    }

    /// Both ends have failed and ended what they had: connect anew, if that is planned.
    pub(super) fn settle(&mut self, pair: usize) {
        let ends = [2 * pair, 2 * pair + 1];
        let over = ends.iter().all(|&qp| {
            let qp = &self.qps[qp];
            matches!(qp.state, Life::Failed | Life::Down) && qp.application.outstanding() == 0
        });
        if over && self.scenario.pairs[pair].recovers {
            let wait = self.rng.spread(MICROSECOND..=MILLISECOND);
            self.events.after(wait, Happening::Reconnect { pair });
        }
    }

    /// Connects a pair anew, once nothing of it is under way any more.
    pub(super) fn reconnect(&mut self, pair: usize) {
        let ends = [2 * pair, 2 * pair + 1];
        let up = |qp: &usize| {
            let qp = &self.qps[*qp];
            matches!(
                qp.state,
                Life::Receives | Life::Works | Life::Drains | Life::Stalled
            ) || qp.application.outstanding() > 0
        };
        if ends.iter().any(up) || !self.network_is_up(pair) {
            return;
        }
        let left = ends
            .iter()
            .any(|&qp| self.qps[qp].application.has_work_left());
        if !left {
            return;
        }
        if self.in_flight[pair] > 0 {
            self.events
                .after(MILLISECOND, Happening::Reconnect { pair });
            return;
        }
        for qp in ends {
            self.abandon(qp);
            self.step(qp, Step::Reset);
            self.forget(qp);
        }
        self.connect(pair);
    }

    fn network_is_up(&mut self, pair: usize) -> bool {
        let hosts = [0, 1].map(|end| self.qps[2 * pair + end].plan.host);
        !self.network.link(hosts[0], hosts[1]).plan().dies()
    }

    /// Asks for receive requests to be posted after a while.
    pub(super) fn order(&mut self, queue: QueueName, count: u32) {
        let Some((_, supply)) = self.supplies.iter_mut().find(|(name, _)| *name == queue) else {
            return;
        };
        let idle = supply.due == 0;
        supply.due += count;
        if idle {
            let wait = supply.rng.within(0..=supply.plan.delay);
            self.events.after(wait, Happening::Supply { queue });
        }
    }

    /// Posts the receive requests that a queue starts with; the others are ordered.
    pub(super) fn start_supply(&mut self, queue: QueueName) {
        let Some((_, supply)) = self.supplies.iter_mut().find(|(name, _)| *name == queue) else {
            return;
        };
        let ReceivePlan { depth, initial, .. } = supply.plan;
        supply.due = 0;
        self.put_receives(queue, initial);
        if depth > initial {
            self.order(queue, depth - initial);
        }
    }

    /// The receive requests that were asked for are posted.
    pub(super) fn supply(&mut self, queue: QueueName) {
        let Some((_, supply)) = self.supplies.iter_mut().find(|(name, _)| *name == queue) else {
            return;
        };
        let count = std::mem::take(&mut supply.due);
        if let QueueName::Own(qp) = queue {
            if self.qps[qp].state == Life::Failed {
                return;
            }
        }
        self.put_receives(queue, count);
    }

    fn put_receives(&mut self, queue: QueueName, count: u32) {
        let Some((_, supply)) = self.supplies.iter_mut().find(|(name, _)| *name == queue) else {
            return;
        };
        let target = match queue {
            QueueName::Own(qp) => &mut self.qps[qp].side.queue,
            QueueName::Shared { host, index } => &mut self.hosts[host].shared[index].queue,
        };
        for _ in 0..count {
            let short = supply.rng.happens(supply.plan.short);
            let capacity = if short {
                supply.rng.below(u64::from(supply.plan.capacity)) as u32
            } else {
                supply.plan.capacity
            };
            target.post(capacity);
        }
    }
}
