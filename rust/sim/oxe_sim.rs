// SPDX-License-Identifier: GPL-2.0

//! A deterministic simulator of RoCEv2 networks, to try the protocol engine of oxe in.
//!
//! A [`scenario::Scenario`] says which hosts there are, how they are linked, what their queue pairs
//! send and what goes wrong. [`world::World`] runs it in virtual time, with engines or with models
//! of [`peers`] behind the queue pairs, and the [`oracle`] watches. Everything comes from one seed:
//! the same scenario twice is the same run, to the last packet.

#![forbid(unsafe_code)]

pub mod check;
pub mod cli;
pub mod endpoint;
pub mod endpoints;
pub mod events;
pub mod frame;
pub mod memory;
pub mod network;
pub mod oracle;
pub mod pattern;
pub mod peers;
pub mod port;
pub mod rng;
pub mod scenario;
pub mod table;
pub mod trace;
pub mod wire;
pub mod work;
pub mod workload;
pub mod world;
