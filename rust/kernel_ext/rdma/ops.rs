// SPDX-License-Identifier: GPL-2.0

//! `struct ib_device_ops` of a [`Driver`]: from C's calls to the trait's, and nothing else.

use super::{
    attributes::{
        GID_TABLE_LEN,
        PKEY_TABLE_LEN, //
    },
    mapping::{
        self,
        Mappings, //
    },
    object::Object,
    stats,
    unsupported,
    user::Context,
    Device,
    Driver, //
};
use crate::bindings;
use core::{
    marker::PhantomData,
    ptr::{
        self,
        NonNull, //
    }, //
};
use kernel::{
    error::{
        code::EOPNOTSUPP,
        from_result,
        to_result, //
    },
    prelude::*,
    sync::aref::ARef,
    ModuleMetadata, //
};

/// The one port.
const PORT: u32 = 1;

/// Speed and width of a port without a network device: the least that can be said, SDR 1X.
const SLOWEST: (u16, u8) = (
    bindings::ib_port_speed_IB_SPEED_SDR as u16,
    bindings::ib_port_width_IB_WIDTH_1X as u8,
);

/// The table for `T`.
pub(super) struct VTable<T: Driver>(PhantomData<T>);

impl<T: Driver> VTable<T> {
    pub(super) const OPS: bindings::ib_device_ops = bindings::ib_device_ops {
        owner: T::Module::THIS_MODULE.as_ptr().cast(),
        driver_id: T::DRIVER_ID as u32,
        uverbs_abi_ver: T::DRIVER_ID.uverbs_abi(),
        alloc_hw_port_stats: Some(alloc_hw_port_stats::<T>),
        alloc_pd: Some(alloc_pd::<T>),
        alloc_ucontext: Some(alloc_ucontext::<T>),
        dealloc_driver: Some(dealloc_driver::<T>),
        dealloc_pd: Some(dealloc_pd::<T>),
        dealloc_ucontext: Some(dealloc_ucontext::<T>),
        disassociate_ucontext: Some(disassociate_ucontext),
        get_dev_fw_str: Some(get_dev_fw_str::<T>),
        get_hw_stats: Some(get_hw_stats::<T>),
        get_link_layer: Some(get_link_layer),
        get_netdev: Some(get_netdev::<T>),
        get_port_immutable: Some(get_port_immutable),
        mmap: Some(mapping::mmap),
        mmap_free: Some(mapping::mmap_free),
        modify_device: Some(modify_device),
        query_device: Some(query_device::<T>),
        query_pkey: Some(query_pkey),
        query_port: Some(query_port::<T>),
        size_ib_pd: Object::<bindings::ib_pd, T::Pd>::SIZE,
        size_ib_ucontext: Object::<bindings::ib_ucontext, Context<T::Ucontext>>::SIZE,
        ..unsupported::OPS
    };
}

fn check_port(port: u32) -> Result {
    if port == PORT {
        Ok(())
    } else {
        Err(EINVAL)
    }
}

/// The user's extra input has to be empty; the user's room for extra output is zeroed.
///
/// # Safety
///
/// `udata` must be null or what ib_core passed to the operation that runs.
pub(super) unsafe fn no_udata(udata: *mut bindings::ib_udata) -> Result {
    // SAFETY: By the contract.
    to_result(unsafe { bindings::oxe_helper_ib_no_udata_io(udata) })
}

unsafe extern "C" fn query_device<T: Driver>(
    ib: *mut bindings::ib_device,
    attr: *mut bindings::ib_device_attr,
    udata: *mut bindings::ib_udata,
) -> c_int {
    from_result(|| {
        // SAFETY: From ib_core, as an argument of this operation.
        unsafe { no_udata(udata)? };
        // SAFETY: ib_core calls operations for valid devices, before `dealloc_driver`.
        let dev = unsafe { Device::<T>::from_raw(ib) };
        // SAFETY: ib_core passes a zeroed struct for us to fill.
        T::device_attributes(dev)?.write_to(unsafe { &mut *attr });
        Ok(0)
    })
}

unsafe extern "C" fn query_port<T: Driver>(
    ib: *mut bindings::ib_device,
    port: u32,
    attr: *mut bindings::ib_port_attr,
) -> c_int {
    from_result(|| {
        check_port(port)?;
        // SAFETY: ib_core calls operations for valid devices, before `dealloc_driver`.
        let dev = unsafe { Device::<T>::from_raw(ib) };
        let values = T::port_attributes(dev);
        let (speed, width) = dev.eth_speed().unwrap_or(SLOWEST);
        // SAFETY: ib_core passes a zeroed struct for us to fill.
        let attr = unsafe { &mut *attr };
        values.write_to(attr);
        attr.active_speed = speed;
        attr.active_width = width;
        Ok(0)
    })
}

unsafe extern "C" fn get_port_immutable(
    _ib: *mut bindings::ib_device,
    port: u32,
    immutable: *mut bindings::ib_port_immutable,
) -> c_int {
    // No management datagrams and no connection manager without queue pairs.
    let capabilities = bindings::RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP | bindings::RDMA_CORE_CAP_ETH_AH;
    from_result(|| {
        check_port(port)?;
        // SAFETY: ib_core passes a struct for us to fill.
        let immutable = unsafe { &mut *immutable };
        immutable.core_cap_flags = capabilities;
        immutable.gid_tbl_len = GID_TABLE_LEN;
        immutable.pkey_tbl_len = PKEY_TABLE_LEN.into();
        Ok(0)
    })
}

/// `ib_device_ops.get_port_immutable` of a device with queue pairs.
pub(super) unsafe extern "C" fn get_port_immutable_with_verbs(
    ib: *mut bindings::ib_device,
    port: u32,
    immutable: *mut bindings::ib_port_immutable,
) -> c_int {
    // SAFETY: The arguments are those of this operation.
    let err = unsafe { get_port_immutable(ib, port, immutable) };
    if err == 0 {
        // SAFETY: ib_core passes a struct for us to fill.
        let immutable = unsafe { &mut *immutable };
        // Management datagrams, and with them the connection manager.
        immutable.core_cap_flags = bindings::RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
        immutable.max_mad_size = bindings::IB_MGMT_MAD_SIZE;
    }
    err
}

unsafe extern "C" fn get_link_layer(
    _ib: *mut bindings::ib_device,
    _port: u32,
) -> bindings::rdma_link_layer {
    bindings::rdma_link_layer_IB_LINK_LAYER_ETHERNET
}

unsafe extern "C" fn query_pkey(
    _ib: *mut bindings::ib_device,
    port: u32,
    index: u16,
    pkey: *mut u16,
) -> c_int {
    from_result(|| {
        check_port(port)?;
        if index >= PKEY_TABLE_LEN {
            return Err(EINVAL);
        }
        // SAFETY: ib_core passes a valid place.
        unsafe { *pkey = bindings::IB_DEFAULT_PKEY_FULL as u16 };
        Ok(0)
    })
}

unsafe extern "C" fn get_netdev<T: Driver>(
    ib: *mut bindings::ib_device,
    port: u32,
) -> *mut bindings::net_device {
    if port != PORT {
        return ptr::null_mut();
    }
    // SAFETY: ib_core calls operations for valid devices, before `dealloc_driver`.
    match T::netdev(unsafe { Device::<T>::from_raw(ib) }) {
        // The caller gets the reference.
        Some(netdev) => ARef::into_raw(netdev).as_ptr().cast(),
        None => ptr::null_mut(),
    }
}

unsafe extern "C" fn get_dev_fw_str<T: Driver>(_ib: *mut bindings::ib_device, to: *mut c_char) {
    let version = T::FIRMWARE.to_bytes_with_nul();
    const {
        assert!(T::FIRMWARE.count_bytes() < bindings::IB_FW_VERSION_NAME_MAX as usize);
    }
    // SAFETY: ib_core passes room for `IB_FW_VERSION_NAME_MAX` bytes, and the version is shorter.
    unsafe { ptr::copy_nonoverlapping(version.as_ptr(), to.cast(), version.len()) };
}

unsafe extern "C" fn modify_device(
    ib: *mut bindings::ib_device,
    mask: c_int,
    modify: *mut bindings::ib_device_modify,
) -> c_int {
    from_result(|| {
        if mask != bindings::ib_device_modify_flags_IB_DEVICE_MODIFY_NODE_DESC as c_int {
            return Err(EOPNOTSUPP);
        }
        // SAFETY: Both are valid. ib_core reads the description without a lock, as bytes: a reader
        // may see some of the old with some of the new.
        unsafe { (*ib).node_desc = (*modify).node_desc };
        Ok(0)
    })
}

unsafe extern "C" fn alloc_hw_port_stats<T: Driver>(
    _ib: *mut bindings::ib_device,
    _port: u32,
) -> *mut bindings::rdma_hw_stats {
    stats::alloc(T::COUNTERS)
}

unsafe extern "C" fn get_hw_stats<T: Driver>(
    ib: *mut bindings::ib_device,
    stats: *mut bindings::rdma_hw_stats,
    port: u32,
    _index: c_int,
) -> c_int {
    from_result(|| {
        if stats.is_null() {
            return Err(EINVAL);
        }
        check_port(port)?;
        // SAFETY: ib_core calls operations for valid devices, before `dealloc_driver`.
        let dev = unsafe { Device::<T>::from_raw(ib) };
        // SAFETY: Made by `alloc_hw_port_stats`; ib_core holds its lock, or has not shown it to
        // anybody.
        T::read_counters(dev, unsafe { stats::Counters::from_raw(stats) });
        c_int::try_from(T::COUNTERS.len()).map_err(|_| EINVAL)
    })
}

unsafe extern "C" fn alloc_ucontext<T: Driver>(
    context: *mut bindings::ib_ucontext,
    udata: *mut bindings::ib_udata,
) -> c_int {
    from_result(|| {
        // SAFETY: From ib_core, as an argument of this operation.
        unsafe { no_udata(udata)? };
        // SAFETY: ib_core sets the device of an object before it creates it.
        let dev = unsafe { Device::<T>::from_raw((*context).device) };
        let ptr = NonNull::new(context).ok_or(EINVAL)?;
        // SAFETY: `dealloc_ucontext` closes them; nothing is in them if the creation fails.
        let mappings = unsafe { Mappings::new(ptr)? };
        let data = Context::new(mappings, T::alloc_ucontext(dev)?);
        // SAFETY: Being created, of the size that the operations table asks for.
        unsafe { Object::init(context, data) };
        Ok(0)
    })
}

unsafe extern "C" fn dealloc_ucontext<T: Driver>(context: *mut bindings::ib_ucontext) {
    // SAFETY: Created by `alloc_ucontext`, and dropped below.
    let data = unsafe { Object::<_, Context<T::Ucontext>>::data(context) };
    data.mappings.close();
    // SAFETY: Created by `alloc_ucontext`; ib_core destroys it once.
    unsafe { Object::<_, Context<T::Ucontext>>::drop(context) };
}

/// The device goes while a process has it open. What the process has mapped is ordinary memory,
/// which its mappings keep (see [`mapping`]): there is nothing to take away.
unsafe extern "C" fn disassociate_ucontext(_context: *mut bindings::ib_ucontext) {}

unsafe extern "C" fn alloc_pd<T: Driver>(
    pd: *mut bindings::ib_pd,
    udata: *mut bindings::ib_udata,
) -> c_int {
    from_result(|| {
        // SAFETY: From ib_core, as an argument of this operation.
        unsafe { no_udata(udata)? };
        // SAFETY: ib_core sets the device of an object before it creates it.
        let dev = unsafe { Device::<T>::from_raw((*pd).device) };
        let data = T::alloc_pd(dev)?;
        // SAFETY: Being created, of the size that the operations table asks for.
        unsafe { Object::init(pd, data) };
        Ok(0)
    })
}

unsafe extern "C" fn dealloc_pd<T: Driver>(
    pd: *mut bindings::ib_pd,
    _udata: *mut bindings::ib_udata,
) -> c_int {
    // SAFETY: Created by `alloc_pd`; ib_core destroys it once.
    unsafe { Object::<_, T::Pd>::drop(pd) };
    0
}

unsafe extern "C" fn dealloc_driver<T: Driver>(ib: *mut bindings::ib_device) {
    // SAFETY: ib_core's last call for the device.
    T::released(unsafe { Device::<T>::take_data(ib) });
}
