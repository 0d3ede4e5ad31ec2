// SPDX-License-Identifier: GPL-2.0

//! Acknowledgement extended transport header (AETH).

use crate::types::Msn;

/// Why a responder refuses a request (NAK).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NakCode {
    /// Packets before this one are missing.
    SequenceError,
    /// The request makes no sense.
    InvalidRequest,
    /// The key, range or right does not allow it.
    RemoteAccess,
    /// The responder could not do it.
    RemoteOperational,
    /// Of reliable datagrams only.
    InvalidRdRequest,
}

impl NakCode {
    /// The reason of a code, the lower five bits of a syndrome; nothing if it is reserved.
    #[inline]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::SequenceError),
            1 => Some(Self::InvalidRequest),
            2 => Some(Self::RemoteAccess),
            3 => Some(Self::RemoteOperational),
            4 => Some(Self::InvalidRdRequest),
            _ => None,
        }
    }

    /// Its code, the lower five bits of a syndrome.
    #[inline]
    pub const fn code(self) -> u8 {
        match self {
            Self::SequenceError => 0,
            Self::InvalidRequest => 1,
            Self::RemoteAccess => 2,
            Self::RemoteOperational => 3,
            Self::InvalidRdRequest => 4,
        }
    }
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syndrome {
    /// Positive, with the code of the receiver's credits, 0 to 31.
    Ack(u8),
    /// Receiver not ready: try again after the time of this code, 0 to 31.
    RnrNak(u8),
    /// Refused.
    Nak(NakCode),
    /// A value without a meaning; the whole byte.
    Reserved(u8),
}

impl Syndrome {
    /// The bits of a code.
    const CODE: u8 = 0x1f;

    /// Reads the byte.
    #[inline]
    pub const fn from_byte(byte: u8) -> Self {
        let code = byte & Self::CODE;
        match byte >> 5 {
            0 => Self::Ack(code),
            1 => Self::RnrNak(code),
            3 => match NakCode::from_code(code) {
                Some(reason) => Self::Nak(reason),
                None => Self::Reserved(byte),
            },
            _ => Self::Reserved(byte),
        }
    }

    /// The byte; of a code the lower five bits.
    #[inline]
    pub const fn to_byte(self) -> u8 {
        match self {
            Self::Ack(code) => code & Self::CODE,
            Self::RnrNak(code) => 0x20 | code & Self::CODE,
            Self::Nak(reason) => 0x60 | reason.code(),
            Self::Reserved(byte) => byte,
        }
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    /// What it says.
    pub syndrome: Syndrome,
    /// How many messages the responder has finished.
    pub msn: Msn,
}

impl Aeth {
    /// Bytes on the wire.
    pub const BYTES: usize = 4;

    /// Reads a header.
    #[inline]
    pub const fn parse(raw: &[u8; Self::BYTES]) -> Self {
        let word = u32::from_be_bytes(*raw);
        let [syndrome, ..] = *raw;
        Self {
            syndrome: Syndrome::from_byte(syndrome),
            msn: Msn::from_low_bits(word),
        }
    }

    /// The header as it is on the wire.
    #[inline]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        ((self.syndrome.to_byte() as u32) << 24 | self.msn.get()).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_one_syndrome() {
        for byte in 0..=u8::MAX {
            let syndrome = Syndrome::from_byte(byte);
            assert_eq!(syndrome.to_byte(), byte);
            let kind = match syndrome {
                Syndrome::Ack(code) => (0, code),
                Syndrome::RnrNak(code) => (0x20, code),
                Syndrome::Nak(reason) => (0x60, reason.code()),
                Syndrome::Reserved(_) => (byte, 0),
            };
            assert_eq!(kind.0 | kind.1, byte);
            let reserved = matches!(byte, 0x40..=0x5f | 0x65..);
            assert_eq!(matches!(syndrome, Syndrome::Reserved(_)), reserved);
        }
    }

    #[test]
    fn fields_of_a_header() {
        let nak = Aeth {
            syndrome: Syndrome::Nak(NakCode::RemoteAccess),
            msn: Msn::from_low_bits(0x12_3456),
        };
        assert_eq!(nak.to_bytes(), [0x62, 0x12, 0x34, 0x56]);
        assert_eq!(Aeth::parse(&nak.to_bytes()), nak);
    }
}
