/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns one move in the imagined file system, and taking it back.  What a chunk
 * holds goes into free space of chunks that stand right, then into new chunks
 * where the allocator puts them; only then the old one is given back, as the
 * kernel does it.
 */
#include <string.h>

#include "balance/plan-state.h"

static uint32_t not_first(struct bp_plan_state *state, uint64_t type, const uint64_t *devids,
			  uint32_t stripes)
{
	return bp_not_first_choice(state->array.sites, state->array.count, type, devids, stripes);
}

/* ---- New chunks --------------------------------------------------------- */

/*
 * Would the contents stand better there?  Only when it has to settle for that, less
 * than the best will do, and any place for what leaves a device that excludes it.
 */
static bool is_better(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      enum btrfs_policy_misplaced why, const struct bp_target *target, bool settle)
{
	uint64_t before, after;

	if (!settle)
		return bp_is_best(state, target->type, target->devids, target->stripes);
	if (why == BTRFS_POLICY_ON_EXCLUDED)
		return true;
	before = not_first(state, chunk->type, chunk->devids, chunk->stripes);
	after = not_first(state, target->type, target->devids, target->stripes);
	return after * chunk->stripes < before * target->stripes;
}

static int keep_made(struct bp_plan_state *state, const struct bp_target *target)
{
	size_t size = target->stripes * sizeof(*target->devids);
	struct bp_target *made = bp_vector_add(&state->made, sizeof(*made), 1);
	_cleanup_free_ uint64_t *devids = malloc(2 * size);

	if (!made || !devids)
		return -ENOMEM;
	*made = *target;
	made->offsets = memcpy(devids + target->stripes, target->offsets, size);
	made->devids = memcpy(devids, target->devids, size);
	devids = NULL;
	state->made.count++;
	return 0;
}

static int make_chunk(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      enum btrfs_policy_misplaced why, bool settle, uint64_t *left)
{
	struct bp_stock *stock = &state->stocks[chunk->kind];
	uint32_t profile = bp_profile_index(stock->type);
	struct bp_target target;
	uint64_t taken, rest;
	int ret = bp_array_allocate(&state->array, stock->type, &target);

	if (ret)
		return ret == -ENOSPC ? BP_NO_PLACE : ret;
	/* Kept before it is judged, so that taking back finds it. */
	ret = keep_made(state, &target);
	if (ret)
		return ret;
	if (!is_better(state, chunk, why, &target, settle))
		return BP_NOT_BETTER;
	taken = *left < target.length ? *left : target.length;
	rest = target.length - taken;
	*left -= taken;
	if (bp_is_best(state, stock->type, target.devids, target.stripes)) {
		stock->right[profile] += rest;
	} else {
		uint32_t least = 0;

		/* In place of the one with the fewest free bytes. */
		for (uint32_t i = 1; i < BP_SECONDS; i++)
			if (stock->second_bytes[i] < stock->second_bytes[least])
				least = i;
		if (stock->second_bytes[least] < rest) {
			stock->second_bytes[least] = rest;
			stock->seconds[least] = state->made.count - 1;
		}
	}
	stock->chunks[profile]++;
	stock->newest[profile] = state->made.count;
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		state->metadata_free += rest;
	return BP_FITS;
}

/* ---- Free space in chunks ----------------------------------------------- */

static void take(uint64_t *from, uint64_t *left)
{
	uint64_t taken = *from < *left ? *from : *left;

	*from -= taken;
	*left -= taken;
}

/* Chunks made on second choice devices serve while there is no better place. */
static void take_seconds(struct bp_plan_state *state, enum btrfs_policy_kind kind,
			 uint32_t profile, uint64_t *left)
{
	struct bp_stock *stock = &state->stocks[kind];

	for (size_t i = 0; i < BP_SECONDS; i++) {
		const struct bp_target *made =
			(const struct bp_target *)state->made.data + stock->seconds[i];
		struct btrfs_policy_chunk chunk = { .kind = kind };

		if (!stock->second_bytes[i] || (profile && bp_profile_index(made->type) != profile))
			continue;
		chunk.type = made->type;
		chunk.stripes = made->stripes;
		chunk.stripe_length = made->stripe_length;
		chunk.devids = made->devids;
		if (bp_judge(state->array.sites, state->array.count, &chunk) == BTRFS_POLICY_PLACED)
			take(&stock->second_bytes[i], left);
	}
}

static int place(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		 enum btrfs_policy_misplaced why, bool settle)
{
	struct bp_stock *stock = &state->stocks[chunk->kind];
	uint32_t own = bp_profile_index(stock->type);
	uint64_t left = chunk->used;
	int ret = BP_FITS;

	/* A new extent without redundancy may go into chunks of any profile. */
	for (uint32_t i = own; i <= (own ? own : BP_PROFILES - 1); i++)
		take(&stock->right[i], &left);
	if (settle)
		take_seconds(state, chunk->kind, own, &left);
	/* What is free in the chunk itself is out of use from the start. */
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		state->metadata_free -= chunk->length - left;
	while (left && !ret)
		ret = make_chunk(state, chunk, why, settle, &left);
	return ret;
}

/* ---- The record --------------------------------------------------------- */

static void note_rooms(struct bp_plan_state *state, size_t from)
{
	for (size_t i = 0; i < state->array.count; i++)
		state->rooms[from + i] = state->array.sites[i].room;
}

static int note_step(struct bp_plan_state *state, uint32_t index, const struct bp_undo *undo)
{
	const struct btrfs_policy_chunk *chunk = &state->placement->chunks[index];
	const struct bp_stock *stock = &undo->stock;
	size_t count = state->array.count;
	struct bp_move *move = bp_vector_add(&state->moves, sizeof(*move), 1);
	struct btrfs_policy_step_space *spaces = bp_vector_add(&state->spaces, sizeof(*spaces), count);

	if (!move || !spaces)
		return -ENOMEM;
	*move = (struct bp_move){
		.chunk = index, .made = undo->made, .spaces = state->spaces.count,
	};
	if (state->made.count > undo->made)
		move->target = undo->made + 1;
	else if (chunk->used)
		move->target = stock->newest[bp_profile_index(stock->type)];
	for (size_t i = 0; i < count; i++) {
		uint64_t before = state->rooms[i], least = state->rooms[count + i];
		uint64_t after = state->array.sites[i].room;

		if (before != least || least != after)
			spaces[move->space_count++] = (struct btrfs_policy_step_space){
				state->array.sites[i].devid, before, least, after };
	}
	state->spaces.count += move->space_count;
	state->moves.count++;
	return 0;
}

/* ---- The move ----------------------------------------------------------- */

static int move(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk, bool settle,
		struct bp_undo *undo)
{
	enum btrfs_policy_misplaced why =
		bp_judge(state->array.sites, state->array.count, chunk);
	struct bp_stock *stock = &state->stocks[chunk->kind];
	int ret = BP_NOT_BETTER;

	if (why != BTRFS_POLICY_PLACED)
		ret = place(state, chunk, why, settle);
	if (ret)
		return ret;
	ret = bp_plan_is_safe(state, &undo->safety);
	if (ret)
		return ret;
	note_rooms(state, state->array.count);
	undo->released = true;
	if (!--stock->chunks[bp_profile_index(chunk->type)]) {
		stock->profiles &= ~bp_profile_of(chunk->type)->flag;
		stock->type = bp_type_of_new(stock->flags, stock->profiles,
					     bp_plan_writeable(&state->array));
	}
	ret = bp_array_release(&state->array, chunk->devids, chunk->offsets, chunk->stripes,
			       chunk->stripe_length);
	return ret ? ret : bp_plan_is_safe(state, &undo->safety);
}

int bp_plan_move(struct bp_plan_state *state, uint32_t index, bool settle, struct bp_undo *undo)
{
	const struct btrfs_policy_chunk *chunk = &state->placement->chunks[index];
	int ret, back;

	*undo = (struct bp_undo){
		.stock = state->stocks[chunk->kind], .safety = state->safety,
		.metadata_free = state->metadata_free, .made = state->made.count,
		.spaces = state->spaces.count,
		.moves = state->moves.count, .chunk = index,
	};
	note_rooms(state, 0);
	ret = move(state, chunk, settle, undo);
	if (!ret)
		ret = note_step(state, index, undo);
	else if (ret > 0 && (back = bp_plan_move_back(state, undo)))
		return back;
	return ret;
}

int bp_plan_move_back(struct bp_plan_state *state, const struct bp_undo *undo)
{
	const struct btrfs_policy_chunk *chunk = &state->placement->chunks[undo->chunk];
	const struct bp_target *made = state->made.data;
	int ret = 0;

	for (size_t i = undo->made; i < state->made.count; i++) {
		if (!ret)
			ret = bp_array_release(&state->array, made[i].devids, made[i].offsets,
					       made[i].stripes, made[i].stripe_length);
		free(made[i].devids);
	}
	if (!ret && undo->released)
		ret = bp_array_use(&state->array, chunk->devids, chunk->offsets, chunk->stripes,
				   chunk->stripe_length);
	state->stocks[chunk->kind] = undo->stock;
	state->safety = undo->safety;
	state->metadata_free = undo->metadata_free;
	state->made.count = undo->made;
	state->spaces.count = undo->spaces;
	state->moves.count = undo->moves;
	return ret;
}
