/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan as callers see it: runs the search and keeps the public part of its
 * record.  A plan that would leave misplaced chunks has no steps, only the reason.
 */
#include <string.h>

#include "balance/plan-state.h"

struct btrfs_policy_plan {
	struct btrfs_policy_step *steps;
	struct btrfs_policy_chunk *chunks;	/* that they move */
	uint64_t *stripe_data;		/* devids, offsets and targets of all steps */
	struct btrfs_policy_step_space *spaces;
	struct btrfs_policy_plan_device *devices;
	size_t device_count;
	struct btrfs_policy_plan_summary summary;
	char *blocked;
};

BP_PUBLIC void btrfs_policy_plan_free(struct btrfs_policy_plan *plan)
{
	if (!plan)
		return;
	free(plan->steps);
	free(plan->chunks);
	free(plan->stripe_data);
	free(plan->spaces);
	free(plan->devices);
	free(plan->blocked);
	free(plan);
}

/* ---- Devices ------------------------------------------------------------ */

static struct btrfs_policy_plan *plan_start(const struct btrfs_policy_placement *placement)
{
	_cleanup_plan_ struct btrfs_policy_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->device_count = placement->device_count;
	plan->devices = calloc(plan->device_count + 1, sizeof(*plan->devices));
	if (!plan->devices)
		return NULL;
	for (size_t i = 0; i < plan->device_count; i++) {
		const struct btrfs_policy_device_usage *usage = &placement->devices[i];
		struct btrfs_policy_plan_device *device = &plan->devices[i];

		device->devid = usage->devid;
		device->role = usage->role;
		device->unallocated_before = device->unallocated_after = usage->unallocated;
		memcpy(device->bytes_before, usage->bytes, sizeof(usage->bytes));
		memcpy(device->bytes_after, usage->bytes, sizeof(usage->bytes));
	}
	plan->summary.chunks = placement->totals.chunks;
	plan->summary.misplaced = placement->totals.misplaced_chunks;
	return bp_steal(plan);
}

/* Add stripes of a kind to devices, or take them away. */
static void account(struct btrfs_policy_plan *plan, const struct bp_plan_state *state,
		    enum btrfs_policy_kind kind, const uint64_t *devids, uint32_t stripes,
		    uint64_t change)
{
	for (uint32_t i = 0; i < stripes; i++) {
		const struct bp_candidate *candidate =
			bp_candidate_find(state->candidates, state->candidate_count,
							  devids[i]);
		struct btrfs_policy_plan_device *device;

		if (!candidate)
			continue;
		device = &plan->devices[candidate - state->candidates];
		device->bytes_after[kind] += change;
		device->unallocated_after -= change;
	}
}

/* ---- Steps -------------------------------------------------------------- */

static const struct btrfs_policy_chunk *target_of(const struct bp_plan_state *state,
					 const struct bp_move *move)
{
	return move->target ? &state->made[move->target - 1] : NULL;
}

static const uint64_t *keep_stripe_data(uint64_t **next, const uint64_t *words, uint32_t count)
{
	uint64_t *kept = *next;

	if (count)
		memcpy(kept, words, count * sizeof(*kept));
	*next += count;
	return kept;
}

/* Step `i` with copies of its chunk and its target. */
static void set_step(struct btrfs_policy_plan *plan, const struct bp_plan_state *state, size_t i,
		     uint64_t **next)
{
	const struct bp_move *move = &state->moves[i];
	const struct btrfs_policy_chunk *target = target_of(state, move);
	struct btrfs_policy_chunk *chunk = &plan->chunks[i];
	struct btrfs_policy_step *step = &plan->steps[i];

	*chunk = state->placement->chunks[move->chunk];
	chunk->devids = keep_stripe_data(next, chunk->devids, chunk->stripes);
	chunk->offsets = keep_stripe_data(next, chunk->offsets, chunk->stripes);
	step->chunk = chunk;
	step->obstacle = move->obstacle;
	plan->summary.by_stripes += !move->obstacle;
	step->spaces = plan->spaces + move->spaces;
	step->space_count = move->space_count;
	if (target) {
		step->targets = target->stripes;
		step->target_stripe_length = target->stripe_length;
		step->target_devids = keep_stripe_data(next, target->devids, target->stripes);
	}
	plan->summary.size += chunk->length;
	plan->summary.used += chunk->used;
}

/* Converts free space of the state to unallocated bytes, including the first MiB. */
static void set_spaces(struct btrfs_policy_plan *plan, const struct bp_plan_state *state)
{
	const struct btrfs_policy_step_space *from = state->spaces;

	for (size_t i = 0; i < state->now.spaces; i++) {
		size_t at =
			bp_candidate_find(state->candidates, state->candidate_count,
					  from[i].devid) -
			    state->candidates;
		uint64_t more = plan->devices[at].unallocated_before -
				state->placement->candidates[at].free_space;

		plan->spaces[i] = (struct btrfs_policy_step_space){
			.devid = from[i].devid, .before = from[i].before + more,
			.least = from[i].least + more, .after = from[i].after + more,
		};
	}
}

static int keep_steps(struct btrfs_policy_plan *plan, const struct bp_plan_state *state,
		      uint64_t limit)
{
	const struct bp_move *moves = state->moves;
	const struct btrfs_policy_chunk *made = state->made;
	size_t all = state->now.moves, count = limit && limit < all ? limit : all, words = 0;
	uint64_t *next;

	for (size_t i = 0; i < count; i++) {
		const struct btrfs_policy_chunk *target = target_of(state, &moves[i]);

		words += 2 * state->placement->chunks[moves[i].chunk].stripes;
		words += target ? target->stripes : 0;
	}
	plan->steps = calloc(count + 1, sizeof(*plan->steps));
	plan->chunks = calloc(count + 1, sizeof(*plan->chunks));
	plan->stripe_data = next = calloc(words + 1, sizeof(*next));
	plan->spaces = calloc(state->now.spaces + 1, sizeof(*plan->spaces));
	if (!plan->steps || !plan->chunks || !plan->stripe_data || !plan->spaces)
		return -ENOMEM;
	set_spaces(plan, state);
	for (size_t i = 0; i < count; i++) {
		const struct btrfs_policy_chunk *chunk = &plan->chunks[i];
		size_t made_end = i + 1 < all ? moves[i + 1].made : state->now.made;

		set_step(plan, state, i, &next);
		for (size_t j = moves[i].made; j < made_end; j++)
			account(plan, state, chunk->kind, made[j].devids, made[j].stripes,
				made[j].stripe_length);
		account(plan, state, chunk->kind, chunk->devids, chunk->stripes,
			-chunk->stripe_length);
	}
	plan->summary.steps = count;
	plan->summary.beyond_limit = all - count;
	return 0;
}

/* ---- Time --------------------------------------------------------------- */

/*
 * Relocation reads bytes in use once and writes them once for each copy, at the rates
 * below: small tree blocks with seeks between them are slow, long extents fast.  Each
 * chunk needs some commits besides.  The estimate tells minutes from days.  By stripes
 * each is copied at the media rate, at 20 MiB/s if others use the disk, and its move is
 * some commits.
 */
enum { SSD, DISK, DISK_TREES, SSD_STRIPES, DISK_STRIPES, PACES };
static const unsigned int fast[PACES] = { 400, 120, 120, 1000, 250 };	/* MiB a second */
static const unsigned int slow[PACES] = { 100, 10, 1, 100, 20 };
static const unsigned int commits_ms[PACES] = { 200, 2000, 2000, 200, 1000 };	/* at most */

static bool any_rotational(const struct btrfs_policy_fs *fs, const uint64_t *devids,
			   uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct btrfs_policy_device *device = btrfs_policy_device_find(fs, devids[i]);

		if (!device || device->rotational != BTRFS_POLICY_NO)
			return true;
	}
	return false;
}

/* Copies of the chunk's used bytes that the stripes have, at most one each. */
static void add_stripes(const struct btrfs_policy_fs *fs, const struct btrfs_policy_step *step,
			uint64_t *bytes, uint64_t *moves)
{
	const struct btrfs_policy_chunk *chunk = step->chunk;
	double share = (double)chunk->used / chunk->length;

	for (uint32_t i = 0; i < chunk->stripes; i++) {
		int pace = any_rotational(fs, &chunk->devids[i], 1) ||
			   any_rotational(fs, &step->target_devids[i], 1) ? DISK_STRIPES : SSD_STRIPES;

		if (chunk->devids[i] == step->target_devids[i])
			continue;
		bytes[pace] += (uint64_t)(share * chunk->stripe_length);
		moves[pace]++;
	}
}

/* A step that touches a disk goes at the pace of disks. */
static void set_time(const struct btrfs_policy_fs *fs, struct btrfs_policy_plan *plan)
{
	uint64_t bytes[PACES] = {}, chunks[PACES] = {}, least = 0, most = 0;

	for (size_t i = 0; i < plan->summary.steps; i++) {
		const struct btrfs_policy_step *step = &plan->steps[i];
		int pace = any_rotational(fs, step->chunk->devids, step->chunk->stripes) ||
			   any_rotational(fs, step->target_devids, step->targets) ? DISK : SSD;

		if (!step->obstacle) {
			add_stripes(fs, step, bytes, chunks);
			continue;
		}
		if (pace == DISK && step->chunk->kind != BTRFS_POLICY_KIND_DATA)
			pace = DISK_TREES;
		bytes[pace] += step->chunk->used;
		chunks[pace]++;
	}
	for (size_t i = 0; i < PACES; i++) {
		uint64_t kib = bytes[i] >> 10;

		least += kib * 1000 / ((uint64_t)fast[i] << 10);
		most += kib * 1000 / ((uint64_t)slow[i] << 10) + chunks[i] * commits_ms[i];
	}
	plan->summary.least_seconds = least / 1000;
	plan->summary.most_seconds = (most + 999) / 1000;
}

/* ---- Making a plan ------------------------------------------------------ */

static int fill(struct btrfs_policy_plan *plan, struct bp_plan_state *state, uint64_t limit,
		bool partial)
{
	struct btrfs_policy_plan_summary *summary = &plan->summary;
	int ret = bp_plan_search(state, partial, &plan->blocked, &summary->short_bytes);

	if (ret)
		return ret;
	summary->slack_floor = state->floor;
	summary->slack_after = plan->blocked ? summary->slack_before : state->now.slack;
	if (!plan->blocked)
		return keep_steps(plan, state, limit);
	summary->blocked = summary->misplaced ? summary->misplaced : 1;
	return 0;
}

int bp_plan_new(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement,
		const struct btrfs_policy_balance_options *options, uint64_t floor,
		const uint8_t *may, bool partial, struct btrfs_policy_plan **plan)
{
	_cleanup_plan_ struct btrfs_policy_plan *new = plan_start(placement);
	struct bp_plan_state state = {};
	enum btrfs_policy_obstacle obstacle;
	int ret = bp_method_check(fs, options->method, &obstacle);

	if (ret)
		return ret;
	if (!new)
		return bp_nomem(fs);
	ret = bp_plan_state_init(&state, placement);
	if (!ret) {
		state.may = may;
		state.no_relocation = options->method == BTRFS_POLICY_METHOD_STRIPES;
		state.no_stripes = state.obstacle = obstacle;
		state.floor = floor ? floor : bp_plan_floor(&state, placement->global_reserve);
		new->summary.slack_before = state.now.slack;
		ret = fill(new, &state, options->limit, partial);
	}
	bp_plan_state_clear(&state);
	if (ret)
		return bp_nomem(fs);
	set_time(fs, new);
	*plan = bp_steal(new);
	return 0;
}

uint8_t *bp_plan_may(const struct btrfs_policy_placement *placement)
{
	uint8_t *may = calloc(placement->chunk_count + 1, sizeof(*may));

	for (size_t i = 0; may && placement->only_draining && i < placement->chunk_count; i++)
		if (!placement->chunks[i].misplaced)
			may[i] = BP_FIXED;
	return may;
}

int bp_may_move_chunks(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement)
{
	/* The kernel remaps chunks then, and where they are cannot be read. */
	if (placement->remap_tree)
		return bp_error(fs, -EOPNOTSUPP,
				"cannot move chunks of '%s': the feature remap-tree is not supported yet",
				fs->mount_point);
	return 0;
}

/* For lack of devices the kernel makes new chunks of a lesser profile, and says nothing. */
BP_PUBLIC int btrfs_policy_plan_keeps_copies(struct btrfs_policy_fs *fs,
					     const struct btrfs_policy_placement *placement,
					     const struct btrfs_policy_plan *plan)
{
	uint32_t writeable = 0;

	for (size_t i = 0; i < placement->device_count; i++)
		writeable += placement->candidates[i].writeable;
	for (size_t i = 0; i < plan->summary.steps; i++) {
		const struct btrfs_policy_chunk *chunk = plan->steps[i].chunk;

		/* Moved stripes stay as many as they are. */
		if (plan->steps[i].obstacle && bp_profile_of(chunk->type)->devs_min > writeable)
			return bp_error(fs, -EOPNOTSUPP,
					"cannot move %s chunks of '%s': only %u of %zu devices can be written to, so they would lose copies; replace missing devices or add others first",
					chunk->profile, fs->mount_point, writeable,
					placement->device_count);
	}
	return 0;
}

/* What the caller knows of them; NULL: all defaults. */
void bp_balance_options(struct btrfs_policy_balance_options *taken,
			const struct btrfs_policy_balance_options *options)
{
	memset(taken, 0, sizeof(*taken));
	if (options)
		memcpy(taken, options,
		       options->size < sizeof(*taken) ? options->size : sizeof(*taken));
}

BP_PUBLIC int btrfs_policy_plan_new(struct btrfs_policy_fs *fs,
				    const struct btrfs_policy_placement *placement,
				    const struct btrfs_policy_balance_options *options,
				    struct btrfs_policy_plan **plan)
{
	_cleanup_free_ uint8_t *may = bp_plan_may(placement);
	struct btrfs_policy_balance_options taken;
	int ret = may ? bp_may_move_chunks(fs, placement) : bp_nomem(fs);

	if (ret)
		return ret;
	bp_balance_options(&taken, options);
	for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++)
		if (placement->assumed[kind])
			return bp_error(fs, -EINVAL,
					"cannot plan for another profile: a balance that moves chunks keeps their profiles");
	return bp_plan_new(fs, placement, &taken, 0, may, false, plan);
}

/* ---- Access ------------------------------------------------------------- */

BP_PUBLIC const struct btrfs_policy_step *
btrfs_policy_plan_step(const struct btrfs_policy_plan *plan, size_t index)
{
	return index < plan->summary.steps ? &plan->steps[index] : NULL;
}

BP_PUBLIC const struct btrfs_policy_plan_device *
btrfs_policy_plan_device(const struct btrfs_policy_plan *plan, size_t index)
{
	return index < plan->device_count ? &plan->devices[index] : NULL;
}

BP_PUBLIC const struct btrfs_policy_plan_summary *
btrfs_policy_plan_summary(const struct btrfs_policy_plan *plan)
{
	return &plan->summary;
}

BP_PUBLIC const char *btrfs_policy_plan_blocked(const struct btrfs_policy_plan *plan)
{
	return plan->blocked;
}
