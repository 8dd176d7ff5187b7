// SPDX-License-Identifier: GPL-2.0-only
/*
 * The load of one thread, and the disks it goes to. Owns no figure: who calls it
 * asks the kernel what it counted.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "load.h"

#define CONFIGFS "/sys/kernel/config/nullb/"

void die(const char *what, const char *on)
{
	printf("failed %s %s: %m\n", what, on);
	fflush(stdout);
	sleep(1);
	reboot(RB_AUTOBOOT);
	abort();
}

void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(text, file);
	close(fd);
}

void get(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY);
	ssize_t n, len = 0;

	if (fd < 0)
		die("open", file);
	while ((n = read(fd, text + len, size - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	close(fd);
}

uint64_t random_below(uint64_t *state, uint64_t limit)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % limit;
}

aio_context_t aio_open(unsigned int depth)
{
	aio_context_t ctx = 0;

	if (syscall(SYS_io_setup, depth, &ctx))
		die("io_setup", "");
	return ctx;
}

void aio_prepare(struct iocb *cb, int fd, void *data, uint64_t at, bool write)
{
	memset(cb, 0, sizeof(*cb));
	cb->aio_lio_opcode = write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
	cb->aio_fildes = fd;
	cb->aio_buf = (uintptr_t)data;
	cb->aio_nbytes = BLOCK;
	cb->aio_offset = at;
	cb->aio_data = (uintptr_t)cb;
}

void aio_submit(aio_context_t ctx, struct iocb **cbs, unsigned int nr)
{
	if (syscall(SYS_io_submit, ctx, nr, cbs) != nr)
		die("io_submit", "");
}

unsigned int aio_wait(aio_context_t ctx, struct io_event *events, unsigned int max)
{
	struct timespec patience = { .tv_sec = PATIENCE };
	int nr = syscall(SYS_io_getevents, ctx, 1, max, events, &patience);
	int i;

	if (!nr)
		die("an I/O", "never ends");
	if (nr < 1)
		die("io_getevents", "");
	for (i = 0; i < nr; i++)
		if (events[i].res != BLOCK)
			die("an I/O", "");
	return nr;
}

void aio_close(aio_context_t ctx)
{
	syscall(SYS_io_destroy, ctx);
}

static uint64_t next_place(struct job *j, uint64_t n, uint64_t *state)
{
	const uint64_t blocks = j->span / BLOCK;

	return j->id * j->span + BLOCK * (j->sequential ? n % blocks : random_below(state, blocks));
}

/* Each time a batch is back, the next one. */
void *run_job(void *job)
{
	struct job *j = job;
	uint64_t started = 0, done = 0, state = j->id + 1;
	unsigned int nr_free = j->depth, i, n;
	struct iocb cbs[j->depth], *free_cbs[j->depth], *batch[j->batch];
	struct io_event events[j->depth];
	aio_context_t ctx = aio_open(j->depth);
	void *data;

	if (posix_memalign(&data, BLOCK, BLOCK))
		die("memory", "");
	memset(data, j->id, BLOCK);
	for (i = 0; i < j->depth; i++)
		free_cbs[i] = &cbs[i];
	while (done < j->ios) {
		while (nr_free >= j->batch && started < j->ios) {
			for (n = 0; n < j->batch; n++) {
				batch[n] = free_cbs[--nr_free];
				aio_prepare(batch[n], j->fd, data, next_place(j, started++, &state), j->write);
			}
			aio_submit(ctx, batch, j->batch);
		}
		n = aio_wait(ctx, events, j->depth);
		done += n;
		while (n--)
			free_cbs[nr_free++] = (struct iocb *)(uintptr_t)events[n].data;
	}
	aio_close(ctx);
	free(data);
	return NULL;
}

void make_disk(const char *name, const char *const *settings)
{
	char dir[128], file[256], word[64], *value;

	snprintf(dir, sizeof(dir), CONFIGFS "%s", name);
	if (mkdir(dir, 0755))
		die("mkdir", dir);
	for (; *settings; settings++) {
		snprintf(word, sizeof(word), "%s", *settings);
		value = strchr(word, '=');
		*value++ = '\0';
		snprintf(file, sizeof(file), "%s/%s", dir, word);
		put(file, value);
	}
	snprintf(file, sizeof(file), "%s/power", dir);
	put(file, "1");
}

void remove_disk(const char *name)
{
	char dir[128];

	snprintf(dir, sizeof(dir), CONFIGFS "%s", name);
	if (rmdir(dir))
		die("rmdir", dir);
}

void set_scheduler(const char *disk, const char *scheduler)
{
	char file[128];

	snprintf(file, sizeof(file), "/sys/block/%s/queue/scheduler", disk);
	put(file, scheduler);
}

int open_disk(const char *disk)
{
	char file[64];
	int fd;

	snprintf(file, sizeof(file), "/dev/%s", disk);
	fd = open(file, O_RDWR | O_DIRECT);
	if (fd < 0)
		die("open", file);
	return fd;
}
