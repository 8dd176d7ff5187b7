// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later

/*
 * Device roles: the decisions, see device-role-core.h. User space provides the
 * integer types, div_u64(), cond_resched() and struct btrfs_device_info.
 */

#include <linux/btrfs_tree.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "device-role-core.h"

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

const char *btrfs_role_name(u8 role)
{
	static const char * const names[BTRFS_ROLE_NR] = {
		"data-preferred", "metadata-preferred", "data-only", "metadata-only",
	};

	return role < BTRFS_ROLE_NR ? names[role] : "foreign";
}

/* @len bytes at @buf, with or without one newline. Return a role or -1. */
int btrfs_role_parse(const char *buf, size_t len)
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
 * The one table between the disk and the roles. The values are those that the
 * allocation hint patches write: there 2 is the metadata only device and 3 the
 * data only one. 6 and 7 are undefined.
 */
u8 btrfs_role_from_disk(u64 type)
{
	static const u8 roles[BTRFS_ROLE_DISK_MASK + 1] = {
		[1] = BTRFS_ROLE_PREFER_METADATA,
		[2] = BTRFS_ROLE_PREFER_METADATA | BTRFS_ROLE_EXCLUDE_OTHER,
		[3] = BTRFS_ROLE_EXCLUDE_OTHER,
		[4] = BTRFS_ROLE_FOREIGN | 4,
		[5] = BTRFS_ROLE_FOREIGN | 5,
	};

	return roles[type & BTRFS_ROLE_DISK_MASK];
}

/* The btrfs_dev_item::type with @role (below BTRFS_ROLE_NR) put in. */
u64 btrfs_role_to_disk(u64 type, u8 role)
{
	u64 raw = 0;

	while (btrfs_role_from_disk(raw) != role)
		raw++;
	return (type & ~BTRFS_ROLE_DISK_MASK) | raw;
}

enum btrfs_role_kind btrfs_role_kind(u64 bg_flags)
{
	if (!(bg_flags & BTRFS_BLOCK_GROUP_DATA))
		return BTRFS_ROLE_KIND_METADATA;
	if (bg_flags & BTRFS_BLOCK_GROUP_METADATA)
		return BTRFS_ROLE_KIND_MIXED;
	return BTRFS_ROLE_KIND_DATA;
}

enum btrfs_role_rank btrfs_role_rank(u8 role, enum btrfs_role_kind kind)
{
	const bool prefers_metadata = role & BTRFS_ROLE_PREFER_METADATA;
	const bool is_metadata = kind == BTRFS_ROLE_KIND_METADATA;

	if (kind == BTRFS_ROLE_KIND_MIXED)
		return BTRFS_ROLE_RANK_FIRST;
	if (role & BTRFS_ROLE_FOREIGN)
		return BTRFS_ROLE_RANK_LAST;
	if (prefers_metadata == is_metadata)
		return BTRFS_ROLE_RANK_FIRST;
	return role & BTRFS_ROLE_EXCLUDE_OTHER ? BTRFS_ROLE_RANK_EXCLUDED :
						 BTRFS_ROLE_RANK_SECOND;
}

/*
 * Bytes of a device of @size bytes that only system chunks may take. System
 * block groups are needed for others to be created or relocated, so a device
 * that is for metadata must not be filled to the last byte by other chunks.
 */
u64 btrfs_role_system_space(u8 role, u64 size)
{
	if (role & BTRFS_ROLE_FOREIGN || !(role & BTRFS_ROLE_PREFER_METADATA))
		return 0;
	return least(div_u64(size, 10), 16ULL << 20);
}

/*
 * A chunk should not be larger than 10 % of the devices it competes for: those
 * of its rank and better ones. With a small SSD next to large disks the first
 * chunk would take all of the SSD otherwise.
 */
u64 btrfs_role_max_chunk(const struct btrfs_role_profile *profile, u8 rank)
{
	u64 bytes = 0;

	for (u32 i = 0; i <= rank; i++)
		bytes += profile->rank_bytes[i];
	return least(div_u64(bytes, 10), profile->max_chunk);
}

/*
 * Bytes a first choice device must offer to be taken before the others. Without
 * this, one that is all but full would yield chunk after chunk of a few hundred
 * KiB. A data chunk must hold the largest extent, as relocation moves extents in
 * one piece.
 */
u64 btrfs_role_useful_bytes(const struct btrfs_role_profile *profile)
{
	u64 useful = profile->kind == BTRFS_ROLE_KIND_DATA ? 128ULL << 20 : 64ULL << 20;

	useful = least(useful, profile->max_stripe);
	useful = least(useful, btrfs_role_max_chunk(profile, BTRFS_ROLE_RANK_FIRST));
	return useful * profile->dev_stripes;
}

static bool comes_before(const struct btrfs_device_info *a,
			 const struct btrfs_device_info *b, bool by_rank)
{
	if (by_rank && a->rank != b->rank)
		return a->rank < b->rank;
	if (a->max_avail != b->max_avail)
		return a->max_avail > b->max_avail;
	return by_rank && a->total_avail > b->total_avail;
}

/* Stable: ties stay in the order they came in. The input is nearly sorted. */
static void sort_devices(struct btrfs_device_info *info, u32 nr, bool by_rank)
{
	for (u32 i = 1; i < nr; i++) {
		struct btrfs_device_info cur = info[i];
		u32 j = i;

		for (; j > 0 && comes_before(&cur, &info[j - 1], by_rank); j--)
			info[j] = info[j - 1];
		info[j] = cur;
	}
}

/* Is a chunk possible on @nr devices? */
static bool enough(const struct btrfs_role_profile *profile, u32 nr)
{
	return nr - nr % profile->devs_increment >= profile->devs_min;
}

/* How many of the devices, sorted by rank, a striped chunk spreads over. */
static u32 striped_width(const struct btrfs_device_info *info, u32 nr,
			 const struct btrfs_role_profile *profile)
{
	for (u32 i = 1; i < nr; i++) {
		if (info[i].rank != info[i - 1].rank && enough(profile, i))
			return i;
	}
	return nr;
}

static bool ranks_differ(const struct btrfs_device_info *info, u32 nr)
{
	for (u32 i = 1; i < nr; i++) {
		if (info[i].rank != info[0].rank)
			return true;
	}
	return false;
}

/*
 * Choose the devices of a new chunk from those in @info with enough space, which
 * are in order of rank, max_avail and total_avail.
 *
 * Fixed-width profiles take the best by rank and space. Striped ones take all
 * devices of the first choice, and those of the next one only if that is not
 * enough for a chunk. Return how many to use. They come first in @info, in
 * descending order of max_avail, as the size of a stripe is read off the last.
 * If all ranks are the same the chunk is the one that is made without roles.
 */
u32 btrfs_role_select(struct btrfs_device_info *info, u32 nr,
		      const struct btrfs_role_profile *profile)
{
	const u64 useful = btrfs_role_useful_bytes(profile);
	const bool differ = ranks_differ(info, nr);

	if (differ) {
		for (u32 i = 0; i < nr; i++) {
			if (info[i].rank == BTRFS_ROLE_RANK_FIRST &&
			    info[i].max_avail < useful)
				info[i].rank = BTRFS_ROLE_RANK_BELOW_MIN;
		}
		sort_devices(info, nr, true);
		if (profile->striped)
			nr = striped_width(info, nr, profile);
	}
	nr -= nr % profile->devs_increment;
	nr = least(nr, profile->devs_max);
	if (differ)
		sort_devices(info, nr, false);
	return nr;
}

/* The best rank among the devices chosen for a chunk. */
u8 btrfs_role_best_rank(const struct btrfs_device_info *info, u32 nr)
{
	u8 best = BTRFS_ROLE_RANK_EXCLUDED;

	for (u32 i = 0; i < nr; i++)
		best = least(best, info[i].rank);
	return best;
}

/* Stripes of a chunk on @nr devices that hold data rather than redundancy. */
u32 btrfs_role_data_stripes(const struct btrfs_role_profile *profile, u32 nr)
{
	return (nr * profile->dev_stripes - profile->nparity) / profile->ncopies;
}

/* The stripe size that the allocator decides on for a chunk on @nr devices. */
u64 btrfs_role_stripe_size(const struct btrfs_role_profile *profile,
			   const struct btrfs_device_info *info, u32 nr)
{
	const u64 max_chunk = btrfs_role_max_chunk(profile,
						   btrfs_role_best_rank(info, nr));
	const u32 data_stripes = btrfs_role_data_stripes(profile, nr);
	const u64 unit = 16ULL << 20;
	u64 stripe = div_u64(info[nr - 1].max_avail, profile->dev_stripes);

	if (stripe * data_stripes > max_chunk)
		stripe = least(stripe, (div_u64(max_chunk, data_stripes) + unit - 1) &
				       ~(unit - 1));
	return stripe & ~(BTRFS_ROLE_STRIPE_UNIT - 1);
}

/*
 * Choose the devices of the next chunk from the space left in @info, with at most
 * @max_avail bytes on a device. Return their number (they come first in @info), or
 * 0 if there is no space for a chunk.
 */
u32 btrfs_role_next(struct btrfs_device_info *info, u32 nr,
		    const struct btrfs_role_profile *profile, u64 max_avail)
{
	u32 usable = 0;

	for (u32 i = 0; i < nr; i++) {
		struct btrfs_device_info *dev = &info[i];

		dev->max_avail = least(dev->total_avail, max_avail);
		if (dev->rank == BTRFS_ROLE_RANK_BELOW_MIN)
			dev->rank = BTRFS_ROLE_RANK_FIRST;
		if (dev->max_avail < BTRFS_ROLE_STRIPE_UNIT * profile->dev_stripes)
			dev->rank = BTRFS_ROLE_RANK_EXCLUDED;
		usable += (dev->rank != BTRFS_ROLE_RANK_EXCLUDED);
	}
	sort_devices(info, nr, true);

	usable = btrfs_role_select(info, usable, profile);
	return usable < profile->devs_min ? 0 : usable;
}

/* Number of steps to divide the rest into; a step reads all devices. */
static u32 fill_steps(u32 nr)
{
	if (nr <= 64)
		return 1024;
	return nr < 1024 ? 65536 / nr : 64;
}

/*
 * Bytes of chunks that can be allocated until no other chunk fits.
 *
 * @info: the devices that may be used, with rank and total_avail set. The rest
 *        is filled in, and total_avail is used up.
 *
 * This is allocation with the steps the allocator makes, so that the tiers of
 * devices and the rest of each are exact. Far from the end the steps are larger, in
 * proportion to the rest: later steps even out their error, and a petabyte takes at
 * most some thousand of them. Their
 * number is limited, so that the loop ends whatever the input is.
 */
u64 btrfs_role_available(struct btrfs_device_info *info, u32 nr,
			 const struct btrfs_role_profile *profile)
{
	const u32 dev_stripes = profile->dev_stripes;
	const u32 steps = fill_steps(nr);
	u64 bytes = 0;
	u64 left = 0;

	for (u32 i = 0; i < nr; i++)
		left += info[i].total_avail;

	for (u32 step = 0; step < 64 * steps; step++) {
		u64 stripe = div_u64(left, steps * dev_stripes);
		const bool coarse = stripe > profile->max_stripe;
		u32 used = btrfs_role_next(info, nr, profile, dev_stripes *
					   (coarse ? stripe : profile->max_stripe));

		if (!used)
			break;
		if (coarse)
			stripe = div_u64(info[used - 1].max_avail, dev_stripes) &
				 ~(BTRFS_ROLE_STRIPE_UNIT - 1);
		else
			stripe = btrfs_role_stripe_size(profile, info, used);
		if (!stripe)
			break;

		for (u32 i = 0; i < used; i++)
			info[i].total_avail -= stripe * dev_stripes;
		left -= stripe * dev_stripes * used;
		bytes += stripe * btrfs_role_data_stripes(profile, used);
		cond_resched();
	}
	return bytes;
}

/*
 * Number of devices of the chunk with misplaced stripes: all that exclude its
 * kind, and those that a first choice device could relieve.
 */
u32 btrfs_role_misplaced(const struct btrfs_role_chunk *chunk,
			 const struct btrfs_role_profile *profile)
{
	u32 relieved = chunk->other;

	if (!profile->striped)
		relieved = least(relieved, chunk->vacant);
	else if (!enough(profile, chunk->first + chunk->vacant))
		relieved = 0;
	return chunk->excluded + relieved;
}

/*
 * Would a new chunk be placed better than the existing one? Then its free space
 * must not be used: data in it would have to be moved again.
 *
 * @first devices of the first choice have space and @allowed that do not exclude
 * the kind. Of these @chunk.first may be the chunk's own, so a further one is
 * certain only if there are more than that.
 */
bool btrfs_role_pass_over(const struct btrfs_role_chunk *chunk,
			  const struct btrfs_role_profile *profile,
			  u32 first, u32 allowed)
{
	if (chunk->excluded)
		return enough(profile, allowed);
	if (!chunk->other)
		return false;
	return profile->striped ? enough(profile, first) : first > chunk->first;
}
