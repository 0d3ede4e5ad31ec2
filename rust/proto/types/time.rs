// SPDX-License-Identifier: GPL-2.0

//! Time as the protocol sees it: a number that its caller hands in.

/// A moment: nanoseconds since some moment that never changes, on a clock that never goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Instant {
    /// The moment `nanoseconds` after the clock's start.
    #[inline]
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the clock's start.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The moment `span` later; the last there is, if that is too far.
    #[inline]
    pub const fn after(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The time from `earlier` to this moment; none if that is later.
    #[inline]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// A number of nanoseconds.
    #[inline]
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// A number of microseconds.
    #[inline]
    pub const fn from_micros(microseconds: u64) -> Self {
        Self(microseconds.saturating_mul(1000))
    }

    /// In nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Both together.
    #[inline]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// So many times as long.
    #[inline]
    pub const fn times(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stops_at_its_ends() {
        let end = Instant::from_nanos(u64::MAX);
        assert_eq!(end.after(Span::from_nanos(1)), end);
        assert_eq!(Instant::default().since(end), Span::ZERO);
        assert_eq!(end.since(Instant::default()).as_nanos(), u64::MAX);
        assert_eq!(
            Span::from_micros(3)
                .times(2)
                .plus(Span::from_nanos(1))
                .as_nanos(),
            6001
        );
    }
}
