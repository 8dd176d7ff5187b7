/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The snapshot of all chunks: reads the chunk tree and the block groups, and sums
 * them.  select.c classifies each chunk.
 */
#include <string.h>

#include "allocator/placement.h"
#include "core/tree.h"

BP_PUBLIC void btrfs_policy_placement_free(struct btrfs_policy_placement *placement)
{
	if (!placement)
		return;
	for (size_t i = 0; i < placement->chunk_count; i++)
		free((uint64_t *)placement->chunks[i].devids);
	free(placement->chunks);
	free(placement->devices);
	free(placement->candidates);
	free(placement->profiles);
	free(placement);
}

/* ---- Chunks ------------------------------------------------------------- */

/* Takes over chunk->devids. */
int bp_placement_add_chunk(struct btrfs_policy_placement *placement,
			   const struct btrfs_policy_chunk *chunk)
{
	struct btrfs_policy_chunk *chunks = bp_grown(placement->chunks, &placement->chunk_space,
						     placement->chunk_count + 1, sizeof(*chunks));

	if (!chunks)
		return -ENOMEM;
	placement->chunks = chunks;
	chunks[placement->chunk_count++] = *chunk;
	return 0;
}

static int take_chunk(struct btrfs_policy_fs *fs, const struct btrfs_key *key, const void *data,
			 size_t length, void *user)
{
	struct btrfs_policy_chunk chunk = {};
	uint64_t *devids = NULL;
	int ret;

	if (key->type != BTRFS_CHUNK_ITEM_KEY)
		return 0;
	ret = bp_decode_chunk(key, data, length, &chunk, &devids);
	if (ret == -ENOMEM)
		return bp_nomem(fs);
	if (ret == -EOPNOTSUPP)
		return bp_error(fs, ret,
				"chunk %llu of '%s' is remapped: the feature remap-tree is not supported yet",
				(unsigned long long)key->offset, fs->mount_point);
	if (ret)
		return bp_error(fs, ret, "the item of chunk %llu of '%s' is damaged (%zu bytes)",
				(unsigned long long)key->offset, fs->mount_point, length);
	chunk.devids = devids;
	chunk.offsets = devids + chunk.stripes;
	ret = bp_placement_add_chunk(user, &chunk);
	if (ret) {
		free(devids);
		return bp_nomem(fs);
	}
	return 0;
}

static struct btrfs_policy_chunk *find_chunk(const struct btrfs_policy_placement *placement,
					     uint64_t logical)
{
	size_t low = 0, high = placement->chunk_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (placement->chunks[middle].logical < logical)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == placement->chunk_count || placement->chunks[low].logical != logical)
		return NULL;
	return &placement->chunks[low];
}

const struct btrfs_policy_chunk *
bp_placement_find(const struct btrfs_policy_placement *placement, uint64_t logical)
{
	return find_chunk(placement, logical);
}

/*
 * Bytes of a chunk that can still be written.  In a zone only those behind the last write
 * can, and which these are is not on disk: none is counted.
 */
uint64_t bp_placement_free_in(const struct btrfs_policy_placement *placement,
			      const struct btrfs_policy_chunk *chunk)
{
	return placement->zone || chunk->used > chunk->length ? 0 : chunk->length - chunk->used;
}

/* ---- Usage -------------------------------------------------------------- */

/* Bytes of the shortest and the longest zone that the kernel mounts. */
#define ZONE_MIN (4ULL << 20)
#define ZONE_MAX (8ULL << 30)

/* The kernel makes each stripe as long as a zone, also on devices without zones. */
static int read_zone(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement)
{
	const struct btrfs_policy_chunk *first = placement->chunks;

	if (!fs->zoned || !placement->chunk_count)
		return 0;
	placement->zone = first->stripe_length;
	if (placement->zone >= ZONE_MIN && placement->zone <= ZONE_MAX)
		return 0;
	return bp_error(fs, -EUCLEAN,
			"stripes of chunk %llu of '%s' have %llu bytes, which no zone of a zoned file system has",
			(unsigned long long)first->logical, fs->mount_point,
			(unsigned long long)first->stripe_length);
}

static int take_block_group(struct btrfs_policy_fs *fs, const struct btrfs_key *key, const void *data,
			 size_t length, void *user)
{
	struct btrfs_policy_placement *placement = user;
	struct btrfs_policy_chunk *chunk;
	uint64_t used;

	if (key->type != BTRFS_BLOCK_GROUP_ITEM_KEY)
		return 0;
	if (bp_decode_block_group(key, data, length, &used))
		return bp_error(fs, -EUCLEAN,
				"the item of block group %llu of '%s' is damaged (%zu bytes)",
				(unsigned long long)key->objectid, fs->mount_point,
				length);
	placement->remap_tree |= length == BP_LONG_GROUP_SIZE;
	chunk = find_chunk(placement, key->objectid);
	if (chunk)
		chunk->used = used;
	return 0;
}

static int read_usage(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement)
{
	struct btrfs_key first = { 0, BTRFS_BLOCK_GROUP_ITEM_KEY, 0 };
	const struct btrfs_key last = { UINT64_MAX, BTRFS_BLOCK_GROUP_ITEM_KEY, UINT64_MAX };
	int ret = bp_tree_walk(fs, BTRFS_BLOCK_GROUP_TREE_OBJECTID, &first, &last,
			       take_block_group, placement);

	if (ret != -ENOENT)
		return ret;
	/*
	 * In the extent tree the items are between those of all extents, so each is
	 * looked up by its exact key: its offset is the length of the chunk.
	 */
	ret = 0;
	for (size_t i = 0; !ret && i < placement->chunk_count; i++) {
		first.objectid = placement->chunks[i].logical;
		first.offset = placement->chunks[i].length;
		ret = bp_tree_walk(fs, BTRFS_EXTENT_TREE_OBJECTID, &first, &first,
				   take_block_group, placement);
	}
	return ret;
}

/* ---- Devices ------------------------------------------------------------ */

/* With mixed block groups roles have no effect, also for system chunks. */
static int take_devices(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement)
{
	placement->devices = calloc(fs->device_count, sizeof(*placement->devices));
	placement->candidates = calloc(fs->device_count, sizeof(*placement->candidates));
	if (!placement->devices || !placement->candidates)
		return bp_nomem(fs);
	placement->device_count = fs->device_count;
	for (size_t i = 0; i < fs->device_count; i++) {
		const struct btrfs_policy_device *pub = &fs->devices[i].pub;
		uint64_t left = pub->size > pub->allocated ? pub->size - pub->allocated : 0;

		placement->devices[i] = (struct btrfs_policy_device_usage){
			.devid = pub->devid, .size = pub->size, .role = pub->role,
			.unallocated = left,
		};
		placement->candidates[i] = (struct bp_candidate){
			.devid = pub->devid, .size = pub->size,
			.role = fs->info.mixed ? BTRFS_POLICY_ROLE_DATA_PREFERRED : pub->role,
			.writeable = fs->devices[i].writeable, .zone = placement->zone,
			.nodesize = fs->info.nodesize,
		};
		placement->candidates[i].free_space =
			bp_candidate_allocatable(&placement->candidates[i], left);
	}
	return 0;
}

/* ---- Sums --------------------------------------------------------------- */

static void add_stripe(struct btrfs_policy_placement *placement,
		       const struct btrfs_policy_chunk *chunk, uint32_t stripe)
{
	struct btrfs_policy_device_usage *usage;
	struct bp_candidate *candidate;
	bool counted = false; /* an earlier stripe of the chunk is on the same device */

	candidate =
		bp_candidate_find(placement->candidates, placement->device_count,
				  chunk->devids[stripe]);
	if (!candidate)
		return;
	for (uint32_t i = 0; i < stripe; i++)
		counted = counted || chunk->devids[i] == candidate->devid;
	usage = &placement->devices[candidate - placement->candidates];
	usage->bytes[chunk->kind] += chunk->stripe_length;
	usage->chunks[chunk->kind] += !counted;
	if (bp_candidate_misuses(candidate, chunk))
		usage->misplaced_bytes[chunk->kind] += chunk->stripe_length;
}

static int by_kind(const struct btrfs_policy_profile_usage *profile,
		   const struct btrfs_policy_chunk *chunk)
{
	if (profile->kind != chunk->kind)
		return profile->kind < chunk->kind ? -1 : 1;
	return (profile->type > chunk->type) - (profile->type < chunk->type);
}

/* The row for a chunk, made in its place in the order if it is the first one. */
static struct btrfs_policy_profile_usage *
profile_row(struct btrfs_policy_placement *placement, const struct btrfs_policy_chunk *chunk)
{
	struct btrfs_policy_profile_usage *rows = placement->profiles;
	size_t count = placement->profile_count;
	size_t at = 0;

	while (at < count && by_kind(&rows[at], chunk) < 0)
		at++;
	if (at < count && !by_kind(&rows[at], chunk))
		return &rows[at];
	rows = reallocarray(rows, count + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	memmove(&rows[at + 1], &rows[at], (count - at) * sizeof(*rows));
	rows[at] = (struct btrfs_policy_profile_usage){
		.kind = chunk->kind, .profile = chunk->profile, .type = chunk->type,
		.devices_min = bp_profile_of(chunk->type)->devs_min,
	};
	placement->profiles = rows;
	placement->profile_count++;
	return &rows[at];
}

static int add_chunk(struct btrfs_policy_placement *placement,
		     const struct btrfs_policy_chunk *chunk)
{
	struct btrfs_policy_profile_usage *row = profile_row(placement, chunk);
	struct btrfs_policy_totals *totals = &placement->totals;

	if (!row)
		return -ENOMEM;
	row->size += chunk->length;
	row->used += chunk->used;
	row->chunks++;
	totals->chunks++;
	for (uint32_t i = 0; i < chunk->stripes; i++)
		add_stripe(placement, chunk, i);
	if (chunk->misplaced == BTRFS_POLICY_PLACED)
		return 0;
	row->misplaced_chunks++;
	row->misplaced_size += chunk->length;
	row->misplaced_used += chunk->used;
	totals->misplaced_chunks++;
	totals->misplaced_size += chunk->length;
	totals->misplaced_used += chunk->used;
	totals->misplaced_by_kind[chunk->kind]++;
	return 0;
}

bool bp_placement_drains(const struct btrfs_policy_placement *placement,
			 const struct btrfs_policy_chunk *chunk)
{
	for (uint32_t i = 0; i < chunk->stripes; i++) {
		const struct bp_candidate *candidate = bp_candidate_find(placement->candidates,
						placement->device_count, chunk->devids[i]);

		if (candidate && candidate->role == BTRFS_POLICY_ROLE_DRAINING)
			return true;
	}
	return false;
}

/*
 * Classify all chunks and compute all sums. Runs again after each assumption, so it keeps
 * the properties of a device and nothing else.
 */
int bp_placement_sum(struct btrfs_policy_fs *fs, struct btrfs_policy_placement *placement)
{
	int ret = 0;

	placement->profile_count = 0;
	placement->totals = (struct btrfs_policy_totals){ 0 };
	for (size_t i = 0; i < placement->device_count; i++) {
		struct btrfs_policy_device_usage *usage = &placement->devices[i];

		*usage = (struct btrfs_policy_device_usage){
			.devid = usage->devid, .size = usage->size, .role = usage->role,
			.unallocated = usage->unallocated,
		};
	}
	for (size_t i = 0; !ret && i < placement->chunk_count; i++) {
		struct btrfs_policy_chunk *chunk = &placement->chunks[i];

		chunk->misplaced = bp_classify(placement->candidates, placement->device_count,
					       chunk);
		if (placement->only_draining && !bp_placement_drains(placement, chunk))
			chunk->misplaced = BTRFS_POLICY_PLACED;
		ret = add_chunk(placement, chunk);
	}
	return ret ? bp_nomem(fs) : 0;
}

BP_PUBLIC int btrfs_policy_placement_only_draining(struct btrfs_policy_fs *fs,
						   struct btrfs_policy_placement *placement)
{
	placement->only_draining = true;
	return bp_placement_sum(fs, placement);
}

BP_PUBLIC int btrfs_policy_placement_read(struct btrfs_policy_fs *fs,
					  struct btrfs_policy_placement **placement)
{
	const uint64_t objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID;
	const struct btrfs_key first = { objectid, BTRFS_CHUNK_ITEM_KEY, 0 };
	const struct btrfs_key last = { objectid, BTRFS_CHUNK_ITEM_KEY, UINT64_MAX };
	_cleanup_placement_ struct btrfs_policy_placement *new = NULL;
	_cleanup_free_ char *reserve = NULL;
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	new = calloc(1, sizeof(*new));
	if (!new)
		return bp_nomem(fs);
	ret = bp_tree_walk(fs, BTRFS_CHUNK_TREE_OBJECTID, &first, &last, take_chunk, new);
	if (!ret)
		ret = read_usage(fs, new);
	if (!ret)
		ret = read_zone(fs, new);
	if (!ret)
		ret = take_devices(fs, new);
	if (ret)
		return ret;
	/* The global reserve of metadata; older kernels do not show it. */
	ret = bp_sysfs_read(fs, "allocation/global_rsv_size", 0, &reserve);
	if (ret && ret != -ENOENT)
		return ret;
	new->global_reserve = ret ? 0 : strtoull(reserve, NULL, 10);
	ret = bp_placement_sum(fs, new);
	if (!ret)
		*placement = bp_steal(new);
	return ret;
}

BP_PUBLIC const struct btrfs_policy_chunk *
btrfs_policy_placement_chunk(const struct btrfs_policy_placement *placement, size_t index)
{
	return index < placement->chunk_count ? &placement->chunks[index] : NULL;
}

BP_PUBLIC const struct btrfs_policy_profile_usage *
btrfs_policy_placement_profile(const struct btrfs_policy_placement *placement, size_t index)
{
	return index < placement->profile_count ? &placement->profiles[index] : NULL;
}

BP_PUBLIC const struct btrfs_policy_device_usage *
btrfs_policy_placement_device(const struct btrfs_policy_placement *placement, size_t index)
{
	return index < placement->device_count ? &placement->devices[index] : NULL;
}

BP_PUBLIC const struct btrfs_policy_totals *
btrfs_policy_placement_totals(const struct btrfs_policy_placement *placement)
{
	return &placement->totals;
}
