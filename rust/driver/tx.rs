// SPDX-License-Identifier: GPL-2.0

//! From packets to the network: headers, data, ICRC.
//!
//! Packets of one flow and one size go out as one (`TxBuffer`). Each has its own transport headers,
//! pad and ICRC; the IP and UDP headers are those of the whole until somebody cuts it up, so the
//! ICRC is computed over what they will be then.
//!
//! Context: process or softirq.

use crate::{
    ah::{
        v4,
        Path, //
    },
    link::Link, //
};
use kernel::prelude::*;
use kernel_ext::{
    crc32::crc32_le,
    fill::Filler,
    net::{
        Route,
        Sent,
        TxBuffer,
        MAX_PAYLOAD_BYTES, //
    },
    rdma, //
};
use oxe_proto::{
    transport::{
        error::Fault,
        wr::Transmit, //
    },
    wire::{
        flow::FlowLabel,
        frame::{
            Frame,
            Network, //
        },
        icrc::{
            Crc32,
            FlowPrefix,
            Icrc, //
        },
        ipv4::Ipv4Header,
        ipv6::Ipv6Header,
        packet::Packet,
        roce::{
            MAX_HEADER_BYTES,
            UDP_PORT, //
        },
        udp::UdpHeader, //
    }, //
};

/// The kernel's CRC-32.
pub(crate) struct KernelCrc;

impl Crc32 for KernelCrc {
    #[inline]
    fn update(register: u32, bytes: &[u8]) -> u32 {
        crc32_le(register, bytes)
    }
}

/// How many packets of so many bytes of UDP payload may go out together.
pub(crate) fn together(bytes: usize) -> usize {
    MAX_PAYLOAD_BYTES.checked_div(bytes).unwrap_or(0).max(1)
}

/// Why a packet was not made.
enum Stopped {
    /// There was no memory for it, or no room.
    Memory,
    /// Its data cannot be had.
    Fault(Fault),
}

impl From<Error> for Stopped {
    fn from(_: Error) -> Self {
        Self::Memory
    }
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Sends packets whose data `fill` writes: `count` of them, of `bytes` of UDP payload each but for
/// a shorter last one. How many of them it was; those behind have to be sent again. What this host
/// drops for another reason than want of room counts as sent: it is lost as on the wire.
///
/// # Errors
///
/// Why none was sent: what `fill` said of the first, or [`Fault::Busy`] if this host had no room:
/// there is no use in sending more at once.
pub(crate) fn send(
    link: &Link,
    path: &Path,
    ip_id: u16,
    bytes: usize,
    count: usize,
    packets: impl Iterator<Item = Transmit> + Clone,
    mut fill: impl FnMut(&Transmit, &mut Filler<'_>) -> Result<(), Fault>,
) -> Result<usize, Fault> {
    let Ok(route) = path.route(link) else {
        // Whether there is a way will show when they are sent again.
        link.counters.send_dropped.add(count as u64);
        return Ok(count);
    };
    let frame = frame(path, ip_id);
    let prefix = FlowPrefix::new::<KernelCrc>(&frame);
    let count = match count {
        0 | 1 => count,
        more => more.min(route.datagrams(bytes)),
    };
    // One is made where there is no memory for several.
    let mut counts = [count, 1].into_iter().skip(usize::from(count == 1));
    let (buffer, made) = loop {
        let Some(count) = counts.next() else {
            link.counters.send_dropped.increment();
            return Err(Fault::Busy);
        };
        let Ok(mut buffer) = TxBuffer::new(bytes, count) else {
            continue;
        };
        let stopped = make(
            &mut buffer,
            prefix,
            ip_id,
            packets.clone().take(count),
            &mut fill,
        );
        match (buffer.count(), stopped) {
            (0, Err(Stopped::Fault(fault))) => return Err(fault),
            (0, _) => continue,
            (made, _) => break (buffer, made),
        }
    };
    let bytes = buffer.bytes();
    match dispatch(buffer, &route, &frame) {
        Ok(Sent::Accepted | Sent::Congested) => {
            link.counters.sent_pkts.add(made as u64);
            link.counters.sent_bytes.add(bytes as u64);
        }
        sent => {
            link.counters.send_dropped.add(made as u64);
            if matches!(sent, Ok(Sent::Dropped(e)) if e == ENOBUFS) {
                return Err(Fault::Busy);
            }
        }
    }
    Ok(made)
}

/// Makes packets, the first of which has the IPv4 identification `id`.
fn make(
    buffer: &mut TxBuffer,
    prefix: FlowPrefix,
    mut id: u16,
    packets: impl Iterator<Item = Transmit>,
    fill: &mut impl FnMut(&Transmit, &mut Filler<'_>) -> Result<(), Fault>,
) -> Result<(), Stopped> {
    for transmit in packets {
        let length = transmit.packet.wire_bytes();
        let icrc = prefix.sized(length as u16).start(id);
        id = id.wrapping_add(1);
        buffer.add(length, |to| {
            write(&transmit.packet, icrc, to, |to| fill(&transmit, to))
        })?;
    }
    Ok(())
}

/// The IP and UDP headers of a path's packets.
fn frame(path: &Path, ip_id: u16) -> Frame {
    let address = &path.address;
    let network = match address.network {
        rdma::Network::V4 => Network::V4(Ipv4Header {
            tos: address.traffic_class,
            id: ip_id,
            dont_fragment: true,
            ttl: hops(address.hop_limit),
            source: v4(&address.sgid),
            destination: v4(&address.dgid),
        }),
        rdma::Network::V6 => Network::V6(Ipv6Header {
            traffic_class: address.traffic_class,
            flow_label: FlowLabel::from_low_bits(path.flow_label),
            hop_limit: hops(address.hop_limit),
            source: address.sgid,
            destination: address.dgid,
        }),
    };
    let udp = UdpHeader {
        source_port: path.source_port,
        destination_port: UDP_PORT,
        checksum: 0,
    };
    Frame { network, udp }
}

/// Gives what was made to IP.
fn dispatch(buffer: TxBuffer, route: &Route, frame: &Frame) -> Result<Sent> {
    let length = u16::try_from(buffer.bytes()).map_err(|_| EMSGSIZE)?;
    let length = length.saturating_add(UdpHeader::BYTES as u16);
    let udp = frame.udp.to_bytes(length);
    match &frame.network {
        Network::V4(header) => {
            let ip = header.to_bytes(length.saturating_add(Ipv4Header::BYTES as u16));
            buffer.send_v4(route, &joined(&ip, &udp))
        }
        Network::V6(header) => buffer.send_v6(route, &joined(&header.to_bytes(length), &udp)),
    }
}

/// A hop limit with which a packet gets anywhere.
const fn hops(asked: u8) -> u8 {
    match asked {
        0 => 64,
        hops => hops,
    }
}

/// One header behind the other.
fn joined<const A: usize, const B: usize, const BOTH: usize>(
    first: &[u8; A],
    second: &[u8; B],
) -> [u8; BOTH] {
    const { assert!(A + B == BOTH) };
    let mut both = [0; BOTH];
    if let Some((start, end)) = both.split_at_mut_checked(A) {
        start.copy_from_slice(first);
        end.copy_from_slice(second);
    }
    both
}

/// Transport headers, data, pad and ICRC, which begins with what is in front of them.
fn write(
    packet: &Packet,
    icrc: Icrc<KernelCrc>,
    to: &mut Filler<'_>,
    fill: impl FnOnce(&mut Filler<'_>) -> Result<(), Fault>,
) -> Result<(), Stopped> {
    let mut head = [0; MAX_HEADER_BYTES];
    let head = packet
        .emit(&mut head)
        .and_then(|bytes| head.get(..bytes))
        .ok_or(Fault::Operational)?;
    to.put(head)?;
    if packet.data_bytes != 0 {
        fill(to)?;
    }
    let pad = [0; 3];
    to.put(pad.get(..packet.pad_bytes()).unwrap_or_default())?;
    let icrc = icrc.headers(to.filled()).finish();
    to.put(&icrc)?;
    Ok(())
}
