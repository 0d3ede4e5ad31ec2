// SPDX-License-Identifier: GPL-2.0
/* Shims over net/udp_tunnel.h. */
#include <linux/module.h>
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

/*
 * Opens a UDP socket of @net on @port (host order), all addresses of @family, whose datagrams go to
 * @encap_rcv. Sleeps.
 */
int oxe_helper_udp_tunnel_open(struct net *net, int family, u16 port, void *user_data,
			       int (*encap_rcv)(struct sock *sk, struct sk_buff *skb),
			       struct sock **out)
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
	*out = sock->sk;
	return 0;
}

/* Under RCU: NULL once the socket is being released. */
void *oxe_helper_sk_user_data(const struct sock *sk)
{
	return rcu_dereference_sk_user_data(sk);
}
