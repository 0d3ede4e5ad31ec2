// SPDX-License-Identifier: GPL-2.0

//! Memory keys: the rules one by one, and all of them against a model.

mod common;
mod fast;
mod model;
mod random;
mod regions;
mod tables;
mod window_use;
mod windows;
