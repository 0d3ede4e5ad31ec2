// SPDX-License-Identifier: GPL-2.0

//! Between applications and endpoints: posting, completions, events.

use super::{
    Happening,
    Life,
    Qp,
    QueueName,
    World, //
};
use crate::{
    port::Slot,
    trace::Mark, //
};
use oxe_proto::{
    transport::{
        error::WcStatus,
        wr::Completion,
        Event, //
    },
    wire::packet::Service, //
};

impl World {
    /// A send request has ended.
    pub(super) fn complete(&mut self, qp: usize, completion: Completion) {
        let now = self.events.now();
        let slot = self.qps[qp].side.slots.get_mut(completion.slot.0 as usize);
        let Some(Slot { posted, sink }) = slot.and_then(Option::take) else {
            let what = format!("the free slot {} is complete", completion.slot.0);
            return self.oracle.fail(qp, what);
        };
        let values = [posted.id, completion.status as u64];
        self.trace.note(now, Mark::Completed, qp, &values, || {
            format!("{} {:?} {:?}", posted.id, completion.status, posted.wr.op)
        });
        self.oracle
            .completed(qp, &posted, completion.status, completion.reported);
        self.ended = now;
        if posted.keep_sink {
            self.qps[qp].side.kept.insert(posted.id, sink);
        }
        if completion.status != WcStatus::Success {
            self.failures += 1;
        }
        self.qps[qp].application.completed();
        if completion.status != WcStatus::Success {
            let unreliable = matches!(
                self.scenario.pairs[qp / 2].service,
                Service::Uc | Service::Ud
            );
            if unreliable && self.qps[qp].state != Life::Failed {
                self.stalled(qp);
            } else {
                self.broke(qp);
            }
        }
    }

    pub(super) fn tell(&mut self, qp: usize, event: Event) {
        let now = self.events.now();
        self.trace.note(now, Mark::Event, qp, &[event as u64], || {
            format!("{event:?}")
        });
        self.oracle.told(qp, event);
        match event {
            Event::Failed => self.broke(qp),
            Event::SendQueueDrained => self.drained(qp),
            _ => (),
        }
    }

    /// Receive requests that were used up are posted again after a while.
    pub(super) fn give_back(&mut self, qp: usize) {
        for shared in std::mem::take(&mut self.qps[qp].side.used) {
            let queue = match shared {
                None => QueueName::Own(qp),
                Some(index) => QueueName::Shared {
                    host: self.qps[qp].plan.host,
                    index,
                },
            };
            self.order(queue, 1);
        }
    }

    /// The application posts what it may.
    pub(super) fn post(&mut self, qp: usize) {
        loop {
            let Qp {
                application, state, ..
            } = &self.qps[qp];
            let may = matches!(
                state,
                Life::Works | Life::Drains | Life::Stalled | Life::Failed
            );
            if !may || !application.wants_to_post() {
                return;
            }
            let in_vain = matches!(state, Life::Stalled | Life::Failed);
            if in_vain && !self.qps[qp].application.may_post_in_vain() {
                return;
            }
            let now = self.events.now();
            if let Some(at) = self.qps[qp].application.thinks_until(now) {
                self.events.at(at, Happening::Post { qp });
                return;
            }
            self.post_one(qp);
            if self.oracle.violation().is_some() {
                return;
            }
        }
    }

    fn post_one(&mut self, qp: usize) {
        let host = self.qps[Self::peer(qp)].plan.host;
        let Some(targets) = self.qps[qp].targets.take() else {
            return;
        };
        let throwaway = if self.qps[qp].application.will_invalidate(&targets) {
            let (area, _) = self.register(host, 8, crate::memory::Rights::ALL);
            Some(area.key)
        } else {
            None
        };
        let now = self.events.now();
        self.qps[qp].application.thinks_from(now);
        let (posted, fixed) = self.qps[qp].application.make(&targets, throwaway);
        self.qps[qp].targets = Some(targets);
        match self.qps[qp].endpoint.post_send(posted.wr) {
            Ok(slot) => {
                self.trace.note(now, Mark::Posted, qp, &[posted.id], || {
                    format!("{posted:?}")
                });
                self.oracle.posted(qp, &posted, fixed);
                let place = self.qps[qp].side.slots.get_mut(slot.0 as usize);
                match place {
                    Some(place @ None) => {
                        let sink = Vec::new();
                        *place = Some(Slot { posted, sink });
                    }
                    _ => {
                        let what = format!("a request at the slot {}, which is in use", slot.0);
                        self.oracle.fail(qp, what);
                    }
                }
                self.wake(qp);
            }
            Err(error) => self
                .oracle
                .fail(qp, format!("a request was not taken: {error:?}")),
        }
    }
}
