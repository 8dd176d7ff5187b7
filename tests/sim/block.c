// SPDX-License-Identifier: GPL-2.0-only
/*
 * The block layer between a bio and a disk: splitting, plugs, merging, mq-deadline,
 * tags, and tasks that wait for a request to become free.
 */
#include <stdio.h>
#include <stdlib.h>
#include "sim.h"

#define MAX_BYTES	(1280 << 10)
#define PLUG_NR		32
#define PLUG_BYTES	SZ_128K
#define BATCH		16
#define EXPIRE_NS	(500 * NSEC_PER_MSEC)

struct request {
	u64 pos, arrived;
	u32 len, slot;
	int disk, nr;
	bool write;
	struct sim_bio *bios[MAX_BYTES >> 12];
	struct request *next;
};

struct queue {
	/* What the scheduler has, by age. */
	struct request *waiting, **end;
	struct request *slots[LM_SLOTS];
	u32 busy, allocated, depth;
	bool fifo;
	u64 next_pos;
	int batch;
};

const char *block_hard_disk = "hdd";
struct sim_disk disks[DISKS_MAX];
int nr_disks;
static struct queue queues[DISKS_MAX];

void block_reset(void)
{
	for (int i = 0; i < nr_disks; i++)
		free(disks[i].model);
	memset(disks, 0, sizeof(disks));
	memset(queues, 0, sizeof(queues));
	nr_disks = 0;
}

/* What @model says holds for hard disks where @spec does not say it; all are of the kind block_hard_disk. */
void block_add_disk(const char *spec, const char *model, u64 seed)
{
	const bool hard = *spec == 'h';
	const int kind = strcspn(spec, ":");
	struct sim_disk *d = &disks[nr_disks];
	struct queue *q = &queues[nr_disks++];
	char text[200], why[64];

	snprintf(text, sizeof(text), "%.*s:seed=%llu,size=6G%s%s%s%s", hard ? 20 : kind, hard ? block_hard_disk : spec,
		 (unsigned long long)seed, hard && *model ? "," : "", hard ? model : "",
		 spec[kind] ? "," : "", spec[kind] ? spec + kind + 1 : "");
	d->model = calloc(1, sizeof(*d->model));
	if (lm_parse(&d->model->p, text, strlen(text), why, sizeof(why))) {
		fprintf(stderr, "%s: %s\n", text, why);
		exit(1);
	}
	lm_setup(d->model, sim_now);
	d->bdev.rot = lm_rotates(&d->model->p);
	d->dev.bdev = &d->bdev;
	q->end = &q->waiting;
	q->depth = d->model->p.queue;
	q->fifo = d->model->p.kind == LM_NVME;
	d->queue = (struct request_queue){ q->fifo ? q->depth : 2 * min(q->depth, 128u), MAX_BYTES };
	d->bdev.bd_queue = &d->queue;
}

static bool mergeable(const struct request *rq, const struct sim_bio *bio, u64 pos, u32 len)
{
	return rq->disk == bio->disk && rq->write == (bio->bio.bi_opf != REQ_OP_READ) &&
	       rq->len + len <= MAX_BYTES && rq->nr < (int)(MAX_BYTES >> 12) &&
	       (rq->pos + rq->len == pos || pos + len == rq->pos);
}

static void merge(struct request *rq, struct sim_bio *bio, u64 pos, u32 len)
{
	rq->bios[rq->nr++] = bio;
	rq->pos = min(rq->pos, pos);
	rq->len += len;
}

/* The oldest if it has waited too long, else the next in order of position. */
static struct request *take(struct queue *q)
{
	struct request **at = &q->waiting, *rq;
	struct request **lowest = NULL, **after = NULL;

	if (!q->fifo && !(sim_now - q->waiting->arrived > EXPIRE_NS && ++q->batch >= BATCH)) {
		for (struct request **p = &q->waiting; *p; p = &(*p)->next) {
			if (!lowest || (*p)->pos < (*lowest)->pos)
				lowest = p;
			if ((*p)->pos >= q->next_pos && (!after || (*p)->pos < (*after)->pos))
				after = p;
		}
		at = after ? after : lowest;
	} else {
		q->batch = 0;
	}
	rq = *at;
	*at = rq->next;
	if (!rq->next)
		q->end = at;
	q->next_pos = rq->pos + rq->len;
	return rq;
}

static void dispatch(int disk)
{
	struct queue *q = &queues[disk];

	while (q->waiting && q->busy < q->depth) {
		struct request *rq = take(q);
		struct lm_req r = { .pos = rq->pos, .len = rq->len, .op = rq->write ? LM_WRITE : LM_READ };

		while (q->slots[rq->slot = rq->slot % q->depth])
			rq->slot++;
		q->slots[rq->slot] = rq;
		q->busy++;
		lm_submit(disks[disk].model, sim_now, rq->slot, &r);
	}
}

void block_plug(struct plug *plug)
{
	*plug = (struct plug){ };
	sim_task->plug = plug;
}

static void flush(struct plug *plug)
{
	struct request *rq = plug->first, *next;

	*plug = (struct plug){ };
	for (struct request *r = rq; r; r = next) {
		struct queue *q = &queues[r->disk];

		next = r->next;
		r->next = NULL;
		*q->end = r;
		q->end = &r->next;
	}
	for (int i = 0; i < nr_disks; i++)
		dispatch(i);
}

void block_unplug(void)
{
	struct plug *plug = sim_task->plug;

	sim_task->plug = NULL;
	flush(plug);
}

static struct request *get_request(struct sim_bio *bio)
{
	struct queue *q = &queues[bio->disk];
	struct request *rq;

	while (q->allocated >= disks[bio->disk].queue.nr_requests) {
		/* task_wait() sends what is plugged. */
		task_wait();
	}
	q->allocated++;
	rq = calloc(1, sizeof(*rq));
	rq->disk = bio->disk;
	rq->arrived = sim_now;
	rq->write = bio->bio.bi_opf != REQ_OP_READ;
	return rq;
}

static void add(struct sim_bio *bio, u64 pos, u32 len)
{
	struct plug *plug = sim_task->plug, own = { };
	struct request *rq;

	if (plug && plug->last && mergeable(plug->last, bio, pos, len)) {
		merge(plug->last, bio, pos, len);
		return;
	}
	for (rq = plug ? plug->first : NULL; rq; rq = rq->next)
		if (rq->disk == bio->disk) {
			if (!mergeable(rq, bio, pos, len))
				break;
			merge(rq, bio, pos, len);
			return;
		}
	for (rq = queues[bio->disk].waiting; rq; rq = rq->next)
		if (mergeable(rq, bio, pos, len)) {
			merge(rq, bio, pos, len);
			return;
		}
	rq = get_request(bio);
	rq->pos = pos;
	merge(rq, bio, pos, len);
	plug = sim_task->plug ? sim_task->plug : &own;
	if (plug->nr >= PLUG_NR || (plug->first && plug->first->len >= PLUG_BYTES))
		flush(plug);
	if (plug->last)
		plug->last->next = rq;
	else
		plug->first = rq;
	plug->last = rq;
	plug->nr++;
	if (plug == &own)
		flush(plug);
}

void block_submit(struct sim_bio *bio)
{
	u64 pos = bio->bio.bi_iter.bi_sector << SECTOR_SHIFT;
	u32 left = bio->bio.bi_iter.bi_size;

	disks[bio->disk].next_pos = pos + left;
	disks[bio->disk].pending++;
	disks[bio->disk].reads++;
	disks[bio->disk].read_bytes += left;
	bio->pieces = DIV_ROUND_UP(left, MAX_BYTES);
	while (left) {
		const u32 len = min_t(u32, left, MAX_BYTES);

		add(bio, pos, len);
		pos += len;
		left -= len;
	}
}

u64 block_next(void)
{
	u64 next = U64_MAX;

	for (int i = 0; i < nr_disks; i++)
		next = min(next, lm_next(disks[i].model));
	return next;
}

static void complete(int disk, u32 slot)
{
	struct queue *q = &queues[disk];
	struct request *rq = q->slots[slot];

	q->slots[slot] = NULL;
	q->busy--;
	q->allocated--;
	for (int i = 0; i < rq->nr; i++) {
		struct sim_bio *bio = rq->bios[i];

		if (--bio->pieces)
			continue;
		disks[disk].head = (bio->bio.bi_iter.bi_sector << SECTOR_SHIFT) + bio->bio.bi_iter.bi_size;
		disks[disk].pending--;
		btrfs_read_load_uncharge(bio->dev, &bio->bio, &bio->charge);
		bio->end(bio);
		free(bio);
	}
	free(rq);
	/* Who waits for it, or for a request, looks again. */
	wake_all();
}

void block_poll(void)
{
	for (int i = 0; i < nr_disks; i++) {
		u32 slot;

		while (lm_poll(disks[i].model, sim_now, &slot))
			complete(i, slot);
		dispatch(i);
	}
}

u32 block_in_flight(int disk)
{
	return queues[disk].allocated;
}
