// SPDX-License-Identifier: GPL-2.0

//! The protocol's numbers, each a type of its own so that they cannot be mixed up.

/// Queue pair number (QPN): 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Qpn(u32);

impl Qpn {
    /// The largest number that 24 bits hold; in a packet it means multicast.
    pub const MULTICAST: Self = Self(0x00ff_ffff);

    /// The number in the low 24 bits of `raw`.
    #[inline]
    pub const fn from_low_bits(raw: u32) -> Self {
        Self(raw & Self::MULTICAST.0)
    }

    /// The number, 0 to 0xffffff.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Packet sequence number (PSN): 24 bits, circular; hence no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Psn(u32);

impl Psn {
    /// The number in the low 24 bits of `raw`.
    #[inline]
    pub const fn from_low_bits(raw: u32) -> Self {
        Self(raw & 0x00ff_ffff)
    }

    /// The number, 0 to 0xffffff.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Partition key (P_Key): 15 bits of partition and the membership bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pkey(pub u16);

impl Pkey {
    /// The default partition, full member: the only one that RoCE uses.
    pub const DEFAULT_FULL: Self = Self(0xffff);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_24_bits() {
        assert_eq!(Qpn::from_low_bits(0xff00_0011).get(), 0x11);
        assert_eq!(Qpn::from_low_bits(u32::MAX), Qpn::MULTICAST);
        assert_eq!(Psn::from_low_bits(0xab12_3456).get(), 0x0012_3456);
    }
}
