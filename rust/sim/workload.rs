// SPDX-License-Identifier: GPL-2.0

//! What an application posts on a queue pair.

mod make;
mod spoil;

use crate::{
    events::Nanos,
    pattern::Pattern,
    rng::Rng,
    scenario::WorkPlan,
    work::{
        Outlook,
        Posted,
        Source, //
    },
};
use oxe_proto::{
    transport::{
        attributes::Access,
        wr::{
            SendOp,
            SendWr, //
        },
    },
    types::{
        Mtu,
        Qkey,
        Qpn,
        Rkey,
        SrqNumber, //
    },
    wire::packet::{
        Service,
        Tail, //
    },
};

/// A key that no region has.
const NO_KEY: u32 = 0xdead_0001;

/// Requests that are posted on a queue pair that has failed.
const IN_VAIN: u32 = 3;

/// A memory region at the peer.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// Its key.
    pub key: u32,
    /// Its first byte.
    pub base: u64,
    /// Its bytes.
    pub length: u32,
}

/// What a queue pair may send to.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Transport service.
    pub service: Service,
    /// Path MTU.
    pub mtu: Mtu,
    /// Memory that only this queue pair changes.
    pub target: Area,
    /// Memory that nobody changes, to READ from.
    pub source: Area,
    /// What that holds.
    pub pattern: Pattern,
    /// Memory without the right to READ.
    pub forbidden: Area,
    /// A key of the own host for local work.
    pub local: u32,
    /// What the peer's queue pair allows.
    pub access: Access,
    /// READs and atomics that may be under way.
    pub max_rd_atomic: u8,
    /// The peer's queue pair.
    pub dest: Qpn,
    /// Its queue key.
    pub qkey: Qkey,
    /// Shared receive queues of the peer.
    pub queues: Vec<SrqNumber>,
}

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Send,
    SendInvalidate,
    Write,
    WriteImmediate,
    Read,
    Atomic,
    SharedAtomic,
    Flush,
    AtomicWrite,
    Local,
}

/// A READ whose buffer may be sent on.
#[derive(Clone, Copy, Debug)]
struct Filled {
    id: u64,
    pattern: Pattern,
    offset: u64,
    length: u32,
}

/// An application.
pub struct Application {
    plan: WorkPlan,
    rng: Rng,
    next_id: u64,
    left: u32,
    bytes_left: u64,
    outstanding: u32,
    in_vain: Option<u32>,
    think_until: Nanos,
    local_valid: bool,
    filled: Option<Filled>,
    kind: Option<Kind>,
    /// Memory at the peer's host that all queue pairs add to.
    pub counters: Option<Area>,
}

impl Application {
    /// An application that has posted nothing yet.
    pub fn new(plan: WorkPlan, rng: Rng) -> Self {
        Self {
            next_id: 0,
            left: plan.messages,
            bytes_left: plan.bytes,
            outstanding: 0,
            in_vain: None,
            think_until: 0,
            local_valid: true,
            filled: None,
            kind: None,
            counters: None,
            plan,
            rng,
        }
    }

    /// Requests that have not ended.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Whether there is more to post.
    pub fn has_work_left(&self) -> bool {
        self.left > 0
    }

    /// Whether it would post now.
    pub fn wants_to_post(&self) -> bool {
        self.left > 0 && self.outstanding < self.plan.depth
    }

    /// Until when it thinks before it posts, if that is later than now.
    pub fn thinks_until(&self, now: Nanos) -> Option<Nanos> {
        (self.think_until > now).then_some(self.think_until)
    }

    /// The queue pair has failed; a few more requests are posted to see them flushed.
    pub fn failed(&mut self) {
        self.in_vain.get_or_insert(IN_VAIN);
    }

    /// The queue pair works again.
    pub fn recovered(&mut self) {
        self.in_vain = None;
    }

    /// Whether it knows that the queue pair has failed.
    pub fn knows_of_failure(&self) -> bool {
        self.in_vain.is_some()
    }

    /// Whether it posts on the failed queue pair; counted.
    pub fn may_post_in_vain(&mut self) -> bool {
        match &mut self.in_vain {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        }
    }

    /// A request has ended.
    pub fn completed(&mut self) {
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// What is outstanding will never end (RESET, destroy).
    pub fn abandoned(&mut self) {
        self.outstanding = 0;
        self.filled = None;
    }

    /// The queue pair works, for the first time or again.
    pub fn connected(&mut self) {
        self.in_vain = None;
        self.filled = None;
    }

    fn choose(&mut self, targets: &Targets) -> Kind {
        let mix = &self.plan.mix;
        let reliable = matches!(targets.service, Service::Rc | Service::Xrc);
        let connected = targets.service != Service::Ud;
        let atomics = reliable && targets.max_rd_atomic > 0;
        let weight = |weight: u32, allowed: bool| if allowed { weight } else { 0 };
        // XRC has no opcodes for these.
        let newer = atomics && targets.service == Service::Rc;
        let access = &targets.access;
        let choices = [
            (mix.send, Kind::Send),
            (weight(mix.send_invalidate, reliable), Kind::SendInvalidate),
            (weight(mix.write, connected), Kind::Write),
            (weight(mix.write_immediate, connected), Kind::WriteImmediate),
            (weight(mix.read, atomics && access.remote_read), Kind::Read),
            (
                weight(mix.atomic, atomics && access.remote_atomic),
                Kind::Atomic,
            ),
            (
                weight(mix.shared_atomic, atomics && access.remote_atomic),
                Kind::SharedAtomic,
            ),
            (weight(mix.flush, newer), Kind::Flush),
            (weight(mix.atomic_write, newer), Kind::AtomicWrite),
            (weight(mix.local, reliable), Kind::Local),
        ];
        if choices.iter().all(|choice| choice.0 == 0) {
            return Kind::Send;
        }
        self.rng.weighted(&choices)
    }

    /// Chooses what to post next; true if that invalidates a key of the peer's, to be made.
    pub fn will_invalidate(&mut self, targets: &Targets) -> bool {
        let kind = self.choose(targets);
        self.kind = Some(kind);
        kind == Kind::SendInvalidate
    }

    /// Makes the request that was chosen, and says what a READ of unchanging memory must bring.
    pub fn make(
        &mut self,
        targets: &Targets,
        throwaway: Option<u32>,
    ) -> (Posted, Option<(Pattern, u64)>) {
        let kind = self.kind.take().unwrap_or(Kind::Send);
        let length = self.length(targets);
        let mut fixed = None;
        let mut local = None;
        let (op, length) = match kind {
            Kind::Send if targets.service == Service::Ud => (self.datagram(targets), length),
            Kind::Send => (SendOp::Send(self.tail()), length),
            Kind::SendInvalidate => {
                let key = Rkey(throwaway.unwrap_or(NO_KEY));
                (SendOp::Send(Tail::Invalidate(key)), length)
            }
            Kind::Write | Kind::WriteImmediate => {
                let with_immediate = kind == Kind::WriteImmediate;
                (self.write(targets, length, with_immediate), length)
            }
            Kind::Read => {
                let (op, brings) = self.read(targets, length);
                fixed = brings;
                (op, length)
            }
            Kind::Atomic => (self.atomic(targets), 8),
            Kind::SharedAtomic => (self.shared_atomic(targets), 8),
            Kind::Flush => (self.flush(targets, length), length),
            Kind::AtomicWrite => (self.atomic_write(targets), 8),
            Kind::Local => {
                local = Some(self.local_work(targets));
                (SendOp::Local, 0)
            }
        };
        let mut wr = SendWr::new(op, length);
        wr.signalled = !self.rng.happens(self.plan.unsignalled);
        wr.fence = self.rng.happens(self.plan.fence);
        wr.solicited = self.rng.happens(self.plan.solicited);
        if targets.service == Service::Xrc && !targets.queues.is_empty() {
            wr.srq = self.rng.pick(&targets.queues);
        }
        let posted = Posted {
            id: self.next_id,
            wr,
            source: Source::Memory {
                pattern: Pattern(self.rng.bits()),
                offset: 0,
            },
            outlook: Outlook::Succeeds,
            local,
            keep_sink: false,
        };
        let posted = self.touch_up(posted, targets, fixed);
        self.note(&posted);
        (posted, fixed)
    }

    /// Counts a request that is posted.
    fn note(&mut self, posted: &Posted) {
        self.next_id += 1;
        self.outstanding += 1;
        self.left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(posted.wr.length));
        if self.bytes_left == 0 {
            self.left = 0;
        }
        if self.plan.think > 0 {
            self.think_until = self
                .think_until
                .saturating_add(self.rng.below(self.plan.think));
        }
    }

    /// Some requests go wrong, some send on what a READ has brought.
    fn touch_up(
        &mut self,
        mut posted: Posted,
        targets: &Targets,
        fixed: Option<(Pattern, u64)>,
    ) -> Posted {
        if self.rng.happens(self.plan.invalid) {
            self.spoil(&mut posted, targets);
            return posted;
        }
        match (posted.wr.op, fixed, self.filled) {
            (SendOp::Read { .. }, Some((pattern, offset)), _) if posted.wr.length > 0 => {
                if self.rng.happens(self.plan.from_sink) {
                    posted.keep_sink = true;
                    self.filled = Some(Filled {
                        id: posted.id,
                        pattern,
                        offset,
                        length: posted.wr.length,
                    });
                }
            }
            (SendOp::Send(_) | SendOp::Write { .. }, _, Some(filled))
                if posted.wr.length <= filled.length =>
            {
                posted.wr.fence = true;
                posted.source = Source::Sink {
                    read: filled.id,
                    pattern: filled.pattern,
                    offset: filled.offset,
                };
                self.filled = None;
            }
            _ => (),
        }
        posted
    }

    /// It is now so late: the time to think starts from here.
    pub fn thinks_from(&mut self, now: Nanos) {
        self.think_until = self.think_until.max(now);
    }
}
