// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in flight on each device, and how fast the device turned out to be.
 *
 * Runs when a request is sent and on completion in any context, so it must not sleep or lock.
 */

#include <linux/math64.h>
#include <linux/timekeeping.h>
#include "fs.h"
#include "read-policy-speed.h"

/* Weight of a seek in the average of them, and of a unit in that of units (16 MiB, 8 of flash). */
#define SEEK_WEIGHT	16
#define UNIT_WEIGHT	256

/* Forget what was learnt.  The first completion, late by uncounted ones, only sets head. */
void btrfs_read_load_forget(struct btrfs_read_load *load)
{
	WRITE_ONCE(load->seek_ns, 0);
	WRITE_ONCE(load->unit_ns, 0);
	WRITE_ONCE(load->head, U64_MAX);
	WRITE_ONCE(load->timed[0], jiffies);
	WRITE_ONCE(load->timed[1], jiffies);
	memset(load->slots, 0, sizeof(load->slots));
}

/* Add a request to the load of the device that it is about to be submitted to, if any. */
void btrfs_read_load_charge(const struct btrfs_read_policy_info *info, struct btrfs_device *device,
			    const struct bio *bio, struct btrfs_read_charge *charge)
{
	const u64 pos = bio->bi_iter.bi_sector << SECTOR_SHIFT;
	const u32 len = bio->bi_iter.bi_size;
	const bool read = bio_op(bio) == REQ_OP_READ;
	struct btrfs_read_load *load;
	struct btrfs_read_speed speed;
	u64 seeks, ahead;
	bool single;

	charge->load = 0;
	if (!READ_ONCE(info->count_load) || !device || !device->bdev || !len)
		return;
	load = &device->read_load;
	speed = btrfs_read_speed(device);
	single = btrfs_read_is_single(&speed, len);
	seeks = single ? SEEK_ONE : div_u64(SEEK_ONE * btrfs_read_access_ns(&speed,
					    READ_ONCE(load->last_end), pos, len), speed.seek_ns);
	charge->load = (single ? 0 : len) | seeks << SEEKS_SHIFT;
	charge->end = pos + len;
	charge->start_ns = 0;
	/* Small reads of flash are so fast that the clock counts; once in a tick is enough. */
	if (!single || (read && READ_ONCE(load->timed[single]) != (u32)jiffies))
		charge->start_ns = ktime_get_ns();
	if (!atomic64_read(&load->in_flight)) {
		WRITE_ONCE(load->alive, jiffies);
		WRITE_ONCE(load->since_ns, single ? load->since_ns : charge->start_ns);
	}
	ahead = atomic64_add_return(charge->load, &load->in_flight);
	WRITE_ONCE(load->last_end, charge->end);
	if (read)
		WRITE_ONCE(load->reads, load->reads + 1);
	if (!charge->start_ns)
		return;
	charge->guess_ns = read ? READ_ONCE(load->guess_ns) : 0;
	if (charge->guess_ns)
		WRITE_ONCE(load->guess_ns, 0);
	if (!speed.rot)
		charge->ahead = clamp_t(u64, div_u64(SEEK_ONE * btrfs_read_sum_ns(ahead, &speed),
						     speed.seek_ns), 1, U32_MAX);
}

/* An average that moves by the @part of @all, and never to 0. */
static u32 btrfs_read_average(u32 old, u64 new, u32 part, u32 all)
{
	const s64 diff = (s64)min_t(u64, new, 64 * (u64)old) - old;

	return clamp_t(s64, old + div_s64(diff * min(part, all), all), NSEC_PER_USEC, NSEC_PER_SEC);
}

/* A transfer in order: of a merged request the first has all of the time. */
static void btrfs_read_learn_unit(struct btrfs_read_load *load,
				  const struct btrfs_read_speed *speed, u32 len, u64 ns)
{
	WRITE_ONCE(load->timed[0], jiffies);
	WRITE_ONCE(load->unit_ns,
		   btrfs_read_average(speed->unit_ns, div_u64(ns << BTRFS_READ_UNIT_SHIFT, len),
				      DIV_ROUND_UP(len, speed->rot ? UNIT : UNIT / 2),
				      speed->rot || READ_ONCE(load->unit_ns) ? UNIT_WEIGHT : 1));
}

static void btrfs_read_learn_seek(struct btrfs_read_load *load,
				  const struct btrfs_read_speed *speed, u64 ns, u32 len)
{
	/* A stream waits for it: if it is long, all of it counts, as the first of flash does. */
	const bool all = len > UNIT ? ns / 4 > speed->seek_ns : !len && !READ_ONCE(load->seek_ns);

	/* Far less is a hint that what is known is wrong: the device goes on resting. */
	if (2 * ns >= speed->seek_ns)
		WRITE_ONCE(load->timed[1], jiffies);
	WRITE_ONCE(load->seek_ns, btrfs_read_average(speed->seek_ns, ns, 1, all ? 1 : SEEK_WEIGHT));
}

/* A disk does one after the other: the time since the last completion is this request's. */
static void btrfs_read_learn_rot(struct btrfs_read_load *load,
				 const struct btrfs_read_speed *speed, u64 pos, u32 len, u64 ns)
{
	const u64 transfer = btrfs_read_transfer_ns(len, speed->unit_ns);
	const u64 head = READ_ONCE(load->head);

	if (head == pos && READ_ONCE(load->merged) && ns < transfer / 8)
		return;
	WRITE_ONCE(load->merged, head != pos);
	/* A small read tells nothing of transfers, unless it takes as long as two that do. */
	if (head == pos && (len >= UNIT || ns > 2 * speed->unit_ns))
		btrfs_read_learn_unit(load, speed, len, ns);
	else if (!btrfs_read_goes_on(speed, head >> PAGE_SHIFT, pos >> PAGE_SHIFT))
		btrfs_read_learn_seek(load, speed, div_u64((ns - min(ns, transfer)) * 32,
							   btrfs_read_way(head, pos)), len);
}

/*
 * Tried after a rest.  Nearer to the guess than to what is known: the device has recovered, and
 * the next read tries again.  A small read of a disk tells nothing of transfers.
 */
static bool btrfs_read_recovered(struct btrfs_read_load *load, const struct btrfs_read_speed *speed,
				 const struct btrfs_read_charge *charge, u32 len, u64 ns)
{
	const u64 all = btrfs_read_sum_ns(charge->load, speed);
	const u64 transfer = btrfs_read_transfer_ns(len, speed->unit_ns);
	const bool unit = 4 * transfer >= all;
	const bool same = 2 * ns >= all + charge->guess_ns;

	if (!same && 2 * transfer >= all)
		WRITE_ONCE(load->unit_ns, max(div64_u64(speed->unit_ns * ns, all), NSEC_PER_USEC));
	else if (!same)
		WRITE_ONCE(load->seek_ns, max(div64_u64(speed->seek_ns * ns, all), NSEC_PER_USEC));
	if (same && unit)
		WRITE_ONCE(load->timed[0], jiffies);
	if (same && (!unit || speed->rot))
		WRITE_ONCE(load->timed[1], jiffies);
	return !same;
}

/*
 * A request is done.  Must be called before anything that lets the device be freed, which is the
 * drop of the bio counter for a device replace and the load itself for a device removal; so the
 * load goes down last.  The last of a mirrored write calls twice: its clone, and when all are done.
 */
void btrfs_read_load_uncharge(struct btrfs_device *device, struct bio *bio,
			      struct btrfs_read_charge *charge)
{
	const u32 len = charge->load & (BIT_ULL(SEEKS_SHIFT) - 1);
	struct btrfs_read_load *load = &device->read_load;
	struct btrfs_read_speed speed;
	u64 now, ns;

	if (!charge->load)
		return;
	if (!charge->start_ns)
		goto out;
	speed = btrfs_read_speed(device);
	now = ktime_get_ns();
	ns = now - (len ? max(charge->start_ns, READ_ONCE(load->since_ns)) : charge->start_ns);
	/* A failure may be fast, but must not attract reads. */
	if (bio->bi_status)	/* and readahead is refused by some that are well */
		ns = bio->bi_opf & REQ_RAHEAD ? 4 * btrfs_read_sum_ns(charge->load, &speed) :
						NSEC_PER_SEC;
	if (bio_op(bio) != REQ_OP_READ || (s64)ns < 0 || READ_ONCE(load->head) == U64_MAX ||
	    (charge->guess_ns && btrfs_read_recovered(load, &speed, charge, len, ns)))
		;
	else if (!len)
		btrfs_read_learn_seek(load, &speed, div_u64(SEEK_ONE * ns, charge->ahead), len);
	else if (speed.rot)
		btrfs_read_learn_rot(load, &speed, charge->end - len, len, ns);
	else
		btrfs_read_learn_unit(load, &speed, len, ns);
	WRITE_ONCE(load->head, charge->end);
	if (len)
		WRITE_ONCE(load->since_ns, now);
out:
	WRITE_ONCE(load->alive, jiffies);
	atomic64_sub_return_release(charge->load, &load->in_flight);
	charge->load = 0;
}
