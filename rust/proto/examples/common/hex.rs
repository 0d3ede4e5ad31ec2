// SPDX-License-Identifier: GPL-2.0

//! Packets as lines of hexadecimal digits.

/// The bytes of a line; blanks and colons between digits do not count.
pub(crate) fn parse(line: &str) -> Result<Vec<u8>, String> {
    let mut digits = Vec::new();
    for c in line.chars().filter(|c| !c.is_whitespace() && *c != ':') {
        let digit = c.to_digit(16).ok_or(format!("{c:?} is no hex digit"))?;
        digits.push(u8::try_from(digit).map_err(|e| e.to_string())?);
    }
    if digits.is_empty() {
        return Err("an empty line".to_owned());
    }
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err("an odd number of hex digits".to_owned());
    }
    Ok(pairs.map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// The hexadecimal digits of `bytes`.
pub(crate) fn of(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('?');
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    digits.map(digit).collect()
}
