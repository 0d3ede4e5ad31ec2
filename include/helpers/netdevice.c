// SPDX-License-Identifier: GPL-2.0
/* Shims over linux/netdevice.h and its neighbours. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>

#include "helpers.h"

void oxe_helper_dev_hold(struct net_device *dev)
{
	dev_hold(dev);
}

void oxe_helper_dev_put(struct net_device *dev)
{
	dev_put(dev);
}

/* NULL if @net is ending. */
struct net *oxe_helper_maybe_get_net(struct net *net)
{
	return maybe_get_net(net);
}

void oxe_helper_put_net(struct net *net)
{
	put_net(net);
}

struct net *oxe_helper_dev_net(const struct net_device *dev)
{
	return dev_net(dev);
}

int oxe_helper_dev_ifindex(const struct net_device *dev)
{
	return READ_ONCE(dev->ifindex);
}

unsigned int oxe_helper_dev_mtu(const struct net_device *dev)
{
	return READ_ONCE(dev->mtu);
}

unsigned short oxe_helper_dev_type(const struct net_device *dev)
{
	return dev->type;
}

unsigned char oxe_helper_dev_addr_len(const struct net_device *dev)
{
	return dev->addr_len;
}

bool oxe_helper_dev_is_loopback(const struct net_device *dev)
{
	return netif_get_flags(dev) & IFF_LOOPBACK;
}

bool oxe_helper_dev_is_up(const struct net_device *dev)
{
	return netif_get_flags(dev) & IFF_UP;
}

/* Stable only under the rtnl lock. */
bool oxe_helper_dev_is_registered(const struct net_device *dev)
{
	return READ_ONCE(dev->reg_state) == NETREG_REGISTERED;
}

/* The name may change meanwhile: a copy, always terminated. */
void oxe_helper_dev_name(const struct net_device *dev, char name[IFNAMSIZ])
{
	strscpy(name, netdev_name(dev), IFNAMSIZ);
}

/* The EUI-64 of the device's EUI-48. The caller has checked addr_len. */
void oxe_helper_dev_eui64(const struct net_device *dev, u8 eui[8])
{
	addrconf_addr_eui48(eui, (const char *)dev->dev_addr);
}

/* The EUI-64 of a random, locally administered EUI-48. */
void oxe_helper_random_eui64(u8 eui[8])
{
	u8 addr[ETH_ALEN];

	eth_random_addr(addr);
	addrconf_addr_eui48(eui, (const char *)addr);
}

/* The device below a VLAN device, which may be a VLAN as well; NULL for any other. */
struct net_device *oxe_helper_vlan_lower_dev(struct net_device *dev)
{
#if IS_ENABLED(CONFIG_VLAN_8021Q)
	if (is_vlan_dev(dev))
		return vlan_dev_priv(dev)->real_dev;
#endif
	return NULL;
}

/* Whether the interface @ifindex of the same namespace is one above @dev. */
bool oxe_helper_dev_is_below(struct net_device *dev, int ifindex)
{
	struct net_device *other;
	bool below;

	rcu_read_lock();
	other = dev_get_by_index_rcu(dev_net_rcu(dev), ifindex);
	below = other && netdev_has_upper_dev_all_rcu(dev, other);
	rcu_read_unlock();
	return below;
}

/* The VLAN identifier of a VLAN device; -1 for any other. */
int oxe_helper_vlan_id(struct net_device *dev)
{
#if IS_ENABLED(CONFIG_VLAN_8021Q)
	if (is_vlan_dev(dev))
		return vlan_dev_vlan_id(dev);
#endif
	return -1;
}

struct net_device *oxe_helper_notifier_info_to_dev(void *info)
{
	return netdev_notifier_info_to_dev(info);
}
