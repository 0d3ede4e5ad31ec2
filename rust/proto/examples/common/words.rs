// SPDX-License-Identifier: GPL-2.0

//! A packet in words.

use crate::hex;
use oxe_proto::{
    types::Span,
    wire::{
        aeth::{
            Aeth,
            NakCode,
            Syndrome, //
        },
        bth::Malformed,
        crc32::SoftCrc32,
        credits::credits,
        frame::{
            Frame,
            Network,
            Unframed, //
        },
        icrc::Check,
        opcode::Class,
        packet::{
            Addressing,
            Op,
            Packet,
            Position,
            Service,
            Tail, //
        },
        reth::Reth,
        rnr::rnr_delay, //
    },
};
use std::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

/// One line about a packet that starts with an IP header.
///
/// # Errors
///
/// What makes it no RoCEv2 packet.
pub(crate) fn describe(bytes: &[u8]) -> Result<String, String> {
    let (frame, payload) = Frame::parse(bytes).map_err(unframed)?;
    let packet = Packet::parse(payload, payload.len());
    let check = Check::of_packet::<SoftCrc32>(bytes).map_err(unframed)?;
    let said = match packet {
        Ok(packet) => describe_packet(&packet),
        Err(reason) => format!("malformed: {}", malformed(reason)),
    };
    Ok(format!(
        "{}: {said}; {}",
        describe_frame(&frame),
        icrc(check)
    ))
}

fn describe_frame(frame: &Frame) -> String {
    let (from, to) = match frame.network {
        Network::V4(header) => (
            Ipv4Addr::from(header.source).to_string(),
            Ipv4Addr::from(header.destination).to_string(),
        ),
        Network::V6(header) => (
            format!("[{}]", Ipv6Addr::from(header.source)),
            format!("[{}]", Ipv6Addr::from(header.destination)),
        ),
    };
    let congestion = match frame.network {
        Network::V4(header) => header.tos & 3,
        Network::V6(header) => header.traffic_class & 3,
    };
    let congestion = if congestion == 3 { " CE" } else { "" };
    format!("{from}:{} > {to}{congestion}", frame.udp.source_port)
}

fn describe_packet(packet: &Packet) -> String {
    let mut words = vec![format!("{} {}", service(packet.service), name(&packet.op))];
    let mut say = |word: String| words.push(word);
    say(format!("qp {:#x}", packet.dest_qp.get()));
    match packet.addressing {
        Addressing::Connected => (),
        Addressing::Datagram(deth) => {
            say(format!("from qp {:#x}", deth.source_qp.get()));
            say(format!("qkey {:#x}", deth.qkey.0));
        }
        Addressing::SharedQueue(number) => say(format!("srq {:#x}", number.get())),
    }
    say(format!("psn {:#x}", packet.psn.get()));
    extensions(&packet.op, &mut say);
    if packet.data_bytes != 0 || packet.op.carries_data() {
        let pad = match packet.pad_bytes() {
            0 => String::new(),
            pad => format!(" and {pad} of pad"),
        };
        say(format!("{} bytes{pad}", packet.data_bytes));
    }
    for (flag, word) in [
        (packet.ack_req, "ack requested"),
        (packet.solicited, "solicited"),
        (packet.mig_req, "migrated"),
        (packet.fecn, "fecn"),
        (packet.becn, "becn"),
    ] {
        if flag {
            say(word.to_owned());
        }
    }
    if packet.pkey.0 != 0xffff {
        say(format!("pkey {:#x}", packet.pkey.0));
    }
    words.join(", ")
}

/// What the headers of an operation say.
fn extensions(op: &Op, say: &mut impl FnMut(String)) {
    match op {
        Op::Flush(feth, _) => {
            for (flag, word) in [
                (feth.visible, "to visibility"),
                (feth.persistent, "to persistence"),
                (feth.whole_region, "of the whole region"),
            ] {
                if flag {
                    say(word.to_owned());
                }
            }
        }
        Op::CompareSwap(atomic) => {
            let at = memory(atomic.address, atomic.rkey.0);
            let (old, new) = (atomic.compare, atomic.swap_add);
            say(format!("{at}, if {old:#x} then {new:#x}"));
        }
        Op::FetchAdd(atomic) => {
            let at = memory(atomic.address, atomic.rkey.0);
            say(format!("{at}, add {:#x}", atomic.swap_add));
        }
        _ => (),
    }
    if let Some(Reth {
        address,
        rkey,
        length,
    }) = op.reth()
    {
        say(format!(
            "{} of {length} bytes in all",
            memory(*address, rkey.0)
        ));
    }
    if let Some(aeth) = op.aeth() {
        say(acknowledgement(aeth));
    }
    if let Op::AtomicAcknowledge(_, before) = op {
        say(format!("was {before:#x}"));
    }
    if let Some(immediate) = op.immediate() {
        say(format!("immediate {}", hex::of(&immediate.0)));
    }
    if let Some(rkey) = op.invalidates() {
        say(format!("invalidates key {:#x}", rkey.0));
    }
}

fn memory(address: u64, rkey: u32) -> String {
    format!("at {address:#x} by key {rkey:#x}")
}

fn acknowledgement(aeth: &Aeth) -> String {
    let syndrome = match aeth.syndrome {
        Syndrome::Ack(code) => match credits(code) {
            Some(credits) => format!("ack with {credits} credits"),
            None => "ack".to_owned(),
        },
        Syndrome::RnrNak(code) => format!(
            "receiver not ready for {} ms",
            milliseconds(rnr_delay(code))
        ),
        Syndrome::Nak(reason) => format!("nak: {}", nak(reason)),
        Syndrome::Reserved(byte) => format!("reserved syndrome {byte:#04x}"),
    };
    format!("{syndrome}, msn {:#x}", aeth.msn.get())
}

fn milliseconds(span: Span) -> String {
    let hundredths = span.as_nanos() / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn nak(reason: NakCode) -> &'static str {
    match reason {
        NakCode::SequenceError => "sequence error",
        NakCode::InvalidRequest => "invalid request",
        NakCode::RemoteAccess => "remote access",
        NakCode::RemoteOperational => "remote operation",
        NakCode::InvalidRdRequest => "invalid reliable datagram request",
    }
}

fn service(service: Service) -> &'static str {
    match service {
        Service::Rc => "RC",
        Service::Uc => "UC",
        Service::Ud => "UD",
        Service::Xrc => "XRC",
        Service::Cnp => "CNP",
    }
}

/// An operation's name.
fn name(op: &Op) -> String {
    let class = match op.class() {
        Class::Send => "SEND",
        Class::Write => "WRITE",
        Class::ReadResponse => "READ response",
        Class::Read => return "READ request".to_owned(),
        Class::Acknowledge => return "acknowledgement".to_owned(),
        Class::AtomicAcknowledge => return "atomic's answer".to_owned(),
        Class::Flush => return "FLUSH".to_owned(),
        Class::AtomicWrite => return "ATOMIC WRITE".to_owned(),
        Class::Cnp => return "(congestion notification)".to_owned(),
        Class::Atomic => {
            let fetch_add = matches!(op, Op::FetchAdd(_));
            return if fetch_add {
                "FETCH & ADD"
            } else {
                "COMPARE & SWAP"
            }
            .to_owned();
        }
    };
    let position = match op.position() {
        Position::First => "first",
        Position::Middle => "middle",
        Position::Last => "last",
        Position::Only => "only",
    };
    let tail = match op {
        Op::SendLast(Tail::Invalidate(_)) | Op::SendOnly(Tail::Invalidate(_)) => " + invalidate",
        _ if op.immediate().is_some() => " + immediate",
        _ => "",
    };
    format!("{class} {position}{tail}")
}

fn icrc(check: Check) -> String {
    if check.is_good() {
        "icrc good".to_owned()
    } else {
        format!(
            "icrc BAD: {}, should be {}",
            hex::of(&check.carried),
            hex::of(&check.computed)
        )
    }
}

fn malformed(reason: Malformed) -> String {
    match reason {
        Malformed::Short => "too short for its headers".to_owned(),
        Malformed::Long => "too long for UDP".to_owned(),
        Malformed::Unaligned => "its length is no multiple of 4".to_owned(),
        Malformed::Version(version) => format!("transport header version {version}"),
        Malformed::Opcode(opcode) => format!("no opcode {opcode:#04x}"),
        Malformed::Pad => "more pad than there are bytes".to_owned(),
        Malformed::StrayData => "data in a congestion notification".to_owned(),
    }
}

/// Why an IP packet holds no RoCEv2 packet, in words.
pub(crate) fn unframed(reason: Unframed) -> String {
    match reason {
        Unframed::Truncated => "it ends before the length in its headers".to_owned(),
        Unframed::Version(version) => format!("IP version {version}"),
        Unframed::Options => "IPv4 options".to_owned(),
        Unframed::Fragment => "a fragment".to_owned(),
        Unframed::Protocol(protocol) => format!("IP protocol {protocol}, not UDP"),
        Unframed::Port(port) => format!("UDP port {port}, not 4791"),
        Unframed::Lengths => "the lengths in its headers contradict each other".to_owned(),
    }
}
