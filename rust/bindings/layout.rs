// SPDX-License-Identifier: GPL-2.0

//! Build-time proof that bindgen's layouts are those of the kernel's C compiler
//! (`include/layout.c`).

use crate::layout_generated as c;
use core::mem::{
    offset_of,
    size_of, //
};

macro_rules! same_size {
    ($($ty:ident == $c:ident;)*) => {
        $(const _: () = assert!(size_of::<crate::$ty>() == c::$c);)*
    };
}

macro_rules! same_offset {
    ($($ty:ident . $field:ident == $c:ident;)*) => {
        $(const _: () = assert!(offset_of!(crate::$ty, $field) == c::$c);)*
    };
}

same_size! {
    ib_device == SIZEOF_ib_device;
    ib_device_ops == SIZEOF_ib_device_ops;
    ib_device_attr == SIZEOF_ib_device_attr;
    ib_send_wr == SIZEOF_ib_send_wr;
    ib_rdma_wr == SIZEOF_ib_rdma_wr;
    ib_atomic_wr == SIZEOF_ib_atomic_wr;
    ib_ud_wr == SIZEOF_ib_ud_wr;
    ib_recv_wr == SIZEOF_ib_recv_wr;
    ib_sge == SIZEOF_ib_sge;
    ib_wc == SIZEOF_ib_wc;
    ib_port_attr == SIZEOF_ib_port_attr;
    ib_port_immutable == SIZEOF_ib_port_immutable;
    ib_device_modify == SIZEOF_ib_device_modify;
    ib_ucontext == SIZEOF_ib_ucontext;
    ib_pd == SIZEOF_ib_pd;
    ib_qp == SIZEOF_ib_qp;
    ib_cq == SIZEOF_ib_cq;
    ib_mr == SIZEOF_ib_mr;
    ib_ah == SIZEOF_ib_ah;
    ib_event == SIZEOF_ib_event;
    ib_cq_init_attr == SIZEOF_ib_cq_init_attr;
    ib_qp_init_attr == SIZEOF_ib_qp_init_attr;
    ib_qp_attr == SIZEOF_ib_qp_attr;
    ib_qp_cap == SIZEOF_ib_qp_cap;
    rdma_ah_attr == SIZEOF_rdma_ah_attr;
    ib_global_route == SIZEOF_ib_global_route;
    rdma_ah_init_attr == SIZEOF_rdma_ah_init_attr;
    ib_gid_attr == SIZEOF_ib_gid_attr;
    ib_udata == SIZEOF_ib_udata;
    rdma_user_mmap_entry == SIZEOF_rdma_user_mmap_entry;
    rdma_link_ops == SIZEOF_rdma_link_ops;
    rdma_hw_stats == SIZEOF_rdma_hw_stats;
    rdma_stat_desc == SIZEOF_rdma_stat_desc;
    notifier_block == SIZEOF_notifier_block;
    pernet_operations == SIZEOF_pernet_operations;
    xarray == SIZEOF_xarray;
    hrtimer == SIZEOF_hrtimer;
}

same_offset! {
    ib_send_wr.sg_list == OFFSETOF_ib_send_wr__sg_list;
    ib_send_wr.opcode == OFFSETOF_ib_send_wr__opcode;
    ib_send_wr.ex == OFFSETOF_ib_send_wr__ex;
    ib_rdma_wr.rkey == OFFSETOF_ib_rdma_wr__rkey;
    ib_atomic_wr.swap == OFFSETOF_ib_atomic_wr__swap;
    ib_atomic_wr.rkey == OFFSETOF_ib_atomic_wr__rkey;
    ib_ud_wr.ah == OFFSETOF_ib_ud_wr__ah;
    ib_ud_wr.remote_qkey == OFFSETOF_ib_ud_wr__remote_qkey;
    ib_ud_wr.pkey_index == OFFSETOF_ib_ud_wr__pkey_index;
    ib_recv_wr.num_sge == OFFSETOF_ib_recv_wr__num_sge;
    ib_wc.qp == OFFSETOF_ib_wc__qp;
    ib_wc.wc_flags == OFFSETOF_ib_wc__wc_flags;
    ib_wc.network_hdr_type == OFFSETOF_ib_wc__network_hdr_type;
    ib_device.uverbs_cmd_mask == OFFSETOF_ib_device__uverbs_cmd_mask;
    ib_device.node_desc == OFFSETOF_ib_device__node_desc;
    ib_device.node_guid == OFFSETOF_ib_device__node_guid;
    ib_device.node_type == OFFSETOF_ib_device__node_type;
    ib_device.phys_port_cnt == OFFSETOF_ib_device__phys_port_cnt;
    ib_device.num_comp_vectors == OFFSETOF_ib_device__num_comp_vectors;
    ib_device_ops.owner == OFFSETOF_ib_device_ops__owner;
    ib_device_ops.driver_id == OFFSETOF_ib_device_ops__driver_id;
    ib_device_ops.uverbs_abi_ver == OFFSETOF_ib_device_ops__uverbs_abi_ver;
    ib_device_ops.query_device == OFFSETOF_ib_device_ops__query_device;
    ib_device_ops.get_netdev == OFFSETOF_ib_device_ops__get_netdev;
    ib_device_ops.alloc_pd == OFFSETOF_ib_device_ops__alloc_pd;
    ib_device_ops.dealloc_driver == OFFSETOF_ib_device_ops__dealloc_driver;
    ib_device_ops.post_send == OFFSETOF_ib_device_ops__post_send;
    ib_device_ops.req_notify_cq == OFFSETOF_ib_device_ops__req_notify_cq;
    ib_device_ops.mmap == OFFSETOF_ib_device_ops__mmap;
    ib_device_ops.mmap_free == OFFSETOF_ib_device_ops__mmap_free;
    ib_device_ops.create_user_ah == OFFSETOF_ib_device_ops__create_user_ah;
    ib_device_ops.create_qp == OFFSETOF_ib_device_ops__create_qp;
    ib_device_ops.create_user_cq == OFFSETOF_ib_device_ops__create_user_cq;
    ib_device_ops.reg_user_mr == OFFSETOF_ib_device_ops__reg_user_mr;
    ib_device_ops.size_ib_ah == OFFSETOF_ib_device_ops__size_ib_ah;
    ib_device_ops.size_ib_cq == OFFSETOF_ib_device_ops__size_ib_cq;
    ib_device_ops.size_ib_pd == OFFSETOF_ib_device_ops__size_ib_pd;
    ib_device_ops.size_ib_qp == OFFSETOF_ib_device_ops__size_ib_qp;
    ib_device_ops.size_ib_ucontext == OFFSETOF_ib_device_ops__size_ib_ucontext;
    ib_device_attr.kernel_cap_flags == OFFSETOF_ib_device_attr__kernel_cap_flags;
    ib_device_attr.max_pkeys == OFFSETOF_ib_device_attr__max_pkeys;
    ib_device_attr.local_ca_ack_delay == OFFSETOF_ib_device_attr__local_ca_ack_delay;
    ib_port_attr.port_cap_flags == OFFSETOF_ib_port_attr__port_cap_flags;
    ib_port_attr.active_speed == OFFSETOF_ib_port_attr__active_speed;
    ib_port_attr.phys_state == OFFSETOF_ib_port_attr__phys_state;
    ib_port_immutable.core_cap_flags == OFFSETOF_ib_port_immutable__core_cap_flags;
    ib_device_modify.node_desc == OFFSETOF_ib_device_modify__node_desc;
    ib_ucontext.device == OFFSETOF_ib_ucontext__device;
    ib_ucontext.mmap_xa == OFFSETOF_ib_ucontext__mmap_xa;
    ib_pd.device == OFFSETOF_ib_pd__device;
    ib_qp.device == OFFSETOF_ib_qp__device;
    ib_qp.pd == OFFSETOF_ib_qp__pd;
    ib_qp.send_cq == OFFSETOF_ib_qp__send_cq;
    ib_qp.recv_cq == OFFSETOF_ib_qp__recv_cq;
    ib_qp.srq == OFFSETOF_ib_qp__srq;
    ib_qp.event_handler == OFFSETOF_ib_qp__event_handler;
    ib_qp.qp_context == OFFSETOF_ib_qp__qp_context;
    ib_qp.qp_num == OFFSETOF_ib_qp__qp_num;
    ib_qp.qp_type == OFFSETOF_ib_qp__qp_type;
    ib_cq.device == OFFSETOF_ib_cq__device;
    ib_cq.comp_handler == OFFSETOF_ib_cq__comp_handler;
    ib_cq.event_handler == OFFSETOF_ib_cq__event_handler;
    ib_cq.cq_context == OFFSETOF_ib_cq__cq_context;
    ib_cq.cqe == OFFSETOF_ib_cq__cqe;
    ib_mr.lkey == OFFSETOF_ib_mr__lkey;
    ib_mr.rkey == OFFSETOF_ib_mr__rkey;
    ib_ah.device == OFFSETOF_ib_ah__device;
    ib_ah.pd == OFFSETOF_ib_ah__pd;
    ib_event.element == OFFSETOF_ib_event__element;
    ib_event.event == OFFSETOF_ib_event__event;
    ib_cq_init_attr.flags == OFFSETOF_ib_cq_init_attr__flags;
    ib_qp_init_attr.srq == OFFSETOF_ib_qp_init_attr__srq;
    ib_qp_init_attr.cap == OFFSETOF_ib_qp_init_attr__cap;
    ib_qp_init_attr.sq_sig_type == OFFSETOF_ib_qp_init_attr__sq_sig_type;
    ib_qp_init_attr.qp_type == OFFSETOF_ib_qp_init_attr__qp_type;
    ib_qp_init_attr.create_flags == OFFSETOF_ib_qp_init_attr__create_flags;
    ib_qp_init_attr.rwq_ind_tbl == OFFSETOF_ib_qp_init_attr__rwq_ind_tbl;
    ib_qp_attr.qp_access_flags == OFFSETOF_ib_qp_attr__qp_access_flags;
    ib_qp_attr.cap == OFFSETOF_ib_qp_attr__cap;
    ib_qp_attr.ah_attr == OFFSETOF_ib_qp_attr__ah_attr;
    ib_qp_attr.pkey_index == OFFSETOF_ib_qp_attr__pkey_index;
    ib_qp_attr.max_rd_atomic == OFFSETOF_ib_qp_attr__max_rd_atomic;
    ib_qp_attr.port_num == OFFSETOF_ib_qp_attr__port_num;
    ib_qp_attr.rnr_retry == OFFSETOF_ib_qp_attr__rnr_retry;
    ib_qp_cap.max_inline_data == OFFSETOF_ib_qp_cap__max_inline_data;
    rdma_ah_attr.static_rate == OFFSETOF_rdma_ah_attr__static_rate;
    rdma_ah_attr.port_num == OFFSETOF_rdma_ah_attr__port_num;
    rdma_ah_attr.ah_flags == OFFSETOF_rdma_ah_attr__ah_flags;
    ib_global_route.dgid == OFFSETOF_ib_global_route__dgid;
    ib_global_route.flow_label == OFFSETOF_ib_global_route__flow_label;
    ib_global_route.traffic_class == OFFSETOF_ib_global_route__traffic_class;
    rdma_ah_init_attr.flags == OFFSETOF_rdma_ah_init_attr__flags;
    ib_gid_attr.gid == OFFSETOF_ib_gid_attr__gid;
    ib_udata.inlen == OFFSETOF_ib_udata__inlen;
    ib_udata.outlen == OFFSETOF_ib_udata__outlen;
    rdma_user_mmap_entry.start_pgoff == OFFSETOF_rdma_user_mmap_entry__start_pgoff;
    rdma_link_ops.newlink == OFFSETOF_rdma_link_ops__newlink;
    rdma_hw_stats.num_counters == OFFSETOF_rdma_hw_stats__num_counters;
    rdma_hw_stats.value == OFFSETOF_rdma_hw_stats__value;
    notifier_block.notifier_call == OFFSETOF_notifier_block__notifier_call;
    pernet_operations.exit == OFFSETOF_pernet_operations__exit;
}
