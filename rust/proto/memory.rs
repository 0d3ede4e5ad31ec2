// SPDX-License-Identifier: GPL-2.0

//! The rules of memory keys: which region or window a key names, and what may be done with it.
//!
//! [`Region`] and [`Window`] are descriptors: plain values without the memory that they describe.
//! Their methods decide and return either a refusal or the descriptor as it is afterwards; they
//! change nothing. The driver keeps the descriptors by [`KeyIndex`], beside the pages of regions,
//! and sees to three things:
//!
//! * It looks at a descriptor and replaces it under one lock, or lets readers have whole values
//!   only. A bind looks at a window and a region: both are held still until the window is replaced
//!   and the counts of [`WindowChange`] are brought up to date.
//! * It takes an index for something else only when nothing can find what was there before.
//! * A check through a window is made without the region: once the driver has looked the region up,
//!   it asks [`Region::confirm`].
//!
//! READs and WRITEs of no bytes are done without a look at their key (IBTA C9-88): the caller does
//! not ask. If it does, no bytes are inside a range from its first address to just after its last.
//!
//! What is refused to the peer or in the copying of data is a [`Fault`]; its tables say what that
//! becomes. A work request that works on keys ends in a [`WcStatus`]: a bind that fails in
//! [`WcStatus::MemoryWindowBind`], a registration or invalidation in
//! [`WcStatus::LocalQpOperation`]. What a verb is refused for is a [`MemoryError`].
//!
//! [`Fault`]: crate::transport::error::Fault
//! [`WcStatus`]: crate::transport::error::WcStatus
//! [`WcStatus::MemoryWindowBind`]: crate::transport::error::WcStatus::MemoryWindowBind
//! [`WcStatus::LocalQpOperation`]: crate::transport::error::WcStatus::LocalQpOperation

mod key;
mod range;
mod region;
mod rights;
mod window;

pub use self::{
    key::{
        Key,
        KeyIndex, //
    },
    range::Range,
    region::{
        Region,
        RegionKind,
        RegionState,
        Registration, //
    },
    rights::Rights,
    window::{
        BindRequest,
        Window,
        WindowChange,
        WindowType, //
    },
};

use crate::transport::error::Fault;

/// A protection domain: what may be used together has the same one.
///
/// The driver gives the numbers out; no two domains that exist have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PdId(pub u64);

/// A queue pair for as long as it exists.
///
/// Not its number on the wire: windows stay bound to a queue pair that is gone, and the next one
/// with that number shall not get at them. The driver gives no number out twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QpId(pub u64);

/// Who wants to use memory: a key, and the queue pair whose peer has named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The key.
    pub key: Key,
    /// The queue pair's protection domain.
    pub pd: PdId,
    /// The queue pair.
    pub qp: QpId,
}

/// What a peer does with bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RemoteUse {
    /// READ.
    Read,
    /// WRITE and ATOMIC WRITE.
    Write,
    /// Compare and swap, fetch and add.
    Atomic,
}

impl RemoteUse {
    /// The right that it takes.
    #[inline]
    pub const fn right(self) -> Rights {
        match self {
            Self::Read => Rights::REMOTE_READ,
            Self::Write => Rights::REMOTE_WRITE,
            Self::Atomic => Rights::REMOTE_ATOMIC,
        }
    }
}

/// Bytes of a region that may be used as it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The region's key at the time of the check; the index says where to find it.
    pub region: Key,
    /// Bytes from the region's start to the first one. A DMA region starts at address 0.
    pub offset: u64,
    /// How many there are.
    pub length: u64,
}

/// Why a verb is refused; all of them are invalid arguments (`EINVAL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryError {
    /// Remote write or atomic without local write.
    LocalWrite,
    /// Zero based, which only a type 2 window can be.
    ZeroBased,
    /// The region's last byte would be beyond the last address.
    Range,
    /// Windows are bound to the region.
    WindowsBound,
}

/// Bytes that atomics and ATOMIC WRITE work on; their address is a multiple of it.
const WORD: u64 = 8;

/// Whether an address is one for atomics.
#[inline]
const fn is_word_address(address: u64) -> bool {
    address & WORD.wrapping_sub(1) == 0
}

/// What all refusals of access are: the peer or the user shall not learn which rule it was.
const REFUSED: Fault = Fault::Access;
