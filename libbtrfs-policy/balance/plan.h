/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library itself may ask of a plan.
 */
#ifndef BP_PLAN_H
#define BP_PLAN_H

#include "allocator/placement.h"

/*
 * plan.c: `limit` 0: none; `floor`: metadata slack to keep, 0: as the picture says; `fixed`:
 * which chunks of the placement stay, NULL: none; `partial`: steps are wanted even if they
 * do not put everything right
 */
int bp_plan_new(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement,
		uint64_t limit, uint64_t floor, const bool *fixed, bool partial,
		struct btrfs_policy_plan **plan);

/* -EOPNOTSUPP, with a text, if the kernel would do something else than move them */
int bp_may_move_chunks(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement);

BP_DEFINE_CLEANUP(struct btrfs_policy_plan *, btrfs_policy_plan_free);

#define _cleanup_plan_ BP_CLEANUP(btrfs_policy_plan_free_at_end)

#endif
