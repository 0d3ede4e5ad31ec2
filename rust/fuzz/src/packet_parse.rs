// SPDX-License-Identifier: GPL-2.0

//! Target `packet_parse`: any UDP payload. What parses has its own length, and is emitted as it
//! came but for what a sender must leave zero.

use oxe_proto::wire::{
    packet::{
        Addressing,
        Op,
        Packet, //
    },
    roce::MAX_HEADER_BYTES, //
};

/// What emitting must not touch.
const UNTOUCHED: u8 = 0xa5;

/// The bits of the headers that a receiver ignores: reserved ones, where a sender sends zeros.
fn ignored(packet: &Packet, data: &[u8]) -> [u8; MAX_HEADER_BYTES] {
    let mut bits = [0; MAX_HEADER_BYTES];
    // BTH: beside FECN and BECN, and beside AckReq.
    bits[4] = 0x3f;
    bits[8] = 0x7f;
    let op = match packet.addressing {
        Addressing::Connected => 12,
        Addressing::Datagram(_) => {
            // DETH: before the source queue pair.
            bits[16] = 0xff;
            20
        }
        Addressing::SharedQueue(_) => {
            // XRCETH: before the queue's number.
            bits[12] = 0xff;
            16
        }
    };
    match packet.op {
        Op::Flush(..) => {
            // FETH: two bits say where to, two what of; half of the latter's values mean nothing.
            let selects = data[op + 3] & 0x20 == 0;
            let last = if selects { 0xcc } else { 0xff };
            bits[op..op + 4].copy_from_slice(&[0xff, 0xff, 0xff, last]);
        }
        Op::Cnp => bits[op..op + 16].fill(0xff),
        _ => {}
    }
    bits
}

/// Parses, emits and parses again.
pub fn run(data: &[u8]) {
    let head = &data[..data.len().min(MAX_HEADER_BYTES)];
    let Ok(packet) = Packet::parse(head, data.len()) else {
        return;
    };
    assert_eq!(packet.wire_bytes(), data.len(), "{packet:?}");

    let mut out = [UNTOUCHED; MAX_HEADER_BYTES];
    let bytes = packet.emit(&mut out).expect("what was parsed is a packet");
    assert_eq!(bytes, packet.header_bytes());
    let (headers, beyond) = out.split_at(bytes);
    assert!(beyond.iter().all(|byte| *byte == UNTOUCHED), "{packet:?}");

    let ignored = ignored(&packet, data);
    for (at, (emitted, came)) in headers.iter().zip(data).enumerate() {
        assert_eq!(*emitted, came & !ignored[at], "byte {at} of {packet:?}");
    }
    assert_eq!(Packet::parse(headers, data.len()), Ok(packet));

    for short in 0..bytes {
        assert!(Packet::parse(&head[..short], data.len()).is_err());
        assert_eq!(packet.emit(&mut [0; MAX_HEADER_BYTES][..short]), None);
    }
}
