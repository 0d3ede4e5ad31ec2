// SPDX-License-Identifier: GPL-2.0

//! The specification's tables, written down a second time: opcodes, acknowledgement codes.

use oxe_proto::{
    types::{
        Psn,
        Qpn,
        Span, //
    },
    wire::{
        credits::credits,
        opcode::{
            self,
            Class, //
        },
        packet::{
            Packet,
            Position,
            Service, //
        },
        rnr::rnr_delay,
        roce::MAX_HEADER_BYTES, //
    }, //
};

/// First opcode of a run, and the bytes of the headers after BTH of each opcode in it; nothing for
/// one that does not exist.
type Run = (u8, &'static [Option<usize>]);

const N: Option<usize> = None;

const fn s(bytes: usize) -> Option<usize> {
    Some(bytes)
}

#[rustfmt::skip]
const RUNS: [Run; 6] = [
    // RC: SEND, WRITE, READ and its responses, acknowledgements, atomics.
    (0x00, &[s(0), s(0), s(0), s(4), s(0), s(4),  s(16), s(0), s(0), s(4), s(16), s(20),
             s(16), s(4), s(0), s(4), s(4),  s(4), s(12), s(28), s(28),
             // Reserved, the two that invalidate, reserved, FLUSH, ATOMIC WRITE, reserved.
             N, s(4), s(4), N, N, N, N, s(20), s(16), N, N]),
    // UC: SEND and WRITE.
    (0x20, &[s(0), s(0), s(0), s(4), s(0), s(4),  s(16), s(0), s(0), s(4), s(16), s(20)]),
    // UD: DETH, and immediate data.
    (0x64, &[s(8), s(12)]),
    // CNP.
    (0x81, &[s(16)]),
    // XRC: as RC with 4 bytes of XRCETH in the requests.
    (0xa0, &[s(4), s(4), s(4), s(8), s(4), s(8),  s(20), s(4), s(4), s(8), s(20), s(24),
             s(20), s(4), s(0), s(4), s(4),  s(4), s(12), s(32), s(32)]),
    (0xb6, &[s(8), s(8)]),
];

fn expected(byte: u8) -> Option<usize> {
    RUNS.iter()
        .find_map(|&(first, run)| *run.get(usize::from(byte.checked_sub(first)?))?)
        .map(|extension| 12 + extension)
}

#[test]
fn opcodes_that_exist_and_their_header_lengths() {
    for byte in 0..=u8::MAX {
        let found = opcode::lookup(byte).map(|opcode| opcode.header_bytes());
        assert_eq!(found, expected(byte), "opcode {byte:#04x}");
    }
    let longest = (0..=u8::MAX).filter_map(expected).max();
    assert_eq!(longest, Some(MAX_HEADER_BYTES));
}

#[test]
fn the_parser_reads_what_the_table_says() {
    for byte in 0..=u8::MAX {
        let mut head = [0; 64];
        head[0] = byte;
        let Some(header_bytes) = expected(byte) else {
            assert!(Packet::parse(&head, 64).is_err());
            continue;
        };
        let packet = Packet::parse(&head, header_bytes + 4).unwrap();
        assert_eq!(packet.data_bytes, 0);
        assert_eq!(packet.opcode_byte(), byte);
        assert_eq!(packet.header_bytes(), header_bytes);
        assert_eq!(packet.wire_bytes(), header_bytes + 4);
        // Not a byte less.
        assert!(Packet::parse(&head, header_bytes).is_err());
        assert!(Packet::parse(&head[..header_bytes], header_bytes + 4).is_ok());
        assert!(Packet::parse(&head[..header_bytes - 1], header_bytes + 4).is_err());
        // Nor more.
        let mut out = [0xee; 64];
        assert_eq!(packet.emit(&mut out), Some(header_bytes));
        assert!(out[header_bytes..].iter().all(|&b| b == 0xee));
        assert_eq!(packet.emit(&mut out[..header_bytes - 1]), None);
        assert_eq!(packet.emit(&mut out[..header_bytes]), Some(header_bytes));
    }
}

#[test]
fn services_by_the_upper_bits() {
    for byte in 0..=u8::MAX {
        let Some(opcode) = opcode::lookup(byte) else {
            continue;
        };
        let service = match byte >> 5 {
            0 => Service::Rc,
            1 => Service::Uc,
            3 => Service::Ud,
            4 => Service::Cnp,
            5 => Service::Xrc,
            _ => panic!("opcode {byte:#04x}"),
        };
        assert_eq!(opcode.service, service);
        assert_eq!(opcode::byte(service, opcode.operation), byte);
    }
}

#[test]
fn the_table_and_the_operation_say_the_same() {
    for byte in 0..=u8::MAX {
        let Some(opcode) = opcode::lookup(byte) else {
            continue;
        };
        let mut head = [0; 64];
        head[0] = byte;
        let packet = Packet::parse(&head, opcode.header_bytes() + 4).unwrap();
        assert_eq!(packet.opcode(), Some(opcode));
        assert_eq!(packet.op.operation(), opcode.operation);
        assert_eq!(packet.op.class(), opcode.class);
        assert_eq!(packet.op.position(), opcode.position);
        assert_eq!(packet.op.carries_data(), opcode.carries_data);
        assert_eq!(packet.op.is_request(), opcode.class.is_request());
        assert_eq!(packet.op.is_response(), opcode.class.is_response());
    }
}

#[test]
fn positions_requests_and_data() {
    use Position::{
        First,
        Last,
        Middle,
        Only, //
    };
    // Position, request, response, data: the reliable connection's 0x00 to 0x14.
    let rows = [
        (First, true, false, true),
        (Middle, true, false, true),
        (Last, true, false, true),
        (Last, true, false, true),
        (Only, true, false, true),
        (Only, true, false, true),
        (First, true, false, true),
        (Middle, true, false, true),
        (Last, true, false, true),
        (Last, true, false, true),
        (Only, true, false, true),
        (Only, true, false, true),
        (Only, true, false, false),
        (First, false, true, true),
        (Middle, false, true, true),
        (Last, false, true, true),
        (Only, false, true, true),
        (Only, false, true, false),
        (Only, false, true, false),
        (Only, true, false, false),
        (Only, true, false, false),
    ];
    let others = [
        (0x16, (Last, true, false, true)),
        (0x17, (Only, true, false, true)),
        (0x1c, (Only, true, false, false)),
        (0x1d, (Only, true, false, true)),
        (0x81, (Only, false, false, false)),
    ];
    for (byte, row) in (0..).zip(rows).chain(others) {
        let opcode = opcode::lookup(byte).unwrap();
        let class: Class = opcode.class;
        let found = (
            opcode.position,
            class.is_request(),
            class.is_response(),
            opcode.carries_data,
        );
        assert_eq!(found, row, "opcode {byte:#04x}");
    }
}

#[test]
fn a_service_without_the_operation_emits_nothing() {
    let mut head = [0; 64];
    head[0] = 0x0c;
    let read = Packet::parse(&head, 32).unwrap();
    for service in [Service::Uc, Service::Ud, Service::Xrc, Service::Cnp] {
        let packet = Packet { service, ..read };
        assert_eq!(packet.opcode(), None, "{service:?}");
        assert_eq!(packet.header_bytes(), 0);
        assert_eq!(packet.emit(&mut [0; 64]), None);
    }
    assert_eq!(read.dest_qp, Qpn::default());
    assert_eq!(read.psn, Psn::default());
}

#[test]
fn receiver_not_ready_timers() {
    // Hundredths of a millisecond.
    let table = [
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
        1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    ];
    for (code, hundredths) in (0..).zip(table) {
        assert_eq!(rnr_delay(code), Span::from_micros(hundredths * 10));
    }
}

#[test]
fn credit_codes() {
    let table = [
        0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
        2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
    ];
    for (code, requests) in (0..).zip(table) {
        assert_eq!(credits(code), Some(requests));
    }
    assert_eq!(credits(31), None);
}
