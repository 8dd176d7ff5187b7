// SPDX-License-Identifier: GPL-2.0
/*
 * Scrub of a RAID56 block group, in one scan for several devices.
 *
 * Full stripes of a RAID56 block group are read once for all devices that are
 * being scrubbed, by the task of one of them, while the tasks of the others
 * wait.  Each for itself would read all devices for the parity on its own, at
 * other places than the rest.
 *
 * Owns the scan: who takes part, who leads it, and the full stripes in flight.  What is
 * done to a full stripe is in scrub-full-stripe.c, which full stripe is next in scrub-scan.c.
 */

#include <linux/blkdev.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "block-group.h"
#include "ctree.h"
#include "fs.h"
#include "messages.h"
#include "raid56.h"
#include "scrub-limit.h"
#include "scrub-scan.h"
#include "scrub-raid56.h"
#include "volumes.h"
#include "compat.h"

/*
 * How many full stripes are in flight, 2MiB of each device, and how
 * many are submitted under one plug.
 */
#define SCRUB_FULL_STRIPES			32
#define SCRUB_STRIPES_PER_PLUG		8

static void scrub_free_full_stripes(struct scrub_scan *scan)
{
	for (int i = 0; scan->full_stripes && i < SCRUB_FULL_STRIPES; i++)
		scrub_free_full_stripe(scan, &scan->full_stripes[i]);
	kfree(scan->full_stripes);
	scan->full_stripes = NULL;
	kfree(scan->scratch);
	scan->scratch = NULL;
	kfree(scan->pointers);
	scan->pointers = NULL;
}

static void scrub_warn_missing(const struct scrub_scan *scan)
{
	for (int i = 0; i < scan->map->num_stripes; i++) {
		if (!scan->map->stripes[i].dev->bdev)
			btrfs_warn(scan->bg->fs_info,
				   "scrub: block group %llu: device %llu is missing, parity of its data cannot be checked",
				   scan->bg->start, scan->map->stripes[i].dev->devid);
	}
}

/* The first leader's work; the full stripes live as long as the scan. */
static int scrub_alloc_full_stripes(struct scrub_scan *scan)
{
	int ret = 0;

	if (scan->full_stripes)
		return 0;

	scan->scratch = kmalloc(2 * PAGE_SIZE, GFP_KERNEL);
	scan->full_stripes = kcalloc(SCRUB_FULL_STRIPES, sizeof(*scan->full_stripes), GFP_KERNEL);
	scan->pointers = kcalloc(scan->map->num_stripes, sizeof(void *), GFP_KERNEL);
	if (!scan->scratch || !scan->full_stripes || !scan->pointers)
		ret = -ENOMEM;
	for (int i = 0; !ret && i < SCRUB_FULL_STRIPES; i++)
		ret = scrub_alloc_full_stripe(scan, &scan->full_stripes[i]);
	if (ret)
		scrub_free_full_stripes(scan);
	else
		scrub_warn_missing(scan);
	return ret;
}

static void scrub_free_scan(struct scrub_scan *scan)
{
	if (!scan)
		return;
	if (scan->full_stripes) {
		/* Workers that have said they are done may still be about to return. */
		flush_workqueue(scan->bg->fs_info->scrub_workers);
		scrub_free_full_stripes(scan);
	}
	btrfs_free_chunk_map(scan->map);
	kfree(scan->unthrottled);
	kfree(scan->sctxs);
	kfree(scan);
}

static struct scrub_scan *scrub_alloc_scan(struct btrfs_block_group *bg,
					   struct btrfs_chunk_map *map)
{
	const int nr = map->num_stripes;
	struct scrub_scan *scan;

	scan = kzalloc(struct_size(scan, members.member, nr), GFP_KERNEL);
	if (!scan)
		return NULL;
	scan->bg = bg;
	refcount_inc(&map->refs);
	scan->map = map;
	init_waitqueue_head(&scan->wait);
	btrfs_scrub_members_init(&scan->members, nr,
				 btrfs_calc_stripe_length(map) >> BTRFS_STRIPE_LEN_SHIFT);
	scan->sctxs = kcalloc(nr, sizeof(*scan->sctxs), GFP_KERNEL);
	scan->unthrottled = kcalloc(nr, sizeof(*scan->unthrottled), GFP_KERNEL);
	if (!scan->sctxs || !scan->unthrottled) {
		scrub_free_scan(scan);
		return NULL;
	}
	return scan;
}

/* Join the scan over the block group, or begin one.  NULL if there is no memory. */
static struct scrub_scan *scrub_join_scan(struct scrub_ctx *sctx,
					  struct btrfs_block_group *bg,
					  struct btrfs_chunk_map *map, int member)
{
	struct scrub_scan *new = scrub_alloc_scan(bg, map);
	struct scrub_scan *scan;

	spin_lock(&bg->lock);
	if (!bg->scrub_scan)
		swap(bg->scrub_scan, new);
	scan = bg->scrub_scan;
	if (scan) {
		scan->sctxs[member] = sctx;
		btrfs_scrub_join(&scan->members, member);
	}
	spin_unlock(&bg->lock);
	scrub_free_scan(new);
	if (scan)
		wake_up_all(&scan->wait);
	return scan;
}

/* The member is finished.  Returns what went wrong for it. */
static int scrub_leave_scan(struct scrub_scan *scan, int member)
{
	struct btrfs_block_group *bg = scan->bg;
	const int ret = scan->members.member[member].error;
	bool last;

	/* What the last plug left over counts, too. */
	btrfs_scrub_throttle(scrub_ctx_bucket(scan->sctxs[member]), scan->map->stripes[member].dev,
			     btrfs_stripe_nr_to_offset(scan->unthrottled[member]));

	spin_lock(&bg->lock);
	scan->sctxs[member] = NULL;
	WRITE_ONCE(scan->unthrottled[member], 0);
	last = btrfs_scrub_leave(&scan->members, member);
	if (last)
		bg->scrub_scan = NULL;
	spin_unlock(&bg->lock);
	if (last)
		scrub_free_scan(scan);
	return ret;
}

/* Take the next full stripe for those who want it. */
static bool scrub_take_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full)
{
	struct btrfs_scrub_members *members = &scan->members;
	bool taken;

	spin_lock(&scan->bg->lock);
	/* Block group removed?  Then nobody needs the rest. */
	for (int i = 0; i < members->nr_members &&
	     test_bit(BLOCK_GROUP_FLAG_REMOVED, &scan->bg->runtime_flags); i++)
		btrfs_scrub_quit(members, i, 0);
	taken = btrfs_scrub_take_next(members, &full->nr, full->wanted);
	spin_unlock(&scan->bg->lock);
	return taken;
}

/* Nothing is read of a full stripe that cannot be looked up, and who wants it ends there. */
static void scrub_fail_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full)
{
	scrub_clear_full_stripe(scan, full);
	spin_lock(&scan->bg->lock);
	for (int i = 0; i < scan->map->num_stripes; i++) {
		if (full->wanted[i])
			btrfs_scrub_quit(&scan->members, i, 0);
	}
	spin_unlock(&scan->bg->lock);
}

static struct scrub_full_stripe *scrub_full_stripe_nr(struct scrub_scan *scan, u32 nr)
{
	return &scan->full_stripes[nr % SCRUB_FULL_STRIPES];
}

/* Fill some full stripes, returns how many. */
static int scrub_fill_full_stripes(struct scrub_ctx *sctx, struct scrub_scan *scan, u32 first)
{
	for (int i = 0; i < SCRUB_STRIPES_PER_PLUG; i++) {
		struct scrub_full_stripe *full = scrub_full_stripe_nr(scan, first + i);

		if (!scrub_take_full_stripe(scan, full))
			return i;
		/* Someone is behind the others, and the paths only go forward. */
		if (full->nr <= scan->last_full_stripe)
			scrub_ctx_release_paths(sctx);
		scan->last_full_stripe = full->nr;
		full->error = scrub_fill_full_stripe(sctx, scan, full);
		if (full->error)
			scrub_fail_full_stripe(scan, full);
		cond_resched();
	}
	return SCRUB_STRIPES_PER_PLUG;
}

static void scrub_submit_full_stripes(struct scrub_ctx *sctx, struct scrub_scan *scan,
				      u32 first, int nr)
{
	struct blk_plug plug;

	/* As much at a time as other profiles, whose rates this keeps to. */
	for (int i = 0; i < scan->map->num_stripes; i++) {
		/* Who is about to leave has nothing in these full stripes, so less than that. */
		if (READ_ONCE(scan->unthrottled[i]) < SCRUB_STRIPES_PER_PLUG)
			continue;
		btrfs_scrub_throttle(scrub_ctx_bucket(scan->sctxs[i]), scan->map->stripes[i].dev,
				     btrfs_stripe_nr_to_offset(scan->unthrottled[i]));
		scan->unthrottled[i] = 0;
	}

	blk_start_plug(&plug);
	for (int i = 0; i < nr; i++)
		scrub_submit_full_stripe(sctx, scan, scrub_full_stripe_nr(scan, first + i));
	blk_finish_plug(&plug);
}

/* What the full stripe was to one of the devices. */
static void scrub_give_back_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full,
					int device, int ret)
{
	struct btrfs_scrub_members *members = &scan->members;
	bool finished;

	if (!members->member[device].error && !full->error)
		scrub_ctx_done(scan->sctxs[device], scan->map->stripes[device].physical +
			       btrfs_stripe_nr_to_offset(full->nr + 1));

	spin_lock(&scan->bg->lock);
	btrfs_scrub_give_back(members, device);
	if (ret)
		btrfs_scrub_quit(members, device, ret);
	finished = btrfs_scrub_finished(members, device);
	spin_unlock(&scan->bg->lock);
	if (finished)
		wake_up_all(&scan->wait);
}

/* Wait for a full stripe, and count what was found. */
static void scrub_retire_full_stripe(struct scrub_scan *scan, struct scrub_full_stripe *full)
{
	const int nr_data = nr_data_stripes(scan->map);

	scrub_wait_full_stripe(scan, full);
	for (int i = 0; i < scan->map->num_stripes; i++) {
		const int device = scrub_column_device(scan, full, i);
		int ret = full->error;

		if (!full->wanted[device])
			continue;
		if (scan->members.member[device].error) {
			/* It went wrong before, so this is not for it any more. */
		} else if (i >= nr_data) {
			if (full->check_parity)
				ret = scrub_check_parity(scan, full, i);
		} else {
			scrub_stripe_report(scrub_stripe_nr(full->stripes, i));
		}
		scrub_give_back_full_stripe(scan, full, device, ret);
	}
}

/*
 * Is a device of the block group still at one of a lower address?  Where disks
 * have to seek it is given the time to come here, as two scans would take
 * twice as long, or longer if they go on at two places at once.
 */
static bool scrub_others_are_behind(struct scrub_scan *scan)
{
	struct btrfs_fs_info *fs_info = scan->bg->fs_info;
	bool ret = false;

	if (!fs_info->fs_devices->rotating)
		return false;

	mutex_lock(&fs_info->scrub_lock);
	/* A replace swaps the device of a stripe. */
	rcu_read_lock();
	/* Who removes a device takes scrub_lock between setting this and freeing it. */
	for (int i = 0; i < scan->map->num_stripes && !ret &&
	     !test_bit(BLOCK_GROUP_FLAG_REMOVED, &scan->bg->runtime_flags); i++) {
		const struct btrfs_device *dev = READ_ONCE(scan->map->stripes[i].dev);
		const struct scrub_ctx *sctx = dev->scrub_ctx;

		ret = sctx && scrub_ctx_is_behind(sctx, scan->bg->start);
	}
	rcu_read_unlock();
	mutex_unlock(&fs_info->scrub_lock);
	return ret;
}

static int scrub_nr_present(struct scrub_scan *scan)
{
	int ret;

	spin_lock(&scan->bg->lock);
	ret = scan->members.nr_present;
	spin_unlock(&scan->bg->lock);
	return ret;
}

/* Until one more has come, but look now and then if one has gone. */
static void scrub_wait_for_others(struct scrub_scan *scan)
{
	const int nr_present = scrub_nr_present(scan);

	wait_event_timeout(scan->wait, scrub_nr_present(scan) != nr_present,
			   max(HZ / 100, 1));
}

/* Read full stripes, until the leader has had all or is cancelled. */
static void scrub_lead_scan(struct scrub_ctx *sctx, struct scrub_scan *scan)
{
	struct btrfs_fs_info *fs_info = scan->bg->fs_info;
	u32 filled = 0;
	u32 retired = 0;
	int nr;

	while (!should_cancel_scrub(sctx)) {
		const bool wait = scrub_others_are_behind(scan);
		const bool pause = wait || atomic_read(&fs_info->scrub_pause_req);
		/* What a commit frees in a writeable block group can be used again afterwards. */
		const bool drain = wait || (pause && scrub_ctx_bg_writeable(sctx));
		const u32 needed = drain ? SCRUB_FULL_STRIPES : SCRUB_STRIPES_PER_PLUG;

		while (filled - retired > SCRUB_FULL_STRIPES - needed)
			scrub_retire_full_stripe(scan, scrub_full_stripe_nr(scan, retired++));
		if (pause) {
			scrub_ctx_release_paths(sctx);
			scrub_pause_on(fs_info);
			if (wait)
				scrub_wait_for_others(scan);
			scrub_pause_off(fs_info);
			continue;
		}

		nr = scrub_fill_full_stripes(sctx, scan, filled);
		if (!nr)
			break;
		scrub_submit_full_stripes(sctx, scan, filled, nr);
		filled += nr;
	}
	while (retired != filled)
		scrub_retire_full_stripe(scan, scrub_full_stripe_nr(scan, retired++));

	scrub_ctx_release_paths(sctx);
}

static bool scrub_may_go_on(struct scrub_scan *scan, int member)
{
	bool ret;

	spin_lock(&scan->bg->lock);
	ret = btrfs_scrub_finished(&scan->members, member) ||
	      btrfs_scrub_can_lead(&scan->members, member);
	spin_unlock(&scan->bg->lock);
	return ret;
}

/*
 * Wait until there is nothing left to do for the member, then return false, or
 * until it is to lead.  @cancelled keeps why it quit: a file system that is frozen
 * for a moment would be no reason any more when the last full stripe is back.
 */
static bool scrub_wait_for_lead(struct scrub_ctx *sctx, struct scrub_scan *scan, int member,
				int *cancelled)
{
	struct btrfs_fs_info *fs_info = scan->bg->fs_info;

	while (true) {
		bool lead;
		bool finished;

		if (!*cancelled)
			*cancelled = should_cancel_scrub(sctx);
		spin_lock(&scan->bg->lock);
		if (*cancelled)
			btrfs_scrub_quit(&scan->members, member, 0);
		finished = btrfs_scrub_finished(&scan->members, member);
		lead = btrfs_scrub_can_lead(&scan->members, member);
		if (lead)
			scan->members.leader = member;
		spin_unlock(&scan->bg->lock);
		if (finished || lead)
			return lead;

		/* Look now and then if this one has been cancelled. */
		scrub_pause_on(fs_info);
		wait_event_timeout(scan->wait, scrub_may_go_on(scan, member), HZ / 10);
		scrub_pause_off(fs_info);
	}
}

/*
 * Have one device's part of a RAID56 block group scrubbed.  Returns 1 if it has
 * to be done in another way, as there is no memory for this one.
 */
int scrub_raid56_scan(struct scrub_ctx *sctx, struct btrfs_block_group *bg,
		      struct btrfs_chunk_map *map, int member)
{
	struct scrub_scan *scan;
	int cancelled = 0;
	int ret;

	if (!IS_ALIGNED(btrfs_calc_stripe_length(map), BTRFS_STRIPE_LEN))
		return 1;
	scan = scrub_join_scan(sctx, bg, map, member);
	if (!scan)
		return 1;

	while (scrub_wait_for_lead(sctx, scan, member, &cancelled)) {
		ret = scrub_alloc_full_stripes(scan);
		if (!ret)
			scrub_lead_scan(sctx, scan);

		spin_lock(&bg->lock);
		if (ret)
			btrfs_scrub_quit(&scan->members, member, 1);
		scan->members.leader = -1;
		spin_unlock(&bg->lock);
		wake_up_all(&scan->wait);
	}
	ret = scrub_leave_scan(scan, member);
	return ret ? ret : cancelled;
}
