// SPDX-License-Identifier: GPL-2.0-only
/*
 * Properties of the read policy's arithmetic that hold whatever its constants:
 * bounds, no overflow, equal mirrors take turns, a slow one gets less and is
 * tried again, streams stay together.  The headers are the kernel's own.
 */
#include "unit.h"
#include "read-policy-core.h"
#include "read-policy-stream-core.h"
#include "read-policy-random.h"

static struct btrfs_rr_mirror mirror(bool rot)
{
	return (struct btrfs_rr_mirror){ .rot = rot, .scale = BTRFS_RR_SCALE_ONE, .samples = 100 };
}

static struct btrfs_rr_read request(u64 len)
{
	return (struct btrfs_rr_read){ .len = len, .region = 3 * SZ_1M, .readahead = 4 * SZ_1M,
				       .stick = -1 };
}

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
			.unknown_pos = rnd() % 8 == 0, .large = rnd() & 1,
		};
		u64 split;

		for (int k = 0; k < nr; k++) {
			m[k] = (struct btrfs_rr_mirror){
				.load_ns = rnd_wide() >> 1, .last_end = rnd_wide(), .pos = rnd_wide(),
				.idle_ns = rnd_wide(), .samples = rnd_wide(), .rot = rnd() & 1,
				.scale = clamp_t(u64, rnd_wide(), BTRFS_RR_SCALE_MIN, BTRFS_RR_SCALE_MAX),
				.head = rnd_wide(), .taken = rnd() & 1, .streaming = rnd() & 1,
				.owner = rnd() % 4,
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

static void test_stream_table(void **state)
{
	(void)state;
	for (int i = 0; i < 300000; i++) {
		struct btrfs_rr_stream in = { .run = rnd_wide(), .id = rnd() | 1, .mirror = rnd() & 3 };
		u64 key = (rnd_wide() >> 8) & ~4095ULL, hash = btrfs_rr_hash(key), tail;
		struct btrfs_rr_stream out = { 0 };

		assert_true(btrfs_rr_pair(hash) < BTRFS_RR_TAILS - 1);
		tail = btrfs_rr_tail_pack(hash, &in);
		assert_true(btrfs_rr_tail_match(tail, hash, &out));
		assert_true(out.mirror == in.mirror && out.id == in.id);
		assert_true(out.run <= in.run && (out.run + 4095 >= in.run || out.run == (u64)BTRFS_RR_RUN_MAX << 12));
		assert_true(!btrfs_rr_tail_match(0, hash, &out));
		assert_true(btrfs_rr_stream_id(hash, rnd()));
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
	/* In a queue the time of each is not known that well. */
	assert_int_equal(picks_of_second(ssd, nvme, NSEC_PER_MSEC), 50);
	/* Not to that degree. */
	assert_int_equal(picks_of_second(ssd, ssd / 4, NSEC_PER_MSEC), 100);
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
	/* The first reads of either say little. */
	m[1].samples = 1;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
	m[1].samples = m[0].samples;
	m[0].samples = 4;
	assert_int_equal(btrfs_rr_choose(&rd, m, 2), 0);
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

static void test_new_disk_that_looks_slow(void **state)
{
	struct btrfs_rr_mirror m[2] = { mirror(true), mirror(true) };
	struct btrfs_rr_read rd = request(SZ_1M);

	(void)state;
	m[0].scale = 5 * BTRFS_RR_SCALE_ONE / 2;
	/* The first read of all comes with a long seek. */
	m[0].samples = 1;
	btrfs_rr_choose(&rd, m, 2);
	assert_int_equal(m[0].eff_scale, m[0].scale / 2);
	m[0].samples = 2;
	btrfs_rr_choose(&rd, m, 2);
	assert_int_equal(m[0].eff_scale, m[0].scale);
	/* Not so if the others are no faster. */
	m[1].scale = 2 * BTRFS_RR_SCALE_ONE;
	btrfs_rr_choose(&rd, m, 2);
	assert_int_equal(m[0].eff_scale, m[0].scale / 2);
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
		cmocka_unit_test(test_stream_table),
		cmocka_unit_test(test_streams_do_not_lose_each_other),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_small_differences_are_none),
		cmocka_unit_test(test_faster_flash_gets_single_reads),
		cmocka_unit_test(test_nearer_head_gets_single_reads),
		cmocka_unit_test(test_stream_leaves_a_disk_that_is_far_slower),
		cmocka_unit_test(test_streams_get_out_of_each_others_way),
		cmocka_unit_test(test_single_reads_do_not_make_streams_share),
		cmocka_unit_test(test_new_stream_begins_where_it_costs_least),
		cmocka_unit_test(test_new_disk_that_looks_slow),
		cmocka_unit_test(test_leaves_a_disk_for_flash),
		cmocka_unit_test(test_region),
		cmocka_unit_test(test_slow_disk_takes_no_turns),
		cmocka_unit_test(test_disks_of_others_take_no_turns),
		cmocka_unit_test(test_streams_share_the_disks),
		cmocka_unit_test(test_stream_comes_back_to_a_slow_disk),
		cmocka_unit_test(test_large_region_on_a_slow_disk),
		cmocka_unit_test(test_goes_on_when_a_disk_is_idle),
		cmocka_unit_test(test_single_reads_keep_to_an_area),
		cmocka_unit_test(test_flash_that_is_idle_is_best),
		cmocka_unit_test(test_unknown_one_is_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
