// SPDX-License-Identifier: GPL-2.0

//! Bytes a second of the ICRC with a CRC routine that uses the processor's carry-less
//! multiplication, as the kernel's does, and with the tables of the protocol crate.

use std::hint::black_box;

use divan::{
    counter::BytesCount,
    Bencher, //
};
use oxe_proto::wire::{
    crc32::SoftCrc32,
    icrc::{
        Crc32,
        Icrc, //
    },
    ipv4::Ipv4Header,
    udp::UdpHeader, //
};

/// Bytes from the base transport header to the pad.
const SIZES: [usize; 4] = [16, 268, 1036, 4108];

/// crc32fast as the bare register that [`Crc32`] wants: its own is inverted at both ends.
struct Fast;

impl Crc32 for Fast {
    fn update(register: u32, bytes: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new_with_initial(!register);
        hasher.update(bytes);
        !hasher.finalize()
    }
}

fn main() {
    let (bytes, register) = (b"123456789", 0x0123_4567);
    assert_eq!(
        Fast::update(register, bytes),
        SoftCrc32::update(register, bytes)
    );
    divan::main();
}

fn check<C: Crc32>(bencher: Bencher<'_, '_>, bytes: usize) {
    let ip = Ipv4Header::default().to_bytes(0);
    let udp = UdpHeader::default().to_bytes(0);
    let payload = vec![0x5a; bytes];
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        Icrc::<C>::over_ipv4(black_box(&ip), black_box(&udp))
            .headers(black_box(&payload))
            .finish()
    });
}

#[divan::bench(args = SIZES)]
fn fast(bencher: Bencher<'_, '_>, bytes: usize) {
    check::<Fast>(bencher, bytes);
}

#[divan::bench(args = SIZES)]
fn tables(bencher: Bencher<'_, '_>, bytes: usize) {
    check::<SoftCrc32>(bencher, bytes);
}
