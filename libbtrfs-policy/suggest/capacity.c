/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The effects of proposed roles: the capacity of the array for each kind, profiles
 * that would lack devices, and chunks that would have to be moved.  Pure: uses only
 * the allocator's model.
 */
#include <string.h>

#include "allocator/array.h"
#include "suggest/suggest.h"

/* Fill the empty array with one kind; with @first only while it is on first-choice devices. */
static int fill(const struct bp_candidate *candidates, size_t count, uint64_t type, bool first,
		uint64_t *bytes)
{
	struct bp_candidate *array = bp_array_new(candidates, count);
	int ret = array ? bp_array_fill(array, count, type, first, bytes) : -ENOMEM;

	bp_array_free(array, count);
	return ret;
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
