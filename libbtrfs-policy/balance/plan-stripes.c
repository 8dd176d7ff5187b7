/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which stripes of a misplaced chunk are on wrong devices, and where each of them would
 * go: to a device as the allocator ranks them, which has no stripe of the chunk and a
 * free extent as long as the stripe.
 */
#include <string.h>

#include "balance/plan-state.h"
#include "core/profiles.h"

static const char *const names[] = {
	[BTRFS_POLICY_NOT_WANTED] = "not wanted",
	[BTRFS_POLICY_NO_KERNEL] = "no kernel support",
	[BTRFS_POLICY_NO_FORMAT] = "on-disk format",
	[BTRFS_POLICY_EMPTY] = "empty",
	[BTRFS_POLICY_OTHER_PROFILE] = "other profile",
	[BTRFS_POLICY_DEVICE_GONE] = "device gone",
	[BTRFS_POLICY_NO_HOLE] = "no hole",
	[BTRFS_POLICY_NO_DEVICE] = "no device",
	[BTRFS_POLICY_TOO_TIGHT] = "too tight",
	[BTRFS_POLICY_REFUSED] = "refused",
};

BP_PUBLIC const char *btrfs_policy_obstacle_name(enum btrfs_policy_obstacle obstacle)
{
	return (size_t)obstacle < BP_ARRAY_SIZE(names) ? names[obstacle] : NULL;
}

/* ---- All chunks --------------------------------------------------------- */

int bp_method_check(struct btrfs_policy_fs *fs, enum btrfs_policy_method method,
		    enum btrfs_policy_obstacle *obstacle)
{
	int ret;

	*obstacle = method == BTRFS_POLICY_METHOD_RELOCATE ? BTRFS_POLICY_NOT_WANTED :
		    !bp_capable(fs, "move-stripe") ? BTRFS_POLICY_NO_KERNEL :
		    fs->fixed_stripes ? BTRFS_POLICY_NO_FORMAT : BTRFS_POLICY_BY_STRIPES;
	if (method != BTRFS_POLICY_METHOD_STRIPES)
		return 0;
	ret = bp_need(fs, "move-stripe", "move chunks by their stripes");
	if (!ret && fs->fixed_stripes)
		ret = bp_error(fs, -EOPNOTSUPP,
			       "cannot move chunks of '%s' by their stripes: the kernel does not do so on zoned file systems, nor with the features raid-stripe-tree and extent-tree-v2; let it relocate them",
			       fs->mount_point);
	return ret;
}

/* ---- One stripe --------------------------------------------------------- */

static bool first_choice(const struct bp_candidate *candidate, uint64_t type)
{
	return !bp_not_first_choice((struct bp_candidate *)candidate, 1, type, &candidate->devid, 1);
}

/*
 * May the device take stripe `at`?  A stripe of DUP goes where the other one is if that has
 * moved, those of other profiles to different devices.
 */
static bool may_take(const struct btrfs_policy_chunk *chunk, const uint64_t *devids, uint32_t at,
		     uint64_t devid)
{
	bool dup = chunk->type & BTRFS_BLOCK_GROUP_DUP;

	for (uint32_t i = 0; i < chunk->stripes; i++)
		if (dup ? devids[i] != devids[at] && devids[i] != devid : devids[i] == devid)
			return false;
	return true;
}

/* A device for stripe `at`; `any`: a second choice, too, as it must leave its own. */
static const struct bp_candidate *find_target(struct bp_plan_state *state,
					      const struct btrfs_policy_chunk *chunk,
					      const uint64_t *devids, uint32_t at, bool any,
					      uint64_t *offset)
{
	const struct bp_candidate *best = NULL;
	bool best_first = false;

	for (size_t i = 0; i < state->candidate_count; i++) {
		const struct bp_candidate *candidate = &state->candidates[i];
		bool first = first_choice(candidate, chunk->type);
		uint64_t place = UINT64_MAX;

		if (!candidate->writeable || bp_excluded(candidate, chunk->type) ||
		    (!any && !first) || !may_take(chunk, devids, at, candidate->devid))
			continue;
		if (bp_candidate_offer(candidate, chunk->type) >= chunk->stripe_length)
			place = bp_array_place_stripe(candidate, chunk->stripe_length);
		if (place == UINT64_MAX) {
			state->obstacle = BTRFS_POLICY_NO_HOLE;
		} else if (!best || first > best_first ||
			   (first == best_first && candidate->free_space > best->free_space)) {
			best = candidate;
			best_first = first;
			*offset = place;
		}
	}
	return best;
}

/* ---- One chunk ---------------------------------------------------------- */

/* Moves stripe `i`, if there is a better device: 1 moved, 0 not. */
static int place_stripe(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			uint32_t i, uint64_t *data, uint32_t moved)
{
	uint64_t *devids = data, *offsets = data + chunk->stripes, *new = offsets + chunk->stripes;
	const struct bp_candidate *source =
		bp_candidate_find(state->candidates, state->candidate_count, chunk->devids[i]);
	struct btrfs_policy_chunk part = *chunk;
	const struct bp_candidate *target;
	uint64_t offset;
	int ret;

	target = find_target(state, chunk, devids, i,
			     source && bp_excluded(source, chunk->type), &offset);
	if (!target)
		return 0;
	if (!source || !source->writeable) {
		state->obstacle = BTRFS_POLICY_DEVICE_GONE;
		return 0;
	}
	new[2 * chunk->stripes + moved] = devids[i];
	new[3 * chunk->stripes + moved] = offsets[i];
	new[moved] = devids[i] = target->devid;
	new[chunk->stripes + moved] = offsets[i] = offset;
	part.stripes = 1;
	part.devids = &devids[i];
	part.offsets = &offsets[i];
	ret = bp_array_use(state->candidates, state->candidate_count, &part);
	return ret ? ret : 1;
}

static int place_all(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
		     uint64_t *data, uint32_t *moved)
{
	/* Those that must leave first, then those that have a better device. */
	for (int must = 1; must >= 0; must--) {
		for (uint32_t i = 0; i < chunk->stripes; i++) {
			const struct bp_candidate *source = bp_candidate_find(state->candidates,
						state->candidate_count, chunk->devids[i]);
			bool excluded = source && bp_excluded(source, chunk->type);
			int ret;

			if (excluded != must || (source && first_choice(source, chunk->type)))
				continue;
			ret = place_stripe(state, chunk, i, data, *moved);
			if (ret < 0)
				return ret;
			*moved += ret;
		}
	}
	return *moved ? BP_MOVABLE : BP_NO_PLACE;
}

/* A chunk that relocation would treat differently, or that cannot be moved so. */
static enum btrfs_policy_obstacle obstacle_of(const struct bp_plan_state *state,
					      const struct btrfs_policy_chunk *chunk)
{
	uint64_t profile = bp_profile_of(state->now.stocks[chunk->kind].type)->flag;

	if (state->may && state->may[chunk - state->placement->chunks] == BP_MAY_RELOCATE)
		return BTRFS_POLICY_REFUSED;
	if (state->no_relocation)
		return BTRFS_POLICY_BY_STRIPES;
	if (!chunk->used)
		return BTRFS_POLICY_EMPTY;
	return bp_profile_of(chunk->type)->flag == profile ? BTRFS_POLICY_BY_STRIPES :
							     BTRFS_POLICY_OTHER_PROFILE;
}

int bp_plan_place_stripes(struct bp_plan_state *state, const struct btrfs_policy_chunk *chunk,
			  uint64_t *data, uint32_t *moved)
{
	struct btrfs_policy_chunk part = *chunk;
	int ret, back;

	*moved = 0;
	state->obstacle = obstacle_of(state, chunk);
	if (state->obstacle ||
	    bp_classify(state->candidates, state->candidate_count, chunk) == BTRFS_POLICY_PLACED)
		return BP_NOT_BETTER;
	state->obstacle = BTRFS_POLICY_NO_DEVICE;
	memcpy(data, chunk->devids, chunk->stripes * sizeof(*data));
	memcpy(data + chunk->stripes, chunk->offsets, chunk->stripes * sizeof(*data));
	ret = place_all(state, chunk, data, moved);
	if (ret <= 0)
		return ret;
	part.stripes = *moved;
	part.devids = data + 2 * chunk->stripes;
	part.offsets = data + 3 * chunk->stripes;
	back = bp_array_release(state->candidates, state->candidate_count, &part);
	return back ? back : ret;
}
