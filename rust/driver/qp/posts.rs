// SPDX-License-Identifier: GPL-2.0

//! Work requests of the kernel's users, from when they are posted to when the engine takes them.
//!
//! Locks: [`SendPosts::ring`] and [`RecvPosts::ring`], leaves, taken with interrupts off: a post
//! may come in any context. What they hold goes on to the engine under the queue pair's lock, which
//! takes process or softirq context: by the poster if that is where it is, else by the work item.

use super::{
    Current,
    Gather,
    Note,
    Qp, //
};
use crate::device::OxeDevice;
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        new_spinlock_irq,
        Arc,
        ArcBorrow,
        SpinLockIrq, //
    }, //
};
use kernel_ext::{
    rdma::{
        Operation,
        Pieces,
        RecvRequest,
        RecvRequests,
        SendRequest,
        SendRequests, //
    },
    sync::may_lock_bh, //
};
use oxe_proto::{
    memory::PdId,
    transport::{
        ports::Taken,
        state::{
            QpType,
            State, //
        },
        wr::{
            SendOp,
            SendWr, //
        }, //
    },
    types::{
        Immediate,
        Qkey,
        Qpn,
        Rkey,
        MAX_MESSAGE_BYTES, //
    },
    wire::{
        atomic::AtomicEth,
        packet::Tail, //
    }, //
};
use oxe_uabi::{
    cqe::WcOpcode,
    send::SendQueue,
    sge::Sge, //
};

/// Bytes that an atomic's answer has.
const ATOMIC_BYTES: u32 = 8;

/// The parts of a queue pair of the kernel that others have not.
pub(super) struct Kernel {
    pub(super) sends: Arc<SendPosts>,
    pub(super) receives: Arc<RecvPosts>,
}

impl Kernel {
    /// The queue pair's state has changed by a verb; by itself it only comes to states in which as
    /// much can be posted as before.
    pub(super) fn enter(&self, state: State) {
        let mut ring = self.sends.ring.lock();
        ring.open = state.may_post_send();
        if state == State::Reset {
            ring.clear();
            self.sends.outstanding.store(0, Relaxed);
        }
        drop(ring);
        let mut ring = self.receives.ring.lock();
        ring.open = state.may_post_receive();
        ring.flushing = state == State::Err;
        if state == State::Reset {
            ring.count = 0;
        }
    }

    /// Nothing is posted any more, and what was is dropped.
    pub(super) fn close(&self) {
        let mut ring = self.sends.ring.lock();
        ring.open = false;
        ring.clear();
        drop(ring);
        let mut ring = self.receives.ring.lock();
        ring.open = false;
        ring.count = 0;
    }
}

/// The end of a ring of `length` places, of which `count` are used from `first` on.
fn place(first: usize, count: usize, length: usize) -> usize {
    let at = first.saturating_add(count);
    at.checked_sub(length).unwrap_or(at)
}

/// A place's part of something of which each has `stride`.
fn part<T>(all: &[T], place: usize, stride: usize) -> &[T] {
    let start = place.saturating_mul(stride);
    all.get(start..start.saturating_add(stride))
        .unwrap_or_default()
}

/// As [`part`].
fn part_mut<T>(all: &mut [T], place: usize, stride: usize) -> &mut [T] {
    let start = place.saturating_mul(stride);
    all.get_mut(start..start.saturating_add(stride))
        .unwrap_or_default()
}

/// Copies a list into a place for one: how many elements, and the sum of their lengths.
fn copy_list(pieces: &Pieces<'_>, to: &mut [Sge]) -> Result<(u32, u32)> {
    if pieces.len() > to.len() {
        return Err(EINVAL);
    }
    let (mut count, mut total) = (0_u32, 0_u32);
    for (place, piece) in to.iter_mut().zip(pieces.iter()) {
        *place = Sge {
            addr: piece.address,
            length: piece.length,
            lkey: piece.lkey,
        };
        count = count.saturating_add(1);
        total = total.checked_add(piece.length).ok_or(EINVAL)?;
    }
    Ok((count, total))
}

/// A send request that waits.
struct Post {
    wr: SendWr,
    note: Note,
}

struct SendRing {
    posts: KVVec<Option<Post>>,
    first: usize,
    count: usize,
    lists: KVVec<Sge>,
    list_stride: usize,
    inline: KVVec<u8>,
    inline_stride: usize,
    /// The queue pair is in a state in which sends may be posted.
    open: bool,
}

impl SendRing {
    fn clear(&mut self) {
        while self.count != 0 {
            if let Some(post) = self.posts.get_mut(self.first) {
                *post = None;
            }
            self.first = place(self.first, 1, self.posts.len());
            self.count = self.count.saturating_sub(1);
        }
    }
}

/// The send requests that wait.
#[pin_data]
pub(super) struct SendPosts {
    #[pin]
    ring: SpinLockIrq<SendRing>,
    /// Posted and not complete, here or at the engine.
    outstanding: Atomic<u32>,
}

/// What a kernel's request is, for the engine, and what its completion tells of.
fn translate(operation: &Operation<'_, OxeDevice>) -> (SendOp, WcOpcode) {
    let tail = |immediate: Option<[u8; 4]>| match immediate {
        Some(bytes) => Tail::Immediate(Immediate(bytes)),
        None => Tail::None,
    };
    match *operation {
        Operation::Send { immediate } => (SendOp::Send(tail(immediate)), WcOpcode::Send),
        Operation::SendInvalidate { rkey } => {
            (SendOp::Send(Tail::Invalidate(Rkey(rkey))), WcOpcode::Send)
        }
        Operation::Datagram {
            qpn,
            qkey,
            immediate,
            ..
        } => {
            let op = SendOp::Datagram {
                dest_qp: Qpn::from_low_bits(qpn),
                qkey: Qkey(qkey),
                immediate: immediate.map(Immediate),
            };
            (op, WcOpcode::Send)
        }
        Operation::Write {
            address,
            rkey,
            immediate,
        } => {
            let op = SendOp::Write {
                address,
                rkey: Rkey(rkey),
                immediate: immediate.map(Immediate),
            };
            (op, WcOpcode::Write)
        }
        Operation::Read { address, rkey } => {
            let op = SendOp::Read {
                address,
                rkey: Rkey(rkey),
            };
            (op, WcOpcode::Read)
        }
        Operation::CompareSwap {
            address,
            rkey,
            compare,
            swap,
        } => {
            let eth = AtomicEth {
                address,
                rkey: Rkey(rkey),
                swap_add: swap,
                compare,
            };
            (SendOp::CompareSwap(eth), WcOpcode::CompareSwap)
        }
        Operation::FetchAdd { address, rkey, add } => {
            let eth = AtomicEth {
                address,
                rkey: Rkey(rkey),
                swap_add: add,
                compare: 0,
            };
            (SendOp::FetchAdd(eth), WcOpcode::FetchAdd)
        }
    }
}

impl SendPosts {
    /// Room for `capacity` requests, not 0, with lists and inline data. Context: process.
    pub(super) fn new(
        capacity: u32,
        list_stride: usize,
        inline_stride: usize,
    ) -> Result<Arc<Self>> {
        let slots = capacity as usize;
        let mut posts = KVVec::with_capacity(slots, GFP_KERNEL_ACCOUNT)?;
        for _ in 0..slots {
            posts.push(None, GFP_KERNEL_ACCOUNT)?;
        }
        let lists = slots.checked_mul(list_stride).ok_or(ENOMEM)?;
        let inline = slots.checked_mul(inline_stride).ok_or(ENOMEM)?;
        let ring = SendRing {
            posts,
            first: 0,
            count: 0,
            lists: KVVec::from_elem(Sge::default(), lists, GFP_KERNEL_ACCOUNT)?,
            list_stride,
            inline: KVVec::from_elem(0, inline, GFP_KERNEL_ACCOUNT)?,
            inline_stride,
            open: false,
        };
        Arc::pin_init(
            pin_init!(Self {
                ring <- new_spinlock_irq!(ring, "oxe::SendPosts::ring"),
                outstanding: Atomic::new(0),
            }),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// A request has ended, and makes room.
    pub(super) fn ended(&self) {
        self.outstanding.fetch_sub(1, Relaxed);
    }

    /// Offers the oldest request to `take`, with its list and its inline data. If that is true, the
    /// request goes, and the result is what belongs to it.
    pub(super) fn take(&self, take: impl FnOnce(SendWr, &[Sge], &[u8]) -> bool) -> Option<Note> {
        let mut ring = self.ring.lock();
        let ring = &mut *ring;
        if ring.count == 0 {
            return None;
        }
        let at = ring.first;
        let entry = ring.posts.get_mut(at)?;
        let post = entry.as_ref()?;
        let (sges, bytes) = match post.note.gather {
            Gather::List(sges) => (sges, 0),
            Gather::Inline(bytes) => (0, bytes),
        };
        let list = part(&ring.lists, at, ring.list_stride);
        let inline = part(&ring.inline, at, ring.inline_stride);
        let list = list.get(..sges as usize)?;
        let inline = inline.get(..bytes as usize)?;
        if !take(post.wr, list, inline) {
            return None;
        }
        let post = entry.take()?;
        ring.first = place(at, 1, ring.posts.len());
        ring.count = ring.count.saturating_sub(1);
        Some(post.note)
    }

    /// Adds one request.
    fn push(
        &self,
        ring: &mut SendRing,
        pd: PdId,
        queue: SendQueue,
        request: SendRequest<'_, OxeDevice>,
    ) -> Result {
        if !ring.open {
            return Err(EINVAL);
        }
        let capacity = ring.posts.len();
        if self.outstanding.load(Relaxed) as usize >= capacity || ring.count >= capacity {
            return Err(ENOMEM);
        }
        let at = place(ring.first, ring.count, capacity);
        let list = part_mut(&mut ring.lists, at, ring.list_stride);
        let (op, opcode) = translate(&request.operation);
        let (count, total) = copy_list(&request.pieces, list)?;
        let mut gather = Gather::List(count);
        if total > MAX_MESSAGE_BYTES {
            return Err(EINVAL);
        }
        let is_atomic = matches!(op, SendOp::CompareSwap(_) | SendOp::FetchAdd(_));
        if request.is_inline() {
            if is_atomic || matches!(op, SendOp::Read { .. }) {
                return Err(EINVAL);
            }
            request.copy_inline(part_mut(&mut ring.inline, at, ring.inline_stride))?;
            gather = Gather::Inline(total);
        }
        let length = if is_atomic {
            total.min(ATOMIC_BYTES)
        } else {
            total
        };
        let path = match request.operation {
            Operation::Datagram { ah, pkey_index, .. } => {
                // The others leave it as it is.
                if queue.qp_type == QpType::Gsi && pkey_index != 0 {
                    return Err(EINVAL);
                }
                Some(ah.path_for(pd).ok_or(EINVAL)?)
            }
            _ => None,
        };
        let mut wr = SendWr::new(op, length);
        wr.signalled = request.signalled || queue.all_signalled;
        wr.solicited = request.solicited;
        wr.fence = request.fence;
        let note = Note {
            wr_id: request.wr_id,
            opcode,
            bytes: length,
            gather,
            path,
            refused: None,
        };
        if let Some(entry) = ring.posts.get_mut(at) {
            *entry = Some(Post { wr, note });
        }
        ring.count = ring.count.saturating_add(1);
        self.outstanding.fetch_add(1, Relaxed);
        Ok(())
    }
}

/// A receive request that waits.
#[derive(Clone, Copy, Default)]
struct Buffer {
    wr_id: u64,
    /// Elements of its list.
    count: u32,
    /// Bytes that they hold.
    capacity: u32,
}

struct RecvRing {
    buffers: KVVec<Buffer>,
    first: usize,
    count: usize,
    lists: KVVec<Sge>,
    list_stride: usize,
    /// The queue pair is in a state in which receives may be posted.
    open: bool,
    /// It failed: what is posted ends at once.
    flushing: bool,
}

impl RecvRing {
    /// Takes the oldest out, and says where it was.
    fn pop(&mut self) -> Option<(usize, Buffer)> {
        if self.count == 0 {
            return None;
        }
        let at = self.first;
        let buffer = *self.buffers.get(at)?;
        self.first = place(at, 1, self.buffers.len());
        self.count = self.count.saturating_sub(1);
        Some((at, buffer))
    }

    fn push(&mut self, request: &RecvRequest<'_>) -> Result {
        if !self.open {
            return Err(EINVAL);
        }
        if self.count >= self.buffers.len() {
            return Err(ENOMEM);
        }
        let at = place(self.first, self.count, self.buffers.len());
        let list = part_mut(&mut self.lists, at, self.list_stride);
        let (count, capacity) = copy_list(&request.pieces, list)?;
        if let Some(buffer) = self.buffers.get_mut(at) {
            *buffer = Buffer {
                wr_id: request.wr_id,
                count,
                capacity,
            };
        }
        self.count = self.count.saturating_add(1);
        Ok(())
    }
}

/// The receive requests that wait.
#[pin_data]
pub(super) struct RecvPosts {
    #[pin]
    ring: SpinLockIrq<RecvRing>,
}

impl RecvPosts {
    /// Room for `capacity` requests, not 0, with lists. Context: process.
    pub(super) fn new(capacity: u32, list_stride: usize) -> Result<Arc<Self>> {
        let slots = capacity as usize;
        let lists = slots.checked_mul(list_stride).ok_or(ENOMEM)?;
        let ring = RecvRing {
            buffers: KVVec::from_elem(Buffer::default(), slots, GFP_KERNEL_ACCOUNT)?,
            first: 0,
            count: 0,
            lists: KVVec::from_elem(Sge::default(), lists, GFP_KERNEL_ACCOUNT)?,
            list_stride,
            open: false,
            flushing: false,
        };
        Arc::pin_init(
            pin_init!(Self {
                ring <- new_spinlock_irq!(ring, "oxe::RecvPosts::ring"),
            }),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Takes the oldest request, and puts its list where `list` is.
    pub(super) fn take(&self, list: &mut [Sge], current: &mut Option<Current>) -> Taken {
        let mut ring = self.ring.lock();
        let Some((at, buffer)) = ring.pop() else {
            return Taken::Empty;
        };
        let count = (buffer.count as usize).min(list.len());
        for (to, from) in list
            .iter_mut()
            .zip(part(&ring.lists, at, ring.list_stride))
            .take(count)
        {
            *to = *from;
        }
        *current = Some(Current {
            wr_id: buffer.wr_id,
            count,
        });
        Taken::Ready {
            capacity: buffer.capacity,
        }
    }

    /// Takes the oldest request of a queue pair that failed: what its user calls it.
    pub(super) fn flush(&self) -> Option<u64> {
        let mut ring = self.ring.lock();
        // Who posts from now on has this done again.
        ring.flushing = true;
        ring.pop().map(|(_, buffer)| buffer.wr_id)
    }
}

impl Qp {
    /// The engine is to look at what was posted. Context: any; within a verb.
    fn press(this: ArcBorrow<'_, Self>) {
        if may_lock_bh() {
            Self::press_on(this);
        } else {
            this.link.enqueue(this.into());
        }
    }

    /// A user of the kernel posts send requests. Context: any.
    pub(crate) fn post_send(
        this: ArcBorrow<'_, Self>,
        requests: &mut SendRequests<'_, OxeDevice>,
    ) -> Result {
        let kernel = this.kernel.as_ref().ok_or(EINVAL)?;
        let sends = &kernel.sends;
        let mut posted = false;
        let mut ring = sends.ring.lock();
        let result = requests.try_for_each(|request| {
            sends.push(&mut ring, this.created.pd, this.created.queue, request?)?;
            posted = true;
            Ok(())
        });
        drop(ring);
        if posted {
            Self::press(this);
        }
        result
    }

    /// A user of the kernel posts receive requests. Context: any.
    pub(crate) fn post_recv(this: ArcBorrow<'_, Self>, requests: &mut RecvRequests<'_>) -> Result {
        let kernel = this.kernel.as_ref().ok_or(EINVAL)?;
        let mut ring = kernel.receives.ring.lock();
        let result = requests.try_for_each(|request| ring.push(&request?));
        let flushing = ring.flushing && ring.count != 0;
        drop(ring);
        if flushing {
            Self::press(this);
        }
        result
    }
}
