// SPDX-License-Identifier: GPL-2.0

//! What a driver supplies to move data, and the operations table with it.

use super::{
    ah::{
        self,
        AddressAttributes,
        AhInit, //
    },
    completion::{
        self,
        Completions, //
    },
    cq::{
        self,
        Cq,
        CqInit, //
    },
    direct_memory::DirectMemory,
    mad::{
        self,
        PortTraffic, //
    },
    mr::{
        self,
        Access,
        Keys,
        UserRegion, //
    },
    object::Object,
    ops::{
        self,
        VTable, //
    },
    posting::{
        self,
        RecvRequests,
        SendRequests, //
    },
    qp::{
        self,
        Qp,
        QpCreated,
        QpInit, //
    },
    qp_attributes::{
        self,
        QpAttributesOut,
        QpChange, //
    },
    Device,
    Driver, //
};
use crate::bindings;
use kernel::prelude::*;

/// An RDMA driver with queues, memory regions and address handles, for processes and for the
/// kernel.
///
/// Functions may be called by any number of threads at once, in process context, and may sleep,
/// unless they say otherwise. ib_core keeps the order of lives: what an object was made with
/// outlives it. A `destroy_*` or `dereg_*` function is the last call for an object; the driver's
/// part is dropped right after it.
///
/// What a process posts and polls is in memory that it shares with the driver; [`Verbs::doorbell`]
/// is all that is called for it. The kernel's own users post and poll by calls, in any context.
pub trait Verbs: Driver {
    /// The driver's part of a completion queue.
    type Cq: Send + Sync;
    /// The driver's part of a memory region.
    type Mr: Send + Sync;
    /// The driver's part of a queue pair.
    type Qp: Send + Sync;
    /// The driver's part of an address handle. It may be dropped where nobody may sleep.
    type Ah: Send + Sync;

    /// Makes a completion queue; the result has the number of entries that it really has room for.
    fn create_cq(dev: &Device<Self>, init: CqInit<'_>) -> Result<(Self::Cq, u32)>;

    /// Arms the queue: one [`CqNotifier::notify`](super::CqNotifier::notify) for the next
    /// completion, or for the next solicited or failed one. The result says whether there are
    /// completions now that a poll would find; it matters if `report_missed`.
    ///
    /// Context: any.
    fn arm_cq(cq: &Self::Cq, solicited_only: bool, report_missed: bool) -> Result<bool>;

    /// Takes completions out of a queue of the kernel, as far as there is room for them.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EINVAL` if it is a process's.
    fn poll_cq(cq: &Self::Cq, to: &mut Completions<'_>) -> Result;

    /// A completion queue goes, which no queue pair uses.
    fn destroy_cq(cq: &Self::Cq);

    /// Registers memory of a process.
    fn reg_user_mr(pd: &Self::Pd, region: UserRegion) -> Result<(Self::Mr, Keys)>;

    /// Makes a region of all of the kernel's memory, for a domain of the kernel.
    fn get_dma_mr(pd: &Self::Pd, memory: DirectMemory, access: Access) -> Result<(Self::Mr, Keys)>;

    /// A memory region goes: when this returns, nobody gets at its memory any more.
    fn dereg_mr(mr: &Self::Mr);

    /// Makes a queue pair.
    fn create_qp(
        dev: &Device<Self>,
        pd: &Self::Pd,
        init: QpInit<'_, Self>,
    ) -> Result<(Self::Qp, QpCreated)>;

    /// Changes all that `change` has, or nothing.
    fn modify_qp(qp: &Self::Qp, change: &QpChange<'_>) -> Result;

    /// Says what a queue pair's attributes are.
    fn query_qp(qp: &Self::Qp, out: &mut QpAttributesOut<'_>) -> Result;

    /// A queue pair goes: when this returns, it completes nothing any more, and its completions are
    /// in no queue of the kernel.
    fn destroy_qp(qp: &Self::Qp);

    /// A process has put work requests in its send queue.
    ///
    /// Called in process context; may sleep.
    fn doorbell(qp: &Self::Qp) -> Result;

    /// A user of the kernel posts send requests, one after the other until one is refused. They
    /// complete in order, whatever happens; in the error state, too, they are taken.
    ///
    /// Context: any.
    ///
    /// # Errors
    ///
    /// `EINVAL` where they cannot be posted, `ENOMEM` if there is no room, `EOPNOTSUPP`. The
    /// request that `requests` gave last was not posted, and none behind it.
    fn post_send(qp: &Self::Qp, requests: &mut SendRequests<'_, Self>) -> Result;

    /// A user of the kernel posts receive requests; as [`Verbs::post_send`].
    ///
    /// Context: any.
    fn post_recv(qp: &Self::Qp, requests: &mut RecvRequests<'_>) -> Result;

    /// What the port has done so far.
    fn port_traffic(dev: &Device<Self>) -> PortTraffic;

    /// Makes an address handle.
    ///
    /// Context: any, unless [`AhInit::sleepable`].
    fn create_ah(dev: &Device<Self>, pd: &Self::Pd, init: AhInit<'_>) -> Result<Self::Ah>;

    /// The address behind a handle.
    ///
    /// Context: any.
    fn query_ah(ah: &Self::Ah) -> AddressAttributes;

    /// An address handle goes. Work requests with it may still be under way.
    ///
    /// Context: any, unless `sleepable`.
    fn destroy_ah(ah: &Self::Ah, sleepable: bool);
}

impl<T: Verbs> VTable<T> {
    /// All of the table.
    pub(super) const WITH_VERBS: bindings::ib_device_ops = bindings::ib_device_ops {
        create_ah: Some(ah::create_ah::<T>),
        create_cq: Some(cq::create_cq::<T>),
        create_qp: Some(qp::create_qp::<T>),
        create_user_ah: Some(ah::create_ah::<T>),
        create_user_cq: Some(cq::create_cq::<T>),
        dereg_mr: Some(mr::dereg_mr::<T>),
        destroy_ah: Some(ah::destroy_ah::<T>),
        destroy_cq: Some(cq::destroy_cq::<T>),
        destroy_qp: Some(qp::destroy_qp::<T>),
        get_dma_mr: Some(mr::get_dma_mr::<T>),
        get_port_immutable: Some(ops::get_port_immutable_with_verbs),
        modify_qp: Some(qp_attributes::modify_qp::<T>),
        poll_cq: Some(completion::poll_cq::<T>),
        post_recv: Some(posting::post_recv::<T>),
        post_send: Some(posting::post_send::<T>),
        process_mad: Some(mad::process_mad::<T>),
        query_ah: Some(ah::query_ah::<T>),
        query_qp: Some(qp_attributes::query_qp::<T>),
        reg_user_mr: Some(mr::reg_user_mr::<T>),
        req_notify_cq: Some(cq::req_notify_cq::<T>),
        size_ib_ah: Object::<bindings::ib_ah, T::Ah>::SIZE,
        size_ib_cq: Object::<bindings::ib_cq, Cq<T::Cq>>::SIZE,
        size_ib_qp: Object::<bindings::ib_qp, Qp<T::Qp>>::SIZE,
        ..Self::OPS
    };
}
