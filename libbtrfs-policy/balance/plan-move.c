/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One move in the simulated file system, and its undo.  By stripes a chunk stays, and
 * some of its extents are elsewhere.  By relocation its data goes into free space of
 * correctly placed chunks, then into new chunks that the allocator places.  Only then
 * is the old place freed, as in the kernel.
 */
#include <string.h>

#include "balance/plan-state.h"

static uint32_t not_first(struct bp_plan_state *state, uint64_t type, const uint64_t *devids,
			  uint32_t stripes)
{
	return bp_not_first_choice(state->candidates, state->candidate_count, type, devids,
				   stripes);
}

/* ---- New chunks --------------------------------------------------------- */

/*
 * Does the chunk occupy a device of the first choice that is too full for a new one?
 * Elsewhere it leaves room for others: one SSD is full, another one is new, and each
 * chunk has its second copy on a disk.
 */
static bool is_in_the_way(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk)
{
	for (uint32_t i = 0; i < chunk->stripes; i++) {
		const struct bp_candidate *candidate =
			bp_candidate_find(state->candidates, state->candidate_count, chunk->devids[i]);

		if (candidate && !not_first(state, chunk->type, &chunk->devids[i], 1) &&
		    bp_candidate_offer(candidate, chunk->type) < chunk->stripe_length)
			return true;
	}
	return false;
}

/*
 * Is the target a better place?  With `settle` a place that is not the best will do,
 * any place for data that leaves a device that excludes it, and one that is as good as
 * the old one to make room.
 */
static bool is_better(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      enum btrfs_policy_misplaced why, const struct btrfs_policy_chunk *target, bool settle)
{
	uint64_t before, after;

	if (!settle)
		return bp_is_best(state, target->type, target->devids, target->stripes);
	if (why == BTRFS_POLICY_ON_EXCLUDED)
		return true;
	before = not_first(state, chunk->type, chunk->devids, chunk->stripes);
	after = not_first(state, target->type, target->devids, target->stripes);
	if (after * chunk->stripes != before * target->stripes)
		return after * chunk->stripes < before * target->stripes;
	state->makes_room = is_in_the_way(state, chunk);
	return state->makes_room;
}

static int keep_made(struct bp_plan_state *state, const struct btrfs_policy_chunk *target)
{
	size_t size = target->stripes * sizeof(*target->devids);
	struct btrfs_policy_chunk *made = bp_grown(state->made, &state->made_space,
						   state->now.made + 1, sizeof(*made));
	uint64_t *devids = malloc(2 * size);

	if (made)
		state->made = made;
	if (!made || !devids) {
		free(devids);
		return -ENOMEM;
	}
	made += state->now.made++;
	*made = *target;
	made->offsets = memcpy(devids + target->stripes, target->offsets, size);
	made->devids = memcpy(devids, target->devids, size);
	return 0;
}

/* So much of a chunk at a new place is free for others. */
static void offer_rest(struct bp_plan_state *state, const struct btrfs_policy_chunk *target,
		       uint64_t rest)
{
	struct bp_stock *stock = &state->now.stocks[bp_kind_of(target->type)];
	uint32_t least = 0;

	if (bp_is_best(state, target->type, target->devids, target->stripes)) {
		stock->free_placed[bp_profile_index(target->type)] += rest;
		return;
	}
	/* In place of the one with the fewest free bytes. */
	for (uint32_t i = 1; i < BP_SECOND_CHOICES; i++)
		if (stock->second_choice_bytes[i] < stock->second_choice_bytes[least])
			least = i;
	if (stock->second_choice_bytes[least] < rest) {
		stock->second_choice_bytes[least] = rest;
		stock->second_choices[least] = state->now.made - 1;
	}
}

static int make_chunk(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      enum btrfs_policy_misplaced why, bool settle, uint64_t *left)
{
	struct bp_stock *stock = &state->now.stocks[chunk->kind];
	uint32_t profile = bp_profile_index(stock->type);
	struct btrfs_policy_chunk target;
	uint64_t taken, rest;
	int ret = bp_array_allocate(state->candidates, state->candidate_count, stock->type,
				    &target, state->stripe_data);

	if (ret)
		return ret == -ENOSPC ? BP_NO_PLACE : ret;
	/* Recorded before the check, so that the undo finds it. */
	ret = keep_made(state, &target);
	if (ret)
		return ret;
	if (!is_better(state, chunk, why, &target, settle))
		return BP_NOT_BETTER;
	taken = *left < target.length ? *left : target.length;
	rest = target.length - taken;
	*left -= taken;
	offer_rest(state, &target, rest);
	stock->chunks[profile]++;
	stock->newest[profile] = state->now.made;
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		state->now.metadata_free += rest;
	return BP_MOVABLE;
}

/* ---- Free space in chunks ----------------------------------------------- */

static void take(uint64_t *from, uint64_t *left)
{
	uint64_t taken = *from < *left ? *from : *left;

	*from -= taken;
	*left -= taken;
}

/* Chunks made on second choice devices serve while there is no better place. */
static void take_second_choices(struct bp_plan_state *state, enum btrfs_policy_kind kind,
			 uint32_t profile, uint64_t *left)
{
	struct bp_stock *stock = &state->now.stocks[kind];

	for (size_t i = 0; i < BP_SECOND_CHOICES; i++) {
		const struct btrfs_policy_chunk *made = &state->made[stock->second_choices[i]];

		if (!stock->second_choice_bytes[i] ||
		    (profile && bp_profile_index(made->type) != profile))
			continue;
		if (bp_classify(state->candidates, state->candidate_count, made) ==
		    BTRFS_POLICY_PLACED)
			take(&stock->second_choice_bytes[i], left);
	}
}

static int place(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		 enum btrfs_policy_misplaced why, bool settle)
{
	struct bp_stock *stock = &state->now.stocks[chunk->kind];
	uint32_t own = bp_profile_index(stock->type);
	uint64_t left = chunk->used;
	int ret = BP_MOVABLE;

	/* A new extent without redundancy may go into chunks of any profile. */
	for (uint32_t i = own; i <= (own ? own : BP_PROFILES - 1); i++)
		take(&stock->free_placed[i], &left);
	if (settle)
		take_second_choices(state, chunk->kind, own, &left);
	/* Free space in the chunk itself is unusable from the start. */
	if (chunk->kind == BTRFS_POLICY_KIND_METADATA)
		state->now.metadata_free -= bp_placement_free_in(state->placement, chunk) +
					    chunk->used - left;
	while (left && !ret)
		ret = make_chunk(state, chunk, why, settle, &left);
	return ret;
}

/* ---- The record --------------------------------------------------------- */

static void note_free_space(struct bp_plan_state *state, size_t from)
{
	for (size_t i = 0; i < state->candidate_count; i++)
		state->free_spaces[from + i] = state->candidates[i].free_space;
}

static int note_step(struct bp_plan_state *state, uint32_t index, const struct bp_tally *before)
{
	const struct btrfs_policy_chunk *chunk = &state->placement->chunks[index];
	const struct bp_stock *stock = &before->stocks[chunk->kind];
	size_t count = state->candidate_count;
	struct bp_move *move = bp_grown(state->moves, &state->move_space, state->now.moves + 1,
					sizeof(*move));
	struct btrfs_policy_step_space *spaces = bp_grown(state->spaces, &state->space_space,
							  state->now.spaces + count, sizeof(*spaces));

	if (move)
		state->moves = move;
	if (spaces)
		state->spaces = spaces;
	if (!move || !spaces)
		return -ENOMEM;
	move += state->now.moves++;
	state->now.better += !state->makes_room;
	*move = (struct bp_move){
		.chunk = index, .obstacle = state->obstacle, .made = before->made,
		.spaces = state->now.spaces,
	};
	if (state->now.made > before->made)
		move->target = before->made + 1;
	else if (chunk->used)
		move->target = stock->newest[bp_profile_index(stock->type)];
	spaces += move->spaces;
	for (size_t i = 0; i < count; i++) {
		uint64_t at_first = state->free_spaces[i], least = state->free_spaces[count + i];
		uint64_t after = state->candidates[i].free_space;

		if (at_first != least || least != after)
			spaces[move->space_count++] = (struct btrfs_policy_step_space){
				state->candidates[i].devid, at_first, least, after };
	}
	state->now.spaces += move->space_count;
	return 0;
}

/* ---- By relocation ------------------------------------------------------ */

/* With `released` the old chunk has been given back. */
static int put_back(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		    bool released, const struct bp_tally *before)
{
	const struct btrfs_policy_chunk *made = state->made;
	int ret = 0;

	for (size_t i = before->made; i < state->now.made; i++) {
		if (!ret)
			ret = bp_array_release(state->candidates, state->candidate_count, &made[i]);
		free((uint64_t *)made[i].devids);
	}
	if (!ret && released)
		ret = bp_array_use(state->candidates, state->candidate_count, chunk);
	state->now = *before;
	return ret;
}

static int move(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk, bool settle,
		const struct bp_tally *before, bool *released)
{
	enum btrfs_policy_misplaced why =
		bp_classify(state->candidates, state->candidate_count, chunk);
	struct bp_stock *stock = &state->now.stocks[chunk->kind];
	int ret = BP_NOT_BETTER;

	if (why != BTRFS_POLICY_PLACED)
		ret = place(state, chunk, why, settle);
	if (ret)
		return ret;
	ret = bp_plan_is_safe(state, before);
	if (ret)
		return ret;
	note_free_space(state, state->candidate_count);
	*released = true;
	if (!--stock->chunks[bp_profile_index(chunk->type)]) {
		stock->profiles &= ~bp_profile_of(chunk->type)->flag;
		stock->type = bp_type_of_new(stock->flags, stock->profiles,
					     bp_plan_writeable(state));
	}
	ret = bp_array_release(state->candidates, state->candidate_count, chunk);
	return ret ? ret : bp_plan_is_safe(state, before);
}

int bp_plan_relocate(struct bp_plan_state *state, uint32_t index, bool settle,
		     struct bp_tally *before)
{
	const struct btrfs_policy_chunk *chunk = &state->placement->chunks[index];
	bool released = false;
	int ret, back;

	*before = state->now;
	state->makes_room = false;
	note_free_space(state, 0);
	ret = move(state, chunk, settle, before, &released);
	if (!ret)
		ret = note_step(state, index, before);
	else if (ret > 0 && (back = put_back(state, chunk, released, before)))
		return back;
	return ret;
}

/* ---- By stripes --------------------------------------------------------- */

/* The free space in the chunk is unusable from the start, until its place has changed. */
static int change_place(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			const struct btrfs_policy_chunk *old, const struct bp_tally *before)
{
	bool counted = chunk->kind == BTRFS_POLICY_KIND_METADATA;
	uint64_t rest = bp_placement_free_in(state->placement, chunk);
	int ret;

	state->now.metadata_free -= counted ? rest : 0;
	ret = bp_plan_is_safe(state, before);
	if (ret)
		return ret;
	note_free_space(state, state->candidate_count);
	state->now.metadata_free += counted ? rest : 0;
	ret = bp_array_release(state->candidates, state->candidate_count, old);
	if (ret)
		return ret;
	ret = bp_plan_is_safe(state, before);
	if (ret) {
		int error = bp_array_use(state->candidates, state->candidate_count, old);

		return error ? error : ret;
	}
	offer_rest(state, &state->made[state->now.made - 1], rest);
	return BP_MOVABLE;
}

/* `new` and `old`: what moves of the chunk; `target`: the chunk afterwards. */
static int settle_stripes(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			  const struct btrfs_policy_chunk *target,
			  const struct btrfs_policy_chunk *old, bool settle,
			  const struct bp_tally *before)
{
	enum btrfs_policy_misplaced why =
		bp_classify(state->candidates, state->candidate_count, chunk);
	int ret;

	if (bp_classify(state->candidates, state->candidate_count, target) ||
	    !is_better(state, chunk, why, target, settle) || state->makes_room)
		return BP_NOT_BETTER;
	ret = keep_made(state, target);
	if (ret)
		return ret;
	state->obstacle = BTRFS_POLICY_TOO_TIGHT;
	ret = change_place(state, chunk, old, before);
	if (!ret)
		state->obstacle = BTRFS_POLICY_BY_STRIPES;
	else if (state->now.made > before->made)
		free((uint64_t *)state->made[before->made].devids);
	return ret;
}

int bp_plan_move_stripes(struct bp_plan_state *state, uint32_t index, bool settle,
			 struct bp_tally *before)
{
	const struct btrfs_policy_chunk *chunk = &state->placement->chunks[index];
	_cleanup_free_ uint64_t *data = calloc(6 * chunk->stripes + 1, sizeof(*data));
	struct btrfs_policy_chunk target = *chunk, new = *chunk, old = *chunk;
	int ret, back;

	if (!data)
		return -ENOMEM;
	*before = state->now;
	state->makes_room = false;
	note_free_space(state, 0);
	ret = bp_plan_place_stripes(state, chunk, data, &new.stripes);
	if (ret)
		return ret;
	old.stripes = new.stripes;
	target.devids = data;
	target.offsets = data + chunk->stripes;
	new.devids = target.offsets + chunk->stripes;
	new.offsets = new.devids + chunk->stripes;
	old.devids = new.offsets + chunk->stripes;
	old.offsets = old.devids + chunk->stripes;
	ret = settle_stripes(state, chunk, &target, &old, settle, before);
	if (!ret)
		return note_step(state, index, before);
	state->makes_room = false;
	state->now = *before;
	back = ret > 0 ? bp_array_release(state->candidates, state->candidate_count, &new) : 0;
	return back ? back : ret;
}

/* ---- Both --------------------------------------------------------------- */

int bp_plan_move(struct bp_plan_state *state, uint32_t index, bool settle, struct bp_tally *before)
{
	int ret = BP_NOT_BETTER;

	if (!state->no_stripes)
		ret = bp_plan_move_stripes(state, index, settle, before);
	return ret <= 0 || state->no_relocation ? ret :
						  bp_plan_relocate(state, index, settle, before);
}

int bp_plan_move_back(struct bp_plan_state *state, const struct bp_tally *before)
{
	const struct bp_move *move = &state->moves[before->moves];

	return put_back(state, &state->placement->chunks[move->chunk], true, before);
}
