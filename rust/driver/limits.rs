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
/// Completion queues.
pub(crate) const MAX_CQ: u32 = 1 << 20;
/// Entries of a completion queue.
pub(crate) const MAX_CQE: u32 = (1 << 20) - 1;
/// Queue pairs.
pub(crate) const MAX_QP: u32 = 1 << 20;
/// Work requests in a queue.
pub(crate) const MAX_QP_WR: u32 = 1 << 20;
/// Pieces of memory of a work request.
pub(crate) const MAX_SGE: u32 = 32;
/// Bytes of data in a work request itself.
pub(crate) const MAX_INLINE: u32 = 512;
/// Memory regions.
pub(crate) const MAX_MR: u32 = 1 << 20;
/// Address handles.
pub(crate) const MAX_AH: u32 = 1 << 20;
/// READs and atomics under way, of a queue pair in each direction.
pub(crate) const MAX_RD_ATOMIC: u8 = 128;
/// Bytes of memory that packets take which came before their turn.
pub(crate) const EARLY_BYTES: u32 = 64 << 20;
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
        qp: MAX_QP,
        qp_wr: MAX_QP_WR,
        send_sge: MAX_SGE,
        recv_sge: MAX_SGE,
        sge_rd: MAX_SGE,
        cq: MAX_CQ,
        cqe: MAX_CQE,
        mr: MAX_MR,
        mw: 1 << 20,
        pd: MAX_PD,
        ah: MAX_AH,
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
