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
    /// Fewer bytes than its headers need.
    Short,
    /// Its length is no multiple of 4.
    Unaligned,
    /// A transport header version other than 0.
    Version(u8),
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

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// [`Malformed::Version`] if the transport header version is not 0, the only one there is.
    pub fn parse(raw: &[u8; Self::BYTES]) -> Result<Self, Malformed> {
        let &[opcode, flags, pkey_hi, pkey_lo, notify, qp2, qp1, qp0, ack, psn2, psn1, psn0] = raw;
        let version = flags & 0x0f;
        if version != 0 {
            return Err(Malformed::Version(version));
        }
        Ok(Self {
            opcode,
            solicited: flags & 0x80 != 0,
            mig_req: flags & 0x40 != 0,
            pad_bytes: (flags >> 4) & 0x03,
            pkey: Pkey(u16::from_be_bytes([pkey_hi, pkey_lo])),
            fecn: notify & 0x80 != 0,
            becn: notify & 0x40 != 0,
            dest_qp: Qpn::from_low_bits(u32::from_be_bytes([0, qp2, qp1, qp0])),
            ack_req: ack & 0x80 != 0,
            psn: Psn::from_low_bits(u32::from_be_bytes([0, psn2, psn1, psn0])),
        })
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
                Ok(bth) => assert_eq!(bth == zero, reserved, "bit {bit}"),
                Err(_) => assert!(version, "bit {bit}"),
            }
        }
    }
}
