// SPDX-License-Identifier: GPL-2.0

//! Memory regions: what is registered, and what a key gives a right to.

use super::{
    is_word_address,
    Claim,
    Key,
    MemoryError,
    PdId,
    Place,
    Range,
    RemoteUse,
    Rights,
    REFUSED,
    WORD, //
};
use crate::{
    transport::error::{
        Fault,
        WcStatus, //
    },
    wire::flush::Feth,
};

/// What memory a region is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// Memory of a process, registered by a verb; pinned or paged on demand.
    User,
    /// All of the kernel's memory, by DMA address, for kernel users alone.
    Dma,
    /// Memory that kernel users register by work requests (fast registration).
    Fast,
}

/// Whether a region's key gives a right to anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionState {
    /// No. Only a [`RegionKind::Fast`] region can be free, and only then be registered.
    Free,
    /// Yes.
    Valid,
}

/// A fast registration (REG_MR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The key to be: of the same index, with a variant that the user has chosen.
    pub key: Key,
    /// The protection domain of the queue pair that does it.
    pub pd: PdId,
    /// Rights.
    pub rights: Rights,
    /// The address of the first byte.
    pub start: u64,
    /// Bytes.
    pub length: u64,
    /// Bytes that the region's pages hold from the first byte on.
    pub capacity: u64,
}

/// A memory region.
///
/// # Invariants
///
/// Windows are bound to valid regions alone. The range of a DMA region has no meaning: it has all
/// addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    key: Key,
    pd: PdId,
    kind: RegionKind,
    state: RegionState,
    rights: Rights,
    range: Range,
    windows: u32,
}

impl Region {
    /// Memory of a process, `length` bytes that are named by the addresses from `start` on.
    pub fn user(
        key: Key,
        pd: PdId,
        rights: Rights,
        start: u64,
        length: u64,
    ) -> Result<Self, MemoryError> {
        rights.check_region()?;
        Ok(Self {
            key,
            pd,
            kind: RegionKind::User,
            state: RegionState::Valid,
            rights,
            range: Range::new(start, length).ok_or(MemoryError::Range)?,
            windows: 0,
        })
    }

    /// All memory of the kernel, which the owner may always write.
    ///
    /// `rights` beyond that are for peers that are trusted with all of it
    /// (`IB_PD_UNSAFE_GLOBAL_RKEY`). There is no FLUSH of it and no window to it.
    pub fn dma(key: Key, pd: PdId, rights: Rights) -> Self {
        let possible = Rights::REMOTE_READ.with(Rights::REMOTE_CHANGE);
        Self {
            key,
            pd,
            kind: RegionKind::Dma,
            state: RegionState::Valid,
            rights: rights.common(possible).with(Rights::LOCAL_WRITE),
            range: Range::EMPTY,
            windows: 0,
        }
    }

    /// A region for fast registrations, which is free so far.
    pub fn fast(key: Key, pd: PdId) -> Self {
        Self {
            key,
            pd,
            kind: RegionKind::Fast,
            state: RegionState::Free,
            rights: Rights::NONE,
            range: Range::EMPTY,
            windows: 0,
        }
    }

    /// Its key.
    #[inline]
    pub const fn key(&self) -> Key {
        self.key
    }

    /// Its protection domain.
    #[inline]
    pub const fn pd(&self) -> PdId {
        self.pd
    }

    /// What memory it is made of.
    #[inline]
    pub const fn kind(&self) -> RegionKind {
        self.kind
    }

    /// Whether its key gives a right to anything.
    #[inline]
    pub const fn state(&self) -> RegionState {
        self.state
    }

    /// Its rights, of a free one those that it had.
    #[inline]
    pub const fn rights(&self) -> Rights {
        self.rights
    }

    /// Its addresses; none for a DMA region, which has them all.
    #[inline]
    pub const fn range(&self) -> Option<Range> {
        match self.kind {
            RegionKind::User | RegionKind::Fast => Some(self.range),
            RegionKind::Dma => None,
        }
    }

    /// Windows that are bound to it.
    #[inline]
    pub const fn windows(&self) -> u32 {
        self.windows
    }

    /// Whether the key names it, of this domain, now and with these rights.
    #[inline]
    fn admit(&self, key: Key, pd: PdId, rights: Rights) -> Result<(), Fault> {
        let admitted = self.key == key
            && self.pd == pd
            && self.state == RegionState::Valid
            && self.rights.contains(rights);
        admitted.then_some(()).ok_or(REFUSED)
    }

    /// Bytes by their address.
    #[inline]
    fn place(&self, address: u64, length: u64) -> Result<Place, Fault> {
        let offset = match self.kind {
            RegionKind::User | RegionKind::Fast => self.range.offset_of(address, length),
            RegionKind::Dma => Range::new(address, length).map(Range::start),
        };
        Ok(Place {
            region: self.key,
            offset: offset.ok_or(REFUSED)?,
            length,
        })
    }

    /// Bytes that a peer wants to use.
    #[inline]
    pub fn check_remote(
        &self,
        claim: Claim,
        address: u64,
        length: u64,
        using: RemoteUse,
    ) -> Result<Place, Fault> {
        self.admit(claim.key, claim.pd, using.right())?;
        self.place(address, length)
    }

    /// The eight bytes of an atomic ([`RemoteUse::Atomic`]) or an ATOMIC WRITE
    /// ([`RemoteUse::Write`]).
    ///
    /// An address that is not a multiple of 8 is an invalid request, for the responder to refuse
    /// before it asks; here it is not let in either.
    #[inline]
    pub fn check_word(&self, claim: Claim, address: u64, using: RemoteUse) -> Result<Place, Fault> {
        if !is_word_address(address) {
            return Err(REFUSED);
        }
        self.check_remote(claim, address, WORD, using)
    }

    /// What a FLUSH is for: the bytes that it names, or all of the region; then address and length
    /// mean nothing (IBTA annex A19).
    pub fn check_flush(
        &self,
        claim: Claim,
        address: u64,
        length: u64,
        feth: Feth,
    ) -> Result<Place, Fault> {
        let rights = Rights::for_flush(feth).ok_or(REFUSED)?;
        self.admit(claim.key, claim.pd, rights)?;
        if feth.whole_region {
            self.place(self.range.start(), self.range.length())
        } else {
            self.place(address, length)
        }
    }

    /// Bytes of a gather or scatter list of a queue pair of domain `pd`; `writes` if they are
    /// written to.
    ///
    /// [`Fault::local`] says how the request ends: in [`WcStatus::LocalProtection`].
    #[inline]
    pub fn check_local(
        &self,
        key: Key,
        pd: PdId,
        address: u64,
        length: u64,
        writes: bool,
    ) -> Result<Place, Fault> {
        let rights = if writes {
            Rights::LOCAL_WRITE
        } else {
            Rights::NONE
        };
        self.admit(key, pd, rights)?;
        self.place(address, length)
    }

    /// Whether this still is the region of a place that a window of domain `pd` has led to.
    ///
    /// The window and the region are looked up one after the other. The region cannot end while the
    /// window is bound to it, but the window might be gone by now, and the index be that of another
    /// region.
    #[inline]
    pub fn confirm(&self, pd: PdId, place: Place) -> Result<(), Fault> {
        self.admit(place.region, pd, Rights::NONE)?;
        if self.windows == 0 || !self.range.holds(place.offset, place.length) {
            return Err(REFUSED);
        }
        Ok(())
    }

    /// The region after a fast registration.
    ///
    /// It has to be free, of the queue pair's domain, and to keep its index. What was there before
    /// has to be invalidated first.
    pub fn register(self, request: &Registration) -> Result<Self, WcStatus> {
        let refused = WcStatus::LocalQpOperation;
        let possible = self.kind == RegionKind::Fast
            && self.state == RegionState::Free
            && self.pd == request.pd
            && self.key.index() == request.key.index()
            && request.length <= request.capacity
            && request.rights.check_region().is_ok();
        if !possible {
            return Err(refused);
        }
        Ok(Self {
            key: request.key,
            state: RegionState::Valid,
            rights: request.rights,
            range: Range::new(request.start, request.length).ok_or(refused)?,
            ..self
        })
    }

    /// The region after an invalidation, which only fast registrations without windows suffer; a
    /// free one stays as it is.
    fn invalidate(self, key: Key, pd: PdId) -> Option<Self> {
        let possible =
            self.key == key && self.pd == pd && self.kind == RegionKind::Fast && self.windows == 0;
        possible.then_some(Self {
            state: RegionState::Free,
            ..self
        })
    }

    /// The region after an invalidation (LOCAL_INV) by a queue pair of domain `pd`.
    ///
    /// The key is the R_Key or, of a region without remote rights, the L_Key: here the same number.
    pub fn invalidate_local(self, key: Key, pd: PdId) -> Result<Self, WcStatus> {
        self.invalidate(key, pd).ok_or(WcStatus::LocalQpOperation)
    }

    /// The region after an invalidation by a peer (SEND with invalidate).
    ///
    /// As [`Self::invalidate_local`], but a region without remote rights has no key that a peer
    /// could name.
    pub fn invalidate_remote(self, claim: Claim) -> Result<Self, Fault> {
        if !self.rights.intersects(Rights::REMOTE) {
            return Err(REFUSED);
        }
        self.invalidate(claim.key, claim.pd).ok_or(REFUSED)
    }

    /// The region with another domain or other rights, for a verb (`rereg_mr`).
    ///
    /// As for the region's end, no window may be bound to it.
    pub fn reregister(self, pd: PdId, rights: Rights) -> Result<Self, MemoryError> {
        self.check_removal()?;
        rights.check_region()?;
        Ok(Self { pd, rights, ..self })
    }

    /// Whether the region may end: no window is bound to it (IBTA 10.6.7.2.6).
    pub const fn check_removal(&self) -> Result<(), MemoryError> {
        if self.windows == 0 {
            Ok(())
        } else {
            Err(MemoryError::WindowsBound)
        }
    }

    /// The region with one more window bound to it. There are fewer keys than it can count.
    #[must_use]
    pub const fn with_window(self) -> Self {
        Self {
            windows: self.windows.saturating_add(1),
            ..self
        }
    }

    /// The region with one window fewer.
    #[must_use]
    pub const fn without_window(self) -> Self {
        Self {
            windows: self.windows.saturating_sub(1),
            ..self
        }
    }
}
