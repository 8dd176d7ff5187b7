/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every operation with its nth call to the outside failing, for every n, once
 * alone and once with all calls after it: no change is half done, and there is
 * always an error text.
 */
#include "unit.h"

static struct fake fake;

static const int errors[] = { -EIO, -ENOMEM, -EACCES, -EPERM, -ENOENT, -ENOSPC };

/* ---- Operations --------------------------------------------------------- */

static int do_open(struct btrfs_policy_fs *fs)
{
	return 0;
}

static int do_refresh(struct btrfs_policy_fs *fs)
{
	return btrfs_policy_fs_refresh(fs);
}

static int do_select(struct btrfs_policy_fs *fs)
{
	uint64_t *devids = NULL;
	size_t count;
	int ret = btrfs_policy_device_select(fs, "/dev/fake2", &devids, &count);

	free(devids);
	return ret;
}

static int do_get(struct btrfs_policy_fs *fs)
{
	const struct btrfs_policy_setting *row;
	int ret = 0;

	for (size_t i = 0; !ret && (row = btrfs_policy_setting_at(i)); i++) {
		char *value = NULL;

		if (!bp_capable(fs, row->capability))
			continue;
		ret = btrfs_policy_setting_get(fs, row->name, row->scope ? 1 : 0, &value);
		free(value);
	}
	return ret;
}

static int do_values(struct btrfs_policy_fs *fs)
{
	char **words = NULL;
	int ret = btrfs_policy_setting_values(fs, "read-policy", &words);

	btrfs_policy_strv_free(words);
	return ret;
}

static int do_exclusive(struct btrfs_policy_fs *fs)
{
	char *name = NULL;
	int ret = btrfs_policy_exclusive_operation(fs, &name);

	free(name);
	return ret;
}

static int do_placement(struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_placement *placement = NULL;
	int ret = btrfs_policy_placement_read(fs, &placement);

	btrfs_policy_placement_free(placement);
	return ret;
}

static int do_apply(struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	struct btrfs_policy_changes *changes = NULL;
	int ret;

	if (bp_capable(fs, "penalties")) {
		btrfs_policy_request_add(request, "read-policy", 0, "roundrobin");
		btrfs_policy_request_add(request, "rot-penalty", 0, "9");
	}
	btrfs_policy_request_add(request, "role", 1, "metadata-only");
	btrfs_policy_request_add(request, "readahead", 0, "8M");
	btrfs_policy_request_add(request, "role", 2, "metadata-only");
	btrfs_policy_request_add(request, "role", 3, "data-only");
	ret = btrfs_policy_apply(fs, request, 0, &changes);
	if (ret)
		assert_null(changes);
	btrfs_policy_changes_free(changes);
	btrfs_policy_request_free(request);
	return ret;
}

static int do_balance(struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_balance_report *report = NULL;
	int ret = btrfs_policy_balance(fs, NULL, &report);

	if (ret && report)
		assert_int_not_equal(report->end, BTRFS_POLICY_END_DONE);
	btrfs_policy_balance_report_free(report);
	return ret;
}

/* Both ways: into a file with lines of its own, and back out of it. */
static int do_save(struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	struct btrfs_policy_changes *changes = NULL;
	int ret;

	assert_int_equal(btrfs_policy_request_add(request, "read-policy", 0, "roundrobin"), 0);
	assert_int_equal(btrfs_policy_request_add(request, "readahead", 0, "16M"), 0);
	ret = btrfs_policy_apply(fs, request, BTRFS_POLICY_SAVE, &changes);
	btrfs_policy_changes_free(changes);
	btrfs_policy_request_free(request);
	return ret;
}

static int do_saved_read(struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_request *request = NULL;
	int ret = btrfs_policy_saved_read(fs, &request);

	btrfs_policy_request_free(request);
	return ret == -ENOENT ? 0 : ret;
}

/* ---- The walk ----------------------------------------------------------- */

struct operation {
	const char *name;
	int (*run)(struct btrfs_policy_fs *fs);
	enum fake_kernel kernel;
	uint64_t ssd, hdd;
	bool whole_open; /* fail in opening, too */
};

static const struct operation operations[] = {
	{ "open", do_open, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA, true },
	{ "open, hints", do_open, FAKE_HINT, DISK_METADATA_ONLY, DISK_DATA, true },
	{ "open, stock", do_open, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA, true },
	{ "refresh", do_refresh, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA, false },
	{ "select", do_select, FAKE_OURS, DISK_DATA, DISK_DATA, false },
	{ "get", do_get, FAKE_OURS, DISK_DATA, DISK_DATA, false },
	{ "values", do_values, FAKE_OURS, DISK_DATA, DISK_DATA, false },
	{ "exclusive", do_exclusive, FAKE_OURS, DISK_DATA, DISK_DATA, false },
	{ "placement", do_placement, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA, false },
	{ "apply", do_apply, FAKE_OURS, DISK_DATA, DISK_DATA, false },
	{ "apply, hints", do_apply, FAKE_HINT, DISK_DATA, DISK_DATA, false },
	{ "save", do_save, FAKE_OURS, DISK_DATA, DISK_DATA, false },
	{ "saved read", do_saved_read, FAKE_OURS, DISK_DATA, DISK_DATA, false },
	{ "balance", do_balance, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA_ONLY, false },
};

struct attempt {
	int ret;
	bool reached; /* the failing call was made */
	bool changed; /* settings differ from before */
	char error[BP_ERROR_LENGTH];
};

static struct btrfs_policy_fs *open_quietly(int *ret)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, &fake);

	*ret = btrfs_policy_fs_open(fs, "/mnt");
	return fs;
}

static void attempt(const struct operation *operation, unsigned int n, int error, bool on,
		    struct attempt *result)
{
	struct btrfs_policy_fs *fs;
	char *before, *after;

	fake_two_and_two(&fake, operation->kernel, operation->ssd, operation->hdd);
	fake.fail_with = error;
	fake.fail_on = on;
	before = fake_state(&fake);
	if (operation->whole_open)
		fake.fail_at = n;
	fs = open_quietly(&result->ret);
	if (!operation->whole_open) {
		fake.calls = 0;
		fake.fail_at = n;
	}
	if (!result->ret)
		result->ret = operation->run(fs);
	after = fake_state(&fake);
	result->reached = fake.calls >= n;
	result->changed = strcmp(before, after);
	snprintf(result->error, sizeof(result->error), "%s", btrfs_policy_fs_error(fs));
	btrfs_policy_fs_unref(fs);
	free(before);
	free(after);
}

static void check(const struct operation *operation, unsigned int n, bool on,
		  const struct attempt *result)
{
	if (result->ret > 0 || (result->ret && !*result->error))
		fail_msg("%s, call %u: %d '%s'", operation->name, n, result->ret, result->error);
	if (!result->ret || !result->changed)
		return;
	/* Only if putting back failed as well may anything stay, and that is said. */
	if (!on || (!strstr(result->error, "some stay") &&
		    !strstr(result->error, "could not be put back")))
		fail_msg("%s, call %u: half applied: %s", operation->name, n, result->error);
}

static void walk(const struct operation *operation, int error, bool on)
{
	struct attempt result = { .reached = true };
	unsigned int n;

	for (n = 1; result.reached; n++) {
		attempt(operation, n, error, on, &result);
		check(operation, n, on, &result);
	}
	if (result.ret)
		fail_msg("%s: fails without a failing call: %s", operation->name, result.error);
	/* The switch must have had something to act on. */
	if (n == 2 && operation->run != do_open)
		fail_msg("%s: makes no calls", operation->name);
}

static void the_nth_call_fails(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(operations); i++)
		for (size_t j = 0; j < BP_ARRAY_SIZE(errors); j++)
			walk(&operations[i], errors[j], false);
}

static void all_calls_from_the_nth_fail(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(operations); i++)
		for (size_t j = 0; j < BP_ARRAY_SIZE(errors); j++)
			walk(&operations[i], errors[j], true);
}

static int do_suggest(struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_suggestion *suggestion = NULL;
	int ret = btrfs_policy_suggest(fs, &suggestion);

	btrfs_policy_suggestion_free(suggestion);
	return ret;
}

static int do_add(struct btrfs_policy_fs *fs)
{
	static char path[] = "/dev/fake5", *paths[] = { path };
	struct btrfs_policy_additions *additions;
	int ret = btrfs_policy_device_add(fs, paths, 1, BTRFS_POLICY_ROLE_DATA_ONLY, 0, &additions);

	btrfs_policy_additions_free(additions);
	return ret;
}

/* The handle is empty then, and still open. */
static void after_a_failed_refresh(void **state)
{
	static int (*const runs[])(struct btrfs_policy_fs *fs) = {
		do_balance, do_add, do_apply, do_save, do_suggest, do_get, do_values, do_placement,
	};

	for (size_t i = 0; i < BP_ARRAY_SIZE(runs); i++) {
		struct btrfs_policy_fs *fs;
		int ret;

		fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA);
		fs = open_quietly(&ret);
		assert_int_equal(ret, 0);
		fake.fail_at = fake.calls + 1;
		assert_int_equal(btrfs_policy_fs_refresh(fs), -EIO);
		runs[i](fs);
		assert_true(*btrfs_policy_fs_error(fs));
		assert_int_equal(btrfs_policy_fs_refresh(fs), 0);
		btrfs_policy_fs_unref(fs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nth_call_fails),
		cmocka_unit_test(all_calls_from_the_nth_fail),
		cmocka_unit_test(after_a_failed_refresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
