// SPDX-License-Identifier: GPL-2.0

//! Routes that are kept, and given up before their namespace ends.
//!
//! A route is tied to its namespace: IPv6 counts its routes there, and takes the counter away when
//! the namespace ends. A reference to the namespace would keep the counter, but also the namespace
//! from ending, for as long as somebody has used a route and is idle. So a route is kept in the
//! cache alone and used with the lock of its place held, and all caches of a namespace are closed
//! when it begins to end (`pernet_operations.pre_exit`): before the `exit` of any subsystem.
//!
//! Lock order: [`Registry::caches`], then the places of a cache. A place's lock is held while a
//! route is looked up and while a packet is sent by it.

use super::{
    ExitHandler,
    ExitHook,
    Flow,
    NetId,
    NetRef,
    Route, //
};
use crate::sync::{
    new_spinlock_bh,
    Published,
    Slot,
    SpinLockBh,
    SpinLockBhGuard, //
};
use core::{
    hint::unreachable_unchecked,
    ops::Deref, //
};
use kernel::{
    prelude::*,
    sync::{
        new_mutex,
        Arc,
        Mutex, //
    }, //
};

/// Places of a cache.
const PLACES: usize = 512;

/// All caches that are open.
static REGISTRY: Slot<Registry> = Slot::new();

#[pin_data]
struct Registry {
    #[pin]
    caches: Mutex<Caches>,
}

/// # Invariants
///
/// Caches are in `list` from when they are made to when they are closed; while there is one, a hook
/// closes it when its namespace begins to end.
struct Caches {
    /// Whether there is a hook.
    open: bool,
    list: KVec<Arc<Places>>,
}

impl Caches {
    /// Closes the chosen ones.
    fn close(&mut self, chosen: impl Fn(&Places) -> bool) {
        while let Some(index) = self.list.iter().position(|places| chosen(places)) {
            let Ok(places) = self.list.remove(index) else {
                break;
            };
            places.close();
        }
    }
}

/// Sees to it that caches are closed in time: without it there can be none. One for each module.
pub struct RouteCaches {
    registry: Arc<Registry>,
    _hook: Pin<KBox<ExitHook<CloseCaches>>>,
    _published: Published<Registry>,
}

impl RouteCaches {
    /// Context: process.
    ///
    /// # Errors
    ///
    /// `EBUSY` if there is one; `ENOMEM`.
    pub fn new() -> Result<Self> {
        let registry = Arc::pin_init(
            pin_init!(Registry {
                caches <- new_mutex!(
                    Caches { open: false, list: KVec::new() },
                    "oxe::RouteCaches::caches"
                ),
            }),
            GFP_KERNEL,
        )?;
        let published = REGISTRY.publish(registry.clone())?;
        let hook = KBox::pin_init(ExitHook::new(), GFP_KERNEL)?;
        registry.caches.lock().open = true;
        Ok(Self {
            registry,
            _hook: hook,
            _published: published,
        })
    }
}

impl Drop for RouteCaches {
    fn drop(&mut self) {
        let mut caches = self.registry.caches.lock();
        caches.open = false;
        caches.close(|_| true);
    }
}

/// The hook.
struct CloseCaches;

impl ExitHandler for CloseCaches {
    fn begin(net: NetId) {
        if let Some(registry) = REGISTRY.get() {
            registry.caches.lock().close(|places| places.net == net);
        }
    }

    fn exit(_net: NetId) {}
}

/// Where a route is kept.
#[derive(Default)]
struct Place {
    /// Nothing is kept here any more.
    closed: bool,
    /// Whose route it is.
    key: u64,
    route: Option<Route>,
}

/// # Invariants
///
/// No `exit` of a subsystem of `net` has been called while a place is not closed. What is closed
/// has no route, and stays so.
#[pin_data]
struct Places {
    net: NetId,
    #[pin]
    places: [SpinLockBh<Place>; PLACES],
}

impl Places {
    fn close(&self) {
        for place in &self.places {
            let mut place = place.lock();
            place.closed = true;
            place.route = None;
        }
    }
}

/// Routes of a namespace, each under a key of its user's choice. A route has one place that it can
/// be in, and gives way to the next one there: keys that are numbered share the places best.
pub struct RouteCache(Arc<Places>);

impl RouteCache {
    /// A cache for routes of `net`. Context: process, may sleep.
    ///
    /// # Errors
    ///
    /// `ENODEV` if there are no [`RouteCaches`]; `ENOMEM`.
    pub fn new(net: &NetRef) -> Result<Self> {
        let registry = REGISTRY.get().ok_or(ENODEV)?;
        // INVARIANT: `net` has not begun to end: there is a reference.
        let init = pin_init!(Places {
            net: net.id(),
            places <- pin_init::pin_init_array_from_fn(|_| new_spinlock_bh!(
                Place::default(),
                "oxe::RouteCache::place"
            )),
        });
        let places = Arc::pin_init(init, GFP_KERNEL)?;
        let mut caches = registry.caches.lock();
        if !caches.open {
            return Err(ENODEV);
        }
        // INVARIANT: There is a hook. It has not been called for `net`.
        caches.list.push(places.clone(), GFP_KERNEL)?;
        Ok(Self(places))
    }

    /// A route for `flow` that is valid now: the one that is kept under `key` or, if there is none
    /// any more, that which leads out of the interface that `oif` gives. One key stands for one
    /// flow.
    ///
    /// A spinlock is held as long as the result lives, and around `oif`.
    ///
    /// Context: process or softirq; does not sleep.
    ///
    /// # Errors
    ///
    /// `ENODEV` if the cache is closed; those of `oif`; `ENETUNREACH`, `EHOSTUNREACH` and others
    /// that IP gives; `EINVAL` for a source that is none; `EAFNOSUPPORT` for IPv6 where the kernel
    /// runs without; `ENOMEM`.
    pub fn get(
        &self,
        key: u64,
        flow: &Flow,
        oif: impl FnOnce() -> Result<usize>,
    ) -> Result<CachedRoute<'_>> {
        let place = self.0.places.get(key as usize % PLACES).ok_or(EINVAL)?;
        let mut place = place.lock();
        if place.closed {
            return Err(ENODEV);
        }
        let known = place.key == key && place.route.as_ref().is_some_and(Route::is_valid);
        if !known {
            place.route = None;
            // SAFETY: No `exit` has been called, by the type invariant. Before one is, the place is
            // closed, which takes the lock and drops the route; nobody else takes it out.
            let route = unsafe { Route::look_up(self.0.net, oif()?, flow)? };
            place.key = key;
            place.route = Some(route);
        }
        // INVARIANT: There is one now.
        Ok(CachedRoute(place))
    }

    /// Drops all routes; there will be none any more, once this is back. Any number of times.
    ///
    /// Context: process, may sleep.
    pub fn close(&self) {
        let of_this = |places: &Places| core::ptr::eq(places, &*self.0);
        if let Some(registry) = REGISTRY.get() {
            registry.caches.lock().close(of_this);
        }
    }
}

impl Drop for RouteCache {
    fn drop(&mut self) {
        self.close();
    }
}

/// A route in its place, which is locked. Context of the drop: as of [`RouteCache::get`].
///
/// # Invariants
///
/// The place has a route.
pub struct CachedRoute<'a>(SpinLockBhGuard<'a, Place>);

impl Deref for CachedRoute<'_> {
    type Target = Route;

    fn deref(&self) -> &Route {
        match &self.0.route {
            Some(route) => route,
            // SAFETY: By the type invariant; only who has the lock could take it out.
            None => unsafe { unreachable_unchecked() },
        }
    }
}
