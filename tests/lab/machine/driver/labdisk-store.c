// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a disk's bytes are: a sparse set of pages in memory or what labdisk-host.c
 * opens, and over either, if asked for, a second sparse set that stands for the
 * drive's volatile cache and is what a power cut destroys.  Knows nothing of
 * time.
 */
#include <linux/highmem.h>
#include <linux/uio.h>
#include "labdisk.h"

/* Pieces of memory moved at once; what fits on a stack. */
#define VECTORS	64
/* A drive's cache is no larger than this; what does not fit is on the media. */
#define CACHE_BYTES	(256 << 20)

/* The page at pos of one of the two sets, made if it is not there. */
static void *page_get(struct xarray *xa, u64 pos)
{
	void *page = xa_load(xa, pos >> PAGE_SHIFT), *old;

	if (page)
		return page;
	page = (void *)get_zeroed_page(GFP_NOIO);
	if (!page)
		return NULL;
	old = xa_cmpxchg(xa, pos >> PAGE_SHIFT, NULL, page, GFP_NOIO);
	if (!old)
		return page;
	free_page((unsigned long)page);
	return xa_is_err(old) ? NULL : old;
}

static int pages_write(struct xarray *xa, const void *from, size_t len, u64 pos)
{
	while (len) {
		size_t off = pos % PAGE_SIZE, n = min(len, PAGE_SIZE - off);
		void *page = page_get(xa, pos);

		if (!page)
			return -ENOMEM;
		memcpy(page + off, from, n);
		from += n;
		pos += n;
		len -= n;
	}
	return 0;
}

/* Pages that are not there read as zeros, or leave the buffer as it was. */
static void pages_read(struct xarray *xa, void *to, size_t len, u64 pos, bool zero)
{
	while (len) {
		size_t off = pos % PAGE_SIZE, n = min(len, PAGE_SIZE - off);
		void *page = xa_load(xa, pos >> PAGE_SHIFT);

		if (page)
			memcpy(to, page + off, n);
		else if (zero)
			memset(to, 0, n);
		to += n;
		pos += n;
		len -= n;
	}
}

static void pages_drop(struct xarray *xa, u64 pos, u64 len)
{
	unsigned long i, first = DIV_ROUND_UP(pos, PAGE_SIZE);
	unsigned long end = (pos + len) >> PAGE_SHIFT;
	void *page;

	if (first >= end)
		return;
	xa_for_each_range(xa, i, page, first, end - 1) {
		xa_erase(xa, i);
		free_page((unsigned long)page);
	}
}

static int stable_rw(struct lab_disk *l, bool write, struct kvec *v, int n, u64 pos)
{
	int i, ret = 0;

	if (l->on_host)
		return lab_host_rw(l, write, v, n, pos);
	for (i = 0; i < n && !ret; pos += v[i++].iov_len) {
		if (write)
			ret = pages_write(&l->pages, v[i].iov_base,
					  v[i].iov_len, pos);
		else
			pages_read(&l->pages, v[i].iov_base, v[i].iov_len, pos,
				   true);
	}
	return ret;
}

/* A part of a page goes into the cache on top of what is below it. */
static int cache_write(struct lab_disk *l, const void *from, size_t len, u64 pos)
{
	u64 edge[2] = { pos, pos + len };
	int i;

	for (i = 0; i < 2; i++) {
		struct kvec v = { .iov_len = PAGE_SIZE };
		u64 at = edge[i] & PAGE_MASK;

		if (edge[i] == at || xa_load(&l->cache, at >> PAGE_SHIFT))
			continue;
		v.iov_base = page_get(&l->cache, at);
		if (!v.iov_base)
			return -ENOMEM;
		if (stable_rw(l, false, &v, 1, at))
			return -EIO;
	}
	return pages_write(&l->cache, from, len, pos);
}

static int cached_rw(struct lab_disk *l, struct request *rq, struct kvec *v,
		     int n, u64 pos)
{
	bool write = op_is_write(req_op(rq));
	int i, ret = 0;

	if (!write || (rq->cmd_flags & REQ_FUA)) {
		ret = stable_rw(l, write, v, n, pos);
		if (xa_empty(&l->cache))
			return ret;
	}
	for (i = 0; i < n && !ret; pos += v[i++].iov_len) {
		if (write)
			ret = cache_write(l, v[i].iov_base, v[i].iov_len, pos);
		else
			pages_read(&l->cache, v[i].iov_base, v[i].iov_len, pos,
				   false);
	}
	return ret;
}

static int cache_flush(struct lab_disk *l, enum lab_cut how, u64 seed)
{
	struct kvec v = { .iov_len = PAGE_SIZE };
	unsigned long i;
	int ret = 0;

	xa_for_each(&l->cache, i, v.iov_base) {
		if (how == LAB_CUT_KEEP ||
		    (how == LAB_CUT_RANDOM && lm_hash(seed, i) & 1))
			ret = stable_rw(l, true, &v, 1, (u64)i << PAGE_SHIFT) ?: ret;
		xa_erase(&l->cache, i);
		free_page((unsigned long)v.iov_base);
	}
	l->cache_bytes = 0;
	return ret;
}

/* The power is off: decides what of the volatile cache was on the media. */
int lab_store_cut(struct lab_disk *l, enum lab_cut how, u64 seed)
{
	int ret;

	mutex_lock(&l->cache_lock);
	ret = cache_flush(l, how, seed);
	mutex_unlock(&l->cache_lock);
	return ret;
}

static int discard(struct lab_disk *l, u64 pos, u64 len)
{
	pages_drop(&l->cache, pos, len);
	if (l->on_host)
		return lab_host_discard(l, pos, len);
	pages_drop(&l->pages, pos, len);
	return 0;
}

/* Before the cache takes the data of a write. */
static int cache_make_room(struct lab_disk *l, struct request *rq)
{
	if (!l->model->p.vol || !op_is_write(req_op(rq)))
		return 0;
	l->cache_bytes += blk_rq_bytes(rq);
	return l->cache_bytes > CACHE_BYTES ? cache_flush(l, LAB_CUT_KEEP, 0) : 0;
}

static int move(struct lab_disk *l, struct request *rq, struct kvec *v, int n,
		u64 pos)
{
	if (l->model->p.vol)
		return cached_rw(l, rq, v, n, pos);
	return stable_rw(l, op_is_write(req_op(rq)), v, n, pos);
}

static int transfer(struct lab_disk *l, struct request *rq, u64 pos)
{
	struct kvec v[VECTORS];
	struct req_iterator iter;
	struct bio_vec bv;
	u64 len = 0;
	int n = 0, ret = 0;

	rq_for_each_bvec(bv, rq, iter) {
		v[n].iov_base = page_address(bv.bv_page) + bv.bv_offset;
		v[n++].iov_len = bv.bv_len;
		len += bv.bv_len;
		if (n < VECTORS)
			continue;
		ret = move(l, rq, v, n, pos);
		if (ret)
			return ret;
		pos += len;
		len = 0;
		n = 0;
	}
	return n ? move(l, rq, v, n, pos) : 0;
}

/* Moves the data of one request, at once. */
int lab_store_request(struct lab_disk *l, struct request *rq)
{
	u64 pos = blk_rq_pos(rq) << SECTOR_SHIFT;
	int ret = 0;

	if (l->model->p.vol)
		mutex_lock(&l->cache_lock);
	switch (req_op(rq)) {
	case REQ_OP_FLUSH:
		if (READ_ONCE(l->power) == LAB_NO_FLUSH)
			ret = -EIO;
		else if (l->model->p.vol)
			ret = cache_flush(l, LAB_CUT_KEEP, 0);
		break;
	case REQ_OP_DISCARD:
		ret = discard(l, pos, blk_rq_bytes(rq));
		break;
	default:
		ret = cache_make_room(l, rq) ?: transfer(l, rq, pos);
	}
	if (l->model->p.vol)
		mutex_unlock(&l->cache_lock);
	return ret;
}

int lab_store_open(struct lab_disk *l, const char *file)
{
	int ret;

	xa_init(&l->pages);
	xa_init(&l->cache);
	mutex_init(&l->cache_lock);
	ret = file ? lab_host_open(l, file) : 0;
	l->on_host = file && !ret;
	return ret;
}

void lab_store_close(struct lab_disk *l)
{
	pages_drop(&l->cache, 0, l->model->p.size);
	pages_drop(&l->pages, 0, l->model->p.size);
	xa_destroy(&l->cache);
	xa_destroy(&l->pages);
	if (l->on_host)
		lab_host_close(l);
}
