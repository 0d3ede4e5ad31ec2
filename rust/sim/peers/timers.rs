// SPDX-License-Identifier: GPL-2.0

//! Times that a peer computes from codes.

use crate::events::{
    Nanos,
    MICROSECOND, //
};

/// Tens of microseconds of each code of a receiver that is not ready, but for code 0.
const RNR: [u64; 31] = [
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048,
    3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
];

/// How long a receiver that is not ready asks to wait.
pub(super) fn rnr(code: u8) -> Nanos {
    let tens = match code & 31 {
        0 => 65536,
        code => RNR[usize::from(code) - 1],
    };
    tens * 10 * MICROSECOND
}

/// How long to wait for an acknowledgement; none if for ever.
pub(super) fn acknowledgement(code: u8) -> Option<Nanos> {
    match code & 31 {
        0 => None,
        code => Some(4096 << code),
    }
}

/// When a timer of ticks fires that is set now for a while: at least one tick is counted.
pub(super) fn fires(now: Nanos, wait: Nanos, tick: Nanos) -> Nanos {
    (now / tick + (wait / tick).max(1)) * tick
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        assert_eq!(rnr(0), 655_360 * MICROSECOND);
        assert_eq!(rnr(1), 10 * MICROSECOND);
        assert_eq!(rnr(31), 491_520 * MICROSECOND);
        assert_eq!(acknowledgement(0), None);
        assert_eq!(acknowledgement(14), Some(67_108_864));
    }

    #[test]
    fn ticks() {
        assert_eq!(fires(10, 5, 4), 12);
        assert_eq!(fires(10, 8, 4), 16);
        assert_eq!(fires(10, 1, 4), 12);
        assert_eq!(fires(10, 7, 1), 17);
    }
}
