/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded into programs that measure the processor's clock by reading the
 * time over and over when they start (fio does, for 64 ms of virtual time: a
 * quarter of a million system calls).  Until the program starts a thread or a
 * child, a run of reads with nothing in between sleeps instead, which costs
 * nothing here.  Must not touch a measurement: after the first thread or child
 * it only passes on.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define READS	16
#define NEAR_NS	2000
#define SLEEP_NS	2000000

static bool working;

static void started(void)
{
	working = true;
}

__attribute__((constructor)) static void watch(void)
{
	pthread_atfork(NULL, NULL, started);
}

static long long nanoseconds(const struct timespec *t)
{
	return t->tv_sec * 1000000000ll + t->tv_nsec;
}

static void not_again(long long now)
{
	static long long last;
	static int reads;
	const struct timespec nap = { .tv_nsec = SLEEP_NS };

	reads = now - last < NEAR_NS ? reads + 1 : 0;
	last = now;
	if (reads < READS)
		return;
	reads = 0;
	syscall(SYS_nanosleep, &nap, NULL);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int ret = syscall(SYS_clock_gettime, clock, t);

	if (!working && !ret)
		not_again(nanoseconds(t));
	return ret;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	struct timespec t;
	int ret = clock_gettime(CLOCK_REALTIME, &t);

	(void)tz;
	tv->tv_sec = t.tv_sec;
	tv->tv_usec = t.tv_nsec / 1000;
	return ret;
}
