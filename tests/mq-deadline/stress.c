// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of all priorities that write, flush and read back what they wrote,
 * while the driver gives requests back and the scheduler is switched under them.
 * And rounds in which each thread has one request: no other one comes that
 * would wake up a queue with a lost request. A block that is not what was
 * written, or a request that never ends, is the failure.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "load.h"

#define DEPTH	8
#define BLOCKS	64
#define IOPRIO_WHO_PROCESS	1
#define IOPRIO(class)		((class) << 13)

static atomic_bool stop;
static atomic_ullong ios, flushes;

struct writer {
	pthread_t thread;
	int fd;
	unsigned int id;
	uint64_t written[BLOCKS];	/* what each block holds */
};

/* Random numbers say what; the same block is never under way twice. */
static void round_of_io(struct writer *w, aio_context_t ctx, char *data, uint64_t *state)
{
	const bool write = random_below(state, 2);
	const unsigned int first = random_below(state, BLOCKS - DEPTH);
	struct iocb cbs[DEPTH], *ptrs[DEPTH];
	struct io_event events[DEPTH];
	unsigned int i, done = 0;

	for (i = 0; i < DEPTH; i++) {
		uint64_t *block = (uint64_t *)(data + i * BLOCK), n = first + i;

		if (write) {
			w->written[n] = *state + i;
			block[0] = block[BLOCK / 8 - 1] = w->written[n];
		}
		aio_prepare(&cbs[i], w->fd, block, ((uint64_t)w->id * BLOCKS + n) * BLOCK, write);
		ptrs[i] = &cbs[i];
	}
	/* Now and then one after the other, without a plug. */
	if (random_below(state, 2))
		aio_submit(ctx, ptrs, DEPTH);
	else
		for (i = 0; i < DEPTH; i++)
			aio_submit(ctx, &ptrs[i], 1);
	while (done < DEPTH)
		done += aio_wait(ctx, events, DEPTH);
	for (i = 0; i < DEPTH && !write; i++) {
		uint64_t *block = (uint64_t *)(data + i * BLOCK);

		if (block[0] != w->written[first + i] || block[BLOCK / 8 - 1] != w->written[first + i])
			die("a block", "differs from what was written");
	}
	atomic_fetch_add(&ios, DEPTH);
}

static void *run_writer(void *arg)
{
	struct writer *w = arg;
	uint64_t state = w->id + 99;
	aio_context_t ctx = aio_open(DEPTH);
	void *data;

	if (posix_memalign(&data, BLOCK, DEPTH * BLOCK))
		die("memory", "");
	memset(data, 0, DEPTH * BLOCK);
	while (!atomic_load(&stop)) {
		if (syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO(1 + random_below(&state, 3))))
			die("ioprio_set", "");
		round_of_io(w, ctx, data, &state);
		if (!random_below(&state, 8)) {
			if (fdatasync(w->fd))
				die("fdatasync", "");
			atomic_fetch_add(&flushes, 1);
		}
	}
	free(data);
	aio_close(ctx);
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* Until the time is over. Returns how often. */
static unsigned int switch_schedulers(const char *disk, unsigned int seconds)
{
	static const char *const names[] = { "none", "mq-deadline", "dd-stock", "dd-test" };
	const uint64_t end = now_ms() + seconds * 1000ull;
	unsigned int n = 0;

	while (now_ms() < end) {
		set_scheduler(disk, names[n++ % 4]);
		usleep(200000);
	}
	set_scheduler(disk, "mq-deadline");
	return n;
}

void stress(const char *disk, unsigned int threads, unsigned int seconds)
{
	struct writer *w = calloc(threads, sizeof(*w));
	unsigned int i, switched;

	for (i = 0; i < threads; i++) {
		w[i].id = i;
		w[i].fd = open_disk(disk);
		if (pthread_create(&w[i].thread, NULL, run_writer, &w[i]))
			die("pthread_create", "");
	}
	switched = switch_schedulers(disk, seconds);
	atomic_store(&stop, true);
	for (i = 0; i < threads; i++) {
		pthread_join(w[i].thread, NULL);
		close(w[i].fd);
	}
	free(w);
	printf("stress %s ios %llu flushes %llu switched %u\n", disk, ios, flushes, switched);
	ios = flushes = 0;
	stop = false;
}

struct rounds {
	pthread_barrier_t barrier;
	uint64_t first;		/* block of this round, 0 for no further one */
	int fd;
	atomic_uint next_id;
};

/* Blocks in a row, so that some are merged. */
static void *run_rounds(void *arg)
{
	struct rounds *r = arg;
	const unsigned int id = atomic_fetch_add(&r->next_id, 1);
	aio_context_t ctx = aio_open(1);
	struct io_event event;
	struct iocb cb, *cbs = &cb;
	uint64_t state = id + 1;
	void *data;

	if (posix_memalign(&data, BLOCK, BLOCK))
		die("memory", "");
	memset(data, id, BLOCK);
	for (;;) {
		pthread_barrier_wait(&r->barrier);
		if (!r->first)
			break;
		/* Not all at once: some find requests of others. */
		usleep(random_below(&state, 400));
		aio_prepare(&cb, r->fd, data, (r->first + id) * BLOCK, true);
		aio_submit(ctx, &cbs, 1);
		aio_wait(ctx, &event, 1);
		pthread_barrier_wait(&r->barrier);
	}
	free(data);
	aio_close(ctx);
	return NULL;
}

void rounds(const char *disk, unsigned int threads, unsigned int seconds)
{
	const uint64_t end = now_ms() + seconds * 1000ull;
	struct rounds r = { .fd = open_disk(disk) };
	pthread_t thread[threads];
	uint64_t state = 1;
	unsigned int i, n = 0;

	pthread_barrier_init(&r.barrier, NULL, threads + 1);
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, run_rounds, &r))
			die("pthread_create", "");
	while (now_ms() < end) {
		r.first = 1 + random_below(&state, 1024);
		pthread_barrier_wait(&r.barrier);
		pthread_barrier_wait(&r.barrier);
		n++;
	}
	r.first = 0;
	pthread_barrier_wait(&r.barrier);
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	close(r.fd);
	printf("rounds %s %u\n", disk, n);
}
