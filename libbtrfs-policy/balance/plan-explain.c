/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the words for a plan that does not exist: which devices lack how much for
 * the first chunk that finds no place, and what would help.
 */
#include <string.h>

#include "balance/plan-state.h"

#define MIB (1024ULL * 1024)
/* A list of devices in a message is no longer than this. */
#define NAMED 6

struct lack {
	uint64_t devid;
	uint64_t hole;
};

static int by_hole(const void *a, const void *b)
{
	const struct lack *left = a, *right = b;

	if (left->hole != right->hole)
		return left->hole > right->hole ? -1 : 1;
	return (left->devid > right->devid) - (left->devid < right->devid);
}

/* Devices that may hold the type, the roomiest first. */
static uint32_t gather(const struct bp_plan_state *state, uint64_t type, struct lack *lacks)
{
	uint32_t found = 0;

	for (size_t i = 0; i < state->array.count; i++) {
		const struct bp_site *site = &state->array.sites[i];

		if (site->writeable && !bp_excluded(site, type))
			lacks[found++] = (struct lack){ site->devid, bp_site_offer(site, type) };
	}
	qsort(lacks, found, sizeof(*lacks), by_hole);
	return found;
}

static unsigned long long mebibytes(uint64_t bytes)
{
	return (bytes + MIB - 1) / MIB;
}

/* "devid 1 lacks 20 MiB, devid 2 lacks 40 MiB" of the `needed` roomiest devices. */
static char *name_lacks(const struct lack *lacks, uint32_t needed, uint64_t part)
{
	char *text = strdup("");
	uint32_t named = 0;

	for (uint32_t i = 0; text && i < needed && named < NAMED; i++) {
		char *old = text;

		if (lacks[i].hole >= part)
			continue;
		text = bp_format("%s%sdevid %llu lacks %llu MiB", old, named++ ? ", " : "",
				 (unsigned long long)lacks[i].devid,
				 mebibytes(part - lacks[i].hole));
		free(old);
	}
	return text;
}

/* Bytes on each device that what the chunk holds needs beyond what is free in chunks. */
static uint64_t part_of(const struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk)
{
	const struct bp_stock *stock = &state->stocks[chunk->kind];
	const struct bp_profile *profile = bp_profile_of(stock->type);
	uint32_t own = bp_profile_index(stock->type);
	uint64_t have = stock->right[own];
	uint64_t left = chunk->used > have ? chunk->used - have : 1;

	/* On as few devices as the profile needs each has a part of all. */
	return left * profile->dev_stripes;
}

static char *explain_room(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			  uint64_t *missing)
{
	uint64_t type = state->stocks[chunk->kind].type;
	const struct bp_profile *profile = bp_profile_of(type);
	_cleanup_free_ struct lack *lacks = calloc(state->array.count + 1, sizeof(*lacks));
	uint64_t part = part_of(state, chunk);
	const char *kind = btrfs_policy_kind_name(chunk->kind);
	_cleanup_free_ char *names = NULL;
	uint32_t allowed;

	if (!lacks)
		return NULL;
	allowed = gather(state, type, lacks);
	*missing = part;
	if (allowed < profile->devs_min)
		return bp_format("%s,%s needs %u device%s that may hold it and there %s %u: change a role, add a device, or convert the profile",
				 kind, profile->name, profile->devs_min,
				 profile->devs_min == 1 ? "" : "s", allowed == 1 ? "is" : "are", allowed);
	if (lacks[profile->devs_min - 1].hole < part)
		*missing = part - lacks[profile->devs_min - 1].hole;
	names = name_lacks(lacks, profile->devs_min, part);
	if (!names)
		return NULL;
	return bp_format("%s,%s chunk %llu finds no room where its roles want it%s%s: delete or move data, add a device that takes %s, or change a role",
			 kind, chunk->profile, (unsigned long long)chunk->logical,
			 *names ? ", " : "", names,
			 chunk->kind == BTRFS_POLICY_KIND_DATA ? "data" : "metadata");
}

static char *explain_spare(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			   uint64_t *missing)
{
	enum btrfs_policy_kind kind = state->short_kind;
	uint64_t type = state->stocks[kind].type;
	uint64_t bytes = state->worth[kind][bp_profile_index(type)];

	*missing = bytes;
	return bp_format("moving %s,%s chunk %llu would leave no room for one more chunk of %s, which wants %llu MiB free on %u of the devices that take it: delete or move data, add such a device, or change a role",
			 btrfs_policy_kind_name(chunk->kind), chunk->profile,
			 (unsigned long long)chunk->logical, btrfs_policy_kind_name(kind),
			 mebibytes(bytes), bp_profile_of(type)->devs_min);
}

static char *explain_slack(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			   uint64_t *missing)
{
	*missing = state->short_slack;
	return bp_format("moving %s,%s chunk %llu would leave metadata %llu MiB less to grow into than the %llu MiB it has to keep: move or delete data on the devices that take metadata, add such a device, or change a role",
			 btrfs_policy_kind_name(chunk->kind), chunk->profile,
			 (unsigned long long)chunk->logical, mebibytes(state->short_slack),
			 mebibytes(state->floor));
}

/* What keeps the chunk where it is; NULL without memory. */
char *bp_plan_explain(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		      uint64_t *missing)
{
	struct bp_undo undo;

	switch (bp_plan_move(state, chunk - state->placement->chunks, true, &undo)) {
	case BP_NO_SPARE:
		return explain_spare(state, chunk, missing);
	case BP_NO_SLACK:
		return explain_slack(state, chunk, missing);
	default:
		return explain_room(state, chunk, missing);
	}
}
