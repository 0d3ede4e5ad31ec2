// SPDX-License-Identifier: GPL-2.0

//! [`oxe_fuzz::icrc_mask`] for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxe_fuzz::icrc_mask::run(data));
