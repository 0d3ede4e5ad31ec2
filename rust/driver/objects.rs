// SPDX-License-Identifier: GPL-2.0

//! The objects of a device, and how many of them there may be.

use crate::{
    ah::Ah,
    limits,
    mr::Mr,
    numbers::Numbers,
    qp::Qp,
    quota::Quota, //
};
use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    }, //
};
use kernel_ext::{
    random::random_u32,
    sync::IdTable, //
};

/// See the module's description.
#[pin_data]
pub(crate) struct Objects {
    pub(crate) ucontexts: Quota,
    pub(crate) pds: Quota,
    pub(crate) cqs: Quota,
    pub(crate) qps: Quota,
    pub(crate) mr_count: Quota,
    pub(crate) ah_count: Quota,
    /// Bytes of packets that wait for their turn.
    pub(crate) early_bytes: Quota,
    /// Memory regions, by the index of their keys.
    #[pin]
    pub(crate) mrs: Numbers<Mr>,
    /// Address handles, by what the process calls them.
    #[pin]
    pub(crate) ahs: Numbers<Ah>,
    /// Queue pairs whose number each device has: that for management datagrams.
    #[pin]
    pub(crate) special_qps: IdTable<Qp>,
    next_id: Atomic<u64>,
}

impl Objects {
    /// None.
    pub(crate) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            ucontexts: Quota::new(limits::MAX_UCONTEXT),
            pds: Quota::new(limits::MAX_PD),
            cqs: Quota::new(limits::MAX_CQ),
            qps: Quota::new(limits::MAX_QP),
            mr_count: Quota::new(limits::MAX_MR),
            ah_count: Quota::new(limits::MAX_AH),
            early_bytes: Quota::new(limits::EARLY_BYTES),
            // Peers name regions by it.
            mrs <- Numbers::from(random_u32(), 1..=0x00ff_fffe),
            ahs <- Numbers::new(1..=0x00ff_fffe),
            special_qps <- IdTable::new(),
            next_id: Atomic::new(1),
        })
    }

    /// A number that nothing else of this device has or will have.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Relaxed)
    }
}
