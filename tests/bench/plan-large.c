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

#include "../../libbtrfs-policy/placement.h"

#define GiB (1024ULL * 1024 * 1024)
#define MiB (1024ULL * 1024)
#define DISKS 10
#define SSDS 2
#define MEMORY_MIB 64

static uint64_t chance = 1;

static uint32_t below(uint32_t limit)
{
	chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
	return (chance >> 33) % limit;
}

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

static void add_device(struct btrfs_policy_placement *placement, uint64_t size,
		       enum btrfs_policy_role role)
{
	size_t i = placement->device_count++;

	placement->sites[i] = (struct bp_site){
		.devid = i + 1, .role = role, .writeable = true, .size = size,
	};
	placement->devices[i] = (struct btrfs_policy_device_usage){
		.devid = i + 1, .role = role, .size = size,
	};
}

/* Two copies on two of the disks, next to what stands there. */
static void add_chunk(struct btrfs_policy_placement *placement, uint64_t index, uint64_t *ends)
{
	bool metadata = index % 50 == 0;
	uint64_t *words = calloc(4, sizeof(*words));
	struct btrfs_policy_chunk chunk = {
		.logical = (index + 1) * GiB, .length = GiB, .used = below(1024) * MiB,
		.type = BTRFS_BLOCK_GROUP_RAID1 |
			(metadata ? BTRFS_BLOCK_GROUP_METADATA : BTRFS_BLOCK_GROUP_DATA),
		.kind = metadata ? BTRFS_POLICY_KIND_METADATA : BTRFS_POLICY_KIND_DATA,
		.profile = "RAID1", .stripe_length = GiB, .stripes = 2,
		.devids = words, .offsets = words + 2,
	};
	uint32_t first = below(DISKS + SSDS), second = below(DISKS + SSDS - 1);

	words[0] = first + 1;
	words[1] = (second < first ? second : second + 1) + 1;
	for (int i = 0; i < 2; i++) {
		words[2 + i] = ends[words[i]];
		ends[words[i]] += GiB;
	}
	if (!words || bp_placement_add_chunk(placement, &chunk))
		exit(1);
}

static struct btrfs_policy_placement *build(uint64_t chunks)
{
	struct btrfs_policy_placement *placement = calloc(1, sizeof(*placement));
	uint64_t ends[DISKS + SSDS + 1], size = chunks / 3 * GiB + 64 * GiB;

	placement->sites = calloc(DISKS + SSDS, sizeof(*placement->sites));
	placement->devices = calloc(DISKS + SSDS, sizeof(*placement->devices));
	for (int i = 0; i < DISKS + SSDS; i++)
		add_device(placement, size, i < SSDS ? BTRFS_POLICY_ROLE_METADATA_ONLY :
						       BTRFS_POLICY_ROLE_DATA_ONLY);
	for (int i = 0; i <= DISKS + SSDS; i++)
		ends[i] = MiB;
	for (uint64_t i = 0; i < chunks; i++)
		add_chunk(placement, i, ends);
	for (int i = 0; i < DISKS + SSDS; i++) {
		placement->sites[i].room = size - ends[i + 1];
		placement->devices[i].unallocated = size - ends[i + 1] + MiB;
	}
	return placement;
}

static int measure(struct btrfs_policy_fs *fs, uint64_t chunks)
{
	struct btrfs_policy_placement *placement = build(chunks);
	const struct btrfs_policy_plan_summary *sum;
	struct btrfs_policy_plan *plan;
	uint64_t judged, start = now_us();
	int ret = bp_placement_sum(fs, placement);

	judged = now_us();
	if (!ret)
		ret = btrfs_policy_plan_new(fs, placement, 0, &plan);
	if (ret)
		return ret;
	sum = btrfs_policy_plan_summary(plan);
	printf("# %llu chunks, %llu steps: judged in %.1f ms, planned in %.1f ms, %ld MiB%s%s\n",
	       (unsigned long long)chunks, (unsigned long long)sum->steps,
	       (judged - start) / 1000.0, (now_us() - judged) / 1000.0, peak_kib() / 1024,
	       sum->steps ? "" : ": ", sum->steps ? "" : btrfs_policy_plan_blocked(plan));
	if (!sum->steps)
		ret = -ENOSPC;
	btrfs_policy_plan_free(plan);
	btrfs_policy_placement_free(placement);
	return ret;
}

int main(int argc, char **argv)
{
	struct btrfs_policy_fs *fs = btrfs_policy_fs_new();
	int ret = fs ? 0 : 1;

	if (argc == 1)
		ret = ret ? ret : measure(fs, 100000);
	for (int i = 1; !ret && i < argc; i++)
		ret = measure(fs, strtoull(argv[i], NULL, 10));
	printf("1..2\n%s 1 - there is a plan\n", ret ? "not ok" : "ok");
	if (peak_kib() > MEMORY_MIB * 1024)
		ret = 1;
	printf("%s 2 - in less than %d MiB\n", ret ? "not ok" : "ok", MEMORY_MIB);
	btrfs_policy_fs_unref(fs);
	return ret ? 1 : 0;
}
