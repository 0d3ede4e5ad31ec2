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
    ib_port_attr == SIZEOF_ib_port_attr;
    ib_port_immutable == SIZEOF_ib_port_immutable;
    ib_device_modify == SIZEOF_ib_device_modify;
    ib_ucontext == SIZEOF_ib_ucontext;
    ib_pd == SIZEOF_ib_pd;
    ib_qp == SIZEOF_ib_qp;
    ib_cq == SIZEOF_ib_cq;
    rdma_link_ops == SIZEOF_rdma_link_ops;
    rdma_hw_stats == SIZEOF_rdma_hw_stats;
    rdma_stat_desc == SIZEOF_rdma_stat_desc;
    notifier_block == SIZEOF_notifier_block;
    pernet_operations == SIZEOF_pernet_operations;
    xarray == SIZEOF_xarray;
    hrtimer == SIZEOF_hrtimer;
}

same_offset! {
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
    ib_device_ops.size_ib_pd == OFFSETOF_ib_device_ops__size_ib_pd;
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
    ib_pd.device == OFFSETOF_ib_pd__device;
    notifier_block.notifier_call == OFFSETOF_notifier_block__notifier_call;
    pernet_operations.exit == OFFSETOF_pernet_operations__exit;
    rdma_link_ops.newlink == OFFSETOF_rdma_link_ops__newlink;
    rdma_hw_stats.num_counters == OFFSETOF_rdma_hw_stats__num_counters;
    rdma_hw_stats.value == OFFSETOF_rdma_hw_stats__value;
}
