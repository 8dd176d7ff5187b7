// SPDX-License-Identifier: GPL-2.0
/*
 * A token bucket (the generic cell rate algorithm): when a scrub of limited speed may
 * read on.  Owns the arithmetic only; clocks and sleeping are the caller's.  Also
 * compiles in user space.  Times are nanoseconds.
 *
 * Reads are let through in bursts, which others have to wait for.  Each burst moves on
 * the theoretical arrival time, and waits for it.  A scrub that is late, because of a
 * commit or of other readers, may be faster than the limit for a while, at most twice
 * as fast.
 */

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/time64.h>
#include "scrub-bucket.h"

/* What was lost longer ago is not made up for. */
#define BTRFS_SCRUB_LATE_MAX	(100 * NSEC_PER_MSEC)

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
s64 btrfs_scrub_take(struct btrfs_scrub_bucket *bucket, s64 now,
		     u32 bytes, u64 limit, u32 burst)
{
	s64 cost;
	u32 more;

	if (bytes <= bucket->left) {
		bucket->left -= bytes;
		return now;
	}
	more = max_t(u32, burst, bytes - bucket->left);
	bucket->left += more - bytes;
	cost = min_t(u64, div64_u64((u64)more * NSEC_PER_SEC, limit), NSEC_PER_SEC);

	if (!bucket->tat)
		bucket->tat = now;
	bucket->tat = clamp_t(s64, bucket->tat, now - BTRFS_SCRUB_LATE_MAX,
			      now + NSEC_PER_SEC);
	bucket->begun = clamp_t(s64, max_t(s64, bucket->tat, bucket->begun + cost / 2),
				now, now + NSEC_PER_SEC);
	bucket->tat += cost;
	return bucket->begun;
}
