// SPDX-License-Identifier: GPL-2.0

//! FLUSH extended transport header (FETH).

/// How far a FLUSH carries what was written before it, and of which memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feth {
    /// To where every reader of the memory sees it.
    pub visible: bool,
    /// To where it survives a loss of power.
    pub persistent: bool,
    /// The whole region; otherwise the range that the request names.
    pub whole_region: bool,
}

impl Feth {
    /// Bytes on the wire.
    pub const BYTES: usize = 4;

    const VISIBLE: u32 = 1 << 0;
    const PERSISTENT: u32 = 1 << 1;
    const SELECTIVITY: u32 = 3 << 4;
    const RANGE: u32 = 0 << 4;
    const WHOLE_REGION: u32 = 1 << 4;

    /// Reads a header.
    ///
    /// One that selects what no selectivity means asks for nothing: neither visible nor persistent,
    /// which a responder has to refuse.
    #[inline]
    pub const fn parse(raw: &[u8; Self::BYTES]) -> Self {
        let word = u32::from_be_bytes(*raw);
        let selectivity = word & Self::SELECTIVITY;
        let selects = matches!(selectivity, Self::RANGE | Self::WHOLE_REGION);
        Self {
            visible: selects && word & Self::VISIBLE != 0,
            persistent: selects && word & Self::PERSISTENT != 0,
            whole_region: selectivity == Self::WHOLE_REGION,
        }
    }

    /// The header as it is on the wire.
    #[inline]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut word = Self::RANGE;
        if self.visible {
            word |= Self::VISIBLE;
        }
        if self.persistent {
            word |= Self::PERSISTENT;
        }
        if self.whole_region {
            word |= Self::WHOLE_REGION;
        }
        word.to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_comes_back() {
        for bits in 0..8 {
            let feth = Feth {
                visible: bits & 1 != 0,
                persistent: bits & 2 != 0,
                whole_region: bits & 4 != 0,
            };
            let low = (bits & 3) | (bits & 4) << 2;
            assert_eq!(feth.to_bytes(), [0, 0, 0, low]);
            assert_eq!(Feth::parse(&feth.to_bytes()), feth);
        }
    }

    #[test]
    fn reserved_bits_say_nothing_and_reserved_selectivities_ask_for_nothing() {
        assert_eq!(Feth::parse(&[0xff, 0xff, 0xff, 0xcc]), Feth::default());
        assert_eq!(Feth::parse(&[0, 0, 0, 0x23]), Feth::default());
        assert_eq!(Feth::parse(&[0, 0, 0, 0x33]), Feth::default());
    }
}
