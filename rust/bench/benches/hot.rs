// SPDX-License-Identifier: GPL-2.0

//! The time of each hot path. A sample is a thousand packets, so that its microseconds are the
//! nanoseconds of a packet.

use divan::{
    counter::ItemsCount,
    Bencher, //
};
use oxe_bench::{
    Path,
    PATHS, //
};

const PACKETS: u64 = 1000;

fn main() {
    divan::main();
}

#[divan::bench(args = PATHS)]
fn thousand(bencher: Bencher<'_, '_>, path: &Path) {
    bencher
        .counter(ItemsCount::new(PACKETS))
        .bench(|| (path.run)(PACKETS));
}
