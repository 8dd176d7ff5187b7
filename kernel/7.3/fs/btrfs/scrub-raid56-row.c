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
	kfree(row->errors);
	kfree(row->wanted);
}

int scrub_alloc_row(struct scrub_pass *pass, struct scrub_row *row)
{
	const int nr = pass->map->num_stripes;

	init_completion(&row->parity_read);
	row->wanted = kcalloc(nr, sizeof(*row->wanted), GFP_KERNEL);
	row->errors = kcalloc(nr, sizeof(*row->errors), GFP_KERNEL);
	row->stripes = kvcalloc(nr, sizeof(*row->stripes), GFP_KERNEL);
	if (!row->wanted || !row->errors || !row->stripes)
		return -ENOMEM;

	for (int i = 0; i < nr; i++) {
		int ret = init_scrub_stripe(pass->bg->fs_info, &row->stripes[i]);

		if (ret < 0)
			return ret;
		row->stripes[i].bg = pass->bg;
		row->stripes[i].errors = &row->errors[i];
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
		empty &= !scrub_stripe_has_extent(stripe);
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
	void *buffer = row->stripes[column].buffer;
	struct bio *bio;

	if (!bdev) {
		WRITE_ONCE(row->parity_error, true);
		return;
	}
	bio = bio_alloc(bdev, BTRFS_STRIPE_LEN >> PAGE_SHIFT, REQ_OP_READ, GFP_NOFS);
	bio->bi_iter.bi_sector = scrub_row_physical(pass, row, column) >> SECTOR_SHIFT;
	bio->bi_private = row;
	bio->bi_end_io = scrub_parity_read_endio;
	if (is_vmalloc_addr(buffer))
		bio_add_vmalloc(bio, buffer, BTRFS_STRIPE_LEN);
	else
		bio_add_virt_nofail(bio, buffer, BTRFS_STRIPE_LEN);
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
		stripe->write_error_bitmap |= stripe->errors->init_error_bitmap &
					      ~scrub_stripe_errors(stripe);
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

/* Is this parity of the row other than the data at @offset wants it to be? */
static bool scrub_parity_differs_at(struct scrub_pass *pass, struct scrub_row *row,
				    int column, u32 offset, u32 len)
{
	const int nr_data = nr_data_stripes(pass->map);
	const int nr = pass->map->num_stripes;

	for (int i = 0; i < nr_data; i++)
		pass->pointers[i] = row->stripes[i].buffer + offset;
	for (int i = nr_data; i < nr; i++)
		pass->pointers[i] = pass->scratch.buffer + (i - nr_data) * len;
	raid56_generate_parity(pass->pointers, nr_data, nr, len);
	return memcmp(pass->pointers[column], row->stripes[column].buffer + offset, len);
}

static bool scrub_parity_differs(struct scrub_pass *pass, struct scrub_row *row,
				 int column, unsigned long sectors)
{
	const u32 sectorsize = pass->bg->fs_info->sectorsize;
	/* P and Q have to fit into the scratch stripe. */
	const u32 step = min_t(u32, sectorsize, BTRFS_STRIPE_LEN / 2);
	void *parity = row->stripes[column].buffer;
	int sector;

	/* The device has written to its pages, maybe behind this mapping of them. */
	if (is_vmalloc_addr(parity))
		invalidate_kernel_vmap_range(parity, BTRFS_STRIPE_LEN);

	for_each_set_bit(sector, &sectors, pass->scratch.nr_sectors) {
		for (u32 i = 0; i < sectorsize; i += step) {
			if (scrub_parity_differs_at(pass, row, column,
						    sector * sectorsize + i, step))
				return true;
		}
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
	struct btrfs_io_context *bioc = NULL;
	struct btrfs_raid_bio *rbio;
	struct bio bio;
	const int data_stripes = nr_data_stripes(map);
	u64 length = btrfs_stripe_nr_to_offset(data_stripes);
	int ret;

	bio_init(&bio, NULL, NULL, 0, REQ_OP_READ);
	bio.bi_iter.bi_sector = full_stripe_start >> SECTOR_SHIFT;
	bio.bi_private = &io_done;
	bio.bi_end_io = raid56_scrub_wait_endio;

	btrfs_bio_counter_inc_blocked(fs_info);
	ret = btrfs_map_block(fs_info, BTRFS_MAP_WRITE, full_stripe_start,
			      &length, &bioc, NULL, NULL);
	if (ret < 0)
		goto out;
	/* For RAID56 write there must be an @bioc allocated. */
	ASSERT(bioc);
	rbio = raid56_parity_alloc_scrub_rbio(&bio, bioc, scrub_dev, extent_bitmap,
					      BTRFS_STRIPE_LEN >> fs_info->sectorsize_bits);
	btrfs_put_bioc(bioc);
	if (!rbio) {
		ret = -ENOMEM;
		goto out;
	}
	/* Use the recovered stripes as cache to avoid read them from disk again. */
	for (int i = 0; data && i < data_stripes; i++)
		raid56_parity_cache_data_folios(rbio, data[i].buffer,
						full_stripe_start +
						(i << BTRFS_STRIPE_LEN_SHIFT));
	raid56_parity_submit_scrub_rbio(rbio);
	wait_for_completion_io(&io_done);
	ret = blk_status_to_errno(bio.bi_status);
out:
	btrfs_bio_counter_dec(fs_info);
	bio_uninit(&bio);
	return ret;
}

/*
 * Check one parity stripe of the row with what has been read.  If that is wrong,
 * or not enough to tell, it is read again, with the full stripe locked, before
 * anything is written.  Only data that no device has, for one is missing, is that
 * of before then.
 */
int scrub_check_row_parity(struct scrub_pass *pass, struct scrub_row *row, int column)
{
	const int device = scrub_row_device(pass, row, column);
	const u64 logical = scrub_row_logical(pass, row, 0);
	struct scrub_stripe *rebuilt = NULL;
	unsigned long sectors = 0;

	for (int i = 0; i < nr_data_stripes(pass->map); i++) {
		struct scrub_stripe *stripe = &row->stripes[i];
		const unsigned long has_extent = scrub_stripe_has_extent(stripe);
		const unsigned long error = scrub_stripe_errors(stripe) & has_extent;

		/* Parity that may be needed to repair it is not to be touched. */
		if (error) {
			btrfs_err(pass->bg->fs_info,
				  "scrub: unrepaired sectors detected, full stripe %llu data stripe %u errors %*pbl",
				  logical, i, stripe->nr_sectors, &error);
			return 0;
		}
		/* Nor if what was repaired did not get to the device. */
		if (stripe->write_error_bitmap)
			return 0;
		/* Where there is no extent errors stay set, also if it could be rebuilt. */
		if (scrub_stripe_io_errors(stripe))
			return 0;
		if (scrub_stripe_errors(stripe))
			rebuilt = row->stripes;
		sectors |= has_extent;
	}

	if (!row->parity_error && !scrub_parity_differs(pass, row, column, sectors))
		return 0;
	if (pass->sctxs[device]->readonly)
		return 0;
	return scrub_repair_parity(pass->map->stripes[device].dev, pass->map, logical,
				   rebuilt, &sectors);
}
