// SPDX-License-Identifier: GPL-2.0-only
/*
 * read-policy-turn-core.h: on a disk, reads of one turn only are in flight, none
 * waits for nothing, and who is not of the stream does not wait at all.
 */
#include "unit.h"
#include "read-policy-turn-core.h"
#include "random.h"

#define RUNS 200
#define STEPS 400
#define MAX_READS (STEPS + 1)

/* A disk with its reads, as the kernel keeps them. */
struct disk {
	struct btrfs_rr_turns turns;
	/* The turn of each read of the stream, in the order in which they came. */
	unsigned int turn[MAX_READS];
	bool begins[MAX_READS];
	unsigned int submitted, sent, done;
};

static enum btrfs_rr_admission submit(struct disk *d, u16 stream, bool begins)
{
	return btrfs_rr_turns_admit(&d->turns, (struct btrfs_rr_turn) {
		.stream = stream,
		.begins = begins,
	});
}

/* Whatever is in flight, all of it belongs to the turn of the first. */
static void check(const struct disk *d)
{
	assert_int_equal(d->turns.sent, d->sent - d->done);
	assert_int_equal(d->turns.waiting, d->submitted - d->sent);
	if (d->sent < d->submitted)
		assert_in_range(d->sent - d->done, 1, MAX_READS);
	for (unsigned int i = d->done; i < d->sent; i++)
		assert_int_equal(d->turn[i], d->turn[d->done]);
}

static void read_more(struct disk *d)
{
	const unsigned int n = d->submitted++;
	const bool begins = rnd_below(8) == 0;

	d->begins[n] = begins;
	d->turn[n] = n ? d->turn[n - 1] + begins : 0;
	if (submit(d, 7, begins) == BTRFS_RR_GOES)
		d->sent++;
}

static void read_done(struct disk *d)
{
	bool released;

	if (d->done == d->sent)
		return;
	d->done++;
	released = btrfs_rr_turns_done(&d->turns);
	while (released && d->sent < d->submitted) {
		released = btrfs_rr_turns_release(&d->turns, (struct btrfs_rr_turn) {
			.stream = 7,
			.begins = d->begins[d->sent],
		});
		d->sent += released;
	}
}

static void test_one_turn_after_the_other(void **state)
{
	(void)state;
	for (unsigned int run = 0; run < RUNS; run++) {
		struct disk d = { 0 };

		for (unsigned int step = 0; step < STEPS; step++) {
			if (rnd_below(2))
				read_more(&d);
			else
				read_done(&d);
			check(&d);
		}
		while (d.done < d.submitted) {
			read_done(&d);
			check(&d);
		}
	}
}

static void test_one_turn_is_not_held_up(void **state)
{
	struct disk d = { 0 };

	(void)state;
	assert_int_equal(submit(&d, 7, true), BTRFS_RR_GOES);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(submit(&d, 7, false), BTRFS_RR_GOES);
}

/* Who comes to a disk that has turns of another stream. */
static void test_others_do_not_wait(void **state)
{
	struct disk d = { 0 };

	(void)state;
	assert_int_equal(submit(&d, 7, true), BTRFS_RR_GOES);
	assert_int_equal(submit(&d, 7, true), BTRFS_RR_WAITS);
	assert_int_equal(submit(&d, 9, true), BTRFS_RR_PASSES);
	assert_int_equal(submit(&d, 9, false), BTRFS_RR_PASSES);
	assert_true(btrfs_rr_turns_done(&d.turns));
	assert_true(btrfs_rr_turns_release(&d.turns, (struct btrfs_rr_turn) { 7, true }));
	assert_false(btrfs_rr_turns_done(&d.turns));
	/* An idle disk is for whoever comes first. */
	assert_int_equal(submit(&d, 9, false), BTRFS_RR_GOES);
	assert_int_equal(submit(&d, 7, true), BTRFS_RR_PASSES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_turn_after_the_other),
		cmocka_unit_test(test_one_turn_is_not_held_up),
		cmocka_unit_test(test_others_do_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
