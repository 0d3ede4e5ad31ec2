// SPDX-License-Identifier: GPL-2.0

//! Prints the headers of RoCEv2 packets in words.

mod capture;
#[path = "../common/hex.rs"]
mod hex;
#[path = "../common/words.rs"]
mod words;

use std::{
    fs,
    io::{
        self,
        Read,
        Write, //
    },
    process::ExitCode, //
};

const HELP: &str = "\
usage: decode [FILE]

Prints the headers of RoCEv2 packets in words, a line each, and whether the ICRC
is good. FILE, or stdin, is one of

  a capture    pcap or pcapng, of Ethernet (with or without VLAN tags), raw IP
               or Linux \"any\" interfaces; other packets are counted and skipped;
               a line starts with the packet's number
  text         a packet a line, in hex from the IP header to the ICRC; a line
               that is no RoCEv2 packet yields the line \"error\", the reason on
               stderr, and exit status 1 at the end
";

fn input(file: Option<&str>) -> io::Result<Vec<u8>> {
    match file {
        Some(file) => fs::read(file),
        None => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes)?;
            Ok(bytes)
        }
    }
}

fn decode_text(text: &str, out: &mut impl Write) -> io::Result<ExitCode> {
    let mut status = ExitCode::SUCCESS;
    for (number, line) in (1..).zip(text.lines()) {
        match hex::parse(line).and_then(|bytes| words::describe(&bytes)) {
            Ok(description) => writeln!(out, "{description}")?,
            Err(reason) => {
                writeln!(out, "error")?;
                eprintln!("decode: line {number}: {reason}");
                status = ExitCode::FAILURE;
            }
        }
    }
    Ok(status)
}

fn decode_capture(input: &[u8], out: &mut impl Write) -> io::Result<ExitCode> {
    let (frames, early_end) = capture::frames(input);
    let mut skipped = 0;
    for (number, frame) in (1..).zip(&frames) {
        let description = frame.ip_packet().and_then(|packet| {
            let description = words::describe(&packet.bytes).ok()?;
            Some((description, packet.cut))
        });
        match description {
            None => skipped += 1,
            Some((description, false)) => writeln!(out, "{number}: {description}")?,
            Some((description, true)) => {
                // Zeros stand for what is missing.
                let headers = description
                    .rsplit_once("; ")
                    .map_or("", |(headers, _)| headers);
                writeln!(out, "{number}: {headers}; icrc unknown: cut off")?;
            }
        }
    }
    if skipped != 0 {
        writeln!(out, "{skipped} of {} packets are not RoCEv2", frames.len())?;
    }
    if let Some(reason) = early_end {
        eprintln!("decode: {reason}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn run(file: Option<&str>) -> io::Result<ExitCode> {
    let input = input(file)?;
    let mut out = io::stdout().lock();
    if capture::is_capture(&input) {
        return decode_capture(&input, &mut out);
    }
    match std::str::from_utf8(&input) {
        Ok(text) => decode_text(text, &mut out),
        Err(_) => Err(io::Error::other("neither a capture nor text")),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--help" | "-h"] => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        [] | ["-"] => None,
        [file] if !file.starts_with('-') => Some(file),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    run(file).unwrap_or_else(|error| {
        eprintln!(
            "decode: {}{error}",
            file.map_or(String::new(), |f| format!("{f}: "))
        );
        ExitCode::FAILURE
    })
}
