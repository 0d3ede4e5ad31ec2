// SPDX-License-Identifier: GPL-2.0

//! RoCEv2 framing (InfiniBand Architecture, annex A17): UDP payload = BTH, headers, data, pad,
//! ICRC.

use super::bth::{
    Bth,
    Malformed, //
};

/// The UDP port that RoCEv2 is sent to.
pub const UDP_PORT: u16 = 4791;

/// Bytes of the invariant CRC (ICRC) that end each packet.
pub const ICRC_BYTES: usize = 4;

/// Bytes of the longest headers: BTH, XRCETH and AtomicETH.
pub const MAX_HEADER_BYTES: usize = 44;

/// Reserved bytes, zero, that follow the base transport header of a congestion notification packet
/// (CNP).
pub const CNP_RESERVED_BYTES: usize = 16;

/// The shortest UDP payload that can be a packet: a base transport header and the ICRC.
pub const MIN_PAYLOAD_BYTES: usize = Bth::BYTES.saturating_add(ICRC_BYTES);

/// Reads the base transport header of a datagram.
///
/// `head` is the first bytes of the UDP payload, `payload_bytes` the length of the whole, ICRC
/// included.
///
/// # Errors
///
/// What makes the datagram no RoCEv2 packet. Nothing is sent in answer to those: they have no valid
/// ICRC to trust.
pub fn header(head: &[u8; Bth::BYTES], payload_bytes: usize) -> Result<Bth, Malformed> {
    let bth = Bth::parse(head)?;
    // A pad is part of the data: it cannot be longer than what is there.
    let least = MIN_PAYLOAD_BYTES.saturating_add(usize::from(bth.pad_bytes));
    if payload_bytes < least {
        return Err(Malformed::Short);
    }
    // Every header is a multiple of 4 bytes and the pad makes the data one.
    if payload_bytes % 4 != 0 {
        return Err(Malformed::Unaligned);
    }
    Ok(bth)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEND_ONLY: [u8; 12] = [4, 0x40, 0xff, 0xff, 0, 0, 0, 0x11, 0x80, 0, 0, 7];

    #[test]
    fn lengths_at_the_border() {
        for bytes in 0..64 {
            let expected = if bytes < 16 {
                Err(Malformed::Short)
            } else if bytes % 4 != 0 {
                Err(Malformed::Unaligned)
            } else {
                Ok(())
            };
            assert_eq!(
                header(&SEND_ONLY, bytes).map(|_| ()),
                expected,
                "{bytes} bytes"
            );
        }
    }

    #[test]
    fn pad_needs_room() {
        let mut padded = SEND_ONLY;
        padded[1] |= 3 << 4;
        assert_eq!(header(&padded, 16).map(|_| ()), Err(Malformed::Short));
        assert_eq!(header(&padded, 20).map(|b| b.pad_bytes), Ok(3));
    }
}
