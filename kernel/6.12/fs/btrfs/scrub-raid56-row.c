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
#include "scrub-ctx.h"
#include "scrub-raid56.h"
#include "volumes.h"

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

void scrub_free_row(struct scrub_pass *pass, struct scrub_row *row)
{
	for (int i = 0; row->stripes && i < pass->map->num_stripes; i++)
		release_scrub_stripe(&row->stripes[i]);
	kvfree(row->stripes);
	kfree(row->wanted);
}

int scrub_alloc_row(struct scrub_pass *pass, struct scrub_row *row)
{
	const int nr = pass->map->num_stripes;

	init_completion(&row->parity_read);
	row->wanted = kcalloc(nr, sizeof(*row->wanted), GFP_KERNEL);
	row->stripes = kvcalloc(nr, sizeof(*row->stripes), GFP_KERNEL);
	if (!row->wanted || !row->stripes)
		return -ENOMEM;

	for (int i = 0; i < nr; i++) {
		int ret = init_scrub_stripe(pass->bg->fs_info, &row->stripes[i]);

		if (ret < 0)
			return ret;
		row->stripes[i].bg = pass->bg;
	}
	return 0;
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
	struct scrub_stripe *stripe = &row->stripes[column];
	const int device = scrub_row_device(pass, row, column);
	const u64 logical = scrub_row_logical(pass, row, column);
	const u64 physical = scrub_row_physical(pass, row, column);
	int ret;

	ret = scrub_find_fill_first_stripe(pass->bg, &sctx->extent_path, &sctx->csum_path,
					   pass->map->stripes[device].dev, physical, 1,
					   logical, BTRFS_STRIPE_LEN, stripe);
	if (ret < 0)
		return ret;

	stripe->sctx = scrub_row_sctx(pass, row, column);
	stripe->dev = pass->map->stripes[device].dev;
	stripe->logical = logical;
	stripe->physical = physical;
	stripe->mirror_num = 1;
	stripe->write_error_bitmap = 0;
	/* What was found counts once all rows before are done. */
	set_bit(SCRUB_STRIPE_FLAG_NO_REPORT, &stripe->state);
	if (!ret && row->wanted[device])
		pass->unthrottled[device]++;
	return 0;
}

/* Look up what the data stripes of a row have to be, and which are to be read. */
int scrub_fill_row(struct scrub_ctx *sctx, struct scrub_pass *pass,
		   struct scrub_row *row)
{
	const int nr_data = nr_data_stripes(pass->map);
	bool parity = false;
	bool empty = true;
	int ret;

	for (int i = nr_data; i < pass->map->num_stripes; i++)
		parity |= scrub_row_wanted(pass, row, i);

	for (int i = 0; i < nr_data; i++) {
		struct scrub_stripe *stripe = &row->stripes[i];

		scrub_reset_stripe(stripe);
		if (!parity && !scrub_row_wanted(pass, row, i))
			continue;
		ret = scrub_fill_row_stripe(sctx, pass, row, i);
		if (ret < 0)
			return ret;
		empty &= !stripe->extent_sector_bitmap;
	}

	row->check_parity = parity && !empty;
	/* Parity is of all data stripes, also of those without an extent. */
	for (int i = 0; row->check_parity && i < nr_data; i++)
		set_bit(SCRUB_STRIPE_FLAG_INITIALIZED, &row->stripes[i].state);
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
	bio = bio_alloc(bdev, SCRUB_STRIPE_PAGES, REQ_OP_READ, GFP_NOFS);
	bio->bi_iter.bi_sector = scrub_row_physical(pass, row, column) >> SECTOR_SHIFT;
	bio->bi_private = row;
	bio->bi_end_io = scrub_parity_read_endio;
	for (int i = 0; i < SCRUB_STRIPE_PAGES; i++)
		__bio_add_page(bio, row->stripes[column].pages[i], PAGE_SIZE, 0);
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

	for (int i = 0; i < nr_data; i++) {
		if (test_bit(SCRUB_STRIPE_FLAG_INITIALIZED, &row->stripes[i].state))
			scrub_submit_initial_read(sctx, &row->stripes[i]);
	}
	for (int i = nr_data; row->check_parity && i < pass->map->num_stripes; i++) {
		if (scrub_row_wanted(pass, row, i))
			scrub_submit_parity_read(pass, row, i);
	}

	if (atomic_dec_and_test(&row->pending_parity))
		complete(&row->parity_read);
}

/* Who is read-only has repaired data in memory, and needs the parity for it again. */
static void scrub_note_not_written(struct scrub_stripe *stripe)
{
	if (stripe->sctx->readonly)
		stripe->write_error_bitmap |= stripe->init_error_bitmap &
					      ~stripe->error_bitmap;
}

/* Until all of the row has been read, and data repaired. */
void scrub_wait_row(struct scrub_pass *pass, struct scrub_row *row)
{
	for (int i = 0; i < nr_data_stripes(pass->map); i++) {
		struct scrub_stripe *stripe = &row->stripes[i];

		if (!test_bit(SCRUB_STRIPE_FLAG_INITIALIZED, &stripe->state))
			continue;
		wait_event(stripe->repair_wait,
			   test_bit(SCRUB_STRIPE_FLAG_REPAIR_DONE, &stripe->state));
		scrub_note_not_written(stripe);
	}
	wait_for_completion_io(&row->parity_read);
}

static void *scrub_stripe_address(struct scrub_stripe *stripe, int sector)
{
	const u32 offset = sector << stripe->bg->fs_info->sectorsize_bits;

	return page_address(stripe->pages[offset >> PAGE_SHIFT]) + offset_in_page(offset);
}

/* Is this parity of the row other than the data of @sectors wants it to be? */
static bool scrub_parity_differs(struct scrub_pass *pass, struct scrub_row *row,
				 int column, unsigned long sectors)
{
	const u32 sectorsize = pass->bg->fs_info->sectorsize;
	const int nr_data = nr_data_stripes(pass->map);
	const int nr = pass->map->num_stripes;
	int sector;

	/* A stripe of one sector has no room for both P and Q, so nothing is known. */
	if (nr - nr_data > pass->scratch.nr_sectors)
		return true;

	for_each_set_bit(sector, &sectors, pass->scratch.nr_sectors) {
		for (int i = 0; i < nr_data; i++)
			pass->pointers[i] = scrub_stripe_address(&row->stripes[i], sector);
		for (int i = nr_data; i < nr; i++)
			pass->pointers[i] = scrub_stripe_address(&pass->scratch, i - nr_data);
		raid56_generate_parity(pass->pointers, nr_data, nr, sectorsize);
		if (memcmp(pass->pointers[column],
			   scrub_stripe_address(&row->stripes[column], sector), sectorsize))
			return true;
	}
	return false;
}

static void raid56_scrub_wait_endio(struct bio *bio)
{
	complete(bio->bi_private);
}

/*
 * Check the parity stripe on @scrub_dev, with the full stripe locked, and
 * write it anew where it is wrong.  @data is what has been read of the data
 * stripes, or NULL to have it read again.
 */
int scrub_repair_parity(struct btrfs_device *scrub_dev,
			const struct btrfs_chunk_map *map,
			u64 full_stripe_start, struct scrub_stripe *data,
			unsigned long *extent_bitmap)
{
	DECLARE_COMPLETION_ONSTACK(io_done);
	struct btrfs_fs_info *fs_info = scrub_dev->fs_info;
	struct btrfs_raid_bio *rbio;
	struct btrfs_io_context *bioc = NULL;
	struct bio *bio;
	u64 length = btrfs_stripe_nr_to_offset(nr_data_stripes(map));
	int ret;

	bio = bio_alloc(NULL, 1, REQ_OP_READ, GFP_NOFS);
	bio->bi_iter.bi_sector = full_stripe_start >> SECTOR_SHIFT;
	bio->bi_private = &io_done;
	bio->bi_end_io = raid56_scrub_wait_endio;

	btrfs_bio_counter_inc_blocked(fs_info);
	ret = btrfs_map_block(fs_info, BTRFS_MAP_WRITE, full_stripe_start,
			      &length, &bioc, NULL, NULL);
	if (ret < 0)
		goto out;
	rbio = raid56_parity_alloc_scrub_rbio(bio, bioc, scrub_dev, extent_bitmap,
					      BTRFS_STRIPE_LEN >> fs_info->sectorsize_bits);
	if (!rbio) {
		ret = -ENOMEM;
		goto out;
	}
	/* Use the recovered stripes as cache to avoid read them from disk again. */
	for (int i = 0; data && i < nr_data_stripes(map); i++)
		raid56_parity_cache_data_pages(rbio, data[i].pages,
					       full_stripe_start +
					       (i << BTRFS_STRIPE_LEN_SHIFT));
	raid56_parity_submit_scrub_rbio(rbio);
	wait_for_completion_io(&io_done);
	ret = blk_status_to_errno(bio->bi_status);
out:
	btrfs_put_bioc(bioc);
	bio_put(bio);
	btrfs_bio_counter_dec(fs_info);
	return ret;
}

/*
 * Check one parity stripe of the row with what has been read.  If that is wrong,
 * or not enough to tell, it is read again, with the full stripe locked, before
 * anything is written.
 */
int scrub_check_row_parity(struct scrub_pass *pass, struct scrub_row *row, int column)
{
	const int device = scrub_row_device(pass, row, column);
	const u64 logical = scrub_row_logical(pass, row, 0);
	bool trusted = !row->parity_error;
	unsigned long sectors = 0;
	unsigned long not_written = 0;

	for (int i = 0; i < nr_data_stripes(pass->map); i++) {
		struct scrub_stripe *stripe = &row->stripes[i];
		unsigned long error = stripe->error_bitmap & stripe->extent_sector_bitmap;

		/* Parity that may be needed to repair it is not to be touched. */
		if (error) {
			btrfs_err(pass->bg->fs_info,
				  "unrepaired sectors detected, full stripe %llu data stripe %u errors %*pbl",
				  logical, i, stripe->nr_sectors, &error);
			return -EIO;
		}
		not_written |= stripe->write_error_bitmap;
		sectors |= stripe->extent_sector_bitmap;
		trusted &= !stripe->error_bitmap;
	}

	/* Nor if what was repaired did not get to the device. */
	if (not_written)
		return 0;
	if (trusted && !scrub_parity_differs(pass, row, column, sectors))
		return 0;
	if (pass->sctxs[device]->readonly)
		return 0;
	return scrub_repair_parity(pass->map->stripes[device].dev, pass->map, logical,
				   NULL, &sectors);
}
