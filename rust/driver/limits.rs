// SPDX-License-Identifier: GPL-2.0

//! What a device has room for. No limit is below that of `rdma_rxe` in Linux 7.3.

use kernel_ext::rdma::{
    DeviceAttributes,
    Guid, //
};

/// Processes that may have a device open at once.
pub(crate) const MAX_UCONTEXT: u32 = 1 << 20;
/// Protection domains.
pub(crate) const MAX_PD: u32 = 1 << 20;
/// Longest message, in bytes.
pub(crate) const MAX_MESSAGE: u32 = 1 << 31;

/// The version of this driver, as `major << 32 | minor << 16 | patch`, and as text.
const FIRMWARE_VERSION: u64 = 1 << 16;
/// See [`FIRMWARE_VERSION`].
pub(crate) const FIRMWARE_TEXT: &core::ffi::CStr = c"0.1.0";

/// The attributes of a device whose node GUID is `guid`.
pub(crate) fn device_attributes(guid: Guid) -> DeviceAttributes {
    DeviceAttributes {
        firmware_version: FIRMWARE_VERSION,
        system_image_guid: guid,
        // No vendor: what the InfiniBand Architecture (A3.3.1) has for software.
        vendor_id: 0x00ff_ffff,
        vendor_part_id: 0,
        hardware_version: 0,
        // 4 KiB and every larger power of two.
        page_size_cap: !0xfff,
        mr_size: u64::MAX,
        qp: 1 << 20,
        qp_wr: 1 << 20,
        send_sge: 32,
        recv_sge: 32,
        sge_rd: 32,
        cq: 1 << 20,
        cqe: (1 << 20) - 1,
        mr: 1 << 20,
        mw: 1 << 20,
        pd: MAX_PD,
        ah: 1 << 20,
        srq: 1 << 20,
        srq_wr: 1 << 20,
        srq_sge: 32,
        qp_rd_atom: 128,
        res_rd_atom: 128 << 20,
        qp_init_rd_atom: 128,
        mcast_grp: 8192,
        mcast_qp_attach: 56,
        total_mcast_qp_attach: 8192 * 56,
        fast_reg_page_list_len: 512,
        pkeys: 64,
        local_ca_ack_delay: 15,
    }
}
