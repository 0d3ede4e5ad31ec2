// SPDX-License-Identifier: GPL-2.0

//! What a memory region is made of.
//!
//! Context of all access: any.

use kernel::prelude::*;
use kernel_ext::{
    fill::Filler,
    net::SkBuff,
    rdma::{
        AtomicOp,
        DirectMemory,
        Umem, //
    }, //
};

/// Bytes of a region, by their place in it.
pub(crate) enum Memory {
    /// Pinned pages of a process.
    Pinned(Umem),
    /// All of the kernel's memory, for the lists of its own users: places are addresses.
    Direct(DirectMemory),
}

impl Memory {
    /// Copies `length` bytes out.
    #[inline]
    pub(crate) fn read(&self, place: u64, length: usize, to: &mut Filler<'_>) -> Result {
        match self {
            Self::Pinned(umem) => umem.read(place, length, to),
            Self::Direct(memory) => memory.read(place, length, to),
        }
    }

    /// Copies bytes in.
    #[inline]
    pub(crate) fn write(&self, place: u64, from: &[u8]) -> Result {
        match self {
            Self::Pinned(umem) => umem.write(place, from),
            Self::Direct(memory) => memory.write(place, from),
        }
    }

    /// Copies `length` bytes of a packet in, from `offset` on.
    #[inline]
    pub(crate) fn copy_from_skb(
        &self,
        place: u64,
        skb: &SkBuff,
        offset: usize,
        length: usize,
    ) -> Result {
        match self {
            Self::Pinned(umem) => umem.copy_from_skb(place, skb, offset, length),
            Self::Direct(memory) => memory.copy_from_skb(place, skb, offset, length),
        }
    }

    /// Does an atomic for a peer, which gets at the memory of processes alone.
    #[inline]
    pub(crate) fn atomic64(&self, place: u64, operation: AtomicOp) -> Result<u64> {
        match self {
            Self::Pinned(umem) => umem.atomic64(place, operation),
            Self::Direct(_) => Err(EPERM),
        }
    }

    /// As [`Memory::atomic64`], for an ATOMIC WRITE.
    #[inline]
    pub(crate) fn write_u64_atomic(&self, place: u64, value: u64) -> Result {
        match self {
            Self::Pinned(umem) => umem.write_u64_atomic(place, value),
            Self::Direct(_) => Err(EPERM),
        }
    }
}
