// SPDX-License-Identifier: GPL-2.0

//! What the stock `rxe` provider of rdma-core and the driver write for each other
//! (`rdma/rdma_user_rxe.h`): rings, their elements, the data of calls. As pure parsing.
//!
//! All that comes in was written by a user who may mean harm and may go on writing. So the driver
//! copies an element, once, into memory of its own, and hands the copy in here; what comes out are
//! plain values, and a request that makes no sense is one that fails with a status. Nothing in here
//! touches shared memory, allocates or panics, and there is no `unsafe`. Compiled into `oxe.ko` by
//! Kbuild and as a host crate by cargo, from the same files.
//!
//! Offsets and numbers are all in [`abi`]; the build of the module compares each with the kernel's
//! own headers.

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

pub mod abi;
#[cfg(CONFIG_RUST)]
#[allow(non_upper_case_globals)]
mod abi_generated;
pub mod av;
mod bytes;
pub mod cqe;
pub mod recv;
pub mod responses;
pub mod ring;
pub mod send;
pub mod sge;
