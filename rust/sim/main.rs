// SPDX-License-Identifier: GPL-2.0

//! The simulator on the command line; `sim --help` says how.

use std::process::ExitCode;

fn main() -> ExitCode {
    oxe_sim::cli::main()
}
