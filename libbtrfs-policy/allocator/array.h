/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An array of devices in memory on which chunks are allocated and given back as
 * the kernel would do it.  Plans and what-ifs happen here.
 */
#ifndef BP_ARRAY_H
#define BP_ARRAY_H

#include "allocator/holes.h"
#include "allocator/select.h"

struct bp_array {
	struct bp_site *sites;
	struct bp_holes *holes;	/* of each site */
	size_t count;
	uint64_t *scratch;	/* for targets: devids, then offsets */
};

int bp_array_init(struct bp_array *array, const struct bp_site *sites, size_t count);
void bp_array_clear(struct bp_array *array);

/* The next chunk; its devids and offsets are good until the next call. */
int bp_array_allocate(struct bp_array *array, uint64_t type, struct bp_target *target);

/* Extents of a chunk become used or free again; what a device does not have is no matter. */
int bp_array_use(struct bp_array *array, const uint64_t *devids, const uint64_t *offsets,
		 uint32_t stripes, uint64_t length);
int bp_array_release(struct bp_array *array, const uint64_t *devids, const uint64_t *offsets,
		     uint32_t stripes, uint64_t length);

#endif
