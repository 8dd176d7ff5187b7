/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changing roles: those that another process has changed since the handle was opened, and
 * kernels that take a number for each device.
 */
#include "apply-run.h"

static struct fake fake;

/* ---- Roles that another process changed ---------------------------------- */

static const enum fake_kernel kernels[] = { FAKE_OURS, FAKE_HINT };

static void roles_are_compared_with_those_of_now(void **state)
{
	static const struct wanted back = { "role", 1, "metadata-only" };

	for (size_t i = 0; i < BP_ARRAY_SIZE(kernels); i++) {
		struct btrfs_policy_changes *changes = NULL;
		struct btrfs_policy_fs *fs;

		fake_two_and_two(&fake, kernels[i], DISK_METADATA_ONLY, DISK_DATA);
		fs = fake_open(&fake);
		fake.devices[0].type = DISK_DATA_ONLY;
		assert_int_equal(apply(fs, &back, 1, 0, &changes), 0);
		assert_string_equal(btrfs_policy_changes_at(changes, 0)->old_value, "data-only");
		assert_int_equal(fake.devices[0].type, DISK_METADATA_ONLY);
		btrfs_policy_changes_free(changes);
		btrfs_policy_fs_unref(fs);
	}
}

static void undo_restores_the_roles_of_now(void **state)
{
	static const struct wanted wanted[] = {
		{ "readahead", 0, "8M" }, { "role", 1, "metadata-preferred" },
	};

	for (size_t i = 0; i < BP_ARRAY_SIZE(kernels); i++) {
		struct btrfs_policy_changes *changes = NULL;
		struct btrfs_policy_fs *fs;

		fake_two_and_two(&fake, kernels[i], DISK_METADATA_ONLY, DISK_DATA);
		fs = fake_open(&fake);
		fake.devices[0].type = DISK_DATA_ONLY;
		fake_file(&fake, FAKE_FSID "/bdi/read_ahead_kb")->stubborn = true;
		assert_int_equal(apply(fs, wanted, 2, 0, &changes), -EIO);
		assert_has(btrfs_policy_fs_error(fs), "put back");
		assert_int_equal(fake.devices[0].type, DISK_DATA_ONLY);
		btrfs_policy_fs_unref(fs);
	}
}

/* Two of four devices take no data any more: RAID1 needs the other two. */
static void the_devices_left_are_those_of_now(void **state)
{
	static const struct wanted last = { "role", 4, "metadata-only" };
	struct btrfs_policy_changes *changes = NULL;
	struct btrfs_policy_fs *fs;

	fake_two_and_two(&fake, FAKE_OURS, DISK_DATA, DISK_DATA);
	fs = fake_open(&fake);
	for (size_t i = 0; i < 2; i++)
		fake.devices[i].type = DISK_METADATA_ONLY;
	assert_int_equal(apply(fs, &last, 1, BTRFS_POLICY_DRY_RUN, &changes), -EINVAL);
	assert_has(btrfs_policy_fs_error(fs), "data profile");
	btrfs_policy_fs_unref(fs);
}

/* ---- Allocation-hint kernels -------------------------------------------- */

static const struct wanted roles[] = {
	{ "role", 1, "metadata-only" }, { "role", 3, "data-only" },
};

static void hint_kernel_gets_the_number_on_disk(void **state)
{
	struct btrfs_policy_changes *changes;
	struct btrfs_policy_fs *fs;

	fake_two_and_two(&fake, FAKE_HINT, DISK_DATA, DISK_DATA);
	fs = fake_open(&fake);
	assert_int_equal(apply(fs, roles, 2, 0, &changes), 0);
	assert_int_equal(fake.devices[0].type, 2);
	assert_int_equal(fake.devices[2].type, 3);
	assert_string_equal(btrfs_policy_changes_at(changes, 0)->new_value, "metadata-only");
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
}

static void hint_kernel_would_wipe_other_bits(void **state)
{
	struct btrfs_policy_changes *changes;
	struct btrfs_policy_fs *fs;

	fake_two_and_two(&fake, FAKE_HINT, DISK_DATA, DISK_DATA);
	fake.devices[2].type = 0x100;
	fs = fake_open(&fake);
	assert_int_equal(apply(fs, roles, 2, 0, &changes), -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(fs), "wipe");
	assert_int_equal(fake.devices[0].type, 0);
	btrfs_policy_fs_unref(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_are_compared_with_those_of_now),
		cmocka_unit_test(undo_restores_the_roles_of_now),
		cmocka_unit_test(the_devices_left_are_those_of_now),
		cmocka_unit_test(hint_kernel_gets_the_number_on_disk),
		cmocka_unit_test(hint_kernel_would_wipe_other_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
