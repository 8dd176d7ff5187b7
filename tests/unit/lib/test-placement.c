/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading chunks and their usage from trees, also damaged ones, and the sums.
 */
#include "unit.h"

static struct fake fake;

static int setup(void **state)
{
	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	return 0;
}

static struct btrfs_policy_placement *read_placement(void)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);
	struct btrfs_policy_placement *placement = NULL;

	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	btrfs_policy_fs_unref(fs);
	return placement;
}

static void check_chunks(const struct btrfs_policy_placement *placement)
{
	const struct btrfs_policy_chunk *chunk;

	for (size_t i = 0; i < fake.chunk_count; i++) {
		chunk = btrfs_policy_placement_chunk(placement, i);
		assert_int_equal(chunk->logical, fake.chunks[i].logical);
		assert_int_equal(chunk->length, fake.chunks[i].length);
		assert_int_equal(chunk->used, fake.chunks[i].used);
		assert_int_equal(chunk->stripes, fake.chunks[i].stripes);
		assert_memory_equal(chunk->devids, fake.chunks[i].devids,
				    chunk->stripes * sizeof(*chunk->devids));
	}
	assert_null(btrfs_policy_placement_chunk(placement, fake.chunk_count));
}

/* However the kernel cuts the answer into pieces and wherever usage is kept. */
static void chunks_are_read(void **state)
{
	static const uint32_t pieces[] = { 0, 1, 2, 3, 7 };

	for (size_t i = 0; i < 2 * BP_ARRAY_SIZE(pieces); i++) {
		struct btrfs_policy_placement *placement;

		fake.items_at_once = pieces[i / 2];
		fake.group_tree = i % 2;
		placement = read_placement();
		check_chunks(placement);
		btrfs_policy_placement_free(placement);
	}
}

static void sums(void **state)
{
	struct btrfs_policy_placement *placement = read_placement();
	const struct btrfs_policy_device_usage *device;
	const struct btrfs_policy_profile_usage *profile;
	const struct btrfs_policy_totals *totals = btrfs_policy_placement_totals(placement);

	assert_int_equal(totals->chunks, 5);
	assert_int_equal(totals->misplaced_chunks, 4);
	assert_int_equal(totals->misplaced_by_kind[BTRFS_POLICY_KIND_METADATA], 2);
	assert_int_equal(totals->misplaced_used, 16384 + 1300 * MiB);
	device = btrfs_policy_placement_device(placement, 2);
	assert_int_equal(device->bytes[BTRFS_POLICY_KIND_METADATA], 2 * GiB);
	assert_int_equal(device->bytes[BTRFS_POLICY_KIND_DATA], GiB);
	assert_int_equal(device->misplaced_bytes[BTRFS_POLICY_KIND_METADATA], 2 * GiB);
	assert_int_equal(device->misplaced_bytes[BTRFS_POLICY_KIND_DATA], 0);
	assert_int_equal(device->chunks[BTRFS_POLICY_KIND_METADATA], 2);
	assert_int_equal(device->unallocated, 1000 * GiB - 3 * GiB - 32 * MiB);
	profile = btrfs_policy_placement_profile(placement, 0);
	assert_int_equal(profile->kind, BTRFS_POLICY_KIND_DATA);
	assert_string_equal(profile->profile, "RAID1");
	assert_int_equal(profile->size, 2 * GiB);
	assert_int_equal(profile->misplaced_chunks, 1);
	profile = btrfs_policy_placement_profile(placement, 2);
	assert_int_equal(profile->kind, BTRFS_POLICY_KIND_SYSTEM);
	assert_null(btrfs_policy_placement_profile(placement, 3));
	assert_null(btrfs_policy_placement_device(placement, 4));
	btrfs_policy_placement_free(placement);
}

static const struct {
	uint64_t type;
	uint32_t stripes;
	uint64_t length;
	uint64_t stripe_length;
	const char *name;
} profiles[] = {
	{ DATA, 1, GiB, GiB, "single" },
	{ METADATA | DUP, 2, GiB, GiB, "DUP" },
	{ DATA | RAID0, 4, 4 * GiB, GiB, "RAID0" },
	{ METADATA | RAID1, 2, GiB, GiB, "RAID1" },
	{ METADATA | RAID1C3, 3, GiB, GiB, "RAID1C3" },
	{ SYSTEM | BTRFS_BLOCK_GROUP_RAID1C4, 4, GiB, GiB, "RAID1C4" },
	{ DATA | RAID10, 4, 2 * GiB, GiB, "RAID10" },
	{ DATA | BTRFS_BLOCK_GROUP_RAID5, 3, 2 * GiB, GiB, "RAID5" },
	{ DATA | BTRFS_BLOCK_GROUP_RAID6, 4, 2 * GiB, GiB, "RAID6" },
};

static void stripes_of_profiles(void **state)
{
	struct btrfs_policy_placement *placement;

	fake.chunk_count = 0;
	for (size_t i = 0; i < BP_ARRAY_SIZE(profiles); i++)
		fake_add_chunk(&fake, profiles[i].type, profiles[i].length, MiB,
			       profiles[i].stripes, 1, 2, 3, 4);
	placement = read_placement();
	for (size_t i = 0; i < BP_ARRAY_SIZE(profiles); i++) {
		const struct btrfs_policy_chunk *chunk =
			btrfs_policy_placement_chunk(placement, i);

		assert_string_equal(chunk->profile, profiles[i].name);
		assert_int_equal(chunk->stripe_length, profiles[i].stripe_length);
	}
	btrfs_policy_placement_free(placement);
}

/* Both stripes of a DUP chunk are one chunk on the device. */
static void dup_counts_once(void **state)
{
	struct btrfs_policy_placement *placement;
	const struct btrfs_policy_device_usage *device;

	fake.chunk_count = 0;
	fake_add_chunk(&fake, METADATA | DUP, GiB, MiB, 2, 3, 3);
	placement = read_placement();
	device = btrfs_policy_placement_device(placement, 2);
	assert_int_equal(device->chunks[BTRFS_POLICY_KIND_METADATA], 1);
	assert_int_equal(device->bytes[BTRFS_POLICY_KIND_METADATA], 2 * GiB);
	btrfs_policy_placement_free(placement);
}

/* An assumption sums all chunks again. */
static void sums_start_anew(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);
	struct btrfs_policy_placement *placement = NULL;
	const struct btrfs_policy_device_usage *device;

	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	assert_int_equal(btrfs_policy_placement_assume(fs, placement, "data-only=1"), 0);
	device = btrfs_policy_placement_device(placement, 2);
	assert_int_equal(device->bytes[BTRFS_POLICY_KIND_METADATA], 2 * GiB);
	assert_int_equal(device->chunks[BTRFS_POLICY_KIND_METADATA], 2);
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
}

/* The first MiB of a device is never used, so it is not free. */
static void the_first_mib_is_not_free(void **state)
{
	for (int spare = 0; spare <= 1; spare++) {
		struct btrfs_policy_placement *placement;

		fake_init(&fake, FAKE_STOCK);
		fake_add_device(&fake, GiB + (spare ? MiB : 0), DISK_METADATA, false);
		fake_add_device(&fake, 9 * GiB, DISK_DATA, true);
		fake_add_chunk(&fake, METADATA, GiB, MiB, 1, 2);
		placement = read_placement();
		assert_int_equal(btrfs_policy_placement_totals(placement)->misplaced_chunks,
				 spare);
		btrfs_policy_placement_free(placement);
	}
}

static void mixed_file_systems_ignore_roles(void **state)
{
	struct btrfs_policy_placement *placement;

	fake.mixed = true;
	placement = read_placement();
	assert_int_equal(btrfs_policy_placement_totals(placement)->misplaced_chunks, 0);
	assert_int_equal(btrfs_policy_placement_device(placement, 0)->role,
			 BTRFS_POLICY_ROLE_METADATA_ONLY);
	btrfs_policy_placement_free(placement);
}

#define METADATA_REMAP (1ULL << 12)
#define REMAPPED (1ULL << 11)

/* The tree itself is metadata. */
static void a_remap_tree_without_remapped_chunks(void **state)
{
	struct btrfs_policy_placement *placement;
	const struct btrfs_policy_chunk *chunk;

	fake.group_tree = fake.remap_tree = true;
	fake_add_chunk(&fake, METADATA_REMAP | RAID1, GiB, MiB, 2, 1, 2);
	placement = read_placement();
	check_chunks(placement);
	chunk = btrfs_policy_placement_chunk(placement, fake.chunk_count - 1);
	assert_int_equal(chunk->kind, BTRFS_POLICY_KIND_METADATA);
	btrfs_policy_placement_free(placement);
}

/* The kernel would remap chunks instead of moving them, so there is no plan. */
static void no_plan_with_a_remap_tree(void **state)
{
	struct btrfs_policy_placement *placement;
	struct btrfs_policy_plan *plan = NULL;
	struct btrfs_policy_fs *fs;

	fake.group_tree = fake.remap_tree = true;
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	assert_int_equal(btrfs_policy_plan_new(fs, placement, NULL, &plan), -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(fs), "remap-tree");
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
}

/* ---- Damage ------------------------------------------------------------- */

static int read_damaged(void)
{
	struct btrfs_policy_placement *placement = NULL;
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);
	int ret = btrfs_policy_fs_open(fs, "/mnt");

	if (!ret)
		ret = btrfs_policy_placement_read(fs, &placement);
	if (ret)
		assert_string_not_equal(btrfs_policy_fs_error(fs), "");
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
	return ret;
}

/* Where they are now is in the remap tree, which is not read: no figures instead of wrong ones. */
static void remapped_chunks_are_refused(void **state)
{
	fake.group_tree = fake.remap_tree = true;
	fake_add_chunk(&fake, DATA | REMAPPED | RAID1, GiB, MiB, 0);
	assert_int_equal(read_damaged(), -EOPNOTSUPP);
}

static void items_cut_short(void **state)
{
	static const struct {
		uint32_t type;
		uint32_t length;
	} items[] = {
		{ BTRFS_DEV_ITEM_KEY, sizeof(struct btrfs_dev_item) },
		{ BTRFS_CHUNK_ITEM_KEY, sizeof(struct btrfs_chunk) },
		{ BTRFS_BLOCK_GROUP_ITEM_KEY, sizeof(struct btrfs_block_group_item) },
	};

	for (size_t i = 0; i < BP_ARRAY_SIZE(items); i++) {
		fake.cut_type = items[i].type;
		for (fake.cut_bytes = 1; fake.cut_bytes <= items[i].length; fake.cut_bytes++)
			assert_int_equal(read_damaged(), -EUCLEAN);
	}
}

static void keys_that_go_backwards(void **state)
{
	fake.backwards = true;
	assert_int_equal(read_damaged(), -EUCLEAN);
}

static const struct {
	uint64_t type;
	uint64_t length;
	uint32_t stripes;
} nonsense[] = {
	{ DATA | RAID1 | RAID0, GiB, 2 },
	{ DATA | RAID1, 0, 2 },
	{ DATA | RAID1, GiB, 1 },
	{ DATA, GiB, 0 },
	{ DATA | BTRFS_BLOCK_GROUP_RAID6, GiB, 2 },
};

static void chunks_that_make_no_sense(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(nonsense); i++) {
		setup(NULL);
		fake_add_chunk(&fake, nonsense[i].type, nonsense[i].length, 0,
			       nonsense[i].stripes, 98, 99);
		assert_int_equal(read_damaged(), -EUCLEAN);
	}
}

/* A mounted file system has none: the kernel refuses it. One that is not mounted may. */
static void more_used_than_there_is(void **state)
{
	fake.chunks[0].used = fake.chunks[0].length;
	assert_int_equal(read_damaged(), 0);
	fake.chunks[0].used++;
	assert_int_equal(read_damaged(), -EUCLEAN);
}

/* A chunk of a device that is not in the list, as during a device add. */
static void chunk_of_unknown_device(void **state)
{
	struct btrfs_policy_placement *placement;

	fake_add_chunk(&fake, METADATA | RAID1, GiB, MiB, 2, 1, 77);
	placement = read_placement();
	assert_int_equal(btrfs_policy_placement_totals(placement)->chunks, 6);
	btrfs_policy_placement_free(placement);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(chunks_are_read, setup),
		cmocka_unit_test_setup(sums, setup),
		cmocka_unit_test_setup(stripes_of_profiles, setup),
		cmocka_unit_test_setup(dup_counts_once, setup),
		cmocka_unit_test_setup(sums_start_anew, setup),
		cmocka_unit_test(the_first_mib_is_not_free),
		cmocka_unit_test_setup(mixed_file_systems_ignore_roles, setup),
		cmocka_unit_test_setup(a_remap_tree_without_remapped_chunks, setup),
		cmocka_unit_test_setup(no_plan_with_a_remap_tree, setup),
		cmocka_unit_test_setup(remapped_chunks_are_refused, setup),
		cmocka_unit_test_setup(items_cut_short, setup),
		cmocka_unit_test_setup(keys_that_go_backwards, setup),
		cmocka_unit_test(chunks_that_make_no_sense),
		cmocka_unit_test_setup(more_used_than_there_is, setup),
		cmocka_unit_test_setup(chunk_of_unknown_device, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
