// SPDX-License-Identifier: GPL-2.0

//! RDMA devices.
//!
//! A driver implements [`Driver`], and [`Verbs`] to move data; [`Unregistered`] makes a device of
//! it and registers it with ib_core. From then on the device belongs to ib_core, which calls the
//! traits' functions, and to nobody else: anyone may unregister it, at any time. The driver keeps a
//! [`Registration`], by which it unregisters the device itself or waits for those who do; a
//! [`Handle`] keeps the memory and nothing more.
//!
//! | C | here |
//! |---|---|
//! | `struct ib_device` | [`Device<T>`] |
//! | `get_device()` on it | [`Handle<T>`] |
//! | `ib_register_device()`, `ib_unregister_device()` | [`Registration<T>`] |
//! | `ib_device_try_get()` | [`Handle::with_registered`] |
//! | `struct ib_device_ops` | [`Driver`], [`Verbs`] |
//! | `struct ib_ucontext`, `struct ib_pd` | [`Driver::Ucontext`], [`Driver::Pd`] |
//! | `struct ib_cq`, `struct ib_qp` | [`Verbs::Cq`], [`Verbs::Qp`] |
//! | `struct ib_mr`, `struct ib_ah` | [`Verbs::Mr`], [`Verbs::Ah`] |
//! | `struct ib_send_wr`, `struct ib_recv_wr` | [`SendRequest`], [`RecvRequest`] |
//! | `struct ib_wc` | [`WorkCompletion`] |
//! | `struct ib_udata` | [`User`] |
//! | `vmalloc_user()`, `struct rdma_user_mmap_entry` | [`UserMemory`], [`Mapping`] |
//! | `struct ib_umem` | [`Umem`] |
//! | `struct rdma_link_ops` | [`link::LinkDriver`] |
//! | `struct rdma_hw_stats` | [`stats::Counters`] |
//!
//! C header: [`include/rdma/ib_verbs.h`](srctree/include/rdma/ib_verbs.h)

mod ah;
mod attributes;
mod completion;
mod cq;
mod device;
mod direct_memory;
mod driver;
mod mad;
mod mapping;
mod mr;
mod object;
mod ops;
mod posting;
mod qp;
mod qp_attributes;
mod umem;
mod unsupported;
mod upcall;
mod user;
mod user_memory;
mod verbs;

pub mod link;
pub mod stats;

pub use ah::{
    AddressAttributes,
    AhInit,
    Network, //
};
pub use attributes::{
    DeviceAttributes,
    Guid,
    Mtu,
    PhysicalState,
    PortAttributes,
    PortState, //
};
pub use completion::{
    Completions,
    DatagramSource,
    Extra,
    QpReference,
    WorkCompletion, //
};
pub use cq::{
    CqInit,
    CqNotifier, //
};
pub use device::{
    Device,
    Handle,
    Registered,
    Registration,
    Unregistered, //
};
pub use direct_memory::DirectMemory;
pub use driver::{
    Driver,
    DriverId, //
};
pub use mad::PortTraffic;
pub use mapping::Mapping;
pub use mr::{
    Access,
    Keys,
    UserRegion, //
};
pub use posting::{
    Operation,
    Piece,
    Pieces,
    RecvRequest,
    RecvRequests,
    SendRequest,
    SendRequests, //
};
pub use qp::{
    QpCaps,
    QpCreated,
    QpEvent,
    QpEvents,
    QpInit,
    QpType, //
};
pub use qp_attributes::{
    QpAttributesOut,
    QpChange,
    QpState, //
};
pub use umem::{
    AtomicOp,
    Umem, //
};
pub use user::User;
pub use user_memory::UserMemory;
pub use verbs::Verbs;
