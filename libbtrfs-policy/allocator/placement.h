/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The snapshot of all chunks, shared by the allocator's model, plans and balances.
 */
#ifndef BP_PLACEMENT_H
#define BP_PLACEMENT_H

#include "allocator/select.h"
#include "core/handle.h"
#include "core/profiles.h"

struct btrfs_policy_placement {
	struct btrfs_policy_chunk *chunks;
	size_t chunk_count;
	size_t chunk_space;
	struct btrfs_policy_device_usage *devices;
	struct bp_candidate *candidates; /* same order and number as devices */
	size_t device_count;
	struct btrfs_policy_profile_usage *profiles;
	size_t profile_count;
	struct btrfs_policy_totals totals;
	const struct bp_profile *assumed[BTRFS_POLICY_KINDS]; /* for new chunks; NULL: as is */
	uint64_t global_reserve; /* bytes; 0: not known */
	bool remap_tree; /* the feature is on */
	uint64_t zone; /* bytes; 0: not zoned */
	bool only_draining; /* no other chunk is misplaced, or may be moved */
};

/* placement.c; for tests also: classify and sum chunks that were added */
int bp_placement_add_chunk(struct btrfs_policy_placement *placement,
			   const struct btrfs_policy_chunk *chunk);
int bp_placement_sum(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement);
const struct btrfs_policy_chunk *
bp_placement_find(const struct btrfs_policy_placement *placement, uint64_t logical);
/* Is a stripe of it on a draining device? */
bool bp_placement_drains(const struct btrfs_policy_placement *placement,
			 const struct btrfs_policy_chunk *chunk);
uint64_t bp_placement_free_in(const struct btrfs_policy_placement *placement,
			      const struct btrfs_policy_chunk *chunk);

BP_DEFINE_CLEANUP(struct btrfs_policy_placement *, btrfs_policy_placement_free);

#define _cleanup_placement_ BP_CLEANUP(btrfs_policy_placement_free_at_end)

#endif
