// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the read policy learns of the speed of a device: it stays within bounds,
 * follows what happens, and takes neither luck nor a busy moment for speed.
 * The header is the kernel's own.
 */
#include "unit.h"
#include "read-policy-inputs.h"
#include "random.h"

static void test_learning(void **state)
{
	(void)state;
	struct btrfs_rr_speed s = { 0 };

	for (int i = 0; i < 100; i++)
		btrfs_rr_learn_disk(&s, 8 * NSEC_PER_MSEC, 4 * NSEC_PER_MSEC, 0);
	assert_true(s.scale > BTRFS_RR_SCALE_ONE * 19 / 10 && s.scale < BTRFS_RR_SCALE_ONE * 21 / 10);
	btrfs_rr_learn_disk(&s, U64_MAX, U32_MAX, 0);
	btrfs_rr_learn_disk(&s, 0, 1, U64_MAX);
	for (int i = 0; i < 100000; i++) {
		btrfs_rr_learn_disk(&s, rnd_wide(), rnd_wide() | 1, rnd_wide());
		assert_true(s.scale >= BTRFS_RR_SCALE_MIN && s.scale <= BTRFS_RR_SCALE_MAX);
	}
}

static struct btrfs_rr_speed ten_times_slower(void)
{
	struct btrfs_rr_speed s = { 0 };

	for (int i = 0; i < 100; i++)
		btrfs_rr_learn_disk(&s, 80 * NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, 0);
	return s;
}

/* One read tells that a slow disk has recovered, if it was not used meanwhile. */
static void test_recovery(void **state)
{
	struct btrfs_rr_speed recovered = ten_times_slower();
	struct btrfs_rr_speed busy = ten_times_slower();
	struct btrfs_rr_speed slow = ten_times_slower();

	(void)state;
	btrfs_rr_learn_disk(&recovered, 12 * NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, NSEC_PER_SEC / 2);
	btrfs_rr_learn_disk(&busy, 12 * NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, 0);
	btrfs_rr_learn_disk(&slow, 60 * NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, NSEC_PER_SEC / 2);
	assert_true(recovered.scale < 2 * BTRFS_RR_SCALE_ONE);
	/* The next ones may correct that soon. */
	assert_int_equal(recovered.samples, BTRFS_RR_SAMPLES_TRUSTED);
	assert_true(busy.scale > 8 * BTRFS_RR_SCALE_ONE);
	assert_true(slow.scale > 8 * BTRFS_RR_SCALE_ONE);
}

/* A disk that found its place at once after a pause is no faster than the others. */
static void test_luck_is_no_recovery(void **state)
{
	struct btrfs_rr_speed usual = { 0 };
	struct btrfs_rr_speed slow = ten_times_slower();
	struct btrfs_rr_speed flash = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		btrfs_rr_learn_disk(&usual, 8 * NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, 0);
		learn_flash(&flash, 100 * NSEC_PER_USEC, 100 * NSEC_PER_USEC, 0, 0);
	}
	btrfs_rr_learn_disk(&usual, NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, NSEC_PER_SEC / 2);
	assert_true(usual.scale > BTRFS_RR_SCALE_ONE / 2);
	btrfs_rr_learn_disk(&slow, NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, NSEC_PER_SEC / 2);
	assert_int_equal(slow.scale, BTRFS_RR_SCALE_ONE);
	/* Flash has no such luck. */
	learn_flash(&flash, 20 * NSEC_PER_USEC, 100 * NSEC_PER_USEC, 0, NSEC_PER_SEC / 2);
	assert_true(flash.scale < BTRFS_RR_SCALE_ONE / 4);
}

/* The first read of a disk may have waited for what was sent before anybody counted. */
static void test_first_read_of_a_disk_says_nothing(void **state)
{
	struct btrfs_rr_speed disk = { 0 };
	struct btrfs_rr_speed flash = { 0 };

	(void)state;
	assert_int_equal(btrfs_rr_doubt(&disk, true), BTRFS_RR_SCALE_MAX);
	btrfs_rr_learn_disk(&disk, 200 * NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, NSEC_PER_SEC);
	assert_int_equal(btrfs_rr_doubt(&disk, true), BTRFS_RR_SCALE_MAX);
	btrfs_rr_learn_disk(&disk, 8 * NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, 0);
	assert_int_equal(disk.scale, BTRFS_RR_SCALE_ONE);
	/* The second may have been lucky. */
	assert_in_range(btrfs_rr_doubt(&disk, true), BTRFS_RR_SCALE_ONE / 2, BTRFS_RR_SCALE_ONE);
	for (int i = 0; i < 6; i++)
		btrfs_rr_learn_disk(&disk, 8 * NSEC_PER_MSEC, 8 * NSEC_PER_MSEC, 0);
	assert_int_equal(btrfs_rr_doubt(&disk, true), 0);
	/* Those of flash all take the same time. */
	learn_flash(&flash, NSEC_PER_MSEC, NSEC_PER_MSEC, 0, 0);
	assert_int_equal(flash.scale, BTRFS_RR_SCALE_ONE);
	assert_int_equal(btrfs_rr_doubt(&flash, false), 0);
}

/* The first read after a pause may have the angle against it, a slow disk takes longer than that. */
static void test_luck_after_a_pause(void **state)
{
	struct btrfs_rr_speed unlucky = { 0 };
	struct btrfs_rr_speed slow;

	(void)state;
	for (int i = 0; i < 100; i++)
		btrfs_rr_learn_disk(&unlucky, 5 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC, 0);
	slow = unlucky;
	btrfs_rr_learn_disk(&unlucky, 12 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC);
	assert_in_range(unlucky.scale, BTRFS_RR_SCALE_ONE - 16, BTRFS_RR_SCALE_ONE);
	btrfs_rr_learn_disk(&unlucky, NSEC_PER_MSEC, 5 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC);
	assert_in_range(unlucky.scale, BTRFS_RR_SCALE_ONE - 32, BTRFS_RR_SCALE_ONE);
	btrfs_rr_learn_disk(&slow, 50 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC, 2 * NSEC_PER_SEC);
	assert_true(slow.scale > 4 * BTRFS_RR_SCALE_ONE);
}

/* What a drive got as one request is as fast as what it got in pieces, on flash each read counts. */
static void test_merged_reads_are_one(void **state)
{
	struct btrfs_rr_speed merged = { 0 };
	struct btrfs_rr_speed flash = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		/* A seek and sixteen times 64 KiB, which take 13 of the 11 ms predicted. */
		btrfs_rr_learn_disk(&merged, 13 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC, 0);
		for (int k = 0; k < 15; k++)
			btrfs_rr_learn_disk(&merged, 0, NSEC_PER_MSEC / 3, 0);
		assert_in_range(merged.scale, BTRFS_RR_SCALE_ONE, BTRFS_RR_SCALE_ONE * 5 / 4);
		learn_flash(&flash, 4 * NSEC_PER_USEC, 100 * NSEC_PER_USEC, 0, 0);
	}
	assert_int_equal(merged.samples, 100);
	assert_int_equal(flash.samples, 100);
}

/* What a small read of flash is predicted to take. */
#define CHARGE		(100 * NSEC_PER_USEC)

/* Is the @nth read timed by a policy that knows the speed, with so many reads in a tick? */
static bool timed(bool rot, unsigned int nth, unsigned int in_tick)
{
	return btrfs_rr_is_timed(rot, CHARGE, BTRFS_RR_SAMPLES_KNOWN, nth, nth % in_tick == 0);
}

/* Of small reads of flash that is known one of a few is timed, of anything else each. */
static void test_what_is_timed(void **state)
{
	unsigned int disk = 0, flash = 0, rare = 0;

	(void)state;
	for (unsigned int nth = 0; nth < 8000; nth++) {
		disk += timed(true, nth, 8000);
		flash += timed(false, nth, 8000);
		rare += timed(false, nth, 1);
		assert_true(btrfs_rr_is_timed(false, CHARGE, nth % BTRFS_RR_SAMPLES_KNOWN, nth, false));
		assert_true(btrfs_rr_is_timed(false, 10 * CHARGE, BTRFS_RR_SAMPLES_KNOWN, nth, false));
	}
	assert_int_equal(disk, 8000);
	assert_int_equal(flash, 1000);
	assert_int_equal(rare, 8000);
}

/* With so many reads in a tick of 10 ms, the scale after ten times the time for 100 ms. */
static u32 scale_after_slow(unsigned int in_tick)
{
	struct btrfs_rr_speed s = { 0 };

	for (unsigned int nth = 0; nth < BTRFS_RR_SAMPLES_KNOWN; nth++)
		learn_flash(&s, 100 * NSEC_PER_USEC, 100 * NSEC_PER_USEC, 0, 0);
	for (unsigned int nth = 1; nth <= 10 * in_tick; nth++)
		if (timed(false, nth, in_tick))
			learn_flash(&s, NSEC_PER_MSEC, 100 * NSEC_PER_USEC, 0, 0);
	return s.scale;
}

/* However many reads there are: 100 ms are enough to know that flash is slow now, even in a queue. */
static void test_slow_flash_is_seen(void **state)
{
	(void)state;
	for (unsigned int in_tick = 1; in_tick <= 1024; in_tick *= 2)
		assert_true(scale_after_slow(in_tick) > 3 * BTRFS_RR_SCALE_ONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_luck_is_no_recovery),
		cmocka_unit_test(test_first_read_of_a_disk_says_nothing),
		cmocka_unit_test(test_luck_after_a_pause),
		cmocka_unit_test(test_merged_reads_are_one),
		cmocka_unit_test(test_what_is_timed),
		cmocka_unit_test(test_slow_flash_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
