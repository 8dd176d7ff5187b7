// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in flight on each device, and how fast the device turned out to be.
 *
 * Owns what happens to struct btrfs_read_load when a request is sent and when it
 * is done.  The arithmetic is in read-policy-speed-core.h and read-policy-core.h,
 * what is made of the figures is read-policy.c's.  Runs for every request and on
 * completion in any context, so it must not sleep, lock, or decide anything; only
 * to wait for the last completion before a device is freed may sleep.
 */

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/timekeeping.h>
#include "ctree.h"
#include "fs.h"
#include "volumes.h"
#include "read-policy.h"
#include "compat.h"

/* A failed read counts as one that took that many times as long. */
#define BTRFS_RR_ERROR_FACTOR		16

/* Forget what was learnt, the device is not in use. */
void btrfs_read_load_reset(struct btrfs_device *device)
{
	WARN_ON_ONCE(atomic64_read(&device->read_load.load_ns));
	memset(&device->read_load, 0, sizeof(device->read_load));
}

/*
 * Wait until no completion can touch the device's counters anymore, it is about
 * to be freed.  The caller made sure that nothing new is sent to it.
 */
void btrfs_read_load_drain(struct btrfs_device *device)
{
	while (atomic64_read_acquire(&device->read_load.load_ns))
		msleep(20);
}

/* A read is sent: note when, and after how much, if it is one to be timed. */
static void btrfs_read_load_start(struct btrfs_read_load *load, bool rot, u64 nth, u32 charge,
				  u64 ahead, struct btrfs_read_timing *timing)
{
	const u32 tick = jiffies;

	timing->start_ns = 0;
	if (!btrfs_rr_is_timed(rot, charge, READ_ONCE(load->speed.samples), nth,
			       READ_ONCE(load->timed_tick) != tick))
		return;
	WRITE_ONCE(load->timed_tick, tick);
	atomic_inc(&load->timed);
	timing->start_ns = ktime_get_ns();
	timing->ahead_ns = min_t(u64, ahead, U32_MAX);
}

/*
 * Add a request to the load of the device that it is about to be submitted to.
 * Returns what to pass to btrfs_read_load_uncharge() when it is done, 0 if it
 * was not counted, and for a read in @timing what else to pass.
 */
u32 __btrfs_read_load_charge(struct btrfs_device *device, const struct bio *bio,
			     struct btrfs_read_timing *timing)
{
	const u64 pos = bio->bi_iter.bi_sector << SECTOR_SHIFT;
	const u32 len = bio->bi_iter.bi_size;
	struct btrfs_read_load *load;
	u64 ahead;
	u32 charge;
	bool rot;

	if (!device || !device->bdev)
		return 0;

	load = &device->read_load;
	rot = bdev_rot(device->bdev);
	charge = btrfs_rr_charge_ns(rot, READ_ONCE(load->last_end), pos, len);
	ahead = atomic64_add_return(charge, &load->load_ns) - charge;
	WRITE_ONCE(load->last_end, pos + len);
	if (bio_op(bio) == REQ_OP_READ) {
		const u64 nth = atomic64_inc_return(&load->reads);

		atomic64_add(len, &load->read_bytes);
		btrfs_read_load_start(load, rot, nth, charge, ahead, timing);
	} else {
		atomic64_inc(&load->writes);
		atomic64_add(len, &load->write_bytes);
	}
	return charge;
}

/* Learn from a read that was timed or has failed how fast the device is. */
static void btrfs_read_load_sample(struct btrfs_device *device, const struct bio *bio,
				   u32 charge, const struct btrfs_read_timing *timing,
				   u64 now)
{
	struct btrfs_read_load *load = &device->read_load;
	struct btrfs_rr_speed speed = btrfs_rr_speed_get(&load->speed);
	const bool rot = bdev_rot(device->bdev);
	const u64 last_done = READ_ONCE(load->last_done_ns);
	const u64 begin = max(timing->start_ns, last_done);
	const u64 pause = begin - last_done;
	u64 latency = now > timing->start_ns ? now - timing->start_ns : 0;
	/* A disk does one after the other. */
	u64 alone = now > begin ? now - begin : 0;
	u64 ahead = timing->ahead_ns;

	/*
	 * A failure may be fast, but must not attract reads.  It makes the
	 * device look slow instead, which wears off.
	 */
	if (bio->bi_status) {
		atomic64_inc(&load->read_errors);
		alone = (u64)charge * BTRFS_RR_ERROR_FACTOR;
		latency = alone;
		ahead = 0;
	}
	if (rot)
		btrfs_rr_learn_disk(&speed, alone, charge, pause);
	else
		btrfs_rr_learn_flash(&speed, latency, alone, charge, ahead, pause);
	/* Of two reads that end at the same time one may be forgotten. */
	btrfs_rr_speed_set(&load->speed, &speed);
}

/* Where a completed request ended; on a partition the block layer has moved it. */
static u64 btrfs_read_load_end(struct bio *bio)
{
	sector_t end = bio_end_sector(bio);

	if (bio_flagged(bio, BIO_REMAPPED))
		end -= bio->bi_bdev->bd_start_sect;
	return end << SECTOR_SHIFT;
}

/* Keep what the end of a request tells of the device. */
static noinline void btrfs_read_load_observe(struct btrfs_device *device, struct bio *bio,
					     u32 charge,
					     const struct btrfs_read_timing *timing)
{
	struct btrfs_read_load *load = &device->read_load;
	const bool timed = timing && timing->start_ns;
	const u64 now = ktime_get_ns();

	if (bio_op(bio) == REQ_OP_READ && (timed || bio->bi_status))
		btrfs_read_load_sample(device, bio, charge, timing, now);
	WRITE_ONCE(load->head, btrfs_read_load_end(bio));
	WRITE_ONCE(load->last_done_ns, now);
	if (timed)
		atomic_dec(&load->timed);
}

/*
 * A request is done.  Must be called before anything that lets the device be
 * freed, which is the drop of the bio counter for a device replace and the load
 * itself for a device removal; therefore the load goes down last.
 */
void __btrfs_read_load_uncharge(struct btrfs_device *device, struct bio *bio,
				u32 charge, const struct btrfs_read_timing *timing)
{
	struct btrfs_read_load *load = &device->read_load;

	/* What ends while a read is timed may be what that has waited for. */
	if (atomic_read(&load->timed) || bio->bi_status || bdev_rot(device->bdev))
		btrfs_read_load_observe(device, bio, charge, timing);
	atomic64_sub_return_release(charge, &load->load_ns);
}
