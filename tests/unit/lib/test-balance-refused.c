/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The run where the kernel refuses a chunk: without space for it the others are moved
 * and it is tried again after them; with a block that cannot be read it is left.  And
 * where a remount forbids the rest of the run.
 * The order without refusals is light, full, system, data.
 */
#include "balance-run.h"

static struct {
	uint64_t system, full, light, data;
} chunks;

static unsigned int refusals;

static int name_chunks(void **state)
{
	setup(state);
	chunks.system = fake.chunks[0].logical;
	chunks.full = fake.chunks[1].logical;
	chunks.light = fake.chunks[2].logical;
	chunks.data = fake.chunks[4].logical;
	refusals = 0;
	return 0;
}

static bool is_there(uint64_t logical)
{
	for (size_t i = 0; i < fake.chunk_count; i++)
		if (fake.chunks[i].logical == logical)
			return true;
	return false;
}

/* ---- Whom the kernel refuses -------------------------------------------- */

static bool full_once(struct fake *machine, uint64_t logical)
{
	return logical == chunks.full && !refusals++;
}

static bool light_once(struct fake *machine, uint64_t logical)
{
	return logical == chunks.light && !refusals++;
}

static bool data_once(struct fake *machine, uint64_t logical)
{
	return logical == chunks.data && !refusals++;
}

static bool the_system_chunk(struct fake *machine, uint64_t logical)
{
	return logical == chunks.system;
}

static bool the_data_chunk(struct fake *machine, uint64_t logical)
{
	return logical == chunks.data;
}

static bool all_of_them(struct fake *machine, uint64_t logical)
{
	return true;
}

static bool full_before_system_before_data(struct fake *machine, uint64_t logical)
{
	return (logical == chunks.full && is_there(chunks.system)) ||
	       (logical == chunks.system && is_there(chunks.data));
}

static bool full_before_system_and_data(struct fake *machine, uint64_t logical)
{
	return (logical == chunks.full && is_there(chunks.system)) || logical == chunks.data;
}

static bool all_and_then_roles_go(struct fake *machine, uint64_t logical)
{
	if (++refusals == 2)
		forget_roles();
	return true;
}

/* ---- Tried again -------------------------------------------------------- */

static void tried_again_behind_the_others(void **state)
{
	struct result result;

	fake.refuses = full_once;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_DONE);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(result.report.relocated_used, 16384 + 1300 * MiB);
	assert_string_equal(result.text, "");
	assert_int_equal(fake.balances, 5);
	assert_int_equal(fake.moved[1], 0);
	assert_int_equal(fake.moved[2], chunks.system);
	assert_int_equal(fake.moved[3], chunks.data);
	assert_int_equal(fake.moved[4], chunks.full);
	check_moved_once();
}

/* The deferred chunk still counts. */
static void progress_counts_it(void **state)
{
	struct result result;

	fake.refuses = full_once;
	result = run(NULL, 0);
	assert_int_equal(result.watcher.least_ahead, 4);
	assert_int_equal(result.watcher.most_chunks, 4);
	assert_int_equal(result.watcher.most_bytes, 16384 + 1300 * MiB);
	assert_int_equal(result.watcher.last.chunks_done, 4);
}

static void as_often_as_something_moves(void **state)
{
	struct result result;

	fake.refuses = full_before_system_before_data;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(fake.balances, 7);
	assert_int_equal(fake.moved[5], chunks.system);
	assert_int_equal(fake.moved[6], chunks.full);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(misplaced_now(), 0);
}

/* A move before a second refusal permits a retry of the first. */
static void another_refusal_behind_a_move(void **state)
{
	struct result result;

	fake.refuses = full_before_system_and_data;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -ENOSPC);
	assert_int_equal(fake.balances, 6);
	assert_int_equal(fake.moved[4], chunks.full);
	assert_int_equal(result.report.still_misplaced, 1);
}

/* Metadata waits for the space of data that is refused: system still moves. */
static void others_need_not_all_fit(void **state)
{
	struct result result;

	fake.devices[0].size = fake.devices[1].size = GiB + 200 * MiB;
	fake.refuses = data_once;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(fake.balances, 5);
	assert_int_equal(fake.moved[0], 0);
	assert_int_equal(fake.moved[1], chunks.system);
	assert_int_equal(fake.moved[2], chunks.data);
	assert_int_equal(misplaced_now(), 0);
}

static void not_in_the_limit(void **state)
{
	const struct btrfs_policy_balance_options options = { .limit = 2 };
	struct result result;

	fake.refuses = light_once;
	result = run(&options, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_LIMIT);
	assert_int_equal(result.report.relocated, 2);
	assert_int_equal(fake.balances, 3);
	assert_int_equal(result.watcher.most_chunks, 2);
}

static void stopped_before_it_is_tried_again(void **state)
{
	struct result result;

	fake.refuses = full_once;
	result = run(NULL, 5);
	assert_int_equal(result.ret, -ECANCELED);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_STOPPED);
	assert_int_equal(result.report.still_misplaced, 1);
	assert_int_equal(fake.balances, 4);
}

/* ---- The end ------------------------------------------------------------ */

static void check_end(const struct result *result, unsigned int balances, uint64_t left)
{
	assert_int_equal(result->ret, -ENOSPC);
	assert_int_equal(result->report.end, BTRFS_POLICY_END_NO_SPACE);
	assert_has(result->text, result->error);
	assert_int_equal(fake.balances, balances);
	assert_int_equal(result->report.relocated, 4 - left);
	assert_int_equal(result->report.still_misplaced, left);
}

static void nothing_more_moves(void **state)
{
	struct result result;
	char error[128];

	fake.refuses = the_system_chunk;
	result = run(NULL, 0);
	check_end(&result, 5, 1);
	snprintf(error, sizeof(error),
		 "the kernel found no space to move chunk %llu of '/mnt'; free some space and run it again",
		 (unsigned long long)chunks.system);
	assert_string_equal(result.error, error);
	assert_has(result.text, "1 chunk stays misplaced");
}

/* No chunk moved after it: a second try would fail, too. */
static void the_last_one_is_not_tried_twice(void **state)
{
	struct result result;

	fake.refuses = the_data_chunk;
	result = run(NULL, 0);
	check_end(&result, 4, 1);
}

static void nothing_moves_at_all(void **state)
{
	struct result result;

	fake.refuses = all_of_them;
	result = run(NULL, 0);
	check_end(&result, 4, 4);
	assert_has(result.error, "and 3 more of '/mnt'");
}

/* A chunk that the kernel does not move frees no space. */
static void a_skipped_chunk_has_not_moved(void **state)
{
	struct result result;

	fake.refuses = the_system_chunk;
	fake.balance_special = 4;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -ENOSPC);
	assert_int_equal(fake.balances, 4);
	assert_int_equal(result.report.still_misplaced, 2);
}

static void what_is_right_by_then_is_no_failure(void **state)
{
	struct result result;

	fake.refuses = all_and_then_roles_go;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_DONE);
	assert_int_equal(fake.balances, 2);
}

/* ---- With a pause ------------------------------------------------------- */

/* The kernel does not report the pause when it found no space. */
static void paused_meanwhile(void **state)
{
	struct result result;

	fake.refuses = full_once;
	fake.refuses_paused = true;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -ECANCELED);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_PAUSED);
	assert_has(result.error, "paused");
	assert_int_equal(fake.balances, 2);
}

/*
 * An interrupted balance that somebody else resumed, or whose chunk has no space or a
 * block that cannot be read: others are moved.
 */
static void not_finished(int error)
{
	struct result result;

	setup(NULL);
	refusals = 0;
	fake.interrupted.flags = BTRFS_BALANCE_METADATA;
	fake.interrupted.meta.flags = BTRFS_BALANCE_ARGS_VRANGE;
	fake.interrupted.meta.vstart = chunks.full;
	fake.interrupted.meta.vend = chunks.full + 1;
	fake.refuses = full_once;
	fake.resume_result = error;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(misplaced_now(), 0);
}

static void refused_when_it_is_finished(void **state)
{
	not_finished(-ENOTCONN);
	not_finished(-ENOSPC);
	not_finished(-EIO);
}

/* ---- Too few devices ---------------------------------------------------- */

static void lose_disks(unsigned int count)
{
	fake_two_and_two(&fake, FAKE_OURS, DISK_METADATA, DISK_DATA);
	fake_add_chunk(&fake, METADATA | RAID1C3, GiB, GiB, 3, 1, 3, 4);
	for (unsigned int i = 0; i < count; i++)
		fake.devices[3 - i].missing = true;
}

/* With two devices the kernel would make RAID1 in place of RAID1C3. */
static void copies_would_be_lost(void **state)
{
	struct result result;

	lose_disks(2);
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EOPNOTSUPP);
	assert_has(result.error, "cannot move RAID1C3 chunks of '/mnt': only 2 of 4 devices can be written to");
	assert_int_equal(result.report.end, BTRFS_POLICY_END_FAILED);
	assert_int_equal(fake.balances, 0);
}

static void enough_devices_are_left(void **state)
{
	struct result result;

	lose_disks(1);
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_true(fake.balances > 0);
}

/* ---- A chunk that cannot be read, and a remount ------------------------- */

static void ignore_roles(void)
{
	fake.ignores_roles = true;
}

static void mount_read_only(void)
{
	fake.read_only = true;
}

/* The run does not go on without what it needs. */
static void remounted_meanwhile(void **state)
{
	const struct btrfs_policy_balance_options options = { .unenforced = true };
	struct result result;

	meanwhile.when = 1;
	meanwhile.what = ignore_roles;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EOPNOTSUPP);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_FAILED);
	assert_has(result.error, "nodevice_roles");
	/* The second one was on its way. */
	assert_int_equal(fake.balances, 2);
	setup(NULL);
	meanwhile.when = 1;
	meanwhile.what = ignore_roles;
	assert_int_equal(run(&options, 0).ret, 0);
	setup(NULL);
	meanwhile.when = 1;
	meanwhile.what = mount_read_only;
	assert_int_equal(run(NULL, 0).ret, -EROFS);
	assert_int_equal(fake.balances, 2);
}

/* The others are moved, it is tried once, and at the end it is named. */
static void is_left(int error)
{
	const uint64_t light = fake.chunks[2].logical;
	struct result result;
	char name[32];

	snprintf(name, sizeof(name), "chunk %llu of", (unsigned long long)light);
	fake.balance_special = 1;
	fake.balance_result = error;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EIO);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_FAILED);
	assert_int_equal(fake.balances, 4);
	assert_int_equal(result.report.relocated, 3);
	assert_int_equal(result.report.still_misplaced, 1);
	assert_has(result.error, name);
	assert_has(result.error, "btrfs scrub start -B");
	assert_has(result.text, "1 chunk stays misplaced");
}

static void an_unreadable_chunk_is_left(void **state)
{
	is_left(-EIO);
	setup(NULL);
	is_left(-EUCLEAN);
}

/* The read error is the reason, not the read-only mount that it led to. */
static void it_makes_the_kernel_give_up(void **state)
{
	struct result result;

	meanwhile.what = mount_read_only;
	fake.balance_special = 1;
	fake.balance_result = -EIO;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EIO);
	assert_int_equal(fake.balances, 1);
	assert_has(result.error, "btrfs scrub start -B");
}

/* The kernel reclaims block groups by itself, calls that a balance, and is done soon. */
static void reclaim_is_waited_for(void **state)
{
	struct btrfs_policy_fs *fs;
	struct result result;

	for (int refused = 0; refused < 2; refused++) {
		setup(NULL);
		fake.busy_after = 2;
		fake.busy_name = "balance";
		fake.balance_special = refused ? 2 : 0;
		fake.balance_result = -EBUSY;
		result = run(NULL, 0);
		assert_int_equal(result.ret, 0);
		assert_int_equal(result.report.relocated, 4);
		assert_in_range(fake.naps, 1, 5);
	}
	setup(NULL);
	fake_set_file(&fake, FAKE_FSID "/exclusive_operation", "balance");
	fs = fake_open(&fake);
	assert_int_equal(btrfs_policy_balance_check(fs, NULL), 0);
	btrfs_policy_fs_unref(fs);
	setup(NULL);
	fake.busy_after = 2;
	assert_int_equal(run(NULL, 0).ret, -EBUSY);
	setup(NULL);
	fake.busy_after = 2;
	fake.busy_name = "balance";
	fake.busy_by_user = true;
	assert_int_equal(run(NULL, 0).ret, -EBUSY);
}

/* It may end between the refusal and the look at who it was. */
static void reclaim_that_has_ended(void **state)
{
	struct result result;

	fake.balance_special = 2;
	fake.balance_result = -EBUSY;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(fake.balances, 5);
	setup(NULL);
	fake.balance_every_other = true;
	fake.balance_result = -EBUSY;
	assert_int_equal(run(NULL, 0).ret, 0);
	assert_int_equal(fake.balances, 8);
	setup(NULL);
	fake.balance_special = 2;
	fake.balance_again = 100;
	fake.balance_result = -EBUSY;
	assert_int_equal(run(NULL, 0).ret, -EBUSY);
	assert_int_equal(fake.balances, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(tried_again_behind_the_others, name_chunks),
		cmocka_unit_test_setup(progress_counts_it, name_chunks),
		cmocka_unit_test_setup(as_often_as_something_moves, name_chunks),
		cmocka_unit_test_setup(another_refusal_behind_a_move, name_chunks),
		cmocka_unit_test_setup(others_need_not_all_fit, name_chunks),
		cmocka_unit_test_setup(not_in_the_limit, name_chunks),
		cmocka_unit_test_setup(stopped_before_it_is_tried_again, name_chunks),
		cmocka_unit_test_setup(nothing_more_moves, name_chunks),
		cmocka_unit_test_setup(the_last_one_is_not_tried_twice, name_chunks),
		cmocka_unit_test_setup(nothing_moves_at_all, name_chunks),
		cmocka_unit_test_setup(a_skipped_chunk_has_not_moved, name_chunks),
		cmocka_unit_test_setup(what_is_right_by_then_is_no_failure, name_chunks),
		cmocka_unit_test_setup(paused_meanwhile, name_chunks),
		cmocka_unit_test_setup(refused_when_it_is_finished, name_chunks),
		cmocka_unit_test_setup(copies_would_be_lost, name_chunks),
		cmocka_unit_test_setup(enough_devices_are_left, name_chunks),
		cmocka_unit_test_setup(remounted_meanwhile, setup),
		cmocka_unit_test_setup(an_unreadable_chunk_is_left, setup),
		cmocka_unit_test_setup(it_makes_the_kernel_give_up, setup),
		cmocka_unit_test_setup(reclaim_is_waited_for, setup),
		cmocka_unit_test_setup(reclaim_that_has_ended, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
