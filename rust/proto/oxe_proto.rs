// SPDX-License-Identifier: GPL-2.0

//! RoCEv2 without a kernel: the protocol core of oxe.
//!
//! No I/O, no allocation, no clock, no `unsafe`, no panic: what comes in is a byte slice or a plain
//! value, what goes out is a plain value. Compiled into `oxe.ko` by Kbuild and as a host crate by
//! cargo, from the same files.

#![cfg_attr(all(not(CONFIG_RUST), not(test)), no_std)]
#![forbid(unsafe_code)]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unreachable,
    clippy::unwrap_used,
    missing_docs
)]

pub mod memory;
pub mod transport;
pub mod types;
pub mod wire;
