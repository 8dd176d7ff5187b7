// SPDX-License-Identifier: GPL-2.0-only
/*
 * reads FILE THREADS READS: every thread, on a processor of its own, reads
 * that many random blocks of 4 KiB past the page cache; prints nanoseconds for
 * one read, all threads' reads counted.  Judges nothing.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096

/* Nothing to the machine, and a sign for count.c that a measurement begins or ends. */
#define MARK(kind) asm volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x78, 0x56, 0x34, " #kind)

static const char *path;
static long reads;
static pthread_barrier_t ready, start;

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "processor %ld", cpu);
}

static void *reader(void *arg)
{
	const long number = (long)arg;
	uint64_t seed = 88172645463325252ULL + number;
	struct stat st;
	void *block;
	int fd;

	pin(number);
	fd = open(path, O_RDONLY | O_DIRECT);
	if (fd < 0 || fstat(fd, &st) || posix_memalign(&block, BLOCK, BLOCK))
		err(1, "%s", path);
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&start);
	for (long i = 0; i < reads; i++)
		if (pread(fd, block, BLOCK, next(&seed) % (st.st_size / BLOCK) * BLOCK) != BLOCK)
			err(1, "reading %s", path);
	return NULL;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	pthread_t thread[64];
	long threads;
	double begin;

	if (argc != 4 || (threads = atol(argv[2])) < 1 || threads > 64)
		errx(1, "usage: reads FILE THREADS READS");
	path = argv[1];
	reads = atol(argv[3]);
	pthread_barrier_init(&ready, NULL, threads + 1);
	pthread_barrier_init(&start, NULL, threads + 1);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, reader, (void *)i))
			errx(1, "no thread");
	pthread_barrier_wait(&ready);
	/* Before they start: on a reader's processor this thread is not the first to go on. */
	MARK(1);
	begin = now();
	pthread_barrier_wait(&start);
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	MARK(2);
	printf("%.0f\n", (now() - begin) / (threads * reads));
	return 0;
}
