/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The run on a kernel that moves stripes: what it asks for, and what becomes of a chunk
 * for each reason that the kernel refuses with.
 */
#include "balance-run.h"

static int setup_stripes(void **state)
{
	setup(NULL);
	fake_can_move_stripes(&fake);
	return 0;
}

static struct result run_by(enum btrfs_policy_method method, unsigned int stop_at)
{
	const struct btrfs_policy_balance_options options = { .method = method };

	return run(&options, stop_at);
}

static void moves_stripes(void **state)
{
	const uint64_t full = fake.chunks[1].logical;
	struct result result = run(NULL, 0);

	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_DONE);
	assert_int_equal(result.report.relocated, 4);
	assert_int_equal(result.report.by_stripes, 4);
	assert_int_equal(result.report.relocated_used, 16384 + 1300 * MiB);
	assert_in_range(result.report.copied, 2600 * MiB, 2600 * MiB + 32768);
	assert_int_equal(result.report.still_misplaced, 0);
	assert_int_equal(fake.balances, 0);
	/* Both stripes of four chunks, the most used one first. */
	assert_int_equal(fake.stripe_moves, 8);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fake.stripes[i].chunk, full);
		assert_int_equal(fake.stripes[i].stripe, i);
		assert_in_range(fake.stripes[i].devid, 1, 2);
	}
	assert_int_equal(result.watcher.last.chunks_done, 4);
	assert_int_equal(result.watcher.last.obstacle, BTRFS_POLICY_BY_STRIPES);
	assert_int_equal(misplaced_now(), 0);
}

static void relocates_if_asked_to(void **state)
{
	struct result result = run_by(BTRFS_POLICY_METHOD_RELOCATE, 0);

	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.by_stripes, 0);
	assert_int_equal(result.report.copied, 0);
	assert_int_equal(fake.balances, 4);
	assert_int_equal(fake.stripe_moves, 0);
	assert_int_equal(result.watcher.last.obstacle, BTRFS_POLICY_NOT_WANTED);
}

static void limit(void **state)
{
	const struct btrfs_policy_balance_options options = { .limit = 1 };
	struct result result = run(&options, 0);

	assert_int_equal(result.report.end, BTRFS_POLICY_END_LIMIT);
	assert_int_equal(fake.stripe_moves, 2);
	assert_int_equal(result.report.still_misplaced, 3);
}

/* A chunk has one copy at each place after the first item. */
static void goes_on_with_half_a_chunk(void **state)
{
	struct result result;

	fake.stripe_special = 2;
	fake.stripe_again = 100;
	fake.stripe_result = -ECANCELED;
	fake.stripe_reason = BTRFS_MOVE_STRIPE_CANCELED;
	fake.stripe_call = true;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -ECANCELED);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_CANCELED);
	assert_has(result.error, "cancelled");
	assert_int_equal(result.report.relocated, 0);
	assert_in_range(result.report.copied, 700 * MiB - MiB, 700 * MiB);
	fake.stripe_special = 0;
	result = run(NULL, 0);
	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.by_stripes, 4);
	assert_int_equal(fake.stripe_moves, 2 + 7);
	assert_int_equal(misplaced_now(), 0);
}

static void refuse_once(unsigned int nth, int error, uint32_t reason)
{
	setup_stripes(NULL);
	fake.stripe_special = nth;
	fake.stripe_result = error;
	fake.stripe_reason = reason;
}

/* Frozen, or a signal that is no end of the run. */
static void tried_again(void **state)
{
	refuse_once(1, -EAGAIN, BTRFS_MOVE_STRIPE_FROZEN);
	assert_int_equal(run(NULL, 0).report.by_stripes, 4);
	assert_int_equal(fake.naps, 1);
	/* The second item had moved, too. */
	assert_int_equal(fake.stripe_moves, 2 + 7);
	refuse_once(2, -EINTR, BTRFS_MOVE_STRIPE_CANCELED);
	fake.stripe_call = true;
	assert_int_equal(run(NULL, 0).report.by_stripes, 4);
	assert_int_equal(fake.stripe_moves, 2 + 7);
	assert_int_equal(fake.balances, 0);
}

static void stopped_by_a_signal(void **state)
{
	struct result result;

	refuse_once(1, -EINTR, BTRFS_MOVE_STRIPE_CANCELED);
	fake.stripe_call = true;
	result = run(NULL, 2);
	assert_int_equal(result.ret, -ECANCELED);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_STOPPED);
	assert_int_equal(fake.stripe_moves, 1);
	assert_int_equal(fake.naps, 0);
}

static const struct {
	int error;
	uint32_t reason;
	const char *text;	/* with --method stripes */
	enum btrfs_policy_balance_end end;
} refusals[] = {
	{ -EOPNOTSUPP, BTRFS_MOVE_STRIPE_UNSUPPORTED, "does not do so on this file system",
	  BTRFS_POLICY_END_FAILED },
	{ -EROFS, BTRFS_MOVE_STRIPE_NO_DEVICE, "missing or read-only", BTRFS_POLICY_END_FAILED },
	{ -ENOSPC, BTRFS_MOVE_STRIPE_NO_SPACE, "found no space", BTRFS_POLICY_END_NO_SPACE },
	{ -ENOSPC, BTRFS_MOVE_STRIPE_NOT_READ_ONLY, "found no space", BTRFS_POLICY_END_NO_SPACE },
};

static void refused_chunks_are_relocated(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(refusals); i++) {
		struct result result;

		refuse_once(1, refusals[i].error, refusals[i].reason);
		fake.stripe_again = 1;
		result = run(NULL, 0);
		assert_int_equal(result.ret, 0);
		assert_int_equal(result.report.relocated, 4);
		assert_int_equal(result.report.by_stripes, 3);
		assert_int_equal(fake.balances, 1);
		assert_int_equal(misplaced_now(), 0);
	}
}

static void or_the_run_ends(void **state)
{
	for (size_t i = 0; i < BP_ARRAY_SIZE(refusals); i++) {
		struct result result;

		refuse_once(1, refusals[i].error, refusals[i].reason);
		fake.stripe_again = 1000;
		result = run_by(BTRFS_POLICY_METHOD_STRIPES, 0);
		assert_int_equal(result.ret, refusals[i].error);
		assert_int_equal(result.report.end, refusals[i].end);
		assert_has(result.error, refusals[i].text);
		assert_int_equal(fake.balances, 0);
	}
}

/* Relocation would end in the same way. */
static struct result refuse_chunk(int error, uint32_t reason)
{
	refuse_once(0, error, reason);
	fake.stripe_chunk = fake.chunks[1].logical;
	return run(NULL, 0);
}

static void left_where_they_are(void **state)
{
	struct result result = refuse_chunk(-ETXTBSY, BTRFS_MOVE_STRIPE_SWAP_FILE);

	assert_int_equal(result.ret, 0);
	assert_int_equal(result.report.by_stripes, 3);
	assert_int_equal(result.report.still_misplaced, 1);
	assert_has(result.text, "an active swap file is in the chunk; run 'swapoff'");
	assert_has(refuse_chunk(-ENOENT, BTRFS_MOVE_STRIPE_NO_CHUNK).text,
		   "has changed meanwhile");
	assert_has(refuse_chunk(-EEXIST, BTRFS_MOVE_STRIPE_TARGET_HAS_STRIPE).text,
		   "already has a stripe");
	result = refuse_chunk(-EIO, BTRFS_MOVE_STRIPE_UNREPAIRABLE);
	assert_int_equal(result.ret, -EIO);
	assert_int_equal(result.report.by_stripes, 3);
	assert_has(result.error, "btrfs scrub start -B");
	assert_int_equal(fake.balances, 0);
}

/* In a further round it is tried again. */
static void no_longer_refused(void **state)
{
	struct result result;

	refuse_once(1, -ETXTBSY, BTRFS_MOVE_STRIPE_SWAP_FILE);
	fake.stripe_again = 1;
	result = run(NULL, 0);
	assert_int_equal(result.report.by_stripes, 4);
	assert_string_equal(result.text, "");
}

static void failures_end_the_run(void **state)
{
	struct result result;

	refuse_once(1, -EIO, BTRFS_MOVE_STRIPE_TARGET_ERROR);
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EIO);
	assert_int_equal(result.report.end, BTRFS_POLICY_END_FAILED);
	assert_has(result.error, "cannot move stripe 0 of chunk");
	assert_has(result.error, "to devid 1: the device cannot be written; see 'btrfs device stats'");
	refuse_once(1, -ENOMEM, BTRFS_MOVE_STRIPE_OK);
	fake.stripe_call = true;
	assert_int_equal(run(NULL, 0).ret, -ENOMEM);
	/* A reason of a later kernel. */
	refuse_once(1, -EPERM, 77);
	assert_int_equal(run(NULL, 0).ret, -EPERM);
	refuse_once(1, -EBUSY, BTRFS_MOVE_STRIPE_EXCLUSIVE_OPERATION);
	fake.stripe_again = 1000;
	fake.stripe_call = true;
	result = run(NULL, 0);
	assert_int_equal(result.ret, -EBUSY);
	assert_has(result.error, "another exclusive operation is running; wait for it");
	setup(NULL);
	assert_int_equal(run_by(BTRFS_POLICY_METHOD_STRIPES, 0).ret, -EOPNOTSUPP);
}

/* Another operation begins at the last moment. */
static void waits_its_turn(void **state)
{
	const struct btrfs_policy_balance_options options = { .enqueue = true };

	refuse_once(1, -EBUSY, BTRFS_MOVE_STRIPE_EXCLUSIVE_OPERATION);
	fake.stripe_call = true;
	assert_int_equal(run(&options, 0).report.by_stripes, 4);
	assert_int_equal(fake.naps, 1);
	refuse_once(1, -EBUSY, BTRFS_MOVE_STRIPE_EXCLUSIVE_OPERATION);
	fake.stripe_call = true;
	assert_int_equal(run(NULL, 0).report.by_stripes, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(moves_stripes, setup_stripes),
		cmocka_unit_test_setup(relocates_if_asked_to, setup_stripes),
		cmocka_unit_test_setup(limit, setup_stripes),
		cmocka_unit_test_setup(goes_on_with_half_a_chunk, setup_stripes),
		cmocka_unit_test(tried_again),
		cmocka_unit_test(stopped_by_a_signal),
		cmocka_unit_test(refused_chunks_are_relocated),
		cmocka_unit_test(or_the_run_ends),
		cmocka_unit_test(left_where_they_are),
		cmocka_unit_test(no_longer_refused),
		cmocka_unit_test(failures_end_the_run),
		cmocka_unit_test(waits_its_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
