// SPDX-License-Identifier: GPL-2.0

//! What holds for all packets, byte strings and numbers.

use oxe_proto::{
    types::{
        Immediate,
        Msn,
        Pkey,
        Psn,
        Qkey,
        Qpn,
        Rkey,
        SrqNumber, //
    },
    wire::{
        aeth::{
            Aeth,
            Syndrome, //
        },
        atomic::AtomicEth,
        crc32::SoftCrc32,
        deth::Deth,
        flow::FlowLabel,
        flush::Feth,
        frame::{
            Frame,
            Network, //
        },
        icrc::{
            Check,
            Crc32,
            FlowPrefix,
            Icrc, //
        },
        ipv4::Ipv4Header,
        ipv6::Ipv6Header,
        packet::{
            Addressing,
            Op,
            Packet,
            Service,
            Tail, //
        },
        reth::Reth,
        roce::UDP_PORT,
        udp::UdpHeader, //
    },
};
use proptest::prelude::*;

/// The longest data of a packet: a multiple of 4, so that its pad fits, too.
const MAX_DATA: u32 = 65_400;

prop_compose! {
    fn reth()(address: u64, rkey: u32, length: u32) -> Reth {
        Reth { address, rkey: Rkey(rkey), length }
    }
}

prop_compose! {
    fn aeth()(syndrome: u8, msn: u32) -> Aeth {
        Aeth {
            syndrome: Syndrome::from_byte(syndrome),
            msn: Msn::from_low_bits(msn),
        }
    }
}

prop_compose! {
    fn atomic()(address: u64, rkey: u32, swap_add: u64, compare: u64) -> AtomicEth {
        AtomicEth { address, rkey: Rkey(rkey), swap_add, compare }
    }
}

prop_compose! {
    fn feth()(visible: bool, persistent: bool, whole_region: bool) -> Feth {
        Feth { visible, persistent, whole_region }
    }
}

fn immediate() -> impl Strategy<Value = Immediate> {
    any::<[u8; 4]>().prop_map(Immediate)
}

/// Nothing, or immediate data.
fn datagram_tail() -> impl Strategy<Value = Tail> {
    prop_oneof![Just(Tail::None), immediate().prop_map(Tail::Immediate)]
}

/// Also a key to invalidate.
fn tail() -> impl Strategy<Value = Tail> {
    let invalidate = any::<u32>().prop_map(|rkey| Tail::Invalidate(Rkey(rkey)));
    prop_oneof![datagram_tail(), invalidate]
}

/// What unreliable connections know.
fn connected_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        Just(Op::SendFirst),
        Just(Op::SendMiddle),
        datagram_tail().prop_map(Op::SendLast),
        datagram_tail().prop_map(Op::SendOnly),
        reth().prop_map(Op::WriteFirst),
        Just(Op::WriteMiddle),
        proptest::option::of(immediate()).prop_map(Op::WriteLast),
        (reth(), proptest::option::of(immediate())).prop_map(|(r, i)| Op::WriteOnly(r, i)),
    ]
}

/// What reliable ones know beside that.
fn reliable_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        connected_op(),
        tail().prop_map(Op::SendLast),
        tail().prop_map(Op::SendOnly),
        reth().prop_map(Op::ReadRequest),
        aeth().prop_map(Op::ReadResponseFirst),
        Just(Op::ReadResponseMiddle),
        aeth().prop_map(Op::ReadResponseLast),
        aeth().prop_map(Op::ReadResponseOnly),
        aeth().prop_map(Op::Acknowledge),
        (aeth(), any::<u64>()).prop_map(|(a, before)| Op::AtomicAcknowledge(a, before)),
        atomic().prop_map(Op::CompareSwap),
        atomic().prop_map(Op::FetchAdd),
    ]
}

/// An operation of each service with its addressing.
fn said() -> impl Strategy<Value = (Service, Op, Addressing)> {
    let flush = (feth(), reth()).prop_map(|(f, r)| Op::Flush(f, r));
    let rc_op = prop_oneof![
        4 => reliable_op(),
        1 => flush,
        1 => reth().prop_map(Op::AtomicWrite),
    ];
    let rc = rc_op.prop_map(|op| (Service::Rc, op, Addressing::Connected));
    let uc = connected_op().prop_map(|op| (Service::Uc, op, Addressing::Connected));
    let ud = (datagram_tail(), any::<u32>(), any::<u32>()).prop_map(|(tail, qkey, qp)| {
        let deth = Deth {
            qkey: Qkey(qkey),
            source_qp: Qpn::from_low_bits(qp),
        };
        (Service::Ud, Op::SendOnly(tail), Addressing::Datagram(deth))
    });
    let xrc = (reliable_op(), any::<u32>()).prop_map(|(op, srq)| {
        let addressing = if op.is_request() {
            Addressing::SharedQueue(SrqNumber::from_low_bits(srq))
        } else {
            Addressing::Connected
        };
        (Service::Xrc, op, addressing)
    });
    let cnp = Just((Service::Cnp, Op::Cnp, Addressing::Connected));
    prop_oneof![4 => rc, 2 => uc, 1 => ud, 3 => xrc, 1 => cnp]
}

prop_compose! {
    fn packet()(
        (service, op, addressing) in said(),
        dest_qp: u32,
        psn: u32,
        pkey: u16,
        [ack_req, solicited, mig_req, fecn, becn] in any::<[bool; 5]>(),
        data_bytes in 0..=MAX_DATA,
    ) -> Packet {
        Packet {
            service,
            op,
            addressing,
            dest_qp: Qpn::from_low_bits(dest_qp),
            psn: Psn::from_low_bits(psn),
            pkey: Pkey(pkey),
            ack_req,
            solicited,
            mig_req,
            fecn,
            becn,
            data_bytes: if service == Service::Cnp { 0 } else { data_bytes },
        }
    }
}

prop_compose! {
    fn ipv4()(
        tos: u8,
        id: u16,
        dont_fragment: bool,
        ttl: u8,
        source: [u8; 4],
        destination: [u8; 4],
    ) -> Network {
        Network::V4(Ipv4Header { tos, id, dont_fragment, ttl, source, destination })
    }
}

prop_compose! {
    fn ipv6()(
        traffic_class: u8,
        label: u32,
        hop_limit: u8,
        source: [u8; 16],
        destination: [u8; 16],
    ) -> Network {
        Network::V6(Ipv6Header {
            traffic_class,
            flow_label: FlowLabel::from_low_bits(label),
            hop_limit,
            source,
            destination,
        })
    }
}

prop_compose! {
    fn frame()(
        network in prop_oneof![ipv4(), ipv6()],
        source_port: u16,
        checksum: u16,
    ) -> Frame {
        let destination_port = UDP_PORT;
        Frame { network, udp: UdpHeader { source_port, destination_port, checksum } }
    }
}

fn psn() -> impl Strategy<Value = Psn> {
    any::<u32>().prop_map(Psn::from_low_bits)
}

/// The CRC bit by bit, from its definition.
struct BitwiseCrc32;

impl Crc32 for BitwiseCrc32 {
    fn update(mut register: u32, bytes: &[u8]) -> u32 {
        for &byte in bytes {
            for bit in 0..8 {
                let out = (register ^ u32::from(byte >> bit)) & 1;
                register = register >> 1 ^ if out == 1 { 0xedb8_8320 } else { 0 };
            }
        }
        register
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_packet_comes_back(packet in packet()) {
        let mut head = [0; 64];
        let header_bytes = packet.emit(&mut head).unwrap();
        prop_assert_eq!(header_bytes, packet.header_bytes());
        let wire_bytes = packet.wire_bytes();
        prop_assert_eq!(wire_bytes % 4, 0);
        prop_assert_eq!(
            wire_bytes,
            header_bytes + packet.data_bytes as usize + packet.pad_bytes() + 4
        );
        prop_assert_eq!(Packet::parse(&head, wire_bytes), Ok(packet));
        prop_assert_eq!(Packet::parse(&head[..header_bytes], wire_bytes), Ok(packet));
        // And nothing of it is more than the headers' worth.
        prop_assert!(Packet::parse(&head[..header_bytes - 1], wire_bytes).is_err());
        prop_assert_eq!(packet.emit(&mut head[..header_bytes - 1]), None);
    }

    #[test]
    fn any_service_operation_and_addressing_comes_back_or_is_refused(
        packet in packet(),
        (service, _, _) in said(),
        (_, _, addressing) in said(),
    ) {
        let packet = Packet { service, addressing, ..packet };
        let mut head = [0; 64];
        match packet.emit(&mut head) {
            None => prop_assert_eq!(packet.opcode(), None),
            Some(_) => prop_assert_eq!(Packet::parse(&head, packet.wire_bytes()), Ok(packet)),
        }
    }

    #[test]
    fn any_bytes_parse_or_have_a_named_error(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..80),
        length: usize,
        opcode in proptest::option::of(0u8..0xc0),
    ) {
        // Let most get beyond the version.
        if let [first, flags, ..] = &mut bytes[..] {
            *first = opcode.unwrap_or(*first);
            *flags &= 0xf0;
        }
        for length in [bytes.len(), bytes.len() & !3, length, length % 256 * 4] {
            if let Ok(packet) = Packet::parse(&bytes, length) {
                prop_assert_eq!(packet.wire_bytes(), length);
                let mut out = [0; 64];
                let emitted = packet.emit(&mut out).unwrap();
                prop_assert_eq!(emitted, packet.header_bytes());
                prop_assert_eq!(Packet::parse(&out, length), Ok(packet));
            }
        }
    }

    #[test]
    fn a_frame_comes_back(frame in frame(), data in proptest::collection::vec(any::<u8>(), 0..64)) {
        let mut bytes = [0xee; 48 + 64 + 8];
        let headers = frame.emit(data.len(), &mut bytes).unwrap();
        prop_assert_eq!(headers, frame.bytes());
        bytes[headers..headers + data.len()].copy_from_slice(&data);
        prop_assert_eq!(Frame::parse(&bytes), Ok((frame, &data[..])));
        prop_assert!(Frame::parse(&bytes[..headers + data.len()]).is_ok());
        prop_assert!(headers + data.len() == 0 || Frame::parse(&bytes[..headers - 1]).is_err());
    }

    #[test]
    fn any_bytes_are_a_frame_or_have_a_named_error(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..120),
        start in prop_oneof![Just(0x45), Just(0x60), any::<u8>()],
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = start;
        }
        let framed = Frame::parse(&bytes).is_ok();
        prop_assert!(framed || Check::of_packet::<SoftCrc32>(&bytes).is_err());
    }

    #[test]
    fn the_icrc_does_not_depend_on_the_way(
        frame in frame(),
        id: u16,
        transport in proptest::collection::vec(any::<u8>(), 12..80),
        at in 5usize..12,
    ) {
        let mut bytes = vec![0; frame.bytes() + transport.len() + 4];
        let frame = match frame.network {
            Network::V4(header) => {
                let network = Network::V4(Ipv4Header { id, ..header });
                Frame { network, ..frame }
            }
            Network::V6(_) => frame,
        };
        let headers = frame.emit(transport.len() + 4, &mut bytes).unwrap();
        bytes[headers..headers + transport.len()].copy_from_slice(&transport);

        // By the definition: masked, bit by bit, with eight bytes of ones in front.
        let mut masked = vec![0xff; 8];
        masked.extend(&bytes[..headers + transport.len()]);
        let of_network = match frame.network {
            Network::V4(_) => [1, 8, 10, 11],
            Network::V6(_) => {
                masked[8] |= 0x0f;
                [1, 2, 3, 7]
            }
        };
        for at in of_network.into_iter().chain([headers - 2, headers - 1, headers + 4]) {
            masked[8 + at] = 0xff;
        }
        let expected = (!BitwiseCrc32::update(!0, &masked)).to_le_bytes();

        let check = Check::of_packet::<SoftCrc32>(&bytes).unwrap();
        prop_assert_eq!(check.computed, expected);
        let payload_bytes = u16::try_from(transport.len() + 4).unwrap();
        let start: Icrc<SoftCrc32> = FlowPrefix::new::<SoftCrc32>(&frame)
            .sized(payload_bytes)
            .start(id);
        let (head, rest) = transport.split_at(at);
        prop_assert_eq!(start.headers(&transport).finish(), expected);
        prop_assert_eq!(start.headers(head).data(rest).finish(), expected);
    }

    #[test]
    fn both_crc_routines_agree(
        register: u32,
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let soft = SoftCrc32::update(register, &bytes);
        prop_assert_eq!(soft, BitwiseCrc32::update(register, &bytes));
    }

    #[test]
    fn sequence_numbers(start in psn(), one: u32, other: u32) {
        prop_assert_eq!(start.plus(one).plus(other), start.plus(one.wrapping_add(other)));
        prop_assert_eq!(start.plus(one).minus(one), start);
        prop_assert_eq!(start.plus(1), start.next());
        prop_assert_eq!(start.plus(1 << 24), start);
        prop_assert!(start.plus(one).get() < 1 << 24);
        let moved = start.plus(one);
        prop_assert_eq!(start.plus(moved.since(start) as u32), moved);
        // The distance does not depend on where it starts.
        prop_assert_eq!(moved.plus(other).since(start.plus(other)), moved.since(start));
    }

    #[test]
    fn order_of_sequence_numbers(one in psn(), other in psn()) {
        let distance = other.since(one);
        prop_assert!((-(1 << 23)..1 << 23).contains(&distance));
        prop_assert_eq!(one.is_before(other), distance > 0 || distance == -(1 << 23));
        prop_assert_eq!(other.is_after(one), distance > 0);
        prop_assert_eq!(one == other, distance == 0);
        if distance.unsigned_abs() != Psn::HALF {
            prop_assert_eq!(one.since(other), -distance);
            prop_assert_eq!(one.is_before(other), other.is_after(one));
            prop_assert!(u8::from(one.is_before(other)) + u8::from(one.is_after(other)) <= 1);
        }
        prop_assert_eq!(i64::from(other.count_since(one)), i64::from(distance).max(0));
    }

    #[test]
    fn order_is_transitive_within_half_the_circle(
        start in psn(),
        first in 1u32..1 << 22,
        second in 1u32..1 << 22,
    ) {
        let (middle, end) = (start.plus(first), start.plus(first).plus(second));
        prop_assert!(start.is_before(middle) && middle.is_before(end) && start.is_before(end));
    }
}
