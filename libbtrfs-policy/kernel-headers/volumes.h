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

/* How welcome a chunk of some kind is on a device, best first. */
enum btrfs_role_rank {
	BTRFS_ROLE_RANK_FIRST,
	BTRFS_ROLE_RANK_SECOND,
	/* First choice, but free space is below the minimum of a useful chunk. */
	BTRFS_ROLE_RANK_BELOW_MIN,
	/* Only when no other device can serve. */
	BTRFS_ROLE_RANK_LAST,
	BTRFS_ROLE_RANK_EXCLUDED,
	BTRFS_ROLE_RANK_NR,
};

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
