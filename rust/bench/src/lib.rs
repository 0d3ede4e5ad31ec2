// SPDX-License-Identifier: GPL-2.0

//! The hot paths of the protocol, each as a function that takes a number of packets through it.
//!
//! `benches/hot.rs` measures their time, `src/bin/instructions.rs` runs one of them to have its
//! instructions counted. Both find a new path as soon as it is in [`PATHS`]; its limit of
//! instructions goes into `scripts/instructions.limits`.

#![forbid(unsafe_code)]

mod engine;
mod icrc;
mod wire;

use std::fmt;

/// A hot path.
#[derive(Clone, Copy)]
pub struct Path {
    /// Its name in tables and limits.
    pub name: &'static str,
    /// Takes so many packets through it. What is done once must not depend on their number.
    pub run: fn(u64),
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All of them, in the order of the tables.
pub const PATHS: &[Path] = &[
    Path {
        name: "parse WRITE first",
        run: |packets| wire::parse(wire::WRITE_FIRST, packets),
    },
    Path {
        name: "parse WRITE middle",
        run: |packets| wire::parse(wire::WRITE_MIDDLE, packets),
    },
    Path {
        name: "parse ACK",
        run: |packets| wire::parse(wire::ACK, packets),
    },
    Path {
        name: "parse UD SEND",
        run: |packets| wire::parse(wire::UD_SEND, packets),
    },
    Path {
        name: "emit WRITE first",
        run: |packets| wire::emit(wire::WRITE_FIRST, packets),
    },
    Path {
        name: "emit WRITE middle",
        run: |packets| wire::emit(wire::WRITE_MIDDLE, packets),
    },
    Path {
        name: "emit ACK",
        run: |packets| wire::emit(wire::ACK, packets),
    },
    Path {
        name: "emit UD SEND",
        run: |packets| wire::emit(wire::UD_SEND, packets),
    },
    Path {
        name: "ICRC to send, CRC aside",
        run: icrc::send,
    },
    Path {
        name: "ICRC to check, CRC aside",
        run: icrc::receive,
    },
    Path {
        name: "WRITE middle, both sides and headers",
        run: engine::long_writes,
    },
    Path {
        name: "WRITE middle in bursts, both sides and headers",
        run: engine::bursts,
    },
    Path {
        name: "WRITE only, both sides and headers",
        run: engine::short_writes,
    },
    Path {
        name: "SEND only, both sides and headers",
        run: engine::short_sends,
    },
];
