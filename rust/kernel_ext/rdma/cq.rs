// SPDX-License-Identifier: GPL-2.0

//! Completion queues.

use super::{
    object::Object,
    upcall::Upcall,
    user::User,
    Device,
    Verbs, //
};
use crate::bindings;
use core::ptr::NonNull;
use kernel::{
    error::{
        code::EOPNOTSUPP,
        from_result, //
    },
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Full, //
        },
        Arc, //
    }, //
};

/// What a completion queue is to be.
pub struct CqInit<'a> {
    /// The fewest entries that it must have room for; not 0.
    pub entries: u32,
    /// The completion vector, less than the device has.
    pub vector: u32,
    /// How to tell the queue's user of completions and errors.
    pub notifier: Arc<CqNotifier>,
    /// The process that it is for; `None` for the kernel.
    pub user: Option<User<'a>>,
}

/// The driver's part of a completion queue, and what ours is.
pub(super) struct Cq<D> {
    data: D,
    notifier: Arc<CqNotifier>,
}

impl<D> Cq<D> {
    /// The driver's part of the queue behind `cq`.
    ///
    /// # Safety
    ///
    /// `cq` must be a queue of ours that is not destroyed during `'a`.
    pub(super) unsafe fn data<'a>(cq: *mut bindings::ib_cq) -> &'a D
    where
        D: 'a,
    {
        // SAFETY: By the contract.
        &unsafe { Object::<_, Self>::data(cq) }.data
    }
}

/// Tells the user of a completion queue what happens to it.
///
/// It may be kept for any time; once the queue is destroyed, and before its creation has succeeded,
/// nobody is told. No lock may be held that a verb of the driver takes: the handler may call verbs.
/// Nor may it be called from within a verb on the same thread (see the kernel's
/// `Documentation/infiniband/core_locking.rst`), but for the doorbell.
#[pin_data]
pub struct CqNotifier {
    #[pin]
    upcall: Upcall<bindings::ib_cq>,
    /// Calls of [`CqNotifier::notify`] that no call of the handler follows yet.
    pending: Atomic<i32>,
}

impl CqNotifier {
    fn new(cq: NonNull<bindings::ib_cq>) -> Result<Arc<Self>> {
        let init = pin_init!(Self {
            upcall <- Upcall::new(cq),
            pending: Atomic::new(0),
        });
        Arc::pin_init(init, GFP_KERNEL_ACCOUNT)
    }

    /// There are completions: calls the handler after this call has begun, once for all that come
    /// together. One handler at a time runs for a queue: if one does, it is run again by whoever
    /// runs it.
    ///
    /// Context: process or softirq.
    pub fn notify(&self) {
        let Some(cq) = self.upcall.enter() else {
            return;
        };
        let mut seen = 1;
        if self.pending.fetch_add(seen, Full) != 0 {
            return;
        }
        loop {
            // SAFETY: Valid while `cq` lives. The user of the queue sets the handler before it arms
            // the queue.
            let (handler, context) =
                unsafe { ((*cq.as_ptr()).comp_handler, (*cq.as_ptr()).cq_context) };
            if let Some(handler) = handler {
                // SAFETY: The handler wants the queue that it is of, and the queue's context.
                unsafe { handler(cq.as_ptr(), context) };
            }
            let pending = self.pending.fetch_sub(seen, Full);
            if pending == seen {
                return;
            }
            seen = pending.wrapping_sub(seen);
        }
    }

    /// The queue is broken, by an overflow for instance: raises `IB_EVENT_CQ_ERR`.
    ///
    /// Context: process or softirq.
    pub fn error(&self) {
        let Some(cq) = self.upcall.enter() else {
            return;
        };
        // SAFETY: Valid while `cq` lives; both are set before the driver sees the queue.
        let (handler, context) =
            unsafe { ((*cq.as_ptr()).event_handler, (*cq.as_ptr()).cq_context) };
        let mut event = bindings::ib_event {
            // SAFETY: Valid while `cq` lives.
            device: unsafe { (*cq.as_ptr()).device },
            element: bindings::ib_event__bindgen_ty_1 { cq: cq.as_ptr() },
            event: bindings::ib_event_type_IB_EVENT_CQ_ERR,
        };
        if let Some(handler) = handler {
            // SAFETY: The handler wants an event of a queue, and the queue's context.
            unsafe { handler(&mut event, context) };
        }
    }
}

/// `ib_device_ops.create_cq` and, for processes, `create_user_cq`.
pub(super) unsafe extern "C" fn create_cq<T: Verbs>(
    cq: *mut bindings::ib_cq,
    attr: *const bindings::ib_cq_init_attr,
    attrs: *mut bindings::uverbs_attr_bundle,
) -> c_int {
    from_result(|| {
        let ptr = NonNull::new(cq).ok_or(EINVAL)?;
        // SAFETY: ib_core passes what the queue is to be.
        let attr = unsafe { &*attr };
        if attr.flags != 0 {
            return Err(EOPNOTSUPP);
        }
        // SAFETY: From ib_core, as an argument of this operation; null for the kernel.
        let udata = unsafe { bindings::oxe_helper_uverbs_udata(attrs) };
        // SAFETY: ib_core sets the device of an object before it creates it.
        let dev = unsafe { Device::<T>::from_raw((*cq).device) };
        let notifier = CqNotifier::new(ptr)?;
        let init = CqInit {
            entries: attr.cqe,
            vector: attr.comp_vector,
            notifier: notifier.clone(),
            // SAFETY: That of this operation; all user contexts of ours have a `Context`.
            user: unsafe { User::from_raw::<T::Ucontext>(udata)? },
        };
        let (data, entries) = T::create_cq(dev, init)?;
        let entries = c_int::try_from(entries).map_err(|_| EINVAL)?;
        // SAFETY: Being created; what it has room for is for the driver to say.
        unsafe { (*cq).cqe = entries };
        // SAFETY: The creation cannot fail any more, and `destroy_cq` closes it.
        unsafe { notifier.upcall.open() };
        // SAFETY: Being created, of the size that the operations table asks for.
        unsafe { Object::init(cq, Cq { data, notifier }) };
        Ok(0)
    })
}

/// `ib_device_ops.destroy_cq`.
pub(super) unsafe extern "C" fn destroy_cq<T: Verbs>(
    cq: *mut bindings::ib_cq,
    _udata: *mut bindings::ib_udata,
) -> c_int {
    // SAFETY: Created by `create_cq`, and dropped below.
    let object = unsafe { Object::<_, Cq<T::Cq>>::data(cq) };
    T::destroy_cq(&object.data);
    object.notifier.upcall.close();
    // SAFETY: ib_core destroys it once; no queue pair uses it.
    unsafe { Object::<_, Cq<T::Cq>>::drop(cq) };
    0
}

/// `ib_device_ops.req_notify_cq`.
pub(super) unsafe extern "C" fn req_notify_cq<T: Verbs>(
    cq: *mut bindings::ib_cq,
    flags: bindings::ib_cq_notify_flags,
) -> c_int {
    from_result(|| {
        // SAFETY: Created by `create_cq`; not destroyed during an operation on it.
        let data = unsafe { Cq::<T::Cq>::data(cq) };
        let solicited_only = flags & bindings::ib_cq_notify_flags_IB_CQ_SOLICITED_MASK
            == bindings::ib_cq_notify_flags_IB_CQ_SOLICITED;
        let report = flags & bindings::ib_cq_notify_flags_IB_CQ_REPORT_MISSED_EVENTS != 0;
        let missed = T::arm_cq(data, solicited_only, report)?;
        Ok(c_int::from(report && missed))
    })
}
