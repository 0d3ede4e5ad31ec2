// SPDX-License-Identifier: GPL-2.0

//! How many receive work requests an acknowledgement says there are (InfiniBand Architecture,
//! clause 9.7.7.2).

/// The code of a receiver that does not count, as one with a shared receive queue.
pub const UNLIMITED: u8 = 31;

/// Receive work requests of each code but [`UNLIMITED`].
const REQUESTS: [u16; 31] = [
    0, 1, 2, 3, 4, 6, 8, 12, //
    16, 24, 32, 48, 64, 96, 128, 192, //
    256, 384, 512, 768, 1024, 1536, 2048, 3072, //
    4096, 6144, 8192, 12288, 16384, 24576, 32768,
];

/// Receive work requests of a code, of which the lower five bits count; nothing for
/// [`UNLIMITED`].
#[inline]
pub fn credits(code: u8) -> Option<u32> {
    REQUESTS
        .get(usize::from(code & 0x1f))
        .map(|&requests| u32::from(requests))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_two_double() {
        for code in 0..30 {
            assert!(credits(code) < credits(code + 1), "{code}");
            assert_eq!(credits(code), credits(code | 0xe0));
        }
        for code in 4..29 {
            assert_eq!(credits(code).map(|n| n * 2), credits(code + 2), "{code}");
        }
        assert_eq!(credits(1), Some(1));
        assert_eq!(credits(30), Some(32768));
        assert_eq!(credits(UNLIMITED), None);
    }
}
