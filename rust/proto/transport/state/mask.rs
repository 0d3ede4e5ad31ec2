// SPDX-License-Identifier: GPL-2.0

//! Sets of attributes.

/// A set of the attributes that a modify names.
///
/// The new state and the rate limit are not among them: every move allows those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AttributeMask(u32);

impl AttributeMask {
    /// No attribute.
    pub const NONE: Self = Self(0);

    /// The state that the caller takes the queue pair to be in.
    pub const CURRENT_STATE: Self = Self(1 << 0);

    /// What the peer may do.
    pub const ACCESS: Self = Self(1 << 1);

    /// Partition key, by its index.
    pub const PKEY: Self = Self(1 << 2);

    /// Port of the device.
    pub const PORT: Self = Self(1 << 3);

    /// Queue key.
    pub const QKEY: Self = Self(1 << 4);

    /// Address vector: the way to the peer.
    pub const ADDRESS: Self = Self(1 << 5);

    /// Path MTU.
    pub const PATH_MTU: Self = Self(1 << 6);

    /// Acknowledgement timeout.
    pub const TIMEOUT: Self = Self(1 << 7);

    /// Retries after timeouts and sequence errors.
    pub const RETRY_CNT: Self = Self(1 << 8);

    /// Retries after receiver-not-ready answers.
    pub const RNR_RETRY: Self = Self(1 << 9);

    /// The first number that the peer sends.
    pub const RQ_PSN: Self = Self(1 << 10);

    /// READs and atomics outstanding as requester.
    pub const MAX_RD_ATOMIC: Self = Self(1 << 11);

    /// Alternate path.
    pub const ALT_PATH: Self = Self(1 << 12);

    /// The time that the peer waits when there is no receive request.
    pub const MIN_RNR_TIMER: Self = Self(1 << 13);

    /// The first number to send.
    pub const SQ_PSN: Self = Self(1 << 14);

    /// READs and atomics kept as responder.
    pub const MAX_DEST_RD_ATOMIC: Self = Self(1 << 15);

    /// State of path migration.
    pub const PATH_MIG_STATE: Self = Self(1 << 16);

    /// The peer's queue pair number.
    pub const DEST_QP: Self = Self(1 << 17);

    /// Whether the end of draining is told (`EN_SQD_ASYNC_NOTIFY`).
    pub const SQ_DRAINED_EVENT: Self = Self(1 << 18);

    /// The attributes of both sets.
    #[inline]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The attributes of this set that are not in `other`.
    #[inline]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all attributes of `other` are in this set.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        other.without(self).is_empty()
    }

    /// Whether an attribute of `other` is in this set.
    #[inline]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is no attribute in it.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ATTRIBUTES;
    use super::AttributeMask as A;

    #[test]
    fn masks_are_sets() {
        let both = A::PKEY.with(A::PORT);
        assert_eq!(A::default(), A::NONE);
        assert!(A::NONE.is_empty() && !both.is_empty());
        assert!(both.contains(A::PORT) && both.contains(both) && both.contains(A::NONE));
        assert!(!A::PORT.contains(both) && !both.contains(A::PKEY.with(A::QKEY)));
        assert!(both.intersects(A::PKEY.with(A::QKEY)));
        assert!(!both.intersects(A::QKEY) && !both.intersects(A::NONE));
        assert_eq!(both.without(A::PORT.with(A::QKEY)), A::PKEY);
        for (index, one) in ATTRIBUTES.into_iter().enumerate() {
            for other in ATTRIBUTES.into_iter().skip(index + 1) {
                assert!(!one.intersects(other));
            }
        }
    }
}
