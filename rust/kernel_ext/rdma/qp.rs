// SPDX-License-Identifier: GPL-2.0

//! Queue pairs: making them, and telling their users what happens to them.

use super::{
    completion::QpReference,
    cq::Cq,
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
    sync::Arc, //
};

/// What a queue pair speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum QpType {
    /// Reliable connection.
    Rc = bindings::ib_qp_type_IB_QPT_RC,
    /// Unreliable connection.
    Uc = bindings::ib_qp_type_IB_QPT_UC,
    /// Unreliable datagram.
    Ud = bindings::ib_qp_type_IB_QPT_UD,
    /// The one for management, number 1: a datagram one of the kernel's.
    Gsi = bindings::ib_qp_type_IB_QPT_GSI,
}

impl QpType {
    fn from_raw(qp_type: bindings::ib_qp_type) -> Result<Self> {
        match qp_type {
            bindings::ib_qp_type_IB_QPT_RC => Ok(Self::Rc),
            bindings::ib_qp_type_IB_QPT_UC => Ok(Self::Uc),
            bindings::ib_qp_type_IB_QPT_UD => Ok(Self::Ud),
            bindings::ib_qp_type_IB_QPT_GSI => Ok(Self::Gsi),
            _ => Err(EOPNOTSUPP),
        }
    }
}

/// What a queue pair has room for (`struct ib_qp_cap`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QpCaps {
    /// Work requests in the send queue.
    pub max_send_wr: u32,
    /// Work requests in the receive queue.
    pub max_recv_wr: u32,
    /// Pieces of memory of a send.
    pub max_send_sge: u32,
    /// Pieces of memory of a receive.
    pub max_recv_sge: u32,
    /// Bytes in a send request itself.
    pub max_inline_data: u32,
}

impl QpCaps {
    pub(super) fn from_raw(cap: &bindings::ib_qp_cap) -> Self {
        Self {
            max_send_wr: cap.max_send_wr,
            max_recv_wr: cap.max_recv_wr,
            max_send_sge: cap.max_send_sge,
            max_recv_sge: cap.max_recv_sge,
            max_inline_data: cap.max_inline_data,
        }
    }

    pub(super) fn write_to(&self, cap: &mut bindings::ib_qp_cap) {
        cap.max_send_wr = self.max_send_wr;
        cap.max_recv_wr = self.max_recv_wr;
        cap.max_send_sge = self.max_send_sge;
        cap.max_recv_sge = self.max_recv_sge;
        cap.max_inline_data = self.max_inline_data;
    }
}

/// What a queue pair is to be. There is no shared receive queue.
pub struct QpInit<'a, T: Verbs> {
    /// What it speaks.
    pub qp_type: QpType,
    /// What it must have room for.
    pub caps: QpCaps,
    /// Where its sends complete. The queue outlives the pair.
    pub send_cq: &'a T::Cq,
    /// Where its receives complete. The queue outlives the pair.
    pub recv_cq: &'a T::Cq,
    /// Whether each send completes visibly, and not those that ask for it.
    pub all_signalled: bool,
    /// `enum ib_qp_create_flags`: what is not known has to be refused.
    pub create_flags: u32,
    /// How to tell the pair's user of events.
    pub events: Arc<QpEvents>,
    /// What completions call it; of use for the kernel's alone.
    pub reference: QpReference,
    /// The process that it is for; `None` for the kernel.
    pub user: Option<User<'a>>,
}

/// What a queue pair has become.
#[derive(Clone, Copy, Debug)]
pub struct QpCreated {
    /// Its number, on the wire as well.
    pub number: u32,
    /// What it has room for, which may be more than was asked for.
    pub caps: QpCaps,
}

/// What may happen to a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum QpEvent {
    /// It failed for no fault of its users.
    Fatal = bindings::ib_event_type_IB_EVENT_QP_FATAL,
    /// The peer sent an invalid request.
    RequestError = bindings::ib_event_type_IB_EVENT_QP_REQ_ERR,
    /// The peer asked for memory that it may not have.
    AccessError = bindings::ib_event_type_IB_EVENT_QP_ACCESS_ERR,
    /// A packet came before the pair was told that it is connected.
    CommunicationEstablished = bindings::ib_event_type_IB_EVENT_COMM_EST,
    /// The send queue stands still.
    SendQueueDrained = bindings::ib_event_type_IB_EVENT_SQ_DRAINED,
    /// It takes no more from its shared receive queue.
    LastWqeReached = bindings::ib_event_type_IB_EVENT_QP_LAST_WQE_REACHED,
}

/// Tells the user of a queue pair what happens to it.
///
/// It may be kept for any time; once the pair is destroyed, and before its creation has succeeded,
/// nobody is told. No lock may be held that a verb of the driver takes, nor may it be called from
/// within a verb on the same thread, but for the doorbell.
#[pin_data]
pub struct QpEvents {
    #[pin]
    upcall: Upcall<bindings::ib_qp>,
}

impl QpEvents {
    fn new(qp: NonNull<bindings::ib_qp>) -> Result<Arc<Self>> {
        let init = pin_init!(Self {
            upcall <- Upcall::new(qp),
        });
        Arc::pin_init(init, GFP_KERNEL_ACCOUNT)
    }

    /// Calls the pair's event handler.
    ///
    /// Context: process or softirq. The handlers of the kernel's own pairs expect a work item.
    pub fn raise(&self, event: QpEvent) {
        let Some(qp) = self.upcall.enter() else {
            return;
        };
        // SAFETY: Valid while `qp` lives; both are set before the driver sees the pair.
        let (handler, context) =
            unsafe { ((*qp.as_ptr()).event_handler, (*qp.as_ptr()).qp_context) };
        let mut event = bindings::ib_event {
            // SAFETY: Valid while `qp` lives.
            device: unsafe { (*qp.as_ptr()).device },
            element: bindings::ib_event__bindgen_ty_1 { qp: qp.as_ptr() },
            event: event as u32,
        };
        if let Some(handler) = handler {
            // SAFETY: The handler wants an event of a pair, and the pair's context.
            unsafe { handler(&mut event, context) };
        }
    }
}

/// The driver's part of a queue pair, and what ours is.
pub(super) struct Qp<D> {
    data: D,
    events: Arc<QpEvents>,
}

impl<D> Qp<D> {
    /// The driver's part of the pair behind `qp`.
    ///
    /// # Safety
    ///
    /// `qp` must be a pair of ours that is not destroyed during `'a`.
    pub(super) unsafe fn data<'a>(qp: *mut bindings::ib_qp) -> &'a D
    where
        D: 'a,
    {
        // SAFETY: By the contract.
        &unsafe { Object::<_, Self>::data(qp) }.data
    }
}

/// `ib_device_ops.create_qp`.
pub(super) unsafe extern "C" fn create_qp<T: Verbs>(
    qp: *mut bindings::ib_qp,
    attr: *mut bindings::ib_qp_init_attr,
    udata: *mut bindings::ib_udata,
) -> c_int {
    from_result(|| {
        let ptr = NonNull::new(qp).ok_or(EINVAL)?;
        // SAFETY: ib_core passes what the pair is to be, for us to read and to correct.
        let attr = unsafe { &mut *attr };
        let qp_type = QpType::from_raw(attr.qp_type)?;
        if !attr.srq.is_null() || !attr.rwq_ind_tbl.is_null() {
            return Err(EOPNOTSUPP);
        }
        // SAFETY: ib_core sets both before it creates the pair.
        let (dev, pd) = unsafe { ((*qp).device, (*qp).pd) };
        if pd.is_null() || attr.send_cq.is_null() || attr.recv_cq.is_null() {
            return Err(EINVAL);
        }
        // SAFETY: A device of ours, which ib_core keeps during the call.
        let dev = unsafe { Device::<T>::from_raw(dev) };
        // SAFETY: Created by `alloc_pd`; ib_core counts the pair as a user of it.
        let pd = unsafe { Object::<_, T::Pd>::data(pd) };
        let events = QpEvents::new(ptr)?;
        let init = QpInit {
            qp_type,
            caps: QpCaps::from_raw(&attr.cap),
            // SAFETY: Created by `create_cq`; ib_core counts the pair as a user of it.
            send_cq: unsafe { Cq::data(attr.send_cq) },
            // SAFETY: As above.
            recv_cq: unsafe { Cq::data(attr.recv_cq) },
            all_signalled: attr.sq_sig_type == bindings::ib_sig_type_IB_SIGNAL_ALL_WR,
            create_flags: attr.create_flags,
            events: events.clone(),
            reference: QpReference::new(ptr),
            // SAFETY: That of this operation; all user contexts of ours have a `Context`.
            user: unsafe { User::from_raw::<T::Ucontext>(udata)? },
        };
        let (data, created) = T::create_qp(dev, pd, init)?;
        created.caps.write_to(&mut attr.cap);
        // SAFETY: Being created; the number is for the driver to say.
        unsafe { (*qp).qp_num = created.number };
        // SAFETY: The creation cannot fail any more, and `destroy_qp` closes it.
        unsafe { events.upcall.open() };
        // SAFETY: Being created, of the size that the operations table asks for.
        unsafe { Object::init(qp, Qp { data, events }) };
        Ok(0)
    })
}

/// `ib_device_ops.destroy_qp`.
pub(super) unsafe extern "C" fn destroy_qp<T: Verbs>(
    qp: *mut bindings::ib_qp,
    _udata: *mut bindings::ib_udata,
) -> c_int {
    // SAFETY: Created by `create_qp`, and dropped below.
    let object = unsafe { Object::<_, Qp<T::Qp>>::data(qp) };
    T::destroy_qp(&object.data);
    object.events.upcall.close();
    // SAFETY: ib_core destroys it once.
    unsafe { Object::<_, Qp<T::Qp>>::drop(qp) };
    0
}
