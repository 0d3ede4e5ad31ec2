// SPDX-License-Identifier: GPL-2.0

//! [`oxe_fuzz::ring_element`] for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oxe_fuzz::ring_element::run(data));
