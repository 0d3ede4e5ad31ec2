// SPDX-License-Identifier: GPL-2.0

//! Verbs objects: a C struct with room for the driver's part behind it. ib_core allocates and frees
//! them, all but memory regions.

use core::{
    marker::PhantomData,
    mem::{
        size_of,
        MaybeUninit, //
    }, //
};
use kernel::{
    alloc::flags::__GFP_ZERO,
    prelude::*, //
};

/// A C struct `C` and the driver's part `D`.
///
/// ib_core allocates [`Object::SIZE`] zeroed bytes, calls the driver to create the object, and
/// frees the bytes after the driver destroyed it, with no grace period: nothing asynchronous may
/// keep a pointer to it.
#[repr(C)]
pub(crate) struct Object<C, D> {
    /// First: what ib_core takes the object for.
    _c: MaybeUninit<C>,
    data: MaybeUninit<D>,
    _owns: PhantomData<D>,
}

impl<C, D> Object<C, D> {
    /// For the `size_ib_*` members of `struct ib_device_ops`.
    pub(crate) const SIZE: usize = {
        assert!(
            align_of::<D>() <= 8,
            "kmalloc promises no more for any size"
        );
        size_of::<Self>()
    };

    /// Zeroed, for what the driver has to allocate.
    pub(crate) fn alloc() -> Result<KBox<Self>> {
        let room = KBox::<Self>::new_uninit(GFP_KERNEL_ACCOUNT | __GFP_ZERO)?;
        // SAFETY: Both parts may be anything.
        Ok(unsafe { room.assume_init() })
    }

    /// Puts the driver's part in place.
    ///
    /// # Safety
    ///
    /// `c` must be an object of [`Object::SIZE`] bytes that is being created; nobody else uses it
    /// yet.
    pub(crate) unsafe fn init(c: *mut C, data: D) {
        // SAFETY: By the contract; `c` is the first member.
        unsafe { (*c.cast::<Self>()).data.write(data) };
    }

    /// The driver's part.
    ///
    /// # Safety
    ///
    /// [`Object::init`] was called for `c`, and [`Object::drop`] is not during `'a`.
    pub(crate) unsafe fn data<'a>(c: *mut C) -> &'a D {
        // SAFETY: By the contract; `c` is the first member.
        unsafe { (*c.cast::<Self>()).data.assume_init_ref() }
    }

    /// Drops the driver's part.
    ///
    /// # Safety
    ///
    /// [`Object::init`] was called for `c`, this function was not, and nobody else uses the object
    /// any more.
    pub(crate) unsafe fn drop(c: *mut C) {
        // SAFETY: By the contract; `c` is the first member.
        unsafe { (*c.cast::<Self>()).data.assume_init_drop() };
    }
}
