/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of saved settings: lines that are read, lines that are kept, and
 * errors.
 */
#include "unit.h"

static struct fake fake;

static int setup(void **state)
{
	fake_two_and_two(&fake, FAKE_OURS, DISK_DATA, DISK_DATA);
	return 0;
}

static int save(struct btrfs_policy_fs *fs, const char *policy, const char *readahead)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	struct btrfs_policy_changes *changes = NULL;
	int ret;

	btrfs_policy_request_add(request, "read-policy", 0, policy);
	if (readahead)
		btrfs_policy_request_add(request, "readahead", 0, readahead);
	ret = btrfs_policy_apply(fs, request, BTRFS_POLICY_SAVE, &changes);
	btrfs_policy_changes_free(changes);
	btrfs_policy_request_free(request);
	return ret;
}

struct edit {
	const char *before, *after;
};

/* After saving roundrobin and 16M. */
static const struct edit edits[] = {
	{ "# mine\n\n   # too\nread-policy=pid\nreadahead = 1M\n# end",
	  "# mine\n\n   # too\nread-policy = roundrobin\nreadahead = 16777216\n# end\n" },
	{ "rot-penalty = 7", "rot-penalty = 7\nread-policy = roundrobin\nreadahead = 16777216\n" },
	{ "read-policy = pid\nread-policy = pid\n",
	  "read-policy = roundrobin\nreadahead = 16777216\n" },
	{ "\tread-policy\t=\tpid \t\r\n#\n",
	  "read-policy = roundrobin\n#\nreadahead = 16777216\n" },
	{ "#read-policy = pid\n",
	  "#read-policy = pid\nread-policy = roundrobin\nreadahead = 16777216\n" },
};

static void lines_of_others_stay(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(edits); i++) {
		struct btrfs_policy_fs *fs;

		setup(NULL);
		strcpy(fake.saved, edits[i].before);
		fs = fake_open(&fake);
		assert_int_equal(save(fs, "roundrobin", "16M"), 0);
		assert_string_equal(fake.saved, edits[i].after);
		btrfs_policy_fs_unref(fs);
	}
}

static void a_new_file_says_what_it_is(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_int_equal(save(fs, "roundrobin", NULL), 0);
	assert_has(fake.saved, "btrfs-policy.conf(5)");
	assert_has(fake.saved, "\nread-policy = roundrobin\n");
	btrfs_policy_fs_unref(fs);
}

static const char *const damages[] = {
	"read-policy", "= pid", "read-policy =", "read-policy = pid\nxyz\n", "[filesystem]\n",
	"role = data-only", "readaheads = 1M", "read = pid", "Read-Policy = pid", "\x01\n",
};

/* No setting is read from it, and saving does not change it. */
static void damage_is_refused(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(damages); i++) {
		struct btrfs_policy_request *request = NULL;
		struct btrfs_policy_fs *fs;
		char *before, *after;

		setup(NULL);
		strcpy(fake.saved, damages[i]);
		fs = fake_open(&fake);
		before = fake_state(&fake);
		assert_int_equal(btrfs_policy_saved_read(fs, &request), -EINVAL);
		assert_has(btrfs_policy_fs_error(fs), "/etc/btrfs-policy.d/" FAKE_FSID ".conf");
		assert_has(btrfs_policy_fs_error(fs), "line ");
		assert_int_equal(save(fs, "roundrobin", NULL), -EINVAL);
		after = fake_state(&fake);
		assert_string_equal(after, before);
		free(before);
		free(after);
		btrfs_policy_fs_unref(fs);
	}
}

/* Of two processes that save at the same time neither loses the other's settings. */
static void who_saves_meanwhile_is_kept(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);

	strcpy(fake.saved, "readahead = 1M\n");
	fake.saved_by_other = "readahead = 8M\n";
	assert_int_equal(save(fs, "roundrobin", NULL), 0);
	assert_string_equal(fake.saved, "readahead = 8M\nread-policy = roundrobin\n");
	assert_false(fake.saved_locked);
	fake.saved_error = -ENOSPC;
	assert_int_equal(save(fs, "pid", NULL), -ENOSPC);
	assert_false(fake.saved_locked);
	btrfs_policy_fs_unref(fs);
}

/* Its file would be found by no later mount. */
static void a_temporary_fsid_is_refused(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);
	char *value = NULL;

	fake_set_file(&fake, FAKE_FSID "/temp_fsid", "1");
	assert_int_equal(save(fs, "roundrobin", NULL), -EOPNOTSUPP);
	assert_has(btrfs_policy_fs_error(fs), "leave out --save");
	assert_string_equal(fake.saved, "");
	assert_int_equal(btrfs_policy_setting_get(fs, "read-policy", 0, &value), 0);
	assert_string_equal(value, "pid");
	free(value);
	fake_set_file(&fake, FAKE_FSID "/temp_fsid", "0");
	assert_int_equal(save(fs, "roundrobin", NULL), 0);
	btrfs_policy_fs_unref(fs);
}

/* Where the file cannot be written the kernel's values are put back. */
static void unwritable_means_unchanged(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);
	char *value = NULL;

	fake.saved_error = -ENOSPC;
	assert_int_equal(save(fs, "roundrobin", "16M"), -ENOSPC);
	fake.saved_error = 0;
	assert_int_equal(btrfs_policy_setting_get(fs, "read-policy", 0, &value), 0);
	assert_string_equal(value, "pid");
	free(value);
	btrfs_policy_fs_unref(fs);
}

static void roles_need_no_file(void **state)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	struct btrfs_policy_changes *changes = NULL;
	struct btrfs_policy_fs *fs = fake_open(&fake);

	btrfs_policy_request_add(request, "role", 1, "metadata-only");
	assert_int_equal(btrfs_policy_apply(fs, request, BTRFS_POLICY_SAVE, &changes), 0);
	assert_string_equal(fake.saved, "");
	btrfs_policy_changes_free(changes);
	btrfs_policy_request_free(request);
	btrfs_policy_fs_unref(fs);
}

static int open_bdi(const char *bdi, unsigned int seconds)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);
	int ret = btrfs_policy_fs_open_bdi(fs, bdi, seconds);

	if (ret)
		assert_true(*btrfs_policy_fs_error(fs));
	else
		assert_string_equal(btrfs_policy_fs_info(fs)->fsid, FAKE_FSID);
	btrfs_policy_fs_unref(fs);
	return ret;
}

static void a_mount_is_waited_for(void **state)
{
	assert_int_equal(open_bdi("btrfs-1", 10), 0);
	assert_int_equal(fake.naps, 0);
	snprintf(fake.saved, sizeof(fake.saved), "read-policy = pid\n");
	fake.mount_scans = 20;
	assert_int_equal(open_bdi("btrfs-1", 10), 0);
	assert_int_equal(fake.naps, 19);
	fake.mount_scans = 0;
	fake.naps = 0;
	fake.calls = 0;
	fake.fail_at = 3;
	fake.fail_with = -ENOTCONN;	/* FUSE is gone, there is another mount */
	assert_int_equal(open_bdi("btrfs-1", 10), 0);
	assert_int_equal(fake.naps, 1);
	fake.mount_scans = 1000;
	assert_int_equal(open_bdi("btrfs-1", 10), -ETIMEDOUT);
	assert_int_equal(open_bdi("btrfs-2", 10), -ENODEV);
	fake.mounts[0] = NULL;
	fake.mount_scans = 0;
	assert_int_equal(open_bdi("btrfs-1", 10), -ETIMEDOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(lines_of_others_stay, setup),
		cmocka_unit_test_setup(a_new_file_says_what_it_is, setup),
		cmocka_unit_test_setup(damage_is_refused, setup),
		cmocka_unit_test_setup(who_saves_meanwhile_is_kept, setup),
		cmocka_unit_test_setup(a_temporary_fsid_is_refused, setup),
		cmocka_unit_test_setup(unwritable_means_unchanged, setup),
		cmocka_unit_test_setup(roles_need_no_file, setup),
		cmocka_unit_test_setup(a_mount_is_waited_for, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
