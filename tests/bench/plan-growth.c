/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the work of a plan grows with the number of chunks.  The files behind a plan
 * are compiled into this program so that each of their functions counts when it is
 * called, which no clock and no busy machine changes.  Twice the chunks may take
 * twice the calls and what the logarithm adds.
 * Usage: plan-growth [MOST-CHUNKS]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "large-array.h"

#define FIRST 3125
#define MOST 25000
/* For arrays that are not quite alike. */
#define TOLERANCE 1.08

#define PLAIN __attribute__((no_instrument_function))

static uint64_t calls;

/* What -finstrument-functions calls. */
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

PLAIN void __cyg_profile_func_enter(void *function, void *caller)
{
	calls++;
}

PLAIN void __cyg_profile_func_exit(void *function, void *caller)
{
}

static const struct large_array arrays[] = {
	{ "nothing is in the way", 2, 10, BTRFS_POLICY_ROLE_METADATA_ONLY,
	  BTRFS_POLICY_ROLE_DATA_ONLY, 2, 50, false, 0 },
	{ "SSDs full of data", 2, 10, BTRFS_POLICY_ROLE_METADATA_ONLY,
	  BTRFS_POLICY_ROLE_DATA_ONLY, 2, 10, true, 40 },
	{ "the same, nothing is excluded", 4, 10, BTRFS_POLICY_ROLE_METADATA_PREFERRED,
	  BTRFS_POLICY_ROLE_DATA_PREFERRED, 2, 10, true, 30 },
	{ "thousands of sets of devices", 10, 30, BTRFS_POLICY_ROLE_METADATA_ONLY,
	  BTRFS_POLICY_ROLE_DATA_ONLY, 3, 20, true, 40 },
};

/* Calls of a plan, 0 if there is none. */
static uint64_t count(struct btrfs_policy_fs *fs, const struct large_array *array,
		      uint64_t chunks, uint64_t *steps)
{
	struct btrfs_policy_placement *placement = large_array(array, chunks);
	struct btrfs_policy_plan *plan;

	if (bp_placement_sum(fs, placement))
		return 0;
	calls = 0;
	if (btrfs_policy_plan_new(fs, placement, NULL, &plan))
		return 0;
	*steps = btrfs_policy_plan_summary(plan)->steps;
	if (!*steps)
		printf("# %s\n", btrfs_policy_plan_blocked(plan));
	btrfs_policy_plan_free(plan);
	btrfs_policy_placement_free(placement);
	return *steps ? calls : 0;
}

static bool grows_well(struct btrfs_policy_fs *fs, const struct large_array *array, uint64_t most)
{
	uint64_t before = 0, steps;
	bool well = true;

	for (uint64_t chunks = FIRST; chunks <= most; chunks *= 2) {
		uint64_t now = count(fs, array, chunks, &steps);
		double growth = before ? (double)now / before : 0;
		double allowed = 2 * log(chunks) / log(chunks / 2.0) * TOLERANCE;

		printf("# %llu chunks, %llu steps: %llu calls, %.0f a chunk, %.2f times as many (at most %.2f)\n",
		       (unsigned long long)chunks, (unsigned long long)steps,
		       (unsigned long long)now, (double)now / chunks, growth, allowed);
		well = well && now && growth <= allowed;
		before = now;
	}
	return well;
}

int main(int argc, char **argv)
{
	struct btrfs_policy_fs *fs = btrfs_policy_fs_new();
	size_t arrays_count = BP_ARRAY_SIZE(arrays);
	uint64_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : MOST;
	bool all = fs;

	printf("1..%zu\n", arrays_count);
	for (size_t i = 0; fs && i < arrays_count; i++) {
		bool well = grows_well(fs, &arrays[i], most);

		printf("%s %zu - %s: no faster than n log n\n", well ? "ok" : "not ok", i + 1,
		       arrays[i].name);
		all = all && well;
	}
	btrfs_policy_fs_unref(fs);
	return all ? 0 : 1;
}
