// SPDX-License-Identifier: GPL-2.0
/*
 * What a scrub leaves to others: the limit of its speed, and a hard disk that they
 * use as well.  Owns the sleep; how long that is, is in scrub-bucket.c.
 */

#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/part_stat.h>
#include "scrub-limit.h"
#include "volumes.h"
#include "compat.h"

bool btrfs_scrub_dev_rotates(const struct btrfs_device *dev)
{
	return !dev->bdev || bdev_rot(dev->bdev);
}

static u32 scrub_wakeups(void)
{
	/* A tick may be missed without timers of high resolution. */
	return hrtimer_resolution < NSEC_PER_MSEC ? USEC_PER_SEC : HZ / 2;
}

/* Wait until the limit of the device's speed lets so many bytes through. */
void btrfs_scrub_throttle(struct btrfs_scrub_bucket *bucket, const struct btrfs_device *dev,
			  u32 bytes)
{
	const u64 limit = READ_ONCE(dev->scrub_speed_max);
	ktime_t now, at;
	u32 burst;

	if (limit == 0)
		return;

	burst = btrfs_scrub_burst(btrfs_scrub_dev_rotates(dev), limit, scrub_wakeups());
	now = ktime_get();
	at = btrfs_scrub_take(bucket, now, bytes, limit, burst);
	if (at <= now)
		return;

	set_current_state(TASK_INTERRUPTIBLE);
	schedule_hrtimeout(&at, HRTIMER_MODE_ABS);
}

/* Requests that the disk has completed for its other partitions, such as swap. */
static unsigned long scrub_foreign_requests(struct block_device *bdev)
{
	const unsigned long all = part_stat_read_accum(bdev_whole(bdev), ios);

	/* Those completed between the two reads make it less, never more. */
	return all - part_stat_read_accum(bdev, ios);
}

/*
 * A drive prefers what is near its heads, and would let others wait for as long as
 * it always has the next reads of scrub at hand.  While there are others it is given
 * no more of them before all are done.  Only the task that scrubs the device calls this.
 */
bool btrfs_scrub_makes_way(struct btrfs_device *dev)
{
	unsigned long foreign;

	if (!dev->bdev || !bdev_rot(dev->bdev))
		return false;

	foreign = scrub_foreign_requests(dev->bdev);
	if ((long)(foreign - dev->scrub_foreign_requests) > 0) {
		dev->scrub_foreign_requests = foreign;
		WRITE_ONCE(dev->scrub_others_jiffies, jiffies);
	}
	return time_before(jiffies, READ_ONCE(dev->scrub_others_jiffies) + HZ / 2);
}

/* Let the current task know of others on the device from now on, or no longer. */
void btrfs_scrub_watch(struct btrfs_device *dev, bool on)
{
	/* Another task that watches it keeps it. */
	if (cmpxchg(&dev->scrub_task, on ? NULL : current, on ? current : NULL) || !on)
		return;
	btrfs_scrub_makes_way(dev);	/* counts what came before */
	WRITE_ONCE(dev->scrub_others_jiffies, jiffies - HZ);
}
