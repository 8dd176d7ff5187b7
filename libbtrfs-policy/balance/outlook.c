/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far data and metadata can grow, and whether that is little.  Uses the
 * simulations of assume.c and plan.c.
 */
#include <string.h>

#include "balance/plan.h"

/* Growth is little below TIMES the metadata in use, or a PARTS-th of all data. */
#define TIMES 10
#define PARTS 10

static uint64_t used_by(const struct btrfs_policy_placement *placement,
			enum btrfs_policy_kind kind)
{
	uint64_t used = 0;

	for (size_t i = 0; i < placement->profile_count; i++)
		if (placement->profiles[i].kind == kind)
			used += placement->profiles[i].used;
	return used;
}

static unsigned int percent(uint64_t used, uint64_t more)
{
	return used + more ? (unsigned int)(100.0 * used / (used + more)) : 0;
}

BP_PUBLIC int btrfs_policy_placement_outlook(struct btrfs_policy_fs *fs,
					     struct btrfs_policy_placement *placement,
					     bool moved, struct btrfs_policy_outlook *outlook)
{
	_cleanup_plan_ struct btrfs_policy_plan *plan = NULL;
	struct btrfs_policy_remaining_capacity capacity;
	uint64_t metadata, data;
	int ret;

	memset(outlook, 0, sizeof(*outlook));
	if (fs->info.mixed)
		return bp_error(fs, -EOPNOTSUPP,
				"cannot tell metadata from data on '%s': it has mixed block groups",
				fs->mount_point);
	ret = btrfs_policy_placement_capacity(fs, placement, &capacity);
	if (!ret && moved && !placement->remap_tree) /* with it chunks stay where they are */
		ret = btrfs_policy_plan_new(fs, placement, NULL, &plan);
	if (ret)
		return ret;
	if (plan)
		capacity.metadata = btrfs_policy_plan_summary(plan)->slack_after;
	outlook->data_used = used_by(placement, BTRFS_POLICY_KIND_DATA);
	outlook->data_more = capacity.data;
	outlook->data_profile = capacity.data_profile;
	outlook->metadata_used = used_by(placement, BTRFS_POLICY_KIND_METADATA);
	outlook->metadata_kept = placement->global_reserve;
	if (capacity.metadata > placement->global_reserve)
		outlook->metadata_more = capacity.metadata - placement->global_reserve;
	outlook->metadata_profile = capacity.metadata_profile;
	outlook->metadata_percent = percent(outlook->metadata_used, outlook->metadata_more);
	/* Division, not multiplication: sums of sizes stay below 2^64, ten times them may not. */
	metadata = outlook->metadata_used + outlook->metadata_more;
	data = outlook->data_used + outlook->data_more;
	outlook->metadata_little = metadata / TIMES < outlook->metadata_used ||
				   metadata < data / PARTS;
	return 0;
}
