// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the hard disk and the flash engines share: the heap of completions, the
 * statistics every request moves, and the way in from the block layer or a
 * test.  Must not know how any one kind of device spends its time.
 */
#include "labdisk-model.h"

/* splitmix64: a fixed, seeded stream, so that two runs draw the same numbers. */
u64 lm_hash(u64 seed, u64 n)
{
	u64 z = seed * 0x9e3779b97f4a7c15ull + (n + 1) * 0xd1b54a32d192ed03ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* sqrt(part / whole) in units of 1/16384; a part above the whole counts as 1. */
u64 lm_sqrt_ratio(u64 part, u64 whole)
{
	u64 q, root = 0, bit;

	if (!whole || part >= whole)
		return 1 << 14;
	while (whole >> 34) {
		whole >>= 1;
		part >>= 1;
	}
	q = (part << 28) / whole;
	for (bit = 1 << 14; bit; bit >>= 1)
		if ((root | bit) * (root | bit) <= q)
			root |= bit;
	return root;
}

static bool before(const struct lm_event *a, const struct lm_event *b)
{
	if (a->t != b->t)
		return a->t < b->t;
	return (int)(a->seq - b->seq) < 0;
}

void lm_heap_push(struct lm_heap *h, u64 t, u32 slot)
{
	struct lm_event e = { .t = t, .seq = h->seq++, .slot = slot };
	u32 i = h->n++, up;

	for (; i; i = up) {
		up = (i - 1) / 2;
		if (!before(&e, &h->ev[up]))
			break;
		h->ev[i] = h->ev[up];
	}
	h->ev[i] = e;
}

static void heap_drop_first(struct lm_heap *h)
{
	struct lm_event e = h->ev[--h->n];
	u32 i = 0, down;

	while ((down = 2 * i + 1) < h->n) {
		if (down + 1 < h->n && before(&h->ev[down + 1], &h->ev[down]))
			down++;
		if (!before(&h->ev[down], &e))
			break;
		h->ev[i] = h->ev[down];
		i = down;
	}
	h->ev[i] = e;
}

void lm_setup(struct lm_disk *d, u64 now)
{
	if (lm_rotates(&d->p))
		lm_hdd_setup(d, now);
	else
		lm_flash_setup(d, now);
}

static void count(struct lm_stats *st, const struct lm_req *r)
{
	switch (r->op) {
	case LM_READ:
		st->reads++;
		st->read_bytes += r->len;
		break;
	case LM_WRITE:
		st->writes++;
		st->write_bytes += r->len;
		st->superblocks += r->pos == LM_SUPERBLOCK;
		break;
	case LM_DISCARD:
		st->discards++;
		st->discard_bytes += r->len;
		break;
	case LM_FLUSH:
		st->flushes++;
		break;
	}
	st->queue++;
	if (st->queue > st->max_queue)
		st->max_queue = st->queue;
}

/* Slots are the caller's; one slot holds one request until lm_poll returns it. */
void lm_submit(struct lm_disk *d, u64 now, u32 slot, const struct lm_req *r)
{
	d->req[slot] = *r;
	d->req[slot].arrived = now;
	count(&d->st, r);
	if (lm_rotates(&d->p))
		lm_hdd_submit(d, now, slot);
	else
		lm_flash_submit(d, now, slot);
}

/* When lm_poll is to be called next. */
u64 lm_next(const struct lm_disk *d)
{
	u64 t = d->heap.n ? d->heap.ev[0].t : LM_NEVER;

	if (lm_rotates(&d->p))
		t = lm_min(t, lm_hdd_next(d));
	return t;
}

/* Brings the device up to now and takes out one finished request, if any. */
bool lm_poll(struct lm_disk *d, u64 now, u32 *slot)
{
	if (lm_rotates(&d->p))
		lm_hdd_run(d, now);
	if (!d->heap.n || d->heap.ev[0].t > now)
		return false;
	*slot = d->heap.ev[0].slot;
	heap_drop_first(&d->heap);
	d->st.queue--;
	return true;
}

void lm_set_slow(struct lm_disk *d, u64 now, u64 percent)
{
	if (lm_rotates(&d->p))
		lm_hdd_rebase(d, now);
	d->p.slow = percent;
}

void lm_set_load(struct lm_disk *d, u64 now, u64 percent, u64 period)
{
	if (lm_rotates(&d->p)) {
		lm_hdd_run(d, now);
		d->hdd.foreign_next = now;
		d->hdd.foreign_free = now;
	}
	d->p.load = percent;
	d->p.load_period = period;
}

void lm_reset_stats(struct lm_disk *d)
{
	u64 queue = d->st.queue;

	memset(&d->st, 0, sizeof(d->st));
	d->st.queue = queue;
	d->st.max_queue = queue;
}
