// SPDX-License-Identifier: GPL-2.0
/*
 * Scrub of one full stripe ("row") of RAID56: look up what is in it, read it,
 * check and repair its parity.
 *
 * Owns what is done to the row at hand.  Which row that is, and for whom, is
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

static bool scrub_row_wanted(const struct scrub_pass *pass,
			     const struct scrub_row *row, int column)
{
	return row->wanted[scrub_row_device(pass, row, column)];
}

static u64 scrub_row_logical(const struct scrub_pass *pass,
			     const struct scrub_row *row, int column)
{
	return pass->bg->start +
	       btrfs_stripe_nr_to_offset(row->nr * nr_data_stripes(pass->map) + column);
}

static u64 scrub_row_physical(const struct scrub_pass *pass,
			      const struct scrub_row *row, int column)
{
	return pass->map->stripes[scrub_row_device(pass, row, column)].physical +
	       btrfs_stripe_nr_to_offset(row->nr);
}

static int scrub_nr_parity_pages(const struct scrub_pass *pass)
{
	return (pass->map->num_stripes - nr_data_stripes(pass->map)) * SCRUB_PARITY_PAGES;
}

void scrub_free_row(struct scrub_pass *pass, struct scrub_row *row)
{
	scrub_stripes_free(row->stripes, nr_data_stripes(pass->map));
	for (int i = 0; row->parity && i < scrub_nr_parity_pages(pass); i++) {
		if (row->parity[i])
			__free_page(row->parity[i]);
	}
	kfree(row->parity);
	kfree(row->wanted);
}

int scrub_alloc_row(struct scrub_pass *pass, struct scrub_row *row)
{
	const int nr_pages = scrub_nr_parity_pages(pass);

	init_completion(&row->parity_read);
	row->wanted = kcalloc(pass->map->num_stripes, sizeof(*row->wanted), GFP_KERNEL);
	row->stripes = scrub_stripes_alloc(pass->bg, nr_data_stripes(pass->map));
	row->parity = kcalloc(nr_pages, sizeof(*row->parity), GFP_KERNEL);
	if (!row->wanted || !row->stripes || !row->parity)
		return -ENOMEM;
	return btrfs_alloc_page_array(nr_pages, row->parity, false);
}

/* Whose rules, such as being read-only, a data stripe is read and repaired by. */
static struct scrub_ctx *scrub_row_sctx(const struct scrub_pass *pass,
					const struct scrub_row *row, int column)
{
	while (!scrub_row_wanted(pass, row, column))
		column = max(column + 1, nr_data_stripes(pass->map));
	return pass->sctxs[scrub_row_device(pass, row, column)];
}

static int scrub_fill_row_stripe(struct scrub_ctx *sctx, struct scrub_pass *pass,
				 struct scrub_row *row, int column)
{
	const int device = scrub_row_device(pass, row, column);
	int ret;

	ret = scrub_stripe_fill(sctx, scrub_stripe_nr(row->stripes, column),
				scrub_row_sctx(pass, row, column),
				pass->map->stripes[device].dev,
				scrub_row_physical(pass, row, column),
				scrub_row_logical(pass, row, column));
	if (!ret && row->wanted[device])
		pass->unthrottled[device]++;
	return ret;
}

/* Nothing is read of it. */
void scrub_clear_row(struct scrub_pass *pass, struct scrub_row *row)
{
	row->check_parity = false;
	for (int i = 0; i < nr_data_stripes(pass->map); i++)
		scrub_stripe_clear(scrub_stripe_nr(row->stripes, i));
}

/* Look up what the data stripes of a row have to be, and which are to be read. */
int scrub_fill_row(struct scrub_ctx *sctx, struct scrub_pass *pass,
		   struct scrub_row *row)
{
	const int nr_data = nr_data_stripes(pass->map);
	bool parity = false;

	scrub_clear_row(pass, row);
	for (int i = nr_data; i < pass->map->num_stripes; i++)
		parity |= scrub_row_wanted(pass, row, i);

	for (int i = 0; i < nr_data; i++) {
		int ret;

		if (!parity && !scrub_row_wanted(pass, row, i))
			continue;
		ret = scrub_fill_row_stripe(sctx, pass, row, i);
		if (ret < 0)
			return ret;
		if (!ret)
			row->check_parity = parity;
	}
	return 0;
}

static void scrub_parity_read_endio(struct bio *bio)
{
	struct scrub_row *row = bio->bi_private;

	if (bio->bi_status)
		WRITE_ONCE(row->parity_error, true);
	bio_put(bio);
	if (atomic_dec_and_test(&row->pending_parity))
		complete(&row->parity_read);
}

/* Of P or Q, which @column is. */
static struct page **scrub_parity_pages(const struct scrub_pass *pass,
					const struct scrub_row *row, int column)
{
	return row->parity + (column - nr_data_stripes(pass->map)) * SCRUB_PARITY_PAGES;
}

static void scrub_submit_parity_read(struct scrub_pass *pass, struct scrub_row *row,
				     int column)
{
	const int device = scrub_row_device(pass, row, column);
	struct block_device *bdev = pass->map->stripes[device].dev->bdev;
	struct bio *bio;

	if (!bdev) {
		WRITE_ONCE(row->parity_error, true);
		return;
	}
	bio = bio_alloc(bdev, SCRUB_PARITY_PAGES, REQ_OP_READ, GFP_NOFS);
	bio->bi_iter.bi_sector = scrub_row_physical(pass, row, column) >> SECTOR_SHIFT;
	bio->bi_private = row;
	bio->bi_end_io = scrub_parity_read_endio;
	for (int i = 0; i < SCRUB_PARITY_PAGES; i++)
		__bio_add_page(bio, scrub_parity_pages(pass, row, column)[i], PAGE_SIZE, 0);
	atomic_inc(&row->pending_parity);
	submit_bio(bio);
}

void scrub_submit_row(struct scrub_ctx *sctx, struct scrub_pass *pass,
		      struct scrub_row *row)
{
	const int nr_data = nr_data_stripes(pass->map);

	reinit_completion(&row->parity_read);
	row->parity_error = false;
	atomic_set(&row->pending_parity, 1);

	/* Parity is of all data stripes, also of those without an extent. */
	for (int i = 0; i < nr_data; i++)
		scrub_stripe_read(sctx, scrub_stripe_nr(row->stripes, i), row->check_parity);
	for (int i = nr_data; row->check_parity && i < pass->map->num_stripes; i++) {
		if (scrub_row_wanted(pass, row, i))
			scrub_submit_parity_read(pass, row, i);
	}

	if (atomic_dec_and_test(&row->pending_parity))
		complete(&row->parity_read);
}

/* Until all of the row has been read, and data repaired. */
void scrub_wait_row(struct scrub_pass *pass, struct scrub_row *row)
{
	for (int i = 0; i < nr_data_stripes(pass->map); i++)
		scrub_stripe_wait(scrub_stripe_nr(row->stripes, i));
	wait_for_completion_io(&row->parity_read);
}

/* Is this parity of the row other than the data at @offset wants it to be? */
static bool scrub_parity_differs_at(struct scrub_pass *pass, struct scrub_row *row,
				    int column, u32 offset, u32 len)
{
	struct page **parity = scrub_parity_pages(pass, row, column);
	const int nr_data = nr_data_stripes(pass->map);
	const int nr = pass->map->num_stripes;

	for (int i = 0; i < nr_data; i++)
		pass->pointers[i] = scrub_stripe_data(scrub_stripe_nr(row->stripes, i), offset);
	for (int i = nr_data; i < nr; i++)
		pass->pointers[i] = pass->scratch + (i - nr_data) * PAGE_SIZE;
	raid56_generate_parity(pass->pointers, nr_data, nr, len);
	return memcmp(pass->pointers[column],
		      page_address(parity[offset >> PAGE_SHIFT]) + offset_in_page(offset), len);
}

static bool scrub_parity_differs(struct scrub_pass *pass, struct scrub_row *row,
				 int column, unsigned long sectors)
{
	const u32 sectorsize = pass->bg->fs_info->sectorsize;
	const u32 step = min_t(u32, sectorsize, PAGE_SIZE);
	int sector;

	for_each_set_bit(sector, &sectors, BTRFS_STRIPE_LEN / sectorsize) {
		for (u32 i = 0; i < sectorsize; i += step) {
			if (scrub_parity_differs_at(pass, row, column,
						    sector * sectorsize + i, step))
				return true;
		}
	}
	return false;
}

/*
 * Check one parity stripe of the row with what has been read.  If that is wrong,
 * or not enough to tell, it is read again, with the full stripe locked, before
 * anything is written.  Only data that no device has, for one is missing, is that
 * of before then.
 */
int scrub_check_row_parity(struct scrub_pass *pass, struct scrub_row *row, int column)
{
	struct btrfs_fs_info *fs_info = pass->bg->fs_info;
	const int device = scrub_row_device(pass, row, column);
	const u64 logical = scrub_row_logical(pass, row, 0);
	const int nr_sectors = BTRFS_STRIPE_LEN / fs_info->sectorsize;
	struct scrub_stripe *rebuilt = NULL;
	unsigned long sectors = 0;

	for (int i = 0; i < nr_data_stripes(pass->map); i++) {
		const struct scrub_blocks blocks =
				scrub_stripe_blocks(scrub_stripe_nr(row->stripes, i));
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
			rebuilt = row->stripes;
		sectors |= blocks.has_extent;
	}

	if (!row->parity_error && !scrub_parity_differs(pass, row, column, sectors))
		return 0;
	if (scrub_ctx_readonly(pass->sctxs[device]))
		return 0;
	return scrub_repair_parity(pass->sctxs[pass->turns.leader],
				   pass->map->stripes[device].dev, pass->map, logical,
				   rebuilt, &sectors);
}
