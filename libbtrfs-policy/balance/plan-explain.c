/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The error text if there is no plan: the devices that lack space for the first
 * blocked chunk, how much, and the remedy.
 */
#include <string.h>

#include "balance/plan-state.h"

#define MIB (1024ULL * 1024)
/* A list of devices in a message is no longer than this. */
#define NAMED 6

/* Devices of the first choice first, then those with most free space. */
static int by_offer(const void *a, const void *b, void *type)
{
	struct bp_candidate *left = *(struct bp_candidate **)a;
	struct bp_candidate *right = *(struct bp_candidate **)b;
	uint32_t left_off = bp_not_first_choice(left, 1, *(uint64_t *)type, &left->devid, 1);
	uint32_t right_off = bp_not_first_choice(right, 1, *(uint64_t *)type, &right->devid, 1);
	uint64_t left_offer = bp_candidate_offer(left, *(uint64_t *)type);
	uint64_t right_offer = bp_candidate_offer(right, *(uint64_t *)type);

	if (left_off != right_off)
		return left_off < right_off ? -1 : 1;
	if (left_offer != right_offer)
		return left_offer > right_offer ? -1 : 1;
	return (left->devid > right->devid) - (left->devid < right->devid);
}

static unsigned long long mebibytes(uint64_t bytes)
{
	return (bytes + MIB - 1) / MIB;
}

/* "devid 1 lacks 20 MiB, devid 2 lacks 40 MiB" of the `needed` devices that come first. */
static char *name_lacks(const struct bp_candidate **candidates, uint64_t type, uint32_t needed,
			uint64_t part)
{
	char *text = strdup("");
	uint32_t named = 0;

	for (uint32_t i = 0; text && i < needed && named < NAMED; i++) {
		uint64_t offer = bp_candidate_offer(candidates[i], type);
		char *old = text;

		if (offer >= part)
			continue;
		text = bp_format("%s%sdevid %llu lacks %llu MiB", old, named++ ? ", " : "",
				 (unsigned long long)candidates[i]->devid, mebibytes(part - offer));
		free(old);
	}
	return text;
}

static char *explain_space(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			  uint64_t *missing)
{
	const struct bp_stock *stock = &state->now.stocks[chunk->kind];
	const struct bp_profile *profile = bp_profile_of(stock->type);
	_cleanup_free_ const struct bp_candidate **candidates =
		calloc(state->candidate_count + 1, sizeof(*candidates));
	uint64_t type = stock->type, have = stock->free_placed[bp_profile_index(type)];
	/* On as few devices as the profile needs each has a part of all that goes into new chunks. */
	uint64_t part = (chunk->used > have ? chunk->used - have : 1) * profile->dev_stripes;
	const char *kind = btrfs_policy_kind_name(chunk->kind);
	_cleanup_free_ char *names = NULL;
	uint32_t allowed = 0;

	if (!candidates)
		return NULL;
	for (size_t i = 0; i < state->candidate_count; i++) {
		const struct bp_candidate *candidate = &state->candidates[i];

		if (candidate->writeable && !bp_excluded(candidate, type))
			candidates[allowed++] = candidate;
	}
	qsort_r(candidates, allowed, sizeof(*candidates), by_offer, &type);
	*missing = part;
	if (allowed < profile->devs_min)
		return bp_format("%s,%s needs %u device%s that may hold it and there %s %u: change a role, add a device, or convert the profile",
				 kind, profile->name, profile->devs_min,
				 profile->devs_min == 1 ? "" : "s", allowed == 1 ? "is" : "are", allowed);
	if (bp_candidate_offer(candidates[profile->devs_min - 1], type) < part)
		*missing = part - bp_candidate_offer(candidates[profile->devs_min - 1], type);
	names = name_lacks(candidates, type, profile->devs_min, part);
	if (!names)
		return NULL;
	return bp_format("%s,%s chunk %llu does not fit on the devices that should hold it%s%s: delete or move data, add a device that takes %s, or change a role",
			 kind, chunk->profile, (unsigned long long)chunk->logical,
			 *names ? ", " : "", names,
			 chunk->kind == BTRFS_POLICY_KIND_DATA ? "data" : "metadata");
}

/* Of a chunk that must not be relocated. */
static char *explain_stripes(const struct bp_plan_state *state,
			     const struct btrfs_policy_chunk *chunk, uint64_t *missing)
{
	_cleanup_free_ char *why = NULL;

	switch (state->obstacle) {
	case BTRFS_POLICY_NO_HOLE:
		*missing = chunk->stripe_length;
		why = bp_format("no device that should hold it has a free extent of %llu MiB",
				mebibytes(*missing));
		break;
	case BTRFS_POLICY_DEVICE_GONE:
		why = strdup("a device of it is missing or read-only");
		break;
	default:
		why = strdup("there is no better device for each misplaced stripe");
		break;
	}
	return !why ? NULL :
	       bp_format("%s,%s chunk %llu cannot be moved by its stripes: %s; let it be relocated",
			 btrfs_policy_kind_name(chunk->kind), chunk->profile,
			 (unsigned long long)chunk->logical, why);
}

/* The reason why the chunk cannot be moved; NULL without memory. */
char *bp_plan_explain(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      uint64_t *missing)
{
	const char *kind = btrfs_policy_kind_name(chunk->kind);
	unsigned long long logical = chunk->logical;
	struct bp_tally before;
	uint64_t type;

	switch (bp_plan_move(state, chunk - state->placement->chunks, true, &before)) {
	case BP_MOVABLE:	/* but only to make room for others, which is not enough */
		return bp_plan_move_back(state, &before) ? NULL : explain_space(state, chunk, missing);
	case BP_NO_SPARE:
		type = state->now.stocks[state->short_kind].type;
		*missing = state->worth[state->short_kind][bp_profile_index(type)];
		return bp_format("moving %s,%s chunk %llu would leave too little space for another chunk of %s, which needs %llu MiB free on %u of the devices that take it: delete or move data, add such a device, or change a role",
				 kind, chunk->profile, logical,
				 btrfs_policy_kind_name(state->short_kind), mebibytes(*missing),
				 bp_profile_of(type)->devs_min);
	case BP_NO_SLACK:
		*missing = state->short_slack;
		return bp_format("moving %s,%s chunk %llu would leave metadata %llu MiB less to grow into than the %llu MiB it has to keep: move or delete data on the devices that take metadata, add such a device, or change a role",
				 kind, chunk->profile, logical, mebibytes(*missing),
				 mebibytes(state->floor));
	default:
		return state->no_relocation ? explain_stripes(state, chunk, missing) :
					      explain_space(state, chunk, missing);
	}
}
