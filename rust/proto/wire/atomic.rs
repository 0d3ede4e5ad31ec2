// SPDX-License-Identifier: GPL-2.0

//! Atomic extended transport header (AtomicETH).

use crate::types::Rkey;

/// An atomic's target and operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtomicEth {
    /// Virtual address of the eight bytes, a multiple of 8.
    pub address: u64,
    /// The key that gives access.
    pub rkey: Rkey,
    /// What to swap in, or to add.
    pub swap_add: u64,
    /// What to compare with; unused by fetch and add.
    pub compare: u64,
}
