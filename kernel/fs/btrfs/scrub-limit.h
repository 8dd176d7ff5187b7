/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a scrub leaves to others: the limit of its speed, and a hard disk that they
 * use as well.  See scrub-limit.c.
 */

#ifndef BTRFS_SCRUB_LIMIT_H
#define BTRFS_SCRUB_LIMIT_H

#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "scrub-bucket.h"
#include "volumes.h"

/* Tell a task that watches the device that it is not alone there. */
static inline void btrfs_scrub_see_others(struct btrfs_device *dev)
{
	const struct task_struct *task = READ_ONCE(dev->scrub_task);

	if (unlikely(task) && task != current)
		WRITE_ONCE(dev->scrub_others_jiffies, jiffies);
}

bool btrfs_scrub_dev_rotates(const struct btrfs_device *dev);
void btrfs_scrub_throttle(struct btrfs_scrub_bucket *bucket, const struct btrfs_device *dev,
			  u32 bytes);
void btrfs_scrub_watch(struct btrfs_device *dev, bool on);
bool btrfs_scrub_makes_way(struct btrfs_device *dev);

#endif
