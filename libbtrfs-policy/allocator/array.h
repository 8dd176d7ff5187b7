/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Devices in memory on which chunks are allocated and given back as the kernel
 * would do it.  Plans and what-ifs happen here.
 */
#ifndef BP_ARRAY_H
#define BP_ARRAY_H

#include "allocator/holes.h"
#include "allocator/select.h"

/* Copies of the candidates, with nothing on them; NULL without memory. */
struct bp_candidate *bp_array_new(const struct bp_candidate *candidates, size_t count);
void bp_array_free(struct bp_candidate *array, size_t count);

/* The next chunk; `words` has room for its devids and offsets, 2 * bp_stripes_most(). */
int bp_array_allocate(struct bp_candidate *array, size_t count, uint64_t type,
		      struct btrfs_policy_chunk *chunk, uint64_t *words);

/* Extents of a chunk become used or free again; what a device does not have is no matter. */
int bp_array_use(struct bp_candidate *array, size_t count, const struct btrfs_policy_chunk *chunk);
int bp_array_release(struct bp_candidate *array, size_t count,
		     const struct btrfs_policy_chunk *chunk);

#endif
