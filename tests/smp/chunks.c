// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunks DIR COUNT: what the allocation of a chunk costs, in units of the clock.
 *
 * Allocates COUNT times 128 MiB.  Most of these calls find space in a chunk that is
 * there; one that costs over twice as much as the median has made a chunk, and what
 * it cost more is the chunk's.  Prints the median of that and the number of chunks.
 *
 * Built with -DPRELOAD it is a library that leaves out writes of nothing but zeros:
 * mkfs.btrfs clears some MiB of each disk, and these disks are empty memory.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#ifdef PRELOAD
#include <dlfcn.h>
#include <string.h>

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	static ssize_t (*next)(int fd, const void *data, size_t size, off64_t offset);
	const char *byte = data;

	if (size > 4096 && !byte[0] && !memcmp(byte, byte + 1, size - 1))
		return (ssize_t)size;
	if (!next)
		next = dlsym(RTLD_NEXT, "pwrite64");
	return next(fd, data, size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return pwrite64(fd, data, size, offset);
}
#else
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEP (128LL << 20)

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const long long left = *(const long long *)a, right = *(const long long *)b;

	return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
	const int count = argc == 3 ? atoi(argv[2]) : 0;
	long long *cost = calloc(count + 1, sizeof(*cost)), begin;
	int file, found = 0;
	char name[32];

	if (!count || !cost || chdir(argv[1]))
		return 1;
	snprintf(name, sizeof(name), "chunks.%d", (int)getpid());
	file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	for (int i = 0; i < count; i++) {
		begin = now();
		if (fallocate(file, 0, i * STEP, STEP))
			return 1;
		cost[i] = now() - begin;
	}
	qsort(cost, count, sizeof(*cost), compare);
	while (found < count && cost[count - 1 - found] > 2 * cost[count / 2])
		found++;
	if (!found)
		return 1;
	printf("%lld %d\n", cost[count - 1 - found / 2] - cost[count / 2], found);
	return 0;
}
#endif
