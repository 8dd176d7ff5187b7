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
	u32 taken_by[MEMBERS];
	u32 full_stripes_taken;
};

static bool take(struct run *run)
{
	const u32 nr = btrfs_scrub_take_full_stripe(run->members, run->taken, MEMBERS, run->end);
	int given = 0;

	assert_true(nr <= run->end);
	if (nr == run->end)
		return false;
	for (int i = 0; i < MEMBERS; i++) {
		/* Those that are as far get it, and no others. */
		assert_ptr_equal(run->taken[i],
				 run->members[i] && run->all[i].next != UINT32_MAX &&
				 run->next[i] == nr ? run->members[i] : NULL);
		if (!run->taken[i])
			continue;
		given++;
		assert_int_equal(run->all[i].next, ++run->next[i]);
		assert_int_equal(run->all[i].in_flight, ++run->taken_by[i]);
	}
	/* Each full stripe is for somebody: the reads are not for nothing. */
	assert_true(given);
	run->full_stripes_taken++;
	return true;
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
	for (int n = 0; n < 24; n++)
		assert_true(take(&run));
	run.members[1] = &run.all[1];
	while (take(&run))
		;
	assert_int_equal(run.full_stripes_taken, 100 + 24);
	assert_int_equal(run.next[0], 100);
	assert_int_equal(run.next[1], 100);
}

/* A late device catches up with the others, who join it there. */
static void test_late_one_is_joined(void **state)
{
	struct run run = { .end = 100 };

	(void)state;
	run.members[0] = &run.all[0];
	run.members[1] = &run.all[1];
	run.next[0] = run.all[0].next = 3;
	for (int n = 0; n < 3; n++) {
		assert_true(take(&run));
		assert_null(run.taken[0]);
	}
	assert_true(take(&run));
	assert_non_null(run.taken[0]);
	assert_non_null(run.taken[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_full_stripe_once),
		cmocka_unit_test(test_late_one_costs_what_it_missed),
		cmocka_unit_test(test_late_one_is_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
