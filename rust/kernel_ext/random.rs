// SPDX-License-Identifier: GPL-2.0

//! Random numbers.
//!
//! C header: [`include/linux/random.h`](srctree/include/linux/random.h)

use crate::bindings;

/// A number that nobody can foretell.
///
/// Context: any.
pub fn random_u32() -> u32 {
    // SAFETY: The function has no requirements.
    unsafe { bindings::get_random_u32() }
}
