// SPDX-License-Identifier: GPL-2.0

//! RDMA devices.
//!
//! A driver implements [`Driver`]; [`Unregistered`] makes a device of it and registers it with
//! ib_core. From then on the device belongs to ib_core, which calls the trait's functions, and to
//! nobody else: anyone may unregister it, at any time. The driver keeps a [`Registration`], by
//! which it unregisters the device itself or waits for those who do; a [`Handle`] keeps the memory
//! and nothing more.
//!
//! | C | here |
//! |---|---|
//! | `struct ib_device` | [`Device<T>`] |
//! | `get_device()` on it | [`Handle<T>`] |
//! | `ib_register_device()`, `ib_unregister_device()` | [`Registration<T>`] |
//! | `ib_device_try_get()` | [`Handle::with_registered`] |
//! | `struct ib_device_ops` | [`Driver`] |
//! | `struct ib_ucontext`, `struct ib_pd` | [`Driver::Ucontext`], [`Driver::Pd`] |
//! | `struct rdma_link_ops` | [`link::LinkDriver`] |
//! | `struct rdma_hw_stats` | [`stats::Counters`] |
//!
//! C header: [`include/rdma/ib_verbs.h`](srctree/include/rdma/ib_verbs.h)

mod attributes;
mod device;
mod driver;
mod object;
mod ops;
mod unsupported;

pub mod link;
pub mod stats;

pub use attributes::{
    DeviceAttributes,
    Guid,
    Mtu,
    PhysicalState,
    PortAttributes,
    PortState, //
};
pub use device::{
    Device,
    Handle,
    Registered,
    Registration,
    Unregistered, //
};
pub use driver::{
    Driver,
    DriverId, //
};
