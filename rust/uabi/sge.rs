// SPDX-License-Identifier: GPL-2.0

//! Gather and scatter lists.

use crate::{
    abi::sge as at,
    bytes::{
        get_u32,
        get_u64, //
    },
};

/// A piece of local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sge {
    /// Virtual address, as the key's region counts.
    pub addr: u64,
    /// Bytes. None of its numbers is checked against the others: `addr + length` may wrap.
    pub length: u32,
    /// The key of the region.
    pub lkey: u32,
}

impl Sge {
    /// Bytes of one.
    pub const BYTES: usize = at::BYTES;

    /// Reads one.
    #[inline]
    pub fn parse(raw: &[u8; Self::BYTES]) -> Self {
        Self {
            addr: get_u64::<{ at::ADDRESS }, { at::BYTES }>(raw),
            length: get_u32::<{ at::LENGTH }, { at::BYTES }>(raw),
            lkey: get_u32::<{ at::LKEY }, { at::BYTES }>(raw),
        }
    }
}

/// Bytes of a list of `count` entries.
#[inline]
pub(crate) fn list_bytes(count: u32) -> usize {
    (count as usize).saturating_mul(Sge::BYTES)
}

/// The list of an element: all of it lies in the copy of the element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sges<'e> {
    raw: &'e [u8],
}

impl<'e> Sges<'e> {
    /// The first `count` of what is in `raw`; none if there are not so many.
    #[inline]
    pub fn new(raw: &'e [u8], count: u32) -> Option<Self> {
        Some(Self {
            raw: raw.get(..list_bytes(count))?,
        })
    }

    /// The sum of the lengths; none if it is 2^32 or more.
    #[inline]
    pub fn total(&self) -> Option<u32> {
        self.clone()
            .try_fold(0, |total: u32, sge| total.checked_add(sge.length))
    }
}

impl Iterator for Sges<'_> {
    type Item = Sge;

    #[inline]
    fn next(&mut self) -> Option<Sge> {
        let (sge, rest) = self.raw.split_first_chunk()?;
        self.raw = rest;
        Some(Sge::parse(sge))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl ExactSizeIterator for Sges<'_> {
    // That of the trait asserts.
    #[inline]
    fn len(&self) -> usize {
        self.raw.len() / Sge::BYTES
    }
}
