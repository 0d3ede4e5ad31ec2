// SPDX-License-Identifier: GPL-2.0

//! The ICRC, its CRC routine aside: the processor's or the kernel's routine is not ours to count.

use std::hint::black_box;

use oxe_proto::wire::{
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
    roce::{
        ICRC_BYTES,
        UDP_PORT, //
    },
    udp::UdpHeader, //
};

/// Bytes of UDP payload in a packet: a middle packet at a path MTU of 1024.
const PAYLOAD: u16 = 12 + 1024 + 4;

/// A routine that costs next to nothing and computes nothing.
struct Free;

impl Crc32 for Free {
    #[inline]
    fn update(register: u32, bytes: &[u8]) -> u32 {
        register.rotate_left(1) ^ bytes.len() as u32
    }
}

fn frame() -> Frame {
    Frame {
        network: Network::V4(Ipv4Header {
            dont_fragment: true,
            ttl: 64,
            source: [192, 0, 2, 1],
            destination: [198, 51, 100, 2],
            ..Ipv4Header::default()
        }),
        udp: UdpHeader {
            source_port: 0xc123,
            destination_port: UDP_PORT,
            ..UdpHeader::default()
        },
    }
}

/// A sender's, for packets of one flow and size.
pub(crate) fn send(packets: u64) {
    let sized = FlowPrefix::new::<Free>(&frame()).sized(PAYLOAD);
    let payload = [0x5a; PAYLOAD as usize - ICRC_BYTES];
    for id in 0..packets {
        let icrc = black_box(&sized).start::<Free>(id as u16);
        black_box(icrc.headers(black_box(&payload)).finish());
    }
}

/// A receiver's.
pub(crate) fn receive(packets: u64) {
    let mut headers = [0; 28];
    frame()
        .emit(usize::from(PAYLOAD), &mut headers)
        .expect("it fits");
    let (ip, udp) = headers.split_at(20);
    let ip: [u8; 20] = ip.try_into().expect("20 bytes");
    let udp: [u8; 8] = udp.try_into().expect("8 bytes");
    let payload = [0x5a; PAYLOAD as usize - ICRC_BYTES];
    for _ in 0..packets {
        let icrc = Icrc::<Free>::over_ipv4(black_box(&ip), black_box(&udp));
        black_box(icrc.headers(black_box(&payload)).finish());
    }
}
