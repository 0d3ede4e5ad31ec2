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
	FIELD(ib_device_ops, size_ib_pd);
	FIELD(ib_device_ops, size_ib_ucontext);

	SIZE(ib_device_attr);
	FIELD(ib_device_attr, kernel_cap_flags);
	FIELD(ib_device_attr, max_pkeys);
	FIELD(ib_device_attr, local_ca_ack_delay);
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
	SIZE(ib_pd);
	FIELD(ib_pd, device);
	SIZE(ib_qp);
	SIZE(ib_cq);
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
