// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hard disks' firmware: one head that serves queued reads, write-through
 * writes and the write cache, and of the first kind the order: shortest access
 * first with a limit to waiting.  A pure state machine: lm_hdd_submit puts work
 * in, lm_hdd_run moves it to a point in time.  Geometry and caches are
 * labdisk-platter.c, what the second kind has of its own labdisk-track.c.
 */
#include "labdisk-model.h"

#define DESTAGE_PIECE	(2ull << 20)

static const struct lm_mechanics nearest;

void lm_hdd_setup(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;

	memset(h, 0, sizeof(*h));
	h->rev = 60000000000ull / d->p.rpm;
	h->m = d->p.kind == LM_TRACK ? &lm_track : &nearest;
	h->m->setup(d);
	h->ref_t = now;
	/* Spindles of different disks are not in step. */
	h->ref_tau = lm_hash(d->p.seed, 0) % h->rev;
	h->foreign_next = now;
	h->foreign_free = now;
}

static void fifo_put(struct lm_fifo *f, u32 slot)
{
	f->slot[f->n++] = slot;
}

static u32 fifo_take(struct lm_fifo *f, u32 i)
{
	u32 slot = f->slot[i];

	f->n--;
	memmove(&f->slot[i], &f->slot[i + 1], (f->n - i) * sizeof(f->slot[0]));
	return slot;
}

static void complete(struct lm_disk *d, u64 t, u32 slot)
{
	lm_heap_push(&d->heap, t + lm_slowed(d, d->p.ovh), slot);
}

/* Data that only crosses the cable, between host and the drive's memory. */
static void complete_from_cache(struct lm_disk *d, u64 now, u32 slot)
{
	struct lm_hdd *h = &d->hdd;

	h->bus_free = lm_max(now, h->bus_free) +
		lm_slowed(d, lm_transfer(d->req[slot].len, d->p.bus));
	complete(d, h->bus_free, slot);
}

static void serve_from_cache(struct lm_disk *d, u64 now, u32 slot)
{
	const struct lm_req *r = &d->req[slot];

	d->st.cache_hits++;
	complete_from_cache(d, now, slot);
	if (d->hdd.m->hit)
		d->hdd.m->hit(d, now, r->pos + r->len);
}

/* Where whole tracks are read, requests that wait are served by others' reads. */
static void serve_buffered(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;
	u32 i = 0;

	while (h->m->hit && i < h->pending.n) {
		const struct lm_req *r = &d->req[h->pending.slot[i]];

		if (r->op == LM_READ && lm_cached(d, now, r->pos, r->pos + r->len))
			serve_from_cache(d, now, fifo_take(&h->pending, i));
		else
			i++;
	}
}

static bool cache_write(struct lm_disk *d, u64 now, u32 slot)
{
	const struct lm_req *r = &d->req[slot];
	struct lm_hdd *h = &d->hdd;

	/* An empty cache takes anything, or a small one would never move. */
	if (h->dirty_bytes && h->dirty_bytes + r->len > d->p.wcache)
		return false;
	if (!lm_dirty_add(h, r->pos, r->pos + r->len))
		return false;
	complete_from_cache(d, now, slot);
	return true;
}

/* Takes a request in; nothing else may be served while a flush is under way. */
static void accept(struct lm_disk *d, u64 now, u32 slot)
{
	const struct lm_req *r = &d->req[slot];
	struct lm_hdd *h = &d->hdd;

	if (h->flushing) {
		fifo_put(&h->held, slot);
	} else if (r->op == LM_FLUSH) {
		h->flushing = true;
		h->flush_slot = slot;
	} else if (r->op == LM_DISCARD) {
		complete(d, now, slot);
	} else if (r->op == LM_READ) {
		if (lm_cached(d, now, r->pos, r->pos + r->len)) {
			serve_from_cache(d, now, slot);
		} else {
			fifo_put(&h->pending, slot);
		}
	} else {
		lm_segment_drop(h, r->pos, r->pos + r->len);
		if (!d->p.wcache || r->fua) {
			fifo_put(&h->pending, slot);
		} else if (h->waiting.n || !cache_write(d, now, slot)) {
			d->st.cache_full++;
			fifo_put(&h->waiting, slot);
		}
	}
}

/* True if a flush has ended; the next may be done at once, too. */
static bool finish_flush(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;
	u32 n, i;

	if (!h->flushing || h->pending.n || h->waiting.n || h->ndirty)
		return false;
	h->flushing = false;
	complete(d, now + lm_slowed(d, d->p.flush), h->flush_slot);
	/* A further flush among the held ones puts the rest back. */
	n = h->held.n;
	h->held.n = 0;
	for (i = 0; i < n; i++)
		accept(d, now, h->held.slot[i]);
	return true;
}

/* Someone else's work that came first; the head is wherever it left it. */
static bool foreign_first(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;
	u64 work = d->p.load_period * d->p.load / 100;
	bool moved = false;

	if (!d->p.load)
		return false;
	if (h->foreign_next + 2 * d->p.load_period < now)
		h->foreign_next = now - now % d->p.load_period;
	for (; h->foreign_next <= now; h->foreign_next += d->p.load_period) {
		h->foreign_free = lm_max(h->foreign_free, h->foreign_next) + work;
		d->st.foreign_ns += work;
		moved = true;
	}
	if (moved) {
		u64 r = lm_hash(d->p.seed, ++h->foreign_n);

		h->pos = r % d->p.size;
		h->pos -= h->pos % LM_SECTOR;
		h->ref_tau = h->m->tau(d, h->pos) + r % h->rev;
		h->ref_t = now;
		h->streaming = false;
	}
	h->defer = h->foreign_free > now ? h->foreign_free : 0;
	return h->defer;
}

static void consider(struct lm_choice *best, struct lm_access a, bool destage,
		     u32 index)
{
	if (a.seek + a.rot >= best->cost)
		return;
	best->a = a;
	best->cost = a.seek + a.rot;
	best->destage = destage;
	best->index = index;
}

/* A read that starts in what the running read-ahead has got costs no access. */
bool lm_continues(struct lm_disk *d, u64 now, const struct lm_req *r)
{
	const struct lm_hdd *h = &d->hdd;

	return r->op == LM_READ && h->streaming &&
		h->segment[h->seg].start <= r->pos && r->pos <= lm_head(d, now);
}

static void consider_pending(struct lm_disk *d, u64 now, u32 i,
			     struct lm_choice *best)
{
	const struct lm_req *r = &d->req[d->hdd.pending.slot[i]];
	struct lm_access none = { 0, 0, 0 };

	if (lm_continues(d, now, r))
		consider(best, none, false, i);
	else
		consider(best, lm_access_time(d, now, r->pos, r->op == LM_WRITE),
			 false, i);
}

/* Reads go before the write cache until that is nearly full or must be empty. */
bool lm_destage_too(const struct lm_disk *d)
{
	const struct lm_hdd *h = &d->hdd;

	if (!h->pending.n || h->waiting.n)
		return true;
	return h->dirty_bytes > d->p.wcache / 4 * 3 ||
		h->ndirty > LM_EXTENTS / 4 * 3;
}

bool lm_overdue(const struct lm_disk *d, u64 now)
{
	const struct lm_hdd *h = &d->hdd;

	return h->pending.n &&
		now - d->req[h->pending.slot[0]].arrived > d->p.age;
}

static bool choose_nearest(struct lm_disk *d, u64 now, struct lm_choice *best)
{
	struct lm_hdd *h = &d->hdd;
	u32 i;

	best->cost = LM_NEVER;
	if (lm_overdue(d, now)) {
		consider_pending(d, now, 0, best);
		return true;
	}
	for (i = 0; i < h->pending.n; i++)
		consider_pending(d, now, i, best);
	if (lm_destage_too(d))
		for (i = 0; i < h->ndirty; i++)
			consider(best, lm_access_time(d, now, h->dirty[i].start,
						      true), true, i);
	return best->cost != LM_NEVER;
}

static void take_destage(struct lm_disk *d, u32 i)
{
	struct lm_hdd *h = &d->hdd;
	struct lm_extent e = h->dirty[i];

	h->work = LM_DESTAGE;
	h->work_pos = e.start;
	h->work_end = lm_min(e.end, e.start + DESTAGE_PIECE);
	lm_dirty_cut(h, i, h->work_end - e.start);
	d->st.destages++;
}

static void take_pending(struct lm_disk *d, u64 now, u32 i)
{
	struct lm_hdd *h = &d->hdd;
	const struct lm_req *r;

	h->slot = fifo_take(&h->pending, i);
	r = &d->req[h->slot];
	h->work = r->op == LM_READ ? LM_MEDIA_READ : LM_MEDIA_WRITE;
	h->work_pos = r->pos;
	h->work_end = r->pos + r->len;
	if (lm_continues(d, now, r))
		h->work_pos = lm_min(lm_head(d, now), h->work_end);
}

static void transfer(struct lm_disk *d, u64 now, struct lm_access *a)
{
	a->media = lm_tau(d, d->hdd.work_end) - lm_tau(d, d->hdd.work_pos);
}

static void settle(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;

	h->pos = h->work_end;
	h->ref_t = now;
	h->ref_tau = lm_tau(d, h->pos);
	h->ref_skew = lm_skew(d, h->pos - 1);
}

static void read_on(struct lm_disk *d, u64 start)
{
	u64 end = d->hdd.work_end;

	lm_segment_read(d, start, end, lm_min(end + d->p.readahead, d->p.size));
}

static const struct lm_mechanics nearest = {
	.setup = lm_zones_setup, .tau = lm_tau, .tau_inverse = lm_tau_inverse,
	.choose = choose_nearest, .serve = transfer, .settle = settle,
	.read_on = read_on,
};

static void start(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;
	struct lm_choice c;

	serve_buffered(d, now);
	while (finish_flush(d, now))
		;
	h->defer = 0;
	if (!h->pending.n && !h->ndirty)
		return;
	if (foreign_first(d, now) || !h->m->choose(d, now, &c))
		return;
	if (c.destage)
		take_destage(d, c.index);
	else
		take_pending(d, now, c.index);
	h->m->serve(d, now, &c.a);
	h->until = now + lm_slowed(d, c.a.seek + c.a.rot + c.a.media);
	d->st.seeks += !!c.a.seek;
	d->st.seek_ns += c.a.seek;
	d->st.rot_ns += c.a.rot;
	d->st.media_ns += c.a.media;
	d->st.busy_ns += h->until - now;
}

static void finish(struct lm_disk *d)
{
	struct lm_hdd *h = &d->hdd;
	enum lm_work work = h->work;
	u64 now = h->until;

	h->work = LM_IDLE;
	h->streaming = false;
	h->m->settle(d, now);
	if (work == LM_DESTAGE) {
		while (h->waiting.n && cache_write(d, now, h->waiting.slot[0]))
			fifo_take(&h->waiting, 0);
		return;
	}
	if (work == LM_MEDIA_READ)
		h->m->read_on(d, d->req[h->slot].pos);
	complete(d, now, h->slot);
}

void lm_hdd_run(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;

	for (;;) {
		if (h->work != LM_IDLE) {
			if (h->until > now)
				return;
			finish(d);
			start(d, h->until);
		} else if (h->defer && h->defer <= now) {
			start(d, h->defer);
		} else {
			return;
		}
	}
}

void lm_hdd_submit(struct lm_disk *d, u64 now, u32 slot)
{
	lm_hdd_run(d, now);
	accept(d, now, slot);
	if (d->hdd.work == LM_IDLE && !d->hdd.defer)
		start(d, now);
}

u64 lm_hdd_next(const struct lm_disk *d)
{
	if (d->hdd.work != LM_IDLE)
		return d->hdd.until;
	return d->hdd.defer ? d->hdd.defer : LM_NEVER;
}

/* Before the speed changes: what has passed under the head passed at the old. */
void lm_hdd_rebase(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;
	u64 tau;

	lm_hdd_run(d, now);
	if (h->ref_t > now)
		return;
	tau = lm_platter(d, now);
	if (h->streaming)
		h->pos = lm_head(d, now);
	h->ref_tau = tau;
	h->ref_t = now;
}
