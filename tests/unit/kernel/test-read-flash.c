// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the read policy learns of flash, which works on many reads at once, and what
 * it makes of that: so many random reads in flight on modelled drives, as fast as
 * the best that these could do.  The headers are the kernel's own.
 */
#include "unit.h"
#include "read-policy-inputs.h"
#include "random.h"

#define CHARGE		(100 * NSEC_PER_USEC)

/* A drive on which a read alone takes @alone and waits @each for any other before it. */
static struct btrfs_rr_speed learnt(u64 alone, u64 each, unsigned int depth)
{
	struct btrfs_rr_speed s = { 0 };

	for (int i = 0; i < 20000; i++) {
		const unsigned int others = rnd() % depth;

		learn_flash(&s, alone + others * each, CHARGE, others * CHARGE, 0);
	}
	return s;
}

static u64 expected_us(const struct btrfs_rr_speed *s, unsigned int others)
{
	return (CHARGE * s->scale + others * CHARGE * s->queue) >> BTRFS_RR_SCALE_SHIFT;
}

static void test_alone_and_in_a_queue(void **state)
{
	const u64 alone = 70 * NSEC_PER_USEC, each[] = { 0, 2 * NSEC_PER_USEC, 10 * NSEC_PER_USEC, alone };

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		for (unsigned int depth = 2; depth <= 32; depth *= 4) {
			const struct btrfs_rr_speed s = learnt(alone, each[k], depth);

			for (unsigned int n = 0; n < depth; n++)
				assert_in_range(expected_us(&s, n), (alone + n * each[k]) * 4 / 5,
						(alone + n * each[k]) * 6 / 5);
			assert_true(s.queue <= s.scale);
		}
	}
}

/* After a pause one read tells all, whatever was known before. */
static void test_pause_begins_anew(void **state)
{
	struct btrfs_rr_speed s = learnt(700 * NSEC_PER_USEC, 100 * NSEC_PER_USEC, 8);

	(void)state;
	learn_flash(&s, CHARGE, CHARGE, 0, BTRFS_RR_FLASH_PAUSE_NS + 1);
	assert_int_equal(s.scale, BTRFS_RR_SCALE_ONE);
	/* As if only the bus was shared. */
	assert_int_equal(s.queue, 0);
	learn_flash(&s, 10 * CHARGE, 10 * CHARGE, 0, BTRFS_RR_FLASH_PAUSE_NS + 1);
	assert_int_equal(s.queue, BTRFS_RR_SCALE_ONE * 9 / 10);
	/* The next ones are timed, and count for more. */
	assert_int_equal(s.samples, BTRFS_RR_SAMPLES_TRUSTED);
}

/* What is known of a queue wears off while there is none. */
static void test_queue_is_forgotten(void **state)
{
	struct btrfs_rr_speed s = learnt(CHARGE, CHARGE, 8);

	(void)state;
	for (int i = 0; i < 1500; i++)
		learn_flash(&s, CHARGE, CHARGE, 0, 0);
	assert_true(s.queue < s.scale / 10);
}

static void test_any_input_stays_within_bounds(void **state)
{
	struct btrfs_rr_speed s = { 0 };

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		btrfs_rr_learn_flash(&s, rnd_wide(), rnd_wide(), rnd_wide(), rnd_wide(),
				     rnd_wide());
		assert_true(s.scale >= BTRFS_RR_SCALE_MIN && s.scale <= BTRFS_RR_SCALE_MAX);
		assert_true(s.queue <= s.scale);
	}
}

/* A drive whose channels serve one read each, and what the policy knows of it. */
struct drive {
	unsigned int channels;
	u64 read_ns;
	u64 free[64];
	u64 load_ns;
	u64 done_ns;
	u64 reads;
	struct btrfs_rr_speed speed;
};

struct in_flight {
	struct drive *drive;
	u64 start, done, ahead;
	u32 charge;
};

static struct in_flight submit(struct drive *d, u64 now, u32 charge)
{
	u64 *free = &d->free[rnd() % d->channels];
	struct in_flight r = { .drive = d, .start = now, .ahead = d->load_ns, .charge = charge };

	*free = max_t(u64, *free, now) + d->read_ns;
	r.done = *free;
	d->load_ns += charge;
	d->reads++;
	return r;
}

static void complete(const struct in_flight *r)
{
	struct drive *d = r->drive;
	const u64 begin = max_t(u64, r->start, d->done_ns);

	btrfs_rr_learn_flash(&d->speed, r->done - r->start, r->done - begin, r->charge, r->ahead,
			     begin - d->done_ns);
	d->load_ns -= r->charge;
	d->done_ns = r->done;
}

static struct drive *choose(struct drive *drives, int nr, struct btrfs_rr_read *rd, u64 now,
			    unsigned int *turn)
{
	struct btrfs_rr_mirror m[BTRFS_RR_MAX_MIRRORS];

	rd->turn = *turn;
	for (int i = 0; i < nr; i++) {
		const struct btrfs_rr_speed *s = &drives[i].speed;

		m[i] = mirror(false);
		m[i].load_ns = drives[i].load_ns;
		m[i].idle_ns = now - min_t(u64, now, drives[i].done_ns);
		m[i].samples = s->samples;
		m[i].scale = s->samples ? s->scale : BTRFS_RR_SCALE_ONE;
		m[i].queue = s->queue;
	}
	*turn = btrfs_rr_choose(rd, m, nr) + 1;
	return &drives[*turn - 1];
}

static int first_done(const struct in_flight *reads, int depth)
{
	int first = 0;

	for (int i = 1; i < depth; i++)
		if (reads[i].done < reads[first].done)
			first = i;
	return first;
}

/* Random reads a second with @depth of them in flight, on the drives as the policy chooses. */
static u64 random_reads(struct drive *drives, int nr, int depth)
{
	struct btrfs_rr_read rd = request(4096);
	struct in_flight reads[64];
	unsigned int turn = 0;
	u64 now = NSEC_PER_SEC;

	for (int i = 0; i < depth; i++)
		reads[i] = submit(choose(drives, nr, &rd, now, &turn), now, CHARGE);
	for (int count = 0; count < 100000; count++) {
		const int i = first_done(reads, depth);

		now = reads[i].done;
		complete(&reads[i]);
		reads[i] = submit(choose(drives, nr, &rd, now, &turn), now, CHARGE);
	}
	return 100000 * NSEC_PER_SEC / (now - NSEC_PER_SEC);
}

static struct drive drive(unsigned int channels, u64 read_us)
{
	return (struct drive){ .channels = channels, .read_ns = read_us * NSEC_PER_USEC };
}

/* As long as the faster one answers sooner with all reads in flight than the other with one, it gets all. */
static void test_slower_drive_only_helps(void **state)
{
	static const struct { unsigned int channels; u64 us; } slower[] = {
		{ 10, 90 }, { 4, 200 }, { 16, 110 }, { 2, 100 },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(slower) / sizeof(*slower); k++) {
		for (int depth = 1; depth <= 32; depth++) {
			struct drive both[] = { drive(slower[k].channels, slower[k].us), drive(64, 70) };
			struct drive alone = drive(64, 70);
			const u64 reads = random_reads(both, 2, depth);

			assert_true(reads > random_reads(&alone, 1, depth) * 98 / 100);
			if (depth < 4)
				assert_true(both[0].reads < 500);
		}
	}
}

/* Equal drives are as fast as with the same number of reads on each. */
static void test_equal_drives_share(void **state)
{
	static const int depths[] = { 1, 2, 4, 8, 16 };

	(void)state;
	for (int nr = 2; nr <= 4; nr++) {
		for (int k = 0; k < 5; k++) {
			struct drive all[] = { drive(10, 90), drive(10, 90), drive(10, 90), drive(10, 90) };
			struct drive one = drive(10, 90);
			const u64 reads = random_reads(all, nr, nr * depths[k]);

			assert_true(reads > nr * random_reads(&one, 1, depths[k]) * 97 / 100);
			assert_in_range(all[0].reads, 90000 / nr, 110000 / nr);
		}
	}
}

#define PIECE		SZ_1M
#define PIECE_CHARGE	btrfs_rr_charge_ns(false, 0, 0, PIECE)
#define WINDOW		4

/* A stream with two windows of pieces in flight, on drives that move one piece at a time. */
struct stream {
	struct drive *drives;
	int nr;
	u64 now;
	unsigned int turn;
	struct in_flight pieces[2 * WINDOW];
};

static void send_window(struct stream *st, struct in_flight *window)
{
	struct btrfs_rr_read rd = request(PIECE);

	rd.large = true;
	for (int i = 0; i < WINDOW; i++) {
		struct drive *d = choose(st->drives, st->nr, &rd, st->now, &st->turn);

		window[i] = submit(d, st->now, PIECE_CHARGE);
	}
}

/* All that is done by now, in order. */
static void complete_pieces(struct stream *st)
{
	for (;;) {
		struct in_flight *first = &st->pieces[first_done(st->pieces, 2 * WINDOW)];

		if (first->done > st->now)
			break;
		complete(first);
		first->done = U64_MAX;
	}
}

/* The reader waits for one window after the other until @end. */
static void read_until(struct stream *st, u64 end)
{
	for (int which = 0; st->now < end; which = !which) {
		struct in_flight *window = &st->pieces[which * WINDOW];

		for (int i = 0; i < WINDOW; i++)
			if (window[i].done != U64_MAX)
				st->now = max_t(u64, st->now, window[i].done);
		complete_pieces(st);
		send_window(st, window);
	}
}

/* Drive and all that is in flight there take so many times as long from now on. */
static void slow_down(struct stream *st, struct drive *d, unsigned int times)
{
	d->read_ns *= times;
	for (int i = 0; i < 2 * WINDOW; i++) {
		struct in_flight *r = &st->pieces[i];

		if (r->drive == d && r->done != U64_MAX && r->done > st->now)
			r->done = st->now + (r->done - st->now) * times;
	}
	if (d->free[0] > st->now)
		d->free[0] = st->now + (d->free[0] - st->now) * times;
}

/* Of the pieces of @ns the first drive's in permille. */
static u64 share(struct stream *st, u64 ns)
{
	u64 all = 0;

	for (int i = 0; i < st->nr; i++)
		st->drives[i].reads = 0;
	read_until(st, st->now + ns);
	for (int i = 0; i < st->nr; i++)
		all += st->drives[i].reads;
	return 1000 * st->drives[0].reads / all;
}

/* A stream leaves a drive that becomes ten times slower within 100 ms, and takes it again in 5 s. */
static void test_stream_leaves_slow_drive(void **state)
{
	static const u64 piece_us[] = { 330, 1950, 3000 };

	(void)state;
	for (int nr = 2; nr <= 4; nr++) {
		for (int k = 0; k < 3; k++) {
			struct drive all[] = { drive(1, piece_us[k]), drive(1, piece_us[k]),
					       drive(1, piece_us[k]), drive(1, piece_us[k]) };
			struct stream st = { .drives = all, .nr = nr, .now = NSEC_PER_SEC };

			for (int i = 0; i < 2 * WINDOW; i++)
				st.pieces[i].done = U64_MAX;
			share(&st, 2 * NSEC_PER_SEC);
			assert_in_range(share(&st, NSEC_PER_SEC), 950 / nr, 1050 / nr);
			slow_down(&st, &all[0], 10);
			share(&st, 100 * NSEC_PER_MSEC);
			assert_in_range(share(&st, NSEC_PER_SEC), 0, 50);
			all[0].read_ns /= 10;
			share(&st, 5 * NSEC_PER_SEC);
			assert_in_range(share(&st, NSEC_PER_SEC), 950 / nr, 1050 / nr);
		}
	}
}

/* Drive and all that is in flight there do nothing for so long. */
static void stall(struct stream *st, struct drive *d, u64 ns)
{
	for (int i = 0; i < 2 * WINDOW; i++)
		if (st->pieces[i].drive == d && st->pieces[i].done > st->now &&
		    st->pieces[i].done != U64_MAX)
			st->pieces[i].done += ns;
	d->free[0] = max_t(u64, d->free[0], st->now) + ns;
}

/* Drives that pause now and then are as fast as ever in between, so they are not left. */
static void test_stream_stays_with_drives_that_pause(void **state)
{
	static const u64 piece_us[] = { 330, 1950, 3000 }, pause_ms[] = { 10, 20 };

	(void)state;
	for (int k = 0; k < 6; k++) {
		struct drive all[] = { drive(1, piece_us[k % 3]), drive(1, piece_us[k % 3]) };
		struct stream st = { .drives = all, .nr = 2, .now = NSEC_PER_SEC };
		u64 pieces = 0;

		for (int i = 0; i < 2 * WINDOW; i++)
			st.pieces[i].done = U64_MAX;
		share(&st, 2 * NSEC_PER_SEC);
		for (int turn = 0; turn < 20; turn++) {
			share(&st, NSEC_PER_SEC);
			pieces += all[0].reads + all[1].reads;
			stall(&st, &all[turn % 2], pause_ms[k / 3] * NSEC_PER_MSEC);
		}
		/* Of both drives' time, twice what they paused for is the most that is lost. */
		assert_true(pieces > 20 * 2 * (1000 - 2 * pause_ms[k / 3]) * 1000 / piece_us[k % 3]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone_and_in_a_queue),
		cmocka_unit_test(test_pause_begins_anew),
		cmocka_unit_test(test_queue_is_forgotten),
		cmocka_unit_test(test_any_input_stays_within_bounds),
		cmocka_unit_test(test_slower_drive_only_helps),
		cmocka_unit_test(test_equal_drives_share),
		cmocka_unit_test(test_stream_leaves_slow_drive),
		cmocka_unit_test(test_stream_stays_with_drives_that_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
