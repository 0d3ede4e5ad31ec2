// SPDX-License-Identifier: GPL-2.0
/* Shims over net/udp_tunnel.h. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>

#include "helpers.h"

#ifdef CONFIG_DEBUG_LOCK_ALLOC
static struct lock_class_key oxe_slock_key[2];
static struct lock_class_key oxe_sk_key[2];

/*
 * Our sockets are locked inside of locks that user sockets are never locked in: lockdep has to know
 * them apart. sock_lock_init_class_and_name() takes a reference on this module, which would make it
 * impossible to unload; the keys outlive the socket without it, since the module closes its sockets
 * before it goes.
 */
static void oxe_set_lock_class(struct sock *sk)
{
	if (sk->sk_family == AF_INET6)
		sock_lock_init_class_and_name(sk, "slock-AF_INET6-OXE", &oxe_slock_key[1],
					      "sk_lock-AF_INET6-OXE", &oxe_sk_key[1]);
	else
		sock_lock_init_class_and_name(sk, "slock-AF_INET-OXE", &oxe_slock_key[0],
					      "sk_lock-AF_INET-OXE", &oxe_sk_key[0]);
	sk_owner_put(sk);
	sk_owner_clear(sk);
}
#else
static void oxe_set_lock_class(struct sock *sk)
{
}
#endif

#ifdef CONFIG_NETFILTER
/* Bytes of IP header if UDP follows them at once; else 0. */
static unsigned int oxe_bare_ip_bytes(const struct sk_buff *skb, u8 pf)
{
	if (pf == NFPROTO_IPV4)
		return ip_hdr(skb)->ihl == 5 && ip_hdr(skb)->protocol == IPPROTO_UDP ?
			       sizeof(struct iphdr) : 0;
	return ipv6_hdr(skb)->nexthdr == IPPROTO_UDP ? sizeof(struct ipv6hdr) : 0;
}

/*
 * Marks packets of several datagrams for the port @priv as a tunnel's. UDP gives no other packets
 * whole to a socket with encap_rcv (udp_unexpected_gso()), and of those only to one that has said
 * that it takes them. The mark means nothing where the packet is cut up after all: it has no inner
 * headers (skb->encapsulation).
 */
static unsigned int oxe_mark_datagrams(void *priv, struct sk_buff *skb,
				       const struct nf_hook_state *state)
{
	const unsigned int types = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	unsigned int ip_bytes;

	if (!skb_is_gso(skb) || (skb_shinfo(skb)->gso_type & types) != SKB_GSO_UDP_L4 ||
	    skb->encapsulation)
		return NF_ACCEPT;
	ip_bytes = oxe_bare_ip_bytes(skb, state->pf);
	if (!ip_bytes || !pskb_may_pull(skb, ip_bytes + sizeof(struct udphdr)) ||
	    udp_hdr(skb)->dest != htons((uintptr_t)priv))
		return NF_ACCEPT;
	/* Who looks on, as tcpdump does, has a share in the mark's place. */
	if (skb_unclone(skb, GFP_ATOMIC))
		return NF_ACCEPT;
	skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL;
	return NF_ACCEPT;
}

/* Lets @sk take packets of several datagrams whole. @hook is for oxe_helper_udp_tunnel_close(). */
static int oxe_take_datagrams(struct net *net, struct sock *sk, u16 port, void **hook)
{
	struct nf_hook_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	int err;

	if (!ops)
		return -ENOMEM;
	ops->hook = oxe_mark_datagrams;
	ops->priv = (void *)(uintptr_t)port;
	ops->pf = sk->sk_family == AF_INET6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
	ops->hooknum = NF_INET_LOCAL_IN;
	ops->priority = NF_IP_PRI_LAST;
	err = nf_register_net_hook(net, ops);
	if (err) {
		kfree(ops);
		return err;
	}
	udp_set_bit(ACCEPT_L4, sk);
	*hook = ops;
	return 0;
}

static void oxe_leave_datagrams(struct sock *sk, void *hook)
{
	if (!hook)
		return;
	nf_unregister_net_hook(sock_net(sk), hook);
	kfree(hook);
}
#else
static int oxe_take_datagrams(struct net *net, struct sock *sk, u16 port, void **hook)
{
	*hook = NULL;
	return 0;
}

static void oxe_leave_datagrams(struct sock *sk, void *hook)
{
}
#endif

/* Closes what oxe_helper_udp_tunnel_open() opened. Callbacks may run for another grace period. */
void oxe_helper_udp_tunnel_close(struct sock *sk, void *hook)
{
	oxe_leave_datagrams(sk, hook);
	udp_tunnel_sock_release(sk);
}

/*
 * Opens a UDP socket of @net on @port (host order), all addresses of @family, whose datagrams go to
 * @encap_rcv: packets of several whole. Sleeps.
 */
int oxe_helper_udp_tunnel_open(struct net *net, int family, u16 port, void *user_data,
			       int (*encap_rcv)(struct sock *sk, struct sk_buff *skb),
			       struct sock **out, void **hook)
{
	struct udp_port_cfg port_cfg = {
		.family = family,
		.local_udp_port = htons(port),
		.ipv6_v6only = 1,
	};
	struct udp_tunnel_sock_cfg cfg = {
		.sk_user_data = user_data,
		.encap_type = 1,
		.encap_rcv = encap_rcv,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(net, &port_cfg, &sock);
	if (err < 0)
		return err;
	oxe_set_lock_class(sock->sk);
	setup_udp_tunnel_sock(net, sock->sk, &cfg);
	err = oxe_take_datagrams(net, sock->sk, port, hook);
	if (err) {
		udp_tunnel_sock_release(sock->sk);
		/* The receive callback may be under way. */
		synchronize_net();
		return err;
	}
	*out = sock->sk;
	return 0;
}

/* Under RCU: NULL once the socket is being released. */
void *oxe_helper_sk_user_data(const struct sock *sk)
{
	return rcu_dereference_sk_user_data(sk);
}
