// SPDX-License-Identifier: GPL-2.0

//! The base transport header (BTH), which starts every packet (InfiniBand Architecture, clause
//! 9.2).

use crate::types::{
    Pkey,
    Psn,
    Qpn, //
};

/// Why a datagram is no packet of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Fewer bytes than its headers and the ICRC need.
    Short,
    /// More bytes than a UDP datagram holds.
    Long,
    /// Its length is no multiple of 4.
    Unaligned,
    /// A transport header version other than 0.
    Version(u8),
    /// An opcode that no service has.
    Opcode(u8),
    /// More pad than there are bytes after the headers.
    Pad,
    /// Data in a congestion notification.
    StrayData,
}

/// A base transport header, parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bth {
    /// Service and operation; not checked here.
    pub opcode: u8,
    /// Solicited event: the receiver asks for an interrupt at the end of the message.
    pub solicited: bool,
    /// Path migration state.
    pub mig_req: bool,
    /// Bytes added to the data to make it a multiple of 4: 0 to 3.
    pub pad_bytes: u8,
    /// Partition key.
    pub pkey: Pkey,
    /// Forward explicit congestion notification.
    pub fecn: bool,
    /// Backward explicit congestion notification.
    pub becn: bool,
    /// Destination queue pair.
    pub dest_qp: Qpn,
    /// The responder shall acknowledge this packet.
    pub ack_req: bool,
    /// Packet sequence number.
    pub psn: Psn,
}

impl Bth {
    /// Bytes on the wire.
    pub const BYTES: usize = 12;

    /// Where the byte of the congestion bits is, which the ICRC does not cover.
    pub const NOTIFY_OFFSET: usize = 4;

    // In the first word.
    const SOLICITED: u32 = 1 << 23;
    const MIG_REQ: u32 = 1 << 22;
    const PAD_SHIFT: u32 = 20;
    // In the second.
    const FECN: u32 = 1 << 31;
    const BECN: u32 = 1 << 30;
    // In the third.
    const ACK_REQ: u32 = 1 << 31;

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// [`Malformed::Version`] if the transport header version is not 0, the only one there is.
    #[inline]
    pub const fn parse(raw: &[u8; Self::BYTES]) -> Result<Self, Malformed> {
        let &[a0, a1, a2, a3, ..] = raw;
        let version = (u32::from_be_bytes([a0, a1, a2, a3]) >> 16 & 0x0f) as u8;
        if version != 0 {
            return Err(Malformed::Version(version));
        }
        Ok(Self::of_any_version(raw))
    }

    /// Reads a header whose version has been looked at.
    #[inline(always)]
    pub(super) const fn of_any_version(raw: &[u8; Self::BYTES]) -> Self {
        // Whole words: each is one load.
        let &[a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = raw;
        let first = u32::from_be_bytes([a0, a1, a2, a3]);
        let second = u32::from_be_bytes([b0, b1, b2, b3]);
        let third = u32::from_be_bytes([c0, c1, c2, c3]);
        Self {
            opcode: (first >> 24) as u8,
            solicited: first & Self::SOLICITED != 0,
            mig_req: first & Self::MIG_REQ != 0,
            pad_bytes: (first >> Self::PAD_SHIFT & 0x03) as u8,
            pkey: Pkey((first & 0xffff) as u16),
            fecn: second & Self::FECN != 0,
            becn: second & Self::BECN != 0,
            dest_qp: Qpn::from_low_bits(second),
            ack_req: third & Self::ACK_REQ != 0,
            psn: Psn::from_low_bits(third),
        }
    }

    /// The header as it is on the wire; of the pad's length the lower two bits.
    #[inline]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let first = (self.opcode as u32) << 24
            | Self::flag(self.solicited, Self::SOLICITED)
            | Self::flag(self.mig_req, Self::MIG_REQ)
            | (self.pad_bytes as u32 & 0x03) << Self::PAD_SHIFT
            | self.pkey.0 as u32;
        let second = Self::flag(self.fecn, Self::FECN)
            | Self::flag(self.becn, Self::BECN)
            | self.dest_qp.get();
        let third = Self::flag(self.ack_req, Self::ACK_REQ) | self.psn.get();
        let [a0, a1, a2, a3] = first.to_be_bytes();
        let [b0, b1, b2, b3] = second.to_be_bytes();
        let [c0, c1, c2, c3] = third.to_be_bytes();
        [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3]
    }

    const fn flag(set: bool, bit: u32) -> u32 {
        if set {
            bit
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with scapy's RoCE layer: `BTH(opcode=10, solicited=1, padcount=2, becn=1,
    /// dqpn=0x123456, ackreq=1, psn=0xabcdef)`.
    const WRITE_ONLY: [u8; 12] = [
        0x0a, 0xa0, 0xff, 0xff, 0x40, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef,
    ];

    #[test]
    fn fields_of_a_known_header() {
        let bth = Bth::parse(&WRITE_ONLY).unwrap();
        assert_eq!(bth.opcode, 10);
        assert!(bth.solicited && bth.becn && bth.ack_req);
        assert!(!bth.mig_req && !bth.fecn);
        assert_eq!(bth.pad_bytes, 2);
        assert_eq!(bth.pkey, Pkey::DEFAULT_FULL);
        assert_eq!(bth.dest_qp.get(), 0x12_3456);
        assert_eq!(bth.psn.get(), 0xab_cdef);
        assert_eq!(bth.to_bytes(), WRITE_ONLY);
    }

    #[test]
    fn every_version_but_zero_is_refused() {
        for version in 1..16 {
            let mut raw = WRITE_ONLY;
            raw[1] |= version;
            assert_eq!(Bth::parse(&raw), Err(Malformed::Version(version)));
        }
    }

    #[test]
    fn each_bit_reaches_one_field_or_none() {
        let zero = Bth::parse(&[0; 12]).unwrap();
        for bit in 0..96 {
            let mut raw = [0; 12];
            raw[bit / 8] = 0x80 >> (bit % 8);
            let reserved = (34..40).contains(&bit) || (65..72).contains(&bit);
            let version = (12..16).contains(&bit);
            match Bth::parse(&raw) {
                Ok(bth) => {
                    assert_eq!(bth == zero, reserved, "bit {bit}");
                    assert_eq!(bth.to_bytes() == raw, !reserved, "bit {bit}");
                }
                Err(_) => assert!(version, "bit {bit}"),
            }
        }
    }
}
