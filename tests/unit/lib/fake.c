/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Building the made-up machine: devices, chunks and files, and the free
 * extents for a chunk.
 */
#include <stdio.h>
#include <string.h>

#include "fake.h"

static const char policies_ours[] = "[pid] roundrobin";
static const char policies_upstream[] = "[pid] round-robin:262144 devid:1";

static void add_own_files(struct fake *fake)
{
	fake_set_file(fake, "features/device_role", "");
	fake_set_file(fake, "features/device_drain", "");
	fake_set_file(fake, "features/read_policy_roundrobin", "");
	fake_set_file(fake, FAKE_FSID "/read_policies/policy", policies_ours);
	fake_set_file(fake, FAKE_FSID "/read_policies/roundrobin_rot_nonlocal_inc", "1");
	fake_set_file(fake, FAKE_FSID "/read_policies/roundrobin_nonrot_nonlocal_inc", "0");
	fake_set_file(fake, FAKE_FSID "/read_policies/roundrobin_nonlocal_inc_mixed_only", "1");
	fake_set_file(fake, FAKE_FSID "/allocation/lagging_superblocks", "0");
}

void fake_init(struct fake *fake, enum fake_kernel kernel)
{
	memset(fake, 0, sizeof(*fake));
	fake->kernel = kernel;
	fake->fail_with = -EIO;
	fake->label = "pool";
	fake->mounts[0] = "/mnt";
	fake->mount_type = "ext4";
	fake_set_file(fake, FAKE_FSID "/bdi/read_ahead_kb", "4096");
	fake_set_file(fake, FAKE_FSID "/exclusive_operation", "none");
	if (kernel == FAKE_OURS) {
		add_own_files(fake);
		return;
	}
	fake_set_file(fake, FAKE_FSID "/read_policy",
		      kernel == FAKE_UPSTREAM ? policies_upstream : "[pid]");
}

struct fake_device *fake_add_device(struct fake *fake, uint64_t size, uint64_t disk_type,
				    bool rotational)
{
	struct fake_device *device = &fake->devices[fake->device_count++];

	device->devid = fake->device_count;
	device->size = size;
	device->type = disk_type;
	device->rotational = rotational;
	return device;
}

struct fake_device *fake_device_find(struct fake *fake, uint64_t devid)
{
	for (size_t i = 0; i < fake->device_count; i++)
		if (fake->devices[i].devid == devid)
			return &fake->devices[i];
	return NULL;
}

/* Chunks are in the order of their addresses. */
static uint64_t next_logical(const struct fake *fake)
{
	const struct fake_chunk *last;

	if (!fake->chunk_count)
		return MiB;
	last = &fake->chunks[fake->chunk_count - 1];
	return last->logical + last->length;
}

uint64_t fake_stripe_length(const struct fake_chunk *chunk)
{
	const struct bp_profile *profile = bp_profile_of(chunk->type);

	return profile ? bp_stripe_length(profile, chunk->length, chunk->stripes) : 0;
}

/* The end of the stripe that contains `at`, else `at`. */
static uint64_t skip_used(const struct fake *fake, uint64_t devid, uint64_t at, uint64_t *next)
{
	*next = UINT64_MAX;
	for (size_t i = 0; i < fake->chunk_count; i++) {
		const struct fake_chunk *chunk = &fake->chunks[i];

		for (uint32_t j = 0; j < chunk->stripes; j++) {
			uint64_t start = chunk->offsets[j], end = start + fake_stripe_length(chunk);

			if (chunk->devids[j] != devid || !start || end <= at)
				continue;
			if (start <= at)
				return skip_used(fake, devid, end, next);
			*next = start < *next ? start : *next;
		}
	}
	return at;
}

uint64_t fake_hole(const struct fake *fake, const struct fake_device *device, uint64_t wanted,
		   uint64_t *start)
{
	uint64_t at = MiB, next, longest = 0;

	for (*start = device->size; at < device->size; at = next) {
		at = skip_used(fake, device->devid, at, &next);
		if (at >= device->size)
			break;
		next = next < device->size ? next : device->size;
		if (next - at > longest) {
			longest = next - at;
			*start = at;
		}
		if (longest >= wanted)
			break;
	}
	return longest;
}

/* After the last stripe if there is space: the first hole of an array that grew. */
static uint64_t place_stripe(struct fake *fake, uint64_t devid, uint64_t length)
{
	struct fake_device *device = fake_device_find(fake, devid);
	uint64_t start;

	if (!device)
		return 0;
	start = device->end > MiB ? device->end : MiB;
	if (device->has_holes || start + length > device->size)
		fake_hole(fake, device, length, &start);
	if (start + length > device->end)
		device->end = start + length;
	return start;
}

struct fake_chunk *fake_place_chunk(struct fake *fake)
{
	struct fake_chunk *chunk = &fake->chunks[fake->chunk_count];

	chunk->logical = next_logical(fake);
	fake->chunk_count++;
	memset(chunk->offsets, 0, sizeof(chunk->offsets));
	for (uint32_t i = 0; i < chunk->stripes; i++)
		chunk->offsets[i] = place_stripe(fake, chunk->devids[i], fake_stripe_length(chunk));
	return chunk;
}

void fake_remove_chunk(struct fake *fake, size_t index)
{
	struct fake_chunk *chunk = &fake->chunks[index];

	for (size_t i = 0; i < fake->device_count; i++)
		fake->devices[i].has_holes = true;
	memmove(chunk, chunk + 1, (fake->chunk_count - index - 1) * sizeof(*chunk));
	fake->chunk_count--;
}

struct fake_chunk *fake_add_chunk(struct fake *fake, uint64_t type, uint64_t length,
				  uint64_t used, uint32_t stripes, ...)
{
	struct fake_chunk *chunk = &fake->chunks[fake->chunk_count];
	va_list args;

	chunk->type = type;
	chunk->length = length;
	chunk->used = used;
	chunk->stripes = stripes;
	va_start(args, stripes);
	for (uint32_t i = 0; i < stripes; i++)
		chunk->devids[i] = va_arg(args, int);
	va_end(args);
	return fake_place_chunk(fake);
}

struct fake_file *fake_file(struct fake *fake, const char *name)
{
	for (size_t i = 0; i < fake->file_count; i++)
		if (!strcmp(fake->files[i].name, name))
			return &fake->files[i];
	return NULL;
}

void fake_set_file(struct fake *fake, const char *name, const char *text)
{
	struct fake_file *file = fake_file(fake, name);

	if (!file) {
		file = &fake->files[fake->file_count++];
		snprintf(file->name, sizeof(file->name), "%s", name);
	}
	snprintf(file->text, sizeof(file->text), "%s", text);
}

void fake_two_and_two(struct fake *fake, enum fake_kernel kernel, uint64_t ssd_type,
		      uint64_t hdd_type)
{
	fake_init(fake, kernel);
	fake_add_device(fake, 100 * GiB, ssd_type, false);
	fake_add_device(fake, 100 * GiB, ssd_type, false);
	fake_add_device(fake, 1000 * GiB, hdd_type, true);
	fake_add_device(fake, 1000 * GiB, hdd_type, true);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_SYSTEM | BTRFS_BLOCK_GROUP_RAID1, 32 * MiB,
		       16384, 2, 3, 4);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, GiB,
		       700 * MiB, 2, 3, 4);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, GiB,
		       100 * MiB, 2, 3, 4);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_RAID1, GiB, GiB, 2, 3, 4);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_RAID1, GiB, 500 * MiB, 2,
		       1, 2);
}

/* How many of the chunks that are made up on the way have a stripe on a device. */
static uint64_t sparse_stripes(const struct fake *fake, uint64_t devid)
{
	uint64_t rounds = fake->sparse_chunks / fake->device_count;
	uint64_t rest = fake->sparse_chunks % fake->device_count;
	uint64_t before = devid > 1 ? devid - 1 : fake->device_count;

	return 2 * rounds + (devid <= rest) + (before <= rest);
}

uint64_t fake_unallocated(const struct fake *fake, const struct fake_device *device)
{
	uint64_t left = device->size - sparse_stripes(fake, device->devid) * GiB;

	for (size_t i = 0; i < fake->chunk_count; i++)
		for (uint32_t j = 0; j < fake->chunks[i].stripes; j++)
			if (fake->chunks[i].devids[j] == device->devid)
				left -= fake_stripe_length(&fake->chunks[i]);
	return left;
}

struct btrfs_policy_fs *fake_open(struct fake *fake)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, fake);

	if (btrfs_policy_fs_open(fs, "/mnt")) {
		fprintf(stderr, "# %s\n", btrfs_policy_fs_error(fs));
		return btrfs_policy_fs_unref(fs);
	}
	return fs;
}

char *fake_state(const struct fake *fake)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < fake->file_count; i++)
		fprintf(out, "%s=%s\n", fake->files[i].name, fake->files[i].text);
	for (size_t i = 0; i < fake->device_count; i++)
		fprintf(out, "device %llu type %llx\n",
			(unsigned long long)fake->devices[i].devid,
			(unsigned long long)fake->devices[i].type);
	for (size_t i = 0; i <= FAKE_DEVICES; i++)
		if (fake->signatures[i])
			fprintf(out, "/dev/fake%zu has %s\n", i, fake->signatures[i]);
	fprintf(out, "%s", fake->saved);
	fclose(out);
	return text;
}
