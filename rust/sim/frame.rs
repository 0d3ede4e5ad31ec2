// SPDX-License-Identifier: GPL-2.0

//! What travels through the network: a packet, its data, and what the simulator knows of it.

use oxe_proto::wire::packet::{
    Addressing,
    Op,
    Packet,
    Tail, //
};

/// Bytes that Ethernet (with preamble and gap), IPv4 and UDP take around a packet.
const OUTER_BYTES: u32 = 38 + IP_UDP_BYTES;

/// Bytes of the IPv4 and UDP headers.
const IP_UDP_BYTES: u32 = 28;

/// A packet on its way.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Number of the queue pair that sent it, in the simulator's count.
    pub sender: usize,
    /// The flow that its sender sent at that time, in the oracle's count.
    pub flow: Option<usize>,
    /// Host that sent it.
    pub from: usize,
    /// Host that it goes to.
    pub to: usize,
    /// Headers.
    pub packet: Packet,
    /// Data, as long as the headers say.
    pub data: Vec<u8>,
    /// All of it in bytes, if it is sent as such: what arrives is read from them.
    pub bytes: Option<Vec<u8>>,
    /// Says that the sender understands congestion marks.
    pub ect: bool,
    /// Marked by a congested link.
    pub marked: bool,
    /// Damaged on the way, which the receiver's CRC shows.
    pub damaged: bool,
    /// Not the first copy.
    pub duplicate: bool,
}

impl Frame {
    /// Bytes of the IPv4 packet.
    pub fn ip_bytes(&self) -> u32 {
        IP_UDP_BYTES + header_bytes(&self.packet) + self.packet.data_bytes.next_multiple_of(4) + 4
    }

    /// Bytes' worth of time that it takes on the wire.
    pub fn wire_bytes(&self) -> u32 {
        OUTER_BYTES - IP_UDP_BYTES + self.ip_bytes()
    }
}

fn tail_bytes(tail: Tail) -> u32 {
    match tail {
        Tail::None => 0,
        Tail::Immediate(_) | Tail::Invalidate(_) => 4,
    }
}

/// Bytes of a packet's own headers.
pub fn header_bytes(packet: &Packet) -> u32 {
    let addressing = match packet.addressing {
        Addressing::Connected => 0,
        Addressing::Datagram(_) => 8,
        Addressing::SharedQueue(_) => 4,
    };
    let op = match packet.op {
        Op::SendFirst | Op::SendMiddle | Op::WriteMiddle | Op::ReadResponseMiddle => 0,
        Op::SendLast(tail) | Op::SendOnly(tail) => tail_bytes(tail),
        Op::WriteLast(immediate) => 4 * u32::from(immediate.is_some()),
        Op::WriteOnly(_, immediate) => 16 + 4 * u32::from(immediate.is_some()),
        Op::WriteFirst(_) | Op::ReadRequest(_) | Op::AtomicWrite(_) | Op::Cnp => 16,
        Op::ReadResponseFirst(_)
        | Op::ReadResponseLast(_)
        | Op::ReadResponseOnly(_)
        | Op::Acknowledge(_) => 4,
        Op::AtomicAcknowledge(..) => 12,
        Op::CompareSwap(_) | Op::FetchAdd(_) => 28,
        Op::Flush(..) => 20,
    };
    12 + addressing + op
}

/// Whether a packet asks something of its receiver; otherwise it answers.
pub fn is_request(op: &Op) -> bool {
    !matches!(
        op,
        Op::ReadResponseFirst(_)
            | Op::ReadResponseMiddle
            | Op::ReadResponseLast(_)
            | Op::ReadResponseOnly(_)
            | Op::Acknowledge(_)
            | Op::AtomicAcknowledge(..)
            | Op::Cnp
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use oxe_proto::{
        types::{
            Pkey,
            Psn,
            Qpn, //
        },
        wire::packet::Service, //
    };

    /// A packet in the middle of a SEND, with so many bytes of data.
    pub(crate) fn frame(psn: u32, bytes: u32) -> Frame {
        Frame {
            sender: 0,
            flow: None,
            from: 0,
            to: 1,
            packet: Packet {
                service: Service::Rc,
                op: Op::SendMiddle,
                addressing: Addressing::Connected,
                dest_qp: Qpn::from_low_bits(17),
                psn: Psn::from_low_bits(psn),
                pkey: Pkey::DEFAULT_FULL,
                ack_req: false,
                solicited: false,
                mig_req: false,
                fecn: false,
                becn: false,
                data_bytes: bytes,
            },
            data: vec![0; bytes as usize],
            bytes: None,
            ect: true,
            marked: false,
            damaged: false,
            duplicate: false,
        }
    }

    #[test]
    fn bytes_on_the_wire() {
        assert_eq!(frame(0, 1024).ip_bytes(), 20 + 8 + 12 + 1024 + 4);
        assert_eq!(frame(0, 1).wire_bytes(), 38 + 20 + 8 + 12 + 4 + 4);
    }
}
