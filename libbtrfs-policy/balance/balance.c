/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run: read a snapshot, plan, move one chunk, read again, until no chunk is left
 * that could be moved.  A chunk that the kernel finds no space for is deferred until
 * others have moved.  The run terminates: there are at most ROUNDS rounds, each moves
 * only chunks of its first snapshot, each of them once, and retries deferred chunks
 * only if another chunk has moved since.
 */
#include <string.h>

#include "balance/run.h"

/* One, another for chunks that the kernel made on the wrong devices, one to spare. */
#define ROUNDS 3

BP_PUBLIC void btrfs_policy_balance_report_free(struct btrfs_policy_balance_report *report)
{
	if (!report)
		return;
	if (report->text && *report->text)
		free((char *)report->text);
	free(report);
}

/* ---- Chunks that may be moved ------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

uint8_t *bp_run_may(const struct bp_run *run, uint64_t logical)
{
	const uint64_t *entry = bsearch(&logical, run->chunks, run->chunk_count,
					sizeof(*run->chunks), by_address);

	return entry ? &run->may[entry - run->chunks] : NULL;
}

/* ---- Deferred chunks ---------------------------------------------------- */

/* All deferred chunks, if another one has moved: there may be space now. */
static bool try_again(struct bp_run *run)
{
	if (!run->deferred || !run->moved_since)
		return false;
	for (size_t i = 0; i < run->chunk_count; i++)
		if (run->may[i] == BP_DEFERRED)
			run->may[i] = BP_MAY_MOVE;
	run->deferred = 0;
	return true;
}

/* The next deferred chunk from `at` on that is still misplaced, or NULL. */
static const struct btrfs_policy_chunk *next_deferred(const struct bp_run *run, size_t *at)
{
	const struct btrfs_policy_chunk *chunk;

	while (run->deferred && *at < run->chunk_count) {
		size_t i = (*at)++;

		if (run->may[i] != BP_DEFERRED)
			continue;
		chunk = bp_placement_find(run->placement, run->chunks[i]);
		if (chunk && chunk->misplaced)
			return chunk;
	}
	return NULL;
}

/* ---- Progress ----------------------------------------------------------- */

static uint64_t elapsed(const struct bp_run *run)
{
	return run->fs->ops->now(run->fs->backend) - run->started;
}

#define SECOND_NS 1000000000ULL

/* Assumes that the rest moves at the rate so far. */
int bp_run_tick(void *user)
{
	struct bp_run *run = user;
	struct btrfs_policy_progress *progress = &run->progress;
	uint64_t ns = elapsed(run), done = progress->bytes_done;
	uint64_t rest = progress->bytes_total > done ? progress->bytes_total - done : 0;
	bool over = !rest && progress->chunks_done >= progress->chunks_total;

	progress->elapsed_ns = ns;
	progress->bytes_per_second = ns ? (uint64_t)((double)done * SECOND_NS / ns) : 0;
	progress->seconds_left = over ? 0 : -1;
	if (done)
		progress->seconds_left = (int64_t)((double)ns / SECOND_NS * rest / done + 0.5);
	if (run->options.progress && run->options.progress(progress, run->options.user))
		run->stop_asked = true;
	return run->stop_asked;
}

/* Up to the limit: the steps of the plan, then deferred chunks. */
static void set_progress(struct bp_run *run, const struct btrfs_policy_step *next)
{
	struct btrfs_policy_progress *progress = &run->progress;
	uint64_t most = run->options.limit ? run->options.limit - progress->chunks_done :
					     UINT64_MAX;
	size_t at = 0;

	progress->chunks_total = progress->chunks_done;
	progress->bytes_total = progress->bytes_done;
	for (uint64_t i = 0; next && i < most; i++) {
		const struct btrfs_policy_step *step = btrfs_policy_plan_step(run->plan, i);
		const struct btrfs_policy_chunk *chunk =
			step ? step->chunk : next_deferred(run, &at);

		if (!chunk)
			break;
		progress->chunks_total++;
		progress->bytes_total += chunk->used;
	}
	progress->logical = next ? next->chunk->logical : 0;
	/* At the end those of the last chunk remain. */
	if (next) {
		progress->kind = next->chunk->kind;
		progress->obstacle = next->obstacle;
	}
}

/* ---- Scanning ----------------------------------------------------------- */

/* New misplaced chunks: the kernel moved the data to the wrong devices again. */
static bool landed_wrong(const struct btrfs_policy_placement *before,
			 const struct btrfs_policy_placement *after)
{
	for (size_t i = 0; i < after->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &after->chunks[i];

		if (chunk->misplaced && !bp_placement_find(before, chunk->logical))
			return true;
	}
	return false;
}

/* A remount may change the answer during the run. */
static int may_run(struct bp_run *run)
{
	struct btrfs_policy_fs *fs = run->fs;
	enum btrfs_policy_obstacle obstacle;
	const char *why;
	int ret;

	if (fs->info.read_only)
		return bp_error(fs, -EROFS,
				"cannot move chunks of '%s': it is mounted read-only; %s",
				fs->mount_point, bp_read_only_advice(fs));
	ret = bp_method_check(fs, run->options.method, &obstacle);
	if (ret || run->options.unenforced || fs->info.mixed || btrfs_policy_enforced(fs, &why))
		return ret;
	return bp_error(fs, -EOPNOTSUPP, "cannot steer chunks on '%s': %s; %s", fs->mount_point,
			why, bp_enforced_advice(fs));
}

int bp_run_rescan(struct bp_run *run)
{
	struct btrfs_policy_balance_options unlimited = run->options;
	struct btrfs_policy_placement *before = run->placement;
	struct btrfs_policy_placement *now = NULL;
	_cleanup_free_ uint8_t *may = NULL;
	int ret;

	ret = btrfs_policy_fs_refresh(run->fs);
	if (!ret)
		ret = may_run(run);
	if (!ret)
		ret = btrfs_policy_placement_read(run->fs, &now);
	if (!ret && run->options.only_draining)
		ret = btrfs_policy_placement_only_draining(run->fs, now);
	if (ret)
		return ret;
	if (before)
		run->report->moved_in_vain += landed_wrong(before, now);
	btrfs_policy_placement_free(before);
	run->placement = now;
	run->report->still_misplaced = now->totals.misplaced_chunks;
	btrfs_policy_plan_free(run->plan);
	run->plan = NULL;
	may = bp_plan_may(now);
	if (!may)
		return bp_nomem(run->fs);
	/* Before the first round there is no list. */
	for (size_t i = 0; run->chunks && i < now->chunk_count; i++) {
		const uint8_t *entry = bp_run_may(run, now->chunks[i].logical);

		if (may[i] != BP_FIXED)
			may[i] = entry ? *entry : BP_FIXED;
	}
	unlimited.limit = 0;
	ret = bp_plan_new(run->fs, now, &unlimited, run->floor, may, run->deferred, &run->plan);
	if (ret)
		return ret;
	run->floor = btrfs_policy_plan_summary(run->plan)->slack_floor;
	return btrfs_policy_plan_keeps_copies(run->fs, now, run->plan);
}

/* ---- Rounds ------------------------------------------------------------- */

static uint64_t misplaced_used(const struct btrfs_policy_placement *placement)
{
	uint64_t used = 0;

	for (size_t i = 0; i < placement->chunk_count; i++)
		if (placement->chunks[i].misplaced)
			used += placement->chunks[i].used;
	return used;
}

/* A round moves only chunks of the snapshot at its start. */
static int begin_round(struct bp_run *run)
{
	size_t count = run->placement->chunk_count;

	free(run->chunks);
	free(run->may);
	run->chunks = calloc(count + 1, sizeof(*run->chunks));
	run->may = calloc(count + 1, sizeof(*run->may));
	run->chunk_count = 0;
	if (!run->chunks || !run->may)
		return bp_nomem(run->fs);
	for (size_t i = 0; i < count; i++)
		run->chunks[i] = run->placement->chunks[i].logical;
	run->chunk_count = count;
	run->rounds++;
	run->round_used = misplaced_used(run->placement);
	run->round_misplaced = run->report->still_misplaced;
	run->skipped = 0;
	return 0;
}

/*
 * The kernel also makes chunks for its own work, where space is free at that moment;
 * better devices may get space later.  A round without an improvement is the last.
 */
static bool needs_round(const struct bp_run *run)
{
	if (!run->report->still_misplaced || run->rounds == ROUNDS || !run->fs->enforced ||
	    run->deferred || run->unreadable || btrfs_policy_plan_blocked(run->plan))
		return false;
	return run->report->still_misplaced < run->round_misplaced ||
	       misplaced_used(run->placement) < run->round_used;
}

static int next_round(struct bp_run *run)
{
	int ret = begin_round(run);

	run->report->considered += run->report->still_misplaced;
	run->report->misplaced += run->report->still_misplaced;
	/* The plan has only chunks that could be moved in the last one. */
	if (!ret)
		ret = bp_run_rescan(run);
	return ret;
}

/* ---- All chunks --------------------------------------------------------- */

static int end_without_chunk(struct bp_run *run)
{
	const char *blocked = btrfs_policy_plan_blocked(run->plan);
	const struct btrfs_policy_chunk *refused;
	_cleanup_free_ char *others = NULL;
	unsigned long long more = 0;
	size_t at = 0;

	set_progress(run, NULL);
	bp_run_tick(run);
	refused = next_deferred(run, &at);
	if (!refused && !blocked)
		return 0;
	run->report->end = BTRFS_POLICY_END_NO_SPACE;
	if (!refused)
		return bp_error(run->fs, -ENOSPC, "%s", blocked);
	while (next_deferred(run, &at))
		more++;
	others = more ? bp_format(" and %llu more", more) : NULL;
	return bp_error(run->fs, -ENOSPC,
			"the kernel found no space to move chunk %llu%s of '%s'; free some space and run it again",
			(unsigned long long)refused->logical, others ? others : "",
			run->fs->mount_point);
}

/* The error of the whole run, unless it ended for another reason. */
static int check_unreadable(struct bp_run *run, int err)
{
	_cleanup_free_ char *others = NULL;

	/* The kernel makes a file system read-only after some errors. */
	if (!run->unreadable || (err && err != -EROFS))
		return err;
	if (run->unreadable > 1)
		others = bp_format(" and %llu more", (unsigned long long)run->unreadable - 1);
	run->report->end = BTRFS_POLICY_END_FAILED;
	return bp_error(run->fs, -EIO,
			"cannot move chunk %llu%s of '%s': a block could not be read or written; run 'btrfs scrub start -B' on it, restore or delete the files that the kernel's log names, then run it again",
			(unsigned long long)run->first_unreadable, others ? others : "",
			run->fs->mount_point);
}

static int move_all(struct bp_run *run)
{
	const struct btrfs_policy_step *step;
	int ret = 0;

	while (!ret) {
		step = btrfs_policy_plan_step(run->plan, 0);
		if (!step && try_again(run)) {
			ret = bp_run_rescan(run);
			continue;
		}
		if (!step && needs_round(run)) {
			ret = next_round(run);
			continue;
		}
		if (!step)
			return end_without_chunk(run);
		if (run->options.limit && run->progress.chunks_done >= run->options.limit) {
			set_progress(run, NULL);
			bp_run_tick(run);
			run->report->end = BTRFS_POLICY_END_LIMIT;
			return 0;
		}
		set_progress(run, step);
		if (bp_run_tick(run))
			return bp_run_stop(run);
		ret = bp_run_wait_turn(run);
		/* Waiting may have replaced the plan, so take its first step again. */
		step = ret ? NULL : btrfs_policy_plan_step(run->plan, 0);
		if (step)
			ret = bp_run_step(run, step);
	}
	return ret;
}

/* ---- Beginning and end -------------------------------------------------- */

static int begin(struct bp_run *run)
{
	int ret = bp_interrupted_finish(run->fs, &run->paused, bp_run_tick, run);

	if (ret)
		return ret;
	ret = run->fs->ops->sync(run->fs->backend);
	if (ret < 0)
		return bp_failed(run->fs, ret, "cannot sync '%s'", run->fs->mount_point);
	ret = bp_run_rescan(run);
	if (ret)
		return ret;
	ret = bp_may_move_chunks(run->fs, run->placement);
	if (ret)
		return ret;
	run->report->considered = run->placement->totals.chunks;
	run->report->misplaced = run->placement->totals.misplaced_chunks;
	return begin_round(run);
}

static char *why_left(const struct bp_run *run)
{
	const struct btrfs_policy_balance_report *report = run->report;
	const char *blocked = run->plan ? btrfs_policy_plan_blocked(run->plan) : NULL;

	if (report->end == BTRFS_POLICY_END_LIMIT)
		return bp_format("the limit of %llu was reached",
				 (unsigned long long)run->options.limit);
	if (report->end != BTRFS_POLICY_END_DONE)
		return strdup(run->fs->error);
	if (blocked)
		return strdup(blocked);
	return bp_format("%llu moved but misplaced again, %llu not moved by the kernel%s%s%s, others are new or were left",
			 (unsigned long long)report->moved_in_vain,
			 (unsigned long long)run->skipped, run->refused ? " (" : "",
			 run->refused ? run->refused : "", run->refused ? ")" : "");
}

static int finish(struct bp_run *run, int err)
{
	struct btrfs_policy_balance_report *report = run->report;
	uint64_t left = report->still_misplaced;
	_cleanup_free_ char *why = NULL;

	if (err && !report->end)
		report->end = err == -ECANCELED && run->stop_asked ? BTRFS_POLICY_END_STOPPED :
								      bp_run_end_of(err, run->paused);
	report->elapsed_ns = elapsed(run);
	if (left)
		why = why_left(run);
	if (why)
		report->text = bp_format("%llu %s misplaced: %s", (unsigned long long)left,
					 left == 1 ? "chunk stays" : "chunks stay", why);
	if (!report->text)
		report->text = "";
	btrfs_policy_placement_free(run->placement);
	btrfs_policy_plan_free(run->plan);
	free(run->chunks);
	free(run->may);
	free(run->refused);
	return err;
}

BP_PUBLIC int btrfs_policy_balance_check(struct btrfs_policy_fs *fs,
					 const struct btrfs_policy_balance_options *options)
{
	struct bp_run run = { .fs = fs };
	bool can_wait, ours = false;
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	bp_balance_options(&run.options, options);
	ret = may_run(&run);
	if (!ret)
		ret = bp_interrupted_is_ours(fs, &ours);
	if (ret || ours)
		return ret;
	ret = bp_exclusive_check(fs, &can_wait);
	return ret == -EBUSY && can_wait && (run.options.enqueue || bp_kernel_balances(fs)) ? 0 : ret;
}

BP_PUBLIC int btrfs_policy_balance(struct btrfs_policy_fs *fs,
				   const struct btrfs_policy_balance_options *options,
				   struct btrfs_policy_balance_report **report)
{
	struct bp_run run = { .fs = fs };
	int ret;

	*report = NULL;
	if (!fs->open)
		return bp_not_open(fs);
	bp_balance_options(&run.options, options);
	ret = may_run(&run);
	if (ret)
		return ret;
	run.report = calloc(1, sizeof(*run.report));
	if (!run.report)
		return bp_nomem(fs);
	run.started = fs->ops->now(fs->backend);
	*report = run.report;
	ret = begin(&run);
	if (!ret)
		ret = check_unreadable(&run, move_all(&run));
	return finish(&run, ret);
}
