/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predicts the choice of the kernel's chunk allocator, and classifies existing
 * chunks.  The code shared with the kernel series chooses the devices; this file
 * computes its input: the limits of a chunk and the space that a device offers.
 * Pure: does not use a file system or a kernel.
 */
#include <string.h>

#include "device-role-core.h"
#include "allocator/select.h"
#include "core/base.h"
#include "core/profiles.h"
#include "core/roles.h"

#define KIB 1024ULL
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define STRIPE_UNIT (64 * KIB)
/*
 * As the kernel's BTRFS_MAX_DEVS and BTRFS_MAX_DEVS_SYS_CHUNK: the longest item of a tree
 * block (behind a header and the item's head), and the superblock's list, hold a chunk.
 */
#define DEVS_MAX(nodesize) \
	(((nodesize) - 101 - 25 - sizeof(struct btrfs_chunk)) / sizeof(struct btrfs_stripe) + 1)
#define SYSTEM_DEVS_MAX \
	((2048 - 2 * 17 - 2 * sizeof(struct btrfs_chunk)) / sizeof(struct btrfs_stripe) + 1)

struct bp_candidate *bp_candidate_find(struct bp_candidate *candidates, size_t count,
				       uint64_t devid)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (candidates[middle].devid < devid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && candidates[low].devid == devid ? &candidates[low] : NULL;
}

static enum btrfs_role_rank rank_of(const struct bp_candidate *candidate, uint64_t type)
{
	return btrfs_role_rank(bp_role_core(candidate->role), btrfs_role_kind(type));
}

bool bp_same_rank(const struct bp_candidate *a, const struct bp_candidate *b, uint64_t type)
{
	return rank_of(a, type) == rank_of(b, type);
}

bool bp_excluded(const struct bp_candidate *candidate, uint64_t type)
{
	return rank_of(candidate, type) == BTRFS_ROLE_RANK_EXCLUDED;
}

uint32_t bp_allowed_candidates(const struct bp_candidate *candidates, size_t count, uint64_t type)
{
	uint32_t allowed = 0;

	for (size_t i = 0; i < count; i++)
		allowed += candidates[i].writeable && !bp_excluded(&candidates[i], type);
	return allowed;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- Ranges without chunks ---------------------------------------------- */

/*
 * The first MiB.  With zones: those of the logs of superblocks, those where a device
 * without zones has superblocks, and what is behind the last whole zone.
 */
uint64_t bp_candidate_reserved(const struct bp_candidate *candidate, size_t i, uint64_t *start)
{
	/* Three logs of two zones each, then the places. */
	static const uint64_t supers[BP_RESERVED_RANGES - 1] = {
		0, 512 * GIB, 4096 * GIB, 64 * MIB, 256 * GIB,
	};
	uint64_t zone = candidate->zone, end;

	*start = 0;
	if (!zone)
		return i ? 0 : min_u64(BP_DEVICE_RESERVED, candidate->size);
	*start = end = candidate->size - candidate->size % zone;
	if (i == BP_ARRAY_SIZE(supers))
		return candidate->size - end;
	*start = supers[i] - supers[i] % zone;
	/* The first log may include a place. */
	if (*start >= end || (i && *start < 2 * zone))
		return 0;
	return min_u64(i < 3 ? 2 * zone : zone, end - *start);
}

uint64_t bp_candidate_allocatable(const struct bp_candidate *candidate, uint64_t unallocated)
{
	uint64_t reserved = 0, start;

	for (size_t i = 0; i < BP_RESERVED_RANGES; i++)
		reserved += bp_candidate_reserved(candidate, i, &start);
	return unallocated > reserved ? unallocated - reserved : 0;
}

/* ---- Limits on a new chunk ---------------------------------------------- */

/* Stripes of a chunk on so many devices that hold data rather than redundancy. */
static uint32_t data_stripes(const struct btrfs_role_profile *limits, uint32_t devs)
{
	return (devs * limits->dev_stripes - limits->nparity) / limits->ncopies;
}

/* A stripe is a zone; a chunk takes at most a tenth of all bytes, or what its profile needs. */
static void set_zoned_limits(struct btrfs_role_profile *limits, uint64_t zone, uint64_t total,
			     uint64_t type)
{
	uint64_t share = total / 10, fewest = data_stripes(limits, limits->devs_min) * zone;

	limits->max_stripe = zone;
	if (!(type & BTRFS_BLOCK_GROUP_DATA))
		limits->max_chunk = type & BTRFS_BLOCK_GROUP_SYSTEM ? 2 * zone : zone;
	limits->max_chunk = min_u64(limits->max_chunk, share > fewest ? share : fewest);
}

static uint64_t zone_of(const struct bp_candidate *candidates, size_t count)
{
	return count ? candidates->zone : 0;
}

static void set_limits(struct btrfs_role_profile *limits, const struct bp_candidate *candidates,
		       size_t count,
		       uint64_t type)
{
	const struct bp_profile *profile = bp_profile_of(type);
	uint64_t total = 0;

	memset(limits, 0, sizeof(*limits));
	limits->kind = btrfs_role_kind(type);
	limits->dev_stripes = profile->dev_stripes;
	limits->ncopies = profile->copies;
	limits->nparity = profile->parity;
	limits->striped = !profile->devs_max;
	limits->devs_min = profile->devs_min;
	limits->devs_max = profile->devs_max ? profile->devs_max :
			    DEVS_MAX(count ? candidates->nodesize : 0);
	if (type & BTRFS_BLOCK_GROUP_SYSTEM && limits->devs_max > SYSTEM_DEVS_MAX)
		limits->devs_max = SYSTEM_DEVS_MAX;
	limits->devs_increment = profile->devs_increment;
	for (size_t i = 0; i < count; i++) {
		if (!candidates[i].writeable)
			continue;
		total += candidates[i].size;
		limits->rank_bytes[rank_of(&candidates[i], type)] += candidates[i].size;
	}
	if (type & BTRFS_BLOCK_GROUP_DATA)
		limits->max_chunk = 10 * GIB;
	else if (type & BTRFS_BLOCK_GROUP_SYSTEM)
		limits->max_chunk = 32 * MIB;
	else
		limits->max_chunk = total > 50 * GIB ? GIB : 256 * MIB;
	limits->max_stripe = min_u64(limits->max_chunk, GIB);
	if (zone_of(candidates, count))
		set_zoned_limits(limits, zone_of(candidates, count), total, type);
}

/* ---- Selection ---------------------------------------------------------- */

static int by_rank_and_space(const void *a, const void *b)
{
	const struct btrfs_device_info *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->max_avail != right->max_avail)
		return left->max_avail > right->max_avail ? -1 : 1;
	if (left->total_avail != right->total_avail)
		return left->total_avail > right->total_avail ? -1 : 1;
	return (left->dev > right->dev) - (left->dev < right->dev);
}

/*
 * Bytes of the device that chunks of the type may still take.  The space kept for
 * system chunks includes the first MiB, which no chunk gets.
 */
uint64_t bp_candidate_free_space_for(const struct bp_candidate *candidate, uint64_t type)
{
	uint64_t kept = 0;

	if (!candidate->writeable || bp_excluded(candidate, type))
		return 0;
	if (!(type & BTRFS_BLOCK_GROUP_SYSTEM) && !candidate->zone)
		kept = btrfs_role_system_space(bp_role_core(candidate->role), candidate->size);
	if (kept <= BP_DEVICE_RESERVED)
		return candidate->free_space;
	kept -= BP_DEVICE_RESERVED;
	return candidate->free_space > kept ? candidate->free_space - kept : 0;
}

/* The longest extent; without a map of extents all free space counts as one. */
uint64_t bp_candidate_offer(const struct bp_candidate *candidate, uint64_t type)
{
	uint64_t space = bp_candidate_free_space_for(candidate, type);

	return candidate->hole ? min_u64(candidate->hole, space) : space;
}

/* As in the kernel, with what is reserved; without zones that is the same for all. */
uint64_t bp_candidate_unallocated(const struct bp_candidate *candidate)
{
	if (!candidate->zone)
		return candidate->free_space;
	return candidate->free_space + candidate->size -
	       bp_candidate_allocatable(candidate, candidate->size);
}

static uint32_t gather(const struct bp_candidate *candidates, size_t count, uint64_t type,
		       const struct btrfs_role_profile *limits, struct btrfs_device_info *info)
{
	uint32_t found = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t offer = bp_candidate_offer(&candidates[i], type);

		if (offer < (candidates[i].zone ? candidates[i].zone : STRIPE_UNIT) * limits->dev_stripes)
			continue;
		info[found].dev = (void *)&candidates[i];
		info[found].total_avail = bp_candidate_unallocated(&candidates[i]);
		info[found].max_avail = min_u64(offer, limits->max_stripe * limits->dev_stripes);
		info[found++].rank = rank_of(&candidates[i], type);
	}
	qsort(info, found, sizeof(*info), by_rank_and_space);
	return found;
}

/* Stripes that any chunk on the candidates has at most. */
size_t bp_stripes_most(size_t candidates)
{
	return 2 * candidates;
}

/* The length of a stripe that the kernel decides on for a chunk on these devices. */
static uint64_t stripe_length(const struct btrfs_role_profile *limits,
			      const struct btrfs_device_info *info, uint32_t devs)
{
	const uint64_t most = limits->max_chunk;
	const uint32_t stripes = data_stripes(limits, devs);
	const uint64_t unit = 16 * MIB;
	uint64_t length = info[devs - 1].max_avail / limits->dev_stripes;

	if (length * stripes > most)
		length = min_u64(length, (most / stripes + unit - 1) / unit * unit);
	return min_u64(length - length % STRIPE_UNIT, GIB);
}

/* The chunk that the kernel would allocate now: 0, -ENOSPC or -ENOMEM. */
int bp_select(const struct bp_candidate *candidates, size_t count, uint64_t type,
	      struct btrfs_policy_chunk *chunk, uint64_t *devids, uint64_t *hole)
{
	_cleanup_free_ struct btrfs_device_info *info = calloc(count, sizeof(*info));
	const uint64_t zone = zone_of(candidates, count);
	struct btrfs_role_profile limits;
	uint64_t most;
	uint32_t devs;

	if (!info)
		return -ENOMEM;
	set_limits(&limits, candidates, count, type);
	most = limits.max_chunk;
	devs = gather(candidates, count, type, &limits, info);
	devs = btrfs_role_select(info, devs, &limits);
	/* The kernel takes fewer devices then, as it cannot make zones shorter. */
	if (zone && devs >= limits.devs_min && data_stripes(&limits, devs) * zone > most)
		devs = (most / zone * limits.ncopies + limits.nparity) / limits.dev_stripes;
	if (devs < limits.devs_min)
		return -ENOSPC;
	*chunk = (struct btrfs_policy_chunk){
		.type = type, .kind = bp_kind_of(type), .stripes = devs * limits.dev_stripes,
		.stripe_length = zone ? zone : stripe_length(&limits, info, devs),
		.devids = devids,
	};
	chunk->length = chunk->stripe_length * data_stripes(&limits, devs);
	for (uint32_t i = 0; i < chunk->stripes; i++)
		devids[i] = ((const struct bp_candidate *)info[i / limits.dev_stripes].dev)->devid;
	if (hole)
		*hole = limits.max_stripe * limits.dev_stripes;
	return chunk->length ? 0 : -ENOSPC;
}

/*
 * The minimum of free bytes on a device for a useful chunk; the kernel avoids
 * devices with less, see BTRFS_ROLE_RANK_BELOW_MIN.
 */
uint64_t bp_worthwhile(const struct bp_candidate *candidates, size_t count, uint64_t type)
{
	struct btrfs_role_profile limits;

	set_limits(&limits, candidates, count, type);
	if (zone_of(candidates, count))
		return zone_of(candidates, count) * limits.dev_stripes;
	return btrfs_role_useful_bytes(&limits);
}

/* Bytes of the largest chunk that the array's size allows. */
uint64_t bp_largest_chunk(const struct bp_candidate *candidates, size_t count, uint64_t type)
{
	struct btrfs_role_profile limits;

	set_limits(&limits, candidates, count, type);
	if (zone_of(candidates, count))
		return limits.max_chunk;
	return btrfs_role_max_chunk(&limits, BTRFS_ROLE_RANK_FIRST);
}

/*
 * The type of the next chunk of a kind when chunks of `profiles` exist: the most
 * redundant profile that the number of devices allows.
 */
uint64_t bp_type_of_new(uint64_t kind_flags, uint64_t profiles, uint32_t writeable)
{
	static const uint64_t order[] = {
		BTRFS_BLOCK_GROUP_RAID1C4, BTRFS_BLOCK_GROUP_RAID6, BTRFS_BLOCK_GROUP_RAID1C3,
		BTRFS_BLOCK_GROUP_RAID5, BTRFS_BLOCK_GROUP_RAID10, BTRFS_BLOCK_GROUP_RAID1,
		BTRFS_BLOCK_GROUP_DUP, BTRFS_BLOCK_GROUP_RAID0,
	};

	for (size_t i = 0; i < BP_ARRAY_SIZE(order); i++)
		if (profiles & order[i] && writeable >= bp_profile_of(order[i])->devs_min)
			return kind_flags | order[i];
	return kind_flags;
}

/* ---- Classification of a chunk ------------------------------------------ */

static bool is_on(const struct btrfs_policy_chunk *chunk, uint64_t devid, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++)
		if (chunk->devids[i] == devid)
			return true;
	return false;
}

enum btrfs_policy_misplaced bp_classify(struct bp_candidate *candidates, size_t count,
				     const struct btrfs_policy_chunk *chunk)
{
	struct btrfs_role_chunk where = {};
	struct btrfs_role_profile limits;
	uint64_t useful;

	for (uint32_t i = 0; i < chunk->stripes; i++) {
		const struct bp_candidate *candidate =
			bp_candidate_find(candidates, count, chunk->devids[i]);
		enum btrfs_role_rank rank;

		if (!candidate || is_on(chunk, chunk->devids[i], i))
			continue;
		rank = rank_of(candidate, chunk->type);
		where.first += rank == BTRFS_ROLE_RANK_FIRST;
		where.excluded += rank == BTRFS_ROLE_RANK_EXCLUDED;
		where.other += rank != BTRFS_ROLE_RANK_FIRST && rank != BTRFS_ROLE_RANK_EXCLUDED;
	}
	if (where.excluded)
		return BTRFS_POLICY_ON_EXCLUDED;
	if (!where.other)
		return BTRFS_POLICY_PLACED;
	set_limits(&limits, candidates, count, chunk->type);
	/* Vacant: holds the chunk's bytes of one device, and would be preferred for a new one. */
	useful = bp_worthwhile(candidates, count, chunk->type);
	for (size_t i = 0; i < count; i++)
		where.vacant += candidates[i].writeable &&
				candidates[i].free_space >=
					chunk->stripe_length * limits.dev_stripes &&
				bp_candidate_free_space_for(&candidates[i], chunk->type) >= useful &&
				rank_of(&candidates[i], chunk->type) == BTRFS_ROLE_RANK_FIRST &&
				!is_on(chunk, candidates[i].devid, chunk->stripes);
	return btrfs_role_misplaced(&where, &limits) ? BTRFS_POLICY_ON_SECOND_CHOICE :
							     BTRFS_POLICY_PLACED;
}

/* Stripes that are not on a device of the first choice for the type. */
uint32_t bp_not_first_choice(struct bp_candidate *candidates, size_t count, uint64_t type,
			     const uint64_t *devids, uint32_t stripes)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < stripes; i++) {
		const struct bp_candidate *candidate =
			bp_candidate_find(candidates, count, devids[i]);

		found += !candidate || rank_of(candidate, type) != BTRFS_ROLE_RANK_FIRST;
	}
	return found;
}

/* Is this device one of those that make the chunk misplaced? */
bool bp_candidate_misuses(const struct bp_candidate *candidate,
			  const struct btrfs_policy_chunk *chunk)
{
	enum btrfs_role_rank rank = rank_of(candidate, chunk->type);

	if (chunk->misplaced == BTRFS_POLICY_PLACED)
		return false;
	if (rank == BTRFS_ROLE_RANK_EXCLUDED)
		return true;
	return chunk->misplaced == BTRFS_POLICY_ON_SECOND_CHOICE &&
	       rank != BTRFS_ROLE_RANK_FIRST;
}
