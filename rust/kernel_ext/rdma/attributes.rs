// SPDX-License-Identifier: GPL-2.0

//! What a device and its port say of themselves.

use crate::{
    bindings,
    net::{
        Eui64,
        NetDevice, //
    }, //
};

/// A globally unique identifier of a node, in the order of the wire.
pub type Guid = Eui64;

/// Path MTU: the most payload bytes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mtu {
    /// 256 bytes.
    B256 = bindings::ib_mtu_IB_MTU_256,
    /// 512 bytes.
    B512 = bindings::ib_mtu_IB_MTU_512,
    /// 1024 bytes.
    B1024 = bindings::ib_mtu_IB_MTU_1024,
    /// 2048 bytes.
    B2048 = bindings::ib_mtu_IB_MTU_2048,
    /// 4096 bytes.
    B4096 = bindings::ib_mtu_IB_MTU_4096,
}

impl Mtu {
    /// The largest that fits in a network device's packets with all headers (`iboe_get_mtu`); none
    /// if even 256 bytes do not fit.
    pub fn of(netdev: &NetDevice) -> Option<Self> {
        let bytes = i32::try_from(netdev.mtu()).unwrap_or(i32::MAX);
        // SAFETY: Arithmetic only.
        Self::from_raw(unsafe { bindings::oxe_helper_iboe_get_mtu(bytes) })
    }

    /// From `enum ib_mtu`.
    pub(super) fn from_raw(mtu: bindings::ib_mtu) -> Option<Self> {
        match mtu {
            bindings::ib_mtu_IB_MTU_256 => Some(Self::B256),
            bindings::ib_mtu_IB_MTU_512 => Some(Self::B512),
            bindings::ib_mtu_IB_MTU_1024 => Some(Self::B1024),
            bindings::ib_mtu_IB_MTU_2048 => Some(Self::B2048),
            bindings::ib_mtu_IB_MTU_4096 => Some(Self::B4096),
            _ => None,
        }
    }
}

/// Logical state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PortState {
    /// No packets pass.
    Down = bindings::ib_port_state_IB_PORT_DOWN,
    /// Packets pass.
    Active = bindings::ib_port_state_IB_PORT_ACTIVE,
}

impl PortState {
    /// A network device's state: active if it is up and has carrier.
    pub fn of(netdev: &NetDevice) -> Self {
        // SAFETY: The device is valid.
        match unsafe { bindings::oxe_helper_ib_get_curr_port_state(netdev.as_ptr()) } {
            bindings::ib_port_state_IB_PORT_ACTIVE => Self::Active,
            _ => Self::Down,
        }
    }
}

/// Physical state of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PhysicalState {
    /// Looking for a link.
    Polling = bindings::ib_port_phys_state_IB_PORT_PHYS_STATE_POLLING,
    /// Switched off.
    Disabled = bindings::ib_port_phys_state_IB_PORT_PHYS_STATE_DISABLED,
    /// There is a link.
    LinkUp = bindings::ib_port_phys_state_IB_PORT_PHYS_STATE_LINK_UP,
}

/// What a device can do (`struct ib_device_attr`). The names are those of the C struct without
/// `max_`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct DeviceAttributes {
    pub firmware_version: u64,
    pub system_image_guid: Guid,
    pub vendor_id: u32,
    pub vendor_part_id: u32,
    pub hardware_version: u32,
    /// Page sizes that a memory region may have, a bit each.
    pub page_size_cap: u64,
    pub mr_size: u64,
    pub qp: u32,
    pub qp_wr: u32,
    pub send_sge: u32,
    pub recv_sge: u32,
    pub sge_rd: u32,
    pub cq: u32,
    pub cqe: u32,
    pub mr: u32,
    pub mw: u32,
    pub pd: u32,
    pub ah: u32,
    pub srq: u32,
    pub srq_wr: u32,
    pub srq_sge: u32,
    pub qp_rd_atom: u32,
    pub res_rd_atom: u32,
    pub qp_init_rd_atom: u32,
    pub mcast_grp: u32,
    pub mcast_qp_attach: u32,
    pub total_mcast_qp_attach: u32,
    pub fast_reg_page_list_len: u32,
    pub pkeys: u16,
    /// The time that an acknowledgement may take here: 4.096 µs times 2 to this.
    pub local_ca_ack_delay: u8,
}

impl DeviceAttributes {
    /// Writes them into the C struct, which is zeroed.
    pub(crate) fn write_to(&self, attr: &mut bindings::ib_device_attr) {
        attr.fw_ver = self.firmware_version;
        attr.sys_image_guid = u64::from_ne_bytes(self.system_image_guid.0);
        attr.vendor_id = self.vendor_id;
        attr.vendor_part_id = self.vendor_part_id;
        attr.hw_ver = self.hardware_version;
        attr.page_size_cap = self.page_size_cap;
        attr.max_mr_size = self.mr_size;
        attr.max_qp = self.qp;
        attr.max_qp_wr = self.qp_wr;
        attr.max_send_sge = self.send_sge;
        attr.max_recv_sge = self.recv_sge;
        attr.max_sge_rd = self.sge_rd;
        attr.max_cq = self.cq;
        attr.max_cqe = self.cqe;
        attr.max_mr = self.mr;
        attr.max_mw = self.mw;
        attr.max_pd = self.pd;
        attr.max_ah = self.ah;
        attr.max_srq = self.srq;
        attr.max_srq_wr = self.srq_wr;
        attr.max_srq_sge = self.srq_sge;
        attr.max_qp_rd_atom = self.qp_rd_atom;
        attr.max_res_rd_atom = self.res_rd_atom;
        attr.max_qp_init_rd_atom = self.qp_init_rd_atom;
        attr.max_mcast_grp = self.mcast_grp;
        attr.max_mcast_qp_attach = self.mcast_qp_attach;
        attr.max_total_mcast_qp_attach = self.total_mcast_qp_attach;
        attr.max_fast_reg_page_list_len = self.fast_reg_page_list_len;
        attr.max_pkeys = self.pkeys;
        attr.local_ca_ack_delay = self.local_ca_ack_delay;
        attr.device_cap_flags =
            (bindings::ib_uverbs_device_cap_flags_IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT
                | bindings::ib_uverbs_device_cap_flags_IB_UVERBS_DEVICE_SYS_IMAGE_GUID)
                as u64;
        // `rdma link del` may unregister the device.
        attr.kernel_cap_flags = u64::from(bindings::ib_kernel_cap_flags_IBK_ALLOW_USER_UNREG);
    }
}

/// What a port is like now (`struct ib_port_attr`). Speed and width are asked of the network device
/// by the caller.
#[derive(Clone, Copy, Debug)]
pub struct PortAttributes {
    /// Logical state.
    pub state: PortState,
    /// Physical state.
    pub physical_state: PhysicalState,
    /// Largest path MTU ever.
    pub max_mtu: Mtu,
    /// Largest path MTU now.
    pub active_mtu: Mtu,
    /// The network device's MTU, in bytes.
    pub physical_mtu: u32,
    /// Longest message, in bytes.
    pub max_message: u32,
}

/// Entries of the GID table.
pub(crate) const GID_TABLE_LEN: i32 = 1024;
/// Entries of the P_Key table: RoCE has the default partition alone.
pub(crate) const PKEY_TABLE_LEN: u16 = 1;

impl PortAttributes {
    /// Writes them into the C struct, which is zeroed.
    pub(crate) fn write_to(&self, attr: &mut bindings::ib_port_attr) {
        attr.state = self.state as u32;
        attr.phys_state = self.physical_state as u8;
        attr.max_mtu = self.max_mtu as u32;
        attr.active_mtu = self.active_mtu as u32;
        attr.phys_mtu = self.physical_mtu;
        attr.max_msg_sz = self.max_message;
        attr.gid_tbl_len = GID_TABLE_LEN;
        attr.pkey_tbl_len = PKEY_TABLE_LEN;
        attr.max_vl_num = 1;
        // SAFETY: A bit-field of a valid struct.
        unsafe { bindings::oxe_helper_ib_port_attr_set_ip_gids(attr) };
    }
}
