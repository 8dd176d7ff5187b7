/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the imagined array: which bytes of which device are free, and where a new
 * chunk's stripes come to stand.  Which devices it gets is select.c's decision.
 */
#include <string.h>

#include "allocator/array.h"
#include "core/base.h"

struct bp_candidate *bp_array_new(const struct bp_candidate *candidates, size_t count)
{
	struct bp_candidate *array = calloc(count + 1, sizeof(*array));

	if (!array)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct bp_candidate *candidate = &array[i];

		*candidate = candidates[i];
		candidate->room = candidate->hole = 0;
		candidate->holes = calloc(1, sizeof(*candidate->holes));
		if (candidate->holes && candidate->size <= BP_DEVICE_RESERVED)
			continue;
		candidate->room = candidate->hole = candidate->size - BP_DEVICE_RESERVED;
		if (!candidate->holes ||
		    bp_holes_add(candidate->holes, BP_DEVICE_RESERVED, candidate->room)) {
			bp_array_free(array, count);
			return NULL;
		}
	}
	return array;
}

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
		candidate->room += length;
	else
		candidate->room -= length < candidate->room ? length : candidate->room;
	return ret;
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

int bp_array_allocate(struct bp_candidate *array, size_t count, uint64_t type,
		      struct btrfs_policy_chunk *chunk, uint64_t *words)
{
	uint64_t *offsets = words + bp_stripes_most(count), hole;
	int ret = bp_select(array, count, type, chunk, words, &hole);

	if (ret)
		return ret;
	chunk->offsets = offsets;
	/*
	 * The kernel looks for the first hole that holds as much as a chunk may take on
	 * a device, or else takes the longest; stripes of one device follow each other.
	 */
	for (uint32_t i = 0; i < chunk->stripes; i++) {
		const struct bp_candidate *candidate = bp_candidate_find(array, count, words[i]);
		uint64_t wanted = hole < candidate->hole ? hole : candidate->hole;

		if (i && words[i - 1] == words[i])
			offsets[i] = offsets[i - 1] + chunk->stripe_length;
		else
			offsets[i] = bp_holes_first(candidate->holes, wanted);
	}
	return bp_array_use(array, count, chunk);
}
