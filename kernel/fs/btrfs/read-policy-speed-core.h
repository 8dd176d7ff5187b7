/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How fast a device is, for the roundrobin read policy: learnt from the reads
 * that completed, as the ratio of what they took to what an average device of
 * its kind takes.  Pure functions that also compile in user space, under the
 * rules of read-policy-core.h.
 */

#ifndef BTRFS_READ_POLICY_SPEED_CORE_H
#define BTRFS_READ_POLICY_SPEED_CORE_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/time64.h>
#include <linux/types.h>
#else
#include "read-policy-shim.h"
#endif

/* Fixed point of btrfs_rr_speed::scale, 1.0 being "as fast as predicted". */
#define BTRFS_RR_SCALE_SHIFT		16
#define BTRFS_RR_SCALE_ONE		BIT(BTRFS_RR_SCALE_SHIFT)
#define BTRFS_RR_SCALE_MIN		(BTRFS_RR_SCALE_ONE >> 10)
#define BTRFS_RR_SCALE_MAX		(BTRFS_RR_SCALE_ONE << 10)

/* A single service time above this is a suspended machine, not a slow disk. */
#define BTRFS_RR_SERVICE_MAX_NS		(10ULL * NSEC_PER_SEC)

/* A disk that completes two reads within that time got them as one request. */
#define BTRFS_RR_MERGED_NS		(8 * NSEC_PER_USEC)

/*
 * What a single read of a disk may take more or less than another for nothing but
 * where the platter stood and how far the heads had to go.
 */
#define BTRFS_RR_LUCK_NS		(8 * NSEC_PER_MSEC)

/* Until that many reads were measured a device counts as twice as fast. */
#define BTRFS_RR_SAMPLES_TRUSTED	8

/* After that many the speed of flash is known, and one of so many is measured. */
#define BTRFS_RR_SAMPLES_KNOWN		64
#define BTRFS_RR_TIME_ONE_OF		8

/* Flash that was not used for that long is known from the next read alone. */
#define BTRFS_RR_FLASH_PAUSE_NS		(NSEC_PER_SEC / 4)

/* The part of an average read of flash that others may overlap with; data goes over one bus. */
#define BTRFS_RR_NONROT_BASE_NS		(100 * NSEC_PER_USEC)

/* How many such reads as the measured one may be in flight before it, to make a difference. */
#define BTRFS_RR_AHEAD_SHIFT		8
#define BTRFS_RR_AHEAD_MAX		(1024 << BTRFS_RR_AHEAD_SHIFT)

/* A read that takes that many times as long as expected was not unlucky, it is the device. */
#define BTRFS_RR_BEYOND_CHANCE		4

/* One predicted to take that long is from many places of the flash, luck evens out in it. */
#define BTRFS_RR_NO_LUCK_NS		(5 * BTRFS_RR_NONROT_BASE_NS)
/* Flash with fewer is still being fitted; with more, until it is known, it just became slow. */
#define BTRFS_RR_SAMPLES_FITTED		(BTRFS_RR_SAMPLES_KNOWN - 8)

/* How fast a device is, learnt from the reads that completed. */
struct btrfs_rr_speed {
	/* service_ns / predicted_ns, fixed point, 0 when nothing is known. */
	u32 scale;
	/* The same for what is in flight on flash when a read comes: how long it waits for that. */
	u32 queue;
	u32 samples;
	/* Of a disk: averages of the time taken and of the time predicted. */
	u64 service_ns;
	u64 predicted_ns;
	/* Weight of the last sample, as a shift. */
	u32 weight;
	/* Of flash: a read took so long that the next one has to tell if it was chance. */
	bool suspect;
};

/*
 * What is known at this moment, of reads that may just be learnt from on other CPUs:
 * the figures may be of different moments, but none is half made.
 */
static inline struct btrfs_rr_speed btrfs_rr_speed_get(const struct btrfs_rr_speed *speed)
{
	return (struct btrfs_rr_speed){
		.scale = READ_ONCE(speed->scale),
		.queue = READ_ONCE(speed->queue),
		.samples = READ_ONCE(speed->samples),
		.service_ns = READ_ONCE(speed->service_ns),
		.predicted_ns = READ_ONCE(speed->predicted_ns),
		.weight = READ_ONCE(speed->weight),
		.suspect = READ_ONCE(speed->suspect),
	};
}

static inline void btrfs_rr_speed_set(struct btrfs_rr_speed *speed,
				      const struct btrfs_rr_speed *learnt)
{
	WRITE_ONCE(speed->scale, learnt->scale);
	WRITE_ONCE(speed->queue, learnt->queue);
	WRITE_ONCE(speed->samples, learnt->samples);
	WRITE_ONCE(speed->service_ns, learnt->service_ns);
	WRITE_ONCE(speed->predicted_ns, learnt->predicted_ns);
	WRITE_ONCE(speed->weight, learnt->weight);
	WRITE_ONCE(speed->suspect, learnt->suspect);
}

/*
 * Shall the @nth read of a device be timed?  Flash completes so many that to ask for
 * the time, and to learn from it, would be much of what one costs.  The first of a
 * tick always is, so that a device with few reads is not lost sight of, and a large
 * one, which costs more and tells more.
 */
static inline bool btrfs_rr_is_timed(bool rot, u32 predicted_ns, u32 samples, u64 nth,
				     bool first_of_tick)
{
	return rot || predicted_ns >= BTRFS_RR_NO_LUCK_NS || first_of_tick ||
	       samples < BTRFS_RR_SAMPLES_KNOWN ||
	       nth % BTRFS_RR_TIME_ONE_OF == 0;
}

/* Weight of a new sample as a shift: fast at first and after a pause. */
static inline unsigned int btrfs_rr_weight(u32 samples, u64 pause_ns)
{
	if (samples < 4 || pause_ns > NSEC_PER_SEC)
		return 1;
	if (samples < 8 || pause_ns > NSEC_PER_SEC / 4)
		return 2;
	return samples < 16 ? 3 : 4;
}

static inline u64 btrfs_rr_average(u64 avg, u64 sample, unsigned int weight)
{
	return avg - (avg >> weight) + (sample >> weight);
}

/*
 * A read to find out how a slow disk is now took a third of what that speed makes
 * it take, or less: whatever was the matter is over.  As any disk may be that fast
 * by the luck of the angle, it has to be one that was slow.
 */
static inline bool btrfs_rr_recovered(const struct btrfs_rr_speed *speed, u64 service_ns,
				      u32 predicted_ns, u64 pause_ns)
{
	const u64 expected_ns = ((u64)predicted_ns * speed->scale) >> BTRFS_RR_SCALE_SHIFT;

	return pause_ns > NSEC_PER_SEC / 4 && service_ns * 3 < expected_ns &&
	       expected_ns > 2ULL * predicted_ns;
}

/*
 * By how much the scale of a disk may be wrong that has read little.  The first read
 * says nothing: it may have waited for others that were sent when nobody counted.
 */
static inline u32 btrfs_rr_doubt(const struct btrfs_rr_speed *speed, bool rot)
{
	if (!rot || speed->samples >= BTRFS_RR_SAMPLES_TRUSTED)
		return 0;
	if (speed->samples < 2)
		return BTRFS_RR_SCALE_MAX;
	return min_t(u64, BTRFS_RR_SCALE_MAX,
		     div64_u64((u64)BTRFS_RR_LUCK_NS << BTRFS_RR_SCALE_SHIFT,
			       max_t(u64, speed->predicted_ns, 1)));
}

/* After a pause one read counts as much as all before, so luck must not be in it. */
static inline u64 btrfs_rr_without_luck(const struct btrfs_rr_speed *speed, u64 service_ns,
					u32 predicted_ns)
{
	const u64 expected_ns = ((u64)predicted_ns * speed->scale) >> BTRFS_RR_SCALE_SHIFT;

	if (service_ns > expected_ns + BTRFS_RR_LUCK_NS)
		return service_ns - BTRFS_RR_LUCK_NS;
	return min_t(u64, expected_ns, service_ns + BTRFS_RR_LUCK_NS);
}

/* Both averages fit in 34 bits, a scale beyond the limits is cut anyway. */
static inline void btrfs_rr_set_scale(struct btrfs_rr_speed *speed)
{
	const u64 scale = div64_u64(speed->service_ns << BTRFS_RR_SCALE_SHIFT,
				    max_t(u64, speed->predicted_ns, 1));

	speed->scale = clamp_t(u64, scale, BTRFS_RR_SCALE_MIN, BTRFS_RR_SCALE_MAX);
}

/*
 * A read that was merged into the request of the one before: what that took was for
 * both.  As a sample of its own it would tell of a disk that needs no time at all.
 */
static inline void btrfs_rr_learn_merged(struct btrfs_rr_speed *speed, u32 predicted_ns)
{
	speed->predicted_ns = min_t(u64, speed->predicted_ns + (predicted_ns >> speed->weight),
				    BTRFS_RR_SERVICE_MAX_NS);
	btrfs_rr_set_scale(speed);
}

/* Learn from a read of a disk that took @service_ns after that had paused. */
static inline void btrfs_rr_learn_disk(struct btrfs_rr_speed *speed, u64 service_ns,
				       u32 predicted_ns, u64 pause_ns)
{
	const unsigned int weight = btrfs_rr_weight(speed->samples, pause_ns);
	bool anew = speed->samples < 2;

	if (speed->samples && service_ns < BTRFS_RR_MERGED_NS) {
		btrfs_rr_learn_merged(speed, predicted_ns);
		return;
	}
	service_ns = min_t(u64, service_ns, BTRFS_RR_SERVICE_MAX_NS);
	if (btrfs_rr_recovered(speed, service_ns, predicted_ns, pause_ns)) {
		/* The same luck must not make it the fastest disk of all. */
		service_ns = max_t(u64, service_ns, predicted_ns);
		speed->samples = BTRFS_RR_SAMPLES_TRUSTED - 1;
		anew = true;
	} else if (pause_ns > NSEC_PER_SEC / 4 &&
		   speed->samples >= BTRFS_RR_SAMPLES_TRUSTED) {
		service_ns = btrfs_rr_without_luck(speed, service_ns, predicted_ns);
	}
	if (anew) {
		speed->service_ns = service_ns;
		speed->predicted_ns = predicted_ns;
	} else {
		speed->service_ns = btrfs_rr_average(speed->service_ns, service_ns, weight);
		speed->predicted_ns = btrfs_rr_average(speed->predicted_ns, predicted_ns,
						       weight);
	}
	speed->weight = anew ? 0 : weight;
	if (speed->samples < U32_MAX)
		speed->samples++;
	btrfs_rr_set_scale(speed);
}

/* To the nearest, also below zero: of many small steps none may be lost to one side. */
static inline s64 btrfs_rr_shift_round(s64 n, unsigned int shift)
{
	return (n + (1LL << (shift - 1))) >> shift;
}

/* What a read waits for others if only the transfer of their data is in its way. */
static inline u32 btrfs_rr_bus_queue(u32 scale, u32 predicted_ns)
{
	const u32 base_ns = min_t(u32, BTRFS_RR_NONROT_BASE_NS, predicted_ns);

	return div_u64((u64)scale * (predicted_ns - base_ns), predicted_ns);
}

/* How long a read was expected to take, with so much in flight before it. */
static inline u64 btrfs_rr_expected(const struct btrfs_rr_speed *speed, u64 ahead)
{
	return speed->scale + ((speed->queue * ahead) >> BTRFS_RR_AHEAD_SHIFT);
}

/*
 * Flash works on many reads at once, so one that comes when others are in flight
 * waits for a part of their time only.  A normalised step towards what the read
 * took, along both what it takes alone and what it waits for others.  As it depends
 * on chance who is waited for, the latter follows slowly; not so if what happens is
 * beyond chance.
 */
static inline void btrfs_rr_fit(struct btrfs_rr_speed *speed, u64 taken, u64 ahead)
{
	const unsigned int one = BTRFS_RR_AHEAD_SHIFT;
	const u64 expected = btrfs_rr_expected(speed, ahead);
	const bool beyond = taken > BTRFS_RR_BEYOND_CHANCE * expected;
	/* Single reads all take the same time. */
	const unsigned int weight = ahead ? speed->weight : min_t(u32, speed->weight, 2);
	const unsigned int norm = fls64((1ULL << 2 * one) + ahead * ahead) +
				  (beyond ? 1 : weight);
	const s64 error = (s64)taken - (s64)expected;
	s64 scale = speed->scale + btrfs_rr_shift_round(error * (1 << 2 * one), norm);
	s64 queue = speed->queue + btrfs_rr_shift_round(error * (s64)(ahead << one),
							 beyond ? norm : norm + 2);

	/* Alone nothing is learnt of others, who may wait less than they did. */
	if (ahead < 1U << one)
		queue -= queue >> 9;
	speed->scale = clamp_t(s64, scale, BTRFS_RR_SCALE_MIN, BTRFS_RR_SCALE_MAX);
	speed->queue = clamp_t(s64, queue, 0, speed->scale);
}

/*
 * Was it the device that a read took so long?  When it has become slow, reads in
 * flight only had to wait for a part of it, so another may tell how slow it is.
 */
static inline bool btrfs_rr_is_slow(const struct btrfs_rr_speed *speed, u32 predicted_ns,
				    u64 taken, u64 expected)
{
	const bool known = speed->samples >= BTRFS_RR_SAMPLES_KNOWN;

	return predicted_ns >= BTRFS_RR_NO_LUCK_NS &&
	       speed->samples >= BTRFS_RR_SAMPLES_FITTED &&
	       taken > expected * (known ? BTRFS_RR_BEYOND_CHANCE : 2);
}

/*
 * Has the device become slow?  Flash pauses now and then, and all that is in flight
 * is late; but what follows the first of that comes fast.  So two reads must have
 * taken long by themselves, with none between them that was fast.
 */
static inline bool btrfs_rr_slowed_down(struct btrfs_rr_speed *speed, bool slow, u64 alone)
{
	const bool again = speed->suspect;

	if (!slow)
		speed->suspect = false;
	else if (alone > BTRFS_RR_BEYOND_CHANCE * speed->scale)
		speed->suspect = !again;
	else
		return false;
	return slow && again;
}

/* Whatever the flash does takes as many times as long as expected as this read did. */
static inline void btrfs_rr_slow_down(struct btrfs_rr_speed *speed, u64 taken, u64 expected)
{
	const u64 scale = div64_u64(speed->scale * taken, expected);
	const u64 queue = div64_u64(speed->queue * taken, expected);

	speed->scale = min_t(u64, scale, BTRFS_RR_SCALE_MAX);
	speed->queue = min_t(u64, queue, speed->scale);
	speed->samples = BTRFS_RR_SAMPLES_FITTED - 1;
}

/* What took so long as multiples of the prediction. */
static inline u64 btrfs_rr_multiple(u64 ns, u32 predicted_ns)
{
	return div_u64(min_t(u64, ns, BTRFS_RR_SERVICE_MAX_NS) << BTRFS_RR_SCALE_SHIFT,
		       predicted_ns);
}

/*
 * Learn from a read of flash that took @latency_ns, with @ahead_ns in flight when it
 * came, and ended @alone_ns after it came or another ended, whichever was later.
 */
static inline void btrfs_rr_learn_flash(struct btrfs_rr_speed *speed, u64 latency_ns,
					u64 alone_ns, u32 predicted_ns, u64 ahead_ns,
					u64 pause_ns)
{
	u64 taken, ahead, expected;
	bool slow;

	predicted_ns = max_t(u32, predicted_ns, 1);
	taken = btrfs_rr_multiple(latency_ns, predicted_ns);
	ahead = div_u64(min_t(u64, ahead_ns, U32_MAX) << BTRFS_RR_AHEAD_SHIFT, predicted_ns);
	taken = min_t(u64, taken, (u64)BTRFS_RR_SCALE_MAX << 4);
	ahead = min_t(u64, ahead, BTRFS_RR_AHEAD_MAX);
	expected = btrfs_rr_expected(speed, ahead);
	slow = btrfs_rr_is_slow(speed, predicted_ns, taken, expected);
	if (!speed->samples || pause_ns > BTRFS_RR_FLASH_PAUSE_NS) {
		speed->samples = min_t(u32, speed->samples, BTRFS_RR_SAMPLES_TRUSTED - 1);
		speed->scale = clamp_t(u64, taken, BTRFS_RR_SCALE_MIN, BTRFS_RR_SCALE_MAX);
		speed->queue = btrfs_rr_bus_queue(speed->scale, predicted_ns);
	} else if (btrfs_rr_slowed_down(speed, slow, btrfs_rr_multiple(alone_ns, predicted_ns))) {
		btrfs_rr_slow_down(speed, taken, expected);
	} else {
		speed->weight = btrfs_rr_weight(speed->samples, 0);
		btrfs_rr_fit(speed, taken, ahead);
	}
	if (speed->samples < U32_MAX)
		speed->samples++;
}

#endif
