// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first and only process of a machine with two processors: runs loads on
 * null_blk and on a SCSI disk, which wants a budget for each request, with
 * mq-deadline as it is in this kernel, as it is in the stock one (a module,
 * "dd-stock"), and with delays between its steps, perhaps broken ("dd-test").
 * Prints what the kernel counted, a line each:
 *	begin, when dd-test is loaded
 *	takes SCHEDULER THREADS LOCK_TAKES IOS
 *	merge|plugged SCHEDULER THREADS REQUESTS IOS PARKED_LOCK_TAKES
 *	stress DISK ios N flushes N switched N
 *	rounds DISK N
 *	inflight|queued|owned|parked DISK NUMBERS
 *	lockdep 1, while it looks
 *	end
 * With the argument "rounds" it only runs those, with dd-test.
 * Judges nothing: that is the script's on the host.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "load.h"

#define MAX_THREADS	64

static const char *const schedulers[] = { "dd-stock", "mq-deadline" };

static void mount_all(void)
{
	static const char *const what[][2] = {
		{ "proc", "/proc" }, { "sysfs", "/sys" }, { "devtmpfs", "/dev" },
		{ "debugfs", "/sys/kernel/debug" }, { "configfs", "/sys/kernel/config" },
	};
	size_t i;

	for (i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		mkdir(what[i][1], 0755);
		if (mount(what[i][0], what[i][1], what[i][0], 0, NULL))
			die("mount", what[i][1]);
	}
}

static void load_module(const char *file)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		die("load", file);
	close(fd);
}

/* Sums column number of the lines of lock_stat that are of this lock. */
static unsigned long long takes_of(const char *lock)
{
	static char text[1 << 20];
	unsigned long long takes = 0, n;
	char *line, *rest = text, *at;

	get("/proc/lock_stat", text, sizeof(text));
	while ((line = strsep(&rest, "\n"))) {
		at = line + strspn(line, " ");
		if (strncmp(at, lock, strlen(lock)) || !strchr(":#", at[strlen(lock)]))
			continue;
		at = strchr(at, ':');
		if (at && sscanf(at + 1, "%*s %*s %*s %*s %*s %*s %*s %llu", &n) == 1)
			takes += n;
	}
	return takes;
}

/* Of all locks that the scheduler has. */
static unsigned long long lock_takes(const char *scheduler)
{
	if (!strcmp(scheduler, "dd-stock"))
		return takes_of("&dd->stock_lock");
	return takes_of("&dd->lock") + takes_of("&dd->parked.lock");
}

/* Requests that the disk has completed for writing. */
static unsigned long long requests_written(const char *disk)
{
	unsigned long long n = 0;
	char file[64], text[512];

	snprintf(file, sizeof(file), "/sys/block/%s/stat", disk);
	get(file, text, sizeof(text));
	sscanf(text, "%*u %*u %*u %*u %llu", &n);
	return n;
}

/* It stops after its first complaint, whoever reads that. */
static void print_lockdep(void)
{
	static char text[1 << 16];
	const char *at;

	get("/proc/lockdep_stats", text, sizeof(text));
	at = strstr(text, "debug_locks:");
	printf("lockdep %d\n", at ? atoi(at + strlen("debug_locks:")) : -1);
}

static void run_threads(const char *disk, struct job like, unsigned int threads)
{
	pthread_t thread[MAX_THREADS];
	struct job jobs[MAX_THREADS];
	unsigned int i;

	like.fd = open_disk(disk);
	for (i = 0; i < threads; i++) {
		jobs[i] = like;
		jobs[i].id = i;
		if (pthread_create(&thread[i], NULL, run_job, &jobs[i]))
			die("pthread_create", "");
	}
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	close(like.fd);
}

/* A device that is faster than its users. */
static void count_takes(unsigned int threads)
{
	static const char *const settings[] = {
		"size=1024", "queue_mode=2", "irqmode=0", "submit_queues=1", "hw_queue_depth=128", NULL,
	};
	const struct job load = {
		.depth = 4, .batch = 4, .ios = 24000 / threads / 4 * 4, .span = 16 << 20,
	};
	unsigned int i;

	make_disk("nullb_count", settings);
	for (i = 0; i < 2; i++) {
		set_scheduler("nullb_count", schedulers[i]);
		put("/proc/lock_stat", "0");
		run_threads("nullb_count", load, threads);
		printf("takes %s %u %llu %llu\n", schedulers[i], threads, lock_takes(schedulers[i]),
		       (unsigned long long)load.ios * threads);
	}
	remove_disk("nullb_count");
}

/* A device that takes long: merging is what it needs. Several in a system call are plugged. */
static void count_merges(const char *name, unsigned int threads, unsigned int batch)
{
	static const char *const settings[] = {
		"size=1024", "queue_mode=2", "irqmode=2", "completion_nsec=2000000", "submit_queues=1",
		"hw_queue_depth=2", NULL,
	};
	const struct job load = {
		.depth = 16, .batch = batch, .ios = 32000 / threads / 4 * 4, .span = 16 << 20, .write = true, .sequential = true,
	};
	unsigned long long before;
	unsigned int i;

	make_disk("nullb_merge", settings);
	for (i = 0; i < 2; i++) {
		set_scheduler("nullb_merge", schedulers[i]);
		put("/sys/block/nullb_merge/queue/nr_requests", "64");
		put("/proc/lock_stat", "0");
		before = requests_written("nullb_merge");
		run_threads("nullb_merge", load, threads);
		printf("%s %s %u %llu %llu %llu\n", name, schedulers[i], threads, requests_written("nullb_merge") - before,
		       (unsigned long long)load.ios * threads, takes_of("&dd->parked.lock"));
	}
	remove_disk("nullb_merge");
}

/* What is left of requests when all have ended. */
static void print_rest(const char *disk)
{
	static const char *const files[][2] = {
		{ "inflight", "/sys/block/%s/inflight" },
		{ "queued", "/sys/kernel/debug/block/%s/sched/queued" },
		{ "owned", "/sys/kernel/debug/block/%s/sched/owned_by_driver" },
		{ "parked", "/sys/kernel/debug/block/%s/sched/parked" },
	};
	char file[128], text[256];
	unsigned int i, tries;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(file, sizeof(file), files[i][1], disk);
		/* The last one may still be on its way out. */
		for (tries = 0; tries < 500; tries++) {
			get(file, text, sizeof(text));
			if (!text[strspn(text, " \t0\n")])
				break;
			usleep(10000);
		}
		printf("%s %s %s", files[i][0], disk, text);
	}
}

/* Two hardware queues, a cache to flush, and one request in 50 given back by the driver. */
static void make_stress_disk(void)
{
	static const char *const settings[] = {
		"size=64", "queue_mode=2", "irqmode=2", "completion_nsec=50000", "submit_queues=2", "hw_queue_depth=8",
		"memory_backed=1", "cache_size=1", "requeue_inject/interval=50",
		"requeue_inject/probability=100", "requeue_inject/times=-1", "requeue_inject/verbose=0", NULL,
	};

	make_disk("nullb_stress", settings);
}

/* The SCSI disk says now and then that it is busy. */
static void run_stress(unsigned int seconds)
{
	make_stress_disk();
	put("/sys/bus/pseudo/drivers/scsi_debug/opts", "0x8000");
	put("/sys/bus/pseudo/drivers/scsi_debug/every_nth", "50");
	stress("nullb_stress", 16, seconds);
	print_rest("nullb_stress");
	stress("sda", 16, seconds);
	print_rest("sda");
	put("/sys/bus/pseudo/drivers/scsi_debug/every_nth", "0");
}

static void run_rounds_on(const char *disk, unsigned int seconds)
{
	set_scheduler(disk, "dd-test");
	rounds(disk, 6, seconds);
	print_rest(disk);
}

int main(int argc, char **argv)
{
	static const unsigned int threads[] = { 1, 8, 32, 64 };
	const unsigned int seconds = argc > 2 ? atoi(argv[2]) : 20;
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	mount_all();
	load_module("/dd-test.ko");
	puts("begin");
	if (argc > 1 && !strcmp(argv[1], "rounds")) {
		make_stress_disk();
		run_rounds_on("nullb_stress", seconds);
		run_rounds_on("sda", seconds);
		print_lockdep();
		puts("end");
		fflush(stdout);
		reboot(RB_AUTOBOOT);
	}
	load_module("/dd-stock.ko");
	for (i = 0; i < 4; i++)
		count_takes(threads[i]);
	for (i = 0; i < 4; i++)
		count_merges("merge", threads[i], 1);
	for (i = 0; i < 4; i++)
		count_merges("plugged", threads[i], 4);
	run_stress(20);
	run_rounds_on("nullb_stress", 20);
	run_rounds_on("sda", 20);
	print_lockdep();
	puts("end");
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 0;
}
