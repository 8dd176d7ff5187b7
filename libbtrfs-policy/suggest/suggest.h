/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A suggestion, shared by suggest.c, which makes the proposals, and capacity.c, which
 * computes their effects.
 */
#ifndef BP_SUGGEST_H
#define BP_SUGGEST_H

#include "allocator/placement.h"

struct btrfs_policy_suggestion {
	/* Input of the proposals: number of certain SSDs, of rotating devices, and bytes. */
	uint32_t fast;
	uint32_t slow;
	uint32_t slow_data;	/* of these, devices that data may use */
	uint64_t fast_bytes;
	uint64_t bytes;
	const struct bp_profile *metadata;	/* the one that needs fewest devices */
	const struct bp_profile *data;		/* the one that needs most devices */
	const struct bp_profile *mirrored;	/* data with most copies on different devices */

	struct btrfs_policy_change *proposals;
	size_t proposal_count;
	char **notes;
	size_t note_count;
	struct btrfs_policy_capacity *capacities;
	size_t capacity_count;
	struct btrfs_policy_mismatch *mismatches;
	size_t mismatch_count;
	uint64_t move_chunks;
	uint64_t move_bytes;
};

/*
 * Fills capacities, mismatches and moves.  @before and @after are the devices of
 * @placement with their roles now and as proposed.
 */
int bp_suggest_effects(struct btrfs_policy_suggestion *suggestion,
		       const struct btrfs_policy_placement *placement,
		       const struct bp_candidate *before, struct bp_candidate *after);

#endif
