/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The input of bindgen. hrtimer_types.h comes first: bindgen takes an enum for signed where it
 * meets a forward reference before the definition.
 */
#include <linux/hrtimer_types.h>

#include <linux/crc32.h>
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/skbuff.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/dst.h>
#include <net/net_namespace.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_rxe.h>
#include <rdma/uverbs_ioctl.h>

#include "helpers/helpers.h"
