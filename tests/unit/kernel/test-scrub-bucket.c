/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scrub-bucket.h: what is let through is the limit, in bursts of the size that is
 * asked for, whatever comes in between.
 */
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/time64.h>

#include "unit.h"
#include "scrub-bucket.h"
#include "random.h"

#define MIB ((u64)SZ_1M)
#define GROUP SZ_512K
#define RUNS 500
/* Wakeups a second, with timers of high resolution. */
#define FINE 1000000

static const u64 limits[] = {
	MIB, 2 * MIB, 10 * MIB, 40 * MIB, 100 * MIB, 400 * MIB, 1024 * MIB, 8192 * MIB,
};
#define NR_LIMITS (sizeof(limits) / sizeof(limits[0]))

/* How long so many bytes take at that speed. */
static s64 time_of(u64 bytes, u64 limit)
{
	return (double)bytes * NSEC_PER_SEC / limit;
}

/* Who sleeps as long as it is told and loses no time is as fast as the limit, but for one burst. */
static void test_limit_is_exact(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < 2 * NR_LIMITS; n++) {
		const u64 limit = limits[n / 2], bytes = 20 * limit / GROUP * GROUP;
		const u32 burst = btrfs_scrub_burst(n % 2, limit, FINE);
		struct btrfs_scrub_bucket bucket = { 0 };
		s64 now = NSEC_PER_SEC;

		for (u64 done = 0; done < bytes; done += GROUP)
			now = btrfs_scrub_take(&bucket, now, GROUP, limit, burst);
		assert_in_range(now - NSEC_PER_SEC + time_of(max_t(u32, burst, GROUP), limit) + 1000000,
				time_of(bytes, limit),
				time_of(bytes + burst, limit) + 2000000);
	}
}

/* Cancelling and commits wait for a burst; a hard disk has large ones if these scan soon. */
static void test_bursts(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < NR_LIMITS; n++) {
		const u64 limit = limits[n];

		assert_int_equal(btrfs_scrub_burst(false, limit, FINE), SZ_256K);
		assert_in_range(btrfs_scrub_burst(true, limit, FINE), GROUP, SZ_4M);
		if (limit >= 5 * MIB)
			assert_in_range(time_of(btrfs_scrub_burst(true, limit, FINE), limit), 0,
					NSEC_PER_SEC / 10);
	}
	assert_int_equal(btrfs_scrub_burst(true, 20 * MIB, FINE), 2 * MIB);
	assert_int_equal(btrfs_scrub_burst(true, 40 * MIB, FINE), 4 * MIB);
}

/* Who wakes up at a tick, and now and then at the one after, has the speed all the same. */
static void test_ticks(void **state)
{
	const s64 tick = NSEC_PER_SEC / 100;

	(void)state;
	for (unsigned int n = 0; n < 2 * NR_LIMITS; n++) {
		const u64 limit = limits[n / 2], bytes = 20 * limit / GROUP * GROUP;
		const u32 burst = btrfs_scrub_burst(n % 2, limit, 50);
		struct btrfs_scrub_bucket bucket = { 0 };
		s64 now = NSEC_PER_SEC;

		if (limit > 1024 * MIB)
			continue;
		for (u64 done = 0; done < bytes; done += GROUP) {
			const s64 at = btrfs_scrub_take(&bucket, now, GROUP, limit, burst);

			if (at > now)
				now = (at + tick - 1) / tick * tick + (rnd_below(10) ? 0 : tick);
		}
		assert_in_range((now - NSEC_PER_SEC) / 1000000, 19000, 20100);
	}
}

/* A run with pauses of all lengths, among them those of others that read. */
static void one_run_with_pauses(u64 limit, u32 burst)
{
	struct btrfs_scrub_bucket bucket = { 0 };
	const s64 start = 1 + rnd_below(2000000000);
	s64 now = start, begun = 0;
	u64 done = 0;

	for (int n = 0; n < 2000; n++) {
		const u32 bytes = (1 + rnd_below(8)) * 65536, left = bucket.left;
		const s64 at = btrfs_scrub_take(&bucket, now, bytes, limit, burst);

		assert_in_range(at - now, 0, NSEC_PER_SEC);
		now = at;
		done += bytes;
		/* Never more than the limit since the start, but for one burst. */
		assert_true(done <= (now - start) / 1e9 * limit + max_t(u32, burst, bytes) + 1000);
		/* Never two bursts at once. */
		if (bytes > left) {
			assert_true(!begun || now - begun >= time_of(burst, limit) / 2 - 1);
			begun = now;
		}
		if (rnd_below(10) == 0)
			now += rnd_below(10) ? rnd_below(5000000) : rnd_below(1000000000);
	}
}

static void test_pauses(void **state)
{
	(void)state;
	for (int n = 0; n < RUNS; n++) {
		const u64 limit = limits[n % NR_LIMITS];

		one_run_with_pauses(limit, btrfs_scrub_burst(n / NR_LIMITS % 2, limit, FINE));
	}
}

/* Up to a tenth of a second is made up for, in twice the time; no more. */
static void test_lost_time(void **state)
{
	const u64 limit = 100 * MIB;
	const s64 lost[] = { 5 * NSEC_PER_MSEC, 90 * NSEC_PER_MSEC, 3LL * NSEC_PER_SEC };

	(void)state;
	for (int n = 0; n < 3; n++) {
		struct btrfs_scrub_bucket bucket = { 0 };
		s64 now = NSEC_PER_SEC;

		for (int i = 0; i < 1000; i++) {
			now = btrfs_scrub_take(&bucket, now, SZ_256K, limit, SZ_256K);
			if (i == 400)
				now += lost[n];
		}
		assert_int_equal(now - NSEC_PER_SEC,
				 999 * time_of(SZ_256K, limit) +
				 (n < 2 ? 0 : lost[n] - 100 * NSEC_PER_MSEC - time_of(SZ_256K, limit)));
	}
}

/* Somebody changes the limit all the time, and signals end the sleep. */
static void test_any_limit(void **state)
{
	struct btrfs_scrub_bucket bucket = { 0 };
	s64 now = 1;

	(void)state;
	for (int n = 0; n < 1000000; n++) {
		const u64 limit = rnd_wide();
		s64 at;

		at = btrfs_scrub_take(&bucket, now, (1 + rnd_below(128)) * 4096, limit ?: 1,
				      btrfs_scrub_burst(n % 2, limit, FINE));
		assert_in_range(at - now, 0, NSEC_PER_SEC);
		now += rnd_below(2) ? at - now : (s64)rnd_below(1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit_is_exact),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_lost_time),
		cmocka_unit_test(test_any_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
