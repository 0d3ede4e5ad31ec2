// SPDX-License-Identifier: GPL-2.0

//! The operations that ib_core wants of every device and that [`Driver`](super::Driver) does not
//! offer: each says `EOPNOTSUPP`, so that user space sees what is missing.

use crate::bindings;
use core::mem::MaybeUninit;
use kernel::{
    error::code::EOPNOTSUPP,
    prelude::*, //
};

unsafe extern "C" fn create_qp(
    _qp: *mut bindings::ib_qp,
    _attr: *mut bindings::ib_qp_init_attr,
    _udata: *mut bindings::ib_udata,
) -> c_int {
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn modify_qp(
    _qp: *mut bindings::ib_qp,
    _attr: *mut bindings::ib_qp_attr,
    _mask: c_int,
    _udata: *mut bindings::ib_udata,
) -> c_int {
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn destroy_qp(
    _qp: *mut bindings::ib_qp,
    _udata: *mut bindings::ib_udata,
) -> c_int {
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn post_send(
    _qp: *mut bindings::ib_qp,
    wr: *const bindings::ib_send_wr,
    bad_wr: *mut *const bindings::ib_send_wr,
) -> c_int {
    // SAFETY: ib_core passes a valid place for the work request that failed: the first.
    unsafe { *bad_wr = wr };
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn post_recv(
    _qp: *mut bindings::ib_qp,
    wr: *const bindings::ib_recv_wr,
    bad_wr: *mut *const bindings::ib_recv_wr,
) -> c_int {
    // SAFETY: ib_core passes a valid place for the work request that failed: the first.
    unsafe { *bad_wr = wr };
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn create_cq(
    _cq: *mut bindings::ib_cq,
    _attr: *const bindings::ib_cq_init_attr,
    _attrs: *mut bindings::uverbs_attr_bundle,
) -> c_int {
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn destroy_cq(
    _cq: *mut bindings::ib_cq,
    _udata: *mut bindings::ib_udata,
) -> c_int {
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn poll_cq(
    _cq: *mut bindings::ib_cq,
    _num: c_int,
    _wc: *mut bindings::ib_wc,
) -> c_int {
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn req_notify_cq(
    _cq: *mut bindings::ib_cq,
    _flags: bindings::ib_cq_notify_flags,
) -> c_int {
    EOPNOTSUPP.to_errno()
}

unsafe extern "C" fn get_dma_mr(_pd: *mut bindings::ib_pd, _access: c_int) -> *mut bindings::ib_mr {
    EOPNOTSUPP.to_ptr()
}

unsafe extern "C" fn reg_user_mr(
    _pd: *mut bindings::ib_pd,
    _start: u64,
    _length: u64,
    _virt_addr: u64,
    _access: c_int,
    _dmah: *mut bindings::ib_dmah,
    _udata: *mut bindings::ib_udata,
) -> *mut bindings::ib_mr {
    EOPNOTSUPP.to_ptr()
}

unsafe extern "C" fn dereg_mr(_mr: *mut bindings::ib_mr, _udata: *mut bindings::ib_udata) -> c_int {
    EOPNOTSUPP.to_errno()
}

/// An operations table with these and nothing else.
pub(crate) const OPS: bindings::ib_device_ops = bindings::ib_device_ops {
    create_qp: Some(create_qp),
    modify_qp: Some(modify_qp),
    destroy_qp: Some(destroy_qp),
    post_send: Some(post_send),
    post_recv: Some(post_recv),
    create_cq: Some(create_cq),
    destroy_cq: Some(destroy_cq),
    poll_cq: Some(poll_cq),
    req_notify_cq: Some(req_notify_cq),
    get_dma_mr: Some(get_dma_mr),
    reg_user_mr: Some(reg_user_mr),
    dereg_mr: Some(dereg_mr),
    size_ib_qp: core::mem::size_of::<bindings::ib_qp>(),
    size_ib_cq: core::mem::size_of::<bindings::ib_cq>(),
    // SAFETY: All members are numbers, nullable pointers or nullable functions: zero is what C
    // leaves in them.
    ..unsafe { MaybeUninit::zeroed().assume_init() }
};
