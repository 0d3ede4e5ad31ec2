// SPDX-License-Identifier: GPL-2.0
/* Shims over linux/spinlock.h, linux/hrtimer.h, linux/xarray.h and linux/workqueue.h. */
#include <linux/hrtimer.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "helpers.h"

/* Whether the end of a section without softirqs may run those that came up meanwhile. */
bool oxe_helper_may_run_softirqs(void)
{
	return !irqs_disabled() && !in_hardirq();
}

void oxe_helper_spin_lock_bh(spinlock_t *lock)
{
	spin_lock_bh(lock);
}

void oxe_helper_spin_unlock_bh(spinlock_t *lock)
{
	spin_unlock_bh(lock);
}

bool oxe_helper_spin_trylock_bh(spinlock_t *lock)
{
	return spin_trylock_bh(lock);
}

bool oxe_helper_hrtimer_is_queued(struct hrtimer *timer)
{
	return hrtimer_is_queued(timer);
}

void oxe_helper_xa_init(struct xarray *xa)
{
	xa_init(xa);
}

int oxe_helper_xa_insert(struct xarray *xa, unsigned long index, void *entry)
{
	return xa_insert(xa, index, entry, GFP_KERNEL);
}

/* Erases @index if @entry is there. What was there: @entry if it was erased. */
void *oxe_helper_xa_erase_entry(struct xarray *xa, unsigned long index, void *entry)
{
	return xa_cmpxchg(xa, index, entry, NULL, 0);
}

/* The first entry, its index in @index; NULL when @xa is empty. */
void *oxe_helper_xa_first(struct xarray *xa, unsigned long *index)
{
	*index = 0;
	return xa_find(xa, index, ULONG_MAX, XA_PRESENT);
}

/* The first entry at or after @index, which becomes its index; NULL if there is none. */
void *oxe_helper_xa_find(struct xarray *xa, unsigned long *index)
{
	return xa_find(xa, index, ULONG_MAX, XA_PRESENT);
}

struct workqueue_struct *oxe_helper_alloc_workqueue(const char *name, unsigned int flags)
{
	return alloc_workqueue("%s", flags, 0, name);
}
