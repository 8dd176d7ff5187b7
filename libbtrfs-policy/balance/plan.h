/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of plans inside the library.
 */
#ifndef BP_PLAN_H
#define BP_PLAN_H

#include "allocator/placement.h"

/* What a plan may do with a chunk of the placement: nothing from BP_DEFERRED on. */
enum {
	BP_MAY_MOVE = 0,
	BP_MAY_RELOCATE, /* the kernel refused to move its stripes */
	BP_DEFERRED,	 /* until another one has moved */
	BP_FIXED,	 /* it has moved, or cannot */
};

/*
 * plan.c: `options`: limit and method; `floor`: metadata slack to keep, 0: computed from
 * the snapshot; `may`: what may be done with each chunk; `partial`: return steps even if
 * misplaced chunks remain
 */
int bp_plan_new(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement,
		const struct btrfs_policy_balance_options *options, uint64_t floor,
		const uint8_t *may, bool partial, struct btrfs_policy_plan **plan);

/* For `may`: all, but if only draining ones move those that are not; NULL without memory. */
uint8_t *bp_plan_may(const struct btrfs_policy_placement *placement);

void bp_balance_options(struct btrfs_policy_balance_options *taken,
			const struct btrfs_policy_balance_options *options);

/*
 * plan-stripes.c: why no chunk can be moved by its stripes, BTRFS_POLICY_BY_STRIPES if it
 * can; -EOPNOTSUPP, with a text, if the method is not possible
 */
int bp_method_check(struct btrfs_policy_fs *fs, enum btrfs_policy_method method,
		    enum btrfs_policy_obstacle *obstacle);

/* -EOPNOTSUPP, with a text, if the kernel would do something else than move them */
int bp_may_move_chunks(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement);

BP_DEFINE_CLEANUP(struct btrfs_policy_plan *, btrfs_policy_plan_free);

#define _cleanup_plan_ BP_CLEANUP(btrfs_policy_plan_free_at_end)

#endif
