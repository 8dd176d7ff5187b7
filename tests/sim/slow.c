// SPDX-License-Identifier: GPL-2.0-only
/*
 * A member becomes ten times slower, or stalls, and recovers: what a reader sends to it meanwhile,
 * beyond one probe a second, and when it is used again.  Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include "sim.h"

#define SLOW_AT		(2LL * NSEC_PER_SEC)
#define END_AT		(12LL * NSEC_PER_SEC)
#define STEP		(100 * NSEC_PER_MSEC)

static const struct test {
	const char *name, *disk;
	int copies, depth;
	/* Reads that the slow member may get from 100 ms to 3 s after it became slow: one a second and the last that was chosen, on flash of thousands. */
	u64 most;
	/* Other tasks that read 4 KiB ten times a second, so that no device rests. */
	int beside;
	/* It is 200 times slower for 0.4 s. */
	bool stalls;
} tests[] = {
	{ "three hard disks, stream", "hdd", 3, 0, 4 },
	{ "two hard disks, stream", "hdd", 2, 0, 4 },
	{ "two SSD, stream", "ssd", 2, 0, 100 },
	{ "two NVMe, stream", "nvme", 2, 0, 12 },
	{ "two SSD, stream beside small reads", "ssd", 2, 0, 130, 1 },
	{ "two hard disks, stream beside small reads", "hdd", 2, 0, 40, 2 },
	{ "two hard disks that stall, stream", "hdd", 2, 0, 4, 0, true },
	{ "two hard disks that stall, stream beside small reads", "hdd", 2, 0, 40, 3, true },
	{ "three hard disks that stall, stream beside small reads", "hdd", 3, 0, 40, 3, true },
	{ "three hard disks, random 4", "hdd", 3, 4, 40 },
	{ "two SSD, random 1", "ssd", 2, 1, 30 },
	{ "two NVMe, random 1", "nvme", 2, 1, 30 },
	{ "three hard disks with tracks, stream", "track", 3, 0, 4 },
	{ "two hard disks with tracks that stall, stream beside small reads", "track", 2, 0, 40, 3, true },
	{ "three hard disks with tracks, random 4", "track", 3, 4, 40 },
};

struct watch { u64 begin, again_at, reads, used; int percent; };

/* The first member's share of all reads in the next step, in percent. */
static int share(void)
{
	u64 first = disks[0].reads, all = 0;

	for (int i = 0; i < nr_disks; i++)
		all -= disks[i].reads;
	task_sleep(STEP);
	for (int i = 0; i < nr_disks; i++)
		all += disks[i].reads;
	return all ? 100 * (disks[0].reads - first) / all : 0;
}

static void watch(struct task *task)
{
	struct watch *w = task->arg;

	task_sleep(SLOW_AT);
	lm_set_slow(disks[0].model, sim_now, w->percent);
	task_sleep(STEP);
	w->reads = disks[0].reads;
	task_sleep(w->again_at - SLOW_AT - STEP);
	w->reads = disks[0].reads - w->reads;
	lm_set_slow(disks[0].model, sim_now, 100);
	while (sim_now < w->begin + END_AT - STEP)
		if (share() >= 60 / nr_disks && !w->used)
			w->used = sim_now - w->begin - w->again_at;
}

static void beside(struct task *task)
{
	struct job once;
	const struct job *job = task->arg;

	once = (struct job){ .files = job->files, .nr_files = 1, .block = 4096, .depth = 1 };
	task->arg = &once;
	while (sim_now < job->stop_at) {
		once.seed = sim_now;
		once.stop_at = sim_now + 1;
		job_random(task);
		task_sleep(STEP);
	}
	task->arg = (void *)job;
}

int main(void)
{
	int n = 0, failed = 0;

	for (const struct test *t = tests; t < tests + sizeof(tests) / sizeof(*tests); t++)
		for (u64 seed = 1; seed <= 3; seed++) {
			const struct file file = { 32 * SIM_MIB, 640 * SIM_MIB, 0 };
			struct job job = {
				.files = &file, .nr_files = 1, .ra_bytes = 4 * SIM_MIB, .bio_bytes = SIM_MIB,
				.block = t->depth ? 4096 : 131072, .depth = t->depth, .seed = seed,
			};
			struct watch w = { .again_at = SLOW_AT + (t->stalls ? 4 * STEP : 3 * NSEC_PER_SEC),
					   .percent = t->stalls ? 20000 : 1000 };
			bool left, again;

			sim_reset();
			block_reset();
			for (int i = 0; i < t->copies; i++)
				block_add_disk(t->disk, "", seed * 10 + i);
			array_policy = ROUNDROBIN;
			array_reset((struct array_layout){ t->copies }, seed, false);
			w.begin = sim_now;
			job.stop_at = sim_now + END_AT;
			task_start(1200 + seed, t->depth ? job_random : job_stream, &job);
			for (int i = 0; i < t->beside; i++)
				task_start(7 + i, beside, &job);
			task_start(1, watch, &w);
			sim_run(NULL);
			left = w.reads <= t->most;
			again = w.used && w.used <= 5 * NSEC_PER_SEC;
			printf("%sok %d - %s, seed %llu: left after 100 ms (%llu reads)\n", left ? "" : "not ", ++n, t->name,
			       (unsigned long long)seed, (unsigned long long)w.reads);
			printf("%sok %d - %s, seed %llu: used again within 5 s (%llu ms)\n", again ? "" : "not ", ++n, t->name,
			       (unsigned long long)seed, (unsigned long long)(w.used / NSEC_PER_MSEC));
			failed += !left + !again;
		}
	printf("1..%d\n", n);
	return failed != 0;
}
