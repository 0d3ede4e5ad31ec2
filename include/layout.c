// SPDX-License-Identifier: GPL-2.0
/*
 * Sizes and offsets as the kernel's C compiler lays them out. bindgen asks clang; the kernel may be
 * gcc's. rust/bindings/layout.rs compares each at build time. Compiled to assembly only, never
 * linked.
 */
#include <linux/hrtimer.h>
#include <linux/kbuild.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#include "compat.h"

#define SIZE(type) DEFINE(SIZEOF_##type, sizeof(struct type))
#define FIELD(type, member) DEFINE(OFFSETOF_##type##__##member, offsetof(struct type, member))

int main(void)
{
	SIZE(ib_device);
	FIELD(ib_device, uverbs_cmd_mask);
	FIELD(ib_device, node_desc);
	FIELD(ib_device, node_guid);
	FIELD(ib_device, node_type);
	FIELD(ib_device, phys_port_cnt);
	FIELD(ib_device, num_comp_vectors);

	SIZE(ib_device_ops);
	FIELD(ib_device_ops, owner);
	FIELD(ib_device_ops, driver_id);
	FIELD(ib_device_ops, uverbs_abi_ver);
	FIELD(ib_device_ops, query_device);
	FIELD(ib_device_ops, get_netdev);
	FIELD(ib_device_ops, alloc_pd);
	FIELD(ib_device_ops, dealloc_driver);
	FIELD(ib_device_ops, post_send);
	FIELD(ib_device_ops, req_notify_cq);
	FIELD(ib_device_ops, mmap);
	FIELD(ib_device_ops, mmap_free);
	FIELD(ib_device_ops, create_user_ah);
	FIELD(ib_device_ops, create_qp);
	FIELD(ib_device_ops, create_user_cq);
	FIELD(ib_device_ops, reg_user_mr);
	FIELD(ib_device_ops, size_ib_ah);
	FIELD(ib_device_ops, size_ib_cq);
	FIELD(ib_device_ops, size_ib_pd);
	FIELD(ib_device_ops, size_ib_qp);
	FIELD(ib_device_ops, size_ib_ucontext);

	SIZE(ib_device_attr);
	FIELD(ib_device_attr, kernel_cap_flags);
	FIELD(ib_device_attr, max_pkeys);
	FIELD(ib_device_attr, local_ca_ack_delay);
	SIZE(ib_send_wr);
	FIELD(ib_send_wr, sg_list);
	FIELD(ib_send_wr, opcode);
	FIELD(ib_send_wr, ex);
	SIZE(ib_rdma_wr);
	FIELD(ib_rdma_wr, rkey);
	SIZE(ib_atomic_wr);
	FIELD(ib_atomic_wr, swap);
	FIELD(ib_atomic_wr, rkey);
	SIZE(ib_ud_wr);
	FIELD(ib_ud_wr, ah);
	FIELD(ib_ud_wr, remote_qkey);
	FIELD(ib_ud_wr, pkey_index);
	SIZE(ib_recv_wr);
	FIELD(ib_recv_wr, num_sge);
	SIZE(ib_sge);
	SIZE(ib_wc);
	FIELD(ib_wc, qp);
	FIELD(ib_wc, wc_flags);
	FIELD(ib_wc, network_hdr_type);
	SIZE(ib_port_attr);
	FIELD(ib_port_attr, port_cap_flags);
	FIELD(ib_port_attr, active_speed);
	FIELD(ib_port_attr, phys_state);
	SIZE(ib_port_immutable);
	FIELD(ib_port_immutable, core_cap_flags);
	SIZE(ib_device_modify);
	FIELD(ib_device_modify, node_desc);
	SIZE(ib_ucontext);
	FIELD(ib_ucontext, device);
	FIELD(ib_ucontext, mmap_xa);
	SIZE(ib_pd);
	FIELD(ib_pd, device);
	SIZE(ib_qp);
	FIELD(ib_qp, device);
	FIELD(ib_qp, pd);
	FIELD(ib_qp, send_cq);
	FIELD(ib_qp, recv_cq);
	FIELD(ib_qp, srq);
	FIELD(ib_qp, event_handler);
	FIELD(ib_qp, qp_context);
	FIELD(ib_qp, qp_num);
	FIELD(ib_qp, qp_type);
	SIZE(ib_cq);
	FIELD(ib_cq, device);
	FIELD(ib_cq, comp_handler);
	FIELD(ib_cq, event_handler);
	FIELD(ib_cq, cq_context);
	FIELD(ib_cq, cqe);
	SIZE(ib_mr);
	FIELD(ib_mr, lkey);
	FIELD(ib_mr, rkey);
	SIZE(ib_ah);
	FIELD(ib_ah, device);
	FIELD(ib_ah, pd);
	SIZE(ib_event);
	FIELD(ib_event, element);
	FIELD(ib_event, event);
	SIZE(ib_cq_init_attr);
	FIELD(ib_cq_init_attr, flags);
	SIZE(ib_qp_init_attr);
	FIELD(ib_qp_init_attr, srq);
	FIELD(ib_qp_init_attr, cap);
	FIELD(ib_qp_init_attr, sq_sig_type);
	FIELD(ib_qp_init_attr, qp_type);
	FIELD(ib_qp_init_attr, create_flags);
	FIELD(ib_qp_init_attr, rwq_ind_tbl);
	SIZE(ib_qp_attr);
	FIELD(ib_qp_attr, qp_access_flags);
	FIELD(ib_qp_attr, cap);
	FIELD(ib_qp_attr, ah_attr);
	FIELD(ib_qp_attr, pkey_index);
	FIELD(ib_qp_attr, max_rd_atomic);
	FIELD(ib_qp_attr, port_num);
	FIELD(ib_qp_attr, rnr_retry);
	SIZE(ib_qp_cap);
	FIELD(ib_qp_cap, max_inline_data);
	SIZE(rdma_ah_attr);
	FIELD(rdma_ah_attr, static_rate);
	FIELD(rdma_ah_attr, port_num);
	FIELD(rdma_ah_attr, ah_flags);
	SIZE(ib_global_route);
	FIELD(ib_global_route, dgid);
	FIELD(ib_global_route, flow_label);
	FIELD(ib_global_route, traffic_class);
	SIZE(rdma_ah_init_attr);
	FIELD(rdma_ah_init_attr, flags);
	SIZE(ib_gid_attr);
	FIELD(ib_gid_attr, gid);
	SIZE(ib_udata);
	FIELD(ib_udata, inlen);
	FIELD(ib_udata, outlen);
	SIZE(rdma_user_mmap_entry);
	FIELD(rdma_user_mmap_entry, start_pgoff);
	SIZE(rdma_link_ops);
	FIELD(rdma_link_ops, newlink);
	SIZE(rdma_hw_stats);
	FIELD(rdma_hw_stats, num_counters);
	FIELD(rdma_hw_stats, value);
	SIZE(rdma_stat_desc);
	SIZE(notifier_block);
	FIELD(notifier_block, notifier_call);
	SIZE(pernet_operations);
	FIELD(pernet_operations, exit);
	SIZE(xarray);
	SIZE(hrtimer);
	return 0;
}
