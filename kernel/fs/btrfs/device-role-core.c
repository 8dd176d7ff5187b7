// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later

/*
 * Device roles: the decisions, see device-role-core.h. User space provides the
 * integer types, div_u64() and what is used of volumes.h.
 */

#include <linux/btrfs_tree.h>
#include <linux/math64.h>
#include <linux/string.h>
#include "device-role-core.h"

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

const char *btrfs_role_name(u8 role)
{
	static const char * const names[BTRFS_ROLE_ALL] = {
		"data-preferred", "metadata-preferred", "data-only", "metadata-only",
		"foreign", "draining",
	};

	return names[role];
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
 * The one table between the disk and the roles, with the values that the
 * allocation hint patches write. 6 and 7 are undefined.
 */
u8 btrfs_role_from_disk(u64 type)
{
	static const u8 roles[BTRFS_ROLE_DISK_MASK + 1] = {
		[1] = BTRFS_ROLE_PREFER_METADATA,
		[2] = BTRFS_ROLE_PREFER_METADATA | BTRFS_ROLE_EXCLUDE_OTHER,
		[3] = BTRFS_ROLE_EXCLUDE_OTHER,
		[4] = BTRFS_ROLE_FOREIGN,
		[5] = BTRFS_ROLE_DRAINING,
	};

	return roles[type & BTRFS_ROLE_DISK_MASK];
}

/* The btrfs_dev_item::type with @role put in. */
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
	if (role >= BTRFS_ROLE_NR)
		return role == BTRFS_ROLE_FOREIGN ? BTRFS_ROLE_RANK_LAST :
						    BTRFS_ROLE_RANK_EXCLUDED;
	if (prefers_metadata == is_metadata)
		return BTRFS_ROLE_RANK_FIRST;
	return role & BTRFS_ROLE_EXCLUDE_OTHER ? BTRFS_ROLE_RANK_EXCLUDED :
						 BTRFS_ROLE_RANK_SECOND;
}

/*
 * Bytes of a device of @size bytes that only system chunks may take. They are
 * needed for other chunks to be created or relocated.
 */
u64 btrfs_role_system_space(u8 role, u64 size)
{
	if (role >= BTRFS_ROLE_NR || !(role & BTRFS_ROLE_PREFER_METADATA))
		return 0;
	return least(div_u64(size, 10), 16ULL << 20);
}

/*
 * A chunk should not be larger than 10 % of the devices it competes for: those
 * of its rank and better ones. The first one would fill a small SSD otherwise.
 */
u64 btrfs_role_max_chunk(const struct btrfs_role_profile *profile, u8 rank)
{
	u64 bytes = 0;

	for (u32 i = 0; i <= rank; i++)
		bytes += profile->rank_bytes[i];
	/* While a remount changes which roles are obeyed no device may be of the rank. */
	return bytes ? least(div_u64(bytes, 10), profile->max_chunk) : profile->max_chunk;
}

/*
 * Bytes a first choice device must offer to be taken before the others, or one that
 * is all but full would yield chunk after chunk of a few hundred KiB. A data chunk
 * must hold the largest extent, which fallocate() makes: relocation moves it whole.
 */
u64 btrfs_role_useful_bytes(const struct btrfs_role_profile *profile)
{
	u64 useful = profile->kind == BTRFS_ROLE_KIND_DATA ? 256ULL << 20 : 64ULL << 20;

	useful = least(useful, profile->max_stripe);
	useful = least(useful, btrfs_role_max_chunk(profile, BTRFS_ROLE_RANK_FIRST));
	return useful * profile->dev_stripes;
}

/* Stable: devices of a rank stay in the order they came in. */
static void sort_by_rank(struct btrfs_device_info *info, u32 nr)
{
	for (u32 i = 1; i < nr; i++) {
		for (u32 j = i; j > 0 && info[j].rank < info[j - 1].rank; j--) {
			const struct btrfs_device_info cur = info[j];

			info[j] = info[j - 1];
			info[j - 1] = cur;
		}
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

/*
 * Choose the devices of a new chunk from those in @info with enough space, which
 * are in order of rank, max_avail and total_avail. Return how many to use. They come
 * first, the one with the smallest max_avail last: it decides on the stripe size.
 * Limit the size of the chunk, max_chunk in @profile, to what suits them.
 *
 * Profiles with a fixed width take the best by rank and space. Striped ones take
 * all devices of the first choice, and others only if these are not enough.
 */
u32 btrfs_role_select(struct btrfs_device_info *info, u32 nr,
		      struct btrfs_role_profile *profile)
{
	const u64 useful = btrfs_role_useful_bytes(profile);

	if (nr && info[0].rank != info[nr - 1].rank) {
		for (u32 i = 0; i < nr; i++) {
			if (info[i].rank == BTRFS_ROLE_RANK_FIRST && info[i].max_avail < useful)
				info[i].rank = BTRFS_ROLE_RANK_BELOW_MIN;
		}
		sort_by_rank(info, nr);
		if (profile->striped)
			nr = striped_width(info, nr, profile);
	}
	nr -= nr % profile->devs_increment;
	nr = least(nr, profile->devs_max);
	if (nr)
		profile->max_chunk = btrfs_role_max_chunk(profile, info[0].rank);
	for (u32 i = 0; i + 1 < nr; i++) {
		const struct btrfs_device_info cur = info[i];

		if (cur.max_avail < info[nr - 1].max_avail) {
			info[i] = info[nr - 1];
			info[nr - 1] = cur;
		}
	}
	return nr;
}

/*
 * Bytes that each of @copies devices gives to chunks of RAID1, RAID1C3 or RAID1C4:
 * from @sums, and as long as they last one copy from each of those with space
 * @left, largest first.
 *
 * @nr copies of @height bytes fit on devices if, for any k below @nr, the other
 * nr - k copies of each byte fit on all but the k largest devices.
 */
static u64 mirrored_bytes(const struct btrfs_avail_sums *sums, const u64 *left, u32 copies)
{
	u64 rest[4] = { sums->sum };
	u64 bytes = 0;

	for (u32 k = 1; k < copies; k++)
		rest[k] = rest[k - 1] - sums->top[k - 1];

	for (u32 nr = 1; nr <= copies; nr++) {
		const u32 others = copies - nr;
		u64 height = others ? left[others - 1] - left[others] : ~0ULL;

		for (u32 k = 0; k < nr; k++)
			height = least(height, div_u64(rest[k], nr - k));
		for (u32 k = 0; k < nr; k++)
			rest[k] -= height * (nr - k);
		bytes += height;
	}
	return bytes;
}

/* Bytes, without copies and parity, that chunks of another profile can get. */
static u64 other_bytes(const struct btrfs_avail_sums *sums,
		       const struct btrfs_role_profile *profile)
{
	u64 rest = sums->sum;
	u64 bytes;

	for (u32 i = 0; i < profile->nparity; i++)
		rest -= sums->top[i];
	bytes = div_u64(rest, profile->ncopies);
	rest -= sums->top[0];
	/* RAID10: one stripe on the largest device, an odd number on the others. */
	if (profile->devs_increment == 2) {
		const u64 height = div_u64(rest, (sums->devs - 2) | 1);

		bytes = least(bytes, (rest + (height > sums->top[1] ? height :
						      sums->top[1])) / 2);
	}
	return bytes;
}

/*
 * Bytes, without copies and parity, that chunks can get from devices of @nr ranks,
 * the best first.
 *
 * Each rank is used up before the next one. What is left over then is on fewer
 * devices than a chunk needs, and every chunk of the next rank takes these as well.
 * For RAID10 this is a lower bound if one device is larger than the others together.
 */
u64 btrfs_role_available(const struct btrfs_avail_sums *ranks, u32 nr,
			 const struct btrfs_role_profile *profile)
{
	const u32 copies = profile->ncopies / profile->dev_stripes;
	u64 left[4] = { 0 };
	u64 total = 0;

	for (u32 rank = 0; rank < nr; rank++) {
		struct btrfs_avail_sums sums = ranks[rank];
		u64 bytes = 0;
		u64 used;

		if (!sums.devs)
			continue;
		if (!profile->striped && copies > 1)
			bytes = mirrored_bytes(&sums, left, copies);
		for (u32 i = 0; i < 3; i++)
			btrfs_add_avail(&sums, left[i]);
		if (profile->striped || copies == 1)
			bytes = other_bytes(&sums, profile);

		used = profile->nparity ? sums.top[profile->nparity] : bytes;
		for (u32 i = 0; i < copies - 1 + profile->nparity; i++)
			left[i] = sums.top[i] > used ? sums.top[i] - used : 0;
		total += bytes;
	}
	return total;
}

/* Devices that exclude the chunk, and those that a first choice device could relieve. */
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
 * Would a new chunk be placed better than the existing one? @usable devices have
 * space: of the first choice, or if some exclude the chunk, those that do not. The
 * chunk's own may be among them.
 */
bool btrfs_role_pass_over(const struct btrfs_role_chunk *chunk,
			  const struct btrfs_role_profile *profile, u32 usable)
{
	if (chunk->excluded || (chunk->other && profile->striped))
		return enough(profile, usable);
	return chunk->other && usable > chunk->first;
}
