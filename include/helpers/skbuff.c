// SPDX-License-Identifier: GPL-2.0
/* Shims over linux/skbuff.h. */
#include <linux/skbuff.h>

#include "helpers.h"

/* The packet was dropped. */
void oxe_helper_kfree_skb(struct sk_buff *skb)
{
	kfree_skb(skb);
}

unsigned int oxe_helper_skb_len(const struct sk_buff *skb)
{
	return skb->len;
}

struct net_device *oxe_helper_skb_dev(const struct sk_buff *skb)
{
	return skb->dev;
}
