// SPDX-License-Identifier: GPL-2.0

//! Reads the files of packets with known ICRCs.

use serde_json::Value;
use std::{
    env, fs,
    path::{
        Path,
        PathBuf, //
    },
};

/// A packet with its ICRC.
pub(crate) struct Vector {
    /// What it is.
    pub(crate) name: String,
    /// From the IP header to the ICRC.
    pub(crate) packet: Vec<u8>,
    /// The right ICRC, as on the wire.
    pub(crate) icrc: [u8; 4],
}

/// The bytes of a string of hexadecimal digits.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    assert_eq!(digits.len() % 2, 0);
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// The packets of a file of which those without an ICRC under the key `icrc` are left out.
fn read(path: &Path, icrc: &str) -> Vec<Vector> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let entries: Vec<Value> = serde_json::from_str(&text).unwrap();
    let vector = |entry: &Value| {
        Some(Vector {
            name: entry["name"].as_str().unwrap().to_owned(),
            packet: hex(entry["packet"].as_str().unwrap()),
            icrc: hex(entry[icrc].as_str()?).try_into().unwrap(),
        })
    };
    entries.iter().filter_map(vector).collect()
}

/// The packets that another implementation generated for this project.
pub(crate) fn generated() -> Vec<Vector> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/generated.json");
    let vectors = read(&file, "icrc");
    assert_eq!(vectors.len(), 89);
    vectors
}

/// The packets of a file that is not part of the project; nothing, and a word about it, if the file
/// is not there. It is in the directory of the environment variable `OXE_VECTORS`, or else in
/// `../shared/vectors` seen from the top of the checkout.
pub(crate) fn others(file: &str, icrc: &str) -> Option<Vec<Vector>> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let directory = env::var_os("OXE_VECTORS").map_or_else(beside, PathBuf::from);
    let path = directory.join(file);
    if !path.is_file() {
        println!("skipped: there is no {}", path.display());
        return None;
    }
    Some(read(&path, icrc))
}
