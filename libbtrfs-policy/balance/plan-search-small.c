/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the last resort of a plan: trying every order of a few chunks, by moving
 * them and moving them back.  An end is reached when no chunk is out of place.
 */
#include "balance/plan-state.h"

#define BACK 2

struct small {
	struct bp_plan_state *state;
	const uint32_t *chunks;
	size_t count;
	uint32_t moved;		/* bits */
};

static bool is_done(const struct small *small)
{
	const struct bp_array *array = &small->state->array;

	for (size_t i = 0; i < small->count; i++)
		if (!(small->moved & 1u << i) &&
		    bp_judge(array->sites, array->count,
			     &small->state->placement->chunks[small->chunks[i]]))
			return false;
	return true;
}

static int descend(struct small *small);

/* 1: an end was found behind this move; BACK: none, and it was taken back; 0: no move */
static int try_one(struct small *small, size_t i, bool settle)
{
	struct bp_undo undo;
	int ret = bp_plan_move(small->state, small->chunks[i], settle, &undo);

	if (ret)
		return ret < 0 ? ret : 0;
	small->moved |= 1u << i;
	ret = descend(small);
	if (ret)
		return ret;
	small->moved &= ~(1u << i);
	ret = bp_plan_move_back(small->state, &undo);
	return ret ? ret : BACK;
}

/* With a second choice only what found no better place without. */
static int descend(struct small *small)
{
	uint32_t passed = small->moved;
	int ret = is_done(small);

	for (int settle = 0; !ret && settle < 2; settle++) {
		for (size_t i = 0; !ret && i < small->count; i++) {
			if (passed & 1u << i)
				continue;
			ret = try_one(small, i, settle);
			if (ret == BACK)
				passed |= 1u << i;
			ret = ret == BACK ? 0 : ret;
		}
	}
	return ret;
}

int bp_plan_search_small(struct bp_plan_state *state, const uint32_t *chunks, size_t count)
{
	struct small small = { .state = state, .chunks = chunks, .count = count };

	return descend(&small);
}
