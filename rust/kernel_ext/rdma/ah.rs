// SPDX-License-Identifier: GPL-2.0

//! Where packets go: addresses, and handles of them.

use super::{
    object::Object,
    user::User,
    Device,
    Verbs, //
};
use crate::bindings;
use kernel::{
    error::from_result,
    prelude::*, //
};

/// What a packet's header behind the link layer's is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// IPv4: the GIDs are mapped addresses.
    V4,
    /// IPv6.
    V6,
}

/// A way to a peer, of one of our addresses (`struct rdma_ah_attr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressAttributes {
    /// Our address.
    pub sgid: [u8; 16],
    /// Its place in the GID table.
    pub sgid_index: u8,
    /// Its kind.
    pub network: Network,
    /// The index of the network interface that it is of; 0 if it is gone.
    pub interface: i32,
    /// The peer's address.
    pub dgid: [u8; 16],
    /// The next hop's link-layer address, resolved by ib_core for a process; the kernel's own users
    /// resolve it themselves.
    pub dmac: [u8; 6],
    /// Flow label of IPv6; the UDP source port follows from it.
    pub flow_label: u32,
    /// Hop limit, or time to live.
    pub hop_limit: u8,
    /// Traffic class, or type of service.
    pub traffic_class: u8,
    /// Service level.
    pub sl: u8,
    /// `enum ib_rate`; 0 for the port's.
    pub static_rate: u8,
    /// The port, 1.
    pub port: u32,
}

impl AddressAttributes {
    /// # Errors
    ///
    /// `EINVAL` if it is not a RoCEv2 address with a GID of ours.
    pub(super) fn from_raw(attr: &bindings::rdma_ah_attr) -> Result<Self> {
        let grh = &attr.grh;
        if u32::from(attr.ah_flags) & bindings::ib_ah_flags_IB_AH_GRH == 0
            || attr.type_ != bindings::rdma_ah_attr_type_RDMA_AH_ATTR_TYPE_ROCE
            || grh.sgid_attr.is_null()
        {
            return Err(EINVAL);
        }
        // SAFETY: ib_core holds a reference to the GID's entry during the operation.
        let network = match unsafe { bindings::oxe_helper_gid_network_type(grh.sgid_attr) } {
            bindings::rdma_network_type_RDMA_NETWORK_IPV4 => Network::V4,
            bindings::rdma_network_type_RDMA_NETWORK_IPV6 => Network::V6,
            _ => return Err(EINVAL),
        };
        let mut dmac = [0; 6];
        // SAFETY: An address of RoCE, and room for what is asked for.
        unsafe { bindings::oxe_helper_ah_dmac(attr, dmac.as_mut_ptr()) };
        Ok(Self {
            // SAFETY: The reference is held, see above; any bytes are a GID.
            sgid: unsafe { (*grh.sgid_attr).gid.raw },
            sgid_index: grh.sgid_index,
            network,
            // SAFETY: The reference is held, see above.
            interface: unsafe { bindings::oxe_helper_gid_ifindex(grh.sgid_attr) },
            // SAFETY: Any bytes are a GID.
            dgid: unsafe { grh.dgid.raw },
            dmac,
            flow_label: grh.flow_label,
            hop_limit: grh.hop_limit,
            traffic_class: grh.traffic_class,
            sl: attr.sl,
            static_rate: attr.static_rate,
            port: attr.port_num,
        })
    }

    /// Writes them into the C struct, without a reference to the entry of the GID table.
    pub(super) fn write_to(&self, attr: &mut bindings::rdma_ah_attr) {
        *attr = bindings::rdma_ah_attr::default();
        attr.type_ = bindings::rdma_ah_attr_type_RDMA_AH_ATTR_TYPE_ROCE;
        attr.ah_flags = bindings::ib_ah_flags_IB_AH_GRH as u8;
        attr.grh.dgid.raw = self.dgid;
        attr.grh.flow_label = self.flow_label;
        attr.grh.sgid_index = self.sgid_index;
        attr.grh.hop_limit = self.hop_limit;
        attr.grh.traffic_class = self.traffic_class;
        attr.sl = self.sl;
        attr.static_rate = self.static_rate;
        attr.port_num = self.port;
        // SAFETY: Both are valid, and of the size of a link-layer address.
        unsafe { bindings::oxe_helper_ah_set_dmac(attr, self.dmac.as_ptr()) };
    }
}

/// What an address handle is to be.
pub struct AhInit<'a> {
    /// The address.
    pub address: AddressAttributes,
    /// Whether the call may sleep; if not, nor may it take a lock that others hold asleep.
    pub sleepable: bool,
    /// The process that it is for; `None` for the kernel.
    pub user: Option<User<'a>>,
}

/// `ib_device_ops.create_ah` and `create_user_ah`.
pub(super) unsafe extern "C" fn create_ah<T: Verbs>(
    ah: *mut bindings::ib_ah,
    init: *mut bindings::rdma_ah_init_attr,
    udata: *mut bindings::ib_udata,
) -> c_int {
    from_result(|| {
        // SAFETY: ib_core passes what the handle is to be.
        let (attr, flags) = unsafe { (&*(*init).ah_attr, (*init).flags) };
        let init = AhInit {
            address: AddressAttributes::from_raw(attr)?,
            sleepable: flags & bindings::rdma_create_ah_flags_RDMA_CREATE_AH_SLEEPABLE != 0,
            // SAFETY: That of this operation; all user contexts of ours have a `Context`.
            user: unsafe { User::from_raw::<T::Ucontext>(udata)? },
        };
        // SAFETY: ib_core sets the device of an object before it creates it.
        let dev = unsafe { Device::<T>::from_raw((*ah).device) };
        // SAFETY: Created by `alloc_pd`; ib_core counts the handle as a user of it.
        let pd = unsafe { Object::<_, T::Pd>::data((*ah).pd) };
        let data = T::create_ah(dev, pd, init)?;
        // SAFETY: Being created, of the size that the operations table asks for.
        unsafe { Object::init(ah, data) };
        Ok(0)
    })
}

/// `ib_device_ops.query_ah`.
pub(super) unsafe extern "C" fn query_ah<T: Verbs>(
    ah: *mut bindings::ib_ah,
    attr: *mut bindings::rdma_ah_attr,
) -> c_int {
    // SAFETY: Created by `create_ah`; not destroyed during an operation on it.
    let data = unsafe { Object::<_, T::Ah>::data(ah) };
    // SAFETY: ib_core passes a struct for us to fill.
    T::query_ah(data).write_to(unsafe { &mut *attr });
    0
}

/// `ib_device_ops.destroy_ah`.
pub(super) unsafe extern "C" fn destroy_ah<T: Verbs>(
    ah: *mut bindings::ib_ah,
    flags: u32,
) -> c_int {
    let sleepable = flags & bindings::rdma_destroy_ah_flags_RDMA_DESTROY_AH_SLEEPABLE != 0;
    // SAFETY: Created by `create_ah`, and dropped below.
    T::destroy_ah(unsafe { Object::<_, T::Ah>::data(ah) }, sleepable);
    // SAFETY: ib_core destroys it once.
    unsafe { Object::<_, T::Ah>::drop(ah) };
    0
}
