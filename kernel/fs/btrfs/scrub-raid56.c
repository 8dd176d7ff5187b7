// SPDX-License-Identifier: GPL-2.0
/*
 * Scrub of a RAID56 block group, in one scan for several devices.
 *
 * Each device scrubbed on its own would read all devices to check its parity.  So the task
 * of one device, the leader, reads full stripes for all devices that are being scrubbed,
 * parity together with data, while the tasks of the others wait.  A device that comes
 * late catches up first.
 *
 * Owns the scan: its members, the leader, and the batches of full stripes in flight.  The
 * choice of the next batch is in scrub-scan.c.
 */

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "block-group.h"
#include "ctree.h"
#include "fs.h"
#include "messages.h"
#include "raid56.h"
#include "scrub-limit.h"
#include "scrub-raid56.h"
#include "volumes.h"
#include "compat.h"

/* 2MiB of each device are in flight. */
#define SCRUB_BATCHES		4

/* Consecutive full stripes. */
struct scrub_batch {
	struct scrub_scan *scan;
	u32 first;
	u32 nr;
	/* For each device of the chunk, NULL if the batch is not for it. */
	struct scrub_member **members;
	/* Of each full stripe first data, then parity. */
	struct scrub_stripe *stripes;
	/* For each full stripe: it has an extent, and parity of it is to be checked. */
	bool check_parity[BTRFS_SCRUB_BATCH];
	/* Reads of parity; each data stripe has a state of its own. */
	struct completion parity_read;
	bool parity_error;
	/* The full stripe after the last one could not be looked up. */
	int error;
};

struct scrub_scan {
	struct btrfs_block_group *bg;
	struct btrfs_chunk_map *map;
	/* Computed parity, a page of each kind, and pointers to all stripes for that. */
	void *scratch;
	void **pointers;
	struct scrub_batch batches[SCRUB_BATCHES];

	/* Protected by bg->lock. */
	int nr_members;
	struct scrub_member *leader;
	/* For each device of the chunk, NULL if it does not take part; then those of batches. */
	struct scrub_member *members[];
};

/* Which device has a stripe of the batch's full stripe @nr. */
static int scrub_column_device(const struct scrub_batch *batch, int nr, int column)
{
	return (batch->first + nr + column) % batch->scan->map->num_stripes;
}

static u64 scrub_column_physical(const struct scrub_batch *batch, int nr, int column)
{
	const int device = scrub_column_device(batch, nr, column);

	return batch->scan->map->stripes[device].physical +
	       btrfs_stripe_nr_to_offset(batch->first + nr);
}

static u64 scrub_column_logical(const struct scrub_batch *batch, int nr, int column)
{
	return batch->scan->bg->start +
	       btrfs_stripe_nr_to_offset((batch->first + nr) *
					 nr_data_stripes(batch->scan->map) + column);
}

static struct scrub_stripe *scrub_column_stripe(const struct scrub_batch *batch,
						int nr, int column)
{
	return scrub_stripe_nr(batch->stripes, nr * batch->scan->map->num_stripes + column);
}

static void scrub_free_scan(struct scrub_scan *scan)
{
	/* Workers that have said they are done may still be about to return. */
	if (scan->pointers)
		flush_workqueue(scan->bg->fs_info->scrub_workers);
	for (int i = 0; i < SCRUB_BATCHES; i++)
		scrub_stripes_free(scan->batches[i].stripes,
				   BTRFS_SCRUB_BATCH * scan->map->num_stripes);
	btrfs_free_chunk_map(scan->map);
	kfree(scan->scratch);
	kfree(scan->pointers);
	kfree(scan);
}

/* Join the scan over the block group, or begin one.  NULL if there is no memory. */
static struct scrub_scan *scrub_join_scan(struct scrub_member *member,
					  struct btrfs_block_group *bg,
					  struct btrfs_chunk_map *map, int stripe_index)
{
	const int nr = map->num_stripes;
	struct scrub_scan *new;
	struct scrub_scan *scan;

	new = kzalloc(struct_size(new, members, nr * (1 + SCRUB_BATCHES)), GFP_KERNEL);
	if (!new)
		return NULL;
	refcount_inc(&map->refs);
	new->map = map;
	new->bg = bg;

	spin_lock(&bg->lock);
	if (!bg->scrub_scan)
		bg->scrub_scan = new;
	scan = bg->scrub_scan;
	scan->members[stripe_index] = member;
	scan->nr_members++;
	spin_unlock(&bg->lock);
	if (scan != new)
		scrub_free_scan(new);
	return scan;
}

static void scrub_leave_scan(struct scrub_scan *scan, int stripe_index)
{
	struct btrfs_block_group *bg = scan->bg;
	bool last;

	spin_lock(&bg->lock);
	scan->members[stripe_index] = NULL;
	last = --scan->nr_members == 0;
	if (last)
		bg->scrub_scan = NULL;
	spin_unlock(&bg->lock);
	if (last)
		scrub_free_scan(scan);
}

/* The first leader's work.  If it fails, it fails for all of the scan. */
static int scrub_init_batches(struct scrub_scan *scan)
{
	const int nr = scan->map->num_stripes;

	if (scan->pointers)
		return scan->batches[SCRUB_BATCHES - 1].stripes ? 0 : -ENOMEM;

	scan->pointers = kcalloc(nr, sizeof(void *), GFP_KERNEL);
	if (!scan->pointers)
		return -ENOMEM;
	scan->scratch = kmalloc(2 * PAGE_SIZE, GFP_KERNEL);
	if (!scan->scratch)
		return -ENOMEM;
	for (int i = 0; i < SCRUB_BATCHES; i++) {
		struct scrub_batch *batch = &scan->batches[i];

		batch->scan = scan;
		batch->members = &scan->members[nr * (1 + i)];
		init_completion(&batch->parity_read);
		batch->stripes = scrub_stripes_alloc(scan->bg, BTRFS_SCRUB_BATCH * nr);
		if (!batch->stripes)
			return -ENOMEM;
	}
	for (int i = 0; i < nr; i++) {
		if (!scan->map->stripes[i].dev->bdev)
			btrfs_warn(scan->bg->fs_info,
				   "scrub: block group %llu: device %llu is missing, parity of its data cannot be checked",
				   scan->bg->start, scan->map->stripes[i].dev->devid);
	}
	return 0;
}

/* How many full stripes to read: none if the block group is gone. */
static u32 scrub_scan_end(const struct scrub_scan *scan)
{
	if (test_bit(BLOCK_GROUP_FLAG_REMOVED, &scan->bg->runtime_flags))
		return 0;
	return btrfs_calc_stripe_length(scan->map) >> BTRFS_STRIPE_LEN_SHIFT;
}

/* Look up what the data stripes of a full stripe have to contain. */
static int scrub_fill_full_stripe(struct scrub_batch *batch, int nr)
{
	const struct btrfs_chunk_map *map = batch->scan->map;
	const int nr_data = nr_data_stripes(map);
	struct scrub_member *parity = NULL;

	for (int i = nr_data; i < map->num_stripes && !parity; i++)
		parity = batch->members[scrub_column_device(batch, nr, i)];

	batch->check_parity[nr] = false;
	for (int i = 0; i < nr_data; i++) {
		const int device = scrub_column_device(batch, nr, i);
		struct scrub_member *data = batch->members[device];
		struct scrub_member *owner = data ? data : parity;
		int ret;

		ret = scrub_stripe_fill(batch->scan->leader->sctx,
					scrub_column_stripe(batch, nr, i),
					owner ? owner->sctx : NULL, map->stripes[device].dev,
					scrub_column_physical(batch, nr, i),
					scrub_column_logical(batch, nr, i));
		if (ret < 0)
			return ret;
		if (!ret && parity)
			batch->check_parity[nr] = true;
		if (!ret && data)
			data->bytes += BTRFS_STRIPE_LEN;
	}
	return 0;
}

static void scrub_parity_read_endio(struct bio *bio)
{
	struct scrub_batch *batch = bio->bi_private;

	batch->parity_error = bio->bi_status != BLK_STS_OK;
	complete(&batch->parity_read);
	bio_put(bio);
}

/* Returns the read of a parity stripe, the last one of a chain of bios. */
static struct bio *scrub_read_parity(struct scrub_batch *batch, int nr, int column,
				     struct bio *bio)
{
	const int device = scrub_column_device(batch, nr, column);

	bio = blk_next_bio(bio, batch->scan->map->stripes[device].dev->bdev,
			   BTRFS_STRIPE_LEN >> PAGE_SHIFT, REQ_OP_READ, GFP_NOFS);
	bio->bi_iter.bi_sector = scrub_column_physical(batch, nr, column) >> SECTOR_SHIFT;
	for (u32 i = 0; i < BTRFS_STRIPE_LEN; i += PAGE_SIZE) {
		void *data = scrub_stripe_data(scrub_column_stripe(batch, nr, column), i);

		__bio_add_page(bio, is_vmalloc_addr(data) ? vmalloc_to_page(data) :
							    virt_to_page(data), PAGE_SIZE, 0);
	}
	return bio;
}

static void scrub_submit_batch(struct scrub_batch *batch)
{
	const struct btrfs_chunk_map *map = batch->scan->map;
	const int nr_data = nr_data_stripes(map);
	struct bio *bio = NULL;
	struct blk_plug plug;

	blk_start_plug(&plug);
	for (int nr = 0; nr < batch->nr; nr++) {
		const bool check = batch->check_parity[nr];

		/* Parity is of all data stripes, also of those without an extent. */
		for (int i = 0; i < nr_data; i++)
			scrub_stripe_read(batch->scan->leader->sctx,
					  scrub_column_stripe(batch, nr, i), check);
		for (int i = nr_data; check && i < map->num_stripes; i++) {
			if (batch->members[scrub_column_device(batch, nr, i)])
				bio = scrub_read_parity(batch, nr, i, bio);
		}
	}
	reinit_completion(&batch->parity_read);
	if (bio) {
		bio->bi_private = batch;
		bio->bi_end_io = scrub_parity_read_endio;
		submit_bio(bio);
	} else {
		complete(&batch->parity_read);
	}
	blk_finish_plug(&plug);
}

/* Take, look up and submit a batch.  Returns false if the leader has had all. */
static bool scrub_start_batch(struct scrub_scan *scan, struct scrub_batch *batch)
{
	const u32 end = scrub_scan_end(scan);
	u32 nr = 0;

	spin_lock(&scan->bg->lock);
	if (scan->leader->next < end)
		nr = btrfs_scrub_take_batch(scan->members, batch->members,
					    scan->map->num_stripes, end, &batch->first);
	spin_unlock(&scan->bg->lock);
	if (!nr)
		return false;

	/* Paths only go forward, and are not valid after a commit. */
	scrub_ctx_release_paths(scan->leader->sctx);
	for (batch->nr = 0; batch->nr < nr; batch->nr++) {
		batch->error = scrub_fill_full_stripe(batch, batch->nr);
		if (batch->error)
			break;
		cond_resched();
	}

	for (int i = 0; i < scan->map->num_stripes; i++) {
		struct scrub_member *member = batch->members[i];

		if (member) {
			btrfs_scrub_throttle(member->bucket, scan->map->stripes[i].dev,
					     member->bytes);
			member->bytes = 0;
		}
	}
	scrub_submit_batch(batch);
	return true;
}

/* Is this parity other than what data of these @sectors makes it? */
static bool scrub_parity_differs(struct scrub_batch *batch, int nr, int column,
				 unsigned long sectors)
{
	struct scrub_scan *scan = batch->scan;
	const u32 sectorsize = scan->bg->fs_info->sectorsize;
	const u32 step = min_t(u32, sectorsize, PAGE_SIZE);
	const int nr_data = nr_data_stripes(scan->map);
	void **pointers = scan->pointers;

	for (u32 offset = 0; offset < BTRFS_STRIPE_LEN; offset += step) {
		void *parity = scrub_stripe_data(scrub_column_stripe(batch, nr, column), offset);

		if (!test_bit(offset / sectorsize, &sectors))
			continue;
		for (int i = 0; i < nr_data; i++)
			pointers[i] = scrub_stripe_data(scrub_column_stripe(batch, nr, i), offset);
		for (int i = nr_data; i < scan->map->num_stripes; i++)
			pointers[i] = scan->scratch + (i - nr_data) * PAGE_SIZE;
		raid56_generate_parity(pointers, nr_data, scan->map->num_stripes, step);
		if (is_vmalloc_addr(parity))
			invalidate_kernel_vmap_range(parity, step);
		if (memcmp(pointers[column], parity, step))
			return true;
	}
	return false;
}

/*
 * Check one parity stripe with what has been read.  If that is wrong, or not enough to
 * tell, it is read again, with the full stripe locked, before anything is written.  Only
 * data of a missing device stays as it was rebuilt before.
 */
static int scrub_check_parity(struct scrub_batch *batch, int nr, int column)
{
	struct scrub_scan *scan = batch->scan;
	struct btrfs_fs_info *fs_info = scan->bg->fs_info;
	const int device = scrub_column_device(batch, nr, column);
	const u64 logical = scrub_column_logical(batch, nr, 0);
	const int nr_sectors = BTRFS_STRIPE_LEN / fs_info->sectorsize;
	struct scrub_stripe *rebuilt = NULL;
	unsigned long sectors = 0;

	for (int i = 0; i < nr_data_stripes(scan->map); i++) {
		const struct scrub_blocks blocks =
				scrub_stripe_blocks(scrub_column_stripe(batch, nr, i));
		const unsigned long error = blocks.error & blocks.has_extent;

		/* Parity that may be needed to repair it is not to be touched. */
		if (error) {
			btrfs_err(fs_info,
				  "scrub: unrepaired sectors detected, full stripe %llu data stripe %u errors %*pbl",
				  logical, i, nr_sectors, &error);
			return BTRFS_SCRUB_UNREPAIRED;
		}
		/*
		 * Nor if what was repaired did not get to the device.  Where there is no
		 * extent errors stay set, also if it could be rebuilt.
		 */
		if (blocks.not_written || blocks.io_error)
			return 0;
		if (blocks.error)
			rebuilt = scrub_column_stripe(batch, nr, 0);
		sectors |= blocks.has_extent;
	}

	if (!batch->parity_error && !scrub_parity_differs(batch, nr, column, sectors))
		return 0;
	/* In a writeable block group what was rebuilt may be old by now. */
	if (batch->members[device]->readonly || (rebuilt && scan->leader->bg_writeable))
		return 0;
	return scrub_repair_parity(scan->leader->sctx, scan->map->stripes[device].dev, scan->map,
				   logical, rebuilt, &sectors);
}

/* Wait for a full stripe, and count for each member what was found. */
static void scrub_retire_full_stripe(struct scrub_batch *batch, int nr)
{
	const int nr_data = nr_data_stripes(batch->scan->map);

	for (int i = 0; i < nr_data; i++)
		scrub_stripe_wait(scrub_column_stripe(batch, nr, i));
	for (int i = 0; i < batch->scan->map->num_stripes; i++) {
		struct scrub_member *member = batch->members[scrub_column_device(batch, nr, i)];

		/* After an error it gets nothing any more. */
		if (!member || member->error)
			continue;
		if (i >= nr_data && batch->check_parity[nr])
			member->error = scrub_check_parity(batch, nr, i);
		if (!member->error)
			scrub_stripe_done(member->sctx, scrub_column_stripe(batch, nr, i),
					  scrub_column_physical(batch, nr, i) + BTRFS_STRIPE_LEN);
	}
}

static void scrub_retire_batch(struct scrub_batch *batch)
{
	struct scrub_scan *scan = batch->scan;

	wait_for_completion_io(&batch->parity_read);
	for (int nr = 0; nr < batch->nr; nr++)
		scrub_retire_full_stripe(batch, nr);

	spin_lock(&scan->bg->lock);
	for (int i = 0; i < scan->map->num_stripes; i++) {
		struct scrub_member *member = batch->members[i];

		if (!member)
			continue;
		member->in_flight--;
		if (!member->error)
			member->error = batch->error;
		if (member->error)
			member->next = U32_MAX;
	}
	spin_unlock(&scan->bg->lock);
	/* Members that are finished leave, and the others see if they are cancelled. */
	wake_up_all(&scan->bg->fs_info->scrub_pause_wait);
}

/* Read full stripes, until the leader has had all, is cancelled, or there is an error. */
static void scrub_lead_scan(struct scrub_scan *scan)
{
	struct btrfs_fs_info *fs_info = scan->bg->fs_info;
	u32 started = 0;
	u32 retired = 0;

	while (!should_cancel_scrub(scan->leader->sctx)) {
		const bool pause = atomic_read(&fs_info->scrub_pause_req);
		/* What a commit frees in a writeable block group can be used again afterwards. */
		const u32 keep = pause && scan->leader->bg_writeable ? 0 : SCRUB_BATCHES - 1;
		struct scrub_batch *batch = &scan->batches[started % SCRUB_BATCHES];

		while (started - retired > keep)
			scrub_retire_batch(&scan->batches[retired++ % SCRUB_BATCHES]);
		if (pause) {
			scrub_pause_on(fs_info);
			scrub_pause_off(fs_info);
		}
		if (!scrub_start_batch(scan, batch))
			break;
		started++;
		if (batch->error)
			break;
	}
	while (retired != started)
		scrub_retire_batch(&scan->batches[retired++ % SCRUB_BATCHES]);
}

/* Is a device of the block group scrubbed at an address from @from on and before @to? */
static bool scrub_others_are_at(const struct btrfs_block_group *bg,
				const struct btrfs_chunk_map *map, u64 from, u64 to)
{
	bool ret = false;

	/* A device is freed a grace period after its block groups are removed or it is replaced. */
	rcu_read_lock();
	for (int i = 0; i < map->num_stripes; i++) {
		u64 start;

		if (test_bit(BLOCK_GROUP_FLAG_REMOVED, &bg->runtime_flags))
			break;
		start = READ_ONCE(READ_ONCE(map->stripes[i].dev)->scrub_bg_start);
		ret |= start >= from && start < to;
	}
	rcu_read_unlock();
	return ret;
}

/* Is the member to lead now, or finished, so that it waits no longer? */
static bool scrub_may_go_on(struct scrub_scan *scan, struct scrub_member *member, bool *lead)
{
	const u32 end = scrub_scan_end(scan);
	const u64 start = scan->bg->start;
	bool ret;

	/* A file system that is frozen for a moment is no reason any more afterwards. */
	if (!member->cancelled)
		member->cancelled = should_cancel_scrub(member->sctx);
	spin_lock(&scan->bg->lock);
	if (member->cancelled)
		member->next = U32_MAX;
	/* Others that have come to the block group are about to join, unless they wait, too. */
	*lead = member->next < end && !scan->leader &&
		(!scrub_others_are_at(scan->bg, scan->map, start, start + 1) ||
		 scrub_others_are_at(scan->bg, scan->map, 1, start));
	if (*lead)
		scan->leader = member;
	ret = *lead || (member->next >= end && !member->in_flight);
	spin_unlock(&scan->bg->lock);
	return ret;
}

/* Wait until the member is to lead, or until it is finished: then return false. */
static bool scrub_wait_for_lead(struct scrub_scan *scan, struct scrub_member *member)
{
	struct btrfs_fs_info *fs_info = scan->bg->fs_info;
	bool lead;

	scrub_pause_on(fs_info);
	wait_event_idle(fs_info->scrub_pause_wait, scrub_may_go_on(scan, member, &lead));
	scrub_pause_off(fs_info);
	return lead;
}

int scrub_raid56_scan(struct scrub_member *member, struct btrfs_block_group *bg,
		      struct btrfs_chunk_map *map, int stripe_index)
{
	struct scrub_scan *scan;

	if (!IS_ALIGNED(btrfs_calc_stripe_length(map), BTRFS_STRIPE_LEN))
		return 1;
	scan = scrub_join_scan(member, bg, map, stripe_index);
	/* It is not about to join any more. */
	WRITE_ONCE(member->dev->scrub_bg_start, bg->start + 1);
	if (!scan)
		return 1;

	while (scrub_wait_for_lead(scan, member)) {
		const int ret = scrub_init_batches(scan);

		if (!ret)
			scrub_lead_scan(scan);
		spin_lock(&bg->lock);
		if (ret) {
			member->error = 1;
			member->next = U32_MAX;
		}
		scan->leader = NULL;
		spin_unlock(&bg->lock);
		wake_up_all(&bg->fs_info->scrub_pause_wait);
	}
	scrub_leave_scan(scan, stripe_index);
	return member->error ? member->error : member->cancelled;
}

/*
 * The device has come to the block group.  Where disks have to seek, wait for those that
 * come later: each would read all of it again, at another place.  That may take long, so
 * the block group must not be read-only yet.
 */
void scrub_wait_for_others(struct scrub_ctx *sctx, struct btrfs_device *dev,
			   struct btrfs_block_group *bg)
{
	struct btrfs_fs_info *fs_info = bg->fs_info;
	struct btrfs_chunk_map *map;

	WRITE_ONCE(dev->scrub_bg_start, bg->start);
	if (!(bg->flags & BTRFS_BLOCK_GROUP_RAID56_MASK) || !fs_info->fs_devices->rotating)
		return;
	map = btrfs_find_chunk_map(fs_info, bg->start, bg->length);
	if (!map)
		return;
	scrub_pause_on(fs_info);
	/* A scrub that has workers, but does not run yet, is about to begin. */
	wait_event_interruptible(fs_info->scrub_pause_wait, should_cancel_scrub(sctx) ||
				 (refcount_read(&fs_info->scrub_workers_refcnt) <=
				  atomic_read(&fs_info->scrubs_running) &&
				  !scrub_others_are_at(bg, map, 1, bg->start)));
	scrub_pause_off(fs_info);
	btrfs_free_chunk_map(map);
}
