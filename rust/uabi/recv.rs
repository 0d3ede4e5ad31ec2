// SPDX-License-Identifier: GPL-2.0

//! Elements of receive queues, shared ones included.

use crate::{
    abi::recv as at,
    bytes::{
        get_u32,
        get_u64, //
    },
    sge::{
        list_bytes,
        Sges, //
    },
};
use oxe_proto::transport::error::WcStatus;

/// Bytes of an element before its scatter list.
pub const HEAD_BYTES: usize = at::BYTES;

/// Bytes of an element with `sges` entries in its list, for [`crate::ring::Layout::new`]; none if
/// there are too many to count.
pub fn element_bytes(sges: u32) -> Option<u32> {
    u32::try_from(HEAD_BYTES.checked_add(list_bytes(sges))?).ok()
}

/// Bytes behind the head that [`RecvElement::parse`] is going to look at, but at most `room`: for
/// who copies the head first, and then no more than it takes.
pub fn tail_bytes(head: &[u8; HEAD_BYTES], room: usize) -> usize {
    let count = get_u32::<{ at::NUM_SGE }, HEAD_BYTES>(head);
    list_bytes(count).min(room)
}

/// Where a receive request puts what comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers<'e> {
    /// The pieces of memory.
    pub sges: Sges<'e>,
    /// Bytes that they hold together.
    pub capacity: u32,
}

/// A receive request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecvElement<'e> {
    /// What the user calls it.
    pub wr_id: u64,
    /// Its memory; or how it ends when its turn comes, since it is not usable.
    pub buffers: Result<Buffers<'e>, WcStatus>,
}

impl<'e> RecvElement<'e> {
    /// Reads a private copy of an element, of which no more than its slot may be given.
    ///
    /// The sum of the lengths is made here; that of the provider has 31 bits and is not looked at.
    pub fn parse(raw: &'e [u8]) -> Self {
        let Some((head, tail)) = raw.split_first_chunk() else {
            return Self {
                wr_id: 0,
                buffers: Err(WcStatus::LocalQpOperation),
            };
        };
        Self {
            wr_id: get_u64::<{ at::WR_ID }, HEAD_BYTES>(head),
            buffers: Self::buffers(head, tail),
        }
    }

    fn buffers(head: &[u8; HEAD_BYTES], tail: &'e [u8]) -> Result<Buffers<'e>, WcStatus> {
        let count = get_u32::<{ at::NUM_SGE }, HEAD_BYTES>(head);
        let sges = Sges::new(tail, count).ok_or(WcStatus::LocalQpOperation)?;
        let capacity = sges.total().ok_or(WcStatus::LocalLength)?;
        Ok(Buffers { sges, capacity })
    }
}

/// The list begins where the head ends.
const _: () = assert!(at::SGE == HEAD_BYTES);
