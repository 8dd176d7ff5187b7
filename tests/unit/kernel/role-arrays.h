/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random arrays of devices with roles, and the results of device-role-core.c for them.
 * Compiles in the kernel as in user space, so that both can be compared array by
 * array.  Include device-role-core.h first.  Does not check the results.
 */
#ifndef ROLE_ARRAYS_H
#define ROLE_ARRAYS_H

#include <linux/string.h>

#define ROLE_ARRAY_DEVICES 8
#define ROLE_ARRAY_MIB (1ULL << 20)

struct role_array {
	u32 nr;
	u64 size[ROLE_ARRAY_DEVICES];
	u64 free[ROLE_ARRAY_DEVICES];
	u8 role[ROLE_ARRAY_DEVICES];
	struct btrfs_role_profile profile;
};

struct role_result {
	/* Devices of the next chunk, numbered from 1, best first. */
	u32 nr;
	u8 device[ROLE_ARRAY_DEVICES];
	/* Bytes that the chunk may have at most. */
	u64 longest;
	u64 available;
};

static inline u64 role_array_random(u64 *state)
{
	/* xorshift64* */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

static inline u32 role_array_below(u64 *state, u32 limit)
{
	return (u32)(role_array_random(state) >> 33) % limit;
}

/* Small devices as often as large ones. */
static inline u64 role_array_bytes(u64 *state)
{
	const u32 shift = role_array_below(state, 13);

	return (64 + role_array_below(state, 64)) * ROLE_ARRAY_MIB << shift;
}

static inline void role_array_profile(struct role_array *array, u64 *state)
{
	/* striped, devs_min, devs_max, increment, dev_stripes, ncopies, nparity */
	static const u8 profiles[9][7] = {
		{ 0, 1, 1, 1, 1, 1, 0 }, { 0, 1, 1, 1, 2, 2, 0 }, { 0, 2, 2, 1, 1, 2, 0 },
		{ 0, 3, 3, 1, 1, 3, 0 }, { 0, 4, 4, 1, 1, 4, 0 }, { 1, 1, 0, 1, 1, 1, 0 },
		{ 1, 2, 0, 2, 1, 2, 0 }, { 1, 2, 0, 1, 1, 1, 1 }, { 1, 3, 0, 1, 1, 1, 2 },
	};
	const u8 *p = profiles[role_array_below(state, 9)];

	array->profile.striped = p[0];
	array->profile.devs_min = p[1];
	array->profile.devs_max = p[2] ? p[2] : ROLE_ARRAY_DEVICES;
	array->profile.devs_increment = p[3];
	array->profile.dev_stripes = p[4];
	array->profile.ncopies = p[5];
	array->profile.nparity = p[6];
}

static inline void role_array_make(struct role_array *array, u64 seed)
{
	u64 state = seed * 0x9E3779B97F4A7C15ULL + 1;

	memset(array, 0, sizeof(*array));
	role_array_random(&state);
	role_array_profile(array, &state);
	array->profile.kind = role_array_below(&state, 2) ? BTRFS_ROLE_KIND_DATA : BTRFS_ROLE_KIND_METADATA;
	array->nr = 1 + role_array_below(&state, ROLE_ARRAY_DEVICES);

	for (u32 i = 0; i < array->nr; i++) {
		array->role[i] = role_array_below(&state, role_array_below(&state, 8) ? BTRFS_ROLE_NR : BTRFS_ROLE_ALL);
		array->size[i] = role_array_bytes(&state);
		array->free[i] = array->size[i];
		if (role_array_below(&state, 2))
			array->free[i] = role_array_bytes(&state);
		if (array->free[i] > array->size[i])
			array->free[i] = array->size[i];
		array->profile.rank_bytes[btrfs_role_rank(array->role[i], array->profile.kind)] += array->size[i];
	}

	array->profile.max_chunk = array->profile.kind == BTRFS_ROLE_KIND_DATA ? 10240 * ROLE_ARRAY_MIB :
								       256 * ROLE_ARRAY_MIB;
	array->profile.max_stripe = 1024 * ROLE_ARRAY_MIB;
	if (array->profile.max_stripe > array->profile.max_chunk)
		array->profile.max_stripe = array->profile.max_chunk;
}

/* The devices that may be used. */
static inline u32 role_array_list(const struct role_array *array, struct btrfs_device_info *info)
{
	u32 nr = 0;

	memset(info, 0, ROLE_ARRAY_DEVICES * sizeof(*info));
	for (u32 i = 0; i < array->nr; i++) {
		const u8 rank = btrfs_role_rank(array->role[i], array->profile.kind);
		const u64 reserved = btrfs_role_system_space(array->role[i], array->size[i]);

		if (rank == BTRFS_ROLE_RANK_EXCLUDED || array->free[i] <= reserved)
			continue;
		info[nr].dev = (void *)(unsigned long)(i + 1);
		info[nr].rank = rank;
		info[nr++].total_avail = array->free[i] - reserved;
	}
	return nr;
}

static inline bool role_array_before(const struct btrfs_device_info *a,
				     const struct btrfs_device_info *b)
{
	return a->rank != b->rank ? a->rank < b->rank :
	       a->max_avail != b->max_avail ? a->max_avail > b->max_avail :
	       a->total_avail > b->total_avail;
}

/* What the allocator offers: in its order, without those that cannot hold a stripe. */
static inline u32 role_array_offer(const struct role_array *array, struct btrfs_device_info *info)
{
	const u64 most = array->profile.max_stripe * array->profile.dev_stripes;
	const u32 all = role_array_list(array, info);
	u32 nr = 0;

	for (u32 i = 0; i < all; i++) {
		struct btrfs_device_info cur = info[i];
		u32 j = nr;

		cur.max_avail = cur.total_avail < most ? cur.total_avail : most;
		if (cur.max_avail < 65536 * array->profile.dev_stripes)
			continue;
		for (; j > 0 && role_array_before(&cur, &info[j - 1]); j--)
			info[j] = info[j - 1];
		info[j] = cur;
		nr++;
	}
	return nr;
}

static inline void role_array_run(const struct role_array *array, struct role_result *result)
{
	struct btrfs_role_profile profile = array->profile;
	struct btrfs_avail_sums sums[BTRFS_ROLE_RANK_EXCLUDED];
	struct btrfs_device_info info[ROLE_ARRAY_DEVICES];
	u32 nr = role_array_offer(array, info);

	memset(result, 0, sizeof(*result));
	nr = btrfs_role_select(info, nr, &profile);
	if (nr >= profile.devs_min) {
		result->nr = nr;
		result->longest = profile.max_chunk;
	}
	for (u32 i = 0; i < result->nr; i++)
		result->device[i] = (u8)(unsigned long)info[i].dev;

	memset(sums, 0, sizeof(sums));
	nr = role_array_list(array, info);
	for (u32 i = 0; i < nr; i++)
		btrfs_add_avail(&sums[info[i].rank], info[i].total_avail);
	result->available = btrfs_role_available(sums, BTRFS_ROLE_RANK_EXCLUDED, &profile);
}

/* For comparison: everything in one number. */
static inline u64 role_result_digest(const struct role_result *result)
{
	u64 digest = result->nr;

	for (u32 i = 0; i < ROLE_ARRAY_DEVICES; i++)
		digest = digest * 1099511628211ULL ^ result->device[i];
	digest = digest * 1099511628211ULL ^ result->longest;
	return digest * 1099511628211ULL ^ result->available;
}

#endif
