/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree-readahead-core.h over random places: all that is wanted is read, once and in
 * order, what is optional only on the way, and no gap is longer than allowed.
 */
#include <stdlib.h>

#include "unit.h"
#include "tree-readahead-core.h"
#include "random.h"

#define RUNS 2000
#define PLACES 60
#define NODESIZE 16384u
#define MAX_GAP (8 * NODESIZE)

/* Returns how many are left of @nr. */
static unsigned int sweep(struct leaf_place *places, unsigned int nr)
{
	qsort(places, nr, sizeof(*places), compare_leaf_places);
	nr = merge_leaf_places(places, nr);
	return drop_leaf_places(places, nr, NODESIZE, MAX_GAP);
}

static bool has(const struct leaf_place *places, unsigned int nr, u64 bytenr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (places[i].bytenr == bytenr)
			return true;
	return false;
}

/* The wanted one nearest to @bytenr on one side of it, or 0. */
static u64 nearest(const struct leaf_place *places, unsigned int nr, u64 bytenr, bool below)
{
	u64 found = 0;

	for (unsigned int i = 0; i < nr; i++) {
		const u64 at = places[i].bytenr;

		if (places[i].optional || (below ? at >= bytenr : at <= bytenr))
			continue;
		if (!found || (below ? at > found : at < found))
			found = at;
	}
	return found;
}

static bool wanted(const struct leaf_place *places, unsigned int nr, u64 bytenr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (places[i].bytenr == bytenr && !places[i].optional)
			return true;
	return false;
}

static bool expected(const struct leaf_place *places, unsigned int nr, u64 bytenr)
{
	const u64 below = nearest(places, nr, bytenr, true);
	const u64 above = nearest(places, nr, bytenr, false);

	if (wanted(places, nr, bytenr))
		return true;
	return below && above && above - below - NODESIZE <= MAX_GAP;
}

static void one_run(void)
{
	struct leaf_place all[PLACES], left[PLACES];
	const unsigned int nr = rnd_below(PLACES + 1);
	const u32 spread = 1 + rnd_below(400);
	unsigned int kept;

	for (unsigned int i = 0; i < nr; i++)
		all[i] = (struct leaf_place) {
			.bytenr = (1 + rnd_below(spread)) * (u64)NODESIZE,
			.optional = rnd_below(2),
		};
	for (unsigned int i = 0; i < nr; i++)
		left[i] = all[i];
	kept = sweep(left, nr);
	for (unsigned int i = 1; i < kept; i++)
		assert_true(left[i - 1].bytenr < left[i].bytenr);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(has(left, kept, all[i].bytenr), expected(all, nr, all[i].bytenr));
}

static void random_places(void **state)
{
	(void)state;
	for (int run = 0; run < RUNS; run++)
		one_run();
}

static void gap_between(u64 first, u64 second, u32 want)
{
	const struct leaf_place a = { .bytenr = first };
	const struct leaf_place b = { .bytenr = second };

	assert_int_equal(leaf_gap(&a, &b, NODESIZE, MAX_GAP), want);
}

static void gaps(void **state)
{
	(void)state;
	gap_between(NODESIZE, 2 * NODESIZE, 0);
	gap_between(NODESIZE, 3 * NODESIZE, NODESIZE);
	gap_between(NODESIZE, 10 * NODESIZE, MAX_GAP);
	gap_between(NODESIZE, 11 * NODESIZE, 0);
	/* As far as addresses go. */
	gap_between(NODESIZE, 1ULL << 60, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_places),
		cmocka_unit_test(gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
