/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes pictures of very many chunks: each of 1 GiB, next to what stands on its
 * devices already.  Ends the program when there is no memory.
 */
#include <stdio.h>
#include <stdlib.h>

#include "large-array.h"

#define GiB (1024ULL * 1024 * 1024)
#define MiB (1024ULL * 1024)

static uint64_t chance;

static uint32_t below(uint32_t limit)
{
	chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
	return (chance >> 33) % limit;
}

static void *zeroed(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return memory;
}

/* Different devices of a range. */
static void choose_devices(uint64_t *devids, unsigned int copies, unsigned int first,
			   unsigned int count)
{
	for (unsigned int i = 0; i < copies; i++) {
		bool again = true;

		while (again) {
			again = false;
			devids[i] = 1 + first + below(count);
			for (unsigned int j = 0; j < i; j++)
				again |= devids[j] == devids[i];
		}
	}
}

static void choose(const struct large_array *array, bool metadata, uint64_t *devids)
{
	unsigned int first = array->apart && metadata ? array->ssds : 0;
	unsigned int count = array->ssds + array->disks - first;

	choose_devices(devids, array->copies, first, count);
}

static void add_chunk(struct btrfs_policy_placement *placement, const struct large_array *array,
		      uint64_t index, uint64_t *ends)
{
	bool metadata = index % array->metadata_each == 0;
	uint64_t *words = zeroed(2 * array->copies, sizeof(*words));
	struct btrfs_policy_chunk chunk = {
		.logical = (index + 1) * GiB, .length = GiB, .used = below(1024) * MiB,
		.type = (array->copies == 3 ? BTRFS_BLOCK_GROUP_RAID1C3 :
					      BTRFS_BLOCK_GROUP_RAID1) |
			(metadata ? BTRFS_BLOCK_GROUP_METADATA : BTRFS_BLOCK_GROUP_DATA),
		.kind = metadata ? BTRFS_POLICY_KIND_METADATA : BTRFS_POLICY_KIND_DATA,
		.profile = "RAID1", .stripe_length = GiB, .stripes = array->copies,
		.devids = words, .offsets = words + array->copies,
	};

	choose(array, metadata, words);
	for (unsigned int i = 0; i < array->copies; i++) {
		words[array->copies + i] = ends[words[i]];
		ends[words[i]] += GiB;
	}
	if (bp_placement_add_chunk(placement, &chunk))
		exit(1);
}

static void add_device(struct btrfs_policy_placement *placement, uint64_t size, uint64_t end,
		       enum btrfs_policy_role role)
{
	size_t i = placement->device_count++;

	placement->candidates[i] = (struct bp_candidate){
		.devid = i + 1, .role = role, .writeable = true, .size = size, .room = size - end,
	};
	placement->devices[i] = (struct btrfs_policy_device_usage){
		.devid = i + 1, .role = role, .size = size, .unallocated = size - end + MiB,
	};
}

struct btrfs_policy_placement *large_array(const struct large_array *array, uint64_t chunks)
{
	struct btrfs_policy_placement *placement = zeroed(1, sizeof(*placement));
	unsigned int devices = array->ssds + array->disks;
	uint64_t ends[LARGE_DEVICES + 1];

	chance = 1;
	placement->candidates = zeroed(devices, sizeof(*placement->candidates));
	placement->devices = zeroed(devices, sizeof(*placement->devices));
	for (unsigned int i = 0; i <= devices; i++)
		ends[i] = MiB;
	for (uint64_t i = 0; i < chunks; i++)
		add_chunk(placement, array, i, ends);
	for (unsigned int i = 0; i < devices; i++) {
		uint64_t size = array->spare_gib ? ends[i + 1] + array->spare_gib * GiB :
						   chunks / 3 * GiB + 64 * GiB;

		add_device(placement, size, ends[i + 1],
			   i < array->ssds ? array->ssd_role : array->disk_role);
	}
	return placement;
}
