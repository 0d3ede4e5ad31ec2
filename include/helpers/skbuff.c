// SPDX-License-Identifier: GPL-2.0
/* Shims over linux/skbuff.h, for packets that come in. */
#include <linux/crc32.h>
#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>

#include "helpers.h"

/* The packet was dropped. */
void oxe_helper_kfree_skb(struct sk_buff *skb)
{
	kfree_skb(skb);
}

unsigned int oxe_helper_skb_truesize(const struct sk_buff *skb)
{
	return skb->truesize;
}

unsigned int oxe_helper_skb_len(const struct sk_buff *skb)
{
	return skb->len;
}

static int oxe_skb_iif(const struct sk_buff *skb)
{
	bool v6 = skb->protocol == htons(ETH_P_IPV6);
	int slave = v6 ? inet6_sdif(skb) : inet_sdif(skb);

	if (slave)
		return slave;
	return v6 ? inet6_iif(skb) : inet_iif(skb);
}

/*
 * The device that a UDP socket's packet came in by. For a packet of this host (skb->dev is the
 * loopback device or a VRF's) the device that has the address which it was sent to: IP notes that
 * in the route of the packet. Under RCU.
 */
struct net_device *oxe_helper_skb_input_dev(const struct sk_buff *skb)
{
	struct net_device *dev = skb->dev, *input;

	if (!(netif_get_flags(dev) & IFF_LOOPBACK) && !netif_is_l3_master(dev))
		return dev;
	input = dev_get_by_index_rcu(dev_net_rcu(dev), oxe_skb_iif(skb));
	return input ?: dev;
}

/* Forgets what only RCU keeps, so that the packet may be kept longer. */
void oxe_helper_skb_detach(struct sk_buff *skb)
{
	skb_dst_drop(skb);
	skb_ext_reset(skb);
	skb->dev = NULL;
}

const u8 *oxe_helper_skb_data(const struct sk_buff *skb)
{
	return skb->data;
}

unsigned int oxe_helper_skb_headlen(const struct sk_buff *skb)
{
	return skb_headlen(skb);
}

/*
 * A packet with the IP and UDP headers of @skb, as they are, and @bytes of what is in it from
 * @offset on. @skb begins with its UDP header.
 */
struct sk_buff *oxe_helper_udp_skb_copy(const struct sk_buff *skb, unsigned int offset,
					unsigned int bytes)
{
	const unsigned int ip_bytes = skb_network_header_len(skb);
	struct sk_buff *new;

	if (offset > skb->len || bytes > skb->len - offset || skb_headlen(skb) < 8 ||
	    ip_bytes > skb_headroom(skb))
		return NULL;
	new = alloc_skb(ip_bytes + 8 + bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!new)
		return NULL;
	skb_put_data(new, skb_network_header(skb), ip_bytes);
	skb_reset_network_header(new);
	skb_pull(new, ip_bytes);
	skb_reset_transport_header(new);
	skb_put_data(new, skb->data, 8);
	if (skb_copy_bits(skb, offset, skb_put(new, bytes), bytes)) {
		kfree_skb(new);
		return NULL;
	}
	new->protocol = skb->protocol;
	return new;
}

/* Another packet with the same data. */
struct sk_buff *oxe_helper_skb_clone(struct sk_buff *skb)
{
	return skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
}

/* Takes crc32_le() on over bytes of the packet, wherever they lie; -EFAULT if it is shorter. */
int oxe_helper_skb_crc32(struct sk_buff *skb, unsigned int offset, unsigned int len, u32 *crc)
{
	struct skb_seq_state state;
	unsigned int done = 0, part;
	const u8 *data;

	if (offset > skb->len || len > skb->len - offset)
		return -EFAULT;
	if (offset + len <= skb_headlen(skb)) {
		*crc = crc32_le(*crc, skb->data + offset, len);
		return 0;
	}
	skb_prepare_seq_read(skb, offset, offset + len, &state);
	while (done < len && (part = skb_seq_read(done, &data, &state)) != 0) {
		/* A block may go on after the end of what was asked for. */
		part = min(part, len - done);
		*crc = crc32_le(*crc, data, part);
		done += part;
	}
	skb_abort_seq_read(&state);
	return done == len ? 0 : -EFAULT;
}

static bool oxe_copy_network_header(const struct sk_buff *skb, u8 *header, unsigned int bytes)
{
	const u8 *from = skb_network_header(skb);

	if (from < skb->head || from + bytes > skb_tail_pointer(skb))
		return false;
	memcpy(header, from, bytes);
	return true;
}

/* The part of an IPv4 header that is always there; false if the packet is not IPv4. */
bool oxe_helper_skb_ipv4_header(const struct sk_buff *skb, u8 header[20])
{
	return skb->protocol == htons(ETH_P_IP) && oxe_copy_network_header(skb, header, 20);
}

/* The header of an IPv6 packet; false if the packet is not IPv6. */
bool oxe_helper_skb_ipv6_header(const struct sk_buff *skb, u8 header[40])
{
	return skb->protocol == htons(ETH_P_IPV6) && oxe_copy_network_header(skb, header, 40);
}

/* The source address of the Ethernet frame; false if the packet came without one. */
bool oxe_helper_skb_source_mac(const struct sk_buff *skb, u8 mac[ETH_ALEN])
{
	if (!skb_mac_header_was_set(skb) || skb_mac_header_len(skb) != ETH_HLEN)
		return false;
	ether_addr_copy(mac, eth_hdr(skb)->h_source);
	return true;
}

/* Bytes of each segment; 0 if the packet is a single one. */
unsigned int oxe_helper_skb_gso_size(const struct sk_buff *skb)
{
	return skb_shinfo(skb)->gso_size;
}
