// SPDX-License-Identifier: GPL-2.0

//! Completion queues.
//!
//! Lock: [`Cq::inner`], a leaf, taken with interrupts off: the kernel's users poll and arm in any
//! context. Completions are added under the lock of a queue pair's engine; the notice goes out
//! after that is released ([`Notices`]).

mod private;

pub(crate) use self::private::Origin;

use self::private::Private;

use crate::{
    limits,
    link::Link,
    ring::Outbox, //
};
use kernel::{
    prelude::*,
    sync::{
        new_spinlock_irq,
        Arc,
        SpinLockIrq, //
    }, //
};
use kernel_ext::rdma::{
    Completions,
    CqInit,
    CqNotifier,
    QpReference,
    User, //
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

/// Where completions wait.
enum Ring {
    /// In memory of a process.
    Shared(Outbox),
    /// Of the kernel's.
    Private(Private),
}

struct Inner {
    ring: Ring,
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
    inner: SpinLockIrq<Inner>,
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
    /// Makes one, for a process or for the kernel. Context: process.
    pub(crate) fn new(link: &Arc<Link>, init: CqInit<'_>) -> Result<(Arc<Self>, u32)> {
        if init.entries == 0 || init.entries > limits::MAX_CQE {
            return Err(EINVAL);
        }
        let place = Place::take(link)?;
        match init.user {
            Some(user) => Self::for_user(place, &user, init.entries, init.notifier),
            None => {
                // At least one more than was asked for, as other devices have: the drains of the
                // queue pairs complete as well.
                let entries = init.entries.saturating_add(1).next_power_of_two();
                let ring = Ring::Private(Private::new(entries)?);
                Ok((Self::make(place, ring, init.notifier)?, entries))
            }
        }
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
        let cq = Self::make(place, Ring::Shared(ring), notifier)?;
        Ok((cq, capacity))
    }

    fn make(place: Place, ring: Ring, notifier: Arc<CqNotifier>) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                _place: place,
                notifier,
                inner <- new_spinlock_irq!(
                    Inner {
                        ring,
                        armed: Armed::No,
                        overrun: false,
                    },
                    "oxe::Cq::inner"
                ),
            }),
            GFP_KERNEL_ACCOUNT,
        )
    }

    /// Adds a completion; one without an origin is for a process. Context: any.
    pub(crate) fn add(&self, cqe: &Cqe, origin: Option<Origin>, solicited: bool) -> Added {
        let mut inner = self.inner.lock();
        if inner.overrun {
            return Added::Lost;
        }
        let added = match (&mut inner.ring, origin) {
            (Ring::Shared(ring), None) => ring.push(&cqe.to_bytes()),
            (Ring::Private(ring), Some(origin)) => ring.push(cqe, origin),
            // ib_core gives neither the queues of the other.
            _ => false,
        };
        if !added {
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

    /// Asks for a notice of the next completion. True if there are some already. Context: any.
    pub(crate) fn arm(&self, solicited_only: bool) -> bool {
        let mut inner = self.inner.lock();
        if !solicited_only {
            inner.armed = Armed::Any;
        } else if inner.armed == Armed::No {
            inner.armed = Armed::Solicited;
        }
        match &inner.ring {
            Ring::Shared(ring) => !ring.is_empty(),
            Ring::Private(ring) => !ring.is_empty(),
        }
    }

    /// Takes completions out of a queue of the kernel. Context: any.
    pub(crate) fn poll(&self, to: &mut Completions<'_>) -> Result {
        match &mut self.inner.lock().ring {
            Ring::Shared(_) => Err(EINVAL),
            Ring::Private(ring) => {
                ring.poll(to);
                Ok(())
            }
        }
    }

    /// A queue pair of the kernel goes: its completions do as well. Context: any.
    pub(crate) fn forget(&self, qp: QpReference) {
        if let Ring::Private(ring) = &mut self.inner.lock().ring {
            ring.forget(qp);
        }
    }

    /// The queue is destroyed. Context: process.
    pub(crate) fn destroy(&self) {
        let mapping = match &mut self.inner.lock().ring {
            Ring::Shared(ring) => ring.take_mapping(),
            Ring::Private(_) => None,
        };
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
