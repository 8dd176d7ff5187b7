/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guest's two halves share: asynchronous I/O without a library, and small
 * files of the kernel. Everything here ends the machine if it cannot be done.
 */
#ifndef MQ_DEADLINE_LOAD_H
#define MQ_DEADLINE_LOAD_H

#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define BLOCK	4096
/* No I/O takes that long. */
#define PATIENCE	60	/* s */

/* One thread's load: so many I/Os, so many under way, so many in one system call. */
struct job {
	int fd;
	unsigned int id, depth, batch;
	uint64_t ios, span;
	bool write, sequential;
};

void die(const char *what, const char *on) __attribute__((noreturn));
void put(const char *file, const char *text);
void get(const char *file, char *text, size_t size);
uint64_t random_below(uint64_t *state, uint64_t limit);

aio_context_t aio_open(unsigned int depth);
void aio_prepare(struct iocb *cb, int fd, void *data, uint64_t at, bool write);
void aio_submit(aio_context_t ctx, struct iocb **cbs, unsigned int nr);
/* At least one, of at most @max. */
unsigned int aio_wait(aio_context_t ctx, struct io_event *events, unsigned int max);
void aio_close(aio_context_t ctx);

void *run_job(void *job);

/* Makes /dev/NAME, a null_blk; settings are "name=value" words, the last one NULL. */
void make_disk(const char *name, const char *const *settings);
void remove_disk(const char *name);
void set_scheduler(const char *disk, const char *scheduler);
int open_disk(const char *disk);

void stress(const char *disk, unsigned int threads, unsigned int seconds);
void rounds(const char *disk, unsigned int threads, unsigned int seconds);

#endif
