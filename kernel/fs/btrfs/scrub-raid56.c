// SPDX-License-Identifier: GPL-2.0
/*
 * Scrub of a RAID56 block group, in one scan for several devices.
 *
 * Each device scrubbed on its own would read all devices to check its parity.  So the task
 * of one device, the leader, reads full stripes for all devices that are being scrubbed,
 * parity together with data, while the tasks of the others wait.  A device that comes
 * late is scrubbed on its own.
 *
 * Owns the scan: its members, the leader, and the full stripes in flight.
 */

#include <linux/blkdev.h>
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

/* Full stripes in flight at most: 2MiB of each device. */
#define SCRUB_RING		32

struct scrub_full_stripe {
	struct scrub_scan *scan;
	u32 nr;
	/* First data, then parity, in the context of the leader. */
	struct scrub_stripe *stripes;
	/* It has an extent, and parity of it is to be checked. */
	bool check_parity;
	/* Reads of parity; each data stripe has a state of its own. */
	struct completion parity_read;
	bool parity_error;
	/* It could not be looked up, and is not read. */
	int error;
};

struct scrub_scan {
	struct btrfs_block_group *bg;
	struct btrfs_chunk_map *map;
	/* What parity is computed from, a pointer for each stripe, and where it is put. */
	void **columns;
	u32 ring_size;
	struct scrub_full_stripe ring[SCRUB_RING];

	/* Protected by scrub_lock; the rest by bg->lock. */
	int nr_members;
	/* Full stripes, counted by the leader.  A scan that has started takes no members. */
	u32 started;
	u32 finished;
	struct scrub_member *leader;
	/* For each device of the chunk; the end of one that does not take part is 0. */
	struct scrub_member members[];
};

/* Which device has a stripe of the full stripe. */
static int scrub_column_device(const struct scrub_full_stripe *full, int column)
{
	return (full->nr + column) % full->scan->map->num_stripes;
}

static u64 scrub_column_physical(const struct scrub_full_stripe *full, int column)
{
	return full->scan->map->stripes[scrub_column_device(full, column)].physical +
	       btrfs_stripe_nr_to_offset(full->nr);
}

static u64 scrub_column_logical(const struct scrub_full_stripe *full, int column)
{
	return full->scan->bg->start +
	       btrfs_stripe_nr_to_offset(full->nr * nr_data_stripes(full->scan->map) + column);
}

/* For whom the stripe is read, or NULL.  It is the same until the full stripe is finished. */
static struct scrub_member *scrub_column_member(const struct scrub_full_stripe *full, int column)
{
	struct scrub_member *member = &full->scan->members[scrub_column_device(full, column)];

	return full->nr < READ_ONCE(member->end) ? member : NULL;
}

/* The same for parity.  A scrub that repairs nothing has no use for it. */
static struct scrub_member *scrub_parity_member(const struct scrub_full_stripe *full, int column)
{
	struct scrub_member *member = scrub_column_member(full, column);

	return member && !member->readonly ? member : NULL;
}

static struct scrub_scan *scrub_alloc_scan(struct btrfs_block_group *bg,
					   struct btrfs_chunk_map *map)
{
	const int nr = map->num_stripes;
	struct scrub_scan *scan;

	scan = kzalloc(struct_size(scan, members, nr) + nr * sizeof(void *), GFP_KERNEL);
	if (!scan)
		return NULL;
	scan->bg = bg;
	scan->map = map;
	scan->columns = (void **)&scan->members[nr];
	/* The last stripe is for parity that is computed. */
	scan->ring_size = min(SCRUB_RING, (SCRUB_CTX_STRIPES - 1) / nr);
	for (int i = 0; i < nr; i++) {
		if (!map->stripes[i].dev->bdev)
			btrfs_warn_rl(bg->fs_info,
				      "scrub: block group %llu: device %llu is missing, parity of its data cannot be checked",
				      bg->start, map->stripes[i].dev->devid);
	}
	return scan;
}

/* How many full stripes to read: none if the block group is gone. */
static u32 scrub_scan_end(const struct scrub_scan *scan)
{
	return test_bit(BLOCK_GROUP_FLAG_REMOVED, &scan->bg->runtime_flags) ? 0 :
	       btrfs_calc_stripe_length(scan->map) >> BTRFS_STRIPE_LEN_SHIFT;
}

/* Clear the stripes, and look up what those of data have to contain. */
static int scrub_look_up(struct scrub_full_stripe *full)
{
	const struct btrfs_chunk_map *map = full->scan->map;
	const int nr_data = nr_data_stripes(map);
	struct scrub_ctx *sctx = full->scan->leader->sctx;
	struct scrub_member *parity = NULL;

	for (int i = 0; i < map->num_stripes && !parity; i++) {
		/* Parity of data on a missing device cannot be checked. */
		if (i < nr_data && !map->stripes[scrub_column_device(full, i)].dev->bdev)
			break;
		parity = i < nr_data ? NULL : scrub_parity_member(full, i);
	}

	full->check_parity = false;
	for (int i = 0; i < map->num_stripes; i++) {
		const int device = scrub_column_device(full, i);
		struct scrub_member *owner = i >= nr_data ? NULL :
					     scrub_column_member(full, i) ?: parity;
		int ret;

		ret = scrub_stripe_fill(sctx, full->stripes, i, owner ? owner->sctx : NULL,
					full->scan->bg, map->stripes[device].dev,
					scrub_column_physical(full, i),
					scrub_column_logical(full, i));
		if (ret < 0)
			return ret;
		if (!ret && parity)
			full->check_parity = true;
	}
	return 0;
}

static void scrub_parity_read_endio(struct bio *bio)
{
	struct scrub_full_stripe *full = bio->bi_private;

	full->parity_error = bio->bi_status != BLK_STS_OK;
	complete(&full->parity_read);
	bio_put(bio);
}

static void scrub_submit_full_stripe(struct scrub_full_stripe *full)
{
	const int nr_data = nr_data_stripes(full->scan->map);
	struct scrub_member *member;
	struct bio *bio = NULL;

	/* Parity is of all data stripes, also of those without an extent. */
	for (int i = 0; i < nr_data; i++) {
		member = scrub_column_member(full, i);
		if (scrub_stripe_read(full->scan->leader->sctx, full->stripes, i,
				      full->check_parity) && member)
			btrfs_scrub_throttle(member->bucket, member->dev, BTRFS_STRIPE_LEN);
	}
	if (!full->check_parity)
		return;

	for (int i = nr_data; i < full->scan->map->num_stripes; i++) {
		member = scrub_parity_member(full, i);
		if (!member)
			continue;
		bio = blk_next_bio(bio, member->dev->bdev, BTRFS_STRIPE_LEN >> PAGE_SHIFT,
				   REQ_OP_READ, GFP_NOFS);
		bio->bi_iter.bi_sector = scrub_column_physical(full, i) >> SECTOR_SHIFT;
		for (u32 offset = 0; offset < BTRFS_STRIPE_LEN; offset += PAGE_SIZE) {
			void *data = scrub_stripe_data(full->stripes, i, offset);
			struct page *page = is_vmalloc_addr(data) ? vmalloc_to_page(data) :
								    virt_to_page(data);

			__bio_add_page(bio, page, PAGE_SIZE, 0);
		}
		btrfs_scrub_throttle(member->bucket, member->dev, BTRFS_STRIPE_LEN);
	}
	init_completion(&full->parity_read);
	bio->bi_private = full;
	bio->bi_end_io = scrub_parity_read_endio;
	submit_bio(bio);
}

/* Take, look up and submit a full stripe.  Returns false if there are no more. */
static bool scrub_start_full_stripe(struct scrub_scan *scan)
{
	struct scrub_full_stripe *full = &scan->ring[scan->started % scan->ring_size];

	if (scan->leader->error || scan->started >= scrub_scan_end(scan))
		return false;
	full->scan = scan;
	full->nr = scan->started;
	full->stripes = scrub_ctx_stripes(scan->leader->sctx, (full->nr % scan->ring_size) *
							      scan->map->num_stripes);
	spin_lock(&scan->bg->lock);
	scan->started++;
	spin_unlock(&scan->bg->lock);

	full->error = scrub_look_up(full);
	if (!full->error)
		scrub_submit_full_stripe(full);
	return true;
}

/* Those of @sectors in which this parity is other than what data makes it. */
static unsigned long scrub_parity_differs(struct scrub_full_stripe *full, int column,
					  unsigned long sectors)
{
	struct scrub_scan *scan = full->scan;
	struct scrub_stripe *spare = scrub_ctx_stripes(scan->leader->sctx, SCRUB_CTX_STRIPES - 1);
	const u32 sectorsize = scan->bg->fs_info->sectorsize;
	const int nr = scan->map->num_stripes, nr_data = nr_data_stripes(scan->map);
	unsigned long differs = 0;

	for (u32 offset = 0; offset < BTRFS_STRIPE_LEN; offset += SZ_4K) {
		void *parity = scrub_stripe_data(full->stripes, column, offset);

		if (!test_bit(offset / sectorsize, &sectors))
			continue;
		for (int i = 0; i < nr; i++)
			scan->columns[i] = i < nr_data ?
					   scrub_stripe_data(full->stripes, i, offset) :
					   scrub_stripe_data(spare, 0, (i - nr_data) * SZ_4K);
		raid56_generate_parity(scan->columns, nr_data, nr, SZ_4K);
		if (is_vmalloc_addr(parity))
			invalidate_kernel_vmap_range(parity, SZ_4K);
		if (memcmp(scan->columns[column], parity, SZ_4K))
			__set_bit(offset / sectorsize, &differs);
	}
	return differs;
}

/*
 * Check one parity stripe with what has been read.  Where that is wrong or could not be read,
 * it is read again, with the full stripe locked, before it is written.  So is data that has
 * no checksum.
 */
static int scrub_check_parity(struct scrub_full_stripe *full, int column)
{
	struct scrub_scan *scan = full->scan;
	struct scrub_ctx *sctx = scan->leader->sctx;
	struct btrfs_device *dev = scan->map->stripes[scrub_column_device(full, column)].dev;
	const u64 logical = scrub_column_logical(full, 0);
	unsigned long sectors = 0, not_on_disk = 0;

	/* Parity that may be needed to repair data is not to be touched. */
	if (scrub_unrepaired(sctx, scan->map, logical, full->stripes, &sectors, &not_on_disk))
		return 0;
	/* Parity of blocks whose data is not on the disk cannot be checked. */
	sectors &= ~not_on_disk;
	if (!full->parity_error)
		sectors = scrub_parity_differs(full, column, sectors);
	if (!sectors)
		return 0;
	return scrub_raid56_cached_parity(sctx, dev, scan->map, logical, &sectors,
					  full->stripes);
}

/* Wait for the oldest full stripe, and count for each member what was found. */
static void scrub_finish_full_stripe(struct scrub_scan *scan)
{
	struct scrub_full_stripe *full = &scan->ring[scan->finished % scan->ring_size];
	const int nr_data = nr_data_stripes(scan->map);

	for (int i = 0; !full->error && i < nr_data; i++)
		scrub_stripe_wait(full->stripes, i);
	if (!full->error && full->check_parity)
		wait_for_completion_io(&full->parity_read);

	for (int i = 0; i < scan->map->num_stripes; i++) {
		struct scrub_member *member = scrub_column_member(full, i);

		/* After an error it gets nothing any more. */
		if (!member || member->error)
			continue;
		member->error = full->error;
		if (!member->error && i >= nr_data && full->check_parity && !member->readonly)
			member->error = scrub_check_parity(full, i);
		if (!member->error)
			scrub_stripe_done(member->sctx, full->stripes, i,
					  scrub_column_physical(full, i) + BTRFS_STRIPE_LEN);
	}
	/* A member may leave now, and its context with it. */
	spin_lock(&scan->bg->lock);
	scan->finished++;
	spin_unlock(&scan->bg->lock);
}

/* Read full stripes, until the leader has had all or is cancelled. */
static void scrub_lead_scan(struct scrub_scan *scan)
{
	struct scrub_member *leader = scan->leader;
	struct btrfs_fs_info *fs_info = scan->bg->fs_info;

	while (!should_cancel_scrub(leader->sctx)) {
		const bool pause = atomic_read(&fs_info->scrub_pause_req);
		/* What a commit frees can be trimmed or used again afterwards. */
		const u32 keep = pause ? 0 : scan->ring_size - 1;

		while (scan->started - scan->finished > keep)
			scrub_finish_full_stripe(scan);
		/* The others see if they are finished or cancelled. */
		if (scan->started % SCRUB_RING == 0)
			wake_up_all(&fs_info->scrub_pause_wait);
		if (pause) {
			scrub_pause_on(fs_info);
			scrub_pause_off(fs_info);
		}
		if (!scrub_start_full_stripe(scan))
			break;
		cond_resched();
	}
	while (scan->finished != scan->started)
		scrub_finish_full_stripe(scan);

	spin_lock(&scan->bg->lock);
	scan->leader = NULL;
	spin_unlock(&scan->bg->lock);
	wake_up_all(&fs_info->scrub_pause_wait);
}

/* Is a device of the block group scrubbed at an address from @from on and before @to? */
static bool scrub_others_are_at(const struct btrfs_block_group *bg,
				const struct btrfs_chunk_map *map, u64 from, u64 to)
{
	/* A device is freed a grace period after its block groups are removed or it is replaced. */
	guard(rcu)();
	for (int i = 0; i < map->num_stripes; i++) {
		u64 start;

		if (test_bit(BLOCK_GROUP_FLAG_REMOVED, &bg->runtime_flags))
			break;
		start = READ_ONCE(READ_ONCE(map->stripes[i].dev)->scrub_bg_start);
		if (start >= from && start < to)
			return true;
	}
	return false;
}

/* Is the member to lead now, or finished, so that it waits no longer? */
static bool scrub_may_go_on(struct scrub_scan *scan, struct scrub_member *member)
{
	const u64 start = scan->bg->start;

	guard(spinlock)(&scan->bg->lock);
	/* It stays so, also if it was for a freeze of a moment. */
	if (member->end > scan->started &&
	    (member->error || should_cancel_scrub(member->sctx) ||
	     scan->started >= scrub_scan_end(scan)))
		WRITE_ONCE(member->end, scan->started);
	/* Others that have come to the block group are about to join, unless they wait, too. */
	if (member->end > scan->started && !scan->leader &&
	    (!scrub_others_are_at(scan->bg, scan->map, start, start + 1) ||
	     scrub_others_are_at(scan->bg, scan->map, 1, start)))
		scan->leader = member;
	return scan->leader == member || member->end <= scan->finished;
}

/* Returns NULL if there is no memory, or others have begun. */
static struct scrub_scan *scrub_join_scan(struct btrfs_block_group *bg,
					  struct btrfs_chunk_map *map,
					  const struct scrub_member *member, int stripe_index)
{
	guard(mutex)(&bg->fs_info->scrub_lock);
	if (!bg->scrub_scan)
		bg->scrub_scan = scrub_alloc_scan(bg, map);
	guard(spinlock)(&bg->lock);
	if (!bg->scrub_scan || bg->scrub_scan->started)
		return NULL;
	bg->scrub_scan->members[stripe_index] = *member;
	bg->scrub_scan->nr_members++;
	return bg->scrub_scan;
}

int scrub_raid56_scan(struct scrub_member *member, struct btrfs_block_group *bg,
		      struct btrfs_chunk_map *map, int stripe_index)
{
	struct btrfs_fs_info *fs_info = bg->fs_info;
	struct scrub_scan *scan = scrub_join_scan(bg, map, member, stripe_index);
	int ret;

	/* It is not about to join any more. */
	WRITE_ONCE(member->dev->scrub_bg_start, bg->start + 1);
	wake_up_all(&fs_info->scrub_pause_wait);
	if (!scan)
		return 1;

	member = &scan->members[stripe_index];
	for (;;) {
		scrub_pause_on(fs_info);
		wait_event_idle(fs_info->scrub_pause_wait, scrub_may_go_on(scan, member));
		scrub_pause_off(fs_info);
		if (scan->leader != member)
			break;
		scrub_lead_scan(scan);
	}
	ret = member->error;
	if (!ret && member->end < scrub_scan_end(scan))
		ret = should_cancel_scrub(member->sctx) ?: -EINTR;

	mutex_lock(&fs_info->scrub_lock);
	if (!--scan->nr_members) {
		bg->scrub_scan = NULL;
		kfree(scan);
	}
	mutex_unlock(&fs_info->scrub_lock);
	return ret;
}

/*
 * The device has come to the block group.  Wait for those that come later: each would read
 * all of it again.  That may take long, so the block group must not be read-only yet.
 * Returns why the scrub has to end, or 0.
 */
int scrub_wait_for_others(struct scrub_ctx *sctx, struct btrfs_device *dev,
			  struct btrfs_block_group *bg)
{
	struct btrfs_fs_info *fs_info = bg->fs_info;
	struct btrfs_chunk_map *map;

	WRITE_ONCE(dev->scrub_bg_start, bg->start);
	if (!(bg->flags & BTRFS_BLOCK_GROUP_RAID56_MASK))
		return 0;
	map = btrfs_find_chunk_map(fs_info, bg->start, bg->length);
	if (!map)
		return 0;
	scrub_pause_on(fs_info);
	/* A scrub that has workers, but does not run yet, is about to begin. */
	wait_event_interruptible(fs_info->scrub_pause_wait, should_cancel_scrub(sctx) ||
				 (refcount_read(&fs_info->scrub_workers_refcnt) <=
				  atomic_read(&fs_info->scrubs_running) &&
				  !scrub_others_are_at(bg, map, 1, bg->start)));
	scrub_pause_off(fs_info);
	btrfs_free_chunk_map(map);
	/* Nothing that a freeze would wait for may begin now. */
	return should_cancel_scrub(sctx);
}
