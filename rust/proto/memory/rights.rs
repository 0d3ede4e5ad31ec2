// SPDX-License-Identifier: GPL-2.0

//! Sets of rights to memory.

use super::MemoryError;
use crate::wire::flush::Feth;

/// What may be done with a region or through a window.
///
/// Reading by the owner needs no right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rights(u32);

impl Rights {
    /// None.
    pub const NONE: Self = Self(0);

    /// The owner's queue pairs may write: receives, READ responses, results of atomics.
    pub const LOCAL_WRITE: Self = Self(1 << 0);

    /// Peers may WRITE.
    pub const REMOTE_WRITE: Self = Self(1 << 1);

    /// Peers may READ.
    pub const REMOTE_READ: Self = Self(1 << 2);

    /// Peers may do atomics.
    pub const REMOTE_ATOMIC: Self = Self(1 << 3);

    /// Windows may be bound to the region.
    pub const BIND: Self = Self(1 << 4);

    /// Addresses count from 0 at the start of the window. No right, but it comes with them.
    pub const ZERO_BASED: Self = Self(1 << 5);

    /// Peers may FLUSH to global visibility.
    pub const FLUSH_GLOBAL: Self = Self(1 << 8);

    /// Peers may FLUSH to persistence.
    pub const FLUSH_PERSISTENT: Self = Self(1 << 9);

    /// All that change memory for a peer.
    pub const REMOTE_CHANGE: Self = Self::REMOTE_WRITE.with(Self::REMOTE_ATOMIC);

    /// All of FLUSH.
    pub const FLUSH: Self = Self::FLUSH_GLOBAL.with(Self::FLUSH_PERSISTENT);

    /// All that a peer can have.
    pub const REMOTE: Self = Self::REMOTE_CHANGE
        .with(Self::REMOTE_READ)
        .with(Self::FLUSH);

    /// All that count for a window.
    pub const OF_WINDOW: Self = Self::REMOTE.with(Self::ZERO_BASED);

    /// All that there are.
    pub const ALL: Self = Self::OF_WINDOW.with(Self::LOCAL_WRITE).with(Self::BIND);

    /// The rights that the verbs' access flags name (`enum ib_uverbs_access_flags`).
    ///
    /// Flags that are no rights, such as those for on-demand paging, huge pages and relaxed
    /// ordering, are the driver's; so is refusing flags that it does not know.
    #[inline]
    pub const fn from_verbs(flags: u32) -> Self {
        Self(flags & Self::ALL.0)
    }

    /// The rights of both sets.
    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The rights that are in both sets.
    #[inline]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether all rights of `other` are in this set.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether a right of `other` is in this set.
    #[inline]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a region can have these: a peer may change only what the owner may, and regions are
    /// not zero based.
    pub const fn check_region(self) -> Result<(), MemoryError> {
        if self.intersects(Self::REMOTE_CHANGE) && !self.contains(Self::LOCAL_WRITE) {
            return Err(MemoryError::LocalWrite);
        }
        if self.contains(Self::ZERO_BASED) {
            return Err(MemoryError::ZeroBased);
        }
        Ok(())
    }

    /// The rights that a FLUSH takes; none for one that asks for nothing.
    #[inline]
    pub(super) const fn for_flush(feth: Feth) -> Option<Self> {
        match (feth.visible, feth.persistent) {
            (true, true) => Some(Self::FLUSH),
            (true, false) => Some(Self::FLUSH_GLOBAL),
            (false, true) => Some(Self::FLUSH_PERSISTENT),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rights as R;
    use super::*;

    #[test]
    fn the_verbs_flags() {
        let flags = [
            (0x001, R::LOCAL_WRITE),
            (0x002, R::REMOTE_WRITE),
            (0x004, R::REMOTE_READ),
            (0x008, R::REMOTE_ATOMIC),
            (0x010, R::BIND),
            (0x020, R::ZERO_BASED),
            (0x100, R::FLUSH_GLOBAL),
            (0x200, R::FLUSH_PERSISTENT),
        ];
        let mut all = 0;
        for (flag, right) in flags {
            assert_eq!(R::from_verbs(flag), right);
            assert!(R::ALL.contains(right));
            all |= flag;
        }
        assert_eq!(R::from_verbs(all), R::ALL);
        // On demand, huge pages, relaxed ordering and all that may be optional one day.
        assert_eq!(R::from_verbs(!all), R::NONE);
        assert_eq!(R::from_verbs(u32::MAX), R::ALL);
    }

    #[test]
    fn sets() {
        let two = R::REMOTE_READ.with(R::LOCAL_WRITE);
        assert!(two.contains(R::NONE) && two.contains(two) && two.contains(R::LOCAL_WRITE));
        assert!(!two.contains(R::REMOTE) && two.intersects(R::REMOTE));
        assert!(!two.intersects(R::REMOTE_CHANGE) && !two.intersects(R::NONE));
        assert_eq!(two.common(R::OF_WINDOW), R::REMOTE_READ);
    }

    #[test]
    fn what_a_peer_may_change_the_owner_may_change() {
        for flags in 0..0x400 {
            let rights = R::from_verbs(flags);
            let expected = if flags & 0xa != 0 && flags & 1 == 0 {
                Err(MemoryError::LocalWrite)
            } else if flags & 0x20 != 0 {
                Err(MemoryError::ZeroBased)
            } else {
                Ok(())
            };
            assert_eq!(rights.check_region(), expected, "{flags:#x}");
        }
    }

    #[test]
    fn flushes() {
        for (visible, persistent, rights) in [
            (false, false, None),
            (true, false, Some(R::FLUSH_GLOBAL)),
            (false, true, Some(R::FLUSH_PERSISTENT)),
            (true, true, Some(R::FLUSH)),
        ] {
            let feth = Feth {
                visible,
                persistent,
                whole_region: false,
            };
            assert_eq!(R::for_flush(feth), rights);
        }
    }
}
