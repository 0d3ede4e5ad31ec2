// SPDX-License-Identifier: GPL-2.0

//! Target `icrc_mask`: any IP packet. The ICRC is that of the definition whichever way it is
//! computed, does not see what routers change, and sees each other bit.

use oxe_proto::wire::{
    crc32::SoftCrc32,
    frame::{
        Frame,
        Network, //
    },
    icrc::{
        Check,
        FlowPrefix, //
    },
    roce::ICRC_BYTES, //
};

/// As many bytes have each of their bits flipped: IPv6, UDP and the longest headers.
const HEADERS: usize = 40 + 8 + 44;

/// Bits that do not count, byte by byte from the IP header on.
fn masked(v4: bool) -> [u8; HEADERS] {
    let mut bits = [0; HEADERS];
    let udp = if v4 {
        // Type of service, time to live, checksum.
        for at in [1, 8, 10, 11] {
            bits[at] = 0xff;
        }
        20
    } else {
        // Traffic class and flow label; hop limit.
        bits[0] = 0x0f;
        for at in [1, 2, 3, 7] {
            bits[at] = 0xff;
        }
        40
    };
    // UDP's checksum, and the byte of BTH with the congestion bits.
    for at in [6, 7, 8 + 4] {
        bits[udp + at] = 0xff;
    }
    bits
}

/// The ICRC by its definition, a bit at a time.
fn defined(covered: &[u8], masked: &[u8]) -> [u8; ICRC_BYTES] {
    let masks = masked.iter().copied().chain(std::iter::repeat(0));
    let ones = std::iter::repeat_n(0xff, 8);
    let mut register = u32::MAX;
    for byte in ones.chain(covered.iter().zip(masks).map(|(byte, mask)| byte | mask)) {
        register ^= u32::from(byte);
        for _ in 0..8 {
            let out = register & 1;
            register = (register >> 1) ^ (0xedb8_8320 * out);
        }
    }
    (!register).to_le_bytes()
}

/// The ICRC of a flipped packet, unless the flip made it no packet.
fn computed(packet: &[u8]) -> Option<[u8; ICRC_BYTES]> {
    Check::of_packet::<SoftCrc32>(packet)
        .ok()
        .map(|check| check.computed)
}

/// Whether the headers came as we would send them, but for what does not count: IPv4 has a reserved
/// bit, which we never set.
fn emitted_alike(frame: &Frame, payload_bytes: usize, data: &[u8], masked: &[u8]) -> bool {
    let mut headers = [0; HEADERS];
    let bytes = frame
        .emit(payload_bytes, &mut headers)
        .expect("it came in one packet");
    let mut all = headers[..bytes].iter().zip(data).zip(masked);
    all.all(|((emitted, came), mask)| emitted | mask == came | mask)
}

/// The ICRC as a sender computes it, here in two pieces.
fn sent(frame: &Frame, covered: &[u8]) -> [u8; ICRC_BYTES] {
    let id = match frame.network {
        Network::V4(header) => header.id,
        Network::V6(_) => 0,
    };
    let payload_bytes = u16::try_from(covered.len() + ICRC_BYTES).expect("a packet's length");
    let (head, rest) = covered.split_at(12);
    FlowPrefix::new::<SoftCrc32>(frame)
        .sized(payload_bytes)
        .start::<SoftCrc32>(id)
        .headers(head)
        .data(rest)
        .finish()
}

/// Checks the ICRC of a packet, and of its neighbours that differ in one bit.
pub fn run(data: &[u8]) {
    let Ok(check) = Check::of_packet::<SoftCrc32>(data) else {
        return;
    };
    let (frame, payload) = Frame::parse(data).expect("its ICRC has been computed");
    let bytes = frame.bytes() + payload.len();
    let (covered, carried) = data[..bytes].split_at(bytes - ICRC_BYTES);
    let masked = masked(matches!(frame.network, Network::V4(_)));
    assert_eq!(check.carried, carried);
    assert_eq!(check.computed, defined(covered, &masked));

    if emitted_alike(&frame, payload.len(), data, &masked) {
        assert_eq!(sent(&frame, &covered[frame.bytes()..]), check.computed);
    }

    let mut flipped = data[..bytes].to_vec();
    let somewhere = u32::from_le_bytes(check.computed) as usize % covered.len();
    for at in (0..covered.len().min(HEADERS)).chain([somewhere]) {
        for bit in (0..8).map(|bit| 1 << bit) {
            flipped[at] ^= bit;
            match computed(&flipped) {
                Some(icrc) if at < HEADERS && masked[at] & bit != 0 => {
                    assert_eq!(icrc, check.computed, "byte {at}, bit {bit:#x}");
                }
                Some(icrc) => assert_ne!(icrc, check.computed, "byte {at}, bit {bit:#x}"),
                None => assert_eq!(masked.get(at).map_or(0, |mask| mask & bit), 0),
            }
            flipped[at] ^= bit;
        }
    }
}
