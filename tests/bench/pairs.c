/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairs NUMBER NAME COMMAND... -- COMMAND...: runs both commands in turn, so that
 * both see the same machine, and prints the medians of their times, of the
 * difference and of the ratio, and the first one's memory.  Output goes nowhere.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 10000

extern char **environ;

static long memory_kib;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static double run(char **argv, bool first)
{
	posix_spawn_file_actions_t actions;
	double start = now_ms();
	struct rusage usage;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) ||
	    wait4(pid, NULL, 0, &usage) < 0)
		exit(1);
	posix_spawn_file_actions_destroy(&actions);
	if (first && usage.ru_maxrss > memory_kib)
		memory_kib = usage.ru_maxrss;
	return now_ms() - start;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, int count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

int main(int argc, char **argv)
{
	static double left[MOST], right[MOST], difference[MOST], ratio[MOST];
	int count = argc > 4 ? atoi(argv[1]) : 0, second = 3;

	while (second < argc && strcmp(argv[second], "--"))
		second++;
	if (count < 1 || count > MOST || second + 1 >= argc)
		return 2;
	argv[second++] = NULL;
	for (int i = 0; i < count; i++) {
		left[i] = run(argv + 3, true);
		right[i] = run(argv + second, false);
		difference[i] = left[i] - right[i];
		ratio[i] = left[i] / right[i];
	}
	printf("# %-28s %6.2f ms beside %6.2f ms: %+6.2f ms, %5.2f times; %ld KiB\n", argv[2],
	       median(left, count), median(right, count), median(difference, count),
	       median(ratio, count), memory_kib);
	return 0;
}
