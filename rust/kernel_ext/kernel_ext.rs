// SPDX-License-Identifier: GPL-2.0

//! Safe abstractions over the RDMA and network C API that the `kernel` crate does not have (yet).
//!
//! Laid out as `rust/kernel` would be; every `unsafe` line of oxe is here. It knows nothing of the
//! protocol and nothing of the driver's policy: those come in through traits.

#![deny(missing_docs)]

/// What `pr_*!` puts in front of a line of this crate.
const __LOG_PREFIX: &[u8] = b"oxe\0";

pub(crate) use oxe_bindings as bindings;

pub mod net;
pub mod rdma;
pub mod sync;
pub mod workqueue;
