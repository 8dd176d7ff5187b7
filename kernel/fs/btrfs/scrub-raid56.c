// SPDX-License-Identifier: GPL-2.0
/*
 * Scrub of a RAID56 block group, in one pass for several devices.
 *
 * Full stripes of a RAID56 block group are read once for all devices that are
 * being scrubbed, by the task of one of them, while the tasks of the others
 * wait.  Each for itself would read all devices for the parity on its own, at
 * other places than the rest.
 *
 * Owns the pass: who takes part, who leads it, and the rows in flight.  What is
 * done to a row is in scrub-raid56-row.c, which row is next in scrub-pass.c.
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
#include "scrub-pass.h"
#include "scrub-raid56.h"
#include "volumes.h"
#include "compat.h"

/*
 * How many full stripes are in flight, 2MiB of each device, and how
 * many are submitted under one plug.
 */
#define SCRUB_PASS_ROWS			32
#define SCRUB_ROWS_PER_PLUG		8

static void scrub_free_rows(struct scrub_pass *pass)
{
	for (int i = 0; pass->rows && i < SCRUB_PASS_ROWS; i++)
		scrub_free_row(pass, &pass->rows[i]);
	kfree(pass->rows);
	pass->rows = NULL;
	kfree(pass->scratch);
	pass->scratch = NULL;
	kfree(pass->pointers);
	pass->pointers = NULL;
}

static void scrub_warn_missing(const struct scrub_pass *pass)
{
	for (int i = 0; i < pass->map->num_stripes; i++) {
		if (!pass->map->stripes[i].dev->bdev)
			btrfs_warn(pass->bg->fs_info,
				   "scrub: block group %llu: device %llu is missing, parity of its data cannot be checked",
				   pass->bg->start, pass->map->stripes[i].dev->devid);
	}
}

/* The first leader's work; the rows live as long as the pass. */
static int scrub_alloc_rows(struct scrub_pass *pass)
{
	int ret = 0;

	if (pass->rows)
		return 0;

	pass->scratch = kmalloc(2 * PAGE_SIZE, GFP_KERNEL);
	pass->rows = kcalloc(SCRUB_PASS_ROWS, sizeof(*pass->rows), GFP_KERNEL);
	pass->pointers = kcalloc(pass->map->num_stripes, sizeof(void *), GFP_KERNEL);
	if (!pass->scratch || !pass->rows || !pass->pointers)
		ret = -ENOMEM;
	for (int i = 0; !ret && i < SCRUB_PASS_ROWS; i++)
		ret = scrub_alloc_row(pass, &pass->rows[i]);
	if (ret)
		scrub_free_rows(pass);
	else
		scrub_warn_missing(pass);
	return ret;
}

static void scrub_free_pass(struct scrub_pass *pass)
{
	if (!pass)
		return;
	if (pass->rows) {
		/* Workers that have said they are done may still be about to return. */
		flush_workqueue(pass->bg->fs_info->scrub_workers);
		scrub_free_rows(pass);
	}
	btrfs_free_chunk_map(pass->map);
	kfree(pass->unthrottled);
	kfree(pass->sctxs);
	kfree(pass);
}

static struct scrub_pass *scrub_alloc_pass(struct btrfs_block_group *bg,
					   struct btrfs_chunk_map *map)
{
	const int nr = map->num_stripes;
	struct scrub_pass *pass;

	pass = kzalloc(struct_size(pass, turns.member, nr), GFP_KERNEL);
	if (!pass)
		return NULL;
	pass->bg = bg;
	refcount_inc(&map->refs);
	pass->map = map;
	init_waitqueue_head(&pass->wait);
	btrfs_scrub_turns_init(&pass->turns, nr,
			       btrfs_calc_stripe_length(map) >> BTRFS_STRIPE_LEN_SHIFT);
	pass->sctxs = kcalloc(nr, sizeof(*pass->sctxs), GFP_KERNEL);
	pass->unthrottled = kcalloc(nr, sizeof(*pass->unthrottled), GFP_KERNEL);
	if (!pass->sctxs || !pass->unthrottled) {
		scrub_free_pass(pass);
		return NULL;
	}
	return pass;
}

/* Join the pass over the block group, or begin one.  NULL if there is no memory. */
static struct scrub_pass *scrub_join_pass(struct scrub_ctx *sctx,
					  struct btrfs_block_group *bg,
					  struct btrfs_chunk_map *map, int member)
{
	struct scrub_pass *new = scrub_alloc_pass(bg, map);
	struct scrub_pass *pass;

	spin_lock(&bg->lock);
	if (!bg->scrub_pass)
		swap(bg->scrub_pass, new);
	pass = bg->scrub_pass;
	if (pass) {
		pass->sctxs[member] = sctx;
		btrfs_scrub_join(&pass->turns, member);
	}
	spin_unlock(&bg->lock);
	scrub_free_pass(new);
	if (pass)
		wake_up_all(&pass->wait);
	return pass;
}

/* The member is finished.  Returns what went wrong for it. */
static int scrub_leave_pass(struct scrub_pass *pass, int member)
{
	struct btrfs_block_group *bg = pass->bg;
	const int ret = pass->turns.member[member].error;
	bool last;

	/* What the last plug left over counts, too. */
	btrfs_scrub_throttle(scrub_ctx_pace(pass->sctxs[member]), pass->map->stripes[member].dev,
			     btrfs_stripe_nr_to_offset(pass->unthrottled[member]));

	spin_lock(&bg->lock);
	pass->sctxs[member] = NULL;
	WRITE_ONCE(pass->unthrottled[member], 0);
	last = btrfs_scrub_leave(&pass->turns, member);
	if (last)
		bg->scrub_pass = NULL;
	spin_unlock(&bg->lock);
	if (last)
		scrub_free_pass(pass);
	return ret;
}

/* Take the next row for those who want it. */
static bool scrub_take_row(struct scrub_pass *pass, struct scrub_row *row)
{
	struct btrfs_scrub_turns *turns = &pass->turns;
	bool taken;

	spin_lock(&pass->bg->lock);
	/* Block group removed?  Then nobody needs the rest. */
	for (int i = 0; i < turns->nr_members &&
	     test_bit(BLOCK_GROUP_FLAG_REMOVED, &pass->bg->runtime_flags); i++)
		btrfs_scrub_quit(turns, i, 0);
	taken = btrfs_scrub_take_row(turns, &row->nr, row->wanted);
	spin_unlock(&pass->bg->lock);
	return taken;
}

/* Nothing is read of a row that cannot be looked up, and who wants it ends there. */
static void scrub_fail_row(struct scrub_pass *pass, struct scrub_row *row)
{
	scrub_clear_row(pass, row);
	spin_lock(&pass->bg->lock);
	for (int i = 0; i < pass->map->num_stripes; i++) {
		if (row->wanted[i])
			btrfs_scrub_quit(&pass->turns, i, 0);
	}
	spin_unlock(&pass->bg->lock);
}

/* Fill some rows, returns how many. */
static int scrub_fill_rows(struct scrub_ctx *sctx, struct scrub_pass *pass, u32 first)
{
	for (int i = 0; i < SCRUB_ROWS_PER_PLUG; i++) {
		struct scrub_row *row = &pass->rows[(first + i) % SCRUB_PASS_ROWS];

		if (!scrub_take_row(pass, row))
			return i;
		/* Someone is behind the others, and the paths only go forward. */
		if (row->nr <= pass->last_row)
			scrub_ctx_release_paths(sctx);
		pass->last_row = row->nr;
		row->error = scrub_fill_row(sctx, pass, row);
		if (row->error)
			scrub_fail_row(pass, row);
		cond_resched();
	}
	return SCRUB_ROWS_PER_PLUG;
}

static void scrub_submit_rows(struct scrub_ctx *sctx, struct scrub_pass *pass,
			      u32 first, int nr)
{
	struct blk_plug plug;

	/* As much at a time as other profiles, whose rates this keeps to. */
	for (int i = 0; i < pass->map->num_stripes; i++) {
		/* Who is about to leave has nothing in these rows, so less than that. */
		if (READ_ONCE(pass->unthrottled[i]) < SCRUB_ROWS_PER_PLUG)
			continue;
		btrfs_scrub_throttle(scrub_ctx_pace(pass->sctxs[i]), pass->map->stripes[i].dev,
				     btrfs_stripe_nr_to_offset(pass->unthrottled[i]));
		pass->unthrottled[i] = 0;
	}

	blk_start_plug(&plug);
	for (int i = 0; i < nr; i++)
		scrub_submit_row(sctx, pass, &pass->rows[(first + i) % SCRUB_PASS_ROWS]);
	blk_finish_plug(&plug);
}

/* What the row was to one of the devices. */
static void scrub_give_back_row(struct scrub_pass *pass, struct scrub_row *row,
				int device, int ret)
{
	struct btrfs_scrub_turns *turns = &pass->turns;
	bool finished;

	if (!turns->member[device].error && !row->error)
		scrub_ctx_done(pass->sctxs[device], pass->map->stripes[device].physical +
						    btrfs_stripe_nr_to_offset(row->nr + 1));

	spin_lock(&pass->bg->lock);
	btrfs_scrub_give_back(turns, device);
	if (ret)
		btrfs_scrub_quit(turns, device, ret);
	finished = btrfs_scrub_finished(turns, device);
	spin_unlock(&pass->bg->lock);
	if (finished)
		wake_up_all(&pass->wait);
}

/* Wait for a row, and count what was found. */
static void scrub_retire_row(struct scrub_pass *pass, struct scrub_row *row)
{
	const int nr_data = nr_data_stripes(pass->map);

	scrub_wait_row(pass, row);
	for (int i = 0; i < pass->map->num_stripes; i++) {
		const int device = scrub_row_device(pass, row, i);
		int ret = row->error;

		if (!row->wanted[device])
			continue;
		if (pass->turns.member[device].error) {
			/* It went wrong before, so this is not for it any more. */
		} else if (i >= nr_data) {
			if (row->check_parity)
				ret = scrub_check_row_parity(pass, row, i);
		} else {
			scrub_stripe_report(scrub_stripe_nr(row->stripes, i));
		}
		scrub_give_back_row(pass, row, device, ret);
	}
}

/*
 * Is a device of the block group still at one of a lower address?  Where disks
 * have to seek it is given the time to come here, as two passes would take
 * twice as long, or longer if they go on at two places at once.
 */
static bool scrub_others_are_behind(struct scrub_pass *pass)
{
	struct btrfs_fs_info *fs_info = pass->bg->fs_info;
	bool ret = false;

	if (!fs_info->fs_devices->rotating)
		return false;

	mutex_lock(&fs_info->scrub_lock);
	/* A replace swaps the device of a stripe. */
	rcu_read_lock();
	/* Who removes a device takes scrub_lock between setting this and freeing it. */
	for (int i = 0; i < pass->map->num_stripes && !ret &&
	     !test_bit(BLOCK_GROUP_FLAG_REMOVED, &pass->bg->runtime_flags); i++) {
		const struct btrfs_device *dev = READ_ONCE(pass->map->stripes[i].dev);
		const struct scrub_ctx *sctx = dev->scrub_ctx;

		ret = sctx && scrub_ctx_is_behind(sctx, pass->bg->start);
	}
	rcu_read_unlock();
	mutex_unlock(&fs_info->scrub_lock);
	return ret;
}

static int scrub_nr_present(struct scrub_pass *pass)
{
	int ret;

	spin_lock(&pass->bg->lock);
	ret = pass->turns.nr_present;
	spin_unlock(&pass->bg->lock);
	return ret;
}

/* Until one more has come, but look now and then if one has gone. */
static void scrub_wait_for_others(struct scrub_pass *pass)
{
	const int nr_present = scrub_nr_present(pass);

	wait_event_timeout(pass->wait, scrub_nr_present(pass) != nr_present,
			   max(HZ / 100, 1));
}

/* Read rows, until the leader has had all or is cancelled. */
static void scrub_lead_pass(struct scrub_ctx *sctx, struct scrub_pass *pass)
{
	struct btrfs_fs_info *fs_info = pass->bg->fs_info;
	u32 filled = 0;
	u32 retired = 0;
	int nr;

	while (!should_cancel_scrub(sctx)) {
		const bool wait = scrub_others_are_behind(pass);
		const u32 needed = wait ? SCRUB_PASS_ROWS : SCRUB_ROWS_PER_PLUG;

		while (filled - retired > SCRUB_PASS_ROWS - needed)
			scrub_retire_row(pass, &pass->rows[retired++ % SCRUB_PASS_ROWS]);
		if (wait || atomic_read(&fs_info->scrub_pause_req)) {
			scrub_ctx_release_paths(sctx);
			scrub_pause_on(fs_info);
			if (wait)
				scrub_wait_for_others(pass);
			scrub_pause_off(fs_info);
			continue;
		}

		nr = scrub_fill_rows(sctx, pass, filled);
		if (!nr)
			break;
		scrub_submit_rows(sctx, pass, filled, nr);
		filled += nr;
	}
	while (retired != filled)
		scrub_retire_row(pass, &pass->rows[retired++ % SCRUB_PASS_ROWS]);

	scrub_ctx_release_paths(sctx);
}

static bool scrub_turn_has_come(struct scrub_pass *pass, int member)
{
	bool ret;

	spin_lock(&pass->bg->lock);
	ret = btrfs_scrub_finished(&pass->turns, member) ||
	      btrfs_scrub_can_lead(&pass->turns, member);
	spin_unlock(&pass->bg->lock);
	return ret;
}

/*
 * Wait until there is nothing left to do for the member, then return false, or
 * until it is to lead.  @cancelled keeps why it quit: a file system that is frozen
 * for a moment would be no reason any more when the last row is back.
 */
static bool scrub_wait_for_lead(struct scrub_ctx *sctx, struct scrub_pass *pass, int member,
				int *cancelled)
{
	struct btrfs_fs_info *fs_info = pass->bg->fs_info;

	while (true) {
		bool lead;
		bool finished;

		if (!*cancelled)
			*cancelled = should_cancel_scrub(sctx);
		spin_lock(&pass->bg->lock);
		if (*cancelled)
			btrfs_scrub_quit(&pass->turns, member, 0);
		finished = btrfs_scrub_finished(&pass->turns, member);
		lead = btrfs_scrub_can_lead(&pass->turns, member);
		if (lead)
			pass->turns.leader = member;
		spin_unlock(&pass->bg->lock);
		if (finished || lead)
			return lead;

		/* Look now and then if this one has been cancelled. */
		scrub_pause_on(fs_info);
		wait_event_timeout(pass->wait, scrub_turn_has_come(pass, member), HZ / 10);
		scrub_pause_off(fs_info);
	}
}

/*
 * Have one device's part of a RAID56 block group scrubbed.  Returns 1 if it has
 * to be done in another way, as there is no memory for this one.
 */
int scrub_raid56_pass(struct scrub_ctx *sctx, struct btrfs_block_group *bg,
		      struct btrfs_chunk_map *map, int member)
{
	struct scrub_pass *pass;
	int cancelled = 0;
	int ret;

	if (!IS_ALIGNED(btrfs_calc_stripe_length(map), BTRFS_STRIPE_LEN))
		return 1;
	pass = scrub_join_pass(sctx, bg, map, member);
	if (!pass)
		return 1;

	while (scrub_wait_for_lead(sctx, pass, member, &cancelled)) {
		ret = scrub_alloc_rows(pass);
		if (!ret)
			scrub_lead_pass(sctx, pass);

		spin_lock(&bg->lock);
		if (ret)
			btrfs_scrub_quit(&pass->turns, member, 1);
		pass->turns.leader = -1;
		spin_unlock(&bg->lock);
		wake_up_all(&pass->wait);
	}
	ret = scrub_leave_pass(pass, member);
	return ret ? ret : cancelled;
}
