// SPDX-License-Identifier: GPL-2.0

//! Limits on the number of objects.

use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    }, //
};

/// A number of objects and their limit.
pub(crate) struct Quota {
    used: Atomic<u32>,
    max: u32,
}

impl Quota {
    /// Nothing used of `max`.
    pub(crate) fn new(max: u32) -> Self {
        Self {
            used: Atomic::new(0),
            max,
        }
    }

    /// Takes one. Context: any.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if all are taken.
    pub(crate) fn take(&self) -> Result {
        let mut used = self.used.load(Relaxed);
        loop {
            if used >= self.max {
                return Err(ENOMEM);
            }
            match self.used.cmpxchg(used, used.wrapping_add(1), Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => used = now,
            }
        }
    }

    /// Gives one back that was taken. Context: any.
    pub(crate) fn give_back(&self) {
        self.used.fetch_sub(1, Relaxed);
    }
}
