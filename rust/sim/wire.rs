// SPDX-License-Identifier: GPL-2.0

//! Packets as real bytes, from the IP header to the ICRC.

use oxe_proto::{
    types::Qpn,
    wire::{
        crc32::SoftCrc32,
        flow::FlowLabel,
        frame::{
            Frame,
            Network, //
        },
        icrc::{
            Check,
            FlowPrefix, //
        },
        ipv4::Ipv4Header,
        ipv6::Ipv6Header,
        packet::Packet,
        roce::{
            ICRC_BYTES,
            UDP_PORT, //
        },
        udp::UdpHeader, //
    },
};

/// What is on the wire around a packet.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Host that sends.
    pub from: usize,
    /// Host that receives.
    pub to: usize,
    /// Queue pair that sends.
    pub sender: Qpn,
    /// By IPv6.
    pub v6: bool,
    /// Counts packets.
    pub id: u16,
}

impl Route {
    fn frame(&self, dest: Qpn) -> Frame {
        let network = if self.v6 {
            let address = |host: usize| {
                let mut address = [0; 16];
                (address[0], address[15]) = (0xfd, host as u8 + 1);
                address
            };
            Network::V6(Ipv6Header {
                hop_limit: 64,
                source: address(self.from),
                destination: address(self.to),
                ..Ipv6Header::default()
            })
        } else {
            Network::V4(Ipv4Header {
                id: self.id,
                dont_fragment: true,
                ttl: 64,
                source: [10, 0, 0, self.from as u8 + 1],
                destination: [10, 0, 0, self.to as u8 + 1],
                ..Ipv4Header::default()
            })
        };
        Frame {
            network,
            udp: UdpHeader {
                source_port: FlowLabel::between(self.sender, dest).source_port(),
                destination_port: UDP_PORT,
                checksum: 0,
            },
        }
    }
}

/// A packet's bytes; none if it is no packet that there can be.
pub fn encode(route: &Route, packet: &Packet, data: &[u8]) -> Option<Vec<u8>> {
    let frame = route.frame(packet.dest_qp);
    let start = frame.bytes();
    let payload = packet.wire_bytes();
    let mut bytes = vec![0; start + payload];
    frame.emit(payload, &mut bytes)?;
    let headers = packet.emit(&mut bytes[start..])?;
    let from = start + headers;
    bytes
        .get_mut(from..from + data.len())?
        .copy_from_slice(data);
    let end = bytes.len() - ICRC_BYTES;
    let icrc = FlowPrefix::new::<SoftCrc32>(&frame)
        .sized(u16::try_from(payload).ok()?)
        .start::<SoftCrc32>(route.id)
        .headers(&bytes[start..end])
        .finish();
    bytes[end..].copy_from_slice(&icrc);
    Some(bytes)
}

/// A packet and its data from its bytes; none if they are no packet, or damaged.
pub fn decode(bytes: &[u8]) -> Option<(Packet, Vec<u8>)> {
    let check = Check::of_packet::<SoftCrc32>(bytes).ok()?;
    if !check.is_good() {
        return None;
    }
    let (_, payload) = Frame::parse(bytes).ok()?;
    let packet = Packet::parse(payload, payload.len()).ok()?;
    let from = packet.header_bytes();
    let data = payload.get(from..from + packet.data_bytes as usize)?;
    Some((packet, data.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        frame::tests::frame,
        pattern::Pattern,
        rng::Rng, //
    };

    fn route(v6: bool) -> Route {
        Route {
            from: 0,
            to: 1,
            sender: Qpn::from_low_bits(18),
            v6,
            id: 7,
        }
    }

    #[test]
    fn bytes_become_the_same_packet_again() {
        for v6 in [false, true] {
            for length in [0, 1, 2, 3, 4, 255, 1024] {
                let packet = frame(0xff_ffff, length).packet;
                let data = Pattern(1).bytes(0, length as usize);
                let bytes = encode(&route(v6), &packet, &data).unwrap();
                assert_eq!(decode(&bytes), Some((packet, data)));
            }
        }
    }

    #[test]
    fn no_flipped_bit_changes_what_arrives() {
        let packet = frame(5, 64).packet;
        let data = Pattern(1).bytes(0, 64);
        let bytes = encode(&route(false), &packet, &data).unwrap();
        let mut rng = Rng::new(1, "flips", 0);
        for _ in 0..10_000 {
            let mut spoilt = bytes.clone();
            for _ in 0..=rng.below(3) {
                let bit = rng.below(8 * bytes.len() as u64) as usize;
                spoilt[bit / 8] ^= 1 << (bit % 8);
            }
            if let Some((got, read)) = decode(&spoilt) {
                let got = Packet {
                    fecn: packet.fecn,
                    becn: packet.becn,
                    ..got
                };
                assert_eq!((got, read), (packet, data.clone()));
            }
        }
    }
}
