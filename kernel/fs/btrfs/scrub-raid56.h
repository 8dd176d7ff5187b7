/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scrub of RAID56: the scan over a block group (scrub-raid56.c) and the full
 * stripes it is made of (scrub-full-stripe.c).
 */

#ifndef BTRFS_SCRUB_RAID56_H
#define BTRFS_SCRUB_RAID56_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/types.h>
#include <linux/wait.h>
#include "scrub-scan.h"
#include "volumes.h"

struct btrfs_block_group;
struct btrfs_scrub_bucket;
struct scrub_ctx;
struct scrub_stripe;

/* One full stripe. */
struct scrub_full_stripe {
	u32 nr;
	/* Looking up what is in it failed. */
	int error;
	/* There is something in it, and parity that somebody wants checked. */
	bool check_parity;
	/* For each device of the chunk: does it take part in this full stripe? */
	bool *wanted;
	/* Of data. */
	struct scrub_stripe *stripes;
	/* What was read of P, then of Q. */
	struct page **parity;

	/* Reads of parity; those of data are counted by their stripes. */
	atomic_t pending_parity;
	struct completion parity_read;
	bool parity_error;
};

struct scrub_scan {
	struct btrfs_block_group *bg;
	struct btrfs_chunk_map *map;
	/* Members wait here for the lead, or to be finished. */
	wait_queue_head_t wait;
	/* For each device of the chunk, NULL if it is not a member. */
	struct scrub_ctx **sctxs;
	/* Data stripes of each device that scrub_speed_max has yet to count. */
	u8 *unthrottled;

	/* The rest is the leader's. */
	struct scrub_full_stripe *full_stripes;
	/* What parity has to be, a page of each kind. */
	void *scratch;
	void **pointers;
	u32 last_full_stripe;

	/* Protected by bg->lock. */
	struct btrfs_scrub_members members;
};

/* The device which has that stripe of the full stripe. */
static inline int scrub_column_device(const struct scrub_scan *scan,
				      const struct scrub_full_stripe *full, int column)
{
	return (full->nr + column) % scan->map->num_stripes;
}

int scrub_raid56_scan(struct scrub_ctx *sctx, struct btrfs_block_group *bg,
		      struct btrfs_chunk_map *map, int member);

int scrub_alloc_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full);
void scrub_free_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full);
int scrub_fill_full_stripe(struct scrub_ctx *sctx, struct scrub_scan *scan,
			   struct scrub_full_stripe *full);
void scrub_clear_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full);
void scrub_submit_full_stripe(struct scrub_ctx *sctx, struct scrub_scan *scan,
			      struct scrub_full_stripe *full);
void scrub_wait_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full);
int scrub_check_parity(struct scrub_scan *scan, struct scrub_full_stripe *full, int column);

/*
 * What scrub.c offers.  Its structures stay there.
 */

/* Blocks of a stripe, a bit each. */
struct scrub_blocks {
	unsigned long has_extent;
	unsigned long error;
	unsigned long io_error;
	/* Repaired, but not on the device. */
	unsigned long not_written;
};

struct scrub_stripe *scrub_stripes_alloc(struct btrfs_block_group *bg, int nr);
void scrub_stripes_free(struct scrub_stripe *stripes, int nr);
struct scrub_stripe *scrub_stripe_nr(struct scrub_stripe *stripes, int nr);
void scrub_stripe_clear(struct scrub_stripe *stripe);
/*
 * Look up what has to be in it, by the paths of @sctx, to be read and repaired by the
 * rules of @owner.  Returns 1 if there is no extent.
 */
int scrub_stripe_fill(struct scrub_ctx *sctx, struct scrub_stripe *stripe,
		      struct scrub_ctx *owner, struct btrfs_device *dev,
		      u64 physical, u64 logical);
/* Without an extent it is read only if it is @needed. */
void scrub_stripe_read(struct scrub_ctx *sctx, struct scrub_stripe *stripe, bool needed);
void scrub_stripe_wait(struct scrub_stripe *stripe);
void scrub_stripe_report(struct scrub_stripe *stripe);
struct scrub_blocks scrub_stripe_blocks(struct scrub_stripe *stripe);
void *scrub_stripe_data(struct scrub_stripe *stripe, u32 offset);
/*
 * Check the parity stripe on @dev, with the full stripe locked, and write it anew
 * where it is wrong.  @data is what has been read of the data stripes, or NULL to
 * have it read again.
 */
int scrub_repair_parity(struct scrub_ctx *sctx, struct btrfs_device *dev,
			struct btrfs_chunk_map *map, u64 full_stripe_start,
			struct scrub_stripe *data, unsigned long *extent_bitmap);

bool scrub_ctx_readonly(const struct scrub_ctx *sctx);
bool scrub_ctx_bg_writeable(const struct scrub_ctx *sctx);
bool scrub_ctx_is_behind(const struct scrub_ctx *sctx, u64 bg_start);
struct btrfs_scrub_bucket *scrub_ctx_bucket(struct scrub_ctx *sctx);
void scrub_ctx_release_paths(struct scrub_ctx *sctx);
void scrub_ctx_done(struct scrub_ctx *sctx, u64 physical);
int should_cancel_scrub(const struct scrub_ctx *sctx);
void scrub_pause_on(struct btrfs_fs_info *fs_info);
void scrub_pause_off(struct btrfs_fs_info *fs_info);

#endif
