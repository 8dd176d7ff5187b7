// SPDX-License-Identifier: GPL-2.0-only
/* What tasks do with files: buffered streams with readahead, direct reads, random reads. */
#include <stdlib.h>
#include "sim.h"

#define PAGE		4096ull

/* A file while it is read: which pages have come, and the state of its readahead. */
struct reader {
	struct job *job;
	struct task *task;
	const struct file *file;
	u8 *page;
	u64 sent;
	/* In pages, as struct file_ra_state. */
	u64 start, size, async_size;
};

static void stream_end(struct sim_bio *bio)
{
	struct reader *r = bio->private;

	memset(r->page + bio->offset / PAGE, 1, DIV_ROUND_UP(bio->bio.bi_iter.bi_size, PAGE));
	task_wake(r->task);
}

/* Sends the window, in bios of what fits into one. */
static void send_window(struct reader *r)
{
	const u64 end = min((r->start + r->size) * PAGE, r->file->size);
	struct plug plug;

	block_plug(&plug);
	while (r->sent < end) {
		const u64 at = r->sent, n = min(end - at, r->job->bio_bytes);

		r->sent += n;
		array_read(r->file->logical + at, n, stream_end, r, at);
	}
	block_unplug();
}

static u64 next_size(u64 cur, u64 most)
{
	if (cur < most / 16)
		return 4 * cur;
	return min(cur * 2, most);
}

static void first_window(struct reader *r, u64 page, u64 wanted)
{
	const u64 most = r->job->ra_bytes / PAGE;
	u64 size = 1;

	while (size < wanted)
		size *= 2;
	size = size <= most / 32 ? size * 4 : size <= most / 4 ? size * 2 : most;
	r->start = page;
	r->size = size;
	r->async_size = size > wanted ? size - wanted : size;
	send_window(r);
}

static void next_window(struct reader *r)
{
	r->start += r->size;
	r->size = next_size(r->size, r->job->ra_bytes / PAGE);
	r->async_size = r->size;
	if (r->start * PAGE < r->file->size)
		send_window(r);
}

static void read_file(struct task *task, struct job *job, const struct file *file)
{
	const u64 pages = DIV_ROUND_UP(file->size, PAGE);
	struct reader r = { .job = job, .task = task, .file = file };

	array_read_inode(file->inode);
	r.page = calloc(pages, 1);
	for (u64 p = 0; p < pages; p++) {
		if (p * PAGE >= r.sent)
			first_window(&r, p, min(job->block / PAGE, pages - p));
		if (r.async_size && p == r.start + r.size - r.async_size)
			next_window(&r);
		while (!r.page[p])
			task_wait();
		if (job->stop_at && sim_now >= job->stop_at)
			break;
		job->bytes += PAGE;
	}
	/* Nothing may come back to what is freed. */
	for (u64 p = 0; p * PAGE < r.sent && p < pages; p++)
		while (!r.page[p])
			task_wait();
	free(r.page);
}

void job_stream(struct task *task)
{
	struct job *job = task->arg;

	if (job->start_after)
		task_sleep(job->start_after);
	do {
		for (int i = 0; i < job->nr_files; i++)
			read_file(task, job, &job->files[i]);
	} while (job->stop_at && sim_now < job->stop_at);
	job->ended = sim_now;
}

struct direct { struct task *task; struct job *job; u64 in_flight; };

static void direct_end(struct sim_bio *bio)
{
	struct direct *d = bio->private;
	struct job *job = d->job;
	const u64 took = sim_now - bio->offset;

	d->in_flight -= bio->bio.bi_iter.bi_size;
	job->bytes += bio->bio.bi_iter.bi_size;
	job->latency_sum += took;
	job->ios++;
	task_wake(d->task);
}

/* Direct reads in order, so many at once; each block counts as one even if it is cut. */
void job_direct(struct task *task)
{
	struct job *job = task->arg;
	const struct file *file = job->files;
	struct direct d = { .task = task, .job = job };

	for (u64 at = 0; at + job->block <= file->size; at += job->block) {
		while (d.in_flight > (job->depth - 1) * job->block)
			task_wait();
		for (u64 done = 0; done < job->block; done += SIM_MIB) {
			struct plug plug;

			d.in_flight += min(job->block - done, SIM_MIB);
			block_plug(&plug);
			array_read(file->logical + at + done, min(job->block - done, SIM_MIB), direct_end, &d, sim_now);
			block_unplug();
		}
	}
	while (d.in_flight)
		task_wait();
	job->ended = sim_now;
}

void job_random(struct task *task)
{
	struct job *job = task->arg;
	const struct file *file = job->files;
	struct direct d = { .task = task, .job = job };
	u64 n = 0;

	while (sim_now < job->stop_at) {
		while (d.in_flight > (job->depth - 1) * job->block)
			task_wait();
		d.in_flight += job->block;
		array_read(file->logical + lm_hash(job->seed, n++) % (file->size / job->block) * job->block,
			   job->block, direct_end, &d, sim_now);
	}
	while (d.in_flight)
		task_wait();
	job->ended = sim_now;
}
