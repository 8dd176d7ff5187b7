/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions shared by the files that implement btrfs_policy_balance().
 */
#ifndef BP_BALANCE_H
#define BP_BALANCE_H

#include "balance/plan.h"

/* interrupted.c */
int bp_interrupted_finish(struct btrfs_policy_fs *fs, bool *paused, int (*tick)(void *user),
		       void *user);
int bp_interrupted_is_ours(struct btrfs_policy_fs *fs, bool *ours);
int bp_interrupted_is_paused(struct btrfs_policy_fs *fs, uint64_t chunk, bool *paused);
bool bp_kernel_balances(struct btrfs_policy_fs *fs);

/* What becomes of a chunk that the kernel refuses to move. */
enum bp_verdict {
	BP_FAILS,	/* the run ends */
	BP_TRY_LATER,
	BP_DEFER_IT,	/* until another chunk has moved */
	BP_RELOCATE_IT,
	BP_SKIP_IT,
	BP_UNREADABLE,
};

/* move-stripes.c: `copied`, also after an error: bytes written; `verdict` of an error */
int bp_move_stripes(struct btrfs_policy_fs *fs, const struct btrfs_policy_step *step,
		    enum btrfs_policy_method method, uint64_t *copied, enum bp_verdict *verdict);

/* relocate.c: -ECANCELED, with the error text */
int bp_canceled(struct btrfs_policy_fs *fs, bool paused);
/* moved: the kernel says so; paused: a user asked for a pause, else for an end */
int bp_relocate(struct btrfs_policy_fs *fs, const struct btrfs_policy_chunk *chunk, bool *moved,
		bool *paused);

#endif
