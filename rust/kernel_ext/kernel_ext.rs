// SPDX-License-Identifier: GPL-2.0

//! Safe abstractions over the RDMA and network C API that the `kernel` crate does not have (yet).
//!
//! Laid out as `rust/kernel` would be; every `unsafe` line of oxe is here. It knows nothing of the
//! protocol and nothing of the driver's policy: those come in through traits.

#![deny(missing_docs)]

pub(crate) use oxe_bindings as bindings;

pub mod crc32;
pub mod fill;
pub mod net;
pub mod random;
pub mod rdma;
pub mod sync;
pub mod workqueue;
