/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of plans inside the library.
 */
#ifndef BP_PLAN_H
#define BP_PLAN_H

#include "allocator/placement.h"

/*
 * plan.c: `limit` 0: none; `floor`: metadata slack to keep, 0: computed from the snapshot;
 * `fixed`: chunks of the placement that must not be moved, NULL: none; `partial`: return
 * steps even if misplaced chunks remain
 */
int bp_plan_new(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement,
		uint64_t limit, uint64_t floor, const bool *fixed, bool partial,
		struct btrfs_policy_plan **plan);

/* -EOPNOTSUPP, with a text, if the kernel would do something else than move them */
int bp_may_move_chunks(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement);

BP_DEFINE_CLEANUP(struct btrfs_policy_plan *, btrfs_policy_plan_free);

#define _cleanup_plan_ BP_CLEANUP(btrfs_policy_plan_free_at_end)

#endif
