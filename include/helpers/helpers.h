/* SPDX-License-Identifier: GPL-2.0 */
/*
 * C shims for what bindgen cannot express: static inlines, macros, bitfields. No policy and no
 * state here; kernel_ext is the only caller. Each shim is named after what it wraps.
 */
#ifndef OXE_HELPERS_H
#define OXE_HELPERS_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/dst.h>
#include <net/net_namespace.h>
#include <net/sock.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#include "compat.h"

/* memory.c */
void *oxe_helper_vmalloc_shared(unsigned long size);
int oxe_helper_map_vmalloc(struct vm_area_struct *vma, void *start);
void oxe_helper_copy(void *to, const void *from, size_t len);
unsigned long oxe_helper_vma_pgoff(const struct vm_area_struct *vma);
struct ib_umem *oxe_helper_ib_umem_get_va(struct ib_device *dev, unsigned long addr, size_t size,
					  int access);
size_t oxe_helper_ib_umem_num_pages(struct ib_umem *umem);
size_t oxe_helper_ib_umem_pages(struct ib_umem *umem, struct page **pages, size_t len);
bool oxe_helper_ib_access_writable(int access);
void oxe_helper_page_write(struct page *page, size_t offset, const void *from, size_t len);
void oxe_helper_page_read(struct page *page, size_t offset, void *to, size_t len);
u64 oxe_helper_page_fetch_add(struct page *page, size_t offset, u64 addend);
u64 oxe_helper_page_cmpxchg(struct page *page, size_t offset, u64 old, u64 new);
void oxe_helper_page_store(struct page *page, size_t offset, u64 value);
int oxe_helper_page_write_skb(struct page *page, size_t offset, const struct sk_buff *skb,
			      int skb_offset, int len);
int oxe_helper_direct_write(u64 address, const void *from, size_t len);
int oxe_helper_direct_read(u64 address, void *to, size_t len);
int oxe_helper_direct_write_skb(u64 address, const struct sk_buff *skb, int skb_offset, int len);

/* netdevice.c */
void oxe_helper_dev_hold(struct net_device *dev);
void oxe_helper_dev_put(struct net_device *dev);
struct net *oxe_helper_maybe_get_net(struct net *net);
void oxe_helper_put_net(struct net *net);
struct net *oxe_helper_dev_net(const struct net_device *dev);
int oxe_helper_dev_ifindex(const struct net_device *dev);
unsigned int oxe_helper_dev_mtu(const struct net_device *dev);
unsigned short oxe_helper_dev_type(const struct net_device *dev);
unsigned char oxe_helper_dev_addr_len(const struct net_device *dev);
bool oxe_helper_dev_is_loopback(const struct net_device *dev);
bool oxe_helper_dev_is_up(const struct net_device *dev);
bool oxe_helper_dev_is_registered(const struct net_device *dev);
void oxe_helper_dev_name(const struct net_device *dev, char name[IFNAMSIZ]);
void oxe_helper_dev_eui64(const struct net_device *dev, u8 eui[8]);
void oxe_helper_random_eui64(u8 eui[8]);
struct net_device *oxe_helper_vlan_lower_dev(struct net_device *dev);
bool oxe_helper_dev_is_below(struct net_device *dev, int ifindex);
int oxe_helper_vlan_id(struct net_device *dev);
struct net_device *oxe_helper_notifier_info_to_dev(void *info);

/* rdma.c */
bool oxe_helper_ib_device_try_get(struct ib_device *dev);
void oxe_helper_ib_device_get_memory(struct ib_device *dev);
void oxe_helper_ib_device_put_memory(struct ib_device *dev);
void oxe_helper_ib_mark_name_assigned_by_user(struct ib_device *dev);
int oxe_helper_ib_no_udata_io(struct ib_udata *udata);
void oxe_helper_ib_port_attr_set_ip_gids(struct ib_port_attr *attr);
enum ib_mtu oxe_helper_iboe_get_mtu(int mtu);
enum ib_port_state oxe_helper_ib_get_curr_port_state(struct net_device *dev);
unsigned int oxe_helper_num_possible_cpus(void);
struct ib_udata *oxe_helper_uverbs_udata(struct uverbs_attr_bundle *attrs);
struct ib_ucontext *oxe_helper_ib_udata_ucontext(struct ib_udata *udata);
int oxe_helper_ib_copy_from_udata(void *to, struct ib_udata *udata, size_t len);
enum rdma_network_type oxe_helper_gid_network_type(const struct ib_gid_attr *attr);
int oxe_helper_gid_ifindex(const struct ib_gid_attr *attr);
void oxe_helper_ah_dmac(const struct rdma_ah_attr *attr, u8 dmac[ETH_ALEN]);
void oxe_helper_ah_set_dmac(struct rdma_ah_attr *attr, const u8 dmac[ETH_ALEN]);

/* route.c */
int oxe_helper_route_v4(struct net *net, int oif, const u8 source[4], const u8 destination[4],
			u8 tos, u16 source_port, u16 destination_port, struct dst_entry **out);
int oxe_helper_route_v6(struct net *net, int oif, const u8 source[16], const u8 destination[16],
			u8 traffic_class, u32 flow_label, u16 source_port, u16 destination_port,
			struct dst_entry **out, u32 *cookie);
bool oxe_helper_dst_is_valid(struct dst_entry *dst, u32 cookie);
bool oxe_helper_dst_is_local_v4(const struct dst_entry *dst);
bool oxe_helper_dst_is_local_v6(const struct dst_entry *dst);
int oxe_helper_dst_ifindex(const struct dst_entry *dst);
unsigned int oxe_helper_dst_mtu(const struct dst_entry *dst);

/* skbuff.c */
void oxe_helper_kfree_skb(struct sk_buff *skb);
unsigned int oxe_helper_skb_truesize(const struct sk_buff *skb);
unsigned int oxe_helper_skb_len(const struct sk_buff *skb);
struct net_device *oxe_helper_skb_input_dev(const struct sk_buff *skb);
void oxe_helper_skb_detach(struct sk_buff *skb);
const u8 *oxe_helper_skb_data(const struct sk_buff *skb);
unsigned int oxe_helper_skb_headlen(const struct sk_buff *skb);
struct sk_buff *oxe_helper_udp_skb_copy(const struct sk_buff *skb, unsigned int offset,
					unsigned int bytes);
struct sk_buff *oxe_helper_skb_clone(struct sk_buff *skb);
int oxe_helper_skb_crc32(struct sk_buff *skb, unsigned int offset, unsigned int len, u32 *crc);
bool oxe_helper_skb_ipv4_header(const struct sk_buff *skb, u8 header[20]);
bool oxe_helper_skb_ipv6_header(const struct sk_buff *skb, u8 header[40]);
bool oxe_helper_skb_source_mac(const struct sk_buff *skb, u8 mac[ETH_ALEN]);
unsigned int oxe_helper_skb_gso_size(const struct sk_buff *skb);

/* sync.c */
bool oxe_helper_may_run_softirqs(void);
void oxe_helper_spin_lock_bh(spinlock_t *lock);
void oxe_helper_spin_unlock_bh(spinlock_t *lock);
bool oxe_helper_spin_trylock_bh(spinlock_t *lock);
bool oxe_helper_hrtimer_is_queued(struct hrtimer *timer);
void oxe_helper_xa_init(struct xarray *xa);
int oxe_helper_xa_insert(struct xarray *xa, unsigned long index, void *entry);
void *oxe_helper_xa_erase_entry(struct xarray *xa, unsigned long index, void *entry);
void *oxe_helper_xa_first(struct xarray *xa, unsigned long *index);
struct workqueue_struct *oxe_helper_alloc_workqueue(const char *name, unsigned int flags);

/* transmit.c */
struct sk_buff *oxe_helper_udp_skb_alloc(unsigned int payload_bytes, u8 **payload);
u8 *oxe_helper_udp_skb_add(struct sk_buff *skb, unsigned int bytes);
int oxe_helper_udp_skb_trim(struct sk_buff *skb, unsigned int bytes);
unsigned int oxe_helper_dst_datagrams(const struct dst_entry *dst, unsigned int datagram_bytes);
void oxe_helper_skb_set_flow_hash(struct sk_buff *skb, u32 hash);
int oxe_helper_udp_skb_send_v4(struct sk_buff *skb, struct dst_entry *dst, u8 tos,
			       const u8 headers[28], unsigned int datagram_bytes);
int oxe_helper_udp_skb_send_v6(struct sk_buff *skb, struct dst_entry *dst, u8 traffic_class,
			       const u8 headers[48], unsigned int datagram_bytes);
void *oxe_helper_xa_find(struct xarray *xa, unsigned long *index);

/* udp_tunnel.c */
int oxe_helper_udp_tunnel_open(struct net *net, int family, u16 port, void *user_data,
			       int (*encap_rcv)(struct sock *sk, struct sk_buff *skb),
			       struct sock **out, void **hook);
void oxe_helper_udp_tunnel_close(struct sock *sk, void *hook);
void *oxe_helper_sk_user_data(const struct sock *sk);

#endif
