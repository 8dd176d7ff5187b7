/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns one move in the imagined file system, and taking it back.  What a chunk
 * holds goes into free space of chunks that stand right, then into new chunks
 * where the allocator puts them; only then the old one is given back, as the
 * kernel does it.
 */
#include <string.h>

#include "balance/plan-state.h"

static uint64_t *words_at(const struct bp_plan_state *state, size_t place)
{
	return (uint64_t *)state->words.data + place;
}

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
	uint64_t type = state->stocks[chunk->kind].type;
	uint64_t before, after;

	if (!settle)
		return bp_is_best(state, type, target->devids, target->stripes);
	if (why == BTRFS_POLICY_ON_EXCLUDED)
		return true;
	before = not_first(state, chunk->type, chunk->devids, chunk->stripes);
	after = not_first(state, type, target->devids, target->stripes);
	return after * chunk->stripes < before * target->stripes;
}

static int keep_made(struct bp_plan_state *state, const struct bp_target *target)
{
	size_t stripes = target->stripes;
	struct bp_made *made = bp_vector_add(&state->made, sizeof(*made), 1);
	uint64_t *words = bp_vector_add(&state->words, sizeof(*words), 2 * stripes);

	if (!made || !words)
		return -ENOMEM;
	memcpy(words, target->devids, stripes * sizeof(*words));
	memcpy(words + stripes, target->offsets, stripes * sizeof(*words));
	*made = (struct bp_made){
		.length = target->length, .stripe_length = target->stripe_length,
		.place = state->words.count, .stripes = target->stripes,
	};
	state->made.count++;
	state->words.count += 2 * stripes;
	return 0;
}

/* In place of the one with least room. */
static void keep_second(struct bp_stock *stock, uint32_t made, uint32_t profile, uint64_t bytes)
{
	struct bp_second *least = stock->seconds;

	for (size_t i = 1; i < BP_SECONDS; i++)
		if (stock->seconds[i].bytes < least->bytes)
			least = &stock->seconds[i];
	if (least->bytes < bytes)
		*least = (struct bp_second){ made, profile, bytes };
}

static int make_chunk(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      enum btrfs_policy_misplaced why, bool settle, uint64_t *left)
{
	struct bp_stock *stock = &state->stocks[chunk->kind];
	uint32_t profile = bp_profile_index(stock->type);
	struct bp_target target;
	uint64_t taken;
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
	if (bp_is_best(state, stock->type, target.devids, target.stripes))
		stock->right[profile] += target.length - taken;
	else
		keep_second(stock, state->made.count - 1, profile, target.length - taken);
	*left -= taken;
	stock->chunks[profile]++;
	stock->newest[profile] = state->made.count;
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		state->metadata_free += target.length - taken;
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
static bool second_serves(struct bp_plan_state *state, enum btrfs_policy_kind kind,
			  const struct bp_second *second)
{
	const struct bp_made *made = (const struct bp_made *)state->made.data + second->made;
	const struct btrfs_policy_chunk chunk = {
		.type = state->stocks[kind].flags | bp_profile_at(second->profile)->flag,
		.kind = kind, .stripes = made->stripes, .stripe_length = made->stripe_length,
		.devids = words_at(state, made->place),
	};

	return bp_judge(state->array.sites, state->array.count, &chunk) == BTRFS_POLICY_PLACED;
}

static void take_seconds(struct bp_plan_state *state, enum btrfs_policy_kind kind,
			 uint32_t profile, uint64_t *left)
{
	struct bp_second *seconds = state->stocks[kind].seconds;

	for (size_t i = 0; i < BP_SECONDS; i++)
		if (seconds[i].bytes && (!profile || seconds[i].profile == profile) &&
		    second_serves(state, kind, &seconds[i]))
			take(&seconds[i].bytes, left);
}

/* A new extent without redundancy may go into chunks of any profile. */
static void take_free(struct bp_plan_state *state, enum btrfs_policy_kind kind, bool second,
		      uint64_t *left)
{
	struct bp_stock *stock = &state->stocks[kind];
	uint32_t own = bp_profile_index(stock->type);
	uint64_t before = *left;

	for (uint32_t i = own; i <= (own ? own : BP_PROFILES - 1); i++)
		take(&stock->right[i], left);
	if (second)
		take_seconds(state, kind, own, left);
	if (kind == BTRFS_POLICY_KIND_METADATA)
		state->metadata_free -= before - *left;
}

static int place(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		 enum btrfs_policy_misplaced why, bool settle)
{
	uint64_t left = chunk->used;
	int ret = BP_FITS;

	/* What is free in the chunk itself is out of use from the start. */
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		state->metadata_free -= chunk->length - chunk->used;
	take_free(state, chunk->kind, settle, &left);
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
	struct bp_space *spaces = bp_vector_add(&state->spaces, sizeof(*spaces), count);

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
			spaces[move->space_count++] =
				(struct bp_space){ (uint32_t)i, before, least, after };
	}
	state->spaces.count += move->space_count;
	state->moves.count++;
	return 0;
}

/* ---- The move ----------------------------------------------------------- */

static int release(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk)
{
	struct bp_stock *stock = &state->stocks[chunk->kind];
	uint32_t profile = bp_profile_index(chunk->type);

	if (!--stock->chunks[profile]) {
		stock->profiles &= ~bp_profile_of(chunk->type)->flag;
		stock->type = bp_type_of_new(stock->flags, stock->profiles,
					     bp_plan_writeable(&state->array));
	}
	return bp_array_release(&state->array, chunk->devids, chunk->offsets, chunk->stripes,
				chunk->stripe_length);
}

static int move(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk, bool settle,
		struct bp_undo *undo)
{
	enum btrfs_policy_misplaced why =
		bp_judge(state->array.sites, state->array.count, chunk);
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
	ret = release(state, chunk);
	return ret ? ret : bp_plan_is_safe(state, &undo->safety);
}

int bp_plan_move(struct bp_plan_state *state, uint32_t index, bool settle, struct bp_undo *undo)
{
	const struct btrfs_policy_chunk *chunk = &state->placement->chunks[index];
	int ret, back;

	*undo = (struct bp_undo){
		.stock = state->stocks[chunk->kind], .safety = state->safety,
		.metadata_free = state->metadata_free, .made = state->made.count,
		.words = state->words.count, .spaces = state->spaces.count,
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
	const struct bp_made *made = state->made.data;
	int ret = 0;

	for (size_t i = undo->made; !ret && i < state->made.count; i++)
		ret = bp_array_release(&state->array, words_at(state, made[i].place),
				       words_at(state, made[i].place) + made[i].stripes,
				       made[i].stripes, made[i].stripe_length);
	if (!ret && undo->released)
		ret = bp_array_use(&state->array, chunk->devids, chunk->offsets, chunk->stripes,
				   chunk->stripe_length);
	state->stocks[chunk->kind] = undo->stock;
	state->safety = undo->safety;
	state->metadata_free = undo->metadata_free;
	state->made.count = undo->made;
	state->words.count = undo->words;
	state->spaces.count = undo->spaces;
	state->moves.count = undo->moves;
	return ret;
}
