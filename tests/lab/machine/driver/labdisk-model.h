/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pure part of the lab's disks: how long a modelled drive takes.  Numbers
 * only - no block layer, no clock, no allocation, no floating point - so that
 * the same files compile into the kernel module and into user-space tests.
 * Times are nanoseconds of whatever clock the caller keeps, positions are bytes.
 */
#ifndef LABDISK_MODEL_H
#define LABDISK_MODEL_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/string.h>
#include <linux/stddef.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
#endif

#define LM_SLOTS	1024		/* requests a device can hold at once */
#define LM_ZONES	16
#define LM_SURFACES	8
#define LM_SEGMENTS	64
#define LM_EXTENTS	256
#define LM_CHANNELS	256
#define LM_SECTOR	512
#define LM_SUPERBLOCK	65536	/* where btrfs has its first one */
#define LM_NEVER	(~(u64)0)

enum lm_kind { LM_HDD, LM_TRACK, LM_SSD, LM_NVME };
enum lm_op { LM_READ, LM_WRITE, LM_FLUSH, LM_DISCARD };

/* Everything a specification can say.  README.md has the meaning and sources. */
struct lm_param {
	u64 kind, size, seed;
	u64 queue, ovh, bus, wcache, flush, fua, cpu;
	u64 load, load_period, slow, vol;
	u64 rpm, rate, inner, skew, seek, stroke, wsettle;
	u64 readahead, segments, age;
	u64 surfaces, hswitch, average;
	u64 channels, read, write, unit, wrate;
};

struct lm_stats {
	u64 reads, writes, flushes, discards, errors;
	u64 read_bytes, write_bytes, discard_bytes;
	u64 cache_hits, seeks, seek_ns, rot_ns, media_ns, busy_ns;
	u64 destages, cache_full, foreign_ns, queue, max_queue, superblocks;
};

struct lm_req {
	u64 pos, arrived;
	u32 len;
	u8 op;
	bool fua;
};

/* Completions still to come, earliest first; equal times in order of arrival. */
struct lm_heap {
	u32 n, seq;
	struct lm_event { u64 t; u32 seq, slot; } ev[LM_SLOTS];
};

/* Slots in order of arrival. */
struct lm_fifo {
	u32 n;
	u16 slot[LM_SLOTS];
};

struct lm_zone { u64 start, tau, ns_per_mib; };
struct lm_extent { u64 start, end; };
struct lm_segment { u64 start, end, used; };

/* Cylinders of one zone have tracks of the same lengths; bytes is their sum. */
struct lm_tracks {
	u64 cylinders, used, skew, cyl_tau, base;
	struct { u64 start, bytes, len[LM_SURFACES]; } zone[LM_ZONES];
};

struct lm_access { u64 seek, rot, media; };

/* What is served next: of the write cache or of the requests, which one. */
struct lm_choice {
	struct lm_access a;
	u64 cost;
	bool destage;
	u32 index;
};

enum lm_work { LM_IDLE, LM_MEDIA_READ, LM_MEDIA_WRITE, LM_DESTAGE };

struct lm_disk;

/*
 * In what the kinds of hard disks differ: where a position is in time, which
 * request is next, how long it takes, where the head is after it, how far it then
 * reads on from a read, and what a read from the buffer changes of that (or NULL).
 */
struct lm_mechanics {
	void (*setup)(struct lm_disk *d);
	u64 (*tau)(const struct lm_disk *d, u64 pos);
	u64 (*tau_inverse)(const struct lm_disk *d, u64 tau);
	bool (*choose)(struct lm_disk *d, u64 now, struct lm_choice *best);
	void (*serve)(struct lm_disk *d, u64 now, struct lm_access *a);
	void (*settle)(struct lm_disk *d, u64 now);
	void (*read_on)(struct lm_disk *d, u64 start);
	void (*hit)(struct lm_disk *d, u64 now, u64 end);
};

struct lm_hdd {
	const struct lm_mechanics *m;
	u64 rev, zone_len;
	struct lm_zone zone[LM_ZONES];
	struct lm_tracks tracks;
	/* The platter: media time ref_tau was under the head at ref_t. */
	u64 pos, ref_t, ref_tau, ref_skew, ra_end;
	/* Of a read of whole tracks: where it began, and that it ended within. */
	u64 arrived;
	bool wrapped, streaming;
	u32 seg;
	struct lm_segment segment[LM_SEGMENTS];
	/* What the mechanics do now. */
	enum lm_work work;
	u32 slot;
	u64 work_pos, work_end, until, defer;
	u64 foreign_next, foreign_free, foreign_n;
	struct lm_fifo pending, waiting, held;
	bool flushing;
	u32 flush_slot;
	u64 bus_free, dirty_bytes;
	u32 ndirty;
	struct lm_extent dirty[LM_EXTENTS];
};

struct lm_flash {
	u64 hold, last_write, wrate_free;
	u64 bus_free[2];
	u64 channel_free[LM_CHANNELS];
};

struct lm_disk {
	struct lm_param p;
	struct lm_stats st;
	struct lm_req req[LM_SLOTS];
	struct lm_heap heap;
	union {
		struct lm_hdd hdd;
		struct lm_flash flash;
	};
};

/* labdisk-param.c */
int lm_parse(struct lm_param *p, const char *spec, size_t len,
	     char *why, size_t why_len);
size_t lm_print_param(const struct lm_param *p, char *buf, size_t size);
size_t lm_print_stats(const struct lm_stats *st, char *buf, size_t size);

/* labdisk-model.c: what the engines share, and the way in */
void lm_setup(struct lm_disk *d, u64 now);
void lm_submit(struct lm_disk *d, u64 now, u32 slot, const struct lm_req *r);
u64 lm_next(const struct lm_disk *d);
bool lm_poll(struct lm_disk *d, u64 now, u32 *slot);
void lm_set_slow(struct lm_disk *d, u64 now, u64 percent);
void lm_set_load(struct lm_disk *d, u64 now, u64 percent, u64 period);
void lm_reset_stats(struct lm_disk *d);
void lm_heap_push(struct lm_heap *h, u64 t, u32 slot);
u64 lm_sqrt_ratio(u64 part, u64 whole);
u64 lm_hash(u64 seed, u64 n);

/* labdisk-hdd.c */
void lm_hdd_setup(struct lm_disk *d, u64 now);
void lm_hdd_submit(struct lm_disk *d, u64 now, u32 slot);
void lm_hdd_run(struct lm_disk *d, u64 now);
u64 lm_hdd_next(const struct lm_disk *d);
void lm_hdd_rebase(struct lm_disk *d, u64 now);
bool lm_continues(struct lm_disk *d, u64 now, const struct lm_req *r);
bool lm_overdue(const struct lm_disk *d, u64 now);
bool lm_destage_too(const struct lm_disk *d);

/* labdisk-platter.c: the geometry and the caches of a hard disk */
void lm_zones_setup(struct lm_disk *d);
u64 lm_tau(const struct lm_disk *d, u64 pos);
u64 lm_tau_inverse(const struct lm_disk *d, u64 tau);
u64 lm_skew(const struct lm_disk *d, u64 pos);
u64 lm_seek_time(const struct lm_param *p, u64 distance, bool write);
u64 lm_platter(const struct lm_disk *d, u64 now);
u64 lm_head(const struct lm_disk *d, u64 now);
struct lm_access lm_access_time(const struct lm_disk *d, u64 now, u64 pos,
				bool write);
bool lm_cached(struct lm_disk *d, u64 now, u64 start, u64 end);
struct lm_segment *lm_segment_at(struct lm_hdd *h, u32 n, u64 pos);
void lm_segment_catch_up(struct lm_disk *d, u64 now);
void lm_segment_read(struct lm_disk *d, u64 start, u64 end, u64 ra_end);
void lm_segment_drop(struct lm_hdd *h, u64 start, u64 end);
bool lm_dirty_add(struct lm_hdd *h, u64 start, u64 end);
void lm_dirty_cut(struct lm_hdd *h, u32 i, u64 len);

/* labdisk-track.c: the other hard disk */
extern const struct lm_mechanics lm_track;
u64 lm_track_seek(const struct lm_disk *d, u64 cylinders);

/* labdisk-flash.c */
void lm_flash_setup(struct lm_disk *d, u64 now);
void lm_flash_submit(struct lm_disk *d, u64 now, u32 slot);

static inline bool lm_rotates(const struct lm_param *p)
{
	return p->kind == LM_HDD || p->kind == LM_TRACK;
}

/* How long n bytes take at a rate of bytes a second; rate 0 takes no time. */
static inline u64 lm_transfer(u64 bytes, u64 rate)
{
	return rate ? bytes * 1000000000ull / rate : 0;
}

static inline u64 lm_slowed(const struct lm_disk *d, u64 ns)
{
	return ns * d->p.slow / 100;
}

static inline u64 lm_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 lm_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

#endif
