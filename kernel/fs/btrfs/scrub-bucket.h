/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A token bucket: when a scrub of limited speed may read on.  See scrub-bucket.c.
 */

#ifndef BTRFS_SCRUB_BUCKET_H
#define BTRFS_SCRUB_BUCKET_H

#include <linux/types.h>

struct btrfs_scrub_bucket {
	/* Theoretical arrival time of the next burst, 0 before the first one. */
	s64 tat;
	/* When the last burst began, and what may still be read of it. */
	s64 begun;
	u32 left;
};

u32 btrfs_scrub_burst(bool rotates, u64 limit, u32 wakeups);
s64 btrfs_scrub_take(struct btrfs_scrub_bucket *bucket, s64 now,
		     u32 bytes, u64 limit, u32 burst);

#endif
