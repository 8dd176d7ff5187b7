/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A suggestion as suggest.c, which makes the proposals, and capacity.c,
 * which says what would come of them, share it.
 */
#ifndef BP_SUGGEST_H
#define BP_SUGGEST_H

#include "allocator/placement.h"

struct btrfs_policy_suggestion {
	/* What the proposals go by: devices that are surely SSDs, those that rotate, bytes. */
	uint32_t fast;
	uint32_t slow;
	uint64_t fast_bytes;
	uint64_t bytes;
	const struct bp_profile *data;		/* the one that needs most devices */
	const struct bp_profile *mirrored;	/* data with most copies on different devices */

	struct btrfs_policy_change *proposals;
	size_t proposal_count;
	char **notes;
	size_t note_count;
	struct btrfs_policy_capacity *capacities;
	size_t capacity_count;
	struct btrfs_policy_misfit *misfits;
	size_t misfit_count;
	uint64_t move_chunks;
	uint64_t move_bytes;
};

/*
 * Fills capacities, misfits and moves.  @before and @after are the devices of
 * @placement with their roles now and as proposed.
 */
int bp_suggest_effects(struct btrfs_policy_suggestion *suggestion,
		       const struct btrfs_policy_placement *placement,
		       const struct bp_candidate *before, struct bp_candidate *after);

#endif
