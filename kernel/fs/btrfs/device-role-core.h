/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */

/*
 * Device roles: the decisions, and nothing else.
 *
 * Which devices may and should carry which kind of chunk is decided here, by
 * pure functions on plain values. The file knows no locks, no lists and no
 * file system. Of the headers below it uses only integer types, div_u64(),
 * memcmp(), cond_resched() and struct btrfs_device_info, so that user space can
 * provide these and predict with the same code what the allocator will do.
 * The licence allows for that: a library under the LGPL compiles it as well.
 */

#ifndef BTRFS_DEVICE_ROLE_CORE_H
#define BTRFS_DEVICE_ROLE_CORE_H

#include <linux/btrfs_tree.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include "volumes.h"

/*
 * A role is a small number: either the two bits below in any combination, or
 * BTRFS_ROLE_FOREIGN and the raw on-disk value (4 or 5) of a device that
 * another patch set marked "avoid".
 */
#define BTRFS_ROLE_PREFER_METADATA	0x01
#define BTRFS_ROLE_EXCLUDE_OTHER	0x02
#define BTRFS_ROLE_FOREIGN		0x80

/* Stripes are a multiple of this many bytes. */
#define BTRFS_ROLE_STRIPE_UNIT		(64ULL << 10)

/* Roles from 0 to this have a name and can be set. */
#define BTRFS_ROLE_NR			4

/* The bits of btrfs_dev_item::type that hold the role, the rest is not ours. */
#define BTRFS_ROLE_DISK_MASK		0x07ULL

enum btrfs_role_kind {
	BTRFS_ROLE_KIND_DATA,
	/* System chunks count as metadata. */
	BTRFS_ROLE_KIND_METADATA,
	/* Data and metadata in one block group: roles do not apply. */
	BTRFS_ROLE_KIND_MIXED,
};

/* How welcome a chunk of some kind is on a device, best first. */
enum btrfs_role_rank {
	BTRFS_ROLE_RANK_FIRST,
	BTRFS_ROLE_RANK_SECOND,
	/* First choice, but with so little room that it would not help. */
	BTRFS_ROLE_RANK_CRUMBS,
	/* Only when no other device can serve. */
	BTRFS_ROLE_RANK_LAST,
	BTRFS_ROLE_RANK_EXCLUDED,
};

/* What the selection has to know of a block group profile. */
struct btrfs_role_profile {
	/* The width follows the number of devices (RAID0, RAID10, RAID5/6). */
	bool striped;
	/* Devices: fewest, most (always set), and the step between, 1 or more. */
	u32 devs_min;
	u32 devs_max;
	u32 devs_increment;
	/* Bytes: a first choice device with less than this has only crumbs. */
	u64 useful;
};

static inline const char *btrfs_role_name(u8 role)
{
	static const char * const names[BTRFS_ROLE_NR] = {
		[0] = "data-preferred",
		[BTRFS_ROLE_PREFER_METADATA] = "metadata-preferred",
		[BTRFS_ROLE_EXCLUDE_OTHER] = "data-only",
		[BTRFS_ROLE_PREFER_METADATA |
		 BTRFS_ROLE_EXCLUDE_OTHER] = "metadata-only",
	};

	return role < BTRFS_ROLE_NR ? names[role] : "foreign";
}

/* @len bytes at @buf, with or without one newline. Return a role or -1. */
static inline int btrfs_role_parse(const char *buf, size_t len)
{
	if (len && buf[len - 1] == '\n')
		len--;

	for (u8 role = 0; role < BTRFS_ROLE_NR; role++) {
		const char *name = btrfs_role_name(role);

		if (len == strlen(name) && memcmp(buf, name, len) == 0)
			return role;
	}
	return -1;
}

/*
 * The one table between the disk and the roles. The values are those that file
 * systems in use carry, written by the allocation hint patches: there 2 is the
 * metadata only device and 3 the data only one. 6 and 7 mean nothing to anyone.
 */
static inline u8 btrfs_role_from_disk(u64 type)
{
	static const u8 roles[BTRFS_ROLE_DISK_MASK + 1] = {
		[0] = 0,
		[1] = BTRFS_ROLE_PREFER_METADATA,
		[2] = BTRFS_ROLE_PREFER_METADATA | BTRFS_ROLE_EXCLUDE_OTHER,
		[3] = BTRFS_ROLE_EXCLUDE_OTHER,
		[4] = BTRFS_ROLE_FOREIGN | 4,
		[5] = BTRFS_ROLE_FOREIGN | 5,
		[6] = 0,
		[7] = 0,
	};

	return roles[type & BTRFS_ROLE_DISK_MASK];
}

/* True for a btrfs_dev_item::type that nobody has defined. */
static inline bool btrfs_role_unknown_on_disk(u64 type)
{
	return (type & BTRFS_ROLE_DISK_MASK) > 5;
}

/* The btrfs_dev_item::type with @role (below BTRFS_ROLE_NR) put in. */
static inline u64 btrfs_role_to_disk(u64 type, u8 role)
{
	u64 raw = 0;

	while (btrfs_role_from_disk(raw) != role)
		raw++;
	return (type & ~BTRFS_ROLE_DISK_MASK) | raw;
}

static inline enum btrfs_role_kind btrfs_role_kind(u64 bg_flags)
{
	if (!(bg_flags & BTRFS_BLOCK_GROUP_DATA))
		return BTRFS_ROLE_KIND_METADATA;
	if (bg_flags & BTRFS_BLOCK_GROUP_METADATA)
		return BTRFS_ROLE_KIND_MIXED;
	return BTRFS_ROLE_KIND_DATA;
}

static inline enum btrfs_role_rank btrfs_role_rank(u8 role,
						   enum btrfs_role_kind kind)
{
	bool prefers_metadata = role & BTRFS_ROLE_PREFER_METADATA;
	bool is_metadata = (kind == BTRFS_ROLE_KIND_METADATA);

	if (kind == BTRFS_ROLE_KIND_MIXED)
		return BTRFS_ROLE_RANK_FIRST;
	if (role & BTRFS_ROLE_FOREIGN)
		return BTRFS_ROLE_RANK_LAST;
	if (prefers_metadata == is_metadata)
		return BTRFS_ROLE_RANK_FIRST;
	if (role & BTRFS_ROLE_EXCLUDE_OTHER)
		return BTRFS_ROLE_RANK_EXCLUDED;
	return BTRFS_ROLE_RANK_SECOND;
}

/*
 * Bytes of a device of @size bytes that only system chunks may take. System
 * block groups are needed for others to be created or relocated, so a device
 * that is for metadata must not be filled to the last byte by other chunks.
 */
static inline u64 btrfs_role_system_room(u8 role, u64 size)
{
	const u64 room = 16ULL << 20;

	if (role & BTRFS_ROLE_FOREIGN || !(role & BTRFS_ROLE_PREFER_METADATA))
		return 0;
	return size < 10 * room ? div_u64(size, 10) : room;
}

/* How large a chunk may get. */
struct btrfs_role_limits {
	u32 dev_stripes;
	u32 ncopies;
	u32 nparity;
	/* Bytes, the chunk regardless of the size of the filesystem. */
	u64 max_stripe;
	u64 max_chunk;
	/* Bytes of the writeable devices, by rank. */
	u64 rank_bytes[BTRFS_ROLE_RANK_EXCLUDED + 1];
};

/*
 * A chunk should not be larger than 10 % of the devices it competes for: those
 * of its rank and better ones. With a small SSD next to large disks the first
 * chunk would take all of the SSD otherwise.
 */
static inline u64 btrfs_role_max_chunk(const struct btrfs_role_limits *limits,
				       u8 rank)
{
	u64 bytes = 0;

	for (u32 i = 0; i <= rank; i++)
		bytes += limits->rank_bytes[i];
	bytes = div_u64(bytes, 10);

	return bytes < limits->max_chunk ? bytes : limits->max_chunk;
}

/*
 * Bytes a first choice device must offer to be taken before the others, for
 * chunks of at most @max_chunk bytes with @dev_stripes stripes of at most
 * @max_stripe bytes on a device. Without this, a device that is all but full
 * would yield chunk after chunk of a few hundred KiB. A data chunk must hold
 * the largest extent, as relocation moves extents in one piece.
 */
static inline u64 btrfs_role_useful_bytes(enum btrfs_role_kind kind,
					  u64 max_chunk, u64 max_stripe,
					  u32 dev_stripes)
{
	u64 useful = (kind == BTRFS_ROLE_KIND_DATA ? 128ULL : 64ULL) << 20;

	if (useful > max_stripe)
		useful = max_stripe;
	if (useful > max_chunk)
		useful = max_chunk;
	return useful * dev_stripes;
}

static inline bool btrfs_role_ranks_differ(const struct btrfs_device_info *info,
					   u32 nr)
{
	for (u32 i = 1; i < nr; i++) {
		if (info[i].rank != info[0].rank)
			return true;
	}
	return false;
}

/*
 * Both sorts are stable, and must be: ties stay in the order they came in. The
 * input is nearly sorted and short, so insertion does.
 */
static inline void btrfs_role_sort_by_rank(struct btrfs_device_info *info,
					   u32 nr)
{
	for (u32 i = 1; i < nr; i++) {
		struct btrfs_device_info cur = info[i];
		u32 j = i;

		for (; j > 0 && info[j - 1].rank > cur.rank; j--)
			info[j] = info[j - 1];
		info[j] = cur;
	}
}

static inline void btrfs_role_sort_by_size(struct btrfs_device_info *info,
					   u32 nr)
{
	for (u32 i = 1; i < nr; i++) {
		struct btrfs_device_info cur = info[i];
		u32 j = i;

		for (; j > 0 && info[j - 1].max_avail < cur.max_avail; j--)
			info[j] = info[j - 1];
		info[j] = cur;
	}
}

/* Is a chunk possible on @nr devices? */
static inline bool btrfs_role_enough(const struct btrfs_role_profile *profile,
				     u32 nr)
{
	return nr - nr % profile->devs_increment >= profile->devs_min;
}

/* How many of the devices, sorted by rank, a striped chunk spreads over. */
static inline u32 btrfs_role_width(const struct btrfs_device_info *info, u32 nr,
				   const struct btrfs_role_profile *profile)
{
	for (u32 i = 1; i < nr; i++) {
		if (info[i].rank != info[i - 1].rank &&
		    btrfs_role_enough(profile, i))
			return i;
	}
	return nr;
}

/*
 * Choose the devices of a new chunk.
 *
 * @info: the devices that may be used and have room, in descending order of
 *        max_avail and total_avail, with their ranks
 *
 * Fixed-width profiles take the best by rank and room. Striped ones take all
 * devices of the first choice, and those of the next one only if that is not
 * enough for a chunk. Return how many to use. They come first in @info, in
 * descending order of max_avail, as the size of a stripe is read off the last.
 *
 * When all ranks are the same nothing is touched and @nr returned: the chunk
 * is then the one that would be made without roles.
 */
static inline u32 btrfs_role_select(struct btrfs_device_info *info, u32 nr,
				    const struct btrfs_role_profile *profile)
{
	if (!btrfs_role_ranks_differ(info, nr))
		return nr;

	for (u32 i = 0; i < nr; i++) {
		if (info[i].rank == BTRFS_ROLE_RANK_FIRST &&
		    info[i].max_avail < profile->useful)
			info[i].rank = BTRFS_ROLE_RANK_CRUMBS;
	}
	btrfs_role_sort_by_rank(info, nr);

	if (profile->striped)
		nr = btrfs_role_width(info, nr, profile);
	nr -= nr % profile->devs_increment;
	if (nr > profile->devs_max)
		nr = profile->devs_max;

	btrfs_role_sort_by_size(info, nr);
	return nr;
}

/* The best rank among the devices chosen for a chunk. */
static inline u8 btrfs_role_best_rank(const struct btrfs_device_info *info,
				      u32 nr)
{
	u8 best = BTRFS_ROLE_RANK_EXCLUDED;

	for (u32 i = 0; i < nr; i++) {
		if (info[i].rank < best)
			best = info[i].rank;
	}
	return best;
}

/* Stripes of a chunk on @nr devices that hold data rather than redundancy. */
static inline u32 btrfs_role_data_stripes(const struct btrfs_role_limits *limits,
					  u32 nr)
{
	return (nr * limits->dev_stripes - limits->nparity) / limits->ncopies;
}

/*
 * The size of the stripes of a chunk on the @nr chosen devices, the same that
 * the allocator decides on.
 */
static inline u64 btrfs_role_stripe_size(const struct btrfs_role_limits *limits,
					 const struct btrfs_device_info *info,
					 u32 nr)
{
	const u64 max_chunk = btrfs_role_max_chunk(limits,
						   btrfs_role_best_rank(info, nr));
	const u32 data_stripes = btrfs_role_data_stripes(limits, nr);
	const u64 unit = 16ULL << 20;
	u64 stripe = div_u64(info[nr - 1].max_avail, limits->dev_stripes);

	if (stripe * data_stripes > max_chunk) {
		u64 reduced = div_u64(max_chunk, data_stripes) + unit - 1;

		reduced &= ~(unit - 1);
		if (reduced < stripe)
			stripe = reduced;
	}
	return stripe & ~(BTRFS_ROLE_STRIPE_UNIT - 1);
}

/* The same order as the allocator's: by rank, then by what is unallocated. */
static inline void btrfs_role_sort_by_room(struct btrfs_device_info *info,
					   u32 nr)
{
	for (u32 i = 1; i < nr; i++) {
		struct btrfs_device_info cur = info[i];
		u32 j = i;

		for (; j > 0 && (info[j - 1].rank > cur.rank ||
				 (info[j - 1].rank == cur.rank &&
				  info[j - 1].total_avail < cur.total_avail)); j--)
			info[j] = info[j - 1];
		info[j] = cur;
	}
}

/*
 * Choose the devices of one more chunk from what is left in @info, none of it
 * with more than @max_avail bytes on a device. Return how many, they are first,
 * or 0 if there is no room for a chunk.
 */
static inline u32 btrfs_role_next(struct btrfs_device_info *info, u32 nr,
				  const struct btrfs_role_profile *profile,
				  u64 min_avail, u64 max_avail)
{
	u32 usable = 0;

	for (u32 i = 0; i < nr; i++) {
		struct btrfs_device_info *dev = &info[i];

		dev->max_avail = dev->total_avail < max_avail ?
				 dev->total_avail : max_avail;
		if (dev->rank == BTRFS_ROLE_RANK_CRUMBS)
			dev->rank = BTRFS_ROLE_RANK_FIRST;
		if (dev->max_avail < min_avail)
			dev->rank = BTRFS_ROLE_RANK_EXCLUDED;
		usable += (dev->rank != BTRFS_ROLE_RANK_EXCLUDED);
	}
	btrfs_role_sort_by_room(info, nr);

	usable = btrfs_role_select(info, usable, profile);
	usable -= usable % profile->devs_increment;
	if (usable > profile->devs_max)
		usable = profile->devs_max;
	return usable < profile->devs_min ? 0 : usable;
}

/*
 * In how many steps @nr devices are filled while there is far more room than
 * for a chunk. A step looks at all devices, so with many of them there are
 * fewer steps.
 */
static inline u32 btrfs_role_steps(u32 nr)
{
	if (nr <= 64)
		return 1024;
	return nr < 1024 ? 65536 / nr : 64;
}

/*
 * How many bytes of chunks can be allocated until there is no room for another.
 *
 * @info: the devices that may be used, with rank and total_avail set. The rest
 *        is filled in, and total_avail is used up.
 *
 * This is allocation with the steps the allocator makes, so that the tiers of
 * devices and the leftovers of each come out right. Far from the end the steps
 * are larger, in proportion to what is left: what they leave uneven the next
 * ones even out, and a petabyte takes no more than some thousand of them.
 *
 * Each step takes space, and @info must be a copy that only this function
 * changes. The number of steps is limited all the same, as a loop in the kernel
 * should not depend on an argument about its input.
 */
static inline u64 btrfs_role_available(struct btrfs_device_info *info, u32 nr,
				       const struct btrfs_role_profile *profile,
				       const struct btrfs_role_limits *limits)
{
	const u64 min_avail = BTRFS_ROLE_STRIPE_UNIT * limits->dev_stripes;
	const u32 steps = btrfs_role_steps(nr);
	u64 bytes = 0;
	u64 left = 0;

	for (u32 i = 0; i < nr; i++)
		left += info[i].total_avail;

	for (u32 step = 0; step < 64 * steps; step++) {
		u64 stripe = div_u64(left, steps * limits->dev_stripes);
		const bool coarse = stripe > limits->max_stripe;
		const u64 max_avail = limits->dev_stripes *
				      (coarse ? stripe : limits->max_stripe);
		u32 used = btrfs_role_next(info, nr, profile, min_avail, max_avail);

		if (!used)
			break;

		if (coarse)
			stripe = div_u64(info[used - 1].max_avail,
					 limits->dev_stripes) &
				 ~(BTRFS_ROLE_STRIPE_UNIT - 1);
		else
			stripe = btrfs_role_stripe_size(limits, info, used);
		if (!stripe)
			break;

		for (u32 i = 0; i < used; i++)
			info[i].total_avail -= stripe * limits->dev_stripes;
		left -= stripe * limits->dev_stripes * used;
		bytes += stripe * btrfs_role_data_stripes(limits, used);
		cond_resched();
	}
	return bytes;
}

/*
 * Unallocated bytes of the devices that may carry some kind of chunk, kept so
 * that the room for chunks with up to four copies can be read off: the sum, and
 * the largest three devices in descending order.
 */
struct btrfs_role_space {
	u64 sum;
	u64 top[3];
};

#define BTRFS_ROLE_MAX_COPIES		4

static inline void btrfs_role_space_add(struct btrfs_role_space *space,
					u64 bytes)
{
	space->sum += bytes;

	for (u32 i = 0; i < BTRFS_ROLE_MAX_COPIES - 1; i++) {
		if (bytes > space->top[i]) {
			u64 smaller = space->top[i];

			space->top[i] = bytes;
			bytes = smaller;
		}
	}
}

/*
 * Bytes that fit if each is stored on @copies (1 to BTRFS_ROLE_MAX_COPIES)
 * different devices. A device larger than an equal share of what is left holds
 * one copy of everything and can hold no more, the rest is up to the others.
 */
static inline u64 btrfs_role_space_for(const struct btrfs_role_space *space,
				       u32 copies)
{
	u64 left = space->sum;

	for (u32 i = 0; copies > 1; i++, copies--) {
		if (space->top[i] <= div_u64(left, copies))
			break;
		left -= space->top[i];
	}
	return div_u64(left, copies);
}

/* Where the devices of one existing chunk stand, in numbers of devices. */
struct btrfs_role_chunk {
	u32 first;
	/* Allowed, but not the first choice. */
	u32 other;
	u32 excluded;
	/* First choice devices outside the chunk with room for a part of it. */
	u32 vacant;
};

/*
 * How many devices of the chunk hold what should be elsewhere: all that exclude
 * its kind, and those that a first choice device could relieve.
 */
static inline u32 btrfs_role_misplaced(const struct btrfs_role_chunk *chunk,
				       const struct btrfs_role_profile *profile)
{
	u32 relieved = chunk->other;

	if (profile->striped) {
		if (!btrfs_role_enough(profile, chunk->first + chunk->vacant))
			relieved = 0;
	} else if (relieved > chunk->vacant) {
		relieved = chunk->vacant;
	}
	return chunk->excluded + relieved;
}

#endif
