/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The run: it moves misplaced chunks, each once, and ends for each possible reason.
 */
#include "balance-run.h"

/* ---- Endings ------------------------------------------------------------ */

static void moves_all_in_order(void **state)
{
	const uint64_t system = fake.chunks[0].logical, full = fake.chunks[1].logical;
	const uint64_t light = fake.chunks[2].logical, data = fake.chunks[4].logical;
	struct result result = run(NULL, 0);

	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_DONE);
	assert_int_equal(result.report.considered, 5);
	assert_int_equal(result.report.misplaced, 4);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(result.report.relocated_used, 16384 + 1300 * MiB);
	assert_int_equal(result.report.still_misplaced, 0);
	assert_string_equal(result.text, "");
	assert_int_equal(fake.moved[0], light);
	assert_int_equal(fake.moved[1], full);
	assert_int_equal(fake.moved[2], system);
	assert_int_equal(fake.moved[3], data);
	assert_int_equal(result.watcher.last.chunks_done, 4);
	assert_int_equal(result.watcher.last.bytes_done, 16384 + 1300 * MiB);
	assert_int_equal(misplaced_now(), 0);
	assert_true(fake.syncs);
}

/* One byte at the chunk's start: no other chunk can be meant. */
static void asks_for_one_chunk(void **state)
{
	const struct btrfs_policy_balance_options options = { .limit = 3 };
	const uint64_t system = fake.chunks[0].logical;

	assert_int_equal(run(&options, 0).ret, 0);
	assert_int_equal(fake.asked.flags, BTRFS_BALANCE_SYSTEM | BTRFS_BALANCE_FORCE);
	assert_int_equal(fake.asked.sys.flags, BTRFS_BALANCE_ARGS_VRANGE);
	assert_int_equal(fake.asked.sys.vstart, system);
	assert_int_equal(fake.asked.sys.vend, system + 1);
}

static void nothing_to_do(void **state)
{
	struct result result;

	run(NULL, 0);
	fake.balances = 0;
	fake_set_file(&fake, FAKE_FSID "/exclusive_operation", "device add");
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.relocated, 0);
	assert_int_equal(fake.balances, 0);
}

static void limit(void **state)
{
	const struct btrfs_policy_balance_options options = { .limit = 2 };
	struct result result = run(&options, 0);

	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_LIMIT);
	assert_int_equal(fake.balances, 2);
	assert_int_equal(result.report.still_misplaced, 2);
	assert_int_equal(result.watcher.most_chunks, 2);
	assert_int_equal(result.watcher.most_bytes, 800 * MiB);
	assert_has(result.text, "2 chunks stay misplaced");
}

static void stopped_by_the_callback(void **state)
{
	struct result result = run(NULL, 2);

	assert_int_equal(result.ret, -ECANCELED);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_STOPPED);
	assert_int_equal(fake.balances, 1);
}

/* ---- A live file system -------------------------------------------------- */

static void roles_change_meanwhile(void **state)
{
	struct result result;

	meanwhile.when = 1;
	meanwhile.what = forget_roles;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	/* The second one was on its way. */
	assert_int_equal(fake.balances, 2);
	assert_int_equal(result.report.still_misplaced, 0);
}

static void roles_change_while_it_waits(void **state)
{
	const struct btrfs_policy_balance_options options = { .enqueue = true };

	fake.busy_scans = 6;
	meanwhile.what = forget_roles;
	assert_int_equal(run(&options, 0).ret, 0);
	assert_int_equal(fake.naps, 3);
	assert_int_equal(fake.balances, 0);
}

static void take_space(void)
{
	fake.devices[0].size = 2 * GiB + 280 * MiB;
	fake.devices[1].size = 3 * GiB + 300 * MiB;
}

/*
 * Metadata had 4 GiB free in its chunks at the beginning.  Others take so much that
 * the last step, data into a disk that metadata may take too, would leave less.
 */
static void the_first_floor_holds_to_the_end(void **state)
{
	struct result result;

	fake_init(&fake, FAKE_OURS);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 20 * GiB, DISK_DATA, true);
	fake_add_chunk(&fake, DATA, GiB, GiB, 1, 1);
	for (int i = 0; i < 4; i++)
		fake_add_chunk(&fake, METADATA, GiB, 10 * MiB, 1, 2);
	meanwhile.when = 3;
	meanwhile.what = take_space;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -ENOSPC);
	assert_int_equal(fake.balances, 4);
	assert_int_equal(result.report.considered, 5);
	assert_has(result.error, "it has to keep");
}

/* ---- Rounds ------------------------------------------------------------- */

static void come_wrong(void)
{
	fake_add_chunk(&fake, METADATA, GiB, 5 * MiB, 3, 4);
	meanwhile.what = NULL;
}

static void what_comes_meanwhile_is_moved(void **state)
{
	struct result result;

	meanwhile.when = 1;
	meanwhile.what = come_wrong;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.still_misplaced, 0);
	assert_int_equal(result.report.relocated, 5);
	assert_int_equal(result.report.considered, 6);
	assert_int_equal(result.report.misplaced, 5);
	assert_string_equal(result.text, "");
	check_moved_once();
}

/* One chunk with more than the four that there were. */
static void come_full(void)
{
	fake_add_chunk(&fake, METADATA, 2 * GiB, 1500 * MiB, 3, 4);
	meanwhile.what = NULL;
}

static void fewer_chunks_are_enough_for_a_round(void **state)
{
	meanwhile.when = 1;
	meanwhile.what = come_full;
	assert_int_equal(run(NULL, 0).report.still_misplaced, 0);
	assert_int_equal(fake.balances, 5);
}

static void the_limit_holds_for_all_rounds(void **state)
{
	const struct btrfs_policy_balance_options options = { .limit = 4 };
	struct result result;

	meanwhile.when = 1;
	meanwhile.what = come_wrong;
	result = run(&options, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_LIMIT);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(result.report.still_misplaced, 1);
}

/* While the chunk of one round is moved, another comes that holds less. */
static void come_again(void)
{
	fake_add_chunk(&fake, METADATA, GiB, (100 - 10 * fake.balances) * MiB, 3, 4);
	meanwhile.when = fake.balances < 4 ? 4 : fake.balances + 1;
}

static void rounds_end(void **state)
{
	struct result result;

	meanwhile.when = 1;
	meanwhile.what = come_again;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_DONE);
	assert_int_equal(fake.balances, 6);
	assert_int_equal(result.report.still_misplaced, 1);
	assert_has(result.text, "1 chunk stays misplaced");
}

/* The roles say so, the allocator does not: no better for another round. */
static void a_round_in_vain_is_the_last(void **state)
{
	struct result result;

	fake_init(&fake, FAKE_OURS);
	fake_add_device(&fake, 20 * GiB, DISK_METADATA_ONLY, false);
	fake_add_device(&fake, 90 * GiB, DISK_DATA_ONLY, true);
	fake_add_chunk(&fake, METADATA, GiB, GiB, 1, 2);
	fake.allocator_errs = true;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(fake.balances, 1);
	assert_int_equal(result.report.moved_in_vain, 1);
	assert_int_equal(result.report.still_misplaced, 1);
}

static const struct {
	int result;
	uint64_t state;
	enum btrfs_policy_balance_end end;
	int ret;
	const char *error;
} endings[] = {
	{ -ECANCELED, BTRFS_BALANCE_STATE_PAUSE_REQ, BTRFS_POLICY_END_PAUSED, -ECANCELED,
	  "paused" },
	{ -ECANCELED, BTRFS_BALANCE_STATE_CANCEL_REQ, BTRFS_POLICY_END_CANCELED, -ECANCELED,
	  "cancelled" },
	{ -ENOMEM, 0, BTRFS_POLICY_END_FAILED, -ENOMEM, "cannot move chunk" },
	{ -EINPROGRESS, 0, BTRFS_POLICY_END_FAILED, -EBUSY, "'btrfs balance cancel'" },
	{ -EPERM, 0, BTRFS_POLICY_END_FAILED, -EPERM, "root" },
};

static void ends_with_what_the_kernel_says(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(endings); i++) {
		struct result result;

		setup(NULL);
		fake.balance_special = 3;
		fake.balance_again = 100;
		fake.balance_result = endings[i].result;
		fake.balance_state = endings[i].state;
		result = run(NULL, 0);
		assert_int_equal(result.ret, endings[i].ret);
		assert_int_equal(result.report.end, endings[i].end);
		assert_has(result.error, endings[i].error);
		/* Who is busy may have ended by now. */
		assert_int_equal(fake.balances, endings[i].ret == -EBUSY ? 4 : 3);
		assert_int_equal(result.report.relocated, 2);
		assert_int_equal(result.report.still_misplaced, 2);
		assert_has(result.text, "2 chunks stay misplaced");
	}
}

/* ---- Other operations --------------------------------------------------- */

static void another_operation_is_named(void **state)
{
	struct result result;

	fake_set_file(&fake, FAKE_FSID "/exclusive_operation", "device add");
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EBUSY);
	assert_has(result.error, "'device add'");
	assert_int_equal(fake.balances, 0);
}

static void enqueued(void **state)
{
	const struct btrfs_policy_balance_options options = { .enqueue = true };
	struct result result;

	fake.busy_scans = 6;
	result = run(&options, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(fake.naps, 3);
}

static void stopped_while_waiting(void **state)
{
	const struct btrfs_policy_balance_options options = { .enqueue = true };
	struct result result;

	fake.busy_scans = 1000;
	result = run(&options, 4);
	assert_int_equal(result.ret, -ECANCELED);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_STOPPED);
	assert_int_equal(fake.balances, 0);
}

/* The wait would never end. */
static void a_paused_balance_is_not_waited_for(void **state)
{
	const struct btrfs_policy_balance_options options = { .enqueue = true };
	struct result result;

	fake_set_file(&fake, FAKE_FSID "/exclusive_operation", "balance paused");
	result = run(&options, 0);
	assert_int_equal(result.ret, -EBUSY);
	assert_has(result.error, "btrfs balance resume");
	assert_int_equal(fake.naps, 0);
}

/* Busy only when the balance itself is started: check, wait, try again. */
static void busy_at_the_last_moment(void **state)
{
	const struct btrfs_policy_balance_options options = { .enqueue = true };
	struct result result;

	fake.balance_special = 2;
	fake.balance_result = -EBUSY;
	result = run(&options, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(fake.balances, 5);
	assert_int_equal(fake.naps, 1);
	setup(NULL);
	fake.balance_special = 2;
	fake.balance_again = 100;
	fake.balance_result = -EBUSY;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EBUSY);
	assert_has(result.error, "wait for it");
}

/* ---- Interrupted balance of an earlier run ------------------------------ */

static void leave(uint64_t state)
{
	fake.interrupted.flags = BTRFS_BALANCE_METADATA;
	fake.interrupted.state = state;
	fake.interrupted.meta.flags = BTRFS_BALANCE_ARGS_VRANGE;
	fake.interrupted.meta.vstart = fake.chunks[1].logical;
	fake.interrupted.meta.vend = fake.chunks[1].logical + 1;
	fake_set_file(&fake, FAKE_FSID "/exclusive_operation",
		      state ? "balance" : "balance paused");
}

static void a_paused_chunk_is_finished(void **state)
{
	struct result result;

	leave(0);
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.relocated, 3);
	assert_int_equal(fake.balances, 4);
	assert_int_equal(misplaced_now(), 0);
}

static void a_chunk_taken_up_at_mount_is_waited_for(void **state)
{
	struct result result;

	leave(BTRFS_BALANCE_STATE_RUNNING);
	fake.interrupted_scans = 3;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(fake.naps, 3);
	assert_int_equal(misplaced_now(), 0);
}

/* Taken up again the kernel adds a filter by usage. */
static void so_is_one_with_a_filter_by_usage(void **state)
{
	leave(BTRFS_BALANCE_STATE_RUNNING);
	fake.interrupted.meta.flags |= BTRFS_BALANCE_ARGS_USAGE;
	fake.interrupted_scans = 3;
	assert_int_equal(run(NULL, 0).ret, 0);
	assert_int_equal(fake.naps, 3);
}

/* Another chunk after that one: it is the run of another process. */
static void another_run_is_not_waited_for(void **state)
{
	struct result result;

	leave(BTRFS_BALANCE_STATE_RUNNING);
	fake.interrupted_scans = 3;
	fake.interrupted_then = fake.chunks[2].logical;
	result = run(NULL, 100);
	assert_int_equal(result.ret, -EBUSY);
	assert_int_equal(fake.naps, 3);
}

static void stopped_while_a_chunk_is_finished(void **state)
{
	struct result result;

	leave(BTRFS_BALANCE_STATE_RUNNING);
	fake.interrupted_scans = 1000;
	result = run(NULL, 4);
	assert_int_equal(result.ret, -ECANCELED);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_STOPPED);
	assert_has(result.error, "stopped while the kernel finishes");
	assert_int_equal(fake.naps, 3);
}

static void may_not_be_resumed(void **state)
{
	leave(0);
	fake.resume_result = -EPERM;
	assert_int_equal(run(NULL, 0).ret, -EPERM);
}

/* A user's pause of the balance that this run finishes is not a failure of this run. */
static void told_to_end_while_it_finishes_a_chunk(void **state)
{
	struct result result;

	leave(0);
	fake.resume_result = -ECANCELED;
	fake.resume_state = BTRFS_BALANCE_STATE_PAUSE_REQ;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -ECANCELED);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_PAUSED);
	leave(0);
	fake.resume_state = BTRFS_BALANCE_STATE_CANCEL_REQ;
	result = run(NULL, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_CANCELED);
	assert_has(result.error, "was cancelled");
}

static void somebody_elses_balance_is_left_alone(void **state)
{
	struct result result;

	leave(0);
	fake.interrupted.meta.vend += GiB;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EBUSY);
	assert_has(result.error, "balance is paused");
	fake.interrupted.meta.vend -= GiB;
	fake.interrupted.meta.flags |= BTRFS_BALANCE_ARGS_CONVERT;
	assert_int_equal(run(NULL, 0).ret, -EBUSY);
	fake.interrupted.meta.flags = BTRFS_BALANCE_ARGS_VRANGE;
	fake.interrupted.flags |= BTRFS_BALANCE_DATA;
	assert_int_equal(run(NULL, 0).ret, -EBUSY);
	assert_int_equal(fake.balances, 0);
}

static void checked_before_it_starts(void **state)
{
	const struct btrfs_policy_balance_options options = { sizeof(options), .enqueue = true };
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_int_equal(btrfs_policy_balance_check(fs, NULL), 0);
	leave(0);
	assert_int_equal(btrfs_policy_balance_check(fs, NULL), 0);
	memset(&fake.interrupted, 0, sizeof(fake.interrupted));
	assert_int_equal(btrfs_policy_balance_check(fs, NULL), -EBUSY);
	assert_int_equal(btrfs_policy_balance_check(fs, &options), -EBUSY);
	fake_set_file(&fake, FAKE_FSID "/exclusive_operation", "device add");
	assert_int_equal(btrfs_policy_balance_check(fs, NULL), -EBUSY);
	assert_int_equal(btrfs_policy_balance_check(fs, &options), 0);
	btrfs_policy_fs_unref(fs);
}

/* ---- Kernels and file systems that cannot -------------------------------- */

static void stock_kernel_is_refused(void **state)
{
	struct result result;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EOPNOTSUPP);
	assert_has(result.error, "features/device_role");
	assert_int_equal(fake.balances, 0);
}

/*
 * Unsteered, chunks land on the wrong devices again: each is moved once and the
 * run still ends.
 */
static void unenforced_ends(void **state)
{
	const struct btrfs_policy_balance_options options = { .unenforced = true };
	struct result result;

	fake_two_and_two(&fake, FAKE_STOCK, DISK_METADATA_ONLY, DISK_DATA_ONLY);
	result = run(&options, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(fake.balances, 4);
	check_moved_once();
	/* One went into free space of another. */
	assert_int_equal(result.report.moved_in_vain, 2);
	assert_int_equal(result.report.still_misplaced, 2);
	assert_has(result.text, "2 moved but misplaced again");
}

static void skipped_chunks_end(void **state)
{
	struct result result;

	fake.balance_skips = true;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(fake.balances, 4);
	assert_int_equal(result.report.relocated, 0);
	assert_int_equal(result.report.relocated_used, 0);
	assert_has(result.text, "4 not moved by the kernel");
}

static void remap_tree(void **state)
{
	fake.group_tree = fake.remap_tree = true;
	assert_int_equal(run(NULL, 0).ret, -EOPNOTSUPP);
}

static void read_only(void **state)
{
	fake.read_only = true;
	assert_int_equal(run(NULL, 0).ret, -EROFS);
}

static void no_space_at_all(void **state)
{
	struct result result;

	fake.devices[0].size = fake.devices[1].size = GiB + MiB;
	fake.devices[2].size = fake.devices[3].size = 3 * GiB + 32 * MiB + MiB;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -ENOSPC);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_NO_SPACE);
	assert_int_equal(fake.balances, 0);
	assert_has(result.error, "devid 1 lacks 100 MiB, devid 2 lacks 100 MiB");
}

/* An older caller knows fewer members. */
static void short_options(void **state)
{
	struct btrfs_policy_balance_options options = {
		.size = offsetof(struct btrfs_policy_balance_options, enqueue),
		.limit = 1,
		.progress = (void *)1,
	};
	struct btrfs_policy_balance_report *report;
	struct btrfs_policy_fs *fs = fake_open(&fake);

	assert_int_equal(btrfs_policy_balance(fs, &options, &report), 0);
	assert_int_equal(report->relocated, 1);
	btrfs_policy_balance_report_free(report);
	btrfs_policy_fs_unref(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(moves_all_in_order, setup),
		cmocka_unit_test_setup(asks_for_one_chunk, setup),
		cmocka_unit_test_setup(nothing_to_do, setup),
		cmocka_unit_test_setup(limit, setup),
		cmocka_unit_test_setup(stopped_by_the_callback, setup),
		cmocka_unit_test_setup(roles_change_meanwhile, setup),
		cmocka_unit_test_setup(roles_change_while_it_waits, setup),
		cmocka_unit_test_setup(the_first_floor_holds_to_the_end, setup),
		cmocka_unit_test_setup(what_comes_meanwhile_is_moved, setup),
		cmocka_unit_test_setup(fewer_chunks_are_enough_for_a_round, setup),
		cmocka_unit_test_setup(the_limit_holds_for_all_rounds, setup),
		cmocka_unit_test_setup(rounds_end, setup),
		cmocka_unit_test_setup(a_round_in_vain_is_the_last, setup),
		cmocka_unit_test_setup(ends_with_what_the_kernel_says, setup),
		cmocka_unit_test_setup(another_operation_is_named, setup),
		cmocka_unit_test_setup(enqueued, setup),
		cmocka_unit_test_setup(stopped_while_waiting, setup),
		cmocka_unit_test_setup(a_paused_balance_is_not_waited_for, setup),
		cmocka_unit_test_setup(busy_at_the_last_moment, setup),
		cmocka_unit_test_setup(a_paused_chunk_is_finished, setup),
		cmocka_unit_test_setup(a_chunk_taken_up_at_mount_is_waited_for, setup),
		cmocka_unit_test_setup(so_is_one_with_a_filter_by_usage, setup),
		cmocka_unit_test_setup(another_run_is_not_waited_for, setup),
		cmocka_unit_test_setup(stopped_while_a_chunk_is_finished, setup),
		cmocka_unit_test_setup(may_not_be_resumed, setup),
		cmocka_unit_test_setup(told_to_end_while_it_finishes_a_chunk, setup),
		cmocka_unit_test_setup(somebody_elses_balance_is_left_alone, setup),
		cmocka_unit_test_setup(checked_before_it_starts, setup),
		cmocka_unit_test_setup(stock_kernel_is_refused, setup),
		cmocka_unit_test_setup(unenforced_ends, setup),
		cmocka_unit_test_setup(skipped_chunks_end, setup),
		cmocka_unit_test_setup(remap_tree, setup),
		cmocka_unit_test_setup(read_only, setup),
		cmocka_unit_test_setup(no_space_at_all, setup),
		cmocka_unit_test_setup(short_options, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
