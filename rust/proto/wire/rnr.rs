// SPDX-License-Identifier: GPL-2.0

//! How long a "receiver not ready" asks the requester to wait (InfiniBand Architecture, clause
//! 9.7.5.2.8).

use crate::types::Span;

/// Microseconds of each timer code.
const MICROSECONDS: [u32; 32] = [
    655_360, 10, 20, 30, 40, 60, 80, 120, //
    160, 240, 320, 480, 640, 960, 1_280, 1_920, //
    2_560, 3_840, 5_120, 7_680, 10_240, 15_360, 20_480, 30_720, //
    40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520,
];

/// The time of a timer code, of which the lower five bits count.
#[inline]
pub fn rnr_delay(code: u8) -> Span {
    let microseconds = MICROSECONDS.get(usize::from(code & 0x1f)).copied();
    Span::from_micros(u64::from(microseconds.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_zero_is_the_longest_and_the_others_ascend() {
        for code in 1..31 {
            assert!(rnr_delay(code) < rnr_delay(code + 1), "{code}");
            assert_eq!(rnr_delay(code), rnr_delay(code | 0xe0));
        }
        assert!(rnr_delay(31) < rnr_delay(0));
    }

    #[test]
    fn two_codes_double() {
        for code in 4..30 {
            assert_eq!(rnr_delay(code).times(2), rnr_delay(code + 2), "{code}");
        }
        assert_eq!(rnr_delay(30).times(2), rnr_delay(0));
        assert_eq!(rnr_delay(1).as_nanos(), 10_000);
    }
}
