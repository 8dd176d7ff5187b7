/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The invariant of a plan.  While a chunk exists in two places, and after the old
 * one is freed:
 * - another data, metadata and system chunk can be made, if that was possible;
 * - metadata keeps its slack: the bytes that it can still grow by, in its chunks and
 *   as new ones, do not fall below the floor, nor any further if below.
 */
#include "balance/plan-state.h"

#define GLOBAL_RESERVE_MAX (512ULL * 1024 * 1024)

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Devices that offer a chunk of the type that many bytes in a piece. */
static uint32_t candidates_with_space(const struct bp_plan_state *state, uint64_t type,
				      uint64_t bytes)
{
	uint32_t found = 0;

	for (size_t i = 0; i < state->candidate_count; i++)
		found += bp_candidate_offer(&state->candidates[i], type) >= bytes;
	return found;
}

/* ---- Slack -------------------------------------------------------------- */

/*
 * Bytes of metadata that fit into new chunks, by the rules of the kernel's reservations.
 * Each copy and each parity stripe needs a device of its own, so a device that is larger
 * than an equal share cannot use the rest. With parity the result is a lower bound.
 */
static uint64_t allocatable(const struct bp_plan_state *state, const uint64_t *more)
{
	uint64_t type = state->now.stocks[BTRFS_POLICY_KIND_METADATA].type;
	const struct bp_profile *profile = bp_profile_of(type);
	uint32_t copies = profile->copies / profile->dev_stripes + profile->parity;
	uint64_t left = 0, largest[3] = {};

	for (size_t i = 0; i < state->candidate_count; i++) {
		const struct bp_candidate *candidate = &state->candidates[i];
		uint64_t bytes;

		if (!candidate->writeable || bp_excluded(candidate, type))
			continue;
		bytes = bp_candidate_free_space_for(candidate, type) + (more ? more[i] : 0);
		left += bytes;
		for (size_t j = 0; j < 3; j++) {
			uint64_t smaller = bytes < largest[j] ? bytes : largest[j];

			largest[j] = max_u64(bytes, largest[j]);
			bytes = smaller;
		}
	}
	for (size_t i = 0; copies > 1 && largest[i] > left / copies; i++, copies--)
		left -= largest[i];
	left = left / copies / profile->dev_stripes;
	return left - (state->placement->zone ? left % state->placement->zone : 0);
}

/* A stripe of data goes where most is left; @more wraps around below 0. */
static void take_space(const struct bp_plan_state *state, uint64_t bytes, uint64_t *more)
{
	uint64_t largest = 0;
	size_t at = 0;

	for (size_t i = 0; i < state->candidate_count; i++) {
		const struct bp_candidate *candidate = &state->candidates[i];

		if (bp_excluded(candidate, BTRFS_BLOCK_GROUP_DATA) ||
		    candidate->free_space + more[i] <= largest)
			continue;
		largest = candidate->free_space + more[i];
		at = i;
	}
	more[at] -= bytes < largest ? bytes : largest;
}

/* Data off draining devices stays with the others, other misplaced data leaves its devices. */
static void move_away(const struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      uint64_t *more)
{
	bool draining = chunk->kind == BTRFS_POLICY_KIND_DATA &&
			bp_placement_drains(state->placement, chunk);

	for (uint32_t i = 0; i < chunk->stripes; i++) {
		const struct bp_candidate *candidate =
			bp_candidate_find(state->candidates, state->candidate_count, chunk->devids[i]);

		if (candidate && !draining)
			more[candidate - state->candidates] += chunk->stripe_length;
		else if (candidate && candidate->role == BTRFS_POLICY_ROLE_DRAINING)
			take_space(state, chunk->stripe_length, more);
	}
}

/*
 * The slack after all moves: devices have gained the space of misplaced data, and
 * misplaced metadata uses some of the space that metadata can take.
 */
static uint64_t slack_in_the_end(const struct bp_plan_state *state)
{
	const struct btrfs_policy_placement *placement = state->placement;
	_cleanup_free_ uint64_t *more = calloc(state->candidate_count + 1, sizeof(*more));
	uint64_t leaving = 0, slack;

	for (size_t i = 0; more && i < placement->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &placement->chunks[i];

		if (!chunk->misplaced)
			continue;
		if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
			leaving += bp_placement_free_in(placement, chunk) + chunk->used;
		move_away(state, chunk, more);
	}
	slack = state->now.metadata_free + allocatable(state, more);
	return slack > leaving ? slack - leaving : 0;
}

/*
 * The largest of: free space in metadata chunks now, a tenth of the metadata in use,
 * and a chunk of full size (1 GiB on each of its devices, less on small arrays)
 * beside the global reserve.  An array that can never have that much keeps half of
 * the slack after all moves.
 */
uint64_t bp_plan_floor(const struct bp_plan_state *state, uint64_t reserve)
{
	const struct btrfs_policy_placement *placement = state->placement;
	const struct bp_stock *stock = &state->now.stocks[BTRFS_POLICY_KIND_METADATA];
	uint64_t used = 0, floor, end;

	for (size_t i = 0; i < placement->profile_count; i++)
		if (placement->profiles[i].kind == BTRFS_POLICY_KIND_METADATA)
			used += placement->profiles[i].used;
	if (!reserve)
		reserve = used < GLOBAL_RESERVE_MAX ? used : GLOBAL_RESERVE_MAX;
	floor = bp_largest_chunk(state->candidates, state->candidate_count, stock->type) + reserve;
	floor = max_u64(floor, max_u64(state->now.metadata_free, used / 10));
	end = slack_in_the_end(state) / 2;
	return floor < end ? floor : end;
}

/* ---- Both --------------------------------------------------------------- */

void bp_plan_scan(struct bp_plan_state *state)
{
	state->now.spare = 0;
	for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++) {
		uint64_t type = state->now.stocks[kind].type;
		uint64_t bytes = state->worth[kind][bp_profile_index(type)];

		if (state->now.stocks[kind].flags &&
		    candidates_with_space(state, type, bytes) >= bp_profile_of(type)->devs_min)
			state->now.spare |= 1u << kind;
	}
	state->now.slack = state->now.stocks[BTRFS_POLICY_KIND_METADATA].flags ?
			state->now.metadata_free + allocatable(state, NULL) : 0;
}

/* Is the state now as safe as `before`? */
int bp_plan_is_safe(struct bp_plan_state *state, const struct bp_tally *before)
{
	struct bp_tally *now = &state->now;
	uint64_t floor = state->floor < before->slack ? state->floor : before->slack;

	bp_plan_scan(state);
	for (int kind = 0; kind < BTRFS_POLICY_KINDS; kind++) {
		if (before->spare & ~now->spare & 1u << kind) {
			state->short_kind = kind;
			return BP_NO_SPARE;
		}
	}
	if (now->slack >= floor)
		return BP_MOVABLE;
	state->short_slack = floor - now->slack;
	return BP_NO_SLACK;
}
