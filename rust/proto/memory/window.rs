// SPDX-License-Identifier: GPL-2.0

//! Memory windows: parts of regions that are opened to peers by work requests.

use super::{
    is_word_address,
    Claim,
    Key,
    KeyIndex,
    PdId,
    Place,
    QpId,
    Range,
    Region,
    RegionKind,
    RegionState,
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

/// How a window is bound and unbound, and who may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowType {
    /// Bound by a verb, again and again, to no bytes to unbind it. For all queue pairs of its
    /// domain.
    Type1,
    /// Bound by a work request when free, freed by an invalidation. For the peer of the queue pair
    /// alone that has bound it (type 2B).
    Type2,
}

/// A work request that binds a window (BIND_MW).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindRequest {
    /// The window's key before.
    pub key: Key,
    /// The variant of its key afterwards: the lowest byte of the key that the request gives. What
    /// else that key says does not count, as with other devices.
    pub variant: u8,
    /// The protection domain of the queue pair that does it.
    pub pd: PdId,
    /// The queue pair.
    pub qp: QpId,
    /// The key of the region; only looked at if there are bytes to bind to.
    pub region: Option<Key>,
    /// The region's address of the first byte, also of a zero-based window.
    pub address: u64,
    /// Bytes.
    pub length: u64,
    /// Rights; those that mean nothing for a window ([`Rights::OF_WINDOW`]) are allowed and
    /// dropped.
    pub rights: Rights,
}

/// A window as it is from now on, and whose count of windows that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct WindowChange {
    /// The window.
    pub window: Window,
    /// The region that it leaves: [`Region::without_window`].
    pub left: Option<KeyIndex>,
    /// The region that it is bound to now: [`Region::with_window`].
    pub entered: Option<KeyIndex>,
}

/// What a window is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Binding {
    /// The region's key, which stays while the window is bound.
    region: Key,
    /// From the region's start to that of the window.
    offset: u64,
    /// The bytes, by the region's addresses.
    range: Range,
    rights: Rights,
    /// Whose peer may use it; none if it does not matter.
    qp: Option<QpId>,
}

impl Binding {
    /// Bytes by their distance from the window's start.
    #[inline]
    fn place(&self, offset: u64, length: u64) -> Option<Place> {
        if !self.range.holds(offset, length) {
            return None;
        }
        Some(Place {
            region: self.region,
            // The window is inside the region, so this does not overflow.
            offset: self.offset.checked_add(offset)?,
            length,
        })
    }

    /// From the window's start to an address that a peer names.
    #[inline]
    const fn offset_of(&self, address: u64) -> Option<u64> {
        if self.rights.contains(Rights::ZERO_BASED) {
            Some(address)
        } else {
            address.checked_sub(self.range.start())
        }
    }
}

/// A memory window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    key: Key,
    pd: PdId,
    window_type: WindowType,
    binding: Option<Binding>,
}

impl Window {
    /// A window that is not bound.
    pub const fn new(key: Key, pd: PdId, window_type: WindowType) -> Self {
        Self {
            key,
            pd,
            window_type,
            binding: None,
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

    /// Its type.
    #[inline]
    pub const fn window_type(&self) -> WindowType {
        self.window_type
    }

    /// The region that it is bound to, whose count falls when the window ends; none for a type 2
    /// window that is free.
    pub fn region(&self) -> Option<KeyIndex> {
        self.binding.map(|binding| binding.region.index())
    }

    /// The binding, for who may use it.
    #[inline]
    fn admit(&self, claim: Claim, rights: Rights) -> Result<&Binding, Fault> {
        let binding = self.binding.as_ref().ok_or(REFUSED)?;
        let admitted = self.key == claim.key
            && self.pd == claim.pd
            && binding.qp.is_none_or(|qp| qp == claim.qp)
            && binding.rights.contains(rights);
        admitted.then_some(binding).ok_or(REFUSED)
    }

    /// Bytes that a peer wants to use: inside the window, not just inside its region.
    #[inline]
    pub fn check_remote(
        &self,
        claim: Claim,
        address: u64,
        length: u64,
        using: RemoteUse,
    ) -> Result<Place, Fault> {
        let binding = self.admit(claim, using.right())?;
        let offset = binding.offset_of(address).ok_or(REFUSED)?;
        binding.place(offset, length).ok_or(REFUSED)
    }

    /// The eight bytes of an atomic or ATOMIC WRITE, as [`Region::check_word`].
    ///
    /// Where a zero-based window starts at an odd address, the bytes are not where the peer's
    /// address says: the region's address counts, too.
    #[inline]
    pub fn check_word(&self, claim: Claim, address: u64, using: RemoteUse) -> Result<Place, Fault> {
        let binding = self.admit(claim, using.right())?;
        let offset = binding.offset_of(address).ok_or(REFUSED)?;
        let memory = binding.range.start().wrapping_add(offset);
        if !is_word_address(address) || !is_word_address(memory) {
            return Err(REFUSED);
        }
        binding.place(offset, WORD).ok_or(REFUSED)
    }

    /// What a FLUSH is for: the bytes that it names, or all of the window; more of the region is
    /// not open to the peer.
    pub fn check_flush(
        &self,
        claim: Claim,
        address: u64,
        length: u64,
        feth: Feth,
    ) -> Result<Place, Fault> {
        let rights = Rights::for_flush(feth).ok_or(REFUSED)?;
        let binding = self.admit(claim, rights)?;
        let place = if feth.whole_region {
            binding.place(0, binding.range.length())
        } else {
            let offset = binding.offset_of(address).ok_or(REFUSED)?;
            binding.place(offset, length)
        };
        place.ok_or(REFUSED)
    }

    /// The window after a bind; `region` is what is found at the request's region key.
    ///
    /// Of type 1, it may be bound already, and its next key has to be the one that follows its key
    /// before, since that is what providers make it ([`Key::next`]); no bytes unbind it.
    pub fn bind(
        self,
        request: &BindRequest,
        region: Option<&Region>,
    ) -> Result<WindowChange, WcStatus> {
        self.try_bind(request, region)
            .ok_or(WcStatus::MemoryWindowBind)
    }

    /// [`Self::bind`]; the numbers are those of the IBTA's rules.
    fn try_bind(self, request: &BindRequest, region: Option<&Region>) -> Option<WindowChange> {
        let key = self.key.with_variant(request.variant);
        let zero_based = request.rights.contains(Rights::ZERO_BASED);
        let possible = self.key == request.key
            // C10-72, of the window and the queue pair.
            && self.pd == request.pd
            && match self.window_type {
                // o10-36.2.2.
                WindowType::Type1 => !zero_based && key == self.key.next(),
                // o10-37.2.30; o10-37.2.40.
                WindowType::Type2 => self.binding.is_none() && request.length > 0,
            };
        if !possible {
            return None;
        }
        let binding = if request.length > 0 {
            Some(self.bind_to(request, region?)?)
        } else {
            None
        };
        Some(self.change(key, binding))
    }

    /// The binding that a request makes.
    fn bind_to(&self, request: &BindRequest, region: &Region) -> Option<Binding> {
        let rights = request.rights.common(Rights::OF_WINDOW);
        // A DMA region does not have the right for it either.
        let possible = region.kind() != RegionKind::Dma
            && region.state() == RegionState::Valid
            && Some(region.key()) == request.region
            // C10-72, of the region.
            && region.pd() == request.pd
            // C10-73.
            && region.rights().contains(Rights::BIND)
            // C10-74.
            && (!rights.intersects(Rights::REMOTE_CHANGE)
                || region.rights().contains(Rights::LOCAL_WRITE))
            // Only what was registered for it is known to be persistent.
            && region.rights().contains(rights.common(Rights::FLUSH));
        if !possible {
            return None;
        }
        // C10-75.
        let offset = region.range()?.offset_of(request.address, request.length)?;
        Some(Binding {
            region: region.key(),
            offset,
            range: Range::new(request.address, request.length)?,
            rights,
            qp: match self.window_type {
                WindowType::Type1 => None,
                WindowType::Type2 => Some(request.qp),
            },
        })
    }

    /// The window with another key and binding.
    fn change(self, key: Key, binding: Option<Binding>) -> WindowChange {
        let window = Self {
            key,
            binding,
            ..self
        };
        let (left, entered) = (self.region(), window.region());
        if left == entered {
            return WindowChange {
                window,
                left: None,
                entered: None,
            };
        }
        WindowChange {
            window,
            left,
            entered,
        }
    }

    /// The window after an invalidation, which is for type 2 alone (o10-37.2.26); a free one stays
    /// as it is.
    fn invalidate(self, key: Key, pd: PdId) -> Option<WindowChange> {
        let possible = self.key == key && self.pd == pd && self.window_type == WindowType::Type2;
        possible.then(|| self.change(self.key, None))
    }

    /// The window after an invalidation (LOCAL_INV) by a queue pair of domain `pd`, which need not
    /// be the one that has bound it.
    pub fn invalidate_local(self, key: Key, pd: PdId) -> Result<WindowChange, WcStatus> {
        self.invalidate(key, pd).ok_or(WcStatus::LocalQpOperation)
    }

    /// The window after an invalidation by a peer (SEND with invalidate): by the one that may use
    /// it, and no other.
    pub fn invalidate_remote(self, claim: Claim) -> Result<WindowChange, Fault> {
        let owner = self.binding.and_then(|binding| binding.qp);
        if owner.is_some_and(|qp| qp != claim.qp) {
            return Err(REFUSED);
        }
        self.invalidate(claim.key, claim.pd).ok_or(REFUSED)
    }
}
