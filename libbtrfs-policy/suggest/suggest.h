/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A suggestion as suggest.c, which makes the proposals, and capacity.c,
 * which says what would come of them, share it.
 */
#ifndef BP_SUGGEST_H
#define BP_SUGGEST_H

#include "allocator/placement.h"

struct btrfs_policy_suggestion {
	struct btrfs_policy_proposal *proposals;
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
		       const struct bp_site *before, struct bp_site *after);

#endif
