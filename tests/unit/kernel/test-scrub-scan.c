/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scrub-scan.c over random runs: devices join late, are cancelled, fail, and the
 * lead changes hands, while each full stripe is given to each device once and in order.
 */
#include <stdlib.h>

#include "unit.h"
#include "scrub-scan.h"
#include "random.h"

#define RUNS 2000
#define MEMBERS 6
#define MAX_FULL_STRIPES 200
#define RING 32

struct taken {
	u32 full;
	bool wanted[MEMBERS];
};

struct run {
	struct btrfs_scrub_members *members;
	/* What has been taken and not given back, oldest first. */
	struct taken ring[RING];
	int in_ring;
	/* The full stripe each device has to be given next, and has to give back next. */
	u32 next[MEMBERS], back[MEMBERS];
	bool joined[MEMBERS], left[MEMBERS], quit[MEMBERS];
	u32 full_stripes_taken;
};

static void take(struct run *run)
{
	struct taken *taken = &run->ring[run->in_ring];
	int given = 0;

	if (run->in_ring == RING ||
	    !btrfs_scrub_take_next(run->members, &taken->full, taken->wanted))
		return;
	for (int i = 0; i < MEMBERS; i++) {
		if (!taken->wanted[i])
			continue;
		given++;
		assert_true(run->joined[i] && !run->left[i] && !run->quit[i]);
		assert_int_equal(taken->full, run->next[i]++);
	}
	/* Each full stripe is for somebody: the reads are not for nothing. */
	assert_true(given > 0);
	run->in_ring++;
	run->full_stripes_taken++;
}

static void give_back(struct run *run)
{
	struct taken oldest = run->ring[0];

	if (!run->in_ring)
		return;
	memmove(run->ring, run->ring + 1, --run->in_ring * sizeof(oldest));
	for (int i = 0; i < MEMBERS; i++) {
		if (!oldest.wanted[i])
			continue;
		assert_false(btrfs_scrub_finished(run->members, i));
		assert_int_equal(oldest.full, run->back[i]++);
		btrfs_scrub_give_back(run->members, i);
	}
}

static void leave_if_finished(struct run *run, int i)
{
	if (!run->joined[i] || run->left[i] || run->members->leader == i ||
	    !btrfs_scrub_finished(run->members, i))
		return;
	assert_int_equal(run->next[i], run->back[i]);
	if (!run->quit[i])
		assert_int_equal(run->next[i], run->members->nr_full_stripes);
	run->left[i] = true;
	btrfs_scrub_leave(run->members, i);
}

/* Who leads gives back what it has taken before it lets go. */
static void change_leader(struct run *run)
{
	while (run->in_ring)
		give_back(run);
	run->members->leader = -1;
	for (int n = 0, i = rnd_below(MEMBERS); n < MEMBERS; n++, i = (i + 1) % MEMBERS) {
		if (run->joined[i] && !run->left[i] && btrfs_scrub_can_lead(run->members, i)) {
			run->members->leader = i;
			return;
		}
	}
}

static void step(struct run *run, bool may_quit)
{
	int i = rnd_below(MEMBERS);
	u32 what = rnd_below(1000);

	if (what < 10 && !run->joined[i]) {
		run->joined[i] = true;
		btrfs_scrub_join(run->members, i);
	} else if (what < 12 && may_quit && run->joined[i] && !run->left[i]) {
		run->quit[i] = true;
		btrfs_scrub_quit(run->members, i, -5);
	} else if (what < 20 || run->members->leader < 0 ||
		   !btrfs_scrub_wants_more(run->members, run->members->leader)) {
		change_leader(run);
	} else if (what < 600) {
		take(run);
	} else {
		give_back(run);
	}
	leave_if_finished(run, i);
}

static void one_run(bool may_quit)
{
	struct run run = { .members = calloc(1, sizeof(*run.members) +
							MEMBERS * sizeof(run.members->member[0])) };
	int left = 0;

	assert_non_null(run.members);
	btrfs_scrub_members_init(run.members, MEMBERS, 1 + rnd_below(MAX_FULL_STRIPES));
	for (int n = 0; left < MEMBERS; n++) {
		assert_true(n < 1000000);
		step(&run, may_quit);
		left = 0;
		for (int i = 0; i < MEMBERS; i++)
			left += run.left[i];
	}
	assert_int_equal(run.members->nr_present, 0);
	free(run.members);
}

static void test_each_full_stripe_once(void **state)
{
	(void)state;
	for (int n = 0; n < RUNS; n++)
		one_run(n % 2);
}

/* Who joins late is read the full stripes it has missed, and nothing else is read twice. */
static void test_late_one_costs_what_it_missed(void **state)
{
	struct run run = { .members = calloc(1, sizeof(*run.members) +
							MEMBERS * sizeof(run.members->member[0])) };

	(void)state;
	assert_non_null(run.members);
	btrfs_scrub_members_init(run.members, MEMBERS, 100);
	run.joined[0] = run.joined[1] = true;
	btrfs_scrub_join(run.members, 0);
	run.members->leader = 0;
	for (int n = 0; n < 30; n++) {
		take(&run);
		give_back(&run);
	}
	btrfs_scrub_join(run.members, 1);
	for (int n = 0; n < 200; n++) {
		take(&run);
		give_back(&run);
	}
	assert_int_equal(run.full_stripes_taken, 130);
	assert_true(btrfs_scrub_finished(run.members, 0) && btrfs_scrub_finished(run.members, 1));
	free(run.members);
}

/* Who quits without an error has the one it had, or will have. */
static void test_first_error_counts(void **state)
{
	struct btrfs_scrub_members *members = calloc(1, sizeof(*members) + sizeof(members->member[0]));

	(void)state;
	assert_non_null(members);
	btrfs_scrub_members_init(members, 1, 10);
	btrfs_scrub_join(members, 0);
	btrfs_scrub_quit(members, 0, 0);
	assert_true(btrfs_scrub_finished(members, 0));
	assert_int_equal(members->member[0].error, 0);
	btrfs_scrub_quit(members, 0, -5);
	btrfs_scrub_quit(members, 0, -12);
	btrfs_scrub_quit(members, 0, 0);
	assert_int_equal(members->member[0].error, -5);
	free(members);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_full_stripe_once),
		cmocka_unit_test(test_late_one_costs_what_it_missed),
		cmocka_unit_test(test_first_error_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
