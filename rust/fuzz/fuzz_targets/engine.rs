// SPDX-License-Identifier: GPL-2.0

//! [`oxe_fuzz::engine`] for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxe_fuzz::engine::run(data));
