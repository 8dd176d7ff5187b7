/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the plan: which misplaced chunks to move, in which order, and whether
 * each finds room.  It moves them in an imagined file system that starts as the
 * picture and lets select.c allocate, so that later steps see what earlier ones
 * took and gave back.  Pure: touches nothing but memory.
 */
#include <stdio.h>
#include <string.h>

#include "placement.h"

struct step {
	struct btrfs_policy_step pub;
	struct btrfs_policy_chunk chunk;
};

struct btrfs_policy_plan {
	struct step *steps;
	size_t count;
	struct btrfs_policy_plan_device *devices;
	size_t device_count;
	struct btrfs_policy_plan_summary summary;
	char *blocked;
};

/* Data that must leave a device makes room for the metadata that belongs there. */
enum phase { DATA_OFF_EXCLUDED, METADATA, SYSTEM, OTHER_DATA };

struct candidate {
	const struct btrfs_policy_chunk *chunk;
	enum phase phase;
	bool moved;
};

/* Free space in chunks that the plan itself made, for each type the newest one. */
struct pool {
	uint64_t type;
	uint64_t free_bytes;
	struct bp_target target;
};

struct state {
	struct bp_site *sites;
	size_t site_count;
	struct btrfs_policy_plan_device *devices; /* bytes_after is kept up to date */
	struct pool *pools;
	size_t pool_count;
	struct candidate *candidates;
	size_t candidate_count;
};

/* ---- Candidates --------------------------------------------------------- */

static enum phase phase_of(const struct btrfs_policy_chunk *chunk)
{
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		return METADATA;
	if (chunk->kind == BTRFS_POLICY_KIND_SYSTEM)
		return SYSTEM;
	return chunk->misplaced == BTRFS_POLICY_ON_EXCLUDED ? DATA_OFF_EXCLUDED : OTHER_DATA;
}

static int by_order(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->phase != right->phase)
		return left->phase < right->phase ? -1 : 1;
	if (left->chunk->used != right->chunk->used)
		return left->chunk->used < right->chunk->used ? -1 : 1;
	return left->chunk->logical < right->chunk->logical ? -1 : 1;
}

/* Chunks that are in place now may be out of place once others have made room. */
static bool could_improve(struct state *state, const struct btrfs_policy_chunk *chunk)
{
	return bp_not_first_choice(state->sites, state->site_count, chunk->type, chunk->devids,
				   chunk->stripes);
}

static int collect(struct state *state, const struct btrfs_policy_placement *placement,
		   const struct bp_plan_choice *choice)
{
	state->candidates = calloc(placement->chunk_count + 1, sizeof(*state->candidates));
	if (!state->candidates)
		return -ENOMEM;
	for (size_t i = 0; i < placement->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &placement->chunks[i];
		struct candidate *candidate = &state->candidates[state->candidate_count];

		if (choice->may_move && !choice->may_move(chunk, choice->user))
			continue;
		if (!could_improve(state, chunk))
			continue;
		candidate->chunk = chunk;
		candidate->phase = phase_of(chunk);
		state->candidate_count++;
	}
	qsort(state->candidates, state->candidate_count, sizeof(*state->candidates), by_order);
	return 0;
}

/* ---- The imagined file system ------------------------------------------- */

static void state_clear(struct state *state)
{
	for (size_t i = 0; i < state->pool_count; i++)
		free(state->pools[i].target.devids);
	free(state->pools);
	free(state->sites);
	free(state->candidates);
}

static int state_init(struct state *state, const struct btrfs_policy_placement *placement,
		      const struct bp_plan_choice *choice, struct btrfs_policy_plan *plan)
{
	size_t size = placement->device_count * sizeof(*state->sites);

	state->sites = malloc(size + 1);
	if (!state->sites)
		return -ENOMEM;
	memcpy(state->sites, placement->sites, size);
	state->site_count = placement->device_count;
	state->devices = plan->devices;
	return collect(state, placement, choice);
}

/* Add stripes of a kind to devices, or take them away. */
static void account(struct state *state, enum btrfs_policy_kind kind, const uint64_t *devids,
		    uint32_t stripes, uint64_t length, bool add)
{
	uint64_t change = add ? length : -length;

	for (uint32_t i = 0; i < stripes; i++) {
		struct bp_site *site = bp_site_find(state->sites, state->site_count, devids[i]);

		if (!site)
			continue;
		site->room -= change;
		state->devices[site - state->sites].bytes_after[kind] += change;
		state->devices[site - state->sites].unallocated_after -= change;
	}
}

static struct pool *pool_find(struct state *state, uint64_t type)
{
	struct pool *pools;

	for (size_t i = 0; i < state->pool_count; i++)
		if (state->pools[i].type == type)
			return &state->pools[i];
	pools = reallocarray(state->pools, state->pool_count + 1, sizeof(*pools));
	if (!pools)
		return NULL;
	state->pools = pools;
	pools += state->pool_count;
	memset(pools, 0, sizeof(*pools));
	pools->type = type;
	pools->target.devids = calloc(bp_target_capacity(state->site_count) + 1,
				      sizeof(*pools->target.devids));
	if (!pools->target.devids)
		return NULL;
	state->pool_count++;
	return pools;
}

/* Off an excluding device any place is better, else only one of a better rank. */
static bool is_better(struct state *state, const struct btrfs_policy_chunk *chunk,
		      enum btrfs_policy_misplaced why, const struct bp_target *target)
{
	uint64_t before, after;

	if (!target->stripes)
		return false;
	if (why == BTRFS_POLICY_ON_EXCLUDED)
		return true;
	before = bp_not_first_choice(state->sites, state->site_count, chunk->type,
				     chunk->devids, chunk->stripes);
	after = bp_not_first_choice(state->sites, state->site_count, chunk->type,
				    target->devids, target->stripes);
	return after * chunk->stripes < before * target->stripes;
}

/* Make one more chunk of the type. */
static int grow_pool(struct state *state, struct pool *pool,
		     const struct btrfs_policy_chunk *chunk, enum btrfs_policy_misplaced why)
{
	int ret = bp_select(state->sites, state->site_count, chunk->type, &pool->target);

	if (ret)
		return ret;
	if (!is_better(state, chunk, why, &pool->target))
		return -ENOSPC;
	account(state, chunk->kind, pool->target.devids, pool->target.stripes,
		pool->target.stripe_length, true);
	pool->free_bytes += pool->target.length;
	return 0;
}

/* Find room for what a chunk holds: in the pool, then in new chunks. */
static int place(struct state *state, struct pool *pool,
		 const struct btrfs_policy_chunk *chunk, enum btrfs_policy_misplaced why)
{
	int ret = 0;

	if (!is_better(state, chunk, why, &pool->target))
		pool->free_bytes = 0;
	while (!ret && pool->free_bytes < chunk->used)
		ret = grow_pool(state, pool, chunk, why);
	if (!ret)
		pool->free_bytes -= chunk->used;
	return ret;
}

/* ---- Steps -------------------------------------------------------------- */

static uint64_t *copy_devids(const uint64_t *devids, uint32_t count)
{
	uint64_t *copy = calloc(count + 1, sizeof(*copy));

	if (copy && count)
		memcpy(copy, devids, count * sizeof(*copy));
	return copy;
}

static int add_step(struct btrfs_policy_plan *plan, const struct btrfs_policy_chunk *chunk,
		    const struct pool *pool)
{
	uint32_t targets = chunk->used ? pool->target.stripes : 0;
	struct step *steps;
	struct step *step;

	steps = reallocarray(plan->steps, plan->count + 1, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	plan->steps = steps;
	step = &steps[plan->count++];
	step->chunk = *chunk;
	step->chunk.devids = copy_devids(chunk->devids, chunk->stripes);
	step->pub.targets = targets;
	step->pub.target_devids = copy_devids(pool->target.devids, targets);
	step->pub.target_stripe_length = targets ? pool->target.stripe_length : 0;
	plan->summary.size += chunk->length;
	plan->summary.used += chunk->used;
	return step->chunk.devids && step->pub.target_devids ? 0 : -ENOMEM;
}

/* What a failed attempt may have changed. */
struct snapshot {
	struct bp_site *sites;
	struct btrfs_policy_plan_device *devices;
};

static bool snapshot_take(const struct state *state, struct snapshot *snapshot)
{
	size_t count = state->site_count;

	snapshot->sites = calloc(count + 1, sizeof(*state->sites));
	snapshot->devices = calloc(count + 1, sizeof(*state->devices));
	if (!snapshot->sites || !snapshot->devices)
		return false;
	memcpy(snapshot->sites, state->sites, count * sizeof(*state->sites));
	memcpy(snapshot->devices, state->devices, count * sizeof(*state->devices));
	return true;
}

static void snapshot_restore(struct state *state, const struct snapshot *snapshot)
{
	size_t count = state->site_count;

	memcpy(state->sites, snapshot->sites, count * sizeof(*state->sites));
	memcpy(state->devices, snapshot->devices, count * sizeof(*state->devices));
}

/* 0 moved, -ENOSPC stays where it is, -ENOMEM */
static int try_move(struct state *state, struct btrfs_policy_plan *plan,
		    const struct btrfs_policy_chunk *chunk, enum btrfs_policy_misplaced why)
{
	struct pool *pool = pool_find(state, chunk->type);
	struct snapshot before = {};
	int ret;

	if (!pool)
		return -ENOMEM;
	ret = snapshot_take(state, &before) ? place(state, pool, chunk, why) : -ENOMEM;
	if (ret == -ENOSPC) {
		snapshot_restore(state, &before);
		pool->free_bytes = 0;
	}
	free(before.sites);
	free(before.devices);
	if (ret)
		return ret;
	account(state, chunk->kind, chunk->devids, chunk->stripes, chunk->stripe_length, false);
	return add_step(plan, chunk, pool);
}

static bool at_limit(const struct btrfs_policy_plan *plan, uint64_t limit)
{
	return limit && plan->count >= limit;
}

/* One round over what is left; *moved counts. */
static int plan_round(struct state *state, struct btrfs_policy_plan *plan, uint64_t limit,
		      size_t *moved)
{
	for (size_t i = 0; i < state->candidate_count && !at_limit(plan, limit); i++) {
		struct candidate *candidate = &state->candidates[i];
		enum btrfs_policy_misplaced why;
		int ret;

		if (candidate->moved)
			continue;
		why = bp_judge(state->sites, state->site_count, candidate->chunk);
		if (why == BTRFS_POLICY_PLACED)
			continue;
		ret = try_move(state, plan, candidate->chunk, why);
		if (ret == -ENOMEM)
			return ret;
		candidate->moved = !ret;
		*moved += candidate->moved;
	}
	return 0;
}

/* Rounds end: each of them but the last moves a chunk that never moves again. */
static int plan_all(struct state *state, struct btrfs_policy_plan *plan, uint64_t limit)
{
	size_t moved;
	int ret;

	do {
		moved = 0;
		ret = plan_round(state, plan, limit, &moved);
	} while (!ret && moved);
	return ret;
}

/* ---- What stays --------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left < right) - (left > right);
}

/* Room of the last of the devices that a chunk of the profile cannot do without. */
static uint64_t room_of_last(const struct state *state, uint64_t type, uint32_t needed)
{
	_cleanup_free_ uint64_t *rooms = calloc(state->site_count + 1, sizeof(*rooms));
	size_t found = 0;

	for (size_t i = 0; rooms && i < state->site_count; i++)
		if (state->sites[i].writeable && !bp_excluded(&state->sites[i], type))
			rooms[found++] = state->sites[i].room;
	if (!rooms || found < needed)
		return 0;
	qsort(rooms, found, sizeof(*rooms), descending);
	return rooms[needed - 1];
}

static uint64_t shortage(const struct state *state, const struct btrfs_policy_chunk *chunk)
{
	const struct bp_profile *profile = bp_profile_of(chunk->type);
	uint64_t part = chunk->stripe_length * profile->dev_stripes;
	uint64_t room = room_of_last(state, chunk->type, profile->devs_min);

	return room < part ? part - room : part;
}

static int explain(struct state *state, struct btrfs_policy_plan *plan,
		   const struct btrfs_policy_chunk *chunk)
{
	const struct bp_profile *profile = bp_profile_of(chunk->type);
	uint32_t allowed = bp_allowed_sites(state->sites, state->site_count, chunk->type);
	const char *kind = btrfs_policy_kind_name(chunk->kind);
	unsigned long long missing;

	plan->summary.short_bytes = shortage(state, chunk);
	missing = plan->summary.short_bytes / (1024 * 1024);
	if (allowed < profile->devs_min)
		plan->blocked = bp_format(
			"%s,%s needs %u devices that may hold it and there are %u: change a role, add a device, or convert the profile",
			kind, profile->name, profile->devs_min, allowed);
	else
		plan->blocked = bp_format(
			"%s,%s chunk %llu finds no room where its roles want it, about %llu MiB more are needed there: delete or move data, add a device, or change a role",
			kind, profile->name, (unsigned long long)chunk->logical, missing);
	return plan->blocked ? 0 : -ENOMEM;
}

static int count_left(struct state *state, struct btrfs_policy_plan *plan, uint64_t limit)
{
	const struct btrfs_policy_chunk *first = NULL;
	uint64_t left = 0;

	for (size_t i = 0; i < state->candidate_count; i++) {
		const struct candidate *candidate = &state->candidates[i];

		if (candidate->moved ||
		    !bp_judge(state->sites, state->site_count, candidate->chunk))
			continue;
		first = first ? first : candidate->chunk;
		left++;
	}
	plan->summary.steps = plan->count;
	if (at_limit(plan, limit))
		plan->summary.beyond_limit = left;
	else
		plan->summary.blocked = left;
	return plan->summary.blocked ? explain(state, plan, first) : 0;
}

/* ---- The public side ---------------------------------------------------- */

BP_PUBLIC void btrfs_policy_plan_free(struct btrfs_policy_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->count; i++) {
		free((uint64_t *)plan->steps[i].chunk.devids);
		free((uint64_t *)plan->steps[i].pub.target_devids);
	}
	free(plan->steps);
	free(plan->devices);
	free(plan->blocked);
	free(plan);
}

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

/* The array of steps no longer moves from here on. */
static void link_chunks(struct btrfs_policy_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		plan->steps[i].pub.chunk = &plan->steps[i].chunk;
}

int bp_plan_new(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement,
		const struct bp_plan_choice *choice, struct btrfs_policy_plan **plan)
{
	_cleanup_plan_ struct btrfs_policy_plan *new = plan_start(placement);
	struct state state = {};
	int ret;

	if (!new)
		return bp_nomem(fs);
	ret = state_init(&state, placement, choice, new);
	if (!ret)
		ret = plan_all(&state, new, choice->limit);
	if (!ret)
		ret = count_left(&state, new, choice->limit);
	state_clear(&state);
	if (ret)
		return bp_nomem(fs);
	link_chunks(new);
	*plan = bp_steal(new);
	return 0;
}

BP_PUBLIC int btrfs_policy_plan_new(struct btrfs_policy_fs *fs,
				    const struct btrfs_policy_placement *placement,
				    uint64_t limit, struct btrfs_policy_plan **plan)
{
	const struct bp_plan_choice choice = { .limit = limit };

	return bp_plan_new(fs, placement, &choice, plan);
}

BP_PUBLIC const struct btrfs_policy_step *
btrfs_policy_plan_step(const struct btrfs_policy_plan *plan, size_t index)
{
	return index < plan->count ? &plan->steps[index].pub : NULL;
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
