/* SPDX-License-Identifier: GPL-2.0-only */
/* What the read policy works out from the speed and the load of a device. */

#ifndef BTRFS_READ_POLICY_SPEED_H
#define BTRFS_READ_POLICY_SPEED_H

#include "volumes.h"
#include "compat.h"

#define UNIT		BIT(BTRFS_READ_UNIT_SHIFT)
/* Seeks in flight are counted in eighths, above 16 TiB of bytes. */
#define SEEK_ONE	8
#define SEEKS_SHIFT	44
/* Before anything is learnt: data sheets of a drive of 7200/min, and a read of a SATA SSD. */
#define ROT_SEEK_NS	(8 * NSEC_PER_MSEC)
#define FLASH_SEEK_NS	(100 * NSEC_PER_USEC)
#define UNIT_NS		(300 * NSEC_PER_USEC)

static inline u64 btrfs_read_transfer_ns(u64 bytes, u32 unit_ns)
{
	return (bytes * unit_ns) >> BTRFS_READ_UNIT_SHIFT;
}

static inline struct btrfs_read_speed btrfs_read_speed(const struct btrfs_device *device)
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
static inline u32 btrfs_read_way(u64 from, u64 to)
{
	return 16 + fls64((from < to ? to - from : from - to) >> 20);
}

/* Flash has a seek for each small read, its transfer included, and none for others. */
static inline bool btrfs_read_is_single(const struct btrfs_read_speed *speed, u64 len)
{
	return !speed->rot && len <= UNIT;
}

/* Pages @from and @to: a gap that passes under the head in half a turn is read over. */
static inline bool btrfs_read_goes_on(const struct btrfs_read_speed *speed, u32 from, u32 to)
{
	return to - from <= (speed->rot ? SZ_512K >> PAGE_SHIFT : 0);
}

/* Is the last such read that told the speed a second old?  Another CPU may be a tick ahead. */
static inline bool btrfs_read_has_rested(const struct btrfs_read_load *load, bool single)
{
	const u32 ago = (u32)jiffies - READ_ONCE(load->timed[single]);

	return ago > HZ && ago < U32_MAX - HZ;
}

/* Time until the transfer begins. */
static inline u64 btrfs_read_access_ns(const struct btrfs_read_speed *speed, u64 from, u64 to,
				       u64 len)
{
	if (!speed->rot)
		return btrfs_read_is_single(speed, len) ? speed->seek_ns : 0;
	if (from == to)
		return 0;
	return (u64)speed->seek_ns * btrfs_read_way(from, to) / 32;
}

/* Bytes in flight. */
static inline u64 btrfs_read_in_flight(const struct btrfs_read_load *load)
{
	return atomic64_read(&load->in_flight) & (BIT_ULL(SEEKS_SHIFT) - 1);
}

/* Seeks in flight, no more than fit. */
static inline u8 btrfs_read_singles(const struct btrfs_read_load *load)
{
	return min_t(u64, atomic64_read(&load->in_flight) >> SEEKS_SHIFT, U8_MAX) / SEEK_ONE;
}

static inline u64 btrfs_read_sum_ns(u64 in_flight, const struct btrfs_read_speed *speed)
{
	return (in_flight >> SEEKS_SHIFT) * speed->seek_ns / SEEK_ONE +
	       btrfs_read_transfer_ns(in_flight & (BIT_ULL(SEEKS_SHIFT) - 1), speed->unit_ns);
}

/* When all that is in flight will be done; what is late will be as late again. */
static inline u64 btrfs_read_wait_ns(const struct btrfs_read_load *load,
				     const struct btrfs_read_speed *speed, u64 now_ns)
{
	const u64 in_flight = atomic64_read_acquire(&load->in_flight);	/* load since_ns after it */
	const u64 ns = btrfs_read_sum_ns(in_flight, speed);
	const u64 since_ns = READ_ONCE(load->since_ns);
	const s32 late = (u32)jiffies - READ_ONCE(load->alive);

	if (!in_flight)
		return 0;
	if (speed->rot)
		return now_ns < since_ns ? ns : max(ns, now_ns - since_ns);
	/* Flash does many at once, and is late if it has answered nothing for 125 ms. */
	return late > HZ / 8 ? max(ns, (u64)late * (NSEC_PER_SEC / HZ)) : ns;
}

#endif
