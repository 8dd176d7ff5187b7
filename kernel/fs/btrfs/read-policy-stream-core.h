/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stream table of the roundrobin read policy: who will read where next.
 * Owns the format of its words and what they are found by; whose memory they
 * are in and when they are read and written is the caller's.  Pure functions
 * that also compile in user space, under the rules of read-policy-core.h.
 */

#ifndef BTRFS_READ_POLICY_STREAM_CORE_H
#define BTRFS_READ_POLICY_STREAM_CORE_H

#include "read-policy-core.h"

/*
 * One word per slot remembers where a stream will read next, so any number of
 * sequential readers is recognised with one lookup.
 *
 *   63..44 part of the hash   43..40 singles   39..32 window in 256K
 *   31..30 mirror   29..16 run in 4K   15..0 stream
 *
 * Slots are read and written without locks.  Losing one costs one suboptimal
 * choice and nothing else.
 */
#define BTRFS_RR_TAILS_BITS		12
#define BTRFS_RR_TAILS			BIT(BTRFS_RR_TAILS_BITS)
#define BTRFS_RR_RUN_UNIT_SHIFT		12
#define BTRFS_RR_RUN_MAX		((1U << 14) - 1)
#define BTRFS_RR_WINDOW_UNIT_SHIFT	18
#define BTRFS_RR_WINDOW_MAX		((1U << 8) - 1)
#define BTRFS_RR_SINGLES_SHIFT		40
#define BTRFS_RR_SINGLES_END		BIT(4)
#define BTRFS_RR_TAG_SHIFT		44

/* Addresses that do not exist on disk, for what a task has read. */
#define BTRFS_RR_TASK_KEY(pid)		(BIT_ULL(63) | (u64)(pid) << BTRFS_RR_RUN_UNIT_SHIFT)

struct btrfs_rr_stream {
	u64 run;
	/* The most it had in flight on rotating mirrors, the read at hand included. */
	u64 window;
	u16 id;
	u8 mirror;
	/* Reads so far that may be single ones, round and round, 0 once it is a stream. */
	u8 singles;
};

/*
 * Were both left by the same read?  Numbers are short, and among many single reads
 * that are taken for the streams of others soon all would be.
 */
static inline bool btrfs_rr_is_same(const struct btrfs_rr_stream *a,
				    const struct btrfs_rr_stream *b)
{
	return a->id == b->id && a->mirror == b->mirror && a->run == b->run;
}

static inline u64 btrfs_rr_hash(u64 key)
{
	return (key >> BTRFS_RR_RUN_UNIT_SHIFT) * 0x61c8864680b583ebULL;
}

/*
 * The first of the pair of slots that either may hold the word.  Pieces of 64K, as
 * RAID10 has them, take a stream through so many slots that with one each it would
 * soon overwrite that of another stream.
 */
static inline unsigned int btrfs_rr_pair(u64 hash)
{
	return hash >> (64 - BTRFS_RR_TAILS_BITS) & ~1U;
}

static inline u32 btrfs_rr_tag(u64 hash)
{
	return (u32)(hash >> (32 - BTRFS_RR_TAILS_BITS)) >> (BTRFS_RR_TAG_SHIFT - 32);
}

/*
 * A new stream's number, never 0, with the task in the upper half.  The time makes it
 * differ from that of an earlier reader of the same file, which may live on in the
 * reader of the next.
 */
static inline u16 btrfs_rr_stream_id(u64 hash, u64 now, u32 pid)
{
	const u8 number = (hash ^ now * 0x61c8864680b583ebULL) >> 24;

	return (u16)(pid << BTRFS_RR_TASK_SHIFT) | number | 1;
}

static inline u64 btrfs_rr_tail_pack(u64 hash, const struct btrfs_rr_stream *st)
{
	const u64 run = min_t(u64, st->run >> BTRFS_RR_RUN_UNIT_SHIFT, BTRFS_RR_RUN_MAX);
	const u64 window = min_t(u64, st->window >> BTRFS_RR_WINDOW_UNIT_SHIFT,
				 BTRFS_RR_WINDOW_MAX);

	return (u64)btrfs_rr_tag(hash) << BTRFS_RR_TAG_SHIFT |
	       (u64)st->singles << BTRFS_RR_SINGLES_SHIFT | window << 32 |
	       (u64)(st->mirror & 3) << 30 | run << 16 | st->id;
}

/* Does the slot's word belong to @hash?  Fills @st if so. */
static inline bool btrfs_rr_tail_match(u64 tail, u64 hash, struct btrfs_rr_stream *st)
{
	if (!(u16)tail || (u32)(tail >> BTRFS_RR_TAG_SHIFT) != btrfs_rr_tag(hash))
		return false;
	st->mirror = (tail >> 30) & 3;
	st->run = ((tail >> 16) & BTRFS_RR_RUN_MAX) << BTRFS_RR_RUN_UNIT_SHIFT;
	st->window = ((tail >> 32) & BTRFS_RR_WINDOW_MAX) << BTRFS_RR_WINDOW_UNIT_SHIFT;
	st->singles = (tail >> BTRFS_RR_SINGLES_SHIFT) % BTRFS_RR_SINGLES_END;
	st->id = tail;
	return true;
}

/* Find the slot that belongs to @hash and fill @st, NULL if there is none. */
static inline u64 *btrfs_rr_find_tail(u64 *tails, u64 hash, struct btrfs_rr_stream *st)
{
	u64 *pair = &tails[btrfs_rr_pair(hash)];

	for (int i = 0; i < 2; i++)
		if (btrfs_rr_tail_match(READ_ONCE(pair[i]), hash, st))
			return &pair[i];
	return NULL;
}

/*
 * Put the stream into a slot for @hash: its own, an empty one, or that of who has
 * read less in one go and is more likely to be no stream at all.
 */
static inline void btrfs_rr_store_tail(u64 *tails, u64 hash, const struct btrfs_rr_stream *st)
{
	u64 *pair = &tails[btrfs_rr_pair(hash)];
	struct btrfs_rr_stream old;
	u64 run[2];

	for (int i = 0; i < 2; i++) {
		const u64 tail = READ_ONCE(pair[i]);

		run[i] = tail ? (tail >> 16) & BTRFS_RR_RUN_MAX : 0;
		if (btrfs_rr_tail_match(tail, hash, &old))
			run[i] = 0;
	}
	WRITE_ONCE(pair[run[1] < run[0]], btrfs_rr_tail_pack(hash, st));
}

#endif
