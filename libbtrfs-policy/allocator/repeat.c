/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Allocates many equal chunks of a simulated array at once.  As long as each device
 * that the kernel takes has a hole for the longest stripe, all chunks are equal, and
 * each is on the devices with most space.  That holds below, too, for devices whose
 * space is in one piece, down to the stripe of the chunk.  So a device gets its
 * stripes above a level of space, the same on all devices, and at most one of each
 * chunk.  DUP's two stripes count as one.
 */
#include "allocator/array.h"
#include "core/base.h"
#include "core/profiles.h"

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Bytes that the device does not offer to the type, although they are unallocated. */
static uint64_t kept_space(const struct bp_candidate *candidate, uint64_t type)
{
	return bp_candidate_unallocated(candidate) - bp_candidate_free_space_for(candidate, type);
}

/* The shortest stripe of devices whose space is in one piece; below `useful` the rank changes. */
static uint64_t shortest(const struct bp_candidate *array, size_t count, uint64_t type,
			 const struct bp_candidate *first, uint64_t unit)
{
	for (size_t i = 0; i < count; i++)
		if (!bp_same_rank(first, &array[i], type) && bp_candidate_offer(&array[i], type))
			return max_u64(unit, bp_worthwhile(array, count, type));
	return unit;
}

/*
 * Stripes that each device can give while it has the space of the level or more.  Below
 * that level one of the devices has no such hole, or one that is not counted is better.
 */
static void count_stripes(struct bp_candidate *array, size_t count,
			  const struct btrfs_policy_chunk *next, uint64_t hole, uint64_t unit,
			  uint64_t *stripes)
{
	const struct bp_candidate *first = bp_candidate_find(array, count, next->devids[0]);
	const uint64_t least = shortest(array, count, next->type, first, unit);
	const uint64_t kept = kept_space(first, next->type);
	uint64_t level = 0, space;

	for (size_t i = 0; i < count; i++) {
		uint64_t offer = bp_candidate_offer(&array[i], next->type);
		bool in_one = array[i].hole >= bp_candidate_free_space_for(&array[i], next->type) &&
			      kept_space(&array[i], next->type) == kept;
		uint64_t floor = in_one ? least : hole;

		if (!bp_same_rank(first, &array[i], next->type))
			continue;
		stripes[i] = offer >= floor;
		if (stripes[i])
			level = max_u64(level, bp_candidate_unallocated(&array[i]) - (offer - floor));
		/* Ordered by space only if those in one piece offer more. */
		if (!in_one || offer < floor)
			level = max_u64(level, (offer < hole ? offer : hole) + kept + 1);
	}
	/* None if the next chunk is not only on these devices. */
	for (uint32_t j = 0; j < next->stripes; j++)
		if (!stripes[bp_candidate_find(array, count, next->devids[j]) - array])
			level = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		space = bp_candidate_unallocated(&array[i]);
		if (stripes[i])
			stripes[i] = space < level ? 0 : (space - level) / unit + 1;
	}
}

/* The most chunks, each on so many devices; takes away the stripes that are left over. */
static uint64_t make_chunks(const struct bp_candidate *array, size_t count, uint32_t devices,
			    uint64_t unit, uint64_t *stripes)
{
	uint64_t chunks = UINT64_MAX, most, sum;

	do {
		most = chunks;
		sum = 0;
		for (size_t i = 0; i < count; i++) {
			stripes[i] = stripes[i] < most ? stripes[i] : most;
			sum += stripes[i];
		}
		chunks = sum / devices;
	} while (chunks < most);
	for (sum -= chunks * devices; sum; sum--) {
		uint64_t lowest = UINT64_MAX, space;
		size_t at = 0;

		for (size_t i = 0; i < count; i++) {
			space = bp_candidate_unallocated(&array[i]) - (stripes[i] - 1) * unit;
			if (stripes[i] && space <= lowest) {
				lowest = space;
				at = i;
			}
		}
		stripes[at]--;
	}
	return chunks;
}

int bp_array_repeat(struct bp_candidate *array, size_t count, uint64_t type,
		    struct btrfs_policy_chunk *chunk, uint64_t *devids, uint64_t *number)
{
	const uint32_t dev_stripes = bp_profile_of(type)->dev_stripes;
	_cleanup_free_ uint64_t *stripes = calloc(count + 1, sizeof(*stripes));
	uint64_t hole, unit, wanted, start, whole, part;
	int ret = stripes ? bp_select(array, count, type, chunk, devids, &hole) : -ENOMEM;

	if (ret)
		return ret;
	unit = chunk->stripe_length * dev_stripes;
	count_stripes(array, count, chunk, hole, unit, stripes);
	*number = make_chunks(array, count, chunk->stripes / dev_stripes, unit, stripes);
	for (size_t i = 0; !ret && i < count; i++) {
		array[i].free_space -= stripes[i] * unit;
		for (; !ret && stripes[i]; stripes[i] -= part) {
			wanted = hole < array[i].hole ? hole : array[i].hole;
			start = bp_holes_first(array[i].holes, wanted, &whole);
			part = (whole - wanted) / unit + 1;
			part = part < stripes[i] ? part : stripes[i];
			ret = bp_holes_take(array[i].holes, start, part * unit);
			array[i].hole = bp_holes_longest(array[i].holes);
		}
	}
	return ret;
}

int bp_array_fill(struct bp_candidate *array, size_t count, uint64_t type, bool first,
		  uint64_t *bytes)
{
	_cleanup_free_ uint64_t *stripe_data =
		calloc(2 * bp_stripes_most(count) + 1, sizeof(*stripe_data));
	struct btrfs_policy_chunk made;
	int ret = stripe_data ? 0 : -ENOMEM;

	for (bool single = false; !ret; single = !single) {
		uint64_t number = 1;

		ret = single ? bp_array_allocate(array, count, type, &made, stripe_data) :
			       bp_array_repeat(array, count, type, &made, stripe_data, &number);
		if (ret || (first && bp_not_first_choice(array, count, type, made.devids, made.stripes)))
			break;
		*bytes += number * made.length;
	}
	return ret == -ENOSPC ? 0 : ret;
}
