/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What-ifs: the snapshot classified with other roles, and the capacity.
 */
#include "unit.h"

static struct fake fake;
static struct btrfs_policy_fs *fs;
static struct btrfs_policy_placement *placement;

static int setup(void **state)
{
	fake_two_and_two(&fake, FAKE_STOCK, DISK_DATA, DISK_DATA);
	fs = fake_open(&fake);
	return btrfs_policy_placement_read(fs, &placement);
}

static int teardown(void **state)
{
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
	return 0;
}

static struct btrfs_policy_remaining_capacity capacity_with(const char *text)
{
	struct btrfs_policy_remaining_capacity capacity;

	if (*text)
		assert_int_equal(btrfs_policy_placement_assume(fs, placement, text), 0);
	assert_int_equal(btrfs_policy_placement_capacity(fs, placement, &capacity), 0);
	return capacity;
}

static void roles(void **state)
{
	const struct btrfs_policy_totals *totals = btrfs_policy_placement_totals(placement);

	assert_int_equal(totals->misplaced_chunks, 0);
	capacity_with("metadata-only=1,2,data-only=rotational");
	assert_int_equal(totals->chunks, 5);
	assert_int_equal(totals->misplaced_chunks, 4);
	assert_int_equal(btrfs_policy_placement_device(placement, 0)->role,
			 BTRFS_POLICY_ROLE_METADATA_ONLY);
	assert_int_equal(btrfs_policy_placement_device(placement, 0)->misplaced_bytes[0], GiB);
	/* The machine has not changed. */
	assert_int_equal(btrfs_policy_device_find(fs, 1)->role,
			 BTRFS_POLICY_ROLE_DATA_PREFERRED);
	capacity_with("data-preferred=1,2,3,4");
	assert_int_equal(totals->misplaced_chunks, 0);
}

/* Two disks of 996 GiB and 32 MiB, two SSDs of 99: free in chunks comes on top. */
static void capacity_by_role(void **state)
{
	struct btrfs_policy_remaining_capacity capacity =
		capacity_with("metadata-only=1,2,data-only=3,4");

	assert_in_range(capacity.data, 996 * GiB + 524 * MiB, 997 * GiB + 524 * MiB);
	assert_in_range(capacity.metadata, 98 * GiB + 1248 * MiB, 99 * GiB + 1248 * MiB);
	assert_string_equal(capacity.data_profile, "RAID1");
}

static void capacity_by_profile(void **state)
{
	struct btrfs_policy_remaining_capacity capacity =
		capacity_with("metadata-only=1,2,data-only=3,4,data=single,metadata=dup");

	assert_in_range(capacity.data, 1992 * GiB, 1995 * GiB);
	assert_in_range(capacity.metadata, 97 * GiB, 99 * GiB);
	assert_string_equal(capacity.data_profile, "single");
	assert_string_equal(capacity.metadata_profile, "DUP");
	assert_int_equal(capacity_with("data=raid1c4").data, 0);
}

static void one_device_more(void **state)
{
	uint64_t before = capacity_with("metadata-only=1,2,data-only=3,4").metadata;
	struct btrfs_policy_remaining_capacity capacity = capacity_with("add=50G:metadata-only");

	assert_int_equal(btrfs_policy_placement_device(placement, 4)->devid, 5);
	assert_in_range(capacity.metadata, before + 24 * GiB, before + 25 * GiB);
	assert_null(btrfs_policy_device_find(fs, 5));
	assert_int_equal(placement->candidates[0].nodesize, 16384);
	assert_int_equal(placement->candidates[4].nodesize, 16384);
}

static void one_device_less(void **state)
{
	struct btrfs_policy_remaining_capacity capacity = capacity_with("lose=4");

	assert_int_equal(capacity.degraded_chunks, 4);
	assert_int_equal(capacity.lost_chunks, 0);
	capacity = capacity_with("lose=3");
	assert_int_equal(capacity.degraded_chunks, 0);
	assert_int_equal(capacity.lost_chunks, 4);
	assert_in_range(capacity.data, 98 * GiB, 99 * GiB + 524 * MiB);
	/* Free space in lost chunks does not count. */
	assert_in_range(capacity.metadata, 98 * GiB, 99 * GiB);
}

static void dup_is_lost_with_its_device(void **state)
{
	struct btrfs_policy_placement *other;
	struct btrfs_policy_remaining_capacity capacity;

	fake_init(&fake, FAKE_STOCK);
	fake_add_device(&fake, 10 * GiB, DISK_DATA, false);
	fake_add_device(&fake, 10 * GiB, DISK_DATA, false);
	fake_add_chunk(&fake, METADATA | DUP, GiB, MiB, 2, 1, 1);
	fake_add_chunk(&fake, DATA | RAID10, GiB, MiB, 2, 1, 2);
	fake_add_chunk(&fake, DATA | BTRFS_BLOCK_GROUP_RAID5, GiB, MiB, 2, 1, 2);
	assert_int_equal(btrfs_policy_fs_refresh(fs), 0);
	assert_int_equal(btrfs_policy_placement_read(fs, &other), 0);
	assert_int_equal(btrfs_policy_placement_assume(fs, other, "lose=1"), 0);
	assert_int_equal(btrfs_policy_placement_capacity(fs, other, &capacity), 0);
	assert_int_equal(capacity.lost_chunks, 1);
	assert_int_equal(capacity.degraded_chunks, 2);
	btrfs_policy_placement_free(other);
}

static struct btrfs_policy_outlook outlook_with(const char *text, bool moved)
{
	struct btrfs_policy_outlook outlook;

	capacity_with(text);
	assert_int_equal(btrfs_policy_placement_outlook(fs, placement, moved, &outlook), 0);
	return outlook;
}

/* 2 GiB of metadata chunks on the disks, of which 1248 MiB are free, will be given up. */
static void outlook_when_moved(void **state)
{
	struct btrfs_policy_outlook now = outlook_with("metadata-only=1,2,data-only=3,4", false);
	struct btrfs_policy_outlook then = outlook_with("", true);

	assert_int_equal(now.metadata_used, 800 * MiB);
	assert_int_equal(now.data_used, GiB + 500 * MiB);
	assert_in_range(now.metadata_more, 98 * GiB + 1248 * MiB, 99 * GiB + 1248 * MiB);
	assert_in_range(then.metadata_more, 98 * GiB, 99 * GiB + 248 * MiB);
	assert_int_equal(now.metadata_percent, 0);
	assert_string_equal(now.metadata_profile, "RAID1");
}

/* A tenth of the data, ten times the metadata: 100 GiB of metadata, then 11 more of data. */
static void little_for_metadata(void **state)
{
	assert_false(outlook_with("metadata-only=1,2,data-only=3,4", true).metadata_little);
	assert_true(outlook_with("add=200G:data-only,add=200G:data-only", true).metadata_little);
	/* Disks that allow metadata take the metadata that the SSDs cannot. */
	assert_false(outlook_with("data-preferred=3,4", true).metadata_little);
}

static void outlook_of(uint64_t used, uint64_t kept, struct btrfs_policy_outlook *outlook)
{
	struct btrfs_policy_placement *other;
	char text[32];

	fake_init(&fake, FAKE_OURS);
	fake_add_device(&fake, GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, METADATA, 256 * MiB, used, 1, 1);
	fake_add_chunk(&fake, DATA, 256 * MiB, MiB, 1, 2);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)kept);
	fake_set_file(&fake, FAKE_FSID "/allocation/global_rsv_size", text);
	assert_int_equal(btrfs_policy_fs_refresh(fs), 0);
	assert_int_equal(btrfs_policy_placement_read(fs, &other), 0);
	assert_int_equal(btrfs_policy_placement_outlook(fs, other, false, outlook), 0);
	btrfs_policy_placement_free(other);
}

static void ten_times_what_is_used(void **state)
{
	struct btrfs_policy_outlook outlook;

	outlook_of(60 * MiB, 0, &outlook);
	assert_false(outlook.metadata_little);
	outlook_of(120 * MiB, 0, &outlook);
	assert_true(outlook.metadata_little);
}

/* The global reserve is not free; it may be larger than the free space. */
static void reserve_is_not_free(void **state)
{
	struct btrfs_policy_outlook without, with;

	outlook_of(200 * MiB, 0, &without);
	outlook_of(200 * MiB, 64 * MiB, &with);
	assert_int_equal(with.metadata_more, without.metadata_more - 64 * MiB);
	assert_int_equal(with.metadata_kept, 64 * MiB);
	assert_true(with.metadata_percent > without.metadata_percent);
	outlook_of(200 * MiB, 4 * GiB, &with);
	assert_int_equal(with.metadata_more, 0);
	assert_int_equal(with.metadata_percent, 100);
}

static void no_outlook_for_mixed_groups(void **state)
{
	struct btrfs_policy_outlook outlook;

	fake.mixed = true;
	assert_int_equal(btrfs_policy_fs_refresh(fs), 0);
	assert_int_equal(btrfs_policy_placement_outlook(fs, placement, false, &outlook),
			 -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(fs), "mixed block groups");
}

static void nonsense(void **state)
{
	static const char *const words[] = {
		"", "1", "=1", "metadata-only", "metadata-only=", "metadata-only=9", "data=raid7",
		"add=", "add=5x", "add=0", "add=-1", "add=5G:ssd", "add=99999999P", "add=1025T",
		"add=2P:metadata-only", "lose=9", "foreign=1", "ssd=1",
	};

	for (size_t i = 0; i < BP_ARRAY_SIZE(words); i++) {
		if (!btrfs_policy_placement_assume(fs, placement, words[i]))
			fail_msg("'%s' was taken", words[i]);
		assert_true(*btrfs_policy_fs_error(fs));
	}
}

/* It was added after the snapshot, and the handle knows it. */
static void a_device_that_came_later(void **state)
{
	static const char *const words[] = { "lose=5", "data-only=5" };

	fake_add_device(&fake, 100 * GiB, DISK_DATA, false);
	assert_int_equal(btrfs_policy_fs_refresh(fs), 0);
	for (size_t i = 0; i < BP_ARRAY_SIZE(words); i++) {
		assert_int_equal(btrfs_policy_placement_assume(fs, placement, words[i]), -ENODEV);
		assert_string_equal(btrfs_policy_fs_error(fs),
				    "device 5 is not in this snapshot; read it again");
	}
}

static void a_plan_keeps_profiles(void **state)
{
	struct btrfs_policy_plan *plan;

	capacity_with("data=single");
	assert_int_equal(btrfs_policy_plan_new(fs, placement, NULL, &plan), -EINVAL);
	assert_has(btrfs_policy_fs_error(fs), "keeps their profiles");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(roles), TEST(capacity_by_role), TEST(capacity_by_profile), TEST(one_device_more),
		TEST(one_device_less), TEST(dup_is_lost_with_its_device), TEST(nonsense),
		TEST(a_device_that_came_later), TEST(a_plan_keeps_profiles), TEST(outlook_when_moved), TEST(little_for_metadata),
		TEST(ten_times_what_is_used), TEST(reserve_is_not_free),
		TEST(no_outlook_for_mixed_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
