// SPDX-License-Identifier: GPL-2.0
/* Shims over linux/skbuff.h and the output of IP. */
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "helpers.h"

/* An IP header, with room for the longer one, and a UDP header. */
#define OXE_IP_UDP_HEADROOM (sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* A packet with @payload_bytes of zeroes at @payload, and room for all headers before them. */
struct sk_buff *oxe_helper_udp_skb_alloc(unsigned int payload_bytes, u8 **payload)
{
	const unsigned int headroom = MAX_HEADER + OXE_IP_UDP_HEADROOM;
	struct sk_buff *skb;

	skb = alloc_skb(headroom + payload_bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	*payload = skb_put_zero(skb, payload_bytes);
	return skb;
}

void oxe_helper_skb_set_flow_hash(struct sk_buff *skb, u32 hash)
{
	__skb_set_sw_hash(skb, hash, true);
}

static void oxe_push_headers(struct sk_buff *skb, const u8 *headers, unsigned int ip_bytes, u8 tos)
{
	const unsigned int bytes = ip_bytes + sizeof(struct udphdr);

	memcpy(skb_push(skb, bytes), headers, bytes);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_bytes);
	skb->priority = rt_tos2priority(tos);
}

/*
 * Sends @skb, which has its payload only, by @dst, which the caller keeps. Takes @skb over in any
 * case. An errno or NET_XMIT_*.
 */
int oxe_helper_udp_skb_send_v4(struct sk_buff *skb, struct dst_entry *dst, u8 tos,
			       const u8 headers[28])
{
	int err;

	oxe_push_headers(skb, headers, sizeof(struct iphdr), tos);
	skb->protocol = htons(ETH_P_IP);
	rcu_read_lock();
	skb_dst_set_noref(skb, dst);
	err = ip_local_out(dst_dev_net_rcu(dst), NULL, skb);
	rcu_read_unlock();
	return err;
}

/* As above. */
int oxe_helper_udp_skb_send_v6(struct sk_buff *skb, struct dst_entry *dst, u8 traffic_class,
			       const u8 headers[48])
{
#if IS_ENABLED(CONFIG_IPV6)
	int err;

	oxe_push_headers(skb, headers, sizeof(struct ipv6hdr), traffic_class);
	skb->protocol = htons(ETH_P_IPV6);
	rcu_read_lock();
	skb_dst_set_noref(skb, dst);
	err = ip6_local_out(dst_dev_net_rcu(dst), NULL, skb);
	rcu_read_unlock();
	return err;
#else
	kfree_skb(skb);
	return -EAFNOSUPPORT;
#endif
}
