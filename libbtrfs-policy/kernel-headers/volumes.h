/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for the kernel's volumes.h where user space compiles
 * device-role-core.c: the integer types, what the allocator keeps of a device while
 * it looks for space for a chunk, and what chunks can get from some devices.
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

struct btrfs_avail_sums {
	u64 sum;
	/* The largest three, the largest first. */
	u64 top[3];
	/* Devices with space for a stripe. */
	u32 devs;
};

static inline void btrfs_add_avail(struct btrfs_avail_sums *sums, u64 bytes)
{
	if (bytes < 65536)
		return;
	sums->devs++;
	sums->sum += bytes;
	for (int i = 0; i < 3; i++) {
		const u64 largest = sums->top[i];

		if (bytes > largest) {
			sums->top[i] = bytes;
			bytes = largest;
		}
	}
}

#endif
