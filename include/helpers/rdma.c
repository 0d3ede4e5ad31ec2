// SPDX-License-Identifier: GPL-2.0
/* Shims over rdma/. */
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "helpers.h"

bool oxe_helper_ib_device_try_get(struct ib_device *dev)
{
	return ib_device_try_get(dev);
}

/* A reference that keeps the memory of @dev; it does not keep it registered. */
void oxe_helper_ib_device_get_memory(struct ib_device *dev)
{
	get_device(&dev->dev);
}

void oxe_helper_ib_device_put_memory(struct ib_device *dev)
{
	put_device(&dev->dev);
}

void oxe_helper_ib_mark_name_assigned_by_user(struct ib_device *dev)
{
	ib_mark_name_assigned_by_user(dev);
}

int oxe_helper_ib_no_udata_io(struct ib_udata *udata)
{
	return ib_no_udata_io(udata);
}

void oxe_helper_ib_port_attr_set_ip_gids(struct ib_port_attr *attr)
{
	attr->ip_gids = true;
}

enum ib_mtu oxe_helper_iboe_get_mtu(int mtu)
{
	return iboe_get_mtu(mtu);
}

enum ib_port_state oxe_helper_ib_get_curr_port_state(struct net_device *dev)
{
	return ib_get_curr_port_state(dev);
}

unsigned int oxe_helper_num_possible_cpus(void)
{
	return num_possible_cpus();
}

/* NULL for an object of the kernel. */
struct ib_udata *oxe_helper_uverbs_udata(struct uverbs_attr_bundle *attrs)
{
	return attrs ? &attrs->driver_udata : NULL;
}

struct ib_ucontext *oxe_helper_ib_udata_ucontext(struct ib_udata *udata)
{
	return rdma_udata_to_uverbs_attr_bundle(udata)->context;
}

int oxe_helper_ib_copy_from_udata(void *to, struct ib_udata *udata, size_t len)
{
	return ib_copy_from_udata(to, udata, len);
}

enum rdma_network_type oxe_helper_gid_network_type(const struct ib_gid_attr *attr)
{
	return rdma_gid_attr_network_type(attr);
}

/* The interface that the GID is of; 0 when it is gone. */
int oxe_helper_gid_ifindex(const struct ib_gid_attr *attr)
{
	const struct net_device *dev;
	int ifindex = 0;

	rcu_read_lock();
	dev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(dev))
		ifindex = READ_ONCE(dev->ifindex);
	rcu_read_unlock();
	return ifindex;
}

void oxe_helper_ah_dmac(const struct rdma_ah_attr *attr, u8 dmac[ETH_ALEN])
{
	memcpy(dmac, attr->roce.dmac, ETH_ALEN);
}

void oxe_helper_ah_set_dmac(struct rdma_ah_attr *attr, const u8 dmac[ETH_ALEN])
{
	memcpy(attr->roce.dmac, dmac, ETH_ALEN);
}
