// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in flight on each device, and how fast the device turned out to be.
 *
 * Runs when a request is sent and on completion in any context, so it must not sleep or lock.
 */

#include <linux/blkdev.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include "fs.h"
#include "volumes.h"
#include "read-policy.h"
#include "compat.h"

#define UNIT		BIT(BTRFS_READ_UNIT_SHIFT)
/* Seeks in flight are counted in eighths, above 16 TiB of bytes. */
#define SEEK_ONE	8
#define SEEKS_SHIFT	44
/* Before anything is learnt: data sheets of a drive of 7200/min, and a read of a SATA SSD. */
#define ROT_SEEK_NS	(8 * NSEC_PER_MSEC)
#define FLASH_SEEK_NS	(100 * NSEC_PER_USEC)
#define UNIT_NS		(300 * NSEC_PER_USEC)
/* Weight of a seek in the average of them, and of a unit in that of units (16 MiB, 8 of flash). */
#define SEEK_WEIGHT	16
#define UNIT_WEIGHT	256

u64 btrfs_read_transfer_ns(u64 bytes, u32 unit_ns)
{
	return (bytes * unit_ns) >> BTRFS_READ_UNIT_SHIFT;
}

struct btrfs_read_speed btrfs_read_speed(const struct btrfs_device *device)
{
	const bool rot = device->bdev && bdev_rot(device->bdev);
	const u32 seek_ns = READ_ONCE(device->read_load.seek_ns);
	const u32 unit_ns = READ_ONCE(device->read_load.unit_ns);

	return (struct btrfs_read_speed){
		.seek_ns = seek_ns ?: rot ? ROT_SEEK_NS : FLASH_SEEK_NS,
		.unit_ns = unit_ns ?: UNIT_NS,
		.rot = rot,
	};
}

/* Part of a seek in 32ths: half is for the rotation, the rest depends on the way. */
static u32 btrfs_read_way(u64 from, u64 to)
{
	return 16 + fls64((from < to ? to - from : from - to) >> 20);
}

/* Flash has a seek for each small read, its transfer included, and none for others. */
bool btrfs_read_is_single(const struct btrfs_read_speed *speed, u64 len)
{
	return !speed->rot && len <= UNIT;
}

/* Pages @from and @to: a gap that passes under the head in half a turn is read over. */
bool btrfs_read_goes_on(const struct btrfs_read_speed *speed, u32 from, u32 to)
{
	return to - from <= (speed->rot ? SZ_512K >> PAGE_SHIFT : 0);
}

/* Is the last such read that told the speed a second old?  Another CPU may be a tick ahead. */
bool btrfs_read_has_rested(const struct btrfs_read_load *load, bool single)
{
	const u32 ago = (u32)jiffies - READ_ONCE(load->timed[single]);

	return ago > HZ && ago < U32_MAX - HZ;
}

/* Time until the transfer begins. */
u64 btrfs_read_access_ns(const struct btrfs_read_speed *speed, u64 from, u64 to, u64 len)
{
	if (!speed->rot)
		return btrfs_read_is_single(speed, len) ? speed->seek_ns : 0;
	if (from == to)
		return 0;
	return (u64)speed->seek_ns * btrfs_read_way(from, to) / 32;
}

/* Bytes in flight. */
u64 btrfs_read_in_flight(const struct btrfs_read_load *load)
{
	return atomic64_read(&load->in_flight) & (BIT_ULL(SEEKS_SHIFT) - 1);
}

/* Seeks in flight, no more than fit. */
u8 btrfs_read_singles(const struct btrfs_read_load *load)
{
	return min_t(u64, atomic64_read(&load->in_flight) >> SEEKS_SHIFT, U8_MAX) / SEEK_ONE;
}

static u64 btrfs_read_sum_ns(u64 in_flight, const struct btrfs_read_speed *speed)
{
	return (in_flight >> SEEKS_SHIFT) * speed->seek_ns / SEEK_ONE +
	       btrfs_read_transfer_ns(in_flight & (BIT_ULL(SEEKS_SHIFT) - 1), speed->unit_ns);
}

/* When all that is in flight will be done; what is late will be as late again. */
u64 btrfs_read_wait_ns(const struct btrfs_read_load *load, const struct btrfs_read_speed *speed,
		       u64 now_ns)
{
	const u64 in_flight = atomic64_read_acquire(&load->in_flight);	/* load since_ns after it */
	const u64 since_ns = READ_ONCE(load->since_ns);
	const s32 late = (u32)jiffies - READ_ONCE(load->alive);
	const u64 ns = btrfs_read_sum_ns(in_flight, speed);

	/* Flash does many at once, and is late if it has answered nothing for 125 ms. */
	if (in_flight && !speed->rot && late > HZ / 8)
		return max(ns, (u64)late * (NSEC_PER_SEC / HZ));
	if (!in_flight || !speed->rot || now_ns < since_ns)
		return ns;
	return max(ns, now_ns - since_ns);
}

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
	seeks = SEEK_ONE * btrfs_read_access_ns(&speed, READ_ONCE(load->last_end), pos, len);
	seeks = div_u64(seeks, speed.seek_ns);
	single = btrfs_read_is_single(&speed, len);
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
	if (head == pos)
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
 * A request is done.  Must be called before anything that lets the device be
 * freed, which is the drop of the bio counter for a device replace and the load
 * itself for a device removal; therefore the load goes down last.  Called twice
 * for the last of a mirrored write: for its clone, and when all are done.
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
