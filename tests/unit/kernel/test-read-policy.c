// SPDX-License-Identifier: GPL-2.0-only
/*
 * Properties of the read policy's arithmetic that hold whatever its constants:
 * bounds, no overflow, equal mirrors take turns, a slow one gets less and is
 * tried again.  Streams among each other: test-read-streams.c.  The headers are the
 * kernel's own.
 */
#include "unit.h"
#include "read-policy-core.h"
#include "random.h"
#include "read-policy-inputs.h"

static void test_any_input_gives_a_mirror(void **state)
{
	(void)state;
	for (int i = 0; i < 500000; i++) {
		struct btrfs_rr_mirror m[BTRFS_RR_MAX_MIRRORS];
		int nr = 1 + rnd() % BTRFS_RR_MAX_MIRRORS, pick;
		struct btrfs_rr_read rd = {
			.len = 1 + rnd_wide() % (64 * SZ_1M), .region = SZ_1M + rnd() % SZ_32M,
			.readahead = rnd() % SZ_64M, .run = rnd_wide() % SZ_64M,
			.stick = (int)(rnd() % (nr + 1)) - 1, .turn = rnd(),
			.stream = 1 + rnd() % 3,
			.rot_penalty_ns = rnd() % 1001 * BTRFS_RR_ROT_PENALTY_NS,
			.nonrot_penalty_ns = rnd() % 1001 * BTRFS_RR_NONROT_PENALTY_NS,
			.unknown_pos = rnd() % 8 == 0, .large = rnd() & 1, .settled = rnd() & 1,
		};
		u64 split;

		for (int k = 0; k < nr; k++) {
			m[k] = (struct btrfs_rr_mirror){
				.load_ns = rnd_wide() >> 1, .last_end = rnd_wide(), .pos = rnd_wide(),
				.idle_ns = rnd_wide(), .samples = rnd_wide(), .rot = rnd() & 1,
				.scale = clamp_t(u64, rnd_wide(), BTRFS_RR_SCALE_MIN, BTRFS_RR_SCALE_MAX),
				.head = rnd_wide(), .taken = rnd() & 1, .streaming = rnd() & 1,
				.owner = rnd() % 4, .visited = rnd() & 1,
			};
		}
		pick = btrfs_rr_choose(&rd, m, nr);
		assert_true(pick >= 0 && pick < nr);
		split = btrfs_rr_split(&rd, m, nr, pick);
		assert_true(split && split <= rd.len);
		assert_true(split == rd.len || split >= BTRFS_RR_SPLIT_MIN);
	}
}

static void test_equal_mirrors_take_turns(void **state)
{
	(void)state;
	for (int rot = 0; rot < 2; rot++)
		for (int nr = 2; nr <= 4; nr++) {
			int count[4] = { 0 };
			unsigned int turn = 0;

			for (int i = 0; i < 12 * nr; i++) {
				struct btrfs_rr_mirror m[4] = { mirror(rot), mirror(rot), mirror(rot), mirror(rot) };
				struct btrfs_rr_read rd = request(4096);

				rd.turn = turn;
				int pick = btrfs_rr_choose(&rd, m, nr);
				turn = pick + 1;
				count[pick]++;
			}
			for (int k = 0; k < nr; k++)
				assert_true(count[k] == 12);
		}
}

static void test_less_load_wins(void **state)
{
	(void)state;
	struct btrfs_rr_mirror m[3] = { mirror(true), mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(4096);

	m[0].load_ns = m[2].load_ns = 20 * NSEC_PER_MSEC;
	assert_true(btrfs_rr_choose(&rd, m, 3) == 1);
	/* A slower device loses against a loaded fast one. */
	m[1].pos = 100 * (u64)SZ_1M;
	m[1].scale = 100 * BTRFS_RR_SCALE_ONE;
	m[1].load_ns = 1;
	assert_true(btrfs_rr_choose(&rd, m, 3) != 1);
}

static void test_flash_before_disk(void **state)
{
	(void)state;
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(false) };
	struct btrfs_rr_read rd = request(4096);

	m[0].pos = SZ_32M;
	assert_true(btrfs_rr_choose(&rd, m, 2) == 1);
}

static void test_stream_stays_for_a_region(void **state)
{
	(void)state;
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_1M);

	m[0].last_end = m[0].pos = m[1].pos = 64 * SZ_1M;
	m[0].load_ns = 10 * NSEC_PER_MSEC;
	rd.stick = 0;
	assert_true(btrfs_rr_choose(&rd, m, 2) == 0);
	rd.run = rd.region;
	assert_true(btrfs_rr_choose(&rd, m, 2) == 1);
	/* Not to a disk that belongs to another stream ... */
	m[1].taken = true;
	assert_true(btrfs_rr_choose(&rd, m, 2) == 0);
	/* ... unless there is no end to the waiting. */
	m[0].load_ns = 10ULL * NSEC_PER_SEC;
	assert_true(btrfs_rr_choose(&rd, m, 2) == 1);
}

static void test_penalty(void **state)
{
	(void)state;
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(4096);

	m[0].last_end = m[0].pos = m[1].pos = SZ_1M;
	m[0].load_ns = 50 * NSEC_PER_MSEC;
	assert_true(btrfs_rr_choose(&rd, m, 2) == 1);
	rd.rot_penalty_ns = 100 * BTRFS_RR_ROT_PENALTY_NS;
	assert_true(btrfs_rr_choose(&rd, m, 2) == 0);
}

static void test_slow_one_is_tried_again(void **state)
{
	(void)state;
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	u64 when = 0;

	m[0].scale = 20 * BTRFS_RR_SCALE_ONE;
	for (u64 t = 0; t < 60; t++) {
		struct btrfs_rr_read rd = request(4096);

		m[0].idle_ns = t * NSEC_PER_SEC / 4;
		m[0].pos = m[1].pos = 50 * (u64)SZ_1M;
		if (btrfs_rr_choose(&rd, m, 2) == 0) {
			when = t;
			break;
		}
	}
	/* Not at once, and not only after half a minute. */
	assert_true(when > 4 && when < 60);
}

static void test_small_differences_are_none(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(4096);

	(void)state;
	m[0].pos = m[1].pos = 1000 * (u64)SZ_1M;
	m[0].last_end = 900 * (u64)SZ_1M;
	m[0].scale = BTRFS_RR_SCALE_ONE * 5 / 4;
	/* The nearer head, although that disk looked a bit slower lately. */
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	m[0].scale = 4 * BTRFS_RR_SCALE_ONE;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
}

/* Single reads from flash of different speed, one at a time. */
static int picks_of_second(u32 first, u32 second, u64 load_ns)
{
	unsigned int turn = 0;
	int count = 0;

	for (int i = 0; i < 100; i++) {
		struct btrfs_rr_mirror m[2] = { mirror(false), mirror(false) };
		struct btrfs_rr_read rd = request(4096);

		m[0].scale = first;
		m[1].scale = second;
		m[0].load_ns = m[1].load_ns = load_ns;
		rd.turn = turn;
		turn = btrfs_rr_choose(&rd, m, 2) + 1;
		count += turn == 2;
	}
	return count;
}

static void test_faster_flash_gets_single_reads(void **state)
{
	const u32 ssd = BTRFS_RR_SCALE_ONE, nvme = BTRFS_RR_SCALE_ONE / 5 * 4;

	(void)state;
	assert_int_equal(picks_of_second(ssd, nvme, 0), 100);
	assert_int_equal(picks_of_second(nvme, ssd, 0), 0);
	/* A few percent are no difference. */
	assert_int_equal(picks_of_second(ssd, ssd / 32 * 31, 0), 50);
	/* With as much in flight, too. */
	assert_int_equal(picks_of_second(ssd, nvme, NSEC_PER_MSEC), 100);
	assert_int_equal(picks_of_second(ssd, ssd / 32 * 31, NSEC_PER_MSEC), 50);
}

static void test_nearer_head_gets_single_reads(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(4096);

	(void)state;
	m[0].pos = m[1].pos = 1000 * (u64)SZ_1M;
	m[0].last_end = 950 * (u64)SZ_1M;
	m[1].last_end = 960 * (u64)SZ_1M;
	for (rd.turn = 0; rd.turn < 4; rd.turn++)
		assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
}

static void test_stream_leaves_a_disk_that_is_far_slower(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	/* In the middle of a region, and with nothing in flight that it waits for. */
	rd.stick = 0;
	rd.run = SZ_1M;
	m[1].pos = m[0].pos = m[0].last_end = 64 * SZ_1M;
	m[0].scale = 3 * BTRFS_RR_SCALE_ONE;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	m[0].scale = 6 * BTRFS_RR_SCALE_ONE;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
	/* Its first reads say little. */
	m[0].samples = 4;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	m[0].samples = BTRFS_RR_SAMPLES_TRUSTED;
	/* What the other one can do is to be found out. */
	m[1].samples = 1;
	m[0].scale = 3 * BTRFS_RR_SCALE_ONE;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
	m[0].scale = 3 * BTRFS_RR_SCALE_ONE / 2;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
}

/* A stream that has read @run from the first of two disks, no more than it reads at once. */
static int pick_after(u64 run, struct btrfs_rr_mirror m[2])
{
	struct btrfs_rr_read rd = request(SZ_1M);

	rd.stick = 0;
	rd.region = BTRFS_RR_REGION_MAX;
	rd.run = run;
	m[1].pos = m[0].pos = m[0].last_end = 64 * SZ_1M;
	rd.settled = btrfs_rr_is_settled(&rd, m, 2);
	return btrfs_rr_choose(&rd, m, 2);
}

/* When it is settled, and not before; each once. */
static void test_stream_without_turns_tries_other_disks(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };

	(void)state;
	m[1].samples = 0;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED - 1, m), 0);
	assert_int_equal(pick_after(BTRFS_RR_SETTLED, m), 1);
	m[1].samples = 100;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED, m), 1);
	m[1].visited = true;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED, m), 0);
	/* Nothing is tried that is known to be slow, or that others use. */
	m[1].visited = false;
	m[1].scale = 3 * BTRFS_RR_SCALE_ONE;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED, m), 0);
	m[1].scale = BTRFS_RR_SCALE_ONE;
	m[1].taken = true;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED, m), 0);
}

static void test_stream_without_turns_finds_the_fastest_disk(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read turns = request(SZ_1M);

	(void)state;
	turns.stick = 0;
	turns.run = turns.region;
	m[0].visited = m[1].visited = true;
	m[0].scale = BTRFS_RR_SCALE_ONE * 10 / 9;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED - 1, m), 0);
	assert_int_equal(pick_after(BTRFS_RR_SETTLED, m), 1);
	/* Where turns are taken so much may be noise. */
	assert_int_equal(btrfs_rr_eff_scale(&turns, m, 2, 0), m[1].scale);
	/* Noise, and what a seek costs, are not worth it. */
	m[0].scale = BTRFS_RR_SCALE_ONE * 33 / 32;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED, m), 0);
	/* A slow one is left early, flash as before. */
	m[0].scale = 3 * BTRFS_RR_SCALE_ONE;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED_SLOW - 1, m), 0);
	assert_int_equal(pick_after(BTRFS_RR_SETTLED_SLOW, m), 1);
	m[0].rot = false;
	m[0].scale = BTRFS_RR_SCALE_ONE;
	assert_int_equal(pick_after(BTRFS_RR_SETTLED, m), 0);
}

static void test_leaves_a_disk_for_flash(void **state)
{
	struct btrfs_rr_mirror m[3] = { mirror(true), mirror(true), mirror(false) };
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	rd.stick = 0;
	m[0].load_ns = 60 * NSEC_PER_MSEC;
	m[2].load_ns = 20 * NSEC_PER_MSEC;
	/* The other disk is the cheapest; that is no reason to wait for this one. */
	assert_int_not_equal(btrfs_rr_choose(&rd, m, 3), 0);
}

static void test_region(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < 5; n++)
		for (int i = 0; i < 1000; i++) {
			u64 r = btrfs_rr_region_bytes(n, rnd_wide() % (1ULL << 40));

			assert_true(r >= BTRFS_RR_REGION_MIN && r <= BTRFS_RR_REGION_MAX);
		}
	assert_true(btrfs_rr_region_bytes(3, 8 * SZ_1M) < btrfs_rr_region_bytes(3, SZ_32M));
	assert_true(btrfs_rr_region_bytes(4, 8 * SZ_1M) < btrfs_rr_region_bytes(2, 8 * SZ_1M));
	/* No changes where they cannot pay. */
	assert_int_equal(btrfs_rr_region_bytes(3, SZ_1M), BTRFS_RR_REGION_MAX);
}

static void test_large_region_on_a_slow_disk(void **state)
{
	struct btrfs_rr_mirror m[3] = { mirror(true), mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	/* However much is read ahead, a turn is not mistaken for staying. */
	rd.region = btrfs_rr_region_bytes(2, 64 * (u64)SZ_1M);
	assert_true(rd.region < BTRFS_RR_REGION_MAX);
	rd.readahead = SZ_32M;
	rd.run = rd.region;
	rd.stick = 1;
	for (int i = 0; i < 3; i++)
		m[i].pos = m[i].last_end = 64 * (u64)SZ_1M;
	/* One read from the slow disk would be here first, a region would not. */
	m[0].scale = 4 * BTRFS_RR_SCALE_ONE;
	m[1].load_ns = m[2].load_ns = btrfs_rr_transfer_ns(true, 16 * SZ_1M);
	assert_int_not_equal(btrfs_rr_choose(&rd, m, 3), 0);
}

static void test_goes_on_when_a_disk_is_idle(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	rd.stick = 0;
	rd.region = SZ_32M;
	rd.readahead = 16 * SZ_1M;
	m[0].load_ns = btrfs_rr_transfer_ns(true, SZ_32M);
	m[1].pos = m[0].pos = m[0].last_end = 64 * SZ_1M;
	rd.run = rd.region / 2 - SZ_1M;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	rd.run = rd.region / 2;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
	/* Not as long as the other has something to do, or is about to. */
	m[1].load_ns = 1;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	m[1].load_ns = 0;
	m[1].taken = true;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	/* A disk that takes no turns is idle for a reason. */
	m[1].taken = false;
	m[1].scale = 5 * BTRFS_RR_SCALE_ONE;
	rd.run = rd.region - SZ_1M;
	assert_false(btrfs_rr_another_is_idle(&rd, m, 2, 3));
}

static void test_single_reads_keep_to_an_area(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(4096);

	(void)state;
	for (int i = 0; i < 2; i++) {
		m[i].pos = 1000 * (u64)SZ_1M;
		m[i].load_ns = 40 * NSEC_PER_MSEC;
	}
	/* The longer queue is at the place. */
	m[0].load_ns = 60 * NSEC_PER_MSEC;
	m[0].head = 999 * (u64)SZ_1M;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	/* Not if it is much longer, and not where a stream is. */
	m[0].load_ns = 400 * NSEC_PER_MSEC;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
	m[0].load_ns = 60 * NSEC_PER_MSEC;
	m[1].streaming = true;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
}

/* What the short way for small reads of flash takes, the long one finds as good as the best. */
static void test_flash_that_is_idle_is_best(void **state)
{
	int taken = 0;

	(void)state;
	for (int i = 0; i < 500000; i++) {
		struct btrfs_rr_mirror m[BTRFS_RR_MAX_MIRRORS];
		const int nr = 1 + rnd() % BTRFS_RR_MAX_MIRRORS;
		const u32 scale = BTRFS_RR_SCALE_MIN + (rnd_wide() & (BTRFS_RR_SCALE_MAX / 4 - 1));
		struct btrfs_rr_read rd = request(512 * (1 + rnd() % 255));
		u32 fastest = U32_MAX;
		u64 least = U64_MAX;

		for (int k = 0; k < nr; k++) {
			m[k] = mirror(false);
			m[k].scale = scale + rnd() % (1 + scale / (rnd() & 1 ? 1 : 16));
			m[k].load_ns = rnd() & 1 ? 0 : rnd_wide() >> 1;
			fastest = min_t(u32, fastest, m[k].scale);
		}
		btrfs_rr_choose(&rd, m, nr);
		for (int k = 0; k < nr; k++)
			least = min_t(u64, least, m[k].cost);
		for (int k = 0; k < nr; k++) {
			if (!btrfs_rr_flash_is_best(&m[k], fastest))
				continue;
			assert_int_equal(m[k].cost, least);
			taken++;
		}
	}
	assert_true(taken > 100000);
}

/* A device of which nothing is known is tried, however fast the others are. */
static void test_unknown_one_is_tried(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(false), mirror(false) };
	struct btrfs_rr_read rd = request(4096);

	(void)state;
	m[0].scale = BTRFS_RR_SCALE_ONE / 50;
	m[1].samples = 0;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_input_gives_a_mirror),
		cmocka_unit_test(test_equal_mirrors_take_turns),
		cmocka_unit_test(test_less_load_wins),
		cmocka_unit_test(test_flash_before_disk),
		cmocka_unit_test(test_stream_stays_for_a_region),
		cmocka_unit_test(test_penalty),
		cmocka_unit_test(test_slow_one_is_tried_again),
		cmocka_unit_test(test_small_differences_are_none),
		cmocka_unit_test(test_faster_flash_gets_single_reads),
		cmocka_unit_test(test_nearer_head_gets_single_reads),
		cmocka_unit_test(test_stream_leaves_a_disk_that_is_far_slower),
		cmocka_unit_test(test_stream_without_turns_tries_other_disks),
		cmocka_unit_test(test_stream_without_turns_finds_the_fastest_disk),
		cmocka_unit_test(test_leaves_a_disk_for_flash),
		cmocka_unit_test(test_region),
		cmocka_unit_test(test_large_region_on_a_slow_disk),
		cmocka_unit_test(test_goes_on_when_a_disk_is_idle),
		cmocka_unit_test(test_single_reads_keep_to_an_area),
		cmocka_unit_test(test_flash_that_is_idle_is_best),
		cmocka_unit_test(test_unknown_one_is_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
