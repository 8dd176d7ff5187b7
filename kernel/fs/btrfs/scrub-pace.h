/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a scrub of limited speed may read on.  See scrub-pace.c.
 */

#ifndef BTRFS_SCRUB_PACE_H
#define BTRFS_SCRUB_PACE_H

#include <linux/types.h>

struct btrfs_scrub_pace {
	/* Up to when all is paid for, 0 before the first burst. */
	s64 paid;
	/* When the last burst began, and what may still be read of it. */
	s64 begun;
	u32 left;
};

u32 btrfs_scrub_burst(bool rotates, u64 limit, u32 wakeups);
s64 btrfs_scrub_pace(struct btrfs_scrub_pace *pace, s64 now,
		     u32 bytes, u64 limit, u32 burst);

#endif
