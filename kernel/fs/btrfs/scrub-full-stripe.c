// SPDX-License-Identifier: GPL-2.0
/*
 * Scrub of one full stripe of RAID56: look up what is in it, read it,
 * check and repair its parity.
 *
 * Owns what is done to the full stripe at hand.  Which full stripe that is, and for whom, is
 * the caller's.
 */

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/slab.h>
#include "block-group.h"
#include "ctree.h"
#include "dev-replace.h"
#include "messages.h"
#include "raid56.h"
#include "scrub-raid56.h"
#include "volumes.h"
#include "compat.h"

#define SCRUB_PARITY_PAGES	(BTRFS_STRIPE_LEN >> PAGE_SHIFT)

static bool scrub_column_wanted(const struct scrub_scan *scan,
				const struct scrub_full_stripe *full, int column)
{
	return full->wanted[scrub_column_device(scan, full, column)];
}

static u64 scrub_column_logical(const struct scrub_scan *scan,
				const struct scrub_full_stripe *full, int column)
{
	return scan->bg->start +
	       btrfs_stripe_nr_to_offset(full->nr * nr_data_stripes(scan->map) + column);
}

static u64 scrub_column_physical(const struct scrub_scan *scan,
				 const struct scrub_full_stripe *full, int column)
{
	return scan->map->stripes[scrub_column_device(scan, full, column)].physical +
	       btrfs_stripe_nr_to_offset(full->nr);
}

static int scrub_nr_parity_pages(const struct scrub_scan *scan)
{
	return (scan->map->num_stripes - nr_data_stripes(scan->map)) * SCRUB_PARITY_PAGES;
}

void scrub_free_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full)
{
	scrub_stripes_free(full->stripes, nr_data_stripes(scan->map));
	for (int i = 0; full->parity && i < scrub_nr_parity_pages(scan); i++) {
		if (full->parity[i])
			__free_page(full->parity[i]);
	}
	kfree(full->parity);
	kfree(full->wanted);
}

int scrub_alloc_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full)
{
	const int nr_pages = scrub_nr_parity_pages(scan);

	init_completion(&full->parity_read);
	full->wanted = kcalloc(scan->map->num_stripes, sizeof(*full->wanted), GFP_KERNEL);
	full->stripes = scrub_stripes_alloc(scan->bg, nr_data_stripes(scan->map));
	full->parity = kcalloc(nr_pages, sizeof(*full->parity), GFP_KERNEL);
	if (!full->wanted || !full->stripes || !full->parity)
		return -ENOMEM;
	return btrfs_alloc_page_array(nr_pages, full->parity, false);
}

/* Whose rules, such as being read-only, a data stripe is read and repaired by. */
static struct scrub_ctx *scrub_column_sctx(const struct scrub_scan *scan,
					   const struct scrub_full_stripe *full, int column)
{
	while (!scrub_column_wanted(scan, full, column))
		column = max(column + 1, nr_data_stripes(scan->map));
	return scan->sctxs[scrub_column_device(scan, full, column)];
}

static int scrub_fill_data_stripe(struct scrub_ctx *sctx, struct scrub_scan *scan,
				  struct scrub_full_stripe *full, int column)
{
	const int device = scrub_column_device(scan, full, column);
	int ret;

	ret = scrub_stripe_fill(sctx, scrub_stripe_nr(full->stripes, column),
				scrub_column_sctx(scan, full, column),
				scan->map->stripes[device].dev,
				scrub_column_physical(scan, full, column),
				scrub_column_logical(scan, full, column));
	if (!ret && full->wanted[device])
		scan->unthrottled[device]++;
	return ret;
}

/* Nothing is read of it. */
void scrub_clear_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full)
{
	full->check_parity = false;
	for (int i = 0; i < nr_data_stripes(scan->map); i++)
		scrub_stripe_clear(scrub_stripe_nr(full->stripes, i));
}

/* Look up what the data stripes of a full stripe have to be, and which are to be read. */
int scrub_fill_full_stripe(struct scrub_ctx *sctx, struct scrub_scan *scan,
			   struct scrub_full_stripe *full)
{
	const int nr_data = nr_data_stripes(scan->map);
	bool parity = false;

	scrub_clear_full_stripe(scan, full);
	for (int i = nr_data; i < scan->map->num_stripes; i++)
		parity |= scrub_column_wanted(scan, full, i);

	for (int i = 0; i < nr_data; i++) {
		int ret;

		if (!parity && !scrub_column_wanted(scan, full, i))
			continue;
		ret = scrub_fill_data_stripe(sctx, scan, full, i);
		if (ret < 0)
			return ret;
		if (!ret)
			full->check_parity = parity;
	}
	return 0;
}

static void scrub_parity_read_endio(struct bio *bio)
{
	struct scrub_full_stripe *full = bio->bi_private;

	if (bio->bi_status)
		WRITE_ONCE(full->parity_error, true);
	bio_put(bio);
	if (atomic_dec_and_test(&full->pending_parity))
		complete(&full->parity_read);
}

/* Of P or Q, which @column is. */
static struct page **scrub_parity_pages(const struct scrub_scan *scan,
					const struct scrub_full_stripe *full, int column)
{
	return full->parity + (column - nr_data_stripes(scan->map)) * SCRUB_PARITY_PAGES;
}

static void scrub_submit_parity_read(struct scrub_scan *scan, struct scrub_full_stripe *full,
				     int column)
{
	const int device = scrub_column_device(scan, full, column);
	struct block_device *bdev = scan->map->stripes[device].dev->bdev;
	struct bio *bio;

	if (!bdev) {
		WRITE_ONCE(full->parity_error, true);
		return;
	}
	bio = bio_alloc(bdev, SCRUB_PARITY_PAGES, REQ_OP_READ, GFP_NOFS);
	bio->bi_iter.bi_sector = scrub_column_physical(scan, full, column) >> SECTOR_SHIFT;
	bio->bi_private = full;
	bio->bi_end_io = scrub_parity_read_endio;
	for (int i = 0; i < SCRUB_PARITY_PAGES; i++)
		__bio_add_page(bio, scrub_parity_pages(scan, full, column)[i], PAGE_SIZE, 0);
	atomic_inc(&full->pending_parity);
	submit_bio(bio);
}

void scrub_submit_full_stripe(struct scrub_ctx *sctx, struct scrub_scan *scan,
			      struct scrub_full_stripe *full)
{
	const int nr_data = nr_data_stripes(scan->map);

	reinit_completion(&full->parity_read);
	full->parity_error = false;
	atomic_set(&full->pending_parity, 1);

	/* Parity is of all data stripes, also of those without an extent. */
	for (int i = 0; i < nr_data; i++)
		scrub_stripe_read(sctx, scrub_stripe_nr(full->stripes, i), full->check_parity);
	for (int i = nr_data; full->check_parity && i < scan->map->num_stripes; i++) {
		if (scrub_column_wanted(scan, full, i))
			scrub_submit_parity_read(scan, full, i);
	}

	if (atomic_dec_and_test(&full->pending_parity))
		complete(&full->parity_read);
}

/* Until all of the full stripe has been read, and data repaired. */
void scrub_wait_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full)
{
	for (int i = 0; i < nr_data_stripes(scan->map); i++)
		scrub_stripe_wait(scrub_stripe_nr(full->stripes, i));
	wait_for_completion_io(&full->parity_read);
}

/* Is this parity of the full stripe other than the data at @offset wants it to be? */
static bool scrub_parity_differs_at(struct scrub_scan *scan, struct scrub_full_stripe *full,
				    int column, u32 offset, u32 len)
{
	struct page **parity = scrub_parity_pages(scan, full, column);
	const int nr_data = nr_data_stripes(scan->map);
	const int nr = scan->map->num_stripes;

	for (int i = 0; i < nr_data; i++)
		scan->pointers[i] = scrub_stripe_data(scrub_stripe_nr(full->stripes, i), offset);
	for (int i = nr_data; i < nr; i++)
		scan->pointers[i] = scan->scratch + (i - nr_data) * PAGE_SIZE;
	raid56_generate_parity(scan->pointers, nr_data, nr, len);
	return memcmp(scan->pointers[column],
		      page_address(parity[offset >> PAGE_SHIFT]) + offset_in_page(offset), len);
}

static bool scrub_parity_differs(struct scrub_scan *scan, struct scrub_full_stripe *full,
				 int column, unsigned long sectors)
{
	const u32 sectorsize = scan->bg->fs_info->sectorsize;
	const u32 step = min_t(u32, sectorsize, PAGE_SIZE);
	int sector;

	for_each_set_bit(sector, &sectors, BTRFS_STRIPE_LEN / sectorsize) {
		for (u32 i = 0; i < sectorsize; i += step) {
			if (scrub_parity_differs_at(scan, full, column,
						    sector * sectorsize + i, step))
				return true;
		}
	}
	return false;
}

/*
 * Check one parity stripe of the full stripe with what has been read.  If that is wrong,
 * or not enough to tell, it is read again, with the full stripe locked, before
 * anything is written.  Only data that no device has, for one is missing, is that
 * of before then.
 */
int scrub_check_parity(struct scrub_scan *scan, struct scrub_full_stripe *full, int column)
{
	struct btrfs_fs_info *fs_info = scan->bg->fs_info;
	struct scrub_ctx *leader = scan->sctxs[scan->members.leader];
	const int device = scrub_column_device(scan, full, column);
	const u64 logical = scrub_column_logical(scan, full, 0);
	const int nr_sectors = BTRFS_STRIPE_LEN / fs_info->sectorsize;
	struct scrub_stripe *rebuilt = NULL;
	unsigned long sectors = 0;

	for (int i = 0; i < nr_data_stripes(scan->map); i++) {
		const struct scrub_blocks blocks =
				scrub_stripe_blocks(scrub_stripe_nr(full->stripes, i));
		const unsigned long error = blocks.error & blocks.has_extent;

		/* Parity that may be needed to repair it is not to be touched. */
		if (error) {
			btrfs_err(fs_info,
				  "scrub: unrepaired sectors detected, full stripe %llu data stripe %u errors %*pbl",
				  logical, i, nr_sectors, &error);
			return BTRFS_SCRUB_UNREPAIRED;
		}
		/* Nor if what was repaired did not get to the device. */
		if (blocks.not_written)
			return 0;
		/* Where there is no extent errors stay set, also if it could be rebuilt. */
		if (blocks.io_error)
			return 0;
		if (blocks.error)
			rebuilt = full->stripes;
		sectors |= blocks.has_extent;
	}

	if (!full->parity_error && !scrub_parity_differs(scan, full, column, sectors))
		return 0;
	if (scrub_ctx_readonly(scan->sctxs[device]))
		return 0;
	/* In a writeable block group what was rebuilt may be old by now. */
	if (rebuilt && scrub_ctx_bg_writeable(leader))
		return 0;
	return scrub_repair_parity(leader, scan->map->stripes[device].dev, scan->map, logical,
				   rebuilt, &sectors);
}
