/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One step of a run: waits for its turn, moves one chunk, and decides what becomes of a
 * chunk that the kernel refuses.
 */
#include <string.h>

#include "balance/run.h"

enum btrfs_policy_balance_end bp_run_end_of(int err, bool paused)
{
	if (err == -ECANCELED)
		return paused ? BTRFS_POLICY_END_PAUSED : BTRFS_POLICY_END_CANCELED;
	return BTRFS_POLICY_END_FAILED;
}

int bp_run_stop(struct bp_run *run)
{
	run->report->end = BTRFS_POLICY_END_STOPPED;
	return bp_error(run->fs, -ECANCELED,
			"stopped moving chunks of '%s' on request; run it again to go on",
			run->fs->mount_point);
}

/* ---- Other operations --------------------------------------------------- */

/* Waits for other exclusive operations to end, then reads a new snapshot. */
int bp_run_wait_turn(struct bp_run *run)
{
	bool can_wait;
	int ret;

	ret = bp_exclusive_check(run->fs, &can_wait);
	if (ret != -EBUSY || !can_wait)
		return ret;
	while (!run->options.enqueue && bp_kernel_balances(run->fs)) {
		if (bp_run_tick(run))
			return bp_run_stop(run);
		run->fs->ops->sleep(run->fs->backend, BP_TICK);
	}
	ret = bp_exclusive_wait(run->fs, run->options.enqueue, bp_run_tick, run);
	return ret ? ret : bp_run_rescan(run);
}

/* Wait for the operation that a chunk was refused for?  If it has ended since, try once more. */
static bool waits_for_other(struct bp_run *run)
{
	bool can_wait, tried = run->tried_again;

	run->tried_again = !run->options.enqueue && !bp_kernel_balances(run->fs);
	return !run->tried_again || (!tried && !bp_exclusive_check(run->fs, &can_wait));
}

static int try_later(struct bp_run *run)
{
	if (bp_run_tick(run))
		return bp_run_stop(run);
	run->fs->ops->sleep(run->fs->backend, BP_TICK);
	return bp_run_rescan(run);
}

/* ---- Results ------------------------------------------------------------ */

static int count_moved(struct bp_run *run, uint64_t logical, uint64_t used, bool moved)
{
	*bp_run_may(run, logical) = BP_FIXED;
	run->progress.chunks_done++;
	run->progress.bytes_done += used;
	run->report->relocated += moved;
	run->report->relocated_used += moved ? used : 0;
	run->skipped += !moved;
	run->moved_since |= moved;
	return bp_run_rescan(run);
}

/* What the kernel refuses is left, or tried in another way or later. */
static int settle(struct bp_run *run, uint64_t logical, int ret, enum bp_verdict verdict)
{
	switch (verdict) {
	case BP_TRY_LATER:
		return try_later(run);
	case BP_RELOCATE_IT:
		*bp_run_may(run, logical) = BP_MAY_RELOCATE;
		return bp_run_rescan(run);
	case BP_DEFER_IT:
		if (!run->deferred++)
			run->moved_since = false;
		*bp_run_may(run, logical) = BP_DEFERRED;
		return bp_run_rescan(run);
	case BP_UNREADABLE:
		/* Each run would end at the same chunk, so leave it and go on. */
		if (!run->unreadable++)
			run->first_unreadable = logical;
		*bp_run_may(run, logical) = BP_FIXED;
		return bp_run_rescan(run);
	case BP_SKIP_IT:
		if (!run->refused)
			run->refused = strdup(run->fs->error);
		return count_moved(run, logical, 0, false);
	default:
		run->report->end = bp_run_end_of(ret, false);
		return ret;
	}
}

/* ---- One chunk ---------------------------------------------------------- */

static int move_stripes(struct bp_run *run, const struct btrfs_policy_step *step)
{
	const uint64_t logical = step->chunk->logical, used = step->chunk->used;
	const struct btrfs_policy_chunk *after;
	enum bp_verdict verdict;
	uint64_t copied;
	int ret = bp_move_stripes(run->fs, step, run->options.method, &copied, &verdict);

	run->report->copied += copied;
	if (ret == -EBUSY && waits_for_other(run))
		return try_later(run);
	if (ret)
		return settle(run, logical, ret, verdict);
	run->tried_again = false;
	run->report->by_stripes++;
	ret = count_moved(run, logical, used, true);
	if (ret)
		return ret;
	after = bp_placement_find(run->placement, logical);
	run->report->moved_in_vain += after && after->misplaced;
	return 0;
}

int bp_run_step(struct bp_run *run, const struct btrfs_policy_step *step)
{
	const uint64_t logical = step->chunk->logical, used = step->chunk->used;
	bool moved, paused;
	int ret;

	if (!step->obstacle)
		return move_stripes(run, step);
	ret = bp_relocate(run->fs, step->chunk, &moved, &paused);
	if (ret != -EBUSY)
		run->tried_again = false;
	/* Where sysfs does not show the other operation, wait_turn() does not wait for it. */
	if (ret == -EBUSY && waits_for_other(run))
		return try_later(run);
	if (ret == -ENOSPC)
		return settle(run, logical, ret, BP_DEFER_IT);
	if (ret == -EIO || ret == -EUCLEAN)
		return settle(run, logical, ret, BP_UNREADABLE);
	if (ret) {
		run->report->end = bp_run_end_of(ret, paused);
		return ret;
	}
	return count_moved(run, logical, used, moved);
}
