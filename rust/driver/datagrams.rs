// SPDX-License-Identifier: GPL-2.0

//! What came in as one packet: a datagram, or several of a flow that nobody has cut apart.
//!
//! Nothing is copied but headers: data stay where they are until they are placed, and the ICRC is
//! computed there. Others may still write to memory that a packet of this host has (pages that they
//! lent to a socket), so what is looked at twice may differ. Headers are looked at once.
//!
//! Context: any.

use crate::tx::KernelCrc;
use kernel::prelude::*;
use kernel_ext::net::SkBuff;
use oxe_proto::wire::{
    bth::Bth,
    frame::{
        Frame,
        Network, //
    },
    icrc::{
        FlowPrefix,
        Icrc, //
    },
    ipv4::Ipv4Header,
    ipv6::Ipv6Header,
    packet::Packet,
    roce::{
        ICRC_BYTES,
        MAX_HEADER_BYTES,
        MIN_PAYLOAD_BYTES, //
    },
    udp::UdpHeader, //
};

/// As many as Linux sends together (`UDP_MAX_SEGMENTS`); more are a waste of this host's time.
const MOST: usize = 128;

/// IPv4's reserved flag, in the byte of the flags.
const RESERVED_FLAG: u8 = 0x80;

/// See the module's description.
pub(crate) struct Datagrams<'s> {
    skb: &'s SkBuff,
    /// Where the payload of the first one starts.
    start: usize,
    /// Bytes of payload of each but the last.
    bytes: usize,
    count: usize,
    /// What the headers of several are made from.
    common: Option<(Frame, FlowPrefix)>,
}

/// One of several.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    number: u16,
    bytes: u16,
}

impl<'s> Datagrams<'s> {
    /// Those in `skb`, whose payload starts at `start`.
    ///
    /// # Errors
    ///
    /// How many they would be, if they are too short or too many, or have headers that several
    /// cannot have.
    pub(crate) fn of(skb: &'s SkBuff, start: usize) -> Result<Self, usize> {
        let all = skb.len().saturating_sub(start);
        let one = Self {
            skb,
            start,
            bytes: all,
            count: 1,
            common: None,
        };
        let Some(bytes) = skb.segment_bytes() else {
            return Ok(one);
        };
        let count = all.div_ceil(bytes.max(1)).max(1);
        let common = frame(skb).filter(|_| bytes >= MIN_PAYLOAD_BYTES && count <= MOST);
        let Some(frame) = common else {
            return Err(count);
        };
        Ok(Self {
            bytes,
            count,
            common: Some((frame, FlowPrefix::new::<KernelCrc>(&frame))),
            ..one
        })
    }

    /// How many; at least one.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Bytes of payload of all together.
    pub(crate) fn total(&self) -> usize {
        self.skb.len().saturating_sub(self.start)
    }

    /// The packet.
    pub(crate) fn skb(&self) -> &'s SkBuff {
        self.skb
    }

    /// Where the payload of a datagram starts, and its bytes; none if there are not so many.
    fn place(&self, number: usize) -> Option<(usize, usize)> {
        if number >= self.count {
            return None;
        }
        let before = number.checked_mul(self.bytes)?;
        let bytes = self.total().checked_sub(before)?.min(self.bytes);
        Some((self.start.checked_add(before)?, bytes))
    }

    /// Where the payload of a datagram starts.
    pub(crate) fn offset(&self, number: usize) -> usize {
        self.place(number).map_or(0, |(at, _)| at)
    }

    /// Which one it is, if there are several.
    pub(crate) fn part(&self, number: usize) -> Option<Part> {
        let (_, bytes) = self.place(number)?;
        self.common.is_some().then_some(Part {
            number: number as u16,
            bytes: bytes as u16,
        })
    }

    /// A datagram's transport headers; none if it is no RoCEv2 packet, or there are not so many.
    pub(crate) fn parse(&self, number: usize) -> Option<Packet> {
        let (at, bytes) = self.place(number)?;
        parse(self.skb, at, bytes)
    }

    /// How many datagrams there are from `first`, which is for the queue pair that `packet` is for,
    /// up to the first that is not.
    pub(crate) fn alike(&self, first: usize, packet: &Packet) -> usize {
        let mut end = first.saturating_add(1);
        while self
            .parse(end)
            .is_some_and(|next| next.dest_qp == packet.dest_qp)
        {
            end = end.saturating_add(1);
        }
        end.saturating_sub(first)
    }

    /// A copy of a datagram that may be kept, and where its payload starts in that.
    pub(crate) fn keep(&self, number: usize) -> Result<(SkBuff, usize)> {
        let (at, bytes) = self.place(number).ok_or(EINVAL)?;
        Ok((self.skb.copy_part(at, bytes)?, UdpHeader::BYTES))
    }

    /// The ICRC of a datagram, ready for what follows the UDP header.
    fn icrc(&self, number: usize, bytes: usize) -> Option<Icrc<KernelCrc>> {
        if let Some((frame, prefix)) = &self.common {
            let id = match &frame.network {
                Network::V4(header) => header.id.wrapping_add(number as u16),
                Network::V6(_) => 0,
            };
            return Some(prefix.sized(bytes as u16).start(id));
        }
        let udp = self.skb.udp_header()?;
        Some(match self.skb.network_header_v4() {
            Some(ip) => Icrc::over_ipv4(&ip, &udp),
            None => Icrc::over_ipv6(&self.skb.network_header_v6()?, &udp),
        })
    }

    /// Whether a datagram's ICRC is that of its bytes; nothing if it has not all headers.
    pub(crate) fn has_good_icrc(&self, number: usize) -> Option<bool> {
        let (at, bytes) = self.place(number)?;
        let icrc = self.icrc(number, bytes)?;
        let linear = self.skb.linear_payload(at);
        if let Some(datagram) = linear.and_then(|linear| linear.get(..bytes)) {
            let (body, carried) = datagram.split_last_chunk()?;
            return Some(icrc.headers(body).finish() == *carried);
        }
        let body = bytes.checked_sub(ICRC_BYTES)?;
        let (mut notify, mut carried) = ([0], [0; ICRC_BYTES]);
        let notify_at = at.checked_add(Bth::NOTIFY_OFFSET)?;
        self.skb.copy_bits(notify_at, &mut notify).ok()?;
        self.skb
            .copy_bits(at.checked_add(body)?, &mut carried)
            .ok()?;
        let [notify] = notify;
        let computed = icrc
            .headers_by(notify, |register| self.skb.crc32(register, at, body))
            .ok()?;
        Some(computed.finish() == carried)
    }
}

/// The headers of several; none if they cannot be of several.
fn frame(skb: &SkBuff) -> Option<Frame> {
    let network = match skb.network_header_v4() {
        Some(raw) => {
            let [_, _, _, _, _, _, flags, ..] = raw;
            if flags & RESERVED_FLAG != 0 {
                // No sender's stack sets it, and the common part of the CRC does not mind it.
                return None;
            }
            Network::V4(Ipv4Header::parse(&raw).ok()?.0)
        }
        None => Network::V6(Ipv6Header::parse(&skb.network_header_v6()?).ok()?.0),
    };
    let (udp, _) = UdpHeader::parse(&skb.udp_header()?);
    Some(Frame { network, udp })
}

/// Transport headers, read from where they are.
pub(crate) fn parse(skb: &SkBuff, at: usize, bytes: usize) -> Option<Packet> {
    let mut head = [0; MAX_HEADER_BYTES];
    let head = head.get_mut(..bytes.min(MAX_HEADER_BYTES))?;
    skb.copy_bits(at, head).ok()?;
    Packet::parse(head, bytes).ok()
}

/// The 40 bytes that precede a datagram: an IPv6 header, or an IPv4 header in the second half
/// (IBTA annex A17.4.5.2). Those of one of several are as if it had come alone.
pub(crate) fn network_header(skb: &SkBuff, part: Option<Part>) -> Option<[u8; 40]> {
    let mut area = [0; 40];
    let Some(Part { number, bytes }) = part else {
        if let Some(header) = skb.network_header_v6() {
            return Some(header);
        }
        *area.last_chunk_mut()? = skb.network_header_v4()?;
        return Some(area);
    };
    let length = bytes.checked_add(UdpHeader::BYTES as u16)?;
    match frame(skb)?.network {
        Network::V4(header) => {
            let header = Ipv4Header {
                id: header.id.wrapping_add(number),
                ..header
            };
            let length = length.checked_add(Ipv4Header::BYTES as u16)?;
            *area.last_chunk_mut()? = header.to_bytes(length);
            Some(area)
        }
        Network::V6(header) => Some(header.to_bytes(length)),
    }
}
