// SPDX-License-Identifier: GPL-2.0

//! What bindgen made of `include/bindings.h`: the RDMA and network C API that the `kernel` crate
//! lacks.
//!
//! A crate of its own, so that it is compiled once and not with each edit. Only `kernel_ext` may
//! use it. Types that the `kernel` crate has as well (`sk_buff`, `xarray`, ...) are separate Rust
//! types here: cast at the border.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    improper_ctypes,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    unused_imports
)]

mod layout;
mod layout_generated;

type __kernel_size_t = usize;
type __kernel_ssize_t = isize;
type __kernel_ptrdiff_t = isize;

include!("bindings_generated.rs");
