/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adding devices with a role: the checks before any is changed, and the error
 * when one of them fails.
 */
#include "unit.h"

#define COUNT 2

static struct fake fake;
static char first[] = "/dev/fake5", second[] = "/dev/fake6";
static char *const paths[COUNT] = { first, second };

static int setup(void **state)
{
	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA_ONLY, DISK_DATA);
	fake.signatures[5] = "ext4";
	return 0;
}

struct result {
	int ret;
	char error[BP_ERROR_LENGTH];
	size_t told; /* rows that the library handed out */
	bool added[COUNT];
	bool wiped[COUNT];
};

static struct result add_to(struct btrfs_policy_fs *fs, enum btrfs_policy_role role,
			    unsigned int flags)
{
	struct btrfs_policy_additions *additions;
	const struct btrfs_policy_addition *row;
	struct result result = {};

	result.ret = btrfs_policy_device_add(fs, paths, COUNT, role, flags, &additions);
	snprintf(result.error, sizeof(result.error), "%s", btrfs_policy_fs_error(fs));
	while (additions && (row = btrfs_policy_additions_at(additions, result.told))) {
		result.added[result.told] = row->added;
		result.wiped[result.told++] = row->wiped;
	}
	btrfs_policy_additions_free(additions);
	return result;
}

static struct result add(enum btrfs_policy_role role, unsigned int flags)
{
	struct btrfs_policy_fs *fs = fake_open(&fake);
	struct result result = add_to(fs, role, flags);

	btrfs_policy_fs_unref(fs);
	return result;
}

static void added_with_their_role(void **state)
{
	struct result result = add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_FORCE);

	assert_int_equal(result.ret, 0);
	assert_true(result.added[0] && result.added[1] && result.wiped[0] && !result.wiped[1]);
	assert_int_equal(fake.device_count, 6);
	assert_int_equal(fake.devices[5].type, DISK_METADATA_ONLY);
}

static void dry_run_touches_none(void **state)
{
	struct result result = add(BTRFS_POLICY_ROLE_METADATA_ONLY,
				   BTRFS_POLICY_FORCE | BTRFS_POLICY_DRY_RUN);

	assert_int_equal(result.ret, 0);
	assert_int_equal(result.told, 2);
	assert_int_equal(fake.device_count, 4);
	assert_non_null(fake.signatures[5]);
}

/* The second one is refused before the first is touched. */
static void all_are_checked_first(void **state)
{
	struct result result;

	fake.signatures[5] = NULL;
	fake.signatures[6] = "ext4";
	result = add(BTRFS_POLICY_ROLE_METADATA_ONLY, 0);
	assert_int_equal(result.ret, -EEXIST);
	assert_has(result.error, "/dev/fake6");
	fake.in_use = 6;
	result = add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_FORCE);
	assert_int_equal(result.ret, -EBUSY);
	assert_int_equal(result.told, 0);
	assert_int_equal(fake.device_count, 4);
}

static void the_rest_is_told(void **state)
{
	struct result result;

	fake.add_fails_at = 2;
	fake.add_result = -ENOMEM;
	result = add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_FORCE);
	assert_int_equal(result.ret, -ENOMEM);
	assert_int_equal(result.told, 2);
	assert_true(result.added[0] && !result.added[1]);
	assert_has(result.error, "cannot add '/dev/fake6'");
	assert_has(result.error, "'/dev/fake5' has been added as metadata-only and stays");
}

static void kernels_without_it(void **state)
{
	static const enum fake_kernel kernels[] = { FAKE_STOCK, FAKE_HINT, FAKE_UPSTREAM, FAKE_OURS };

	for (size_t i = 0; i < BP_ARRAY_SIZE(kernels); i++) {
		struct result result;

		fake_two_and_two(&fake, kernels[i], DISK_DATA, DISK_DATA);
		fake.signatures[5] = "ext4";
		fake.adds_without_role = true;
		result = add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_FORCE);
		assert_int_equal(result.ret, -EOPNOTSUPP);
		assert_non_null(fake.signatures[5]);
		result = add(BTRFS_POLICY_ROLE_DATA_PREFERRED, BTRFS_POLICY_FORCE);
		assert_int_equal(result.ret, 0);
		assert_int_equal(fake.device_count, 6);
	}
}

static void read_only_is_refused_first(void **state)
{
	struct result result;

	fake.read_only = true;
	for (unsigned int role = 0; role <= BTRFS_POLICY_ROLE_METADATA_ONLY; role++) {
		result = add(role, BTRFS_POLICY_FORCE);
		assert_int_equal(result.ret, -EROFS);
		assert_has(result.error, "mount it read-write first");
		assert_int_equal(add(role, BTRFS_POLICY_DRY_RUN).ret, -EROFS);
		assert_non_null(fake.signatures[5]);
	}
}

static void a_seed_takes_roles_that_exclude_nothing(void **state)
{
	struct result result;

	fake.read_only = fake.seed = true;
	result = add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_FORCE);
	assert_int_equal(result.ret, -EINVAL);
	assert_has(result.error, "add it as data-preferred");
	assert_int_equal(add(BTRFS_POLICY_ROLE_DATA_ONLY, BTRFS_POLICY_FORCE).ret, -EINVAL);
	assert_non_null(fake.signatures[5]);
	assert_int_equal(add(BTRFS_POLICY_ROLE_METADATA_PREFERRED, BTRFS_POLICY_FORCE).ret, 0);
	setup(NULL);
	fake.read_only = fake.seed = true;
	assert_int_equal(add(BTRFS_POLICY_ROLE_DATA_PREFERRED, BTRFS_POLICY_FORCE).ret, 0);
}

/* The kernel takes no device then: whatever is on one must not be lost. */
static void write_protected_is_no_seed(void **state)
{
	struct result result;

	fake.read_only = fake.write_protected = true;
	result = add(BTRFS_POLICY_ROLE_METADATA_PREFERRED, BTRFS_POLICY_FORCE);
	assert_int_equal(result.ret, -EROFS);
	assert_has(result.error, "mount it read-write first");
	assert_non_null(fake.signatures[5]);
	assert_int_equal(add(BTRFS_POLICY_ROLE_DATA_ONLY, BTRFS_POLICY_FORCE).ret, -EROFS);
	/* The devices of its own are missing, only those of its seed are there. */
	fake.seed = fake.seed_of_other = true;
	assert_int_equal(add(BTRFS_POLICY_ROLE_DATA_PREFERRED, BTRFS_POLICY_FORCE).ret, -EROFS);
	assert_non_null(fake.signatures[5]);
}

/* A seed cannot be mounted read-write before it has another device. */
static void roles_of_a_seed_need_a_device_first(void **state)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	struct btrfs_policy_balance_options options = { .size = sizeof(options) };
	struct btrfs_policy_changes *changes = NULL;
	struct btrfs_policy_fs *fs;

	assert_int_equal(btrfs_policy_request_add(request, "role", 1, "data-only"), 0);
	for (int seed = 0; seed < 2; seed++) {
		const char *advice = seed ? "it is a seed: add a device" : "mount it read-write first";

		fake.read_only = true;
		fake.seed = seed;
		fs = fake_open(&fake);
		assert_int_equal(btrfs_policy_apply(fs, request, 0, &changes), -EROFS);
		assert_has(btrfs_policy_fs_error(fs), advice);
		assert_int_equal(btrfs_policy_balance_check(fs, &options), -EROFS);
		assert_has(btrfs_policy_fs_error(fs), advice);
		btrfs_policy_fs_unref(fs);
	}
	btrfs_policy_request_free(request);
}

static void sign_it(struct fake *machine)
{
	machine->signatures[6] = "LVM2_member";
}

static void mount_read_only(struct fake *machine)
{
	machine->read_only = true;
}

static void replug(struct fake *machine)
{
	machine->renumbered = 6;
}

/* What changes during a wait is found before a device is touched. */
static void checked_again_after_a_wait(void **state)
{
	static const struct {
		void (*change)(struct fake *machine);
		int ret;
		const char *error;
	} cases[] = {
		{ sign_it, -EEXIST, "LVM2_member on it" },
		{ mount_read_only, -EROFS, "read-only" },
		{ replug, -ENODEV, "another device" },
	};

	for (size_t i = 0; i < BP_ARRAY_SIZE(cases); i++) {
		struct result result;

		setup(NULL);
		fake.signatures[5] = NULL;
		fake.busy_scans = 6;
		fake.on_nap = cases[i].change;
		result = add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_ENQUEUE);
		assert_int_equal(result.ret, cases[i].ret);
		assert_has(result.error, cases[i].error);
		assert_int_equal(fake.device_count, 4);
		assert_false(result.wiped[0] || result.wiped[1]);
	}
}

/* Adding one may take minutes, and the next is overwritten only after that. */
static void checked_again_after_another(void **state)
{
	struct result result;

	fake.signatures[6] = "ext4";
	fake.on_write = replug;
	result = add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_FORCE);
	assert_int_equal(result.ret, -ENODEV);
	assert_has(result.error, "another device");
	assert_int_equal(fake.device_count, 5);
	assert_false(result.wiped[1]);
}

/* Another operation begins after the check, and the kernel refuses the device. */
static void outrun(struct fake *machine)
{
	machine->busy_scans = 6;
	machine->on_write = NULL;
}

static void another_operation_comes_first(void **state)
{
	struct result result;

	for (int waits = 0; waits <= 1; waits++) {
		setup(NULL);
		fake.on_write = outrun;
		fake.add_fails_at = 1;
		fake.add_result = -EBUSY;
		result = add(BTRFS_POLICY_ROLE_METADATA_ONLY,
			     BTRFS_POLICY_FORCE | (waits ? BTRFS_POLICY_ENQUEUE : 0));
		assert_int_equal(result.ret, waits ? 0 : -EBUSY);
		assert_int_equal(fake.device_count, waits ? 6 : 4);
		assert_true(result.wiped[0]);
		if (!waits) {
			assert_has(result.error, "'device add' is running");
			assert_has(result.error, "the ext4 on '/dev/fake5' has been overwritten");
		}
	}
}

static void refuse_again(struct fake *machine)
{
	machine->add_fails_at = machine->add_calls + 1;
}

/* Nothing runs, and the kernel says so each time. */
static void busy_without_a_reason(void **state)
{
	fake.signatures[5] = NULL;
	fake.on_write = refuse_again;
	fake.add_result = -EBUSY;
	assert_int_equal(add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_ENQUEUE).ret, -EBUSY);
	assert_int_equal(fake.add_calls, 2);
}

static void pause_it(struct fake *machine)
{
	machine->busy_name = "balance paused";
}

static void a_balance_is_paused_meanwhile(void **state)
{
	fake.busy_name = "balance";
	fake.busy_scans = 100;
	fake.on_nap = pause_it;
	assert_int_equal(add(BTRFS_POLICY_ROLE_METADATA_ONLY,
			     BTRFS_POLICY_ENQUEUE | BTRFS_POLICY_FORCE).ret, 0);
	assert_int_equal(fake.device_count, 6);
}

static unsigned int signals, halves;

static void interrupt(struct fake *machine)
{
	raise(SIGINT);
}

/* A process that ends here leaves a device that is overwritten, and not added. */
static void note_halves(int number)
{
	signals++;
	halves += !fake.signatures[5] && fake.device_count == 4;
}

static void no_signal_arrives_amid_a_device(void **state)
{
	fake.on_write = interrupt;
	signal(SIGINT, note_halves);
	assert_int_equal(add(BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_FORCE).ret, 0);
	signal(SIGINT, SIG_DFL);
	assert_int_equal(signals, COUNT);
	assert_int_equal(halves, 0);
}

/* For each call that fails: the error lists all changes that remain. */
static void nth_call_fails(void **state)
{
	unsigned int n, failed = 0;

	for (n = 1;; n++) {
		struct btrfs_policy_fs *fs;
		struct result result;

		setup(NULL);
		fs = fake_open(&fake);
		fake.calls = 0;
		fake.fail_at = n;
		result = add_to(fs, BTRFS_POLICY_ROLE_METADATA_ONLY, BTRFS_POLICY_FORCE);
		btrfs_policy_fs_unref(fs);
		if (fake.calls < n)
			break;
		if (!result.ret)
			continue;
		failed++;
		assert_true(*result.error);
		assert_int_equal(fake.device_count > 4,
				 !!strstr(result.error, "'/dev/fake5' has been added"));
		assert_int_equal(fake.device_count > 5,
				 !!strstr(result.error, "'/dev/fake6' has been added"));
		assert_int_equal(!fake.signatures[5] && fake.device_count == 4,
				 !!strstr(result.error, "'/dev/fake5' has been overwritten"));
	}
	assert_true(failed > 20);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(added_with_their_role), TEST(dry_run_touches_none),
		TEST(all_are_checked_first), TEST(the_rest_is_told), TEST(kernels_without_it),
		TEST(checked_again_after_a_wait), TEST(checked_again_after_another), TEST(nth_call_fails), TEST(read_only_is_refused_first),
		TEST(a_seed_takes_roles_that_exclude_nothing), TEST(write_protected_is_no_seed),
		TEST(roles_of_a_seed_need_a_device_first),
		TEST(no_signal_arrives_amid_a_device), TEST(another_operation_comes_first),
		TEST(busy_without_a_reason), TEST(a_balance_is_paused_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
