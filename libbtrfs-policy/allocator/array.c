/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulated devices: which bytes of each are free, and at which offset the stripes of
 * a new chunk are allocated.  select.c chooses the devices.
 */
#include <string.h>

#include "allocator/array.h"
#include "core/base.h"

void bp_array_free(struct bp_candidate *array, size_t count)
{
	for (size_t i = 0; array && i < count; i++) {
		if (array[i].holes)
			bp_holes_clear(array[i].holes);
		free(array[i].holes);
	}
	free(array);
}

static int change(struct bp_candidate *array, size_t count, uint64_t devid, uint64_t offset,
		  uint64_t length, bool use)
{
	struct bp_candidate *candidate = bp_candidate_find(array, count, devid);
	int ret;

	if (!candidate || offset >= candidate->size)
		return 0;
	if (length > candidate->size - offset)
		length = candidate->size - offset;
	ret = use ? bp_holes_take(candidate->holes, offset, length) :
		    bp_holes_add(candidate->holes, offset, length);
	candidate->hole = bp_holes_longest(candidate->holes);
	if (!use)
		candidate->free_space += length;
	else
		candidate->free_space -= length < candidate->free_space ? length :
									  candidate->free_space;
	return ret;
}

struct bp_candidate *bp_array_new(const struct bp_candidate *candidates, size_t count)
{
	struct bp_candidate *array = calloc(count + 1, sizeof(*array));
	int ret = array ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < count; i++) {
		struct bp_candidate *candidate = &array[i];
		uint64_t start, length;

		*candidate = candidates[i];
		candidate->free_space = candidate->hole = candidate->size;
		candidate->holes = calloc(1, sizeof(*candidate->holes));
		ret = candidate->holes ? bp_holes_add(candidate->holes, 0, candidate->size) : -ENOMEM;
		for (size_t j = 0; !ret && j < BP_RESERVED_RANGES; j++) {
			length = bp_candidate_reserved(candidate, j, &start);
			if (length)
				ret = change(array, i + 1, candidate->devid, start, length, true);
		}
	}
	if (!ret)
		return array;
	bp_array_free(array, count);
	return NULL;
}

int bp_array_use(struct bp_candidate *array, size_t count, const struct btrfs_policy_chunk *chunk)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < chunk->stripes; i++)
		ret = change(array, count, chunk->devids[i], chunk->offsets[i],
			     chunk->stripe_length, true);
	return ret;
}

int bp_array_release(struct bp_candidate *array, size_t count,
		     const struct btrfs_policy_chunk *chunk)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < chunk->stripes; i++)
		ret = change(array, count, chunk->devids[i], chunk->offsets[i],
			     chunk->stripe_length, false);
	return ret;
}

/* The end of the superblock that overlaps the extent, or 0. */
static uint64_t superblock_end(uint64_t start, uint64_t length)
{
	static const uint64_t supers[] = { 64ULL << 20, 256ULL << 30 };

	for (size_t i = 0; i < BP_ARRAY_SIZE(supers); i++) {
		uint64_t end = supers[i] + (64 << 10);

		if (supers[i] < start + length && start < end)
			return end;
	}
	return 0;
}

uint64_t bp_array_place_stripe(const struct bp_candidate *candidate, uint64_t length)
{
	const struct bp_holes *holes = candidate->holes;
	uint64_t from = 0, start, end, behind;
	uint32_t at;

	while ((at = bp_holes_next(holes, holes->root, from, length))) {
		start = from = holes->nodes[at].start;
		end = start + holes->nodes[at].length;
		while ((behind = superblock_end(start, length)))
			start = behind;
		if (start <= end && length <= end - start)
			return start;
		from++;
	}
	return UINT64_MAX;
}

int bp_array_allocate(struct bp_candidate *array, size_t count, uint64_t type,
		      struct btrfs_policy_chunk *chunk, uint64_t *stripe_data)
{
	uint64_t *offsets = stripe_data + bp_stripes_most(count), hole, whole;
	int ret = bp_select(array, count, type, chunk, stripe_data, &hole);

	if (ret)
		return ret;
	chunk->offsets = offsets;
	/*
	 * The kernel looks for the first hole that holds as much as a chunk may take on
	 * a device, or else takes the longest; stripes of one device follow each other.
	 */
	for (uint32_t i = 0; i < chunk->stripes; i++) {
		const struct bp_candidate *candidate =
			bp_candidate_find(array, count, stripe_data[i]);
		uint64_t wanted = hole < candidate->hole ? hole : candidate->hole;

		if (i && stripe_data[i - 1] == stripe_data[i])
			offsets[i] = offsets[i - 1] + chunk->stripe_length;
		else
			offsets[i] = bp_holes_first(candidate->holes, wanted, &whole);
	}
	return bp_array_use(array, count, chunk);
}
