// SPDX-License-Identifier: GPL-2.0

//! Elements of send queues.
//!
//! Of an element, the request and its list or data count; what `rdma_rxe` keeps there while it
//! works (state, sequence numbers, rests) is not looked at. Where providers differ from what the
//! layout suggests:
//!
//! * The length of a list is the sum of its entries: some providers have another one beside it.
//! * Inline data has its length in `dma.length`. The builders (`ibv_wr_set_inline_data`) do not set
//!   the flag for it: a length without a list means inline data as well, as there is nothing else
//!   that it could mean.
//! * FLUSH has its length in `dma.length`; nobody fills in `wr.flush.length`.
//! * ATOMIC WRITE has its eight bytes inline, without the flag.
//! * The list of an atomic may be longer than eight bytes.

mod head;
mod opcode;

use self::head::Head;
use crate::{
    abi::send as at,
    av::Av,
    cqe::WcOpcode,
    sge::{
        list_bytes,
        Sge,
        Sges, //
    },
};
use core::num::NonZeroU32;
use oxe_proto::{
    transport::{
        error::WcStatus,
        state::QpType,
        wr::{
            SendOp,
            SendWr, //
        },
    },
    types::Rkey,
};

/// Bytes of an element before its list or data.
pub const HEAD_BYTES: usize = at::BYTES;

/// What elements have room for behind their head. It is one room for both, so that who wants one
/// has the other as well; the user has to be told of both, since the provider goes by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    bytes: u32,
}

impl Room {
    /// Room for a list of `sges` entries, or so many bytes of inline data; none if an element had
    /// 2^32 bytes or more.
    pub fn new(sges: u32, inline_bytes: u32) -> Option<Self> {
        let bytes = list_bytes(sges).max(inline_bytes as usize);
        u32::try_from(bytes.checked_add(HEAD_BYTES)?).ok()?;
        Some(Self {
            bytes: u32::try_from(bytes).ok()?,
        })
    }

    /// Entries of a list.
    #[inline]
    pub fn sges(&self) -> u32 {
        self.bytes / 16
    }

    /// Bytes of inline data.
    #[inline]
    pub fn inline_bytes(&self) -> u32 {
        self.bytes
    }

    /// Bytes of an element with its head, for [`crate::ring::Layout::new`].
    #[inline]
    pub fn element_bytes(&self) -> u32 {
        self.bytes.saturating_add(208)
    }
}

/// The numbers in [`Room`].
const _: () = assert!(HEAD_BYTES == 208 && Sge::BYTES == 16);

/// The queue that an element is from.
#[derive(Clone, Copy, Debug)]
pub struct SendQueue {
    /// Its queue pair.
    pub qp_type: QpType,
    /// All of its requests want a completion.
    pub all_signalled: bool,
}

/// Where a request's data is, or goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gather<'e> {
    /// In these pieces of memory; none of them if there is no data.
    Sges(Sges<'e>),
    /// In the element itself, from [`HEAD_BYTES`] on.
    Inline(&'e [u8]),
}

/// To whom a datagram goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// An address handle, by its number.
    Handle(NonZeroU32),
    /// Old providers: the address itself.
    Vector(Av),
}

/// A memory window and what it is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bind {
    /// The window, by its present key.
    pub window: Rkey,
    /// Its next key.
    pub rkey: Rkey,
    /// The region that it is bound to, unless the length is 0.
    pub lkey: u32,
    /// Virtual address of the range.
    pub addr: u64,
    /// Bytes of the range.
    pub length: u64,
    /// Rights, `IB_ACCESS_*`.
    pub access: u32,
}

/// What the driver needs to know of a request, and the engine does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// Of a datagram.
    Datagram(Destination),
    /// Of [`SendOp::Local`]: the key to be invalidated.
    Invalidate(Rkey),
    /// Of [`SendOp::Local`]: the window to be bound.
    Bind(Bind),
}

/// A request that can be given to an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'e> {
    /// What the engine needs.
    pub wr: SendWr,
    /// The data, `wr.length` bytes of it; the list of an atomic may have more, that of a FLUSH has
    /// none.
    pub gather: Gather<'e>,
    /// What the driver needs.
    pub detail: Detail,
}

/// A send request as a user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendElement<'e> {
    /// What the user calls it.
    pub wr_id: u64,
    /// What its completion tells of; anything, if it is no request.
    pub completes_as: WcOpcode,
    /// The request; or how it ends when its turn comes, since there is nothing to be done.
    pub request: Result<Request<'e>, WcStatus>,
}

impl<'e> SendElement<'e> {
    /// Reads a private copy of an element, of which no more than its slot may be given.
    pub fn parse(raw: &'e [u8], queue: SendQueue) -> Self {
        let Some((head, tail)) = raw.split_first_chunk() else {
            return Self {
                wr_id: 0,
                completes_as: WcOpcode::Send,
                request: Err(WcStatus::LocalQpOperation),
            };
        };
        let head = Head::new(head);
        let opcode = head.opcode();
        Self {
            wr_id: head.wr_id(),
            completes_as: opcode.map_or(WcOpcode::Send, |opcode| opcode.completes_as()),
            request: opcode
                .filter(|opcode| !queue.qp_type.is_datagram() || opcode.fits_datagrams())
                .ok_or(WcStatus::LocalQpOperation)
                .and_then(|opcode| head.request(opcode, tail, queue)),
        }
    }

    /// What to post to the engine: the request, or in its place one that sends nothing and that
    /// `Env::local` lets fail in its turn.
    #[inline]
    pub fn to_post(&self) -> SendWr {
        match &self.request {
            Ok(request) => request.wr,
            Err(_) => SendWr::new(SendOp::Local, 0),
        }
    }
}

/// Bytes behind the head that [`SendElement::parse`] is going to look at, but at most `room`: for
/// who copies the head first, and then no more than it takes.
pub fn tail_bytes(head: &[u8; HEAD_BYTES], room: usize) -> usize {
    let head = Head::new(head);
    let bytes = match head.opcode() {
        Some(opcode) => head.data_kind(opcode).tail_bytes(),
        None => 0,
    };
    bytes.min(room)
}

/// Lists and data begin where the head ends; some of the request's fields share their place.
const _: () = assert!(
    at::SGE == HEAD_BYTES
        && at::INLINE == HEAD_BYTES
        && at::ATOMIC_WRITE == HEAD_BYTES
        && at::IMMEDIATE == at::INVALIDATE
);
