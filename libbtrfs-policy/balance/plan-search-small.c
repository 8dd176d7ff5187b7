/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last resort of a plan: tries every order of a few chunks, by moving them and
 * moving them back, until no chunk is misplaced.
 */
#include "balance/plan-state.h"

static bool is_done(const struct bp_plan_state *state, const uint32_t *chunks, size_t count,
		    uint32_t moved)
{
	for (size_t i = 0; i < count; i++)
		if (!(moved & 1u << i) &&
		    bp_classify(state->candidates, state->candidate_count,
			     &state->placement->chunks[chunks[i]]))
			return false;
	return true;
}

/* A second choice is accepted only for chunks without a better place. */
int bp_plan_search_small(struct bp_plan_state *state, const uint32_t *chunks, size_t count,
			 uint32_t moved)
{
	uint32_t passed = moved;
	int ret = is_done(state, chunks, count, moved) && (!moved || state->now.better);

	for (int settle = 0; !ret && settle < 2; settle++) {
		for (size_t i = 0; !ret && i < count; i++) {
			struct bp_tally before;

			if (passed & 1u << i)
				continue;
			ret = bp_plan_move(state, chunks[i], settle, &before);
			if (ret > 0)	/* it cannot be moved now */
				ret = 0;
			else if (!ret) {
				passed |= 1u << i;
				ret = bp_plan_search_small(state, chunks, count, moved | 1u << i);
				if (!ret)
					ret = bp_plan_move_back(state, &before);
			}
		}
	}
	return ret;
}
