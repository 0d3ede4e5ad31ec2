// SPDX-License-Identifier: GPL-2.0

//! CRC-32 of Ethernet, by the kernel's routine for this processor.
//!
//! C header: [`include/linux/crc32.h`](srctree/include/linux/crc32.h)

use crate::bindings;

/// Takes the CRC register on over `bytes`: the kernel's `crc32_le`, reflected polynomial
/// `0xedb88320`, not inverted at the start or the end.
///
/// Context: any.
pub fn crc32_le(register: u32, bytes: &[u8]) -> u32 {
    // SAFETY: The bytes are valid for reading.
    unsafe { bindings::crc32_le(register, bytes.as_ptr().cast(), bytes.len()) }
}
