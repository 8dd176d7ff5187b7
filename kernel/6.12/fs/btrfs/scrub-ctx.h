/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scrub of one device, and the stripes it is made of, for the files that
 * do parts of it.  scrub.h is for everybody else.
 */

#ifndef BTRFS_SCRUB_CTX_H
#define BTRFS_SCRUB_CTX_H

#include <linux/atomic.h>
#include <linux/btrfs.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "ctree.h"
#include "scrub-pace-core.h"
#include "volumes.h"

struct btrfs_block_group;
struct btrfs_device;
struct btrfs_fs_info;
struct scrub_ctx;

/*
 * The following value only influences the performance.
 *
 * This determines how many stripes would be submitted in one go,
 * which is 512KiB (BTRFS_STRIPE_LEN * SCRUB_STRIPES_PER_GROUP).
 */
#define SCRUB_STRIPES_PER_GROUP		8

/*
 * How many groups we have for each sctx.
 *
 * This would be 8M per device, the same value as the old scrub in-flight bios
 * size limit.
 */
#define SCRUB_GROUPS_PER_SCTX		16

/* As many while others use a hard disk, who are served when these are done. */
#define SCRUB_GROUPS_BESIDE_OTHERS	8

#define SCRUB_TOTAL_STRIPES		(SCRUB_GROUPS_PER_SCTX * SCRUB_STRIPES_PER_GROUP)

/* Represent one sector and its needed info to verify the content. */
struct scrub_sector_verification {
	bool is_metadata;

	union {
		/*
		 * Csum pointer for data csum verification.  Should point to a
		 * sector csum inside scrub_stripe::csums.
		 *
		 * NULL if this data sector has no csum.
		 */
		u8 *csum;

		/*
		 * Extra info for metadata verification.  All sectors inside a
		 * tree block share the same generation.
		 */
		u64 generation;
	};
};

enum scrub_stripe_flags {
	/* Set when @mirror_num, @dev, @physical and @logical are set. */
	SCRUB_STRIPE_FLAG_INITIALIZED,

	/* Set when the read-repair is finished. */
	SCRUB_STRIPE_FLAG_REPAIR_DONE,

	/*
	 * Set for data stripes if it's triggered from P/Q stripe.
	 * During such scrub, we should not report errors in data stripes, nor
	 * update the accounting.
	 */
	SCRUB_STRIPE_FLAG_NO_REPORT,
};

#define SCRUB_STRIPE_PAGES		(BTRFS_STRIPE_LEN / PAGE_SIZE)

/*
 * Represent one contiguous range with a length of BTRFS_STRIPE_LEN.
 */
struct scrub_stripe {
	struct scrub_ctx *sctx;
	struct btrfs_block_group *bg;

	struct page *pages[SCRUB_STRIPE_PAGES];
	struct scrub_sector_verification *sectors;

	struct btrfs_device *dev;
	u64 logical;
	u64 physical;

	u16 mirror_num;

	/* Should be BTRFS_STRIPE_LEN / sectorsize. */
	u16 nr_sectors;

	/*
	 * How many data/meta extents are in this stripe.  Only for scrub status
	 * reporting purposes.
	 */
	u16 nr_data_extents;
	u16 nr_meta_extents;

	atomic_t pending_io;
	wait_queue_head_t io_wait;
	wait_queue_head_t repair_wait;

	/*
	 * Indicate the states of the stripe.  Bits are defined in
	 * scrub_stripe_flags enum.
	 */
	unsigned long state;

	/* Indicate which sectors are covered by extent items. */
	unsigned long extent_sector_bitmap;

	/*
	 * The errors hit during the initial read of the stripe.
	 *
	 * Would be utilized for error reporting and repair.
	 *
	 * The remaining init_nr_* records the number of errors hit, only used
	 * by error reporting.
	 */
	unsigned long init_error_bitmap;
	unsigned int init_nr_io_errors;
	unsigned int init_nr_csum_errors;
	unsigned int init_nr_meta_errors;
	unsigned int init_nr_meta_gen_errors;

	/*
	 * The following error bitmaps are all for the current status.
	 * Every time we submit a new read, these bitmaps may be updated.
	 *
	 * error_bitmap = io_error_bitmap | csum_error_bitmap |
	 *		  meta_error_bitmap | meta_generation_bitmap;
	 *
	 * IO and csum errors can happen for both metadata and data.
	 */
	unsigned long error_bitmap;
	unsigned long io_error_bitmap;
	unsigned long csum_error_bitmap;
	unsigned long meta_error_bitmap;
	unsigned long meta_gen_error_bitmap;

	/* For writeback (repair or replace) error reporting. */
	unsigned long write_error_bitmap;

	/* Writeback can be concurrent, thus we need to protect the bitmap. */
	spinlock_t write_error_lock;

	/*
	 * Checksum for the whole stripe if this stripe is inside a data block
	 * group.
	 */
	u8 *csums;

	struct work_struct work;
};

struct scrub_ctx {
	struct scrub_stripe	stripes[SCRUB_TOTAL_STRIPES];
	struct scrub_stripe	*raid56_data_stripes;
	struct btrfs_fs_info	*fs_info;
	struct btrfs_path	extent_path;
	struct btrfs_path	csum_path;
	int			first_free;
	/*
	 * @stripes is a ring of groups, reused in order.  Counted since the
	 * last flush: stripes filled, groups whose writes for dev-replace are
	 * under way, groups that are done with.  Reads are submitted group by
	 * group as they are filled.
	 */
	unsigned int		nr_filled;
	unsigned int		nr_written_groups;
	unsigned int		nr_retired_groups;
	/* What keeps dev-replace from writing any more. */
	int			replace_error;
	atomic_t		cancel_req;
	int			readonly;

	/* State of IO submission throttling affecting the associated device */
	struct btrfs_scrub_pace	pace;

	int			is_dev_replace;
	u64			write_pointer;

	/* Start of the block group at hand, 0 before the first one. */
	u64			bg_start;
	/* It could not be made read-only. */
	bool			bg_writeable;

	/* Protects write_pointer. */
	struct mutex            wr_lock;
	struct btrfs_device     *wr_tgtdev;

	/*
	 * statistics
	 */
	struct btrfs_scrub_progress stat;
	/* Protects stat. */
	spinlock_t		stat_lock;

	/*
	 * Use a ref counter to avoid use-after-free issues. Scrub workers
	 * decrement bios_in_flight and workers_pending and then do a wakeup
	 * on the list_wait wait queue. We must ensure the main scrub task
	 * doesn't free the scrub context before or while the workers are
	 * doing the wakeup() call.
	 */
	refcount_t              refs;
};

/* What a scrub in another order needs of scrub.c. */
int init_scrub_stripe(struct btrfs_fs_info *fs_info,
		      struct scrub_stripe *stripe);
void release_scrub_stripe(struct scrub_stripe *stripe);
void scrub_reset_stripe(struct scrub_stripe *stripe);
int scrub_find_fill_first_stripe(struct btrfs_block_group *bg,
				 struct btrfs_path *extent_path,
				 struct btrfs_path *csum_path,
				 struct btrfs_device *dev, u64 physical,
				 int mirror_num, u64 logical_start,
				 u32 logical_len,
				 struct scrub_stripe *stripe);
void scrub_throttle_dev_io(struct scrub_ctx *sctx, struct btrfs_device *device,
			   unsigned int bio_size);
void scrub_submit_initial_read(struct scrub_ctx *sctx,
			       struct scrub_stripe *stripe);
void scrub_stripe_report_errors(struct scrub_ctx *sctx,
				struct scrub_stripe *stripe);
void scrub_pause_on(struct btrfs_fs_info *fs_info);
void scrub_pause_off(struct btrfs_fs_info *fs_info);

static inline int should_cancel_scrub(const struct scrub_ctx *sctx)
{
	return atomic_read(&sctx->fs_info->scrub_cancel_req) ||
	       atomic_read(&sctx->cancel_req) ? -ECANCELED : 0;
}

#endif
