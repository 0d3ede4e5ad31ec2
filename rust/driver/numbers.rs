// SPDX-License-Identifier: GPL-2.0

//! Objects that are found by a number of ours: queue pairs, memory regions, address handles.

use core::ops::RangeInclusive;
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        rcu,
        Arc,
        ArcBorrow, //
    }, //
};
use kernel_ext::sync::{
    IdTable,
    Unlinked, //
};

/// Objects by number. A number is given out again as late as possible, so that what still names an
/// old object does not find a new one.
#[pin_data]
pub(crate) struct Numbers<T: Send + Sync> {
    first: u32,
    count: u32,
    /// Where to look for a free number.
    next: Atomic<u32>,
    #[pin]
    table: IdTable<T>,
}

impl<T: Send + Sync> Numbers<T> {
    /// None given out of `range`; they are from its start on.
    pub(crate) fn new(range: RangeInclusive<u32>) -> impl PinInit<Self> {
        Self::from(0, range)
    }

    /// As `new`, from the one on that is `ahead` of the start, around the end.
    pub(crate) fn from(ahead: u32, range: RangeInclusive<u32>) -> impl PinInit<Self> {
        let count = range.end().wrapping_sub(*range.start()).wrapping_add(1);
        pin_init!(Self {
            first: *range.start(),
            count,
            next: Atomic::new(ahead),
            table <- IdTable::new(),
        })
    }

    /// A number for the object that `make` makes of it.
    ///
    /// Context: process, may sleep.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if all are taken, `ENOMEM`, and those of `make`.
    pub(crate) fn insert_with(&self, make: impl FnOnce(u32) -> Result<Arc<T>>) -> Result<Arc<T>> {
        // A number is free if nothing stands there now; others look for one meanwhile.
        let mut make = Some(make);
        for _ in 0..self.count {
            let step = self.next.fetch_add(1, Relaxed) % self.count.max(1);
            let number = self.first.wrapping_add(step);
            if self.table.get(number as usize, &rcu::read_lock()).is_some() {
                continue;
            }
            let Some(make) = make.take() else {
                break;
            };
            let object = make(number)?;
            return match self.table.insert(number as usize, object.clone()) {
                Ok(()) => Ok(object),
                // Somebody else was quicker; `count` numbers later that does not happen.
                Err(err) => Err(err),
            };
        }
        Err(ENOSPC)
    }

    /// The object of a number. Context: any.
    #[inline]
    pub(crate) fn get<'a>(&'a self, number: u32, rcu: &'a rcu::Guard) -> Option<ArcBorrow<'a, T>> {
        self.table.get(number as usize, rcu)
    }

    /// Takes an object out; it is dropped a grace period later. Context: process.
    pub(crate) fn remove(&self, number: u32, object: &T) -> Option<Unlinked<T>> {
        self.table.remove(number as usize, object)
    }
}
