/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draining: the role, the roles before, what moves, and the removal.
 */
#include <string.h>

#include "unit.h"

static struct fake fake;

static int setup(void **state)
{
	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA);
	return 0;
}

static const uint64_t first_two[] = { 1, 2 }, fourth[] = { 4 };

static enum btrfs_policy_role role_of(struct btrfs_policy_fs *fs, uint64_t devid)
{
	assert_int_equal(btrfs_policy_fs_refresh(fs), 0);
	return btrfs_policy_device_find(fs, devid)->role;
}

static int drain(struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count,
		 unsigned int flags)
{
	struct btrfs_policy_changes *changes = NULL;
	int ret = btrfs_policy_drain(fs, devids, count, flags, &changes);

	assert_true(ret ? !changes : btrfs_policy_changes_count(changes) == count);
	btrfs_policy_changes_free(changes);
	return ret;
}

static int undo(struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count)
{
	struct btrfs_policy_changes *changes = NULL;
	int ret = btrfs_policy_drain_undo(fs, devids, count, 0, &changes);

	btrfs_policy_changes_free(changes);
	return ret;
}

static void there_and_back(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_int_equal(drain(fs, first_two, 2, BTRFS_POLICY_DRY_RUN), 0);
	assert_string_equal(fake.drained, "");
	assert_int_equal(role_of(fs, 1), BTRFS_POLICY_ROLE_METADATA_ONLY);
	assert_int_equal(drain(fs, first_two, 2, 0), 0);
	assert_string_equal(fake.drained, "1 = metadata-only\n2 = metadata-only\n");
	assert_int_equal(role_of(fs, 2), BTRFS_POLICY_ROLE_DRAINING);
	/* Those that drain already are remembered. */
	assert_int_equal(drain(fs, first_two, 2, 0), 0);
	assert_string_equal(fake.drained, "1 = metadata-only\n2 = metadata-only\n");
	assert_int_equal(undo(fs, first_two, 1), 0);
	assert_int_equal(role_of(fs, 1), BTRFS_POLICY_ROLE_METADATA_ONLY);
	assert_int_equal(role_of(fs, 2), BTRFS_POLICY_ROLE_DRAINING);
	/* The file of another machine, or a damaged one. */
	strcpy(fake.drained, "2 =\n2 = draining\nx\n");
	assert_int_equal(undo(fs, first_two + 1, 1), 0);
	assert_int_equal(role_of(fs, 2), BTRFS_POLICY_ROLE_DATA_PREFERRED);
	assert_int_equal(undo(fs, first_two + 1, 1), -EINVAL);
	assert_string_equal(btrfs_policy_fs_error(fs), "device 2 of '/mnt' is not draining");
	btrfs_policy_fs_unref(fs);
}

static void nothing_changes_without_the_file(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);

	fake.saved_error = -EROFS;
	assert_int_equal(drain(fs, first_two, 1, 0), -EROFS);
	assert_non_null(strstr(btrfs_policy_fs_error(fs), ".drain.conf', the roles before a drain"));
	assert_int_equal(role_of(fs, 1), BTRFS_POLICY_ROLE_METADATA_ONLY);
	assert_false(fake.saved_locked);
	btrfs_policy_fs_unref(fs);
}

static void too_few_devices_are_refused(void **state)
{
	static const uint64_t both[] = { 3, 4 };
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_int_equal(drain(fs, both, 2, 0), -EINVAL);
	assert_non_null(strstr(btrfs_policy_fs_error(fs), "too few devices"));
	assert_string_equal(fake.drained, "");
	btrfs_policy_fs_unref(fs);
}

static void a_kernel_without_it_is_told(void **state)
{
	struct btrfs_policy_fs *fs;

	fake_two_and_two(&fake, FAKE_HINT, DISK_METADATA_ONLY, DISK_DATA);
	fs = fake_open(&fake);
	assert_int_equal(drain(fs, fourth, 1, 0), -EOPNOTSUPP);
	assert_non_null(strstr(btrfs_policy_fs_error(fs), "device_drain"));
	btrfs_policy_fs_unref(fs);
}

/* Of the misplaced chunks only those of the devices move, and then they can be removed. */
static void their_chunks_move(void **state)
{
	const struct btrfs_policy_balance_options options = {
		.size = sizeof(options), .only_draining = true,
	};
	struct btrfs_policy_balance_report *report = NULL;
	struct btrfs_policy_placement *placement;
	struct btrfs_policy_fs *fs;

	fake_two_and_two(&fake, FAKE_OURS, DISK_DATA, DISK_DATA);
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_device_remove(fs, 4), -EINVAL);
	assert_int_equal(drain(fs, fourth, 1, 0), 0);
	assert_int_equal(btrfs_policy_device_remove(fs, 4), -EINVAL);
	assert_int_equal(btrfs_policy_balance(fs, &options, &report), 0);
	assert_true(report->relocated);
	assert_int_equal(report->still_misplaced, 0);
	btrfs_policy_balance_report_free(report);
	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	for (size_t i = 0; btrfs_policy_placement_chunk(placement, i); i++)
		for (uint32_t j = 0; j < btrfs_policy_placement_chunk(placement, i)->stripes; j++)
			assert_true(btrfs_policy_placement_chunk(placement, i)->devids[j] != 4);
	btrfs_policy_placement_free(placement);
	fake.remove_error = -EBUSY;
	assert_int_equal(btrfs_policy_device_remove(fs, 4), -EBUSY);
	fake.remove_error = 0;
	assert_int_equal(btrfs_policy_device_remove(fs, 4), 0);
	assert_int_equal(fake.removed, 1);
	assert_int_equal(btrfs_policy_device_remove(fs, 9), -ENODEV);
	btrfs_policy_fs_unref(fs);
}

/* A metadata chunk on disks although there are SSDs for it: that is not what a drain is for. */
static void others_stay(void **state)
{
	const struct btrfs_policy_balance_options options = {
		.size = sizeof(options), .only_draining = true,
	};
	struct btrfs_policy_balance_report *report = NULL;
	struct btrfs_policy_placement *placement;
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_int_equal(btrfs_policy_placement_read(fs, &placement), 0);
	assert_true(btrfs_policy_placement_totals(placement)->misplaced_chunks);
	btrfs_policy_placement_free(placement);
	assert_int_equal(btrfs_policy_balance(fs, &options, &report), 0);
	assert_int_equal(report->relocated, 0);
	btrfs_policy_balance_report_free(report);
	btrfs_policy_fs_unref(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(there_and_back, setup),
		cmocka_unit_test_setup(nothing_changes_without_the_file, setup),
		cmocka_unit_test_setup(too_few_devices_are_refused, setup),
		cmocka_unit_test_setup(a_kernel_without_it_is_told, setup),
		cmocka_unit_test_setup(their_chunks_move, setup),
		cmocka_unit_test_setup(others_stay, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
