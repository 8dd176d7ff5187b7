/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which devices the kernel's allocator would take for a chunk.
 */
#ifndef BP_SELECT_H
#define BP_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "btrfs-policy.h"

/* select.c: a device as the allocator sees it, real or simulated */
struct bp_candidate {
	uint64_t devid;
	enum btrfs_policy_role role;
	bool writeable;
	uint64_t size;
	uint64_t free_space; /* unallocated bytes, without the first MiB */
	uint64_t hole; /* the most of them in one piece; 0: all */
	bool lost;     /* in a what-if */
	struct bp_holes *holes; /* where it is unallocated; NULL: only how much is known */
	uint64_t zone; /* bytes, the same on all devices; every stripe is one; 0: no zones */
	uint32_t nodesize; /* bytes of a tree block, the same on all devices */
};

/* btrfs does not allocate the first MiB of a device. */
#define BP_DEVICE_RESERVED (1024ULL * 1024)

/* Ranges of a device that chunks cannot have: the length of number `i`, which may be 0. */
#define BP_RESERVED_RANGES 6
uint64_t bp_candidate_reserved(const struct bp_candidate *candidate, size_t i, uint64_t *start);
/* The rest of so many unallocated bytes. */
uint64_t bp_candidate_allocatable(const struct bp_candidate *candidate, uint64_t unallocated);
/* Candidates are in the order of their devids. */
struct bp_candidate *bp_candidate_find(struct bp_candidate *candidates, size_t count,
				       uint64_t devid);
size_t bp_stripes_most(size_t candidates);
/* `devids` holds bp_stripes_most(); `hole`: the length searched on each device */
int bp_select(const struct bp_candidate *candidates, size_t count, uint64_t type,
	      struct btrfs_policy_chunk *chunk, uint64_t *devids, uint64_t *hole);
enum btrfs_policy_misplaced bp_classify(struct bp_candidate *candidates, size_t count,
				     const struct btrfs_policy_chunk *chunk);
uint32_t bp_not_first_choice(struct bp_candidate *candidates, size_t count, uint64_t type,
			     const uint64_t *devids, uint32_t stripes);
bool bp_candidate_misuses(const struct bp_candidate *candidate,
			  const struct btrfs_policy_chunk *chunk);
uint64_t bp_candidate_free_space_for(const struct bp_candidate *candidate, uint64_t type);
/* By which the kernel orders devices of one rank. */
uint64_t bp_candidate_unallocated(const struct bp_candidate *candidate);
uint64_t bp_candidate_offer(const struct bp_candidate *candidate, uint64_t type);
uint64_t bp_worthwhile(const struct bp_candidate *candidates, size_t count, uint64_t type);
uint64_t bp_largest_chunk(const struct bp_candidate *candidates, size_t count, uint64_t type);
uint64_t bp_type_of_new(uint64_t kind_flags, uint64_t profiles, uint32_t writeable);
bool bp_same_rank(const struct bp_candidate *a, const struct bp_candidate *b, uint64_t type);
bool bp_excluded(const struct bp_candidate *candidate, uint64_t type);
uint32_t bp_allowed_candidates(const struct bp_candidate *candidates, size_t count, uint64_t type);

#endif
