// SPDX-License-Identifier: GPL-2.0

//! Takes packets through a hot path, for scripts/instructions to count what that takes:
//! `instructions PATH PACKETS`, or `instructions` to list the paths.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [name, packets] = &arguments[..] else {
        for path in oxe_bench::PATHS {
            println!("{path}");
        }
        return ExitCode::SUCCESS;
    };
    let path = oxe_bench::PATHS.iter().find(|path| path.name == name);
    match (path, packets.parse()) {
        (Some(path), Ok(packets)) => {
            (path.run)(packets);
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: instructions [PATH PACKETS]; without arguments it lists the paths");
            ExitCode::from(2)
        }
    }
}
