/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The simulated file system of a plan before the first move: free extents, free
 * bytes in chunks, and the part of them that a move may use.
 */
#include <string.h>

#include "balance/plan-state.h"

uint32_t bp_profile_index(uint64_t type)
{
	return bp_profile_of(type) - bp_profile_at(0);
}

/* ---- Correctly placed chunks -------------------------------------------- */

/* Is no better set of devices possible for a chunk?  Then it need not move again. */
bool bp_is_best(const struct bp_plan_state *state, uint64_t type, const uint64_t *devids,
		uint32_t stripes)
{
	uint32_t kind = bp_kind_of(type), profile = bp_profile_index(type);
	uint64_t best_stripes = state->best_stripes[kind][profile];
	uint64_t off = bp_not_first_choice(state->candidates, state->candidate_count, type, devids,
					   stripes);

	return !off || !best_stripes || off * best_stripes <= (uint64_t)state->best_off[kind][profile] * stripes;
}

bool bp_correctly_placed(const struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk)
{
	return chunk->misplaced == BTRFS_POLICY_PLACED &&
	       bp_is_best(state, chunk->type, chunk->devids, chunk->stripes);
}

/* ---- The first snapshot ------------------------------------------------- */

static int add_chunk(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk)
{
	struct bp_stock *stock = &state->now.stocks[chunk->kind];
	uint32_t profile = bp_profile_index(chunk->type);
	uint64_t left = bp_placement_free_in(state->placement, chunk);

	stock->flags = chunk->type & BTRFS_BLOCK_GROUP_TYPE_MASK;
	stock->profiles |= chunk->type & BTRFS_BLOCK_GROUP_PROFILE_MASK;
	stock->chunks[profile]++;
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		state->now.metadata_free += left;
	if (left && bp_correctly_placed(state, chunk))
		stock->free_placed[profile] += left;
	return bp_array_use(state->candidates, state->candidate_count, chunk);
}

/*
 * Values that depend only on the size and the roles of the devices; called before any
 * chunk is added.
 */
static int measure(struct bp_plan_state *state, enum btrfs_policy_kind kind, uint64_t flags)
{
	for (uint32_t i = 0; i < BP_PROFILES; i++) {
		struct btrfs_policy_chunk best;
		uint64_t type = flags | bp_profile_at(i)->flag;
		int ret = bp_select(state->candidates, state->candidate_count, type, &best,
				    state->stripe_data, NULL);

		if (ret && ret != -ENOSPC)
			return ret;
		state->worth[kind][i] =
			bp_worthwhile(state->candidates, state->candidate_count, type);
		if (ret)
			continue;
		state->best_stripes[kind][i] = best.stripes;
		state->best_off[kind][i] = bp_not_first_choice(state->candidates, state->candidate_count, type,
							       best.devids, best.stripes);
	}
	return 0;
}

uint32_t bp_plan_writeable(const struct bp_plan_state *state)
{
	uint32_t found = 0;

	for (size_t i = 0; i < state->candidate_count; i++)
		found += state->candidates[i].writeable;
	return found;
}

int bp_plan_state_init(struct bp_plan_state *state,
		       const struct btrfs_policy_placement *placement)
{
	size_t count = placement->device_count;
	int ret;

	memset(state, 0, sizeof(*state));
	state->placement = placement;
	state->candidate_count = count;
	state->candidates = bp_array_new(placement->candidates, count);
	state->stripe_data = calloc(2 * bp_stripes_most(count) + 1, sizeof(*state->stripe_data));
	state->free_spaces = calloc(2 * count + 1, sizeof(*state->free_spaces));
	if (!state->candidates || !state->stripe_data || !state->free_spaces)
		return -ENOMEM;
	ret = measure(state, BTRFS_POLICY_KIND_DATA, BTRFS_BLOCK_GROUP_DATA);
	if (!ret)
		ret = measure(state, BTRFS_POLICY_KIND_METADATA, BTRFS_BLOCK_GROUP_METADATA);
	if (!ret)
		ret = measure(state, BTRFS_POLICY_KIND_SYSTEM, BTRFS_BLOCK_GROUP_SYSTEM);
	for (size_t i = 0; !ret && i < placement->chunk_count; i++)
		ret = add_chunk(state, &placement->chunks[i]);
	for (int kind = 0; !ret && kind < BTRFS_POLICY_KINDS; kind++) {
		struct bp_stock *stock = &state->now.stocks[kind];

		stock->type = bp_type_of_new(stock->flags, stock->profiles,
					     bp_plan_writeable(state));
	}
	if (!ret)
		bp_plan_scan(state);
	return ret;
}

void bp_plan_state_clear(struct bp_plan_state *state)
{
	bp_array_free(state->candidates, state->candidate_count);
	free(state->stripe_data);
	for (size_t i = 0; i < state->now.made; i++)
		free((uint64_t *)state->made[i].devids);
	free(state->made);
	free(state->moves);
	free(state->spaces);
	free(state->free_spaces);
}
