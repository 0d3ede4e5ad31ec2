// SPDX-License-Identifier: GPL-2.0

//! Timers of reference-counted objects, with the resolution of the hardware.
//!
//! The `kernel` crate's `HrTimer` gives out a handle whose drop waits for the callback; that can
//! neither be kept in the object (it owns the object) nor dropped under a lock which the callback
//! takes. Here, the timer owns its object for as long as it is armed, and nothing else.
//!
//! Lock order: the lock of a timer's state is taken inside of whatever the callers hold; inside of
//! it there are only locks of the kernel's timers.
//!
//! C header: [`include/linux/hrtimer.h`](srctree/include/linux/hrtimer.h)

use super::SpinLockBh;
use crate::bindings;
use core::ptr;
use kernel::{
    prelude::*,
    sync::{
        Arc,
        ArcBorrow, //
    },
    types::Opaque, //
};

/// The time in ns since some point in the past: monotonic, stands still while the system sleeps.
///
/// Context: any but NMI.
pub fn now() -> u64 {
    // SAFETY: May be called anywhere but in an NMI.
    let now = unsafe { bindings::ktime_get() };
    // The clock is not negative.
    u64::try_from(now).unwrap_or(0)
}

/// What a [`Timer`] calls.
pub trait TimerHandler: Send + Sync + 'static {
    /// The time has come.
    ///
    /// The last reference may be among what is dropped here: the drop of `Self` has to be one that
    /// a softirq may do, unless [`Timer::shut_down`] has been called before.
    ///
    /// Context: softirq.
    fn expired(this: Arc<Self>);
}

/// Calls [`TimerHandler::expired`] once for each time that it is armed, if it is not armed anew or
/// cancelled before.
///
/// It is meant to be a field of a `T` that is behind an `Arc`: an armed timer holds a reference to
/// it.
///
/// # Invariants
///
/// All changes to the C timer but its expiry are made with `state` locked. `state.target` is set
/// whenever the C timer is queued, and from its expiry until the callback has locked `state`.
#[repr(C)]
#[pin_data(PinnedDrop)]
pub struct Timer<T: TimerHandler> {
    /// First, so that a pointer to it is one to the whole.
    #[pin]
    timer: Opaque<bindings::hrtimer>,
    #[pin]
    state: SpinLockBh<State<T>>,
}

struct State<T: TimerHandler> {
    /// Who is to be called.
    target: Option<Arc<T>>,
    /// It shall not be called after all, but the timer could not be stopped.
    cancelled: bool,
    /// The timer is never armed again.
    shut_down: bool,
}

// Nothing in it is pinned.
impl<T: TimerHandler> Unpin for State<T> {}

// SAFETY: C timers are tied to no thread, and the rest is `Send`.
unsafe impl<T: TimerHandler> Send for Timer<T> {}
// SAFETY: C timers lock themselves, and the rest is `Sync`.
unsafe impl<T: TimerHandler> Sync for Timer<T> {}

impl<T: TimerHandler> Timer<T> {
    /// A timer that is not armed.
    pub fn new() -> impl PinInit<Self> {
        // INVARIANT: The timer is not queued, and nobody else has it.
        pin_init!(Self {
            timer <- Opaque::ffi_init(|timer| {
                // SAFETY: `timer` is valid for writing and stays where it is. The whole is pinned,
                // so the callback finds the state behind the C timer.
                unsafe {
                    bindings::hrtimer_setup(
                        timer,
                        Some(expired_callback::<T>),
                        bindings::CLOCK_MONOTONIC as c_int,
                        bindings::hrtimer_mode_HRTIMER_MODE_ABS_SOFT,
                    )
                }
            }),
            state <- crate::new_spinlock_bh!(
                State { target: None, cancelled: false, shut_down: false },
                "oxe::Timer::state",
            ),
        })
    }

    /// Has `target` called at the time `at`, in ns of [`now`], or at once if that has passed. What
    /// it was armed for before is forgotten; a call that has begun is not waited for.
    ///
    /// Context: process or softirq. Locks that `expired` takes may be held. If it was armed for
    /// another object before, the reference to that one is dropped.
    pub fn arm(&self, target: ArcBorrow<'_, T>, at: u64) {
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        let mut state = self.state.lock();
        if state.shut_down {
            return;
        }
        state.cancelled = false;
        let before = match &state.target {
            Some(armed) if ptr::eq(&**armed, &*target) => None,
            _ => state.target.replace(target.into()),
        };
        // INVARIANT: `state` is locked, and the target is set.
        //
        // SAFETY: The timer was initialised by `new` and is pinned. The drop of `self` dequeues it.
        unsafe {
            bindings::hrtimer_start_range_ns(
                self.timer.get(),
                at,
                0,
                bindings::hrtimer_mode_HRTIMER_MODE_ABS_SOFT,
            )
        };
        drop(state);
        drop(before);
    }

    /// Forgets what it was armed for. A call that has begun is not waited for.
    ///
    /// Context: process or softirq. Locks that `expired` takes may be held. The reference of the
    /// timer is dropped, mostly here; if the timer is just running, by the timer.
    pub fn cancel(&self) {
        let mut state = self.state.lock();
        if state.target.is_none() {
            return;
        }
        // SAFETY: The timer was initialised by `new`.
        let stopped = unsafe { bindings::hrtimer_try_to_cancel(self.timer.get()) };
        let target = if stopped < 0 {
            // The callback is running, before or after what it does with `state` locked; in the
            // latter case, the timer is queued anew.
            state.cancelled = true;
            None
        } else {
            // INVARIANT: Neither queued nor running.
            state.target.take()
        };
        drop(state);
        drop(target);
    }

    /// Cancels, waits for a call under way, and never arms again. The timer has no reference to its
    /// object any more, and none of its code runs.
    ///
    /// Context: process, without any lock that `expired` takes.
    pub fn shut_down(&self) {
        self.state.lock().shut_down = true;
        // SAFETY: The timer was initialised by `new`. Process context, by the contract.
        unsafe { bindings::hrtimer_cancel(self.timer.get()) };
        // INVARIANT: Neither queued nor running, and not queued again.
        let target = self.state.lock().target.take();
        drop(target);
    }

    /// Whether the C timer is queued. With `state` locked, that does not change while the callback
    /// runs.
    fn is_queued(&self) -> bool {
        // SAFETY: The timer was initialised by `new`.
        unsafe { bindings::oxe_helper_hrtimer_is_queued(self.timer.get()) }
    }
}

#[pinned_drop]
impl<T: TimerHandler> PinnedDrop for Timer<T> {
    fn drop(self: Pin<&mut Self>) {
        // Not set, by far the most often: an armed timer keeps its object.
        let armed = self.state.lock().target.is_some();
        if armed {
            // SAFETY: The timer was initialised by `new`. By the type invariant, nobody but this
            // waits for what may be running, and what has the target is not within `self`.
            unsafe { bindings::hrtimer_cancel(self.timer.get()) };
        }
    }
}

/// # Safety
///
/// Only as the function of a C timer inside of a pinned [`Timer<T>`].
unsafe extern "C" fn expired_callback<T: TimerHandler>(
    timer: *mut bindings::hrtimer,
) -> bindings::hrtimer_restart {
    // SAFETY: `timer` is the first member of a `Timer<T>`. By the type invariant, its target is set
    // until `state` is locked below, and the drop waits for the callback as long as it is.
    let timer = unsafe { &*timer.cast::<Timer<T>>() };
    let mut state = timer.state.lock();
    let target = if timer.is_queued() {
        // It was armed anew before we had the lock: that one counts.
        None
    } else {
        // INVARIANT: Not queued, and from here on the callback has locked `state`.
        state.target.take()
    };
    let wanted = !state.cancelled && !state.shut_down;
    drop(state);
    // The timer is not touched from here on: dropping the target may free it.
    if let Some(target) = target.filter(|_| wanted) {
        T::expired(target);
    }
    bindings::hrtimer_restart_HRTIMER_NORESTART
}
