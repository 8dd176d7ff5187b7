/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much processor time a plan of very many chunks takes, and how much memory.
 * The time is shown; memory is checked, picture of the chunks included.
 * Usage: plan-large [CHUNKS...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "large-array.h"

#define MEMORY_MIB 64
#define RUNS 3

static const struct large_array array = {
	"two SSDs, ten disks", 2, 10, BTRFS_POLICY_ROLE_METADATA_ONLY,
	BTRFS_POLICY_ROLE_DATA_ONLY, 2, 50, false, 0,
};

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

struct figures {
	uint64_t judged_us, planned_us;
	uint64_t steps;
};

static int plan_once(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement,
		     struct figures *figures)
{
	struct btrfs_policy_plan *plan;
	uint64_t judged, start = now_us();
	int ret = bp_placement_sum(fs, placement);

	judged = now_us();
	if (!ret)
		ret = btrfs_policy_plan_new(fs, placement, NULL, &plan);
	if (ret)
		return ret;
	figures->judged_us = judged - start;
	figures->planned_us = now_us() - judged;
	figures->steps = btrfs_policy_plan_summary(plan)->steps;
	if (!figures->steps)
		printf("# %s\n", btrfs_policy_plan_blocked(plan));
	btrfs_policy_plan_free(plan);
	return figures->steps ? 0 : -ENOSPC;
}

/* The quickest of several runs: what others do to the caches is not the plan's. */
static int measure(struct btrfs_policy_fs *fs, uint64_t chunks, uint64_t *before_us)
{
	struct btrfs_policy_placement *placement = large_array(&array, chunks);
	struct figures best = { .planned_us = UINT64_MAX }, now;
	int ret = 0;

	for (int i = 0; !ret && i < RUNS; i++) {
		ret = plan_once(fs, placement, &now);
		if (!ret && now.planned_us < best.planned_us)
			best = now;
	}
	btrfs_policy_placement_free(placement);
	if (ret)
		return ret;
	printf("# %llu chunks, %llu steps: judged in %.1f ms, planned in %.1f ms (%.2f us a chunk, %.2f times the plan before), %ld MiB\n",
	       (unsigned long long)chunks, (unsigned long long)best.steps,
	       best.judged_us / 1000.0, best.planned_us / 1000.0,
	       (double)best.planned_us / chunks,
	       *before_us ? (double)best.planned_us / *before_us : 1, peak_kib() / 1024);
	*before_us = best.planned_us;
	return 0;
}

int main(int argc, char **argv)
{
	struct btrfs_policy_fs *fs = btrfs_policy_fs_new();
	uint64_t before_us = 0;
	int ret = fs ? 0 : 1;

	if (argc == 1)
		ret = ret ? ret : measure(fs, 100000, &before_us);
	for (int i = 1; !ret && i < argc; i++)
		ret = measure(fs, strtoull(argv[i], NULL, 10), &before_us);
	printf("1..2\n%s 1 - there is a plan\n", ret ? "not ok" : "ok");
	if (peak_kib() > MEMORY_MIB * 1024)
		ret = 1;
	printf("%s 2 - in less than %d MiB\n", ret ? "not ok" : "ok", MEMORY_MIB);
	btrfs_policy_fs_unref(fs);
	return ret ? 1 : 0;
}
