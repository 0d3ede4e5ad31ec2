// SPDX-License-Identifier: GPL-2.0
/* Shims over rdma/. */
#include <rdma/ib_addr.h>
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
