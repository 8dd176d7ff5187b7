// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the read policy tells streams apart, and how they share the disks: none
 * loses its place to another, and none keeps more mirrors than its share.  One
 * stream alone: test-read-policy.c.  The headers are the kernel's own.
 */
#include "unit.h"
#include "read-policy-core.h"
#include "read-policy-stream-core.h"
#include "random.h"
#include "read-policy-inputs.h"

static void test_stream_table(void **state)
{
	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct btrfs_rr_stream in = { .run = rnd_wide(), .id = rnd() | 1, .mirror = rnd() & 3,
					      .singles = rnd() % BTRFS_RR_SINGLES_END };
		u64 key = (rnd_wide() >> 8) & ~4095ULL, hash = btrfs_rr_hash(key), tail;
		struct btrfs_rr_stream out = { 0 };

		assert_true(btrfs_rr_pair(hash) < BTRFS_RR_TAILS - 1);
		tail = btrfs_rr_tail_pack(hash, &in);
		assert_true(btrfs_rr_tail_match(tail, hash, &out));
		assert_true(out.mirror == in.mirror && out.id == in.id && out.singles == in.singles);
		assert_true(out.run <= in.run && (out.run + 4095 >= in.run || out.run == (u64)BTRFS_RR_RUN_MAX << 12));
		assert_true(!btrfs_rr_tail_match(0, hash, &out));
		assert_true(btrfs_rr_stream_id(hash, rnd(), rnd()));
	}
	/* Neighbouring ends are told apart. */
	for (u64 k = 0; k < 100000; k++) {
		struct btrfs_rr_stream st = { .id = 1 };
		u64 a = btrfs_rr_hash(k << 12), b = btrfs_rr_hash((k + 1) << 12);

		assert_true(!btrfs_rr_tail_match(btrfs_rr_tail_pack(a, &st), b, &st));
	}
}

/* As many as fit on a disk, in pieces as small as RAID10 has them. */
static void test_streams_do_not_lose_each_other(void **state)
{
	static u64 tails[BTRFS_RR_TAILS];
	const u64 piece = 64 * 1024;
	int lost = 0;

	(void)state;
	for (u64 read = 0; read < 100000; read++) {
		const u64 n = read % 16, at = (n << 32) + read / 16 * piece;
		struct btrfs_rr_stream st = { .id = n + 1, .run = read / 16 * piece % (8 * SZ_1M) };
		struct btrfs_rr_stream single = { .id = 100, .run = 4096 };
		u64 *slot = btrfs_rr_find_tail(tails, btrfs_rr_hash(at), &st);

		if (slot) {
			assert_int_equal(st.id, n + 1);
			*slot = 0;
		}
		lost += !slot;
		st.run += piece;
		btrfs_rr_store_tail(tails, btrfs_rr_hash(at + piece), &st);
		/* Single reads fill the table and are never heard of again. */
		btrfs_rr_store_tail(tails, btrfs_rr_hash((u64)(rnd() & ~4095U) << 16), &single);
	}
	/* Each of the sixteen begins once. */
	assert_in_range(lost, 16, 48);
}

/* Several large reads of a task at once use its disks, not one that a stream is on. */
static void test_single_reads_of_a_task(void **state)
{
	const u64 hash = btrfs_rr_hash(4096);
	struct btrfs_rr_mirror m[3] = { mirror(true), mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_256K);

	(void)state;
	for (int i = 0; i < 3; i++) {
		m[i].owner = btrfs_rr_stream_id(hash, 1000 * i, i < 2 ? 7 : 8);
		m[i].taken = m[i].streaming = true;
		m[i].load_ns = (3 - i) * 10 * NSEC_PER_MSEC;
	}
	rd.stream = btrfs_rr_stream_id(hash, 5000, 7);
	rd.large = true;
	assert_int_equal(btrfs_rr_choose(&rd, m, 3), 2);
	rd.single = true;
	assert_int_equal(btrfs_rr_choose(&rd, m, 3), 1);
	/* One that nobody uses is better. */
	m[2].owner = 0;
	m[2].taken = m[2].streaming = false;
	assert_int_equal(btrfs_rr_choose(&rd, m, 3), 2);
}

/* Where none of its disks is idle, the nearer head has them, if the queue is about as long. */
static void test_single_reads_of_a_task_keep_to_an_area(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_256K);

	(void)state;
	rd.large = rd.single = true;
	for (int i = 0; i < 2; i++) {
		m[i].pos = 1000 * (u64)SZ_1M;
		m[i].streaming = true;
		m[i].load_ns = (14 + 4 * i) * NSEC_PER_MSEC;
	}
	m[1].head = 999 * (u64)SZ_1M;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
	m[1].load_ns = 40 * NSEC_PER_MSEC;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	/* Not where that would be the disk of another reader. */
	m[1].load_ns = 18 * NSEC_PER_MSEC;
	m[1].taken = true;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	m[1].taken = false;
	/* With a read or two on each it counts more when they are done. */
	m[0].load_ns = 7 * NSEC_PER_MSEC;
	m[1].load_ns = 8 * NSEC_PER_MSEC;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	m[1].load_ns = 14 * NSEC_PER_MSEC;
	m[0].load_ns = 0;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
}

/* What one read has left is the same, what two of a task have left is not. */
static void test_marks_of_one_read(void **state)
{
	const struct btrfs_rr_stream st = { .id = 0x705, .mirror = 1, .run = SZ_256K };
	struct btrfs_rr_stream other = st;

	(void)state;
	other.singles = 1;
	assert_true(btrfs_rr_is_same(&st, &other));
	other.mirror = 2;
	assert_false(btrfs_rr_is_same(&st, &other));
	other = st;
	other.run += SZ_256K;
	assert_false(btrfs_rr_is_same(&st, &other));
}

static void test_guess(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	m[0].scale = 10 * BTRFS_RR_SCALE_ONE;
	btrfs_rr_choose(&rd, m, 2);
	assert_false(m[0].guess || m[1].guess);
	/* What was slow a while ago is known no better than that. */
	m[0].idle_ns = 4 * NSEC_PER_SEC;
	btrfs_rr_choose(&rd, m, 2);
	assert_true(m[0].guess && !m[1].guess);
}

/* A disk on which the stream of that number was a moment ago. */
static struct btrfs_rr_mirror used_by(const struct btrfs_rr_read *rd, u16 stream)
{
	struct btrfs_rr_mirror m = mirror(true);

	m.owner = stream;
	m.taken = stream && stream != rd->stream;
	m.load_ns = stream ? 20 * NSEC_PER_MSEC : 0;
	m.pos = 64 * SZ_1M;
	return m;
}

/* Stream 1, in the middle of a region on the first of three disks used by these. */
static int choose_beside(u16 first, u16 second, u16 third)
{
	struct btrfs_rr_read rd = request(SZ_1M);

	rd.stream = 1;
	rd.stick = 0;
	struct btrfs_rr_mirror m[3] = { used_by(&rd, first), used_by(&rd, second), used_by(&rd, third) };
	m[0].last_end = m[0].pos;
	m[1].load_ns *= 2;
	return btrfs_rr_choose(&rd, m, 3);
}

static void test_streams_get_out_of_each_others_way(void **state)
{
	(void)state;
	/* Alone on its disk it stays, whatever the others do. */
	assert_int_equal(choose_beside(1, 0, 0), 0);
	assert_int_equal(choose_beside(1, 2, 2), 0);
	/* Beside another it goes where nobody is, or to a disk of one that has two. */
	assert_int_equal(choose_beside(2, 3, 0), 2);
	assert_int_equal(choose_beside(2, 3, 1), 2);
	assert_int_equal(choose_beside(2, 3, 3), 2);
	/* The one with several leaves itself, and where all have one there is nowhere to go. */
	assert_int_equal(choose_beside(2, 2, 2), 0);
	assert_int_equal(choose_beside(2, 3, 4), 0);
}

/* A disk on which single reads were a moment ago is better than one with a stream. */
static void test_single_reads_do_not_make_streams_share(void **state)
{
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	rd.stream = 1;
	rd.large = true;
	for (rd.stick = -1; rd.stick < 1; rd.stick++) {
		struct btrfs_rr_mirror m[2] = { used_by(&rd, 2), used_by(&rd, 0) };

		m[0].load_ns /= 8;
		m[1].taken = true;
		m[1].scale = 5 * BTRFS_RR_SCALE_ONE / 2;
		assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
		m[1].load_ns = 20 * NSEC_PER_MSEC;
		assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	}
}

static void test_new_stream_begins_where_it_costs_least(void **state)
{
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	rd.stream = 1;
	rd.large = true;
	struct btrfs_rr_mirror m[3] = { used_by(&rd, 2), used_by(&rd, 3), used_by(&rd, 3) };
	/* The first is all that stream 2 has. */
	m[0].load_ns /= 2;
	m[1].load_ns *= 2;
	assert_int_equal(btrfs_rr_choose(&rd, m, 3), 2);
	m[2] = used_by(&rd, 4);
	assert_int_equal(btrfs_rr_choose(&rd, m, 3), 0);
}

/* What is not known to be different is equal. */
static void test_unknown_disk_is_as_fast_as_the_others(void **state)
{
	struct btrfs_rr_mirror m[3] = { mirror(true), mirror(true), mirror(false) };

	(void)state;
	m[2].scale = BTRFS_RR_SCALE_ONE / 100;
	m[1].scale = 3 * BTRFS_RR_SCALE_ONE;
	m[1].doubt = 5 * BTRFS_RR_SCALE_ONE;
	btrfs_rr_settle_scales(m, 3);
	assert_int_equal(m[1].scale, m[0].scale);
	/* It is slower for sure. */
	m[1].scale = 30 * BTRFS_RR_SCALE_ONE;
	btrfs_rr_settle_scales(m, 3);
	assert_int_equal(m[1].scale, 25 * BTRFS_RR_SCALE_ONE);
	/* As fast as the other. */
	m[0].scale = BTRFS_RR_SCALE_ONE / 4;
	m[1].scale = BTRFS_RR_SCALE_ONE / 2;
	btrfs_rr_settle_scales(m, 3);
	assert_int_equal(m[1].scale, m[0].scale);
	/* The only one that is known may be busy, that is no reason to be as slow. */
	m[0].scale = 4 * BTRFS_RR_SCALE_ONE;
	btrfs_rr_settle_scales(m, 3);
	assert_int_equal(m[1].scale, BTRFS_RR_SCALE_ONE);
	assert_int_equal(m[2].scale, BTRFS_RR_SCALE_ONE / 100);
	/* Of none is anything known. */
	m[0].doubt = BTRFS_RR_SCALE_MAX;
	btrfs_rr_settle_scales(m, 3);
	assert_int_equal(m[0].scale, BTRFS_RR_SCALE_ONE);
	assert_int_equal(m[1].scale, BTRFS_RR_SCALE_ONE);
}

static void test_new_disk_that_is_slow(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	m[0].samples = 2;
	m[0].scale = 5 * BTRFS_RR_SCALE_ONE / 2;
	btrfs_rr_choose(&rd, m, 2);
	assert_int_equal(m[0].eff_scale, m[0].scale);
	/* Not so if the others are no faster. */
	m[1].scale = 2 * BTRFS_RR_SCALE_ONE;
	btrfs_rr_choose(&rd, m, 2);
	assert_int_equal(m[0].eff_scale, m[0].scale / 2);
}

static void test_slow_disk_takes_no_turns(void **state)
{
	struct btrfs_rr_mirror m[4] = { mirror(true), mirror(true), mirror(true), mirror(false) };
	const struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	assert_int_equal(btrfs_rr_nr_sharers(&rd, m, 3), 3);
	/* Flash is none of those that share. */
	assert_int_equal(btrfs_rr_nr_sharers(&rd, m, 4), 3);
	m[0].scale = 3 * BTRFS_RR_SCALE_ONE;
	assert_int_equal(btrfs_rr_nr_sharers(&rd, m, 3), 2);
	/* Two are two, however different. */
	assert_int_equal(btrfs_rr_nr_sharers(&rd, m, 2), 2);
}

static void test_disks_of_others_take_no_turns(void **state)
{
	struct btrfs_rr_mirror m[4] = { mirror(true), mirror(true), mirror(true), mirror(true) };
	const struct btrfs_rr_read rd = request(SZ_1M);
	unsigned int sharers;

	(void)state;
	m[0].taken = true;
	m[2].taken = true;
	sharers = btrfs_rr_nr_sharers(&rd, m, 4);
	assert_int_equal(sharers, 2);
	/* So each of the two is read from for longer. */
	assert_true(btrfs_rr_region_bytes(sharers, 8 * SZ_1M) >
		    btrfs_rr_region_bytes(4, 8 * SZ_1M));
}

/*
 * Where stream 1 goes when its turn is over, on the first of four disks used by
 * these.  Those it could go to have less and less to do.
 */
static int choose_after_turn(u16 first, u16 second, u16 third, u16 fourth)
{
	struct btrfs_rr_read rd = request(SZ_1M);

	rd.stream = 1;
	rd.stick = 0;
	rd.run = rd.region;
	struct btrfs_rr_mirror m[4] = { used_by(&rd, first), used_by(&rd, second),
					used_by(&rd, third), used_by(&rd, fourth) };

	m[0].load_ns *= 8;
	m[1].load_ns *= 3;
	m[2].load_ns *= 2;
	return btrfs_rr_choose(&rd, m, 4);
}

static void test_streams_share_the_disks(void **state)
{
	const struct btrfs_rr_read rd = { .stream = 1 };
	struct btrfs_rr_mirror m[4] = { used_by(&rd, 1), used_by(&rd, 2), used_by(&rd, 0), used_by(&rd, 0) };

	(void)state;
	/* Alone it can have all of them. */
	assert_int_equal(choose_after_turn(1, 1, 1, 1), 3);
	assert_int_equal(choose_after_turn(1, 1, 1, 0), 3);
	/* Each of two can have two, which are those that it has. */
	assert_int_equal(choose_after_turn(1, 2, 0, 0) / 2, 1);
	assert_int_equal(choose_after_turn(1, 2, 1, 0), 2);
	/* The one that came first and has three leaves two, one of them for good. */
	assert_int_equal(choose_after_turn(1, 2, 1, 1), 0);
	assert_int_equal(choose_after_turn(1, 2, 3, 0), 3);
	assert_int_equal(choose_after_turn(1, 2, 3, 4), 0);

	assert_int_equal(btrfs_rr_fair_share(&rd, m, 4), 2);
	assert_int_equal(btrfs_rr_fair_share(&rd, m, 3), 2);
	assert_int_equal(btrfs_rr_nr_sharers(&rd, m, 4), 2);
	/* Flash is everybody's. */
	m[3].rot = false;
	m[2].rot = false;
	assert_int_equal(btrfs_rr_fair_share(&rd, m, 4), 1);
	m[1].owner = 0;
	assert_int_equal(btrfs_rr_fair_share(&rd, m, 4), 2);
}

/* A disk that was slow is tried again by the stream that left it, too. */
static void test_stream_comes_back_to_a_slow_disk(void **state)
{
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	rd.stream = 1;
	rd.stick = 0;
	rd.run = rd.region;
	struct btrfs_rr_mirror m[2] = { used_by(&rd, 1), used_by(&rd, 0) };

	m[1].scale = 8 * BTRFS_RR_SCALE_ONE;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	m[1].idle_ns = 5 * NSEC_PER_SEC;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream_table),
		cmocka_unit_test(test_streams_do_not_lose_each_other),
		cmocka_unit_test(test_single_reads_of_a_task),
		cmocka_unit_test(test_single_reads_of_a_task_keep_to_an_area),
		cmocka_unit_test(test_marks_of_one_read),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_streams_get_out_of_each_others_way),
		cmocka_unit_test(test_single_reads_do_not_make_streams_share),
		cmocka_unit_test(test_new_stream_begins_where_it_costs_least),
		cmocka_unit_test(test_unknown_disk_is_as_fast_as_the_others),
		cmocka_unit_test(test_new_disk_that_is_slow),
		cmocka_unit_test(test_slow_disk_takes_no_turns),
		cmocka_unit_test(test_disks_of_others_take_no_turns),
		cmocka_unit_test(test_streams_share_the_disks),
		cmocka_unit_test(test_stream_comes_back_to_a_slow_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
