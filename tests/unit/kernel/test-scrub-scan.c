/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scrub-scan.c over random runs: devices join late and quit, while each full stripe is
 * given to each device once and in order.
 */
#include <stdlib.h>

#include "unit.h"
#include "scrub-raid56.h"
#include "random.h"

#define RUNS 2000
#define MEMBERS 6
#define MAX_FULL_STRIPES 200

struct run {
	struct scrub_member all[MEMBERS];
	/* As in a scan: NULL for a device that does not take part. */
	struct scrub_member *members[MEMBERS], *taken[MEMBERS];
	u32 end;
	/* The full stripe that each device has to be given next. */
	u32 next[MEMBERS];
	u32 batches[MEMBERS];
	u32 full_stripes_taken;
};

static u32 take(struct run *run)
{
	u32 first = 0;
	u32 nr = btrfs_scrub_take_batch(run->members, run->taken, MEMBERS, run->end, &first);
	int given = 0;

	assert_true(nr <= BTRFS_SCRUB_BATCH);
	for (int i = 0; nr && i < MEMBERS; i++) {
		if (!run->taken[i])
			continue;
		given++;
		assert_ptr_equal(run->taken[i], run->members[i]);
		assert_int_equal(first, run->next[i]);
		run->next[i] += nr;
		assert_int_equal(run->all[i].next, run->next[i]);
		assert_int_equal(run->all[i].in_flight, ++run->batches[i]);
	}
	/* Each batch is for somebody: the reads are not for nothing. */
	assert_true(!nr || given);
	run->full_stripes_taken += nr;
	return nr;
}

static void step(struct run *run, bool may_quit)
{
	int i = rnd_below(MEMBERS);
	u32 what = rnd_below(100);

	if (what < 10)
		run->members[i] = &run->all[i];
	else if (what < 12 && may_quit && run->members[i])
		run->all[i].next = UINT32_MAX;
	else
		take(run);
}

static void one_run(bool may_quit)
{
	struct run run = { .end = 1 + rnd_below(MAX_FULL_STRIPES) };

	for (int n = 0; n < 200; n++)
		step(&run, may_quit);
	for (int i = 0; i < MEMBERS; i++)
		run.members[i] = &run.all[i];
	while (take(&run))
		;
	for (int i = 0; i < MEMBERS; i++) {
		if (run.all[i].next != UINT32_MAX)
			assert_int_equal(run.next[i], run.end);
	}
}

static void test_each_full_stripe_once(void **state)
{
	(void)state;
	for (int n = 0; n < RUNS; n++)
		one_run(n % 2);
}

/* A device that joins late is read what it has missed, and nothing else is read twice. */
static void test_late_one_costs_what_it_missed(void **state)
{
	struct run run = { .end = 100 };

	(void)state;
	run.members[0] = &run.all[0];
	for (int n = 0; n < 3; n++)
		assert_int_equal(take(&run), BTRFS_SCRUB_BATCH);
	run.members[1] = &run.all[1];
	while (take(&run))
		;
	assert_int_equal(run.full_stripes_taken, 100 + 3 * BTRFS_SCRUB_BATCH);
	assert_int_equal(run.next[0], 100);
	assert_int_equal(run.next[1], 100);
}

/* The batch of a late device ends where the others are, also in the middle of one. */
static void test_batch_ends_at_the_others(void **state)
{
	struct run run = { .end = 100 };

	(void)state;
	run.members[0] = &run.all[0];
	run.members[1] = &run.all[1];
	run.next[0] = run.all[0].next = 3;
	assert_int_equal(take(&run), 3);
	assert_null(run.taken[0]);
	assert_int_equal(take(&run), BTRFS_SCRUB_BATCH);
	assert_non_null(run.taken[0]);
	assert_non_null(run.taken[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_full_stripe_once),
		cmocka_unit_test(test_late_one_costs_what_it_missed),
		cmocka_unit_test(test_batch_ends_at_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
