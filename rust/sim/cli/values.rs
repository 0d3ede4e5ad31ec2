// SPDX-License-Identifier: GPL-2.0

//! Values of options.

use crate::{
    events::{
        Nanos,
        MICROSECOND, //
    },
    rng::Chance,
    scenario::EndpointKind, //
};
use oxe_proto::types::Mtu;
use std::ops::Range;

/// A number of bytes, with K, M or G for powers of 1024.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| format!("{text:?} is no number of bytes"))
}

/// The length of a message.
pub(super) fn message(text: &str) -> Result<u32, String> {
    u32::try_from(bytes(text)?)
        .ok()
        .filter(|&length| length <= 1 << 31)
        .ok_or_else(|| format!("{text:?}: a message has at most 2 GiB"))
}

/// A probability, from 0 to 1 or with a percent sign.
pub(super) fn chance(text: &str) -> Result<Chance, String> {
    let fraction = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map(|number| number / 100.0),
        None => text.parse(),
    };
    fraction
        .ok()
        .and_then(Chance::from_fraction)
        .ok_or_else(|| format!("{text:?} is no probability such as 0.01 or 1%"))
}

/// Microseconds.
pub(super) fn micros(text: &str) -> Result<Nanos, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is no number of microseconds"))?;
    if (0.0..1e12).contains(&number) {
        Ok((number * MICROSECOND as f64) as Nanos)
    } else {
        Err(format!("{text:?} microseconds are out of range"))
    }
}

/// Gigabits per second, as bits.
pub(super) fn gigabits(text: &str) -> Result<u64, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is no number of gigabits"))?;
    if (0.001..=10_000.0).contains(&number) {
        Ok((number * 1e9) as u64)
    } else {
        Err(format!("{text:?} Gbit/s are out of range"))
    }
}

/// A path MTU.
pub(super) fn mtu(text: &str) -> Result<Mtu, String> {
    let found = Mtu::ALL
        .into_iter()
        .find(|mtu| mtu.bytes().to_string() == text);
    found.ok_or_else(|| format!("{text:?} is no MTU: 256, 512, 1024, 2048, 4096"))
}

/// A kind of endpoint.
pub(super) fn kind(text: &str) -> Result<EndpointKind, String> {
    let found = EndpointKind::ALL
        .into_iter()
        .find(|kind| kind.name() == text);
    found.ok_or_else(|| format!("{text:?} is no peer: oxe, gobackn, connectx"))
}

/// Two kinds of endpoints.
pub(super) fn kinds(text: &str) -> Result<[EndpointKind; 2], String> {
    match text.split_once(',') {
        Some((first, second)) => Ok([kind(first)?, kind(second)?]),
        None => Err(format!("{text:?} is not two peers such as oxe,gobackn")),
    }
}

/// A range of seeds.
pub(super) fn seeds(text: &str) -> Result<Range<u64>, String> {
    let parts = text.split_once("..");
    let range = parts.and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?));
    range.ok_or_else(|| format!("{text:?} is no range such as 0..1000"))
}

/// A number in a range.
pub(super) fn number(text: &str, range: Range<u64>) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        format!(
            "{text:?} is no number from {} to {}",
            range.start,
            range.end - 1
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        assert_eq!(bytes("64K"), Ok(65536));
        assert_eq!(bytes("3"), Ok(3));
        assert!(bytes("K").is_err() && bytes("").is_err() && bytes("1T").is_err());
        assert!(message("3G").is_err());
        assert_eq!(chance("1%"), chance("0.01"));
        assert!(chance("2").is_err() && chance("-1%").is_err() && chance("x").is_err());
        assert_eq!(micros("1.5"), Ok(1500));
        assert_eq!(gigabits("10"), Ok(10_000_000_000));
        assert!(gigabits("0").is_err());
        assert_eq!(seeds("3..9"), Ok(3..9));
        assert!(seeds("3").is_err());
        assert!(number("32", 0..32).is_err());
    }

    #[test]
    fn names() {
        assert_eq!(mtu("4096"), Ok(Mtu::B4096));
        assert!(mtu("4097").is_err());
        assert_eq!(
            kinds("oxe,connectx"),
            Ok([EndpointKind::Oxe, EndpointKind::ConnectX])
        );
        assert!(kinds("oxe").is_err() && kind("rxe").is_err());
    }
}
