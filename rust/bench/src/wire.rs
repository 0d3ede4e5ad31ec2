// SPDX-License-Identifier: GPL-2.0

//! Headers: from bytes to a packet and back.

use std::hint::black_box;

use oxe_proto::{
    types::{
        Msn,
        Pkey,
        Psn,
        Qkey,
        Qpn,
        Rkey, //
    },
    wire::{
        aeth::{
            Aeth,
            Syndrome, //
        },
        deth::Deth,
        packet::{
            Addressing,
            Op,
            Packet,
            Service,
            Tail, //
        },
        reth::Reth,
        roce::MAX_HEADER_BYTES, //
    }, //
};

const PACKET: Packet = Packet {
    service: Service::Rc,
    op: Op::WriteMiddle,
    addressing: Addressing::Connected,
    dest_qp: Qpn::from_low_bits(0x12_3456),
    psn: Psn::from_low_bits(0xab_cdef),
    pkey: Pkey::DEFAULT_FULL,
    ack_req: false,
    solicited: false,
    mig_req: true,
    fecn: false,
    becn: false,
    data_bytes: 1024,
};

/// The first packet of a WRITE.
pub(crate) const WRITE_FIRST: Packet = Packet {
    op: Op::WriteFirst(Reth {
        address: 0x7f12_3456_7000,
        rkey: Rkey(0x0102_0304),
        length: 1 << 20,
    }),
    ..PACKET
};

/// One from the middle of a WRITE.
pub(crate) const WRITE_MIDDLE: Packet = PACKET;

/// An acknowledgement.
pub(crate) const ACK: Packet = Packet {
    op: Op::Acknowledge(Aeth {
        syndrome: Syndrome::Ack(31),
        msn: Msn::from_low_bits(77),
    }),
    data_bytes: 0,
    ..PACKET
};

/// A datagram.
pub(crate) const UD_SEND: Packet = Packet {
    service: Service::Ud,
    op: Op::SendOnly(Tail::None),
    addressing: Addressing::Datagram(Deth {
        qkey: Qkey(0x1111_1111),
        source_qp: Qpn::from_low_bits(0x77),
    }),
    ..PACKET
};

/// Parses a packet that many times.
pub(crate) fn parse(packet: Packet, packets: u64) {
    let mut head = [0; MAX_HEADER_BYTES];
    packet.emit(&mut head).expect("a packet");
    let payload_bytes = packet.wire_bytes();
    for _ in 0..packets {
        let parsed = Packet::parse(black_box(&head), black_box(payload_bytes));
        let _ = black_box(parsed);
    }
}

/// Emits a packet that many times.
pub(crate) fn emit(packet: Packet, packets: u64) {
    let mut head = [0; MAX_HEADER_BYTES];
    for _ in 0..packets {
        let bytes = black_box(&packet).emit(black_box(&mut head));
        let _ = black_box(bytes);
    }
}
