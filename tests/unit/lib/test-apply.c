/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings: grammars, reading, and changes that are made whole or not at all.
 */
#include "apply-run.h"

static struct fake fake;

static int setup(void **state)
{
	fake_two_and_two(&fake, FAKE_OURS, DISK_DATA, DISK_DATA);
	return 0;
}

/* ---- Grammars ----------------------------------------------------------- */

static const struct {
	enum fake_kernel kernel;
	const char *setting;
	const char *text;
	int expected;
	const char *value; /* what is read back */
} grammar[] = {
	{ FAKE_OURS, "read-policy", "roundrobin", 0, "roundrobin" },
	{ FAKE_OURS, "read-policy", "pid", 0, "pid" },
	{ FAKE_OURS, "read-policy", "pid:1", -EINVAL, NULL },
	{ FAKE_OURS, "read-policy", "", -EINVAL, NULL },
	{ FAKE_OURS, "read-policy", "round", -EINVAL, NULL },
	{ FAKE_OURS, "read-policy", "Roundrobin", -EINVAL, NULL },
	{ FAKE_OURS, "read-policy", "[pid]", -EINVAL, NULL },
	{ FAKE_STOCK, "read-policy", "roundrobin", -EOPNOTSUPP, NULL },
	{ FAKE_STOCK, "read-policy", "devid", -EINVAL, NULL },
	{ FAKE_UPSTREAM, "read-policy", "round-robin", 0, "round-robin:262144" },
	{ FAKE_UPSTREAM, "read-policy", "round-robin:4096", 0, "round-robin:4096" },
	{ FAKE_UPSTREAM, "read-policy", "round-robin:1M", 0, "round-robin:1048576" },
	{ FAKE_UPSTREAM, "read-policy", "devid:2", 0, "devid:2" },
	{ FAKE_UPSTREAM, "read-policy", "pid:2", -EINVAL, NULL },
	{ FAKE_OURS, "rot-penalty", "0", 0, "0" },
	{ FAKE_OURS, "rot-penalty", "1000", 0, "1000" },
	{ FAKE_OURS, "rot-penalty", "007", 0, "7" },
	{ FAKE_OURS, "rot-penalty", "1001", -EINVAL, NULL },
	{ FAKE_OURS, "rot-penalty", "-1", -EINVAL, NULL },
	{ FAKE_OURS, "rot-penalty", "+1", -EINVAL, NULL },
	{ FAKE_OURS, "rot-penalty", " 1", -EINVAL, NULL },
	{ FAKE_OURS, "rot-penalty", "1 ", -EINVAL, NULL },
	{ FAKE_OURS, "rot-penalty", "0x10", -EINVAL, NULL },
	{ FAKE_OURS, "rot-penalty", "", -EINVAL, NULL },
	{ FAKE_OURS, "rot-penalty", "18446744073709551616", -EINVAL, NULL },
	{ FAKE_STOCK, "rot-penalty", "1", -EOPNOTSUPP, NULL },
	{ FAKE_OURS, "nonrot-penalty", "5", 0, "5" },
	{ FAKE_OURS, "penalty-mixed-only", "no", 0, "no" },
	{ FAKE_OURS, "penalty-mixed-only", "off", 0, "no" },
	{ FAKE_OURS, "penalty-mixed-only", "1", 0, "yes" },
	{ FAKE_OURS, "penalty-mixed-only", "maybe", -EINVAL, NULL },
	{ FAKE_OURS, "lagging-superblocks", "yes", 0, "yes" },
	{ FAKE_OURS, "lagging-superblocks", "2", -EINVAL, NULL },
	{ FAKE_STOCK, "lagging-superblocks", "yes", -EOPNOTSUPP, NULL },
	{ FAKE_STOCK, "readahead", "512K", 0, "524288" },
	{ FAKE_STOCK, "readahead", "512k", 0, "524288" },
	{ FAKE_STOCK, "readahead", "8M", 0, "8388608" },
	{ FAKE_STOCK, "readahead", "1G", 0, "1073741824" },
	{ FAKE_STOCK, "readahead", "0", 0, "0" },
	{ FAKE_STOCK, "readahead", "4096", 0, "4096" },
	{ FAKE_STOCK, "readahead", "1000", -EINVAL, NULL },
	{ FAKE_STOCK, "readahead", "2G", -EINVAL, NULL },
	{ FAKE_STOCK, "readahead", "4T", -EINVAL, NULL },
	{ FAKE_STOCK, "readahead", "K", -EINVAL, NULL },
	{ FAKE_STOCK, "readahead", "1KB", -EINVAL, NULL },
	{ FAKE_STOCK, "readahead", "4KB", -EINVAL, NULL },
	{ FAKE_STOCK, "readahead", "99999999999999999G", -EINVAL, NULL },
	{ FAKE_OURS, "speed", "1", -EINVAL, NULL },
};

static void check_value(struct btrfs_policy_fs *fs, const char *setting, uint64_t devid,
			const char *expected)
{
	char *value = NULL;

	assert_int_equal(btrfs_policy_setting_get(fs, setting, devid, &value), 0);
	assert_string_equal(value, expected);
	free(value);
}

static void grammars(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(grammar); i++) {
		struct btrfs_policy_changes *changes = NULL;
		struct wanted wanted = { grammar[i].setting, 0, grammar[i].text };
		struct btrfs_policy_fs *fs;
		int ret;

		fake_two_and_two(&fake, grammar[i].kernel, DISK_DATA, DISK_DATA);
		fs = fake_open(&fake);
		ret = apply(fs, &wanted, 1, 0, &changes);
		if (ret != grammar[i].expected)
			fail_msg("%s '%s': %d %s", grammar[i].setting, grammar[i].text, ret,
				 btrfs_policy_fs_error(fs));
		if (!ret)
			check_value(fs, grammar[i].setting, 0, grammar[i].value);
		if (ret == -EOPNOTSUPP)
			assert_has(btrfs_policy_fs_error(fs), "/sys/fs/btrfs/");
		btrfs_policy_changes_free(changes);
		btrfs_policy_fs_unref(fs);
	}
}

/* Where a boot loader may need them, superblocks lag by force only. */
static void superblocks_of_boot(void **state)
{
	static const struct wanted yes = { "lagging-superblocks", 0, "yes" },
				   no = { "lagging-superblocks", 0, "no" };
	struct btrfs_policy_changes *changes = NULL;
	struct btrfs_policy_fs *fs;

	fake_two_and_two(&fake, FAKE_OURS, DISK_DATA, DISK_DATA);
	fake.boots = true;
	fs = fake_open(&fake);
	assert_int_equal(apply(fs, &yes, 1, 0, &changes), -EINVAL);
	assert_has(btrfs_policy_fs_error(fs), "/boot is there");
	assert_int_equal(btrfs_policy_fs_hint(fs), BTRFS_POLICY_HINT_FORCE);
	check_value(fs, "lagging-superblocks", 0, "no");
	assert_int_equal(apply(fs, &no, 1, 0, &changes), 0);
	btrfs_policy_changes_free(changes);
	assert_int_equal(apply(fs, &yes, 1, BTRFS_POLICY_FORCE, &changes), 0);
	check_value(fs, "lagging-superblocks", 0, "yes");
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
}

static void words_on_offer(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);
	char **words;

	assert_int_equal(btrfs_policy_setting_values(fs, "read-policy", &words), 0);
	assert_string_equal(words[0], "pid");
	assert_string_equal(words[1], "roundrobin");
	assert_null(words[2]);
	btrfs_policy_strv_free(words);
	assert_int_equal(btrfs_policy_setting_values(fs, "rot-penalty", &words), 0);
	assert_null(words[0]);
	btrfs_policy_strv_free(words);
	assert_int_equal(btrfs_policy_setting_values(fs, "role", &words), 0);
	assert_string_equal(words[3], "metadata-only");
	btrfs_policy_strv_free(words);
	assert_int_equal(btrfs_policy_setting_values(fs, "nothing", &words), -EINVAL);
	btrfs_policy_fs_unref(fs);
}

/* Every role in the table can be had by name from the rows alone. */
static void rows_are_complete(void **state)
{
	const struct btrfs_policy_setting *row;
	struct btrfs_policy_fs *fs = fake_open(&fake);

	for (size_t i = 0; (row = btrfs_policy_setting_at(i)); i++) {
		assert_ptr_equal(btrfs_policy_setting_find(row->name), row);
		assert_non_null(btrfs_policy_capability_find(fs, row->capability));
		assert_true(*row->title && *row->file && *row->grammar && *row->help);
	}
	assert_null(btrfs_policy_setting_find("nothing"));
	btrfs_policy_fs_unref(fs);
}

/* ---- Several changes ---------------------------------------------------- */

static const struct wanted everything[] = {
	{ "read-policy", 0, "roundrobin" },
	{ "rot-penalty", 0, "8" },
	{ "penalty-mixed-only", 0, "no" },
	{ "role", 1, "metadata-only" },
	{ "readahead", 0, "8M" },
	{ "role", 2, "metadata-only" },
	{ "nonrot-penalty", 0, "0" },
};

#define EVERYTHING everything, BP_ARRAY_SIZE(everything)

static void several_changes(void **state)
{
	static const char *const old_new[][2] = {
		{ "pid", "roundrobin" }, { "1", "8" }, { "yes", "no" },
		{ "data-preferred", "metadata-only" }, { "4194304", "8388608" },
		{ "data-preferred", "metadata-only" }, { "0", "0" },
	};
	struct btrfs_policy_fs *fs = fake_open(&fake);
	struct btrfs_policy_changes *changes;

	assert_int_equal(apply(fs, EVERYTHING, 0, &changes), 0);
	assert_int_equal(btrfs_policy_changes_count(changes), BP_ARRAY_SIZE(old_new));
	for (size_t i = 0; i < BP_ARRAY_SIZE(old_new); i++) {
		const struct btrfs_policy_change *change = btrfs_policy_changes_at(changes, i);

		assert_string_equal(change->setting->name, everything[i].setting);
		assert_string_equal(change->old_value, old_new[i][0]);
		assert_string_equal(change->new_value, old_new[i][1]);
	}
	assert_string_equal(btrfs_policy_changes_at(changes, 3)->path, "/dev/fake1");
	assert_null(btrfs_policy_changes_at(changes, 0)->path);
	assert_null(btrfs_policy_changes_at(changes, 7));
	assert_int_equal(fake.role_calls, 1);
	assert_int_equal(fake.devices[0].type, DISK_METADATA_ONLY);
	assert_int_equal(btrfs_policy_device_at(fs, 1)->role, BTRFS_POLICY_ROLE_METADATA_ONLY);
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
}

static void dry_run_changes_nothing(void **state)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);
	struct btrfs_policy_changes *changes;
	char *before = fake_state(&fake);
	char *after;

	assert_int_equal(apply(fs, EVERYTHING, BTRFS_POLICY_DRY_RUN, &changes), 0);
	after = fake_state(&fake);
	assert_string_equal(before, after);
	assert_string_equal(btrfs_policy_changes_at(changes, 0)->new_value, "roundrobin");
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
	free(before);
	free(after);
}

static void what_is_right_is_not_written(void **state)
{
	static const struct wanted same[] = {
		{ "read-policy", 0, "pid" }, { "role", 3, "data-preferred" },
		{ "readahead", 0, "4M" },
	};
	struct btrfs_policy_fs *fs = fake_open(&fake);
	struct btrfs_policy_changes *changes;

	for (size_t i = 0; i < fake.file_count; i++)
		fake.files[i].write_error = -EIO;
	assert_int_equal(apply(fs, same, 3, 0, &changes), 0);
	assert_int_equal(fake.role_calls, 0);
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
}

/* ---- Refusals ----------------------------------------------------------- */

static const struct {
	const char *name;
	enum fake_kernel kernel;
	struct wanted wanted[4];
	unsigned int flags;
	int expected;
	const char *error;
} refusals[] = {
	{ "twice", FAKE_OURS, { { "rot-penalty", 0, "1" }, { "rot-penalty", 0, "2" } }, 0, -EINVAL,
	  "twice" },
	{ "device twice", FAKE_OURS, { { "role", 1, "data-only" }, { "role", 1, "data-only" } }, 0,
	  -EINVAL, "device 1 is given twice" },
	{ "no device", FAKE_OURS, { { "role", 0, "data-only" } }, 0, -EINVAL, "name one" },
	{ "needless device", FAKE_OURS, { { "rot-penalty", 1, "1" } }, 0, -EINVAL, "file system" },
	{ "unknown device", FAKE_OURS, { { "role", 9, "data-only" } }, 0, -ENODEV, "devid 9" },
	{ "unknown role", FAKE_OURS, { { "role", 1, "foreign" } }, 0, -EINVAL, "expected" },
	{ "good and bad", FAKE_OURS, { { "rot-penalty", 0, "5" }, { "role", 1, "junk" } }, 0,
	  -EINVAL, "junk" },
	{ "stock kernel", FAKE_STOCK, { { "role", 1, "data-only" } }, BTRFS_POLICY_FORCE,
	  -EOPNOTSUPP, "features/device_role" },
	{ "too few for data", FAKE_OURS,
	  { { "role", 1, "metadata-only" }, { "role", 2, "metadata-only" },
	    { "role", 3, "metadata-only" } }, 0, -EINVAL, "data profile (RAID1 needs 2" },
	{ "too few for metadata", FAKE_OURS,
	  { { "role", 1, "data-only" }, { "role", 2, "data-only" }, { "role", 3, "data-only" } },
	  0, -EINVAL, "metadata profile" },
	{ "unknown flag", FAKE_OURS, { { "rot-penalty", 0, "5" } }, 8, -EINVAL, "flags" },
};

static void refused_and_nothing_changed(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(refusals); i++) {
		struct btrfs_policy_changes *changes = NULL;
		struct btrfs_policy_fs *fs;
		char *before, *after;
		size_t count = 0;
		int ret;

		fake_two_and_two(&fake, refusals[i].kernel, DISK_DATA, DISK_DATA);
		fs = fake_open(&fake);
		before = fake_state(&fake);
		while (count < 4 && refusals[i].wanted[count].setting)
			count++;
		ret = apply(fs, refusals[i].wanted, count, refusals[i].flags, &changes);
		if (ret != refusals[i].expected)
			fail_msg("%s: %d %s", refusals[i].name, ret, btrfs_policy_fs_error(fs));
		assert_has(btrfs_policy_fs_error(fs), refusals[i].error);
		after = fake_state(&fake);
		assert_string_equal(before, after);
		assert_null(changes);
		btrfs_policy_fs_unref(fs);
		free(before);
		free(after);
	}
}

static void force_overrides_too_few(void **state)
{
	static const struct wanted roles[] = {
		{ "role", 1, "metadata-only" }, { "role", 2, "metadata-only" },
		{ "role", 3, "metadata-only" },
	};
	struct btrfs_policy_fs *fs = fake_open(&fake);
	struct btrfs_policy_changes *changes;

	assert_int_equal(apply(fs, roles, 3, BTRFS_POLICY_FORCE, &changes), 0);
	assert_int_equal(fake.devices[2].type, DISK_METADATA_ONLY);
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
}

/* Two of four devices are gone: allowing more must work, allowing less must not. */
static void only_a_change_for_the_worse_is_refused(void **state)
{
	static const struct wanted better = { "role", 3, "data-preferred" };
	static const struct wanted worse = { "role", 4, "metadata-only" };
	struct btrfs_policy_changes *changes;
	struct btrfs_policy_fs *fs;

	fake_two_and_two(&fake, FAKE_OURS, DISK_DATA, DISK_METADATA_ONLY);
	fake.devices[0].missing = fake.devices[1].missing = true;
	fs = fake_open(&fake);
	assert_int_equal(apply(fs, &better, 1, 0, &changes), 0);
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
	fake.devices[3].type = DISK_DATA;
	fake.chunks[3].type = DATA | RAID1;
	fs = fake_open(&fake);
	assert_int_equal(apply(fs, &worse, 1, 0, &changes), -EINVAL);
	assert_has(btrfs_policy_fs_error(fs), "data profile");
	btrfs_policy_fs_unref(fs);
}

static void foreign_roles_are_shown_and_replaced(void **state)
{
	static const struct wanted role = { "role", 2, "metadata-preferred" };
	struct btrfs_policy_changes *changes;
	struct btrfs_policy_fs *fs;

	fake.devices[1].type = 0x70000000004;
	fs = fake_open(&fake);
	check_value(fs, "role", 2, "foreign");
	assert_int_equal(apply(fs, &role, 1, 0, &changes), 0);
	assert_string_equal(btrfs_policy_changes_at(changes, 0)->old_value, "foreign");
	assert_true(fake.devices[1].type == 0x70000000001);
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
}

static void read_only_takes_no_roles(void **state)
{
	static const struct wanted role = { "role", 1, "data-only" };
	static const struct wanted policy = { "read-policy", 0, "roundrobin" };
	struct btrfs_policy_changes *changes;
	struct btrfs_policy_fs *fs;

	fake.read_only = true;
	fs = fake_open(&fake);
	assert_int_equal(apply(fs, &role, 1, 0, &changes), -EROFS);
	assert_has(btrfs_policy_fs_error(fs), "read-only");
	assert_int_equal(apply(fs, &policy, 1, 0, &changes), 0);
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
}

/* As the kernel has it, and whoever forces it: tags of other kernels can go, none can come. */
static void mixed_block_groups_take_the_default_only(void **state)
{
	static const struct wanted other = { "role", 3, "data-only" };
	static const struct wanted back = { "role", 1, "data-preferred" };
	struct btrfs_policy_changes *changes = NULL;
	struct btrfs_policy_fs *fs;

	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA);
	fake.mixed = true;
	fs = fake_open(&fake);
	assert_int_equal(apply(fs, &other, 1, BTRFS_POLICY_FORCE, &changes), -EINVAL);
	assert_has(btrfs_policy_fs_error(fs), "mixed block groups");
	assert_int_equal(fake.role_calls, 0);
	assert_int_equal(apply(fs, &back, 1, 0, &changes), 0);
	assert_int_equal(fake.devices[0].type, DISK_DATA);
	btrfs_policy_changes_free(changes);
	btrfs_policy_fs_unref(fs);
}

static const struct {
	uint32_t reason;
	const char *words;
} reasons[] = {
	{ 0, "Invalid argument" },
	{ BTRFS_DEVICE_ROLES_BAD_ROLE, "not one that the kernel knows (device 1)" },
	{ BTRFS_DEVICE_ROLES_NO_DEVICE, "no such device" },
	{ BTRFS_DEVICE_ROLES_TOO_FEW_DATA, "data profile" },
	{ BTRFS_DEVICE_ROLES_TOO_FEW_METADATA, "metadata profile" },
	{ BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM, "system profile" },
	{ BTRFS_DEVICE_ROLES_MIXED, "mixed block groups" },
	{ 77, "unknown to this version" },
};

/* The kernel says no after the other settings were written. */
static void kernel_refuses_roles(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(reasons); i++) {
		struct btrfs_policy_changes *changes = NULL;
		struct btrfs_policy_fs *fs;
		char *before, *after;

		setup(NULL);
		fake.roles_result = -EINVAL;
		fake.roles_reason = reasons[i].reason;
		before = fake_state(&fake);
		fs = fake_open(&fake);
		assert_int_equal(apply(fs, EVERYTHING, 0, &changes), -EINVAL);
		assert_has(btrfs_policy_fs_error(fs), reasons[i].words);
		assert_has(btrfs_policy_fs_error(fs), "put back");
		after = fake_state(&fake);
		assert_string_equal(before, after);
		btrfs_policy_fs_unref(fs);
		free(before);
		free(after);
	}
}

/* A kernel that takes a value and goes on showing another. */
static void a_value_that_does_not_stick(void **state)
{
	struct btrfs_policy_changes *changes = NULL;
	struct btrfs_policy_fs *fs = fake_open(&fake);
	char *before = fake_state(&fake);
	char *after;

	fake_file(&fake, FAKE_FSID "/bdi/read_ahead_kb")->stubborn = true;
	assert_int_equal(apply(fs, EVERYTHING, 0, &changes), -EIO);
	assert_has(btrfs_policy_fs_error(fs), "shows '4194304'");
	after = fake_state(&fake);
	assert_string_equal(before, after);
	assert_int_equal(btrfs_policy_device_at(fs, 0)->role, BTRFS_POLICY_ROLE_DATA_PREFERRED);
	btrfs_policy_fs_unref(fs);
	free(before);
	free(after);
}

/* Roles are set, then the readahead does not stick: the roles are to be put back. */
static void fail_behind_roles(unsigned int call, const char *error)
{
	static const struct wanted wanted[] = {
		{ "readahead", 0, "8M" }, { "role", 1, "metadata-only" }, { "role", 2, "data-only" },
	};
	struct btrfs_policy_changes *changes = NULL;
	struct btrfs_policy_fs *fs = fake_open(&fake);

	fake_file(&fake, FAKE_FSID "/bdi/read_ahead_kb")->stubborn = true;
	fake.calls = 0;
	fake.fail_at = call;
	fake.fail_with = -ENOENT;
	assert_int_equal(apply(fs, wanted, 3, 0, &changes), -EIO);
	assert_has(btrfs_policy_fs_error(fs), error);
	btrfs_policy_fs_unref(fs);
}

static void a_foreign_role_does_not_keep_others(void **state)
{
	fake.devices[0].type = DISK_FOREIGN;
	fail_behind_roles(0, "some stay: cannot set device 1 back to a foreign role");
	assert_int_equal(fake.devices[0].type, DISK_METADATA_ONLY);
	assert_int_equal(fake.devices[1].type, DISK_DATA);
}

/* The last four calls look at both devices, write their roles, and the readahead. */
static void a_device_that_is_gone_does_not_keep_others(void **state)
{
	unsigned int calls;

	fail_behind_roles(0, "were put back");
	calls = fake.calls;
	setup(NULL);
	fail_behind_roles(calls - 3, "some stay");
	assert_int_equal(fake.devices[0].type, DISK_METADATA_ONLY);
	assert_int_equal(fake.devices[1].type, DISK_DATA);
}

/* ---- Signals ------------------------------------------------------------ */

static struct {
	int number;
	unsigned int at, writes;	/* raised before write `at`, from 1 */
	char *seen;			/* the state when it arrived */
} key;

static void press_key(struct fake *machine)
{
	if (++key.writes == key.at)
		raise(key.number);
}

static void note_state(int number)
{
	free(key.seen);
	key.seen = fake_state(&fake);
}

/* A process that ends by the signal leaves what the handler sees. */
static void no_signal_arrives_amid_a_change(void **state)
{
	static const struct wanted wanted[] = {
		{ "readahead", 0, "8M" }, { "role", 1, "metadata-only" }, { "role", 3, "data-only" },
	};
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	for (unsigned int i = 0; i < 4 * BP_ARRAY_SIZE(numbers); i++) {
		struct btrfs_policy_changes *changes;
		struct btrfs_policy_fs *fs;
		char *after;

		fake_two_and_two(&fake, FAKE_HINT, DISK_DATA, DISK_DATA);
		key.number = numbers[i / 4];
		key.at = i % 4 + 1;
		key.writes = 0;
		signal(key.number, note_state);
		fs = fake_open(&fake);
		fake.on_write = press_key;
		assert_int_equal(apply(fs, wanted, 3, BTRFS_POLICY_SAVE, &changes), 0);
		after = fake_state(&fake);
		assert_int_equal(key.writes, 4);
		assert_non_null(key.seen);
		assert_string_equal(key.seen, after);
		free(after);
		free(key.seen);
		key.seen = NULL;
		btrfs_policy_changes_free(changes);
		btrfs_policy_fs_unref(fs);
		signal(key.number, SIG_DFL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grammars),
		cmocka_unit_test(superblocks_of_boot),
		cmocka_unit_test_setup(words_on_offer, setup),
		cmocka_unit_test_setup(rows_are_complete, setup),
		cmocka_unit_test_setup(several_changes, setup),
		cmocka_unit_test_setup(dry_run_changes_nothing, setup),
		cmocka_unit_test_setup(what_is_right_is_not_written, setup),
		cmocka_unit_test(refused_and_nothing_changed),
		cmocka_unit_test_setup(force_overrides_too_few, setup),
		cmocka_unit_test(only_a_change_for_the_worse_is_refused),
		cmocka_unit_test_setup(foreign_roles_are_shown_and_replaced, setup),
		cmocka_unit_test_setup(read_only_takes_no_roles, setup),
		cmocka_unit_test(mixed_block_groups_take_the_default_only),
		cmocka_unit_test(kernel_refuses_roles),
		cmocka_unit_test_setup(a_value_that_does_not_stick, setup),
		cmocka_unit_test_setup(a_foreign_role_does_not_keep_others, setup),
		cmocka_unit_test_setup(a_device_that_is_gone_does_not_keep_others, setup),
		cmocka_unit_test(no_signal_arrives_amid_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
