// SPDX-License-Identifier: GPL-2.0

//! Prints the ICRC of packets in hex: an oracle for other implementations and for captures.

#[path = "common/hex.rs"]
mod hex;

use oxe_proto::wire::{
    crc32::SoftCrc32,
    icrc::Check, //
};
use std::{
    io::{
        self,
        BufRead,
        Write, //
    },
    process::ExitCode, //
};

const HELP: &str = "\
usage: icrc < PACKETS

Prints the ICRC that each RoCEv2 packet should have, in hex, as on the wire.
A packet is a line of hex from the IP header to the ICRC, whose four bytes have
to be there and may be anything. A line that is no such packet yields the line
\"error\", the reason on stderr, and exit status 1 at the end.
";

fn answer(line: &str) -> Result<String, String> {
    let bytes = hex::parse(line)?;
    match Check::of_packet::<SoftCrc32>(&bytes) {
        Ok(check) => Ok(hex::of(&check.computed)),
        Err(reason) => Err(format!("no RoCEv2 packet: {reason:?}")),
    }
}

fn run() -> io::Result<ExitCode> {
    let mut status = ExitCode::SUCCESS;
    let mut out = io::stdout().lock();
    for (number, line) in (1..).zip(io::stdin().lock().lines()) {
        match answer(&line?) {
            Ok(icrc) => writeln!(out, "{icrc}")?,
            Err(reason) => {
                writeln!(out, "error")?;
                eprintln!("icrc: line {number}: {reason}");
                status = ExitCode::FAILURE;
            }
        }
    }
    Ok(status)
}

fn main() -> ExitCode {
    if let Some(argument) = std::env::args().nth(1) {
        if argument == "--help" || argument == "-h" {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        eprint!("{HELP}");
        return ExitCode::from(2);
    }
    run().unwrap_or_else(|error| {
        eprintln!("icrc: {error}");
        ExitCode::FAILURE
    })
}
