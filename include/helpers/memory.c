// SPDX-License-Identifier: GPL-2.0
/* Shims over memory that user space has as well: zeroed pages and pinned ones. */
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/vmalloc.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

#include "helpers.h"

/* As vmalloc_user(), which cannot charge the pages to who asks for them. */
void *oxe_helper_vmalloc_shared(unsigned long size)
{
	return __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

/* As remap_vmalloc_range(), which wants pages of vmalloc_user(). */
int oxe_helper_map_vmalloc(struct vm_area_struct *vma, void *start)
{
	unsigned long at;
	int err;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (at = vma->vm_start; at < vma->vm_end; at += PAGE_SIZE, start += PAGE_SIZE) {
		err = vm_insert_page(vma, at, vmalloc_to_page(start));
		if (err)
			return err;
	}
	return 0;
}

/* For memory that changes meanwhile: out of sight of the Rust compiler. */
void oxe_helper_copy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
}

unsigned long oxe_helper_vma_pgoff(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff;
}

struct ib_umem *oxe_helper_ib_umem_get_va(struct ib_device *dev, unsigned long addr, size_t size,
					  int access)
{
	return ib_umem_get_va(dev, addr, size, access);
}

size_t oxe_helper_ib_umem_num_pages(struct ib_umem *umem)
{
	return ib_umem_num_pages(umem);
}

/* Writes the first @len pages of @umem to @pages. How many there were. */
size_t oxe_helper_ib_umem_pages(struct ib_umem *umem, struct page **pages, size_t len)
{
	struct sg_page_iter iter;
	size_t n = 0;

	for_each_sgtable_page(&umem->sgt_append.sgt, &iter, 0) {
		if (n == len)
			break;
		pages[n++] = sg_page_iter_page(&iter);
		if (!(n % 4096))
			cond_resched();
	}
	return n;
}

bool oxe_helper_ib_access_writable(int access)
{
	return ib_access_writable(access);
}

void oxe_helper_page_write(struct page *page, size_t offset, const void *from, size_t len)
{
	memcpy_to_page(page, offset, from, len);
}

void oxe_helper_page_read(struct page *page, size_t offset, void *to, size_t len)
{
	memcpy_from_page(to, page, offset, len);
}

/* What was there before. */
u64 oxe_helper_page_fetch_add(struct page *page, size_t offset, u64 addend)
{
	void *base = kmap_local_page(page);
	u64 old;

	old = atomic64_fetch_add(addend, (atomic64_t *)(base + offset));
	kunmap_local(base);
	return old;
}

/* What was there before: @old if @new is there now. */
u64 oxe_helper_page_cmpxchg(struct page *page, size_t offset, u64 old, u64 new)
{
	void *base = kmap_local_page(page);
	u64 found;

	found = atomic64_cmpxchg((atomic64_t *)(base + offset), old, new);
	kunmap_local(base);
	return found;
}

/* In one piece, after all that was written before. */
void oxe_helper_page_store(struct page *page, size_t offset, u64 value)
{
	void *base = kmap_local_page(page);

	atomic64_set_release((atomic64_t *)(base + offset), value);
	kunmap_local(base);
}

int oxe_helper_page_write_skb(struct page *page, size_t offset, const struct sk_buff *skb,
			      int skb_offset, int len)
{
	void *base = kmap_local_page(page);
	int err;

	err = skb_copy_bits(skb, skb_offset, base + offset, len);
	kunmap_local(base);
	return err;
}

/* Whether [@address, @address + @len) begins and ends in the kernel's direct mapping. */
static bool is_direct(u64 address, size_t len)
{
	const void *first = (const void *)(uintptr_t)address;

	return !len || (virt_addr_valid(first) && virt_addr_valid(first + len - 1));
}

int oxe_helper_direct_write(u64 address, const void *from, size_t len)
{
	if (!is_direct(address, len))
		return -EFAULT;
	memcpy((void *)(uintptr_t)address, from, len);
	return 0;
}

int oxe_helper_direct_read(u64 address, void *to, size_t len)
{
	if (!is_direct(address, len))
		return -EFAULT;
	memcpy(to, (const void *)(uintptr_t)address, len);
	return 0;
}

int oxe_helper_direct_write_skb(u64 address, const struct sk_buff *skb, int skb_offset, int len)
{
	if (!is_direct(address, len))
		return -EFAULT;
	return skb_copy_bits(skb, skb_offset, (void *)(uintptr_t)address, len);
}
