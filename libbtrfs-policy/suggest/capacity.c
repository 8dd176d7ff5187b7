/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The effects of proposed roles: the capacity of the array for each kind, profiles
 * that would lack devices, and chunks that would have to be moved.  Pure: uses only
 * the allocator's model in select.c.
 */
#include <string.h>

#include "suggest/suggest.h"

/* Part of the smallest free space to fill in one step; small, to keep the order exact. */
#define STEP_PART 64

/* Fill the empty array with one kind; with @first only while it is on first-choice devices. */
static int fill(const struct bp_candidate *candidates, size_t count, uint64_t type, bool first,
		uint64_t *bytes)
{
	_cleanup_free_ struct bp_candidate *left = calloc(count, sizeof(*left));
	_cleanup_free_ uint64_t *devids = calloc(bp_stripes_most(count), sizeof(*devids));
	struct btrfs_policy_chunk made;
	int ret = left && devids ? 0 : -ENOMEM;

	*bytes = 0;
	for (size_t i = 0; !ret && i < count; i++) {
		left[i] = candidates[i];
		left[i].free_space = bp_candidate_allocatable(&left[i], left[i].size);
	}
	while (!ret && (ret = bp_select(left, count, type, &made, devids, NULL)) == 0) {
		uint64_t space, number = UINT64_MAX;

		if (first && bp_not_first_choice(left, count, type, devids, made.stripes))
			break;
		/* How often the same chunk can be made before another device would be better. */
		for (uint32_t i = 0; i < made.stripes; i++) {
			space = bp_candidate_find(left, count, devids[i])->free_space;
			number = space < number ? space : number;
		}
		number /= made.stripe_length * STEP_PART;
		number = number ? number : 1;
		*bytes += number * made.length;
		for (uint32_t i = 0; i < made.stripes; i++)
			bp_candidate_find(left, count, devids[i])->free_space -=
				number * made.stripe_length;
	}
	return ret == -ENOSPC ? 0 : ret;
}

/* System chunks are too small to tell of, mixed ones ignore roles. */
static int add_capacities(struct btrfs_policy_suggestion *suggestion,
			  const struct btrfs_policy_placement *placement,
			  const struct bp_candidate *before, const struct bp_candidate *after)
{
	const size_t count = placement->device_count;
	int ret = 0;

	suggestion->capacities = calloc(placement->profile_count + 1,
					sizeof(*suggestion->capacities));
	if (!suggestion->capacities)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < placement->profile_count; i++) {
		const struct btrfs_policy_profile_usage *usage = &placement->profiles[i];
		struct btrfs_policy_capacity *row =
			&suggestion->capacities[suggestion->capacity_count];

		if (usage->kind != BTRFS_POLICY_KIND_DATA &&
		    usage->kind != BTRFS_POLICY_KIND_METADATA)
			continue;
		row->kind = usage->kind;
		row->profile = usage->profile;
		ret = fill(before, count, usage->type, false, &row->before);
		if (!ret)
			ret = fill(after, count, usage->type, false, &row->after);
		if (!ret)
			ret = fill(after, count, usage->type, true, &row->first_choice);
		suggestion->capacity_count += !ret;
	}
	return ret;
}

static int add_mismatches(struct btrfs_policy_suggestion *suggestion, size_t count,
		       const struct bp_candidate *before, const struct bp_candidate *after)
{
	static const uint64_t types[] = {
		[BTRFS_POLICY_KIND_DATA] = BTRFS_BLOCK_GROUP_DATA,
		[BTRFS_POLICY_KIND_METADATA] = BTRFS_BLOCK_GROUP_METADATA,
	};
	size_t most = 0;

	while (bp_profile_at(most))
		most++;
	suggestion->mismatches =
		calloc(BP_ARRAY_SIZE(types) * most, sizeof(*suggestion->mismatches));
	if (!suggestion->mismatches)
		return -ENOMEM;
	for (size_t kind = 0; kind < BP_ARRAY_SIZE(types); kind++)
		for (size_t i = 0; i < most; i++) {
			const struct bp_profile *profile = bp_profile_at(i);
			uint32_t left = bp_allowed_candidates(after, count, types[kind]);

			if (bp_allowed_candidates(before, count, types[kind]) >=
			    profile->devs_min &&
			    left < profile->devs_min)
				suggestion->mismatches[suggestion->mismatch_count++] =
					(struct btrfs_policy_mismatch){
						kind, profile->name, profile->devs_min, left };
		}
	return 0;
}

int bp_suggest_effects(struct btrfs_policy_suggestion *suggestion,
		       const struct btrfs_policy_placement *placement,
		       const struct bp_candidate *before, struct bp_candidate *after)
{
	int ret = add_capacities(suggestion, placement, before, after);

	if (!ret)
		ret = add_mismatches(suggestion, placement->device_count, before, after);
	for (size_t i = 0; !ret && i < placement->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &placement->chunks[i];

		if (bp_classify(after, placement->device_count, chunk) == BTRFS_POLICY_PLACED)
			continue;
		suggestion->move_chunks++;
		suggestion->move_bytes += chunk->length;
	}
	return ret;
}
