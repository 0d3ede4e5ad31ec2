// SPDX-License-Identifier: GPL-2.0

//! Queue pairs: the protocol's engine, the process's rings, and what lies between them.
//!
//! ib_core frees its `ib_qp` the moment it is destroyed; all that runs by itself (packets, timer,
//! work) holds an `Arc` of the [`Qp`] here.
//!
//! Lock: [`Qp::inner`], under which the engine runs; below it are the completion queues' locks and
//! the path's. Two queue pairs are never locked at once. What the engine did is told to others
//! after the lock is released, and never inside a verb ([`Notices`]).

mod create;
mod data;
mod early;
mod env;
mod flow;
mod modify;
mod post;
mod posts;
mod receive;
mod transmit;

pub(crate) use self::modify::to_mtu;
use self::{
    data::Data,
    early::Early,
    posts::{
        Kernel,
        RecvPosts,
        SendPosts, //
    }, //
};

use crate::{
    ah::Path,
    cq::{
        Added,
        Cq,
        Origin, //
    },
    link::Link,
    ring::Inbox, //
};
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        ArcBorrow, //
    },
    workqueue::{
        impl_has_work,
        Work,
        WorkItem, //
    }, //
};
use kernel_ext::{
    rdma::{
        DatagramSource,
        Mapping,
        QpEvent,
        QpEvents,
        QpReference, //
    },
    sync::{
        SpinLockBh,
        Timer,
        TimerHandler, //
    }, //
};
use oxe_proto::{
    memory::{
        PdId,
        QpId, //
    },
    transport::{
        error::WcStatus,
        Engine,
        Event,
        Resource,
        SendSlot,
        Storage, //
    },
    types::{
        Instant,
        Qpn, //
    }, //
};
use oxe_uabi::{
    cqe::WcOpcode,
    send::SendQueue,
    sge::Sge, //
};

/// The engine's memory.
pub(crate) struct KernelMemory;

impl Storage for KernelMemory {
    type Send = KVVec<SendSlot>;
    type Resources = KVVec<Resource>;
}

/// What belongs to a send request that is under way, beside the engine's slot.
#[derive(Default)]
struct Note {
    wr_id: u64,
    opcode: WcOpcode,
    /// Bytes that its completion names.
    bytes: u32,
    gather: Gather,
    /// Where a datagram goes.
    path: Option<Arc<Path>>,
    /// It is no request: how it ends in its turn.
    refused: Option<WcStatus>,
}

/// Where a send request's data lies.
#[derive(Clone, Copy)]
enum Gather {
    /// In memory: so many elements of the slot's part of the lists.
    List(u32),
    /// In the slot's part of the inline data: so many bytes.
    Inline(u32),
}

impl Default for Gather {
    fn default() -> Self {
        Self::List(0)
    }
}

/// The current receive request.
struct Current {
    wr_id: u64,
    /// Elements of its list.
    count: usize,
}

/// Where send requests come from.
enum Sends {
    /// A ring that a process fills.
    Shared(Inbox),
    /// Posts of the kernel's.
    Posted(Arc<SendPosts>),
}

impl Sends {
    /// Requests of a process that were not taken yet, as it says.
    fn waiting(&self) -> u32 {
        match self {
            Self::Shared(ring) => ring.waiting(),
            Self::Posted(_) => 0,
        }
    }

    /// What a process can map.
    fn take_mapping(&mut self) -> Option<Mapping> {
        match self {
            Self::Shared(ring) => ring.take_mapping(),
            Self::Posted(_) => None,
        }
    }
}

/// Where receive requests come from.
enum Receives {
    /// A ring that a process fills.
    Shared(Inbox),
    /// Posts of the kernel's.
    Posted(Arc<RecvPosts>),
}

impl Receives {
    /// What a process can map.
    fn take_mapping(&mut self) -> Option<Mapping> {
        match self {
            Self::Shared(ring) => ring.take_mapping(),
            Self::Posted(_) => None,
        }
    }
}

/// All of a queue pair but the engine, which looks at it through [`env::Port`].
struct Side {
    link: Arc<Link>,
    qpn: Qpn,
    id: QpId,
    pd: PdId,
    datagram: bool,
    queue: SendQueue,
    send_cq: Arc<Cq>,
    recv_cq: Arc<Cq>,
    sends: Sends,
    receives: Receives,
    /// How completions of the kernel's name it.
    reference: Option<QpReference>,
    notes: KVVec<Note>,
    /// The gather lists of all slots, [`Side::list_stride`] elements each.
    lists: KVVec<Sge>,
    list_stride: usize,
    inline: KVVec<u8>,
    inline_stride: usize,
    current: Option<Current>,
    current_list: KVVec<Sge>,
    early: Early,
    /// The connection's.
    path: Option<Arc<Path>>,
    /// Since when this host has had no room for a packet.
    full_since: Option<Instant>,
    /// The next IPv4 identification.
    ip_id: u16,
    /// Packets that are about to be sent.
    run: transmit::Run,
    notices: Notices,
}

impl Side {
    /// What completions of the kernel's have beside those of a process; nothing for a process.
    fn origin(&self, source: Option<DatagramSource>) -> Option<Origin> {
        self.reference.map(|qp| Origin { qp, source })
    }
}

/// What is under a queue pair's lock.
struct Inner {
    engine: Engine<KernelMemory>,
    side: Side,
    /// The process has posted more than the engine had room for.
    starved: bool,
    /// The queue pair is being destroyed: nothing starts any more.
    dead: bool,
}

/// See the module's description.
#[pin_data]
pub(crate) struct Qp {
    pub(crate) qpn: Qpn,
    link: Arc<Link>,
    send_cq: Arc<Cq>,
    recv_cq: Arc<Cq>,
    events: Arc<QpEvents>,
    created: create::Created,
    /// What it has if it is the kernel's.
    kernel: Option<Kernel>,
    #[pin]
    inner: SpinLockBh<Inner>,
    /// What the work item has to tell.
    untold: Atomic<u32>,
    #[pin]
    work: Work<Qp>,
    #[pin]
    timer: Timer<Qp>,
}

impl_has_work! {
    impl HasWork<Self> for Qp { self.work }
}

/// What others have to be told, each once.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Notices(u32);

impl Notices {
    const SEND_CQ: u32 = 1 << 16;
    const RECV_CQ: u32 = 1 << 17;
    const SEND_CQ_OVERRUN: u32 = 1 << 18;
    const RECV_CQ_OVERRUN: u32 = 1 << 19;
    /// Work is left over.
    const MORE: u32 = 1 << 20;
    /// The queue pair failed for what the driver did.
    const FATAL: u32 = 1 << 21;
    /// Completions were lost, the queue having run over before.
    const LOST: u32 = 1 << 22;

    const EVENTS: [(Event, QpEvent); 5] = [
        (
            Event::CommunicationEstablished,
            QpEvent::CommunicationEstablished,
        ),
        (Event::SendQueueDrained, QpEvent::SendQueueDrained),
        (Event::RequestError, QpEvent::RequestError),
        (Event::AccessError, QpEvent::AccessError),
        (Event::LastWqeReached, QpEvent::LastWqeReached),
    ];

    fn add(&mut self, bits: u32) {
        self.0 |= bits;
    }

    fn sent(&mut self, added: Added) {
        match added {
            Added::Quietly => {}
            Added::Notify => self.add(Self::SEND_CQ),
            Added::Overrun => self.add(Self::SEND_CQ_OVERRUN | Self::LOST),
            Added::Lost => self.add(Self::LOST),
        }
    }

    fn received(&mut self, added: Added) {
        match added {
            Added::Quietly => {}
            Added::Notify => self.add(Self::RECV_CQ),
            Added::Overrun => self.add(Self::RECV_CQ_OVERRUN | Self::LOST),
            Added::Lost => self.add(Self::LOST),
        }
    }

    fn event(&mut self, event: Event) {
        for (n, (known, _)) in Self::EVENTS.iter().enumerate() {
            if *known == event {
                self.0 |= 1 << n;
            }
        }
    }

    /// Work is left over.
    fn more(&mut self) {
        self.add(Self::MORE);
    }

    fn lost(self) -> bool {
        self.0 & Self::LOST != 0
    }

    fn take(&mut self) -> Self {
        core::mem::take(self)
    }
}

impl Qp {
    /// Tells whom it concerns. Context: process or softirq, no lock held, not inside a verb.
    fn tell(&self, notices: Notices) {
        let has = |bit| notices.0 & bit != 0;
        if has(Notices::SEND_CQ_OVERRUN) {
            self.send_cq.overrun();
        }
        if has(Notices::RECV_CQ_OVERRUN) {
            self.recv_cq.overrun();
        }
        if has(Notices::FATAL) {
            self.events.raise(QpEvent::Fatal);
        }
        if has(Notices::SEND_CQ) {
            self.send_cq.notify();
        }
        if has(Notices::RECV_CQ) {
            self.recv_cq.notify();
        }
        for (n, (_, event)) in Notices::EVENTS.iter().enumerate() {
            if has(1 << n) {
                self.events.raise(*event);
            }
        }
    }

    /// Has the work item tell, for that may not be done here. Context: any.
    fn tell_later(this: ArcBorrow<'_, Self>, notices: Notices) {
        if notices == Notices::default() {
            return;
        }
        let mut known = this.untold.load(Relaxed);
        loop {
            match this.untold.cmpxchg(known, known | notices.0, Relaxed) {
                Ok(_) => break,
                Err(now) => known = now,
            }
        }
        // It fails if it is enqueued already, and will see the bits.
        this.link.enqueue(this.into());
    }

    /// After the lock was released, outside of a verb. Context: process or softirq.
    fn finish(this: ArcBorrow<'_, Self>, notices: Notices, more: bool) {
        this.tell(notices);
        if more {
            this.link.enqueue(this.into());
        }
    }
}

impl WorkItem for Qp {
    type Pointer = Arc<Self>;

    fn run(qp: Arc<Self>) {
        let untold = qp.untold.xchg(0, Relaxed);
        let this = qp.as_arc_borrow();
        let (mut notices, more) = Self::run_once(this);
        notices.add(untold);
        Self::finish(this, notices, more);
    }
}

impl TimerHandler for Qp {
    fn expired(this: Arc<Self>) {
        let this = this.as_arc_borrow();
        let (notices, more) = Self::run_once(this);
        Self::finish(this, notices, more);
    }
}
