// SPDX-License-Identifier: GPL-2.0

//! The process behind a verbs call: what its provider passes to the driver and back.

use super::{
    mapping::{
        Mapping,
        Mappings, //
    },
    object::Object,
    UserMemory, //
};
use crate::bindings;
use core::{
    marker::PhantomData,
    ptr::NonNull, //
};
use kernel::{
    error::to_result,
    prelude::*,
    sync::Arc, //
};

/// The driver's part of a user context, and what ours is.
pub(super) struct Context<D> {
    pub(super) mappings: Arc<Mappings>,
    _data: D,
}

impl<D> Context<D> {
    pub(super) fn new(mappings: Arc<Mappings>, data: D) -> Self {
        Self {
            mappings,
            _data: data,
        }
    }
}

/// The extra data of a call that makes an object for a process (`struct ib_udata`).
///
/// # Invariants
///
/// `udata` is that of the verbs call that runs, valid for `'a`.
pub struct User<'a> {
    udata: NonNull<bindings::ib_udata>,
    mappings: &'a Arc<Mappings>,
    _call: PhantomData<&'a mut bindings::ib_udata>,
}

impl<'a> User<'a> {
    /// The process behind `udata`; `None` if it is null, which means the kernel.
    ///
    /// # Safety
    ///
    /// `udata` must be null or what ib_core passed to the operation that runs, for `'a`, on a
    /// device whose user contexts have a [`Context<D>`].
    pub(super) unsafe fn from_raw<D: 'a>(udata: *mut bindings::ib_udata) -> Result<Option<Self>> {
        let Some(udata) = NonNull::new(udata) else {
            return Ok(None);
        };
        // SAFETY: By the contract it is part of what ib_core has of the call.
        let context = unsafe { bindings::oxe_helper_ib_udata_ucontext(udata.as_ptr()) };
        if context.is_null() {
            return Err(EINVAL);
        }
        // SAFETY: By the contract; ib_core keeps the context during the call.
        let context = unsafe { Object::<_, Context<D>>::data(context) };
        // INVARIANT: By the contract.
        Ok(Some(Self {
            udata,
            mappings: &context.mappings,
            _call: PhantomData,
        }))
    }

    /// Bytes that the provider passed.
    pub fn input_len(&self) -> usize {
        // SAFETY: Valid by the type invariant.
        unsafe { (*self.udata.as_ptr()).inlen }
    }

    /// Bytes that the provider has room for.
    pub fn out_len(&self) -> usize {
        // SAFETY: Valid by the type invariant.
        unsafe { (*self.udata.as_ptr()).outlen }
    }

    /// Copies the first bytes of what the provider passed.
    ///
    /// Context: process, may sleep.
    ///
    /// # Errors
    ///
    /// `EINVAL` if it passed fewer, `EFAULT`.
    pub fn copy_input(&self, to: &mut [u8]) -> Result {
        if to.len() > self.input_len() {
            return Err(EINVAL);
        }
        // SAFETY: `to` is valid for writing; the function checks the address of the process.
        to_result(unsafe {
            bindings::oxe_helper_ib_copy_from_udata(
                to.as_mut_ptr().cast(),
                self.udata.as_ptr(),
                to.len(),
            )
        })
    }

    /// Gives the provider its response: as much of it as there is room for, and zeroes in the rest
    /// of the room.
    ///
    /// Context: process, may sleep.
    ///
    /// # Errors
    ///
    /// `EFAULT`.
    pub fn respond(&self, response: &[u8]) -> Result {
        // SAFETY: `response` is valid for reading; the function checks the address of the process.
        to_result(unsafe {
            bindings::_ib_respond_udata(
                self.udata.as_ptr(),
                response.as_ptr().cast(),
                response.len(),
            )
        })
    }

    /// Lets the process map `memory`, until the result is dropped.
    ///
    /// Context: process, may sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn map(&self, memory: &Arc<UserMemory>) -> Result<Mapping> {
        self.mappings.insert(memory)
    }
}
