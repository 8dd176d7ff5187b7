// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flash engine: channels that each serve one page at a time, and a bus all
 * of them share.  A request's completion is known the moment it arrives, so
 * there are no events of its own.  Owns nothing of garbage collection: writes
 * never get slower with age (wrate= caps them where that matters).
 */
#include "labdisk-model.h"

void lm_flash_setup(struct lm_disk *d, u64 now)
{
	memset(&d->flash, 0, sizeof(d->flash));
	d->flash.hold = now;
}

/* The first moment at or after t at which the device is not someone else's. */
static u64 own_time(const struct lm_disk *d, u64 t)
{
	u64 into, theirs;

	if (!d->p.load)
		return t;
	into = t % d->p.load_period;
	theirs = d->p.load_period * d->p.load / 100;
	return into < theirs ? t - into + theirs : t;
}

static u64 take_channel(struct lm_disk *d, u64 t, u64 page, u64 ns)
{
	u64 *free = &d->flash.channel_free[(page + d->p.seed) % d->p.channels];

	ns = lm_slowed(d, ns);
	*free = own_time(d, lm_max(t, *free)) + ns;
	d->st.busy_ns += ns;
	return *free;
}

/* SATA moves data one way at a time, NVMe both. */
static u64 take_bus(struct lm_disk *d, u64 t, u64 bytes, bool write)
{
	u64 *free = &d->flash.bus_free[d->p.kind == LM_NVME && write];
	u64 ns = lm_slowed(d, lm_transfer(bytes, d->p.bus));

	*free = own_time(d, lm_max(t, *free)) + ns;
	d->st.media_ns += ns;
	return *free;
}

static u64 move_data(struct lm_disk *d, u64 t, const struct lm_req *r)
{
	u64 pos = r->pos, end = r->pos + r->len, done = t, n, at;
	bool write = r->op == LM_WRITE;

	for (; pos < end; pos += n) {
		n = lm_min(d->p.unit - pos % d->p.unit, end - pos);
		if (write) {
			at = take_bus(d, t, n, true);
			at = take_channel(d, at, pos / d->p.unit, d->p.write);
		} else {
			at = take_channel(d, t, pos / d->p.unit, d->p.read);
			at = take_bus(d, at, n, false);
		}
		done = lm_max(done, at);
	}
	if (write && d->p.wrate) {
		at = lm_max(t, d->flash.wrate_free);
		d->flash.wrate_free = at + lm_transfer(r->len, d->p.wrate);
		done = lm_max(done, d->flash.wrate_free);
	}
	return done;
}

/* A SATA flush is no queued command: everything after it waits for it. */
static u64 flush(struct lm_disk *d, u64 t)
{
	u64 done = lm_max(t, d->flash.last_write) + lm_slowed(d, d->p.flush);

	if (d->p.kind == LM_SSD)
		d->flash.hold = done;
	return done;
}

void lm_flash_submit(struct lm_disk *d, u64 now, u32 slot)
{
	const struct lm_req *r = &d->req[slot];
	u64 t = lm_max(now, d->flash.hold), done;

	d->st.foreign_ns += own_time(d, t) - t;
	t = own_time(d, t);
	if (r->op == LM_FLUSH)
		done = flush(d, t);
	else if (r->op == LM_DISCARD)
		done = t + lm_slowed(d, d->p.write);
	else
		done = move_data(d, t, r);
	if (r->op == LM_WRITE) {
		if (r->fua)
			done += lm_slowed(d, d->p.flush);
		d->flash.last_write = lm_max(d->flash.last_write, done);
	}
	lm_heap_push(&d->heap, done + lm_slowed(d, d->p.ovh), slot);
}
