// SPDX-License-Identifier: GPL-2.0

//! The protocol's numbers, each a type of its own so that they cannot be mixed up.

mod sequence;
mod time;

pub use self::sequence::{
    Msn,
    Psn, //
};
pub use self::time::{
    Instant,
    Span, //
};

/// The low 24 bits of a word.
const LOW_24: u32 = 0x00ff_ffff;

/// Queue pair number (QPN): 24 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Qpn(u32);

impl Qpn {
    /// The largest number that 24 bits hold; in a packet it means multicast.
    pub const MULTICAST: Self = Self(LOW_24);

    /// The general services interface, to which connection managers speak.
    pub const GSI: Self = Self(1);

    /// The number in the low 24 bits of `raw`.
    #[inline]
    pub const fn from_low_bits(raw: u32) -> Self {
        Self(raw & LOW_24)
    }

    /// The number, 0 to 0xffffff.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Number of a shared receive queue as XRC packets name it: 24 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SrqNumber(u32);

impl SrqNumber {
    /// The number in the low 24 bits of `raw`.
    #[inline]
    pub const fn from_low_bits(raw: u32) -> Self {
        Self(raw & LOW_24)
    }

    /// The number, 0 to 0xffffff.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Partition key (P_Key): 15 bits of partition and the membership bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pkey(pub u16);

impl Pkey {
    /// The default partition, full member: the only one that RoCE uses.
    pub const DEFAULT_FULL: Self = Self(0xffff);

    /// Whether two ends may talk: the same partition, not the invalid one, and at least one of them
    /// a full member.
    #[inline]
    pub const fn admits(self, other: Self) -> bool {
        let partition = self.0 & 0x7fff;
        partition != 0 && partition == other.0 & 0x7fff && (self.0 | other.0) & 0x8000 != 0
    }
}

/// Queue key (Q_Key): what a datagram must carry to be accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Qkey(pub u32);

impl Qkey {
    /// The well-known key of [`Qpn::GSI`].
    pub const GSI: Self = Self(0x8001_0000);

    /// The key to send: that of the request, or the queue pair's own where the request's top bit
    /// asks for it.
    #[inline]
    pub const fn to_send(self, own: Self) -> Self {
        if self.0 & 0x8000_0000 != 0 {
            own
        } else {
            self
        }
    }
}

/// A key of a memory region or window as a remote peer names it (R_Key).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rkey(pub u32);

/// Immediate data, the four bytes as they are on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Immediate(pub [u8; 4]);

/// The longest message: 2^31 bytes.
pub const MAX_MESSAGE_BYTES: u32 = 1 << 31;

/// Path MTU: bytes of data in a packet that is not the last of its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mtu {
    /// 256 bytes.
    B256,
    /// 512 bytes.
    B512,
    /// 1024 bytes.
    #[default]
    B1024,
    /// 2048 bytes.
    B2048,
    /// 4096 bytes.
    B4096,
}

impl Mtu {
    /// Every path MTU, the smallest first.
    pub const ALL: [Self; 5] = [
        Self::B256,
        Self::B512,
        Self::B1024,
        Self::B2048,
        Self::B4096,
    ];

    /// The MTU of a verbs code, 1 to 5.
    pub const fn from_code(code: u32) -> Option<Self> {
        match code {
            1 => Some(Self::B256),
            2 => Some(Self::B512),
            3 => Some(Self::B1024),
            4 => Some(Self::B2048),
            5 => Some(Self::B4096),
            _ => None,
        }
    }

    /// Its verbs code, 1 to 5.
    pub const fn code(self) -> u32 {
        self.shift().wrapping_sub(7)
    }

    /// Its base-2 logarithm.
    #[inline]
    pub const fn shift(self) -> u32 {
        match self {
            Self::B256 => 8,
            Self::B512 => 9,
            Self::B1024 => 10,
            Self::B2048 => 11,
            Self::B4096 => 12,
        }
    }

    /// Bytes.
    #[inline]
    pub const fn bytes(self) -> u32 {
        1 << self.shift()
    }

    /// Packets of a message: at least one, also for no bytes.
    #[inline]
    pub const fn packets(self, message_bytes: u32) -> u32 {
        let full = message_bytes >> self.shift();
        let rest = message_bytes & self.bytes().wrapping_sub(1);
        let count = full.saturating_add((rest != 0) as u32);
        if count == 0 {
            1
        } else {
            count
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_24_bits() {
        assert_eq!(Qpn::from_low_bits(0xff00_0011).get(), 0x11);
        assert_eq!(Qpn::from_low_bits(u32::MAX), Qpn::MULTICAST);
        assert_eq!(SrqNumber::from_low_bits(0x0102_0304).get(), 0x0002_0304);
    }

    #[test]
    fn partitions() {
        let full = Pkey(0x8123);
        let limited = Pkey(0x0123);
        assert!(full.admits(full) && full.admits(limited) && limited.admits(full));
        assert!(!limited.admits(limited));
        assert!(!full.admits(Pkey(0x8124)));
        assert!(!Pkey(0x8000).admits(Pkey(0x8000)));
    }

    #[test]
    fn the_top_bit_of_a_queue_key_stands_for_the_own_one() {
        let own = Qkey(7);
        assert_eq!(Qkey(0x7fff_ffff).to_send(own), Qkey(0x7fff_ffff));
        assert_eq!(Qkey(0x8000_0000).to_send(own), own);
    }

    #[test]
    fn packets_of_a_message() {
        for mtu in Mtu::ALL {
            let bytes = mtu.bytes();
            assert_eq!(mtu.packets(0), 1);
            assert_eq!(mtu.packets(1), 1);
            assert_eq!(mtu.packets(bytes), 1);
            assert_eq!(mtu.packets(bytes + 1), 2);
            assert_eq!(mtu.packets(MAX_MESSAGE_BYTES), MAX_MESSAGE_BYTES / bytes);
        }
        assert_eq!(Mtu::ALL.map(Mtu::bytes), [256, 512, 1024, 2048, 4096]);
        for code in 0..8 {
            assert_eq!(
                Mtu::from_code(code).map(Mtu::bytes),
                (1..=5).contains(&code).then(|| 128 << code)
            );
        }
    }
}
