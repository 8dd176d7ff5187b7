/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for the kernel's volumes.h where user space compiles
 * device-role-core.c: the integer types, and what the allocator keeps of a
 * device while it looks for space for a chunk.
 */
#ifndef BP_KERNEL_VOLUMES_H
#define BP_KERNEL_VOLUMES_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

struct btrfs_device_info {
	void *dev;
	u64 dev_offset;
	/* Bytes: the largest usable hole, capped at what a chunk can use. */
	u64 max_avail;
	/* Bytes: everything unallocated. */
	u64 total_avail;
	/* enum btrfs_role_rank */
	u8 rank;
};

#endif
