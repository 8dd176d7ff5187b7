// SPDX-License-Identifier: GPL-2.0
/*
 * When a scrub of limited speed may read on.  Owns the arithmetic only; clocks
 * and sleeping are the caller's.  Also compiles in user space.
 * Times are nanoseconds.
 *
 * Reads are let through in bursts, which others have to wait for.  Each burst
 * moves on the time up to which all is paid for, and waits for that time.  Who
 * is late, because of a commit or of others who read, may be faster than the
 * limit for a while, at most twice as fast.
 */

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/time64.h>
#include "scrub-pace.h"

/* What was lost longer ago is not made up for. */
#define BTRFS_SCRUB_PACE_LATE	(100 * NSEC_PER_MSEC)

/*
 * A head that goes somewhere else and comes back between two bursts costs time,
 * for scrub and for others.  Commits and cancelling wait for the next burst.
 * @wakeups: how often a second one can wake up.
 */
u32 btrfs_scrub_burst(bool rotates, u64 limit, u32 wakeups)
{
	u64 burst = SZ_256K;

	if (rotates)
		burst = clamp_t(u64, div_u64(limit, 10), SZ_512K, SZ_4M);
	return max_t(u64, burst, min_t(u64, div_u64(limit, wakeups), SZ_32M));
}

/* Returns the time from which on so many bytes may be read. */
s64 btrfs_scrub_pace(struct btrfs_scrub_pace *pace, s64 now,
		     u32 bytes, u64 limit, u32 burst)
{
	s64 cost;
	u32 more;

	if (bytes <= pace->left) {
		pace->left -= bytes;
		return now;
	}
	more = max_t(u32, burst, bytes - pace->left);
	pace->left += more - bytes;
	cost = min_t(u64, div64_u64((u64)more * NSEC_PER_SEC, limit), NSEC_PER_SEC);

	if (!pace->paid)
		pace->paid = now;
	pace->paid = clamp_t(s64, pace->paid, now - BTRFS_SCRUB_PACE_LATE,
			     now + NSEC_PER_SEC);
	pace->begun = clamp_t(s64, max_t(s64, pace->paid, pace->begun + cost / 2),
			      now, now + NSEC_PER_SEC);
	pace->paid += cost;
	return pace->begun;
}
