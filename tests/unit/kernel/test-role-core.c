/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device-role-core.c against a slow reference, over random arrays: the devices
 * and the size of a chunk, and the capacity.  The reference follows the definition
 * without optimization: it picks one device after the other and allocates one chunk
 * after the other.
 */
#include "device-role-core.h"
#include "role-arrays.h"
#include "unit.h"

#define ARRAYS 10000

/* ---- The reference ------------------------------------------------------ */

struct left {
	const struct role_array *array;
	/* Bytes that chunks may take, by device. */
	u64 bytes[ROLE_ARRAY_DEVICES];
};

struct chosen {
	u32 nr;
	u32 device[ROLE_ARRAY_DEVICES];
	u64 stripe, chunk, longest;
};

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 offer(const struct left *left, u32 device)
{
	const struct btrfs_role_profile *limits = &left->array->profile;

	return least(left->bytes[device], limits->max_stripe * limits->dev_stripes);
}

static bool usable(const struct left *left, u32 device)
{
	return btrfs_role_rank(left->array->role[device], left->array->profile.kind) !=
		       BTRFS_ROLE_RANK_EXCLUDED &&
	       offer(left, device) >= 65536 * left->array->profile.dev_stripes;
}

/* 0 first, 1 second, 2 below the minimum, 3 last; all equal without a preference. */
static u32 tier(const struct left *left, u32 device)
{
	bool differ = false;
	u8 rank = btrfs_role_rank(left->array->role[device], left->array->profile.kind);

	for (u32 i = 0; i < left->array->nr; i++)
		differ |= usable(left, i) &&
			  btrfs_role_rank(left->array->role[i], left->array->profile.kind) != rank;
	if (!differ)
		return 0;
	if (rank == BTRFS_ROLE_RANK_FIRST)
		return offer(left, device) < btrfs_role_useful_bytes(&left->array->profile) ? 2 : 0;
	return rank == BTRFS_ROLE_RANK_SECOND ? 1 : 3;
}

static u32 count_up_to(const struct left *left, u32 worst)
{
	u32 count = 0;

	for (u32 i = 0; i < left->array->nr; i++)
		count += usable(left, i) && tier(left, i) <= worst;
	return count;
}

/* The worst tier that a chunk has to resort to. */
static u32 resort(const struct left *left)
{
	const struct btrfs_role_profile *profile = &left->array->profile;
	u32 worst = 0;

	while (worst < 3) {
		u32 count = count_up_to(left, worst);

		if (count - count % profile->devs_increment >= profile->devs_min)
			break;
		worst++;
	}
	return worst;
}

static bool better(const struct left *left, u32 a, u32 b)
{
	if (tier(left, a) != tier(left, b))
		return tier(left, a) < tier(left, b);
	return left->bytes[a] > left->bytes[b];
}

static void choose(const struct left *left, struct chosen *chosen)
{
	const struct btrfs_role_profile *profile = &left->array->profile;
	bool taken[ROLE_ARRAY_DEVICES] = {};
	u32 worst = profile->striped ? resort(left) : 3;
	u32 width = count_up_to(left, worst);

	memset(chosen, 0, sizeof(*chosen));
	width -= width % profile->devs_increment;
	if (width < profile->devs_min)
		return;
	width = least(width, profile->devs_max);
	for (; chosen->nr < width; chosen->nr++) {
		u32 best = ROLE_ARRAY_DEVICES;

		for (u32 i = 0; i < left->array->nr; i++)
			if (usable(left, i) && !taken[i] &&
			    (best == ROLE_ARRAY_DEVICES || better(left, i, best)))
				best = i;
		taken[best] = true;
		chosen->device[chosen->nr] = best;
	}
}

/* A tenth of the devices that are no worse than the best one that it takes. */
static u64 longest(const struct left *left, const struct chosen *chosen)
{
	const struct role_array *array = left->array;
	u8 best = BTRFS_ROLE_RANK_EXCLUDED;
	u64 bytes = 0;

	for (u32 i = 0; i < chosen->nr; i++) {
		u8 rank = btrfs_role_rank(array->role[chosen->device[i]], array->profile.kind);

		if (tier(left, chosen->device[i]) == 2)
			rank = BTRFS_ROLE_RANK_BELOW_MIN;
		best = rank < best ? rank : best;
	}
	for (u32 i = 0; i < array->nr; i++)
		if (btrfs_role_rank(array->role[i], array->profile.kind) <= best)
			bytes += array->size[i];
	return least(bytes / 10, array->profile.max_chunk);
}

static void measure(const struct left *left, struct chosen *chosen)
{
	const struct btrfs_role_profile *limits = &left->array->profile;
	u64 stripe = ~0ULL, most = longest(left, chosen);
	u64 data = (chosen->nr * limits->dev_stripes - limits->nparity) / limits->ncopies;

	for (u32 i = 0; i < chosen->nr; i++)
		stripe = least(stripe, offer(left, chosen->device[i]) / limits->dev_stripes);
	if (stripe * data > most)
		stripe = least(stripe, (most / data + (16 << 20) - 1) / (16 << 20) * (16 << 20));
	chosen->longest = most;
	chosen->stripe = stripe / 65536 * 65536;
	chosen->chunk = chosen->stripe * data;
}

static void begin(struct left *left, const struct role_array *array)
{
	left->array = array;
	for (u32 i = 0; i < array->nr; i++) {
		bool for_metadata = array->role[i] == 1 || array->role[i] == 3;
		u64 kept = for_metadata ? least(16 << 20, array->size[i] / 10) : 0;

		left->bytes[i] = array->free[i] > kept ? array->free[i] - kept : 0;
	}
}

/* Until no chunk fits; `largest`: the largest of them. */
static u64 fill(const struct role_array *array, u64 *largest)
{
	struct left left;
	struct chosen chosen;
	u64 bytes = 0;

	*largest = 0;
	begin(&left, array);
	for (choose(&left, &chosen); chosen.nr; choose(&left, &chosen)) {
		measure(&left, &chosen);
		for (u32 i = 0; i < chosen.nr; i++)
			left.bytes[chosen.device[i]] -= chosen.stripe * array->profile.dev_stripes;
		bytes += chosen.chunk;
		*largest = chosen.chunk > *largest ? chosen.chunk : *largest;
	}
	return bytes;
}

/* ---- The comparison ----------------------------------------------------- */

static u64 weight(u32 device)
{
	return 1ULL << device;
}

static void the_right_devices(void **state)
{
	for (u64 seed = 1; seed <= ARRAYS; seed++) {
		struct role_array array;
		struct role_result got;
		struct left left;
		struct chosen want;
		u64 got_set = 0, want_set = 0;

		role_array_make(&array, seed);
		role_array_run(&array, &got);
		begin(&left, &array);
		choose(&left, &want);
		measure(&left, &want);
		for (u32 i = 0; i < got.nr; i++)
			got_set |= weight(got.device[i] - 1);
		for (u32 i = 0; i < want.nr; i++)
			want_set |= weight(want.device[i]);
		if (got_set != want_set || (got.nr && got.longest != want.longest))
			fail_msg("seed %llu: devices %llx, at most %llu, not %llx, %llu", seed,
				 got_set, got.longest, want_set, want.longest);
	}
}

/*
 * Never more than one chunk too much.  Less only where a device is larger than the
 * others together, or one with hardly any space is left out until the end.
 */
static void as_much_as_fits(void **state)
{
	u64 too_little = 0;

	for (u64 seed = 1; seed <= ARRAYS; seed++) {
		struct role_array array;
		struct role_result got;
		u64 largest, want;

		role_array_make(&array, seed);
		role_array_run(&array, &got);
		want = fill(&array, &largest);
		if (got.available > want + largest || got.available + largest < want * 3 / 4)
			fail_msg("seed %llu: %llu, not %llu, chunks of %llu", seed, got.available,
				 want, largest);
		if (got.available + largest < want) {
			too_little++;
			assert_true(array.profile.ncopies > 1 && array.profile.dev_stripes == 1);
		}
	}
	print_message("seeds 1 to %d, %llu of them more than one chunk too little\n", ARRAYS,
		      too_little);
	assert_true(too_little <= ARRAYS / 50);
}

/* The output of the kernel's module is compared with these numbers. */
static int print_digests(void)
{
	for (u64 seed = 1; seed <= ARRAYS; seed++) {
		struct role_array array;
		struct role_result result;

		role_array_make(&array, seed);
		role_array_run(&array, &result);
		printf("%llu %016llx\n", seed, role_result_digest(&result));
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_right_devices),
		cmocka_unit_test(as_much_as_fits),
	};

	if (argc == 2 && strcmp(argv[1], "--digests") == 0)
		return print_digests();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
