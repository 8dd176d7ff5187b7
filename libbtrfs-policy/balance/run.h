/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run under way: balance.c plans and repeats, step.c moves one chunk.
 */
#ifndef BP_RUN_H
#define BP_RUN_H

#include "balance/balance.h"

struct bp_run {
	struct btrfs_policy_fs *fs;
	struct btrfs_policy_balance_options options;
	struct btrfs_policy_balance_report *report;
	struct btrfs_policy_progress progress;
	bool stop_asked;   /* by the progress callback */
	bool paused;	   /* by the user, while an earlier balance was finished */
	uint64_t started;
	unsigned int rounds;
	uint64_t round_used; /* bytes in misplaced chunks when the last one began */
	uint64_t round_misplaced; /* how many chunks these were */
	uint64_t *chunks;  /* of the round's first snapshot: addresses, ascending */
	uint8_t *may;	   /* what may be done with each of them: see plan.h */
	size_t chunk_count;
	size_t deferred;	   /* of those */
	bool moved_since;  /* a chunk, after the first of them was deferred */
	bool tried_again;  /* a chunk that was refused by an operation that had ended */
	struct btrfs_policy_placement *placement;
	struct btrfs_policy_plan *plan;
	uint64_t floor;	  /* metadata slack, as the first plan says */
	uint64_t skipped; /* the kernel left them where they are */
	char *refused;	  /* why it left the first of them, if it says so */
	uint64_t unreadable; /* chunks with a block that cannot be read */
	uint64_t first_unreadable;
};

/* balance.c; NULL if the chunk was not in the round's first snapshot */
uint8_t *bp_run_may(const struct bp_run *run, uint64_t logical);
int bp_run_tick(void *run);
int bp_run_rescan(struct bp_run *run);

/* step.c */
enum btrfs_policy_balance_end bp_run_end_of(int err, bool paused);
int bp_run_stop(struct bp_run *run);
int bp_run_wait_turn(struct bp_run *run);
int bp_run_step(struct bp_run *run, const struct btrfs_policy_step *step);

#endif
