// SPDX-License-Identifier: GPL-2.0

//! A deterministic simulator of RoCEv2 networks, to try the protocol engine of oxe in.
//!
//! Everything comes from one seed: the same scenario twice is the same run, to the last packet.

#![forbid(unsafe_code)]

pub mod endpoint;
pub mod events;
pub mod frame;
pub mod memory;
pub mod network;
pub mod oracle;
pub mod pattern;
pub mod peers;
pub mod port;
pub mod rng;
pub mod trace;
pub mod work;
