/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening by path, UUID, label or none of these; devices; capabilities of kernels.
 */
#include "unit.h"

#include <endian.h>
#include <unistd.h>

#include "backend/linux.h"

static struct fake fake;

static int setup(void **state)
{
	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	return 0;
}

static const struct {
	const char *target;
	int expected;
	const char *error;
} targets[] = {
	{ "/mnt", 0, NULL },
	{ "/mnt/deep/below", 0, NULL },
	{ FAKE_FSID, 0, NULL },
	{ "UUID=" FAKE_FSID, 0, NULL },
	{ "00010203-0405-0607-0809-0A0B0C0D0E0F", 0, NULL },
	{ "pool", 0, NULL },
	{ "LABEL=pool", 0, NULL },
	{ NULL, 0, NULL },
	{ "", -EINVAL, "empty" },
	{ "/other", -EINVAL, "ext4" },
	{ "/nowhere", -ENOENT, "'/nowhere'" },
	{ "LABEL=poo", -ENOENT, "neither a path nor UUID or label" },
	{ "UUID=pool", -ENOENT, "UUID=pool" },
};

static void open_targets(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(targets); i++) {
		struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);
		int ret = btrfs_policy_fs_open(fs, targets[i].target);

		if (ret != targets[i].expected)
			fail_msg("%s: %d %s", targets[i].target, ret, btrfs_policy_fs_error(fs));
		if (ret)
			assert_has(btrfs_policy_fs_error(fs), targets[i].error);
		btrfs_policy_fs_unref(fs);
	}
}

static void nothing_named_and_nothing_mounted(void **state)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);

	fake.mounts[0] = NULL;
	assert_int_equal(btrfs_policy_fs_open(fs, NULL), -ENOENT);
	assert_has(btrfs_policy_fs_error(fs), "no btrfs is mounted");
	assert_null(btrfs_policy_fs_info(fs));
	assert_int_equal(btrfs_policy_fs_refresh(fs), -EINVAL);
	btrfs_policy_fs_unref(fs);
}

/* A script's empty variable is not the file system that happens to have no label. */
static void no_label_is_no_name(void **state)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);

	fake.label = "";
	assert_int_equal(btrfs_policy_fs_open(fs, "LABEL="), -ENOENT);
	assert_has(btrfs_policy_fs_error(fs), "neither a path");
	btrfs_policy_fs_unref(fs);
}

/* Without the tag it is a path. */
static void a_label_with_a_slash(void **state)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);

	fake.label = "srv/data";
	assert_int_equal(btrfs_policy_fs_open(fs, "srv/data"), -ENOENT);
	assert_has(btrfs_policy_fs_error(fs), "cannot open 'srv/data'");
	assert_int_equal(btrfs_policy_fs_open(fs, "LABEL=srv"), -ENOENT);
	assert_int_equal(btrfs_policy_fs_open(fs, "LABEL=srv/data"), 0);
	btrfs_policy_fs_unref(fs);
}

/* The same file system mounted twice is one candidate, not two. */
static void two_mounts_of_one_file_system(void **state)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);

	fake.mounts[1] = "/mnt2";
	assert_int_equal(btrfs_policy_fs_open(fs, NULL), 0);
	assert_string_equal(btrfs_policy_fs_info(fs)->mount_point, "/mnt");
	assert_int_equal(btrfs_policy_fs_open(fs, "/mnt"), -EINVAL);
	assert_has(btrfs_policy_fs_error(fs), "open already");
	btrfs_policy_fs_unref(fs);
}

/* A block device means the file system that it is part of, whatever it is mounted on. */
static void block_device_of_a_mounted_one(void **state)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);

	assert_int_equal(btrfs_policy_fs_open(fs, "/dev/disk/by-id/two"), 0);
	assert_string_equal(btrfs_policy_fs_info(fs)->mount_point, "/mnt");
	btrfs_policy_fs_unref(fs);
	fs = bp_fs_new_with(&fake_backend, &fake);
	assert_int_equal(btrfs_policy_fs_open(fs, "/dev/fake9"), -ENOENT);
	assert_has(btrfs_policy_fs_error(fs), "belongs to no mounted btrfs");
	/* One that is missing has no path to compare. */
	fake.devices[1].missing = true;
	assert_int_equal(btrfs_policy_fs_open(fs, "/dev/fake2"), -ENOENT);
	btrfs_policy_fs_unref(fs);
}

static void devices_are_read(void **state)
{
	struct btrfs_policy_fs *fs;
	const struct btrfs_policy_device *device;

	fake.devices[1].missing = true;
	fake.devices[3].type = 0x12340003;
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_device_count(fs), 4);
	assert_int_equal(btrfs_policy_fs_info(fs)->missing, 1);
	device = btrfs_policy_device_at(fs, 0);
	assert_int_equal(device->devid, 1);
	assert_string_equal(device->path, "/dev/fake1");
	assert_string_equal(device->model, "Fake");
	assert_int_equal(device->rotational, BTRFS_POLICY_NO);
	assert_int_equal(device->role, BTRFS_POLICY_ROLE_METADATA_ONLY);
	assert_true(device->role_in_force);
	assert_int_equal(device->allocated, GiB);
	device = btrfs_policy_device_find(fs, 2);
	assert_true(device->missing);
	assert_null(device->path);
	assert_int_equal(device->rotational, BTRFS_POLICY_UNKNOWN);
	device = btrfs_policy_device_find(fs, 4);
	assert_int_equal(device->disk_type, 0x12340003);
	assert_int_equal(device->role, BTRFS_POLICY_ROLE_DATA_ONLY);
	assert_null(btrfs_policy_device_find(fs, 5));
	assert_null(btrfs_policy_device_at(fs, 4));
	btrfs_policy_fs_unref(fs);
}

static const struct {
	const char *word;
	int expected;
	uint64_t devids[3];
} words[] = {
	{ "3", 0, { 3 } },
	{ "/dev/fake2", 0, { 2 } },
	{ "/dev/disk/by-id/two", 0, { 2 } },
	{ "rotational", 0, { 3, 4 } },
	{ "nonrotational", 0, { 1, 2 } },
	{ "9", -ENODEV, {} },
	{ "99999999999999999999999", -EINVAL, {} },
	{ "/dev/fake9", -ENODEV, {} },
	{ "/dev/null", -EINVAL, {} },
	{ "/dev/none", -ENOENT, {} },
	{ "", -ENOENT, {} },
	{ "-1", -ENOENT, {} },
	{ "Rotational", -ENOENT, {} },
};

static void select_devices(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);

	for (size_t i = 0; i < BP_ARRAY_SIZE(words); i++) {
		uint64_t *devids = NULL;
		size_t count = 0;
		int ret = btrfs_policy_device_select(fs, words[i].word, &devids, &count);

		if (ret != words[i].expected)
			fail_msg("%s: %d", words[i].word, ret);
		for (size_t j = 0; j < count; j++)
			assert_int_equal(devids[j], words[i].devids[j]);
		if (!ret)
			assert_int_equal(words[i].devids[count], 0);
		else
			assert_string_not_equal(btrfs_policy_fs_error(fs), "");
		free(devids);
	}
	btrfs_policy_fs_unref(fs);
}

static const struct {
	enum fake_kernel kernel;
	const char *name;
	bool enforced, roles_set, roundrobin, penalties;
} kernels[] = {
	{ FAKE_STOCK, "stock", false, false, false, false },
	{ FAKE_UPSTREAM, "experimental-read-policy", false, false, false, false },
	{ FAKE_HINT, "allocation-hint", true, true, false, false },
	{ FAKE_OURS, "device-role", true, true, true, true },
};

static void kernels_are_told_apart(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(kernels); i++) {
		struct btrfs_policy_fs *fs;
		const char *why;

		fake_two_and_two(&fake, kernels[i].kernel, DISK_METADATA_ONLY, DISK_DATA);
		fs = fake_open(&fake);
		assert_string_equal(btrfs_policy_kernel_name(fs), kernels[i].name);
		assert_int_equal(btrfs_policy_enforced(fs, &why), kernels[i].enforced);
		assert_has(why, kernels[i].enforced ? "is there" : "has no");
		assert_int_equal(bp_capable(fs, "roles-set"), kernels[i].roles_set);
		assert_int_equal(bp_capable(fs, "roundrobin"), kernels[i].roundrobin);
		assert_int_equal(bp_capable(fs, "penalties"), kernels[i].penalties);
		assert_true(bp_capable(fs, "read-policy"));
		assert_int_equal(btrfs_policy_device_at(fs, 0)->role,
				 BTRFS_POLICY_ROLE_METADATA_ONLY);
		assert_int_equal(btrfs_policy_device_at(fs, 0)->role_in_force,
				 kernels[i].enforced);
		assert_null(btrfs_policy_capability_find(fs, "no-such"));
		btrfs_policy_fs_unref(fs);
	}
}

static void only_a_built_module_has_a_version(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_null(btrfs_policy_module_version(fs));
	btrfs_policy_fs_unref(fs);
	fake_set_file(&fake, "../../module/btrfs/version", "0.1.0");
	fs = fake_open(&fake);
	assert_string_equal(btrfs_policy_module_version(fs), "0.1.0");
	btrfs_policy_fs_unref(fs);
}

static void mixed_block_groups_are_not_enforced(void **state)
{
	struct btrfs_policy_fs *fs;
	const char *why;

	fake.mixed = true;
	fs = fake_open(&fake);
	assert_false(btrfs_policy_enforced(fs, &why));
	assert_has(why, "mixed");
	assert_false(btrfs_policy_device_at(fs, 0)->role_in_force);
	btrfs_policy_fs_unref(fs);
}

static void ignored_roles_are_not_enforced(void **state)
{
	struct btrfs_policy_balance_report *report = NULL;
	struct btrfs_policy_fs *fs;
	const char *why;

	fake.ignores_roles = true;
	fs = fake_open(&fake);
	assert_false(btrfs_policy_enforced(fs, &why));
	assert_has(why, "nodevice_roles");
	assert_true(btrfs_policy_capability_find(fs, "roles-enforced")->available);
	assert_int_equal(btrfs_policy_balance(fs, NULL, &report), -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(fs), "mount it without that option");
	btrfs_policy_balance_report_free(report);
	btrfs_policy_fs_unref(fs);
}

/* A chroot without /sys: the kernel may have everything. */
static void without_sysfs(void **state)
{
	struct btrfs_policy_balance_report *report = NULL;
	struct btrfs_policy_fs *fs;
	char *value = NULL;
	const char *why;

	fake.no_sysfs = true;
	fs = fake_open(&fake);
	assert_false(btrfs_policy_enforced(fs, &why));
	assert_string_equal(why, "'/sys/fs/btrfs/features' is not there");
	assert_string_equal(btrfs_policy_capability_at(fs, 0)->advice, "mount sysfs on /sys");
	assert_int_equal(btrfs_policy_setting_get(fs, "rot-penalty", 0, &value), -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(fs),
		   ": '/sys/fs/btrfs/features' is not there; mount sysfs on /sys");
	assert_int_equal(btrfs_policy_balance(fs, NULL, &report), -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(fs),
		   ": '/sys/fs/btrfs/features' is not there; mount sysfs on /sys");
	btrfs_policy_balance_report_free(report);
	fake.no_sysfs = false;
	assert_int_equal(btrfs_policy_fs_refresh(fs), 0);
	assert_true(btrfs_policy_enforced(fs, &why));
	btrfs_policy_fs_unref(fs);
}

/* Features are read from the superblock, so it is known without /sys which ones are on. */
static void features_without_sysfs(void **state)
{
	struct btrfs_policy_fs *fs;

	fake.no_sysfs = true;
	fake.mixed = true;
	fs = fake_open(&fake);
	assert_true(btrfs_policy_fs_info(fs)->mixed);
	btrfs_policy_fs_unref(fs);
}

static void without_privileges(void **state)
{
	struct btrfs_policy_placement *placement = NULL;
	struct btrfs_policy_fs *fs;
	char *value = NULL;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA);
	fake.unprivileged = true;
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_device_at(fs, 0)->role, BTRFS_POLICY_ROLE_UNKNOWN);
	assert_false(btrfs_policy_device_at(fs, 0)->disk_type_known);
	assert_int_equal(btrfs_policy_setting_get(fs, "role", 1, &value), -EPERM);
	assert_int_equal(btrfs_policy_placement_read(fs, &placement), -EPERM);
	assert_has(btrfs_policy_fs_error(fs), "root");
	btrfs_policy_fs_unref(fs);
}

/* Below a file, or below a network file system or FUSE whose server is gone; FIFO and socket. */
static void mounts_that_cannot_be_reached_are_not_listed(void **state)
{
	static const int errors[] = { -EINVAL, -ENOENT, -ENOTDIR, -EACCES, -ESTALE, -ENOTCONN,
				      -ENOTTY, -ENXIO };
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);
	char **paths;

	fake.mounts[0] = "/hidden";
	fake.mounts[1] = "/mnt";
	for (size_t i = 0; i < BP_ARRAY_SIZE(errors); i++) {
		fake.calls = 0;
		fake.fail_at = 2;
		fake.fail_with = errors[i];
		assert_int_equal(btrfs_policy_mounts(fs, &paths), 0);
		assert_string_equal(paths[0], "/mnt");
		assert_null(paths[1]);
		btrfs_policy_strv_free(paths);
	}
	fake.calls = 0;
	fake.fail_with = -EIO;
	/* One that fails is there, so that the others are looked at and it is missed. */
	assert_int_equal(btrfs_policy_mounts(fs, &paths), 0);
	assert_string_equal(paths[0], "/hidden");
	assert_string_equal(paths[1], "/mnt");
	btrfs_policy_strv_free(paths);
	btrfs_policy_fs_unref(fs);
}

/* The real reader, on a file. */
static void superblock_has_fsid_and_flags(void **state)
{
	char path[] = "/tmp/test-open-XXXXXX", fsid[BP_FSID_LENGTH];
	uint64_t flags = 1, seeding = htole64(BTRFS_SUPER_FLAG_SEEDING | 1);
	int fd = mkstemp(path);
	uint8_t id[16];

	assert_true(fd >= 0);
	for (int i = 0; i < 16; i++)
		id[i] = i;
	assert_int_equal(bp_backend_linux.superblock(NULL, path, fsid, &flags), 0);
	assert_string_equal(fsid, "");
	assert_int_equal(flags, 0);
	assert_int_equal(pwrite(fd, id, sizeof(id), 65536 + 32), sizeof(id));
	assert_int_equal(pwrite(fd, &seeding, sizeof(seeding), 65536 + 56), sizeof(seeding));
	assert_int_equal(pwrite(fd, "_BHRfS_M", 8, 65536 + 64), 8);
	assert_int_equal(bp_backend_linux.superblock(NULL, path, fsid, &flags), 0);
	assert_string_equal(fsid, FAKE_FSID);
	assert_true(flags == (BTRFS_SUPER_FLAG_SEEDING | 1));
	close(fd);
	unlink(path);
	assert_int_equal(bp_backend_linux.superblock(NULL, path, fsid, &flags), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(open_targets, setup),
		cmocka_unit_test_setup(nothing_named_and_nothing_mounted, setup),
		cmocka_unit_test_setup(no_label_is_no_name, setup),
		cmocka_unit_test_setup(a_label_with_a_slash, setup),
		cmocka_unit_test_setup(two_mounts_of_one_file_system, setup),
		cmocka_unit_test_setup(block_device_of_a_mounted_one, setup),
		cmocka_unit_test_setup(devices_are_read, setup),
		cmocka_unit_test_setup(select_devices, setup),
		cmocka_unit_test(kernels_are_told_apart),
		cmocka_unit_test_setup(only_a_built_module_has_a_version, setup),
		cmocka_unit_test_setup(mixed_block_groups_are_not_enforced, setup),
		cmocka_unit_test_setup(ignored_roles_are_not_enforced, setup),
		cmocka_unit_test_setup(without_sysfs, setup), cmocka_unit_test_setup(features_without_sysfs, setup),
		cmocka_unit_test(without_privileges),
		cmocka_unit_test_setup(mounts_that_cannot_be_reached_are_not_listed, setup),
		cmocka_unit_test(superblock_has_fsid_and_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
