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
        self.take_some(1)
    }

    /// Takes `some`, or none. Context: any.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if there are not so many left.
    pub(crate) fn take_some(&self, some: u32) -> Result {
        let mut used = self.used.load(Relaxed);
        loop {
            let Some(then) = used.checked_add(some).filter(|then| *then <= self.max) else {
                return Err(ENOMEM);
            };
            match self.used.cmpxchg(used, then, Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => used = now,
            }
        }
    }

    /// Gives one back that was taken. Context: any.
    pub(crate) fn give_back(&self) {
        self.give_back_some(1);
    }

    /// Gives `some` back that were taken. Context: any.
    pub(crate) fn give_back_some(&self, some: u32) {
        self.used.fetch_sub(some, Relaxed);
    }
}
