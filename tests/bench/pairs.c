/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairs NUMBER NAME COMMAND... -- COMMAND...: runs both commands in turn, so that
 * both see the same machine, and prints a row: the medians of the times that
 * passed, of their difference and ratio, the same of the processor's time, which
 * other work on the machine hardly changes, and the first one's memory.  Output
 * goes nowhere.
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

struct series {
	double first[MOST], second[MOST], difference[MOST], ratio[MOST];
};

static struct series passed, processor;
static long memory_kib;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static double cpu_ms(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e3;
}

static struct rusage run(char **argv, double *passed_ms, double *processor_ms)
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
	*passed_ms = now_ms() - start;
	*processor_ms = cpu_ms(&usage);
	return usage;
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

static void finish(struct series *series, int i)
{
	series->difference[i] = series->first[i] - series->second[i];
	series->ratio[i] = series->second[i] > 0 ? series->first[i] / series->second[i] : 0;
}

static void print(struct series *series, int count)
{
	printf(" %7.2f | %7.2f | %+7.2f | %6.2f |", median(series->first, count),
	       median(series->second, count), median(series->difference, count),
	       median(series->ratio, count));
}

int main(int argc, char **argv)
{
	int count = argc > 4 ? atoi(argv[1]) : 0, second = 3;

	while (second < argc && strcmp(argv[second], "--"))
		second++;
	if (count < 1 || count > MOST || second + 1 >= argc)
		return 2;
	argv[second++] = NULL;
	for (int i = 0; i < count; i++) {
		struct rusage usage = run(argv + 3, &passed.first[i], &processor.first[i]);

		if (usage.ru_maxrss > memory_kib)
			memory_kib = usage.ru_maxrss;
		run(argv + second, &passed.second[i], &processor.second[i]);
		finish(&passed, i);
		finish(&processor, i);
	}
	printf("| %s |", argv[2]);
	print(&passed, count);
	print(&processor, count);
	printf(" %.1f |\n", memory_kib / 1024.0);
	return 0;
}
