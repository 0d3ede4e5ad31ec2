// SPDX-License-Identifier: GPL-2.0

//! RDMA extended transport header (RETH): which remote memory.

use crate::types::Rkey;

/// Remote memory of a WRITE, READ, FLUSH or ATOMIC WRITE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reth {
    /// Virtual address of its first byte.
    pub address: u64,
    /// The key that gives access.
    pub rkey: Rkey,
    /// Bytes of the whole message.
    pub length: u32,
}
