/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the imagined array: which bytes of which device are free, and where a new
 * chunk's stripes come to stand.  Which devices it gets is select.c's decision.
 */
#include <string.h>

#include "allocator/array.h"
#include "core/base.h"

struct bp_site *bp_array_new(const struct bp_site *sites, size_t count)
{
	struct bp_site *array = calloc(count + 1, sizeof(*array));

	if (!array)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		struct bp_site *site = &array[i];

		*site = sites[i];
		site->room = site->hole = 0;
		site->holes = calloc(1, sizeof(*site->holes));
		if (site->holes && site->size <= BP_DEVICE_RESERVED)
			continue;
		site->room = site->hole = site->size - BP_DEVICE_RESERVED;
		if (!site->holes || bp_holes_add(site->holes, BP_DEVICE_RESERVED, site->room)) {
			bp_array_free(array, count);
			return NULL;
		}
	}
	return array;
}

void bp_array_free(struct bp_site *array, size_t count)
{
	for (size_t i = 0; array && i < count; i++) {
		if (array[i].holes)
			bp_holes_clear(array[i].holes);
		free(array[i].holes);
	}
	free(array);
}

static int change(struct bp_site *array, size_t count, uint64_t devid, uint64_t offset,
		  uint64_t length, bool use)
{
	struct bp_site *site = bp_site_find(array, count, devid);
	int ret;

	if (!site || offset >= site->size)
		return 0;
	if (length > site->size - offset)
		length = site->size - offset;
	ret = use ? bp_holes_take(site->holes, offset, length) :
		    bp_holes_add(site->holes, offset, length);
	site->hole = bp_holes_longest(site->holes);
	if (!use)
		site->room += length;
	else
		site->room -= length < site->room ? length : site->room;
	return ret;
}

int bp_array_use(struct bp_site *array, size_t count, const struct btrfs_policy_chunk *chunk)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < chunk->stripes; i++)
		ret = change(array, count, chunk->devids[i], chunk->offsets[i],
			     chunk->stripe_length, true);
	return ret;
}

int bp_array_release(struct bp_site *array, size_t count, const struct btrfs_policy_chunk *chunk)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < chunk->stripes; i++)
		ret = change(array, count, chunk->devids[i], chunk->offsets[i],
			     chunk->stripe_length, false);
	return ret;
}

int bp_array_allocate(struct bp_site *array, size_t count, uint64_t type,
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
		const struct bp_site *site = bp_site_find(array, count, words[i]);
		uint64_t wanted = hole < site->hole ? hole : site->hole;

		if (i && words[i - 1] == words[i])
			offsets[i] = offsets[i - 1] + chunk->stripe_length;
		else
			offsets[i] = bp_holes_first(site->holes, wanted);
	}
	return bp_array_use(array, count, chunk);
}
