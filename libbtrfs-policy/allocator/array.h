/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulated devices, on which chunks are allocated and freed as the kernel would do
 * it, for plans and what-ifs.
 */
#ifndef BP_ARRAY_H
#define BP_ARRAY_H

#include "allocator/holes.h"
#include "allocator/select.h"

/* Copies of the candidates, all space free; NULL without memory. */
struct bp_candidate *bp_array_new(const struct bp_candidate *candidates, size_t count);
void bp_array_free(struct bp_candidate *array, size_t count);

/* The next chunk; `stripe_data` holds its devids and offsets, 2 * bp_stripes_most(). */
int bp_array_allocate(struct bp_candidate *array, size_t count, uint64_t type,
		      struct btrfs_policy_chunk *chunk, uint64_t *stripe_data);

/*
 * Where a stripe that is moved to a device would begin: in the first hole that holds it
 * outside of the superblocks; UINT64_MAX: none does.
 */
uint64_t bp_array_place_stripe(const struct bp_candidate *candidate, uint64_t length);

/*
 * Allocate a `number` of chunks equal to the next one, which `chunk` describes; 0 if
 * that one has to be allocated alone.  `devids` holds bp_stripes_most().
 */
int bp_array_repeat(struct bp_candidate *array, size_t count, uint64_t type,
		    struct btrfs_policy_chunk *chunk, uint64_t *devids, uint64_t *number);

/* Fills the array with chunks and adds up their `bytes`; `first`: while all are first choice. */
int bp_array_fill(struct bp_candidate *array, size_t count, uint64_t type, bool first,
		  uint64_t *bytes);

/* Marks extents of a chunk used or free; ignores parts beyond the end of a device. */
int bp_array_use(struct bp_candidate *array, size_t count, const struct btrfs_policy_chunk *chunk);
int bp_array_release(struct bp_candidate *array, size_t count,
		     const struct btrfs_policy_chunk *chunk);

#endif
