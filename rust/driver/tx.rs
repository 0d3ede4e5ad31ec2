// SPDX-License-Identifier: GPL-2.0

//! From a packet to the network: headers, data, ICRC.
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
    net::{
        Sent,
        TxBuffer, //
    },
    rdma::Network, //
};
use oxe_proto::{
    transport::error::Fault,
    wire::{
        flow::FlowLabel,
        icrc::{
            Crc32,
            Icrc, //
        },
        ipv4::Ipv4Header,
        ipv6::Ipv6Header,
        packet::Packet,
        roce::{
            ICRC_BYTES,
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

/// Sends a packet whose data `fill` writes. False if this host had no room for it: there is no use
/// in sending more at once.
///
/// # Errors
///
/// That of `fill`: nothing was sent.
pub(crate) fn send(
    link: &Link,
    path: &Path,
    ip_id: u16,
    packet: &Packet,
    fill: impl FnOnce(&mut [u8]) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    let Ok(length) = u16::try_from(packet.wire_bytes()) else {
        return Ok(true);
    };
    let Ok(mut buffer) = TxBuffer::new(usize::from(length)) else {
        link.counters.send_dropped.increment();
        return Ok(false);
    };
    let udp = UdpHeader {
        source_port: path.source_port,
        destination_port: UDP_PORT,
        checksum: 0,
    };
    let udp_length = length.saturating_add(UdpHeader::BYTES as u16);
    let udp = udp.to_bytes(udp_length);
    let data = buffer.data();
    if write(packet, data, fill)?.is_none() {
        return Ok(true);
    }
    let Ok(route) = path.route(link) else {
        // Whether there is a way will show when it is sent again.
        link.counters.send_dropped.increment();
        return Ok(true);
    };
    let address = &path.address;
    let sent = match address.network {
        Network::V4 => {
            let header = Ipv4Header {
                tos: address.traffic_class,
                id: ip_id,
                dont_fragment: true,
                ttl: hops(address.hop_limit),
                source: v4(&address.sgid),
                destination: v4(&address.dgid),
            };
            let ip = header.to_bytes(udp_length.saturating_add(Ipv4Header::BYTES as u16));
            seal(buffer.data(), |body| {
                Icrc::<KernelCrc>::over_ipv4(&ip, &udp)
                    .headers(body)
                    .finish()
            });
            buffer.send_v4(&route, &joined(&ip, &udp))
        }
        Network::V6 => {
            let header = Ipv6Header {
                traffic_class: address.traffic_class,
                flow_label: FlowLabel::from_low_bits(path.flow_label),
                hop_limit: hops(address.hop_limit),
                source: address.sgid,
                destination: address.dgid,
            };
            let ip = header.to_bytes(udp_length);
            seal(buffer.data(), |body| {
                Icrc::<KernelCrc>::over_ipv6(&ip, &udp)
                    .headers(body)
                    .finish()
            });
            buffer.send_v6(&route, &joined(&ip, &udp))
        }
    };
    match sent {
        Ok(Sent::Accepted | Sent::Congested) => {
            link.counters.sent_pkts.increment();
            link.counters.sent_bytes.add(length.into());
        }
        Ok(Sent::Dropped(_)) | Err(_) => link.counters.send_dropped.increment(),
    }
    Ok(!matches!(sent, Ok(Sent::Dropped(e)) if e == ENOBUFS))
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

/// Headers, data and pad; none if there is no such packet.
fn write(
    packet: &Packet,
    out: &mut [u8],
    fill: impl FnOnce(&mut [u8]) -> Result<(), Fault>,
) -> Result<Option<()>, Fault> {
    let Some(header_bytes) = packet.emit(out) else {
        return Ok(None);
    };
    let Some(rest) = out.get_mut(header_bytes..) else {
        return Ok(None);
    };
    let Some((data, end)) = rest.split_at_mut_checked(packet.data_bytes as usize) else {
        return Ok(None);
    };
    if !data.is_empty() {
        fill(data)?;
    }
    // The pad, and what the ICRC will replace.
    end.fill(0);
    Ok(Some(()))
}

/// Puts the ICRC at the end.
fn seal(out: &mut [u8], icrc: impl FnOnce(&[u8]) -> [u8; ICRC_BYTES]) {
    if let Some((body, end)) = out.split_last_chunk_mut() {
        *end = icrc(body);
    }
}
