// SPDX-License-Identifier: GPL-2.0

//! What a network spreads its load by: the flow label and the UDP source port made from it
//! (InfiniBand Architecture, annex A17, clause 17.9.3).
//!
//! All packets of a queue pair have to take one path to stay in order, so its label never changes.
//! Receivers do not look at either number.

use crate::types::Qpn;

/// Flow label: 20 bits. 0 stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlowLabel(u32);

impl FlowLabel {
    /// The largest label.
    const MASK: u32 = 0x000f_ffff;

    /// The lowest of the UDP source ports.
    const PORTS: u16 = 0xc000;

    /// The label in the low 20 bits of `raw`.
    #[inline]
    pub const fn from_low_bits(raw: u32) -> Self {
        Self(raw & Self::MASK)
    }

    /// The label, 0 to 0xfffff.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The label of two queue pairs that talk to each other; the same seen from either end.
    pub const fn between(one: Qpn, other: Qpn) -> Self {
        // 48 bits at most.
        let mut mixed = (one.get() as u64).wrapping_mul(other.get() as u64);
        mixed ^= mixed >> 20;
        mixed ^= mixed >> 40;
        Self((mixed & 0x000f_ffff) as u32)
    }

    /// This label; if there is none, `other`.
    #[inline]
    pub const fn or(self, other: Self) -> Self {
        if self.0 == 0 {
            other
        } else {
            self
        }
    }

    /// The UDP source port: 0xc000 to 0xffff.
    #[inline]
    pub const fn source_port(self) -> u16 {
        let folded = self.0 ^ self.0 >> 14;
        Self::PORTS | (folded & 0x3fff) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_labels() {
        for (label, port) in [
            (0, 0xc000),
            (1, 0xc001),
            (0x3fff, 0xffff),
            (0x4000, 0xc001),
            (0xf_ffff, 0xffc0),
        ] {
            assert_eq!(FlowLabel::from_low_bits(label).source_port(), port);
        }
    }

    #[test]
    fn ports_of_queue_pairs() {
        for (one, other, port) in [
            (0, 0, 0xc000),
            (1, 1, 0xc001),
            (1, 0xff_ffff, 0xffcf),
            (0xff_ffff, 0xff_ffff, 0xff21),
            (0x12_3456, 0xab_cdef, 0xc3c8),
        ] {
            let (one, other) = (Qpn::from_low_bits(one), Qpn::from_low_bits(other));
            let label = FlowLabel::between(one, other);
            assert_eq!(label, FlowLabel::between(other, one));
            assert_eq!(label.source_port(), port);
            assert_eq!(FlowLabel::default().or(label), label);
        }
    }

    #[test]
    fn labels_keep_20_bits() {
        assert_eq!(FlowLabel::from_low_bits(u32::MAX).get(), 0xf_ffff);
        let given = FlowLabel::from_low_bits(5);
        assert_eq!(given.or(FlowLabel::from_low_bits(6)), given);
    }
}
