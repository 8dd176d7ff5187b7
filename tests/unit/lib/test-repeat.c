/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Equal chunks allocated at once: on random arrays they leave the same free space as
 * the same number of single allocations, and on a large array they are nearly all.
 */
#include <stdlib.h>

#include "allocator/array.h"
#include "unit.h"

#define ROUNDS 300
#define DEVICES 24

static uint64_t seed;

static uint64_t below(uint64_t limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % limit;
}

/*
 * Equal sizes are common: their order follows from their place in the array alone.  Or all
 * differ, from nothing up, so that most of them have less than the longest stripe left.
 */
static size_t random_devices(struct bp_candidate *devices)
{
	const size_t count = 1 + below(below(2) ? DEVICES : 9);
	const uint64_t scale = 1 + below(2) * 99, zone = below(4) ? 0 : 256 * MiB;
	const uint64_t sector = below(2) ? 4096 : 4 * MiB;
	const bool roles = below(2), differ = below(2);

	memset(devices, 0, DEVICES * sizeof(*devices));
	for (size_t i = 0; i < count; i++)
		devices[i] = (struct bp_candidate){
			.devid = i + 1, .writeable = below(12), .zone = zone, .nodesize = 4096,
			.size = differ ? below(4 * GiB / sector) * sector :
				scale * (1 + below(3)) * GiB + below(2) * below(1 << 20) * 4096,
			.role = roles ? below(BTRFS_POLICY_ROLE_FOREIGN + 1) : 0,
		};
	return count;
}

/* Chunks that exist leave holes of several lengths. */
static void use_some(struct bp_candidate *array, struct bp_candidate *other, size_t count)
{
	for (uint64_t i = below(2) * below(20); i; i--) {
		uint64_t devid = 1 + below(count), offset = below(array[devid - 1].size / MiB + 1) * MiB;
		struct btrfs_policy_chunk chunk = {
			.stripes = 1, .devids = &devid, .offsets = &offset,
			.stripe_length = (1 + below(400)) * MiB,
		};

		assert_int_equal(bp_array_use(array, count, &chunk), 0);
		assert_int_equal(bp_array_use(other, count, &chunk), 0);
	}
}

static void assert_same(const struct bp_candidate *a, const struct bp_candidate *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(a[i].free_space, b[i].free_space);
		assert_int_equal(a[i].hole, b[i].hole);
	}
}

/* Fills both, one of them chunk by chunk; the number of chunks that were not single ones. */
static uint64_t fill_both(struct bp_candidate *array, struct bp_candidate *other, size_t count,
			  uint64_t type)
{
	uint64_t *data = calloc(2 * bp_stripes_most(count), sizeof(*data)), number, sum = 0;
	struct btrfs_policy_chunk chunk, single;
	int ret;

	while ((ret = bp_array_repeat(array, count, type, &chunk, data, &number)) == 0) {
		sum += number;
		for (; number; number--) {
			assert_int_equal(bp_array_allocate(other, count, type, &single, data), 0);
			assert_int_equal(single.length, chunk.length);
			assert_int_equal(single.stripes, chunk.stripes);
		}
		assert_same(array, other, count);
		ret = bp_array_allocate(array, count, type, &chunk, data);
		assert_int_equal(bp_array_allocate(other, count, type, &single, data), ret);
		if (ret)
			break;
	}
	assert_int_equal(ret, -ENOSPC);
	assert_int_equal(bp_array_allocate(other, count, type, &single, data), -ENOSPC);
	free(data);
	return sum;
}

static void same_as_single_chunks(void **state)
{
	static const uint64_t kinds[] = { DATA, METADATA, DATA | METADATA };
	struct bp_candidate devices[DEVICES], *array, *other;
	const struct bp_profile *profile;
	uint64_t sum = 0;

	seed = 1;
	for (size_t round = 0; round < ROUNDS; round++) {
		size_t count = random_devices(devices);

		for (size_t i = 0; (profile = bp_profile_at(i)); i++) {
			array = bp_array_new(devices, count);
			other = bp_array_new(devices, count);
			use_some(array, other, count);
			sum += fill_both(array, other, count, kinds[below(3)] | profile->flag);
			bp_array_free(array, count);
			bp_array_free(other, count);
		}
	}
	assert_true(sum > 10000);
}

/* The first offers less than the others at the same space: 15 MiB are for system chunks. */
static void kept_space_counts(void **state)
{
	static const uint64_t mib[] = { 2184, 1605, 1822 };
	struct bp_candidate devices[3] = {}, *array, *other;

	for (size_t i = 0; i < 3; i++)
		devices[i] = (struct bp_candidate){
			.devid = i + 1, .writeable = true, .nodesize = 16384, .size = mib[i] * MiB,
			.role = i ? BTRFS_POLICY_ROLE_DATA_PREFERRED : BTRFS_POLICY_ROLE_METADATA_PREFERRED,
		};
	array = bp_array_new(devices, 3);
	other = bp_array_new(devices, 3);
	fill_both(array, other, 3, DATA | METADATA | RAID10);
	bp_array_free(array, 3);
	bp_array_free(other, 3);
}

/* Fills devices of 20 TiB and more, of so many sizes: not more steps than twice the devices. */
static void fill_large_array(uint64_t type, size_t sizes, uint64_t chunks)
{
	static struct bp_candidate devices[512];
	static uint64_t data[4 * BP_ARRAY_SIZE(devices)];
	const size_t count = BP_ARRAY_SIZE(devices);
	struct btrfs_policy_chunk chunk;
	uint64_t number, made = 0, steps = 0;
	struct bp_candidate *array;

	for (size_t i = 0; i < count; i++)
		devices[i] = (struct bp_candidate){
			.devid = i + 1, .writeable = true, .nodesize = 16384,
			.size = (20000 + i * 7 % sizes) * GiB + i % sizes * MiB,
		};
	array = bp_array_new(devices, count);
	for (; !bp_array_repeat(array, count, type, &chunk, data, &number); steps++) {
		made += number;
		made += !bp_array_allocate(array, count, type, &chunk, data);
	}
	bp_array_free(array, count);
	assert_true(made > chunks);
	assert_true(steps < 2 * count);
}

static void few_steps_on_large_arrays(void **state)
{
	fill_large_array(DATA | RAID1, 100, 5000000);
	fill_large_array(DATA | RAID10, 511, 400000);
	fill_large_array(METADATA | RAID10, 511, 1000000);
	fill_large_array(METADATA | BTRFS_BLOCK_GROUP_RAID6, 509, 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_single_chunks),
		cmocka_unit_test(kept_space_counts),
		cmocka_unit_test(few_steps_on_large_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
