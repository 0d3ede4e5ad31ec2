/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the supported kernels, for C. The only place in the tree that may look at
 * LINUX_VERSION_CODE; Rust asks for `cfg(kernel_ge_X_Y)`, in kernel_ext alone. docs/kernels.md has
 * the list.
 */
#ifndef OXE_COMPAT_H
#define OXE_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)
#error "oxe needs Linux 7.3 or later"
#endif

#endif
