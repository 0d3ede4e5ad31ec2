// SPDX-License-Identifier: GPL-2.0

//! The wire format of RoCEv2: what lies in a UDP datagram to port [`roce::UDP_PORT`].

pub mod aeth;
pub mod atomic;
pub mod bth;
#[cfg(not(CONFIG_RUST))]
pub mod crc32;
pub mod credits;
pub mod deth;
pub mod flow;
pub mod flush;
pub mod frame;
pub mod icrc;
pub mod ipv4;
pub mod ipv6;
pub mod opcode;
pub mod packet;
pub mod reth;
pub mod rnr;
pub mod roce;
pub mod udp;
