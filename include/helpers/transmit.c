// SPDX-License-Identifier: GPL-2.0
/* Shims over linux/skbuff.h and the output of IP. */
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

#include "helpers.h"

/* An IP header, with room for the longer one, and a UDP header. */
#define OXE_IP_UDP_HEADROOM (sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/*
 * A packet with @payload_bytes at @payload, which are whatever they were before, and room for all
 * headers before them.
 */
struct sk_buff *oxe_helper_udp_skb_alloc(unsigned int payload_bytes, u8 **payload)
{
	const unsigned int headroom = MAX_HEADER + OXE_IP_UDP_HEADROOM;
	struct sk_buff *skb;

	skb = alloc_skb(headroom + payload_bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, headroom);
	*payload = skb_put(skb, payload_bytes);
	return skb;
}

/*
 * Adds a fragment of @bytes, which are whatever they were before, to @skb, which nobody else has.
 * NULL if there is no memory for it, or no place for one more.
 */
u8 *oxe_helper_udp_skb_add(struct sk_buff *skb, unsigned int bytes)
{
	const unsigned int order = get_order(bytes);
	struct page *page;

	if (skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS)
		return NULL;
	page = alloc_pages(GFP_ATOMIC | __GFP_COMP | __GFP_NOMEMALLOC | __GFP_NOWARN, order);
	if (!page)
		return NULL;
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 0, bytes, PAGE_SIZE << order);
	return page_address(page);
}

/* Cuts off what is behind the first @bytes of @skb, which nobody else has. */
int oxe_helper_udp_skb_trim(struct sk_buff *skb, unsigned int bytes)
{
	return pskb_trim(skb, bytes);
}

static int oxe_is_hardware(struct net_device *dev, struct netdev_nested_priv *priv)
{
	return !!dev->dev.parent;
}

/*
 * How many datagrams of @datagram_bytes each may go by @dst as one packet; 1 if none may. Under the
 * limits of the device it is cut up by that, or by the kernel right in front.
 *
 * Whoever has GSO off at the device gets none. Encryption comes before the cutting, so not there
 * either. Hardware that cuts up itself need not count up the IPv4 identification of datagrams: the
 * kernel asks it to for TCP only.
 */
unsigned int oxe_helper_dst_datagrams(const struct dst_entry *dst, unsigned int datagram_bytes)
{
	const bool v6 = dst->ops->family == AF_INET6;
	struct netdev_nested_priv none = {};
	unsigned int room, segs = 1;
	struct net_device *dev;

	rcu_read_lock();
	dev = dst_dev_rcu(dst);
	if (!(dev->features & NETIF_F_GSO) || dst_xfrm(dst))
		goto out;
	if (!v6 && (dev->features & NETIF_F_GSO_UDP_L4) &&
	    (oxe_is_hardware(dev, &none) ||
	     netdev_walk_all_lower_dev_rcu(dev, oxe_is_hardware, &none)))
		goto out;
	/* The whole packet, link layer header included, has to be shorter. */
	room = v6 ? READ_ONCE(dev->gso_max_size) : READ_ONCE(dev->gso_ipv4_max_size);
	if (room <= LL_MAX_HEADER + OXE_IP_UDP_HEADROOM)
		goto out;
	room -= LL_MAX_HEADER + OXE_IP_UDP_HEADROOM;
	segs = min3(room / datagram_bytes, (unsigned int)READ_ONCE(dev->gso_max_segs),
		    (unsigned int)UDP_MAX_SEGMENTS);
out:
	rcu_read_unlock();
	return max(segs, 1U);
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
 * Makes @skb a packet of several datagrams, of @datagram_bytes each. @pseudo is the checksum of the
 * pseudo header.
 */
static void oxe_set_datagrams(struct sk_buff *skb, unsigned int datagram_bytes, __sum16 pseudo)
{
	const unsigned int bytes = skb->len - skb_transport_offset(skb) - sizeof(struct udphdr);

	skb_shinfo(skb)->gso_size = datagram_bytes;
	skb_shinfo(skb)->gso_segs = DIV_ROUND_UP(bytes, datagram_bytes);
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	udp_hdr(skb)->check = ~pseudo;
}

/*
 * Sends @skb, which has its payload only, by @dst, which the caller keeps. @datagram_bytes is 0, or
 * the payload of each datagram if there are several. Takes @skb over in any case. An errno or
 * NET_XMIT_*.
 */
int oxe_helper_udp_skb_send_v4(struct sk_buff *skb, struct dst_entry *dst, u8 tos,
			       const u8 headers[28], unsigned int datagram_bytes)
{
	int err;

	oxe_push_headers(skb, headers, sizeof(struct iphdr), tos);
	skb->protocol = htons(ETH_P_IP);
	if (datagram_bytes)
		oxe_set_datagrams(skb, datagram_bytes,
				  udp_v4_check(ntohs(udp_hdr(skb)->len), ip_hdr(skb)->saddr,
					       ip_hdr(skb)->daddr, 0));
	rcu_read_lock();
	skb_dst_set_noref(skb, dst);
	err = ip_local_out(dst_dev_net_rcu(dst), NULL, skb);
	rcu_read_unlock();
	return err;
}

/* As above. */
int oxe_helper_udp_skb_send_v6(struct sk_buff *skb, struct dst_entry *dst, u8 traffic_class,
			       const u8 headers[48], unsigned int datagram_bytes)
{
#if IS_ENABLED(CONFIG_IPV6)
	int err;

	oxe_push_headers(skb, headers, sizeof(struct ipv6hdr), traffic_class);
	skb->protocol = htons(ETH_P_IPV6);
	if (datagram_bytes)
		oxe_set_datagrams(skb, datagram_bytes,
				  udp_v6_check(ntohs(udp_hdr(skb)->len), &ipv6_hdr(skb)->saddr,
					       &ipv6_hdr(skb)->daddr, 0));
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
