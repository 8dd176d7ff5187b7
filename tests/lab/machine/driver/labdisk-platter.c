// SPDX-License-Identifier: GPL-2.0-only
/*
 * Geometry and caches of the modelled hard disk.  A position is also a "media
 * time": how long reading sequentially from the disk's start to it would take.
 * The platter passes under the head in media time, so the wait for a position
 * is a difference modulo one revolution, measured from the last access.  Must
 * not decide what to serve next; that is labdisk-hdd.c.
 */
#include "labdisk-model.h"

#define MIB	(1ull << 20)

/* Zones of falling rate, from rate at the outer edge to inner at the last. */
void lm_zones_setup(struct lm_disk *d)
{
	const struct lm_param *p = &d->p;
	struct lm_hdd *h = &d->hdd;
	u64 inner = p->inner ? p->inner : p->rate, tau = 0, rate;
	u32 i;

	h->zone_len = (p->size / LM_ZONES / MIB + 1) * MIB;
	for (i = 0; i < LM_ZONES; i++) {
		rate = p->rate - (p->rate - inner) * i / (LM_ZONES - 1);
		h->zone[i].start = i * h->zone_len;
		h->zone[i].tau = tau;
		h->zone[i].ns_per_mib = MIB * 1000000000ull / rate;
		tau += h->zone_len / MIB * h->zone[i].ns_per_mib;
	}
}

u64 lm_tau(const struct lm_disk *d, u64 pos)
{
	const struct lm_hdd *h = &d->hdd;
	const struct lm_zone *z = &h->zone[pos / h->zone_len];
	u64 off = pos - z->start;

	return z->tau + off / MIB * z->ns_per_mib +
		off % MIB * z->ns_per_mib / MIB;
}

/* The last whole sector that has passed by media time tau. */
u64 lm_tau_inverse(const struct lm_disk *d, u64 tau)
{
	const struct lm_hdd *h = &d->hdd;
	const struct lm_zone *z = &h->zone[0];
	u64 off, pos;
	u32 i;

	for (i = 1; i < LM_ZONES && h->zone[i].tau <= tau; i++)
		z = &h->zone[i];
	off = tau - z->tau;
	pos = z->start + off / z->ns_per_mib * MIB +
		off % z->ns_per_mib * MIB / z->ns_per_mib;
	return pos - pos % LM_SECTOR;
}

/*
 * Where a track starts on the circle, for the tracks around pos.  Real tracks
 * differ in length from head to head and zone to zone, so that after a seek the
 * angle of a far place is as good as random; without this, strides that happen
 * to fit a revolution would look better or worse than they are on average.
 */
u64 lm_skew(const struct lm_disk *d, u64 pos)
{
	if (!d->p.skew)
		return 0;
	return lm_hash(d->p.seed + 1, pos / d->p.skew) % d->hdd.rev;
}

u64 lm_seek_time(const struct lm_param *p, u64 distance, bool write)
{
	u64 t = p->seek + (p->stroke * lm_sqrt_ratio(distance, p->size) >> 14);

	return write ? t + p->wsettle : t;
}

/* The media time under the head at now, not reduced to one revolution. */
u64 lm_platter(const struct lm_disk *d, u64 now)
{
	return d->hdd.ref_tau + (now - d->hdd.ref_t) * 100 / d->p.slow;
}

/* Where the head is: it moves on by itself while it reads ahead. */
u64 lm_head(const struct lm_disk *d, u64 now)
{
	const struct lm_hdd *h = &d->hdd;

	if (!h->streaming)
		return h->pos;
	return lm_min(h->ra_end,
		      lm_max(h->pos, h->m->tau_inverse(d, lm_platter(d, now))));
}

/*
 * Going forward by less than a revolution costs what lies in between, no seek:
 * the platter brings it (switching heads and tracks is part of the media rate).
 */
struct lm_access lm_access_time(const struct lm_disk *d, u64 now, u64 pos,
				bool write)
{
	const struct lm_hdd *h = &d->hdd;
	u64 head = lm_head(d, now), tau = lm_tau(d, pos);
	struct lm_access a = { 0, 0 };
	s64 wait = tau - lm_platter(d, now);

	if (pos < head || tau - lm_tau(d, head) > h->rev) {
		a.seek = lm_seek_time(&d->p, pos > head ? pos - head : head - pos,
				      write);
		wait += lm_skew(d, pos) - h->ref_skew - a.seek;
	}
	wait %= (s64)h->rev;
	a.rot = wait < 0 ? (u64)(wait + (s64)h->rev) : (u64)wait;
	/* The same sector again at once is a rounding error, not a revolution. */
	if (!a.seek && h->rev - a.rot < 3)
		a.rot = 0;
	return a;
}

struct lm_segment *lm_segment_at(struct lm_hdd *h, u32 n, u64 pos)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (h->segment[i].end && h->segment[i].start <= pos &&
		    pos <= h->segment[i].end)
			return &h->segment[i];
	return NULL;
}

/* Makes what the running read-ahead has got by now part of its segment. */
void lm_segment_catch_up(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;
	struct lm_segment *s = &h->segment[h->seg];

	if (!h->streaming)
		return;
	s->end = lm_head(d, now);
	if (s->end - s->start > d->p.readahead)
		s->start = s->end - d->p.readahead;
}

static bool dirty_covers(const struct lm_hdd *h, u64 start, u64 end)
{
	u32 i;

	for (i = 0; i < h->ndirty; i++)
		if (h->dirty[i].start <= start && end <= h->dirty[i].end)
			return true;
	return false;
}

/* Is all of it in a read segment or still in the write cache? */
bool lm_cached(struct lm_disk *d, u64 now, u64 start, u64 end)
{
	struct lm_hdd *h = &d->hdd;
	struct lm_segment *s;

	lm_segment_catch_up(d, now);
	s = lm_segment_at(h, d->p.segments, start);
	if (s && start < s->end && end <= s->end) {
		s->used = now;
		return true;
	}
	return dirty_covers(h, start, end);
}

/* A media read has ended: remember it, and read ahead from its end to ra_end. */
void lm_segment_read(struct lm_disk *d, u64 start, u64 end, u64 ra_end)
{
	struct lm_hdd *h = &d->hdd;
	struct lm_segment *s;
	u32 i;

	if (!d->p.readahead || !d->p.segments)
		return;
	s = lm_segment_at(h, d->p.segments, start);
	if (!s) {
		s = &h->segment[0];
		for (i = 1; i < d->p.segments; i++)
			if (h->segment[i].used < s->used)
				s = &h->segment[i];
		s->start = start;
	}
	s->end = end;
	if (end - s->start > d->p.readahead)
		s->start = end - d->p.readahead;
	s->used = h->ref_t;
	h->seg = s - h->segment;
	h->streaming = true;
	h->ra_end = ra_end;
}

/* Written over: what the segments hold of it is old. */
void lm_segment_drop(struct lm_hdd *h, u64 start, u64 end)
{
	u32 i;

	for (i = 0; i < LM_SEGMENTS; i++) {
		struct lm_segment *s = &h->segment[i];

		if (s->end && start < s->end && s->start < end) {
			s->start = s->end = s->used = 0;
			if (i == h->seg)
				h->streaming = false;
		}
	}
}

static void dirty_remove(struct lm_hdd *h, u32 i)
{
	h->dirty_bytes -= h->dirty[i].end - h->dirty[i].start;
	h->ndirty--;
	memmove(&h->dirty[i], &h->dirty[i + 1],
		(h->ndirty - i) * sizeof(h->dirty[0]));
}

/* Adds to the sorted extents, joining what touches; false: no space for one more. */
bool lm_dirty_add(struct lm_hdd *h, u64 start, u64 end)
{
	u32 i = 0;

	while (i < h->ndirty && h->dirty[i].end < start)
		i++;
	if (h->ndirty == LM_EXTENTS &&
	    (i == LM_EXTENTS || h->dirty[i].start > end))
		return false;
	while (i < h->ndirty && h->dirty[i].start <= end) {
		start = lm_min(start, h->dirty[i].start);
		end = lm_max(end, h->dirty[i].end);
		dirty_remove(h, i);
	}
	memmove(&h->dirty[i + 1], &h->dirty[i],
		(h->ndirty - i) * sizeof(h->dirty[0]));
	h->dirty[i].start = start;
	h->dirty[i].end = end;
	h->dirty_bytes += end - start;
	h->ndirty++;
	return true;
}

/* Takes the first len bytes of extent i out of the cache. */
void lm_dirty_cut(struct lm_hdd *h, u32 i, u64 len)
{
	if (len < h->dirty[i].end - h->dirty[i].start) {
		h->dirty[i].start += len;
		h->dirty_bytes -= len;
	} else {
		dirty_remove(h, i);
	}
}
