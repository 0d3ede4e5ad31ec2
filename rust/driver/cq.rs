// SPDX-License-Identifier: GPL-2.0

//! Completion queues.
//!
//! Lock: [`Cq::inner`], a leaf. Completions are added under the lock of a queue pair's engine; the
//! notice goes out after that is released ([`Notices`]).

use crate::{
    limits,
    link::Link,
    ring::Outbox, //
};
use kernel::{
    prelude::*,
    sync::Arc, //
};
use kernel_ext::{
    rdma::{
        CqInit,
        CqNotifier,
        User, //
    },
    sync::{
        new_spinlock_bh,
        SpinLockBh, //
    }, //
};
use oxe_uabi::{
    cqe::Cqe,
    responses::CompletionQueue, //
};

/// What a process wants to be told of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Armed {
    No,
    Solicited,
    Any,
}

struct Inner {
    ring: Outbox,
    armed: Armed,
    /// It ran over: completions are lost.
    overrun: bool,
}

/// A completion queue.
#[pin_data]
pub(crate) struct Cq {
    _place: Place,
    notifier: Arc<CqNotifier>,
    #[pin]
    inner: SpinLockBh<Inner>,
}

/// What adding a completion calls for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Added {
    /// Nothing.
    Quietly,
    /// The queue's user is to be told.
    Notify,
    /// There was no room: the queue and who uses it have failed.
    Overrun,
    /// As above, and the queue's user was told before.
    Lost,
}

impl Cq {
    /// Makes one for a process.
    pub(crate) fn new(link: &Arc<Link>, init: CqInit<'_>) -> Result<(Arc<Self>, u32)> {
        let user = init.user.ok_or(EOPNOTSUPP)?;
        if init.entries == 0 || init.entries > limits::MAX_CQE {
            return Err(EINVAL);
        }
        Self::for_user(Place::take(link)?, &user, init.entries, init.notifier)
    }

    fn for_user(
        place: Place,
        user: &User<'_>,
        entries: u32,
        notifier: Arc<CqNotifier>,
    ) -> Result<(Arc<Self>, u32)> {
        let ring = Outbox::new(user, entries, Cqe::BYTES as u32)?;
        let response = CompletionQueue { ring: ring.info() };
        user.respond(&response.to_bytes())?;
        let capacity = ring.capacity();
        let cq = Arc::pin_init(
            pin_init!(Self {
                _place: place,
                notifier,
                inner <- new_spinlock_bh!(
                    Inner {
                        ring,
                        armed: Armed::No,
                        overrun: false,
                    },
                    "oxe::Cq::inner"
                ),
            }),
            GFP_KERNEL,
        )?;
        Ok((cq, capacity))
    }

    /// Adds a completion. Context: process or softirq.
    pub(crate) fn add(&self, cqe: &Cqe, solicited: bool) -> Added {
        let mut inner = self.inner.lock();
        if inner.overrun {
            return Added::Lost;
        }
        if !inner.ring.push(&cqe.to_bytes()) {
            inner.overrun = true;
            return Added::Overrun;
        }
        let wanted = match inner.armed {
            Armed::No => false,
            Armed::Solicited => solicited,
            Armed::Any => true,
        };
        if wanted {
            inner.armed = Armed::No;
            Added::Notify
        } else {
            Added::Quietly
        }
    }

    /// Asks for a notice of the next completion. True if there are some already.
    pub(crate) fn arm(&self, solicited_only: bool) -> bool {
        let mut inner = self.inner.lock();
        if !solicited_only {
            inner.armed = Armed::Any;
        } else if inner.armed == Armed::No {
            inner.armed = Armed::Solicited;
        }
        !inner.ring.is_empty()
    }

    /// The queue is destroyed. Context: process.
    pub(crate) fn destroy(&self) {
        let mapping = self.inner.lock().ring.take_mapping();
        drop(mapping);
    }

    /// Tells the queue's user. Context: process or softirq, no lock held, not inside a verb.
    pub(crate) fn notify(&self) {
        self.notifier.notify();
    }

    /// Tells the queue's user that completions were lost. Context: as [`Cq::notify`].
    pub(crate) fn overrun(&self) {
        self.notifier.error();
    }
}

/// One of the completion queues that a device may have.
struct Place(Arc<Link>);

impl Place {
    fn take(link: &Arc<Link>) -> Result<Self> {
        link.objects.cqs.take()?;
        Ok(Self(link.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.objects.cqs.give_back();
    }
}
