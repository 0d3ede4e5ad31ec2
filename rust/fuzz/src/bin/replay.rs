// SPDX-License-Identifier: GPL-2.0

//! Runs a target on files: `replay TARGET FILE...`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some((_, run)) = oxe_fuzz::target(&name) else {
        let names: Vec<_> = oxe_fuzz::TARGETS.iter().map(|target| target.0).collect();
        eprintln!("no target '{name}'; there are: {}", names.join(" "));
        return ExitCode::from(2);
    };
    for path in arguments {
        let data = match std::fs::read(&path) {
            Ok(data) => data,
            Err(error) => {
                eprintln!("cannot read {path}: {error}");
                return ExitCode::from(2);
            }
        };
        println!("{path}: {} bytes", data.len());
        run(&data);
    }
    ExitCode::SUCCESS
}
