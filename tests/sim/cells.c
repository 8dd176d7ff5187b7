// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read policies against each other: arrays, workloads, and the table of both.
 *
 *	sim [-s SEEDS] [-f FIRST] [-k KIND] [-d WORDS] [-p PID] [-n ROT,NONROT] [-b] [-t] [-r] [ARRAY[/WORKLOAD]...]
 *
 * -k makes all hard disks of a kind, hdd or track, -d changes their model, for example
 * to rpm=5400 or readahead=0, -t traces the reads of roundrobin, -r prints its figures alone.
 * -p is the process id of the first task with the first seed; -b gives pid its best one of each seed.
 * -n sets both penalties, for chunks that are not mixed, too.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "sim.h"

#define HDD	"hdd"
#define SLOW	"hdd:rpm=5400,rate=120M,seek=1.2ms,stroke=18ms"
#define MIDDLE	"hdd:rate=180M"
#define FAST	"hdd:rate=240M"
#define SMALL	"hdd:rate=110M,rpm=5400"
#define LOADED	"hdd:load=70,load_period=100ms"
#define QUEUE1	"hdd:queue=1"

static const struct array {
	const char *name;
	struct array_layout layout;
	const char *disks[DISKS_MAX];
} arrays[] = {
	{ "2hdd", { 2 }, { HDD, HDD } },
	{ "3hdd", { 3 }, { HDD, HDD, HDD } },
	{ "4hdd", { 4 }, { HDD, HDD, HDD, HDD } },
	{ "raid10", { 2, true }, { HDD, HDD, HDD, HDD } },
	{ "queue1", { 3 }, { QUEUE1, QUEUE1, QUEUE1 } },
	{ "hdd+slow", { 2 }, { HDD, SLOW } },
	{ "2unequal", { 2 }, { FAST, MIDDLE } },
	{ "unequal", { 3 }, { FAST, MIDDLE, SMALL } },
	{ "2hdd-loaded", { 2 }, { LOADED, HDD } },
	{ "3hdd-loaded", { 3 }, { LOADED, HDD, HDD } },
	{ "2hdd+ssd", { 3 }, { HDD, HDD, "ssd" } },
	{ "hdd+ssd", { 2 }, { HDD, "ssd" } },
	{ "ssd+nvme", { 2 }, { "ssd", "nvme" } },
	{ "2ssd", { 2 }, { "ssd", "ssd" } },
	{ "2nvme", { 2 }, { "nvme", "nvme" } },
};

enum kind { STREAMS, FILES, DIRECT, RANDOM, MIX };

static const struct workload {
	const char *name;
	enum kind kind;
	int tasks;
	/* Of STREAMS readahead in MiB, of FILES the sizes in KiB, of others block in KiB and depth. */
	u32 a, b;
	bool cold;
} workloads[] = {
	{ "seq1", STREAMS, 1, 4 },
	{ "seq2", STREAMS, 2, 4 },
	{ "seq3", STREAMS, 3, 4 },
	{ "seq4", STREAMS, 4, 4 },
	{ "seq6", STREAMS, 6, 4 },
	{ "seq8", STREAMS, 8, 4 },
	{ "seq32", STREAMS, 32, 4 },
	{ "seq64", STREAMS, 64, 4 },
	{ "seq1-16M", STREAMS, 1, 16 },
	{ "seq1-cold", STREAMS, 1, 4, 0, true },
	{ "seq2-cold", STREAMS, 2, 4, 0, true },
	{ "seq3-cold", STREAMS, 3, 4, 0, true },
	{ "seq4-cold", STREAMS, 4, 4, 0, true },
	{ "seq8-cold", STREAMS, 8, 4, 0, true },
	{ "source1", FILES, 1, 4, 32 },
	{ "source1-cold", FILES, 1, 4, 32, true },
	{ "tiny2", FILES, 2, 16, 256 },
	{ "tiny3", FILES, 3, 16, 256 },
	{ "small1", FILES, 1, 300, 1000 },
	{ "small2", FILES, 2, 300, 1000 },
	{ "small3", FILES, 3, 300, 1000 },
	{ "small4", FILES, 4, 300, 1000 },
	{ "small6", FILES, 6, 300, 1000 },
	{ "small2-cold", FILES, 2, 300, 1000, true },
	{ "small3-cold", FILES, 3, 300, 1000, true },
	{ "medium2", FILES, 2, 1000, 3000 },
	{ "medium3", FILES, 3, 1000, 3000 },
	{ "medium3-cold", FILES, 3, 1000, 3000, true },
	{ "large3", FILES, 3, 4000, 12000 },
	{ "large4", FILES, 4, 4000, 12000 },
	{ "dio1", DIRECT, 1, 1024, 1 },
	{ "dio1M4", DIRECT, 1, 1024, 4 },
	{ "dio64k", DIRECT, 1, 64, 8 },
	{ "rand1", RANDOM, 1, 4, 1 },
	{ "rand4", RANDOM, 1, 4, 4 },
	{ "rand32", RANDOM, 1, 4, 32 },
	{ "rand128", RANDOM, 1, 4, 128 },
	{ "rand8x1", RANDOM, 8, 4, 1 },
	{ "rand256k", RANDOM, 1, 256, 4 },
	{ "mix1", MIX, 1, 4, 4 },
};

/* Which go together: streams and files on disks, few of them on flash. */
static const char * const cells[] = {
	"2hdd: seq1 seq2 seq3 seq4 seq8 seq1-cold seq2-cold seq4-cold tiny2 small1 small2 small4 small2-cold medium2 dio1 rand1 rand4 rand32 rand256k mix1",
	"3hdd: seq1 seq2 seq3 seq4 seq6 seq8 seq64 seq1-16M seq1-cold seq2-cold seq3-cold source1 source1-cold tiny3 small1 small2 small3 small6 small3-cold medium3 medium3-cold large3 large4 dio1 dio64k rand1 rand4 rand32 rand8x1 rand256k mix1",
	"4hdd: seq1 seq2 seq4 seq8 seq4-cold seq8-cold small4 rand1 rand32",
	"raid10: seq1 seq2 seq4 seq8 seq2-cold seq4-cold seq8-cold small4 rand1 rand32",
	"queue1: seq1 seq3 rand4",
	"hdd+slow: seq1 seq2 seq4 dio1 rand1 rand32",
	"2unequal: seq1 dio1",
	"unequal: seq1 seq3 small3 rand1 rand4 mix1",
	"2hdd-loaded: seq1 seq3 rand1 rand32",
	"3hdd-loaded: seq1 seq3 small3 rand1 rand32",
	"2hdd+ssd: seq1 seq2 seq4 seq8 small3 rand1 rand32 mix1",
	"hdd+ssd: seq1 seq2 rand1 rand32 rand128",
	"ssd+nvme: seq1 seq2 seq8 dio1 rand1 rand32 rand128",
	"2ssd: seq1 seq2 dio1 rand1 rand32",
	"2nvme: seq1 seq2 dio1 rand1 rand32 rand128",
};

struct result { double value, beside; };

static const char *model = "";

static void fill_files(struct file *files, int n, int task, const struct workload *w, u64 seed)
{
	/* Readers of trees each have a place of their own. */
	u64 at = 64 * SIM_MIB + task * 400 * SIM_MIB;

	for (int i = 0; i < n; i++) {
		u64 size = (w->a + lm_hash(seed * 100 + task, i) % (w->b - w->a)) << 10;

		/* Whole sectors are read, so nothing is left out between two files. */
		files[i] = (struct file){ at, round_up(size, 4096), task * 2000 + i };
		at += files[i].size;
	}
}

/* The files that a task reads, and how many. */
static struct file *make_files(const struct workload *w, enum kind kind, int task, int tasks, u64 seed, int *nr)
{
	const int share = tasks > 8 ? 4 : 1;
	struct file *files;

	*nr = kind == FILES ? min(100 * SIM_MIB / ((w->a + w->b) / 2 << 10), 600) : 1;
	files = calloc(*nr, sizeof(*files));
	if (kind == FILES)
		fill_files(files, *nr, task, w, seed);
	else if (w->kind == MIX || (kind == STREAMS && tasks == 1))
		*files = (struct file){ task * 1000 * SIM_MIB + 32 * SIM_MIB, 640 * SIM_MIB, task * 40 };
	else if (kind == STREAMS)
		*files = (struct file){ 700 * SIM_MIB + task * 96 * SIM_MIB / share, 96 * SIM_MIB / share, task * 40 };
	else
		*files = (struct file){ 32 * SIM_MIB, 640 * SIM_MIB, 0 };
	return files;
}

static void make_job(struct job *job, const struct array *array, const struct workload *w, enum kind kind, u64 begin)
{
	job->ra_bytes = kind == STREAMS ? w->a * SIM_MIB : 4 * SIM_MIB;
	job->block = 128 << 10;
	job->depth = 1;
	if (kind == DIRECT || kind == RANDOM) {
		job->block = w->kind == MIX ? 4096 : w->a << 10;
		job->depth = w->b;
	}
	if (kind == RANDOM)
		job->stop_at = begin + (array->disks[0][0] == 'h' ? 6 : 1) * NSEC_PER_SEC;
	if (w->kind == MIX)
		job->stop_at = begin + 2500 * NSEC_PER_MSEC;
}

static void print_disks(u64 ns)
{
	for (int i = 0; i < nr_disks; i++) {
		const struct sim_disk *disk = &disks[i];

		fprintf(stderr, "disk %d: %llu reads, %llu MiB, seek %u us, unit %u us, busy %.0f %%, "
			"%llu seeks, seek %llu rot %llu media %llu ms\n", i, (unsigned long long)disk->reads,
			(unsigned long long)disk->read_bytes >> 20, disk->dev.read_load.seek_ns / 1000,
			disk->dev.read_load.unit_ns / 1000, disk->model->st.busy_ns * 100.0 / ns,
			(unsigned long long)disk->model->st.seeks, (unsigned long long)disk->model->st.seek_ns / 1000000,
			(unsigned long long)disk->model->st.rot_ns / 1000000,
			(unsigned long long)disk->model->st.media_ns / 1000000);
	}
}

static struct result measure(const struct workload *w, const struct job *jobs, int tasks, u64 begin)
{
	struct result r = { };
	u64 bytes = 0, ended = 0;

	for (int t = 0; t < (w->kind == MIX ? 1 : tasks); t++) {
		bytes += jobs[t].bytes;
		ended = max(ended, jobs[t].ended);
	}
	r.value = w->kind == RANDOM ? bytes / (w->a << 10) * 1e9 / (ended - begin) : bytes * 1e9 / (ended - begin) / SIM_MIB;
	if (w->kind == MIX)
		r.beside = jobs[1].bytes / 4096 * 1e9 / (jobs[1].ended - begin);
	if (getenv("SIM_STATE"))
		print_disks(ended - begin);
	return r;
}

static struct result run(const struct array *array, const struct workload *w, enum policy policy, u64 seed, u32 pid)
{
	const int tasks = w->kind == MIX ? 2 : w->tasks;
	struct job jobs[64] = { };
	struct file *files[64];
	struct result r;
	u64 begin;

	sim_reset();
	block_reset();
	for (int i = 0; i < DISKS_MAX && array->disks[i]; i++)
		block_add_disk(array->disks[i], model, seed * 10 + i);
	array_policy = policy;
	array_reset(array->layout, seed, w->cold);
	sim_now += lm_hash(seed, 99) % (50 * NSEC_PER_MSEC);
	begin = sim_now;
	for (int t = 0; t < tasks; t++) {
		const enum kind kind = w->kind == MIX ? (t ? RANDOM : STREAMS) : w->kind;
		struct job *job = &jobs[t];

		make_job(job, array, w, kind, begin);
		job->seed = seed * 1000 + t;
		job->bio_bytes = seed % 2 ? SIM_MIB : 8 * SIM_MIB;
		job->files = files[t] = make_files(w, kind, t, tasks, seed, &job->nr_files);
		task_start(pid + t, kind == RANDOM ? job_random : kind == DIRECT ? job_direct : job_stream, job);
	}
	sim_run(NULL);
	r = measure(w, jobs, tasks, begin);
	for (int t = 0; t < tasks; t++)
		free(files[t]);
	return r;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int first_seed = 1, first_pid = 1200, seeds = 5;
static bool trace, alone, best_pid;

/* One figure for a cell that may have two. */
static double whole(const struct result *r)
{
	return r->beside ? sqrt(r->value * r->beside) : r->value;
}

/* Tasks have consecutive process ids; the first is that of the seed, the same for all policies, or with -b the best for pid. */
static struct result median(const struct array *array, const struct workload *w, enum policy policy)
{
	double value[100], beside[100];

	for (int s = 0; s < seeds; s++) {
		struct result best = { };

		for (int k = 0; k < (policy == PID && best_pid ? array->layout.copies : 1); k++) {
			struct result r = run(array, w, policy, first_seed + s, first_pid + s + k);

			if (whole(&r) > whole(&best))
				best = r;
		}
		value[s] = best.value;
		beside[s] = best.beside;
	}
	qsort(value, seeds, sizeof(double), compare);
	qsort(beside, seeds, sizeof(double), compare);
	return (struct result){ value[seeds / 2], beside[seeds / 2] };
}

static bool wanted(int argc, char **argv, const char *array, const char *workload)
{
	if (!argc)
		return true;
	for (int i = 0; i < argc; i++) {
		const char *slash = strchr(argv[i], '/');
		size_t len = slash ? (size_t)(slash - argv[i]) : strlen(argv[i]);

		if ((!len || (strlen(array) == len && !strncmp(array, argv[i], len))) &&
		    (!slash || !strcmp(slash + 1, workload)))
			return true;
	}
	return false;
}

static void print_cell(const struct array *array, const struct workload *w)
{
	struct result pid, queue, md, rr;
	double best, ratio;

	array_trace = trace;
	rr = median(array, w, ROUNDROBIN);
	array_trace = false;
	if (alone) {
		printf("%s/%s %.1f\n", array->name, w->name, whole(&rr));
		return;
	}
	pid = median(array, w, PID);
	queue = median(array, w, LEAST_QUEUE);
	md = median(array, w, MD);
	best = max(max(whole(&pid), whole(&queue)), whole(&md));
	ratio = whole(&rr) / best;
	printf("%-12s %-13s %8.0f %8.0f %8.0f %8.0f %6.2f %6.2f%s", array->name, w->name, pid.value, queue.value, md.value,
	       rr.value, rr.value / pid.value, ratio, ratio < 0.97 ? " <" : "");
	if (w->kind == MIX)
		printf("  beside %.0f %.0f %.0f %.0f", pid.beside, queue.beside, md.beside, rr.beside);
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "s:f:k:d:p:n:btr")) != -1) {
		if (c == 's')
			seeds = atoi(optarg);
		else if (c == 'f')
			first_seed = atoi(optarg);
		else if (c == 'p')
			first_pid = atoi(optarg);
		else if (c == 'n' && sscanf(optarg, "%u,%u", &array_settings.rot_nonlocal_inc, &array_settings.nonrot_nonlocal_inc) == 2)
			array_settings.nonlocal_inc_mixed_only = 0;
		else if (c == 'k' && (!strcmp(optarg, "hdd") || !strcmp(optarg, "track")))
			block_hard_disk = optarg;
		else if (c == 'd')
			model = optarg;
		else if (c == 'r')
			alone = true;
		else if (c == 't')
			trace = true;
		else if (c == 'b')
			best_pid = true;
		else
			return 2;
	}
	if (!alone)
		printf("%-12s %-13s %8s %8s %8s %8s %6s %6s\n", "", "", "pid", "queue", "md", "rr", "/pid", "/best");
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		char text[600], *word;
		const struct array *array = arrays;

		strcpy(text, cells[i]);
		word = strtok(text, ": ");
		while (strcmp(array->name, word))
			array++;
		while ((word = strtok(NULL, " "))) {
			const struct workload *w = workloads;

			while (strcmp(w->name, word))
				w++;
			if (wanted(argc - optind, argv + optind, array->name, w->name))
				print_cell(array, w);
		}
	}
	return 0;
}
