/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns what would come of proposed roles: how much of each kind the array could
 * hold, which profiles would no longer fit, what would have to be moved.  Pure:
 * asks the allocator's model in select.c and nothing else.
 */
#include <string.h>

#include "suggest/suggest.h"

/* A part of the smallest room that is filled in one step: small, so that the order stays right. */
#define STEP_PART 64

static struct bp_site *emptied(const struct bp_site *sites, size_t count)
{
	struct bp_site *copy = calloc(count, sizeof(*copy));

	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = sites[i];
		copy[i].room = sites[i].size > BP_DEVICE_RESERVED ?
			sites[i].size - BP_DEVICE_RESERVED : 0;
	}
	return copy;
}

/* How often the same chunk can be made before another device would be better. */
static uint64_t times(struct bp_site *sites, size_t count, const struct bp_target *target)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < target->stripes; i++) {
		uint64_t room = bp_site_find(sites, count, target->devids[i])->room;

		least = room < least ? room : least;
	}
	least /= target->stripe_length * STEP_PART;
	return least ? least : 1;
}

static void take(struct bp_site *sites, size_t count, const struct bp_target *target,
		 uint64_t number)
{
	for (uint32_t i = 0; i < target->stripes; i++)
		bp_site_find(sites, count, target->devids[i])->room -=
			number * target->stripe_length;
}

/* Fill the empty array with one kind; with @first only while it stands on first-choice devices. */
static int fill(const struct bp_site *sites, size_t count, uint64_t type, bool first,
		uint64_t *bytes)
{
	_cleanup_free_ struct bp_site *left = emptied(sites, count);
	_cleanup_free_ uint64_t *devids = calloc(bp_target_capacity(count), sizeof(*devids));
	struct bp_target target = { .devids = devids };
	int ret = left && devids ? 0 : -ENOMEM;

	*bytes = 0;
	while (!ret && (ret = bp_select(left, count, type, &target)) == 0) {
		uint64_t number = times(left, count, &target);

		if (first && bp_not_first_choice(left, count, type, devids, target.stripes))
			break;
		*bytes += number * target.length;
		take(left, count, &target, number);
	}
	return ret == -ENOSPC ? 0 : ret;
}

static int add_capacity(struct btrfs_policy_suggestion *suggestion, size_t count,
			const struct btrfs_policy_profile_usage *usage,
			const struct bp_site *before, const struct bp_site *after)
{
	struct btrfs_policy_capacity *row = &suggestion->capacities[suggestion->capacity_count];
	int ret;

	row->kind = usage->kind;
	row->profile = usage->profile;
	ret = fill(before, count, usage->type, false, &row->before);
	if (!ret)
		ret = fill(after, count, usage->type, false, &row->after);
	if (!ret)
		ret = fill(after, count, usage->type, true, &row->first_choice);
	suggestion->capacity_count += !ret;
	return ret;
}

/* System chunks are too small to tell of, mixed ones ignore roles. */
static int add_capacities(struct btrfs_policy_suggestion *suggestion,
			  const struct btrfs_policy_placement *placement,
			  const struct bp_site *before, const struct bp_site *after)
{
	int ret = 0;

	suggestion->capacities = calloc(placement->profile_count + 1,
					sizeof(*suggestion->capacities));
	if (!suggestion->capacities)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < placement->profile_count; i++) {
		const struct btrfs_policy_profile_usage *usage = &placement->profiles[i];

		if (usage->kind == BTRFS_POLICY_KIND_DATA ||
		    usage->kind == BTRFS_POLICY_KIND_METADATA)
			ret = add_capacity(suggestion, placement->device_count, usage, before,
					   after);
	}
	return ret;
}

static void add_misfits_of(struct btrfs_policy_suggestion *suggestion,
			   enum btrfs_policy_kind kind, uint32_t before, uint32_t after)
{
	const struct bp_profile *profile;

	for (size_t i = 0; (profile = bp_profile_at(i)); i++) {
		if (before < profile->devs_min || after >= profile->devs_min)
			continue;
		suggestion->misfits[suggestion->misfit_count++] = (struct btrfs_policy_misfit){
			kind, profile->name, profile->devs_min, after
		};
	}
}

static int add_misfits(struct btrfs_policy_suggestion *suggestion, size_t count,
		       const struct bp_site *before, const struct bp_site *after)
{
	static const uint64_t types[] = {
		[BTRFS_POLICY_KIND_DATA] = BTRFS_BLOCK_GROUP_DATA,
		[BTRFS_POLICY_KIND_METADATA] = BTRFS_BLOCK_GROUP_METADATA,
	};
	size_t most = 0;

	while (bp_profile_at(most))
		most++;
	suggestion->misfits = calloc(BP_ARRAY_SIZE(types) * most, sizeof(*suggestion->misfits));
	if (!suggestion->misfits)
		return -ENOMEM;
	for (size_t kind = 0; kind < BP_ARRAY_SIZE(types); kind++)
		add_misfits_of(suggestion, kind, bp_allowed_sites(before, count, types[kind]),
			       bp_allowed_sites(after, count, types[kind]));
	return 0;
}

static void add_moves(struct btrfs_policy_suggestion *suggestion,
		      const struct btrfs_policy_placement *placement, struct bp_site *after)
{
	for (size_t i = 0; i < placement->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &placement->chunks[i];

		if (bp_judge(after, placement->device_count, chunk) == BTRFS_POLICY_PLACED)
			continue;
		suggestion->move_chunks++;
		suggestion->move_bytes += chunk->length;
	}
}

int bp_suggest_effects(struct btrfs_policy_suggestion *suggestion,
		       const struct btrfs_policy_placement *placement,
		       const struct bp_site *before, struct bp_site *after)
{
	int ret = add_capacities(suggestion, placement, before, after);

	if (!ret)
		ret = add_misfits(suggestion, placement->device_count, before, after);
	if (!ret)
		add_moves(suggestion, placement, after);
	return ret;
}
