/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who uses which disk, for the roundrobin read policy: where a stream may go
 * without getting into the way of another one.  Owns what a mirror and a read
 * look like to the policy; what they cost is in read-policy-core.h.  Pure
 * functions that also compile in user space, under the rules of that file.
 */

#ifndef BTRFS_READ_POLICY_SHARE_CORE_H
#define BTRFS_READ_POLICY_SHARE_CORE_H

#include "read-policy-speed-core.h"

/* The most copies any mirrored profile has (RAID1C4). */
#define BTRFS_RR_MAX_MIRRORS		4

/* Streams with the same upper half of their numbers are most likely of one task. */
#define BTRFS_RR_TASK_SHIFT		8

/* One mirror as seen by one read. */
struct btrfs_rr_mirror {
	/* Predicted time of what is in flight on the device. */
	u64 load_ns;
	/* Where the last request to the device ended and where this one starts. */
	u64 last_end;
	u64 pos;
	/* Where the last completed request ended. */
	u64 head;
	/* Time since the device was last used, only valid while it is idle. */
	u64 idle_ns;
	u32 scale;
	/* By how much @scale may be wrong. */
	u32 doubt;
	/* The same for what is in flight, on flash. */
	u32 queue;
	u32 samples;
	/* The stream that uses the device, 0 if none does. */
	u16 owner;
	/* Position of the stripe in the chunk map. */
	u16 index;
	bool rot;
	/* Another stream used the device a moment ago, or many single reads did. */
	bool taken;
	/* Any stream did. */
	bool streaming;
	/* The last one that did was of the task of this read. */
	bool visited;
	/* Result: expected time until the read, or the region, is there. */
	u64 cost;
	/* Result: @scale, corrected where it is not worth much. */
	u32 eff_scale;
	/* Result: the cost is a guess, one read has to find out. */
	bool guess;
};

struct btrfs_rr_read {
	u64 len;
	/* How much a stream reads from a rotating mirror before it moves on. */
	u64 region;
	/* Readahead window, some of them are what one stream has in flight. */
	u64 readahead;
	/* How much this stream has read from the mirror @stick in one go. */
	u64 run;
	/* Mirror (by position in the array) the stream is on, or -1. */
	int stick;
	/* The stream's number, as in btrfs_rr_mirror::owner. */
	u16 stream;
	/* Large enough to be the start of a stream, if it is not part of one. */
	bool large;
	/* A stream that takes no turns and has been on @stick for long. */
	bool settled;
	/* One of several of its task, here and there. */
	bool single;
	/* Where to start among mirrors of equal cost. */
	unsigned int turn;
	/* What the user holds against a read that does not continue the last. */
	u64 rot_penalty_ns;
	u64 nonrot_penalty_ns;
	/* The position on disk is not known, every mirror counts as non-local. */
	bool unknown_pos;
};

/*
 * Disks that nobody knows yet are as fast as the fastest of those that are known, as
 * far as what was seen of them allows that, and no slower than an average disk: all
 * that are known may be busy with somebody else's work.
 */
static inline void btrfs_rr_settle_scales(struct btrfs_rr_mirror *mirrors, int nr)
{
	u32 fastest = BTRFS_RR_SCALE_ONE;

	for (int i = 0; i < nr; i++)
		if (mirrors[i].rot && !mirrors[i].doubt)
			fastest = min_t(u32, fastest, mirrors[i].scale);
	for (int i = 0; i < nr; i++) {
		struct btrfs_rr_mirror *m = &mirrors[i];

		if (m->doubt)
			m->scale = clamp_t(u32, fastest,
					   m->scale - min_t(u32, m->doubt, m->scale - 1),
					   m->scale + m->doubt);
	}
}

/* The speed of the fastest rotating mirror. */
static inline u32 btrfs_rr_fastest_rot(const struct btrfs_rr_mirror *mirrors, int nr)
{
	u32 best = U32_MAX;

	for (int i = 0; i < nr; i++)
		if (mirrors[i].rot)
			best = min_t(u32, best, mirrors[i].scale);
	return best;
}

/*
 * Can a stream take turns on this mirror?  One of less than half the speed of the
 * fastest would only be waited for, and one that another stream is using will not
 * be taken from it.
 */
static inline bool btrfs_rr_can_share(const struct btrfs_rr_mirror *m, u32 fastest)
{
	return m->rot && !m->taken && m->scale / 2 <= fastest;
}

/*
 * How many rotating mirrors the stream can have: with others about as many as each
 * of them, or who comes first takes all turns but those on the last one's disk.
 * Slow ones count, too: what they cost keeps the stream away until they are better.
 */
static inline unsigned int btrfs_rr_fair_share(const struct btrfs_rr_read *rd,
					       const struct btrfs_rr_mirror *mirrors, int nr)
{
	unsigned int streams = 1;
	unsigned int disks = 0;

	for (int i = 0; i < nr; i++) {
		const u16 owner = mirrors[i].owner;
		bool seen = !owner || owner == rd->stream;

		if (!mirrors[i].rot)
			continue;
		disks++;
		for (int k = 0; k < i; k++)
			seen |= mirrors[k].owner == owner;
		streams += !seen;
	}
	return (disks + streams - 1) / streams;
}

/* Among how many of two or more rotating mirrors a stream can take turns. */
static inline unsigned int btrfs_rr_nr_sharers(const struct btrfs_rr_read *rd,
					       const struct btrfs_rr_mirror *mirrors, int nr)
{
	const u32 fastest = btrfs_rr_fastest_rot(mirrors, nr);
	unsigned int sharers = 0;

	for (int i = 0; i < nr; i++)
		sharers += btrfs_rr_can_share(&mirrors[i], fastest);
	return clamp_t(unsigned int, sharers, 2,
		       max_t(unsigned int, btrfs_rr_fair_share(rd, mirrors, nr), 2));
}

/* Does the stream that uses @self use another mirror than @stick, too? */
static inline bool btrfs_rr_owns_another(const struct btrfs_rr_mirror *mirrors, int nr,
					 int self, int stick)
{
	for (int i = 0; i < nr; i++)
		if (i != self && i != stick && mirrors[i].owner == mirrors[self].owner)
			return true;
	return false;
}

/*
 * Where a stream can go that has to share a disk with another, as a bit mask: to
 * a disk that nobody uses, or to one of several that one stream has, which will
 * do with the rest.  The one with several leaves it to the other, not both.
 */
static inline unsigned int btrfs_rr_refuges(const struct btrfs_rr_read *rd,
					    const struct btrfs_rr_mirror *mirrors, int nr)
{
	const u32 fastest = btrfs_rr_fastest_rot(mirrors, nr);
	unsigned int untaken = 0;
	unsigned int spare = 0;

	for (int i = 0; i < nr; i++) {
		const struct btrfs_rr_mirror *m = &mirrors[i];

		/* Two on one disk get less than half each, and what looks slow may be noise. */
		if (i == rd->stick || !m->rot || m->scale / 3 > fastest)
			continue;
		/* Single reads of a moment ago do not matter to who has to share else. */
		if (!m->taken || (!m->owner && !m->load_ns))
			untaken |= 1U << i;
		else if (m->owner && m->owner != rd->stream &&
			 (rd->stick < 0 || m->owner != mirrors[rd->stick].owner) &&
			 btrfs_rr_owns_another(mirrors, nr, i, rd->stick))
			spare |= 1U << i;
	}
	return untaken ? untaken : spare;
}

/* The disks that the task of the read uses, as a bit mask. */
static inline unsigned int btrfs_rr_of_task(const struct btrfs_rr_read *rd,
					    const struct btrfs_rr_mirror *mirrors, int nr)
{
	unsigned int own = 0;

	for (int i = 0; i < nr; i++)
		if (mirrors[i].rot && mirrors[i].owner &&
		    !((mirrors[i].owner ^ rd->stream) >> BTRFS_RR_TASK_SHIFT))
			own |= 1U << i;
	return own;
}

/* Is the disk that the stream is on used by another one, too? */
static inline bool btrfs_rr_is_crowded(const struct btrfs_rr_read *rd,
				       const struct btrfs_rr_mirror *mirrors)
{
	const struct btrfs_rr_mirror *m = &mirrors[rd->stick];

	return m->rot && m->owner && m->owner != rd->stream;
}

/*
 * Where a stream can go after its turn, as a bit mask: to flash and to disks that
 * nobody else uses, but not to more of them than it can have.  Who has too many
 * stays where it is until the others are empty.
 */
static inline unsigned int btrfs_rr_untaken(const struct btrfs_rr_read *rd,
					    const struct btrfs_rr_mirror *mirrors, int nr)
{
	unsigned int untaken = 0, flash = 0, own = 0;
	unsigned int count = 0;
	unsigned int share;

	for (int i = 0; i < nr; i++) {
		if (!mirrors[i].rot)
			flash |= 1U << i;
		else if (!mirrors[i].taken)
			untaken |= 1U << i;
		if (mirrors[i].rot && (i == rd->stick || mirrors[i].owner == rd->stream)) {
			own |= 1U << i;
			count++;
		}
	}
	if (rd->stick < 0 || !mirrors[rd->stick].rot)
		return untaken | flash;
	share = btrfs_rr_fair_share(rd, mirrors, nr);
	if (count == share)
		untaken &= own;
	else if (count > share)
		untaken &= 1U << rd->stick;
	return untaken | flash;
}

#endif
