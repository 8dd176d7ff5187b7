/* SPDX-License-Identifier: GPL-2.0 */
/* Scrub of RAID56: the interface of scrub-raid56.c, and what scrub.c offers to it. */

#ifndef BTRFS_SCRUB_RAID56_H
#define BTRFS_SCRUB_RAID56_H

#include <linux/types.h>

struct btrfs_block_group;
struct btrfs_chunk_map;
struct btrfs_device;
struct btrfs_fs_info;
struct btrfs_scrub_bucket;
struct scrub_ctx;
struct scrub_stripe;

/* A device that takes part in a scan. */
struct scrub_member {
	struct scrub_ctx *sctx;
	struct btrfs_device *dev;
	struct btrfs_scrub_bucket *bucket;
	bool readonly;
	/* The first full stripe that is not read for it, U32_MAX while it takes part. */
	u32 end;
	int error;
};

/* Returns 1 if the device is to be scrubbed on its own, as there is no memory or it is late. */
int scrub_raid56_scan(struct scrub_member *member, struct btrfs_block_group *bg,
		      struct btrfs_chunk_map *map, int stripe_index);

int scrub_wait_for_others(struct scrub_ctx *sctx, struct btrfs_device *dev,
			  struct btrfs_block_group *bg);

/* The rest is in scrub.c. */

/* The stripes of a context; a scan uses those of its leader. */
#define SCRUB_CTX_STRIPES	128

struct scrub_stripe *scrub_ctx_stripes(struct scrub_ctx *sctx, int first);
/*
 * Look up by the paths of @sctx what the stripe has to contain.  @owner decides if it is
 * repaired, and counts the errors.  Returns 1 if there is no extent or no owner.
 */
int scrub_stripe_fill(struct scrub_ctx *sctx, struct scrub_stripe *stripes, int nr,
		      struct scrub_ctx *owner, struct btrfs_block_group *bg,
		      struct btrfs_device *dev, u64 physical, u64 logical);
/* A stripe without an extent is read only if @needed.  Returns whether it is. */
bool scrub_stripe_read(struct scrub_ctx *sctx, struct scrub_stripe *stripes, int nr, bool needed);
/* Wait until the stripe is read and repaired. */
void scrub_stripe_wait(struct scrub_stripe *stripes, int nr);
/* Count the errors of the stripe, and that the device is scrubbed up to @physical. */
void scrub_stripe_done(struct scrub_ctx *sctx, struct scrub_stripe *stripes, int nr, u64 physical);
void *scrub_stripe_data(struct scrub_stripe *stripes, int nr, u32 offset);
/*
 * Add the blocks that have an extent, and those that are not on the device as they were
 * read or repaired, a bit each.  Returns true if one with an extent could not be repaired.
 */
bool scrub_unrepaired(struct scrub_ctx *sctx, const struct btrfs_chunk_map *map,
		      u64 full_stripe_start, struct scrub_stripe *stripes,
		      unsigned long *has_extent, unsigned long *not_on_disk);
/*
 * Check the parity stripe on @dev, with the full stripe locked, and write it if it is wrong.
 * Data that cannot have changed is taken from @stripes.
 */
int scrub_raid56_cached_parity(struct scrub_ctx *sctx, struct btrfs_device *dev,
			       struct btrfs_chunk_map *map, u64 full_stripe_start,
			       unsigned long *extent_bitmap, struct scrub_stripe *stripes);
int should_cancel_scrub(const struct scrub_ctx *sctx);
void scrub_pause_on(struct btrfs_fs_info *fs_info);
void scrub_pause_off(struct btrfs_fs_info *fs_info);

#endif
