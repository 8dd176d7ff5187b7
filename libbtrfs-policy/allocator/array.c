/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the imagined array: which bytes of which device are free, and where a new
 * chunk's stripes come to stand.  Which devices it gets is select.c's decision.
 */
#include <string.h>

#include "allocator/array.h"
#include "core/base.h"

int bp_array_init(struct bp_array *array, const struct bp_site *sites, size_t count)
{
	memset(array, 0, sizeof(*array));
	array->sites = calloc(count + 1, sizeof(*sites));
	array->holes = calloc(count + 1, sizeof(*array->holes));
	array->scratch = calloc(2 * bp_target_capacity(count) + 1, sizeof(*array->scratch));
	if (!array->sites || !array->holes || !array->scratch)
		return -ENOMEM;
	array->count = count;
	for (size_t i = 0; i < count; i++) {
		struct bp_site *site = &array->sites[i];

		*site = sites[i];
		site->room = site->hole = 0;
		if (site->size <= BP_DEVICE_RESERVED)
			continue;
		site->room = site->hole = site->size - BP_DEVICE_RESERVED;
		if (bp_holes_add(&array->holes[i], BP_DEVICE_RESERVED, site->room))
			return -ENOMEM;
	}
	return 0;
}

void bp_array_clear(struct bp_array *array)
{
	for (size_t i = 0; i < array->count; i++)
		bp_holes_clear(&array->holes[i]);
	free(array->sites);
	free(array->holes);
	free(array->scratch);
	memset(array, 0, sizeof(*array));
}

static int change(struct bp_array *array, uint64_t devid, uint64_t offset, uint64_t length,
		  bool use)
{
	struct bp_site *site = bp_site_find(array->sites, array->count, devid);
	struct bp_holes *holes;
	int ret;

	if (!site || offset >= site->size)
		return 0;
	if (length > site->size - offset)
		length = site->size - offset;
	holes = &array->holes[site - array->sites];
	ret = use ? bp_holes_take(holes, offset, length) : bp_holes_add(holes, offset, length);
	site->hole = bp_holes_longest(holes);
	if (!use)
		site->room += length;
	else
		site->room -= length < site->room ? length : site->room;
	return ret;
}

int bp_array_use(struct bp_array *array, const uint64_t *devids, const uint64_t *offsets,
		 uint32_t stripes, uint64_t length)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < stripes; i++)
		ret = change(array, devids[i], offsets[i], length, true);
	return ret;
}

int bp_array_release(struct bp_array *array, const uint64_t *devids, const uint64_t *offsets,
		     uint32_t stripes, uint64_t length)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < stripes; i++)
		ret = change(array, devids[i], offsets[i], length, false);
	return ret;
}

int bp_array_allocate(struct bp_array *array, uint64_t type, struct bp_target *target)
{
	int ret;

	target->devids = array->scratch;
	target->offsets = array->scratch + bp_target_capacity(array->count);
	ret = bp_select(array->sites, array->count, type, target);
	if (ret)
		return ret;
	/*
	 * The kernel looks for the first hole that holds as much as a chunk may take on
	 * a device, or else takes the longest; stripes of one device follow each other.
	 */
	for (uint32_t i = 0; i < target->stripes; i++) {
		const struct bp_site *site =
			bp_site_find(array->sites, array->count, target->devids[i]);
		uint64_t wanted = target->wanted < site->hole ? target->wanted : site->hole;

		if (i && target->devids[i - 1] == target->devids[i])
			target->offsets[i] = target->offsets[i - 1] + target->stripe_length;
		else
			target->offsets[i] = bp_holes_first(&array->holes[site - array->sites],
							    wanted);
	}
	return bp_array_use(array, target->devids, target->offsets, target->stripes,
			    target->stripe_length);
}
