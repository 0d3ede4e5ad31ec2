// SPDX-License-Identifier: GPL-2.0

//! What is fuzzed: a module for each target, whose `run` takes any bytes and panics if the code
//! under test does what it must not.
//!
//! The targets are plain functions. libFuzzer calls them from the programs in `fuzz_targets/`,
//! which need its runtime; everybody else runs them on inputs that are kept (`corpus/`).

#![forbid(unsafe_code)]

pub mod engine;
pub mod icrc_mask;
pub mod input;
pub mod packet_parse;
pub mod ring_element;

/// A target: its name, which is that of its module, its program and its folder in `corpus/`, and
/// its body.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("engine", engine::run),
    ("icrc_mask", icrc_mask::run),
    ("packet_parse", packet_parse::run),
    ("ring_element", ring_element::run),
];

/// The target of that name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.0 == name)
}
