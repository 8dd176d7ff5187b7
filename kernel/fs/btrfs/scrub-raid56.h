/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scrub of RAID56: the pass over a block group (scrub-raid56.c) and the full
 * stripes it is made of (scrub-raid56-row.c).
 */

#ifndef BTRFS_SCRUB_RAID56_H
#define BTRFS_SCRUB_RAID56_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/types.h>
#include <linux/wait.h>
#include "scrub-ctx.h"
#include "scrub-pass-core.h"
#include "volumes.h"

struct btrfs_block_group;

/* One full stripe. */
struct scrub_row {
	u32 nr;
	/* Looking up what is in it failed. */
	int error;
	/* There is something in it, and parity that somebody wants checked. */
	bool check_parity;
	/* For each device of the chunk: does it take part in this row? */
	bool *wanted;
	/* Data, then P, then Q. */
	struct scrub_stripe *stripes;
	/* What was found in each of them. */
	struct scrub_error_records *errors;

	/* Reads of parity; those of data are counted by their stripes. */
	atomic_t pending_parity;
	struct completion parity_read;
	bool parity_error;
};

struct scrub_pass {
	struct btrfs_block_group *bg;
	struct btrfs_chunk_map *map;
	/* Members wait here for the lead, or to be finished. */
	wait_queue_head_t wait;
	/* For each device of the chunk, NULL if it is not a member. */
	struct scrub_ctx **sctxs;
	/* Data stripes of each device that scrub_speed_max has yet to count. */
	u8 *unthrottled;

	/* The rest is the leader's. */
	struct scrub_row *rows;
	struct scrub_stripe scratch;
	void **pointers;
	u32 last_row;

	/* Protected by bg->lock. */
	struct btrfs_scrub_turns turns;
};

/* The device which has that stripe of the row. */
static inline int scrub_row_device(const struct scrub_pass *pass,
				   const struct scrub_row *row, int column)
{
	return (row->nr + column) % pass->map->num_stripes;
}

int scrub_raid56_pass(struct scrub_ctx *sctx, struct btrfs_block_group *bg,
		      struct btrfs_chunk_map *map, int member);

int scrub_alloc_row(struct scrub_pass *pass, struct scrub_row *row);
void scrub_free_row(struct scrub_pass *pass, struct scrub_row *row);
int scrub_fill_row(struct scrub_ctx *sctx, struct scrub_pass *pass,
		   struct scrub_row *row);
void scrub_submit_row(struct scrub_ctx *sctx, struct scrub_pass *pass,
		      struct scrub_row *row);
void scrub_wait_row(struct scrub_pass *pass, struct scrub_row *row);
int scrub_check_row_parity(struct scrub_pass *pass, struct scrub_row *row, int column);
int scrub_repair_parity(struct btrfs_device *scrub_dev,
			const struct btrfs_chunk_map *map,
			u64 full_stripe_start, struct scrub_stripe *data,
			unsigned long *extent_bitmap);

#endif
