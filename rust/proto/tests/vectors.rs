// SPDX-License-Identifier: GPL-2.0

//! Packets that others made: what is parsed out of them, and their ICRCs.

#[path = "support/vectors.rs"]
mod vectors;

use self::vectors::Vector;
use oxe_proto::{
    types::{
        Pkey,
        Psn,
        Qpn, //
    },
    wire::{
        bth::Bth,
        crc32::SoftCrc32,
        flow::FlowLabel,
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
        packet::Packet,
    },
};
use std::collections::HashMap;

fn parse(vector: &Vector) -> (Frame, Packet, &[u8]) {
    let (frame, payload) = Frame::parse(&vector.packet).expect(&vector.name);
    let packet = Packet::parse(payload, payload.len()).expect(&vector.name);
    (frame, packet, payload)
}

fn check(packet: &[u8]) -> Check {
    Check::of_packet::<SoftCrc32>(packet).unwrap()
}

/// Whether the name says that a reserved bit of the base transport header is set.
fn has_reserved_bits(vector: &Vector) -> bool {
    vector.name.ends_with("-resv6")
}

#[test]
fn the_icrc_of_each_packet() {
    for vector in vectors::generated() {
        let check = check(&vector.packet);
        assert_eq!(check.carried, vector.icrc, "{}", vector.name);
        assert_eq!(check.computed, vector.icrc, "{}", vector.name);
        assert!(check.is_good());
    }
}

/// A sender's way to the same number: from the flow's prefix, with the headers and the data in
/// pieces.
#[test]
fn the_icrc_from_the_prefix_of_the_flow() {
    for vector in vectors::generated() {
        let (frame, packet, payload) = parse(&vector);
        let id = match frame.network {
            Network::V4(header) => header.id,
            Network::V6(_) => 0xdead,
        };
        let prefix = FlowPrefix::new::<SoftCrc32>(&frame).sized(payload.len().try_into().unwrap());
        let start: Icrc<SoftCrc32> = prefix.start(id);
        let covered = &payload[..payload.len() - 4];
        assert_eq!(start.headers(covered).finish(), vector.icrc);

        let (headers, data) = covered.split_at(packet.header_bytes());
        for at in [0, 1, data.len() / 2, data.len()] {
            let at = at.min(data.len());
            let icrc = start.headers(headers).data(&data[..at]).data(&data[at..]);
            assert_eq!(icrc.finish(), vector.icrc, "{}", vector.name);
        }
    }
}

#[test]
fn what_is_parsed_is_emitted_again() {
    for vector in vectors::generated() {
        let (frame, packet, payload) = parse(&vector);
        assert_eq!(packet.wire_bytes(), payload.len(), "{}", vector.name);

        let mut out = [0; 128];
        let header_bytes = packet.emit(&mut out).unwrap();
        assert_eq!(header_bytes, packet.header_bytes());
        if !has_reserved_bits(&vector) {
            assert_eq!(out[..header_bytes], payload[..header_bytes]);
        }
        let frame_bytes = frame.emit(payload.len(), &mut out).unwrap();
        assert_eq!(frame_bytes, vector.packet.len() - payload.len());
        assert_eq!(out[..frame_bytes], vector.packet[..frame_bytes]);
    }
}

/// Opcodes by the names of the packets.
const OPCODES: [(&str, u8); 33] = [
    ("rc-send-first", 0x00),
    ("rc-send-middle", 0x01),
    ("rc-send-last-imm", 0x03),
    ("rc-send-last-inv", 0x16),
    ("rc-send-last", 0x02),
    ("rc-send-only-imm", 0x05),
    ("rc-send-only-inv", 0x17),
    ("rc-send-only", 0x04),
    ("rc-write-first", 0x06),
    ("rc-write-middle", 0x07),
    ("rc-write-last-imm", 0x09),
    ("rc-write-last", 0x08),
    ("rc-write-only-imm", 0x0b),
    ("rc-write-only", 0x0a),
    ("rc-read-request", 0x0c),
    ("rc-read-resp-first", 0x0d),
    ("rc-read-resp-middle", 0x0e),
    ("rc-read-resp-last", 0x0f),
    ("rc-read-resp-only", 0x10),
    ("rc-ack", 0x11),
    ("rc-rnr-nak", 0x11),
    ("rc-nak", 0x11),
    ("rc-atomic-ack", 0x12),
    ("rc-cmp-swap", 0x13),
    ("rc-fetch-add", 0x14),
    ("rc-flush", 0x1c),
    ("rc-atomic-write", 0x1d),
    ("uc-send-only", 0x24),
    ("uc-write-last-imm", 0x29),
    ("uc-write-only", 0x2a),
    ("xrc-send-only", 0xa4),
    ("xrc-write-only", 0xaa),
    ("cnp", 0x81),
];

/// Names whose last number is not the data's length.
const NO_LENGTH: [&str; 4] = ["ack", "nak", "cnp", "linklocal"];

#[test]
fn fields_by_name() {
    let mut seen = 0;
    for vector in vectors::generated() {
        let (frame, packet, _) = parse(&vector);
        let name = &vector.name["gen-v4-".len()..];
        if let Some((_, opcode)) = OPCODES.iter().find(|(start, _)| name.starts_with(start)) {
            assert_eq!(packet.opcode_byte(), *opcode, "{name}");
            seen += 1;
        }
        let length = name.rsplit('-').next().unwrap().parse::<u32>();
        if let Ok(length) = length {
            if !NO_LENGTH.iter().any(|part| name.contains(part)) && !name.contains("ttl") {
                assert_eq!(packet.data_bytes, length, "{name}");
            }
        }
        if name.starts_with("rc-") || name.starts_with("xrc-") {
            assert_eq!(packet.dest_qp, Qpn::from_low_bits(0x12_3456), "{name}");
            assert!(packet.psn.count_since(Psn::from_low_bits(0xab_cdef)) <= 2);
            assert_eq!(packet.pkey, Pkey::DEFAULT_FULL);
            assert_eq!(frame.udp.source_port, 0xc123);
            let plain = !name.ends_with("-se") && name != "rc-write-only-imm-0";
            assert_eq!(packet.solicited, !plain, "{name}");
        }
        match name {
            "cnp" => assert!(packet.becn && !packet.fecn && packet.dest_qp.get() == 0xd2),
            "inv-fecn-becn" => assert!(packet.becn && packet.fecn),
            "var-mig" => assert!(packet.mig_req),
            "var-pkey" => assert_eq!(packet.pkey, Pkey(0x7fff)),
            "ud-mcast" => assert_eq!(packet.dest_qp, Qpn::MULTICAST),
            "ud-mad-gsi" => assert_eq!(packet.dest_qp, Qpn::GSI),
            "inv-flowlabel" => {
                let Network::V6(header) = frame.network else {
                    panic!("not IPv6");
                };
                assert_eq!(header.flow_label, FlowLabel::from_low_bits(0xf_ffff));
            }
            _ => (),
        }
    }
    assert_eq!(seen, 64);
}

#[test]
fn packets_that_differ_in_masked_fields_only_share_an_icrc() {
    let vectors = vectors::generated();
    let icrcs: HashMap<&str, [u8; 4]> = vectors
        .iter()
        .map(|vector| (vector.name.as_str(), check(&vector.packet).computed))
        .collect();
    let (mut same, mut different) = (0, 0);
    for vector in &vectors {
        let name = vector.name.as_str();
        let base = format!("{}inv-base", &name[.."gen-v4-".len()]);
        let shares = icrcs[name] == icrcs[base.as_str()];
        if name["gen-v4-".len()..].starts_with("inv-") {
            assert!(shares, "{name}");
            same += 1;
        } else if name["gen-v4-".len()..].starts_with("var-") {
            assert!(!shares, "{name}");
            different += 1;
        }
    }
    assert_eq!((same, different), (12, 5));
}

/// The ICRC of a packet over IPv4 whatever its headers say, lengths and port included.
fn icrc_of_bytes(packet: &[u8]) -> [u8; 4] {
    let (header, rest) = packet.split_first_chunk().unwrap();
    let (udp, rest) = rest.split_first_chunk().unwrap();
    let covered = &rest[..rest.len() - 4];
    Icrc::<SoftCrc32>::over_ipv4(header, udp)
        .headers(covered)
        .finish()
}

#[test]
fn packets_in_pieces_have_the_same_icrc() {
    for vector in vectors::generated() {
        let packet = &vector.packet;
        if packet[0] >> 4 != 4 {
            continue;
        }
        let (header, rest) = packet.split_first_chunk().unwrap();
        let (udp, rest) = rest.split_first_chunk().unwrap();
        let (covered, _) = rest.split_at(rest.len() - 4);
        let (start, end) = covered.split_at(covered.len() / 3);
        let icrc = Icrc::<SoftCrc32>::over_ipv4(header, udp)
            .headers_by(covered[Bth::NOTIFY_OFFSET], |register| {
                Ok::<_, ()>(SoftCrc32::update(SoftCrc32::update(register, start), end))
            })
            .unwrap();
        assert_eq!(icrc.finish(), icrc_of_bytes(packet), "{}", vector.name);
    }
    let icrc = Icrc::<SoftCrc32>::over_ipv4(&[0; 20], &[0; 8]);
    assert!(icrc.headers_by(0, |_| Err(())).is_err());
}

/// The bits of a packet that the ICRC does not cover, by byte.
fn masked_bits(packet: &[u8], at: usize) -> u8 {
    let v4 = packet[0] >> 4 == 4;
    let udp = if v4 { 20 } else { 40 };
    let bth = udp + 8;
    match (v4, at) {
        (true, 1 | 8 | 10 | 11) | (false, 1..=3 | 7) => 0xff,
        (false, 0) => 0x0f,
        _ if at == udp + 6 || at == udp + 7 || at == bth + 4 => 0xff,
        _ => 0,
    }
}

/// The bytes that say how long a packet is and that it is one: without them there is nothing to
/// check.
fn is_framing(packet: &[u8], at: usize, bit: u8) -> bool {
    let v4 = packet[0] >> 4 == 4;
    let udp = if v4 { 20 } else { 40 };
    match (v4, at) {
        (true, 0 | 2 | 3 | 9) | (false, 4..=6) => true,
        // The two bits of a fragment that the packet is not: reserved and "don't fragment".
        (true, 6) => bit & 0xc0 == 0,
        (true, 7) => true,
        (false, 0) => bit & 0xf0 != 0,
        _ => (udp + 2..udp + 6).contains(&at),
    }
}

#[test]
fn a_changed_bit_is_noticed_if_it_is_covered() {
    for vector in vectors::generated() {
        let mut packet = vector.packet.clone();
        for at in 0..packet.len() {
            // Long data is all the same.
            if at > 128 && at < packet.len() - 16 {
                continue;
            }
            for bit in (0..8).map(|shift| 1 << shift) {
                if is_framing(&packet, at, bit) {
                    continue;
                }
                let masked = masked_bits(&packet, at) & bit != 0;
                packet[at] ^= bit;
                assert_eq!(check(&packet).is_good(), masked, "{} {at}", vector.name);
                packet[at] ^= bit;
            }
        }
    }
}

/// Fields that [`Frame::parse`] depends on, and so [`Check`], are covered as well.
#[test]
fn a_changed_bit_of_the_framing_is_noticed() {
    let mut tried = 0;
    for vector in vectors::generated() {
        if vector.packet[0] >> 4 != 4 {
            continue;
        }
        for at in 0..28 {
            for bit in (0..8).map(|shift| 1 << shift) {
                let mut packet = vector.packet.clone();
                packet[at] ^= bit;
                let masked = masked_bits(&vector.packet, at) & bit != 0;
                assert_eq!(icrc_of_bytes(&packet) == vector.icrc, masked, "{at}");
                tried += 1;
            }
        }
    }
    assert_ne!(tried, 0);
}

#[test]
fn captured_packets_are_good_if_present() {
    let Some(vectors) = vectors::others("public.json", "icrc") else {
        return;
    };
    assert!(!vectors.is_empty());
    for vector in vectors {
        let check = check(&vector.packet);
        assert_eq!(check.computed, vector.icrc, "{}", vector.name);
        assert!(check.is_good(), "{}", vector.name);
        parse(&vector);
    }
}

#[test]
fn bad_packets_are_found_out_if_present() {
    let Some(vectors) = vectors::others("bad.json", "icrc_right") else {
        return;
    };
    assert!(!vectors.is_empty());
    for vector in vectors {
        // One goes to another port than RoCEv2's; it is bad all the same.
        let carried = &vector.packet[vector.packet.len() - 4..];
        assert_eq!(
            icrc_of_bytes(&vector.packet),
            vector.icrc,
            "{}",
            vector.name
        );
        assert_ne!(carried, vector.icrc, "{}", vector.name);
        if let Ok(check) = Check::of_packet::<SoftCrc32>(&vector.packet) {
            assert_eq!(check.computed, vector.icrc, "{}", vector.name);
            assert!(!check.is_good(), "{}", vector.name);
        }
    }
}
