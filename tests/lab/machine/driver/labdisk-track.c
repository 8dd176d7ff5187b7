// SPDX-License-Identifier: GPL-2.0-only
/*
 * The second hard disk: cylinders, surfaces and tracks of explicit length, the
 * seek curve of Lee and Katz, a buffer that takes the whole track from wherever
 * the head arrives, and requests in order of position (C-LOOK).  Queue, write
 * cache and buffer memory are labdisk-hdd.c's and labdisk-platter.c's.
 *
 * tau is the time that reading the whole disk in order would need to come to a
 * position, switches of surface and cylinder included: modulo one revolution it
 * is the position's angle.
 */
#include "labdisk-model.h"

/* A wait of almost a revolution is a sum of rounding errors, not a wait. */
#define ROUNDING	100

/* off bytes into the track that holds a position; len is the track's length. */
struct place {
	u64 cyl, off, len;
	u32 surface;
};

/* The seed makes each surface of a zone up to 3 % shorter or longer. */
static u64 track_len(const struct lm_param *p, u64 rev, u32 zone, u32 surface)
{
	u64 inner = p->inner ? p->inner : p->rate / 20 * 11;
	u64 rate = p->rate - (p->rate - inner) * zone / (LM_ZONES - 1);
	u64 part = 970 + lm_hash(p->seed + 2, zone * LM_SURFACES + surface) % 61;
	u64 len = rate * rev / 1000000000 * part / 1000;

	return lm_max(len - len % 4096, 4096);
}

static struct place place_of(const struct lm_disk *d, u64 pos)
{
	const struct lm_tracks *g = &d->hdd.tracks;
	struct place p = { 0 };
	u32 z = 0;

	while (z + 1 < LM_ZONES && g->zone[z + 1].start <= pos)
		z++;
	pos -= g->zone[z].start;
	p.cyl = z * g->cylinders + pos / g->zone[z].bytes;
	p.off = pos % g->zone[z].bytes;
	while (p.off >= g->zone[z].len[p.surface])
		p.off -= g->zone[z].len[p.surface++];
	p.len = g->zone[z].len[p.surface];
	return p;
}

static u64 tau_of(const struct lm_hdd *h, const struct place *p)
{
	const struct lm_tracks *g = &h->tracks;

	return g->base + p->cyl * g->cyl_tau + p->surface * (h->rev + g->skew) +
		p->off * h->rev / p->len;
}

static u64 track_tau(const struct lm_disk *d, u64 pos)
{
	struct place p = place_of(d, pos);

	return tau_of(&d->hdd, &p);
}

/* When the byte before end has passed: at the end of a track, not at the next. */
static u64 tau_end(const struct lm_disk *d, u64 end)
{
	struct place p = place_of(d, end - 1);

	p.off++;
	return tau_of(&d->hdd, &p);
}

static u64 track_tau_inverse(const struct lm_disk *d, u64 tau)
{
	const struct lm_hdd *h = &d->hdd;
	const struct lm_tracks *g = &h->tracks;
	u64 cyl, pos, z, off;
	u32 s, i;

	if (tau < g->base)
		return 0;
	tau -= g->base;
	cyl = tau / g->cyl_tau;
	z = lm_min(cyl / g->cylinders, LM_ZONES - 1);
	tau %= g->cyl_tau;
	s = lm_min(tau / (h->rev + g->skew), d->p.surfaces - 1);
	off = lm_min(tau - s * (h->rev + g->skew), h->rev);
	pos = g->zone[z].start + (cyl - z * g->cylinders) * g->zone[z].bytes;
	for (i = 0; i < s; i++)
		pos += g->zone[z].len[i];
	off = off * g->zone[z].len[s] / h->rev;
	return pos + off - off % LM_SECTOR;
}

static void track_setup(struct lm_disk *d)
{
	const struct lm_param *p = &d->p;
	struct lm_hdd *h = &d->hdd;
	struct lm_tracks *g = &h->tracks;
	u64 all = 0, start = 0;
	u32 z, s;

	for (z = 0; z < LM_ZONES; z++) {
		for (s = 0; s < p->surfaces; s++)
			g->zone[z].bytes += g->zone[z].len[s] =
				track_len(p, h->rev, z, s);
		all += g->zone[z].bytes;
	}
	g->cylinders = p->size / all + 1;
	for (z = 0; z < LM_ZONES; z++) {
		g->zone[z].start = start;
		start += g->cylinders * g->zone[z].bytes;
	}
	/* A switch and a settled write fit into the skew between two tracks. */
	g->skew = p->hswitch + p->wsettle;
	g->cyl_tau = p->surfaces * (h->rev + g->skew) - g->skew +
		lm_max(p->seek, p->hswitch) + p->wsettle;
	/* No wait leads to a time before 0. */
	g->base = 2 * h->rev + p->seek + p->hswitch;
	g->used = place_of(d, p->size - 1).cyl + 1;
}

/*
 * Lee and Katz: a·√(x−1) + b·(x−1) + c over x cylinders, with a, b and c from the
 * shortest, average and longest seek; here x−1 is a share of the whole stroke.
 */
u64 lm_track_seek(const struct lm_disk *d, u64 cylinders)
{
	const struct lm_param *p = &d->p;
	u64 used = d->hdd.tracks.used, average = p->average - p->seek;
	u64 a = 5 * average - 5 * p->stroke / 3;
	u64 b = 8 * p->stroke / 3 - 5 * average;

	return p->seek + (a * lm_sqrt_ratio(cylinders - 1, used) >> 14) +
		b * (cylinders - 1) / used;
}

/* From track to track, before the platter has turned to the place. */
static u64 way(const struct lm_disk *d, const struct place *from,
	       const struct place *to, bool write)
{
	u64 settle = write ? d->p.wsettle : 0;

	if (from->cyl != to->cyl)
		return settle + lm_max(d->p.hswitch, lm_track_seek(d,
			from->cyl < to->cyl ? to->cyl - from->cyl :
			from->cyl - to->cyl));
	return from->surface == to->surface ? 0 : settle + d->p.hswitch;
}

static u64 turn(const struct lm_hdd *h, u64 from, u64 to)
{
	u64 wait = (to % h->rev + h->rev - from % h->rev) % h->rev;

	return h->rev - wait < ROUNDING ? 0 : wait;
}

/* The track of a head that has come to pos is that of the last byte it passed. */
static struct place place_before(const struct lm_disk *d, u64 pos)
{
	return place_of(d, pos ? pos - 1 : 0);
}

static u64 track_end(const struct lm_disk *d, u64 pos)
{
	struct place p = place_of(d, pos);

	return pos - p.off + p.len;
}

/* The head, on the track before pos at the angle tau, goes there and reads on. */
static void go_on_at(struct lm_disk *d, u64 now, u64 pos, u64 tau)
{
	struct place from = place_before(d, pos), to = place_of(d, pos);
	u64 t = way(d, &from, &to, false);

	d->hdd.pos = pos;
	d->hdd.ref_t = now;
	d->hdd.ref_tau = tau_of(&d->hdd, &to) - t -
		turn(&d->hdd, tau + t, tau_of(&d->hdd, &to));
}

/* Reading on ends with the track, of a stream with the next one. */
static u64 read_on_end(const struct lm_disk *d, u64 end, bool stream)
{
	u64 stop = track_end(d, end - 1);

	if (stream && stop < d->p.size)
		stop = track_end(d, stop);
	return lm_min(lm_min(stop, end + d->p.readahead), d->p.size);
}

/*
 * Track by track: the way, the wait, the media.  A read that arrives within its
 * own range takes the end of it first and has all after one revolution.
 */
static void track_serve(struct lm_disk *d, u64 now, struct lm_access *a)
{
	struct lm_hdd *h = &d->hdd;
	bool write = h->work != LM_MEDIA_READ, first = true;
	bool on = !write && lm_continues(d, now, &d->req[h->slot]);
	u64 t = lm_platter(d, now), pos = h->work_pos, head = lm_head(d, now);
	struct place at = place_before(d, head);

	memset(a, 0, sizeof(*a));
	lm_segment_catch_up(d, now);
	h->arrived = pos;
	h->wrapped = false;
	if (on && t < tau_end(d, h->ra_end)) {
		u64 tau = track_tau(d, pos), end;

		/* It may have passed all of it, or be within its last sector. */
		h->work_end = lm_max(h->work_end, head);
		end = tau_end(d, h->work_end);
		a->rot = tau > t ? lm_min(tau, end) - lm_min(t, end) : 0;
		a->media = end > t + a->rot ? end - t - a->rot : 0;
		pos = h->work_end;
	}
	h->streaming = false;
	for (; pos < h->work_end; first = false) {
		struct place to = place_of(d, pos);
		u64 len = lm_min(h->work_end - pos, to.len - to.off), wait;
		u64 media = len * h->rev / to.len, seek = way(d, &at, &to, write);
		u64 passed = to.off;

		wait = turn(h, t + seek, tau_of(h, &to));
		h->wrapped = !write && d->p.readahead && wait + media > h->rev;
		if (h->wrapped)
			wait = h->rev - media;
		else
			passed = lm_min(passed, wait * to.len / h->rev);
		if (first)
			h->arrived = pos - (passed - passed % LM_SECTOR);
		a->seek += seek;
		a->rot += wait;
		a->media += media;
		t += seek + wait + media;
		at = to;
		pos += len;
	}
}

static void track_settle(struct lm_disk *d, u64 now)
{
	struct lm_hdd *h = &d->hdd;

	if (h->wrapped) {
		/* All of the track is in the buffer: on to the next. */
		go_on_at(d, now, track_end(d, h->work_end - 1), lm_platter(d, now));
		return;
	}
	h->pos = h->work_end;
	h->ref_tau = tau_end(d, h->pos);
	h->ref_t = now;
}

static void track_read_on(struct lm_disk *d, u64 start)
{
	struct lm_hdd *h = &d->hdd;
	bool stream = lm_segment_at(h, d->p.segments, start);

	lm_segment_read(d, stream ? start : h->arrived, h->pos,
			read_on_end(d, h->pos, stream));
}

/* A stream that is served from the buffer keeps the head ahead of it. */
static void track_hit(struct lm_disk *d, u64 now, u64 end)
{
	struct lm_hdd *h = &d->hdd;
	const struct lm_segment *s = &h->segment[h->seg];
	u64 stop = read_on_end(d, end, true), t = lm_platter(d, now);

	if (!h->streaming || end <= s->start || end > s->end || stop <= h->ra_end)
		return;
	if (t >= tau_end(d, h->ra_end))
		go_on_at(d, now, h->ra_end, t);
	h->ra_end = stop;
}

/*
 * C-LOOK: what is next from the head on, else the first of the disk; what the
 * head is reading anyway comes before that.
 */
static bool track_choose(struct lm_disk *d, u64 now, struct lm_choice *best)
{
	struct lm_hdd *h = &d->hdd;
	u64 head = lm_head(d, now), key;
	u32 i;

	best->cost = LM_NEVER;
	best->destage = false;
	best->index = 0;
	if (lm_overdue(d, now))
		return true;
	for (i = 0; i < h->pending.n; i++) {
		const struct lm_req *r = &d->req[h->pending.slot[i]];

		key = lm_continues(d, now, r) ? 0 : r->pos - head;
		if (key < best->cost) {
			best->cost = key;
			best->index = i;
		}
	}
	if (!lm_destage_too(d))
		return true;
	for (i = 0; i < h->ndirty; i++) {
		key = h->dirty[i].start - head;
		if (key < best->cost) {
			best->cost = key;
			best->index = i;
			best->destage = true;
		}
	}
	return best->cost != LM_NEVER;
}

const struct lm_mechanics lm_track = {
	.setup = track_setup, .tau = track_tau, .tau_inverse = track_tau_inverse,
	.choose = track_choose, .serve = track_serve, .settle = track_settle,
	.read_on = track_read_on, .hit = track_hit,
};
