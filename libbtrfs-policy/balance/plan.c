/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the plan as callers see it: it has the search made, and keeps of its
 * record what can be asked for.  All or nothing: a plan that leaves chunks out
 * of place has no steps, only the reason.
 */
#include <string.h>

#include "balance/plan-state.h"

struct step {
	struct btrfs_policy_step pub;
	struct btrfs_policy_chunk chunk;
};

struct btrfs_policy_plan {
	struct step *steps;
	uint64_t *words;		/* devids, offsets and targets of all steps */
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
	free(plan->words);
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
		const struct bp_site *site = bp_site_find(state->array.sites, state->array.count,
							  devids[i]);
		struct btrfs_policy_plan_device *device;

		if (!site)
			continue;
		device = &plan->devices[site - state->array.sites];
		device->bytes_after[kind] += change;
		device->unallocated_after -= change;
	}
}

static void account_step(struct btrfs_policy_plan *plan, const struct bp_plan_state *state,
			 const struct bp_move *move, size_t made_end)
{
	const struct btrfs_policy_chunk *chunk = &state->placement->chunks[move->chunk];
	const struct bp_made *made = state->made.data;
	const uint64_t *words = state->words.data;

	for (size_t i = move->made; i < made_end; i++)
		account(plan, state, chunk->kind, words + made[i].place, made[i].stripes,
			made[i].stripe_length);
	account(plan, state, chunk->kind, chunk->devids, chunk->stripes, -chunk->stripe_length);
}

/* ---- Steps -------------------------------------------------------------- */

static const struct bp_made *target_of(const struct bp_plan_state *state,
				       const struct bp_move *move)
{
	const struct bp_made *made = state->made.data;

	return move->target ? &made[move->target - 1] : NULL;
}

static size_t count_words(const struct bp_plan_state *state, size_t steps)
{
	const struct bp_move *moves = state->moves.data;
	size_t count = 0;

	for (size_t i = 0; i < steps; i++) {
		const struct bp_made *target = target_of(state, &moves[i]);

		count += 2 * state->placement->chunks[moves[i].chunk].stripes;
		count += target ? target->stripes : 0;
	}
	return count;
}

static const uint64_t *keep_words(uint64_t **next, const uint64_t *words, uint32_t count)
{
	uint64_t *kept = *next;

	if (count)
		memcpy(kept, words, count * sizeof(*kept));
	*next += count;
	return kept;
}

static void set_step(struct btrfs_policy_plan *plan, const struct bp_plan_state *state, size_t i,
		     uint64_t **next)
{
	const struct bp_move *move = (const struct bp_move *)state->moves.data + i;
	const struct bp_made *target = target_of(state, move);
	const uint64_t *words = state->words.data;
	struct step *step = &plan->steps[i];

	step->chunk = state->placement->chunks[move->chunk];
	step->chunk.devids = keep_words(next, step->chunk.devids, step->chunk.stripes);
	step->chunk.offsets = keep_words(next, step->chunk.offsets, step->chunk.stripes);
	step->pub.chunk = &step->chunk;
	step->pub.spaces = plan->spaces + move->spaces;
	step->pub.space_count = move->space_count;
	if (target) {
		step->pub.targets = target->stripes;
		step->pub.target_stripe_length = target->stripe_length;
		step->pub.target_devids = keep_words(next, words + target->place,
						     target->stripes);
	}
	plan->summary.size += step->chunk.length;
	plan->summary.used += step->chunk.used;
}

/* What the state says of room to what is unallocated, the first MiB included. */
static void set_spaces(struct btrfs_policy_plan *plan, const struct bp_plan_state *state,
		       size_t count)
{
	const struct bp_space *from = state->spaces.data;

	for (size_t i = 0; i < count; i++) {
		const struct btrfs_policy_plan_device *device = &plan->devices[from[i].site];
		uint64_t more = device->unallocated_before -
				state->placement->sites[from[i].site].room;

		plan->spaces[i] = (struct btrfs_policy_step_space){
			.devid = device->devid, .before = from[i].before + more,
			.least = from[i].least + more, .after = from[i].after + more,
		};
	}
}

static int keep_steps(struct btrfs_policy_plan *plan, const struct bp_plan_state *state,
		      uint64_t limit)
{
	const struct bp_move *moves = state->moves.data;
	size_t all = state->moves.count, count = limit && limit < all ? limit : all;
	uint64_t *next;

	plan->steps = calloc(count + 1, sizeof(*plan->steps));
	plan->words = next = calloc(count_words(state, count) + 1, sizeof(*next));
	plan->spaces = calloc(state->spaces.count + 1, sizeof(*plan->spaces));
	if (!plan->steps || !plan->words || !plan->spaces)
		return -ENOMEM;
	set_spaces(plan, state, state->spaces.count);
	for (size_t i = 0; i < count; i++) {
		set_step(plan, state, i, &next);
		account_step(plan, state, &moves[i],
			     i + 1 < all ? moves[i + 1].made : state->made.count);
	}
	plan->summary.steps = count;
	plan->summary.beyond_limit = all - count;
	return 0;
}

/* ---- Time --------------------------------------------------------------- */

/*
 * Bytes in use are read once and written once for each copy, at the rates below:
 * small tree blocks with seeks between them are slow, long extents fast.  Each
 * chunk needs some commits besides.  The estimate tells minutes from days.
 */
static const struct {
	unsigned int fast, slow;	/* MiB a second */
	unsigned int commits_ms;	/* at most */
} paces[] = { { 400, 100, 200 }, { 120, 10, 2000 } };

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

/* Steps on SSDs alone go by the first row of paces, those with a disk by the second. */
static void set_time(const struct btrfs_policy_fs *fs, struct btrfs_policy_plan *plan)
{
	uint64_t bytes[BP_ARRAY_SIZE(paces)] = {};
	uint64_t chunks[BP_ARRAY_SIZE(paces)] = {}, least = 0, most = 0;

	for (size_t i = 0; i < plan->summary.steps; i++) {
		const struct btrfs_policy_step *step = &plan->steps[i].pub;
		bool disk = any_rotational(fs, step->chunk->devids, step->chunk->stripes) ||
			    any_rotational(fs, step->target_devids, step->targets);

		bytes[disk] += step->chunk->used;
		chunks[disk]++;
	}
	for (size_t i = 0; i < BP_ARRAY_SIZE(paces); i++) {
		uint64_t kib = bytes[i] >> 10;

		least += kib * 1000 / ((uint64_t)paces[i].fast << 10);
		most += kib * 1000 / ((uint64_t)paces[i].slow << 10) +
			chunks[i] * paces[i].commits_ms;
	}
	plan->summary.least_seconds = least / 1000;
	plan->summary.most_seconds = (most + 999) / 1000;
}

/* ---- Making a plan ------------------------------------------------------ */

static int fill(struct btrfs_policy_plan *plan, struct bp_plan_state *state,
		const struct bp_plan_choice *choice)
{
	struct btrfs_policy_plan_summary *summary = &plan->summary;
	struct bp_blocked blocked = {};
	int ret = bp_plan_search(state, choice, &blocked);

	plan->blocked = blocked.text;
	if (ret)
		return ret;
	summary->slack_floor = state->floor;
	summary->slack_after = state->safety.slack;
	if (!blocked.text)
		return keep_steps(plan, state, choice->limit);
	summary->blocked = summary->misplaced ? summary->misplaced : 1;
	summary->short_bytes = blocked.bytes;
	return 0;
}

int bp_plan_new(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement,
		const struct bp_plan_choice *choice, struct btrfs_policy_plan **plan)
{
	_cleanup_plan_ struct btrfs_policy_plan *new = plan_start(placement);
	struct bp_plan_state state = {};
	int ret;

	if (!new)
		return bp_nomem(fs);
	ret = bp_plan_state_init(&state, placement);
	if (!ret) {
		state.floor = choice->floor ? choice->floor :
					      bp_plan_floor(&state, placement->global_reserve);
		new->summary.slack_before = state.safety.slack;
		ret = fill(new, &state, choice);
	}
	bp_plan_state_clear(&state);
	if (ret)
		return bp_nomem(fs);
	set_time(fs, new);
	*plan = bp_steal(new);
	return 0;
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

BP_PUBLIC int btrfs_policy_plan_new(struct btrfs_policy_fs *fs,
				    const struct btrfs_policy_placement *placement,
				    uint64_t limit, struct btrfs_policy_plan **plan)
{
	const struct bp_plan_choice choice = { .limit = limit };
	int ret = bp_may_move_chunks(fs, placement);

	if (ret)
		return ret;
	for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++)
		if (placement->assumed[kind])
			return bp_error(fs, -EINVAL,
					"cannot plan for another profile: a balance that moves chunks keeps their profiles");
	return bp_plan_new(fs, placement, &choice, plan);
}

/* ---- Looking at it ------------------------------------------------------ */

BP_PUBLIC const struct btrfs_policy_step *
btrfs_policy_plan_step(const struct btrfs_policy_plan *plan, size_t index)
{
	return index < plan->summary.steps ? &plan->steps[index].pub : NULL;
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
