// SPDX-License-Identifier: GPL-2.0
/* Shims over net/route.h, net/ip6_route.h and net/dst.h. */
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "helpers.h"

/*
 * The route of a UDP flow that leaves by the interface @oif. Ports in host order. Any context but
 * hard interrupts.
 */
int oxe_helper_route_v4(struct net *net, int oif, const u8 source[4], const u8 destination[4],
			u8 tos, u16 source_port, u16 destination_port, struct dst_entry **out)
{
	struct flowi4 fl4 = {};
	struct rtable *rt;
	__be32 saddr, daddr;

	memcpy(&saddr, source, sizeof(saddr));
	memcpy(&daddr, destination, sizeof(daddr));
	flowi4_init_output(&fl4, oif, 0, tos, RT_SCOPE_UNIVERSE, IPPROTO_UDP, 0, daddr, saddr,
			   htons(destination_port), htons(source_port), sock_net_uid(net, NULL));
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt))
		return PTR_ERR(rt);
	*out = &rt->dst;
	return 0;
}

/* As above. @cookie is what oxe_helper_dst_is_valid() wants to see again. */
int oxe_helper_route_v6(struct net *net, int oif, const u8 source[16], const u8 destination[16],
			u8 traffic_class, u32 flow_label, u16 source_port, u16 destination_port,
			struct dst_entry **out, u32 *cookie)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = {
		.flowi6_oif = oif,
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_uid = sock_net_uid(net, NULL),
		.flowlabel = ip6_make_flowinfo(traffic_class,
					       htonl(flow_label) & IPV6_FLOWLABEL_MASK),
		.fl6_sport = htons(source_port),
		.fl6_dport = htons(destination_port),
	};
	struct dst_entry *dst;
	int err;

	if (!ipv6_mod_enabled())
		return -EAFNOSUPPORT;
	memcpy(&fl6.saddr, source, sizeof(fl6.saddr));
	memcpy(&fl6.daddr, destination, sizeof(fl6.daddr));
	/* The flag makes IPv6 as strict about the interface as IPv4 is. */
	dst = ip6_route_output_flags(net, NULL, &fl6, RT6_LOOKUP_F_IFACE);
	err = dst->error;
	if (err) {
		dst_release(dst);
		return err;
	}
	dst = xfrm_lookup_route(net, dst, flowi6_to_flowi(&fl6), NULL, 0);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	*cookie = rt6_get_cookie(dst_rt6_info(dst));
	*out = dst;
	return 0;
#else
	return -EAFNOSUPPORT;
#endif
}

bool oxe_helper_dst_is_valid(struct dst_entry *dst, u32 cookie)
{
	bool valid;

	rcu_read_lock();
	valid = dst_check(dst, cookie);
	rcu_read_unlock();
	return valid;
}

bool oxe_helper_dst_is_local_v4(const struct dst_entry *dst)
{
	return dst_rtable(dst)->rt_type == RTN_LOCAL;
}

bool oxe_helper_dst_is_local_v6(const struct dst_entry *dst)
{
#if IS_ENABLED(CONFIG_IPV6)
	return dst_rt6_info(dst)->rt6i_flags & RTF_LOCAL;
#else
	return false;
#endif
}

int oxe_helper_dst_ifindex(const struct dst_entry *dst)
{
	int ifindex;

	rcu_read_lock();
	ifindex = READ_ONCE(dst_dev_rcu(dst)->ifindex);
	rcu_read_unlock();
	return ifindex;
}

unsigned int oxe_helper_dst_mtu(const struct dst_entry *dst)
{
	unsigned int mtu;

	rcu_read_lock();
	mtu = dst_mtu(dst);
	rcu_read_unlock();
	return mtu;
}
