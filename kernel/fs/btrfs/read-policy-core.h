/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of the roundrobin read policy: what a read is expected to
 * cost on each mirror and which mirror to take.  Pure functions over numbers
 * the caller collected, so that the same file also compiles in user space for
 * unit tests and simulation.  Must not sleep, lock, allocate or look at any
 * other btrfs structure.
 */

#ifndef BTRFS_READ_POLICY_CORE_H
#define BTRFS_READ_POLICY_CORE_H

#include "read-policy-share-core.h"

/*
 * What an average device of either kind needs.  The measured speed of a device
 * is applied on top, so only the ratio of seek to transfer matters.
 */
#define BTRFS_RR_ROT_BYTE_NS		5
#define BTRFS_RR_NONROT_BYTE_NS		2
/* The shortest seek with half a turn, and what each doubling of the way adds. */
#define BTRFS_RR_SEEK_MIN_NS		(3200 * NSEC_PER_USEC)
#define BTRFS_RR_SEEK_DOUBLING_NS	(240 * NSEC_PER_USEC)
#define BTRFS_RR_SEEK_UNIT_SHIFT	20

/* One unit of the penalties a user can set: a tenth of a seek, one flash access. */
#define BTRFS_RR_ROT_PENALTY_NS		NSEC_PER_MSEC
#define BTRFS_RR_NONROT_PENALTY_NS	(100 * NSEC_PER_USEC)
#define BTRFS_RR_PENALTY_MAX		1000

/* Keeps scale * time within 64 bits. */
#define BTRFS_RR_TIME_MAX_NS		BIT_ULL(36)

/* Up to about two single reads on a disk, the one with the least to do is the best. */
#define BTRFS_RR_SHORT_QUEUE_NS		(12 * NSEC_PER_MSEC)

/* A disk that takes that many times as long as the best is left at once. */
#define BTRFS_RR_FAR_SLOWER		4
/* The same while nobody knows the best: to find out costs a few seeks, once. */
#define BTRFS_RR_SLOWER_THAN_UNKNOWN	2

/* Flash for that many times is left to those who read a little. */
#define BTRFS_RR_FLASH_FAR_SLOWER	8

/* Reads of a stream keep together on flash up to here, so that they merge. */
#define BTRFS_RR_NONROT_RUN		SZ_256K

#define BTRFS_RR_REGION_MIN		SZ_1M
#define BTRFS_RR_REGION_MAX		SZ_32M
/* The most where mirrors take turns; REGION_MAX says that they do not. */
#define BTRFS_RR_REGION_SHARED_MAX	(3 * SZ_8M)
/* A stream without turns is settled on a disk after as much, a slow one it knows before. */
#define BTRFS_RR_SETTLED		SZ_16M
#define BTRFS_RR_SETTLED_SLOW		SZ_4M
/* As much is worth a seek when another mirror has nothing to do. */
#define BTRFS_RR_REGION_ENOUGH		SZ_8M
#define BTRFS_RR_READAHEAD_MAX		SZ_64M

/*
 * A larger read is taken piece by piece: the reader gets nothing before all of
 * a request is there, and flash can do more for it than one decision sees.
 */
#define BTRFS_RR_ROT_PIECE		SZ_2M
#define BTRFS_RR_NONROT_PIECE		SZ_1M
/* Splitting a read costs CPU time and a bio, smaller pieces are not worth it. */
#define BTRFS_RR_SPLIT_MIN		SZ_256K

static inline u64 btrfs_rr_transfer_ns(bool rot, u64 len)
{
	return len * (rot ? BTRFS_RR_ROT_BYTE_NS : BTRFS_RR_NONROT_BYTE_NS);
}

/* Logarithm in eighths, 0 for 0, straight lines between powers of two. */
static inline u64 btrfs_rr_log2(u64 n)
{
	const int bits = fls64(n);

	return bits ? bits * 8 + ((n << 3) >> (bits - 1)) - 8 : 0;
}

/*
 * Time for the heads to get from one place to another.  A short way forward is
 * no seek, the platter passes under the head at the speed of reading.
 */
static inline u64 btrfs_rr_seek_ns(u64 from, u64 to)
{
	u64 dist = from < to ? to - from : from - to;
	u64 ns = BTRFS_RR_SEEK_MIN_NS;

	ns += btrfs_rr_log2(dist >> BTRFS_RR_SEEK_UNIT_SHIFT) *
	      (BTRFS_RR_SEEK_DOUBLING_NS / 8);
	if (from <= to && dist < SZ_2M)
		ns = min_t(u64, ns, btrfs_rr_transfer_ns(true, dist));
	return ns;
}

/* Time a device of average speed needs for a request when it is idle. */
static inline u64 btrfs_rr_request_ns(bool rot, u64 last_end, u64 pos, u64 len)
{
	u64 ns = btrfs_rr_transfer_ns(rot, len);

	return ns + (rot ? btrfs_rr_seek_ns(last_end, pos) : BTRFS_RR_NONROT_BASE_NS);
}

/* What is added to the in-flight time of a device, never 0. */
static inline u32 btrfs_rr_charge_ns(bool rot, u64 last_end, u64 pos, u64 len)
{
	return clamp_t(u64, btrfs_rr_request_ns(rot, last_end, pos, len), 1, U32_MAX);
}

/*
 * Bytes a stream reads from one of @nr_rot rotating mirrors before it may go on
 * to the next.  The longer, the fewer seeks, but the other mirrors only find
 * work within @window, the most the stream had in flight: that is two readahead
 * windows, and a bit less than a multiple of them keeps the ends of regions from
 * always falling on the ends of windows.  A region of less than what passes
 * under the head during a seek would gain nothing, there the stream stays.
 */
static inline u64 btrfs_rr_region_bytes(unsigned int nr_rot, u64 window)
{
	u64 region;

	if (nr_rot < 2)
		return BTRFS_RR_REGION_MAX;
	region = (window - (window >> 4)) >> (nr_rot - 2);
	if (region < BTRFS_RR_REGION_MIN)
		return BTRFS_RR_REGION_MAX;
	return min_t(u64, region, BTRFS_RR_REGION_SHARED_MAX);
}

/* How much of a read to decide about at once. */
static inline u64 btrfs_rr_piece_bytes(u64 len, bool all_rot)
{
	return min_t(u64, len, all_rot ? BTRFS_RR_ROT_PIECE : BTRFS_RR_NONROT_PIECE);
}

/* The fastest other mirror of the same kind, 0 when there is none. */
static inline u32 btrfs_rr_peer_scale(const struct btrfs_rr_mirror *mirrors, int nr,
				      int self)
{
	u32 best = 0;

	for (int i = 0; i < nr; i++) {
		if (i == self || mirrors[i].rot != mirrors[self].rot)
			continue;
		if (!best || mirrors[i].scale < best)
			best = mirrors[i].scale;
	}
	return best;
}

/*
 * What may be noise in the difference to @peer.  The speed of flash is known well,
 * as single reads all take the same time; disks differ from seek to seek.
 */
static inline u32 btrfs_rr_noise(const struct btrfs_rr_mirror *m, u32 peer)
{
	return peer / (m->rot ? 2 : 16);
}

/* The same for the mirror that @rd is on: a stream that is settled does not seek. */
static inline u32 btrfs_rr_noise_of(const struct btrfs_rr_read *rd,
				    const struct btrfs_rr_mirror *m, bool stick, u32 peer)
{
	return stick && rd->settled ? peer / 32 : btrfs_rr_noise(m, peer);
}

/*
 * Seeks tell little of how fast a disk is to a stream, so one that is settled tries
 * each of them once.
 */
static inline bool btrfs_rr_tries(const struct btrfs_rr_read *rd,
				  const struct btrfs_rr_mirror *mirrors, int self)
{
	return rd->settled && self != rd->stick && !mirrors[self].visited;
}

/* A slow disk is known before it is known how slow. */
static inline bool btrfs_rr_looks_slow(const struct btrfs_rr_mirror *m, u32 peer)
{
	return m->rot && peer && m->scale / 2 > peer;
}

/*
 * The measured speed, corrected where it is not worth much: a device that was
 * hardly used yet gets a chance, and the memory of a slow one that is idle
 * fades, halving the distance to its fastest peer every second, until a read
 * finds out how it is now.  On flash, where such a read costs less, it fades four
 * times as fast.
 */
static inline u32 btrfs_rr_eff_scale(const struct btrfs_rr_read *rd,
				     const struct btrfs_rr_mirror *mirrors, int nr, int self)
{
	const struct btrfs_rr_mirror *m = &mirrors[self];
	/* 2^30 ns is close enough to a second, and a shift. */
	const unsigned int half_life = m->rot ? 30 : 28;
	u32 peer, excess;
	u64 halvings;

	peer = btrfs_rr_peer_scale(mirrors, nr, self);
	if (m->samples < BTRFS_RR_SAMPLES_TRUSTED && !btrfs_rr_looks_slow(m, peer))
		return (peer && !m->samples ? min_t(u32, m->scale, peer) : m->scale) / 2;
	if (!peer || m->scale <= peer)
		return btrfs_rr_tries(rd, mirrors, self) ? m->scale / 2 : m->scale;
	if (m->scale - peer <= btrfs_rr_noise_of(rd, m, rd->stick == self, peer))
		return btrfs_rr_tries(rd, mirrors, self) ? peer / 2 : peer;
	if (m->load_ns)
		return m->scale;

	peer -= peer / 10;
	excess = m->scale - peer;
	halvings = m->idle_ns >> half_life;
	if (halvings > 31)
		return peer;
	excess >>= halvings;
	excess -= ((u64)excess * (m->idle_ns & ((1U << half_life) - 1))) >> (half_life + 1);
	return peer + excess;
}

static inline bool btrfs_rr_any_flash(const struct btrfs_rr_mirror *mirrors, int nr)
{
	for (int i = 0; i < nr; i++)
		if (!mirrors[i].rot)
			return true;
	return false;
}

/*
 * A stream with little in flight takes no turns: each would cost more than it gains.
 * Has it read enough from the disk that it is on to think of another for good?
 */
static inline bool btrfs_rr_is_settled(const struct btrfs_rr_read *rd,
				       const struct btrfs_rr_mirror *mirrors, int nr)
{
	u32 peer;

	if (rd->stick < 0 || rd->run < BTRFS_RR_SETTLED_SLOW || btrfs_rr_any_flash(mirrors, nr))
		return false;
	peer = btrfs_rr_peer_scale(mirrors, nr, rd->stick);
	return rd->run >= BTRFS_RR_SETTLED || btrfs_rr_looks_slow(&mirrors[rd->stick], peer);
}

/*
 * Bytes to compare mirrors for.  A stream on rotating mirrors goes somewhere for
 * a whole region, where flash is to choose from it does not.
 */
static inline u64 btrfs_rr_cost_len(const struct btrfs_rr_read *rd,
				    const struct btrfs_rr_mirror *mirrors, int nr)
{
	if (rd->settled)
		return BTRFS_RR_REGION_MAX;
	if (rd->stick < 0 || rd->region == BTRFS_RR_REGION_MAX ||
	    btrfs_rr_any_flash(mirrors, nr))
		return rd->len;
	return max_t(u64, rd->len, rd->region);
}

/*
 * How long a read waits for what is in flight.  One that is part of no stream has
 * others after it that will wait for it in turn, which counts as much: flash that
 * is faster, yet does no more with another read in flight, leaves it to the others.
 */
static inline u64 btrfs_rr_wait_ns(const struct btrfs_rr_read *rd,
				   const struct btrfs_rr_mirror *m)
{
	const u64 load = min_t(u64, m->load_ns, BTRFS_RR_TIME_MAX_NS);
	const u64 wait = (load * (m->rot ? m->eff_scale : m->queue)) >> BTRFS_RR_SCALE_SHIFT;

	return !m->rot && rd->stick < 0 ? 2 * wait : wait;
}

static inline void btrfs_rr_set_cost(const struct btrfs_rr_read *rd,
				     struct btrfs_rr_mirror *mirrors, int nr, int self,
				     u64 len)
{
	struct btrfs_rr_mirror *m = &mirrors[self];
	const bool local = !rd->unknown_pos && m->last_end == m->pos;
	u64 ns;

	/* What is longer than a region will be split. */
	ns = btrfs_rr_request_ns(m->rot, rd->unknown_pos ? 0 : m->last_end,
				 rd->unknown_pos ? U64_MAX : m->pos,
				 m->rot && !rd->settled ? min_t(u64, len, rd->region) : len);
	if (!local)
		ns += m->rot ? rd->rot_penalty_ns : rd->nonrot_penalty_ns;
	ns = min_t(u64, ns, BTRFS_RR_TIME_MAX_NS);
	m->eff_scale = btrfs_rr_eff_scale(rd, mirrors, nr, self);
	m->cost = ((ns * m->eff_scale) >> BTRFS_RR_SCALE_SHIFT) + btrfs_rr_wait_ns(rd, m);
	/* More than what is noise was taken off. */
	m->guess = m->samples >= BTRFS_RR_SAMPLES_TRUSTED &&
		   m->eff_scale < m->scale / 3 * 2 && !btrfs_rr_tries(rd, mirrors, self);
}

/*
 * How much more than the cheapest a mirror may cost and still be its equal.  On
 * an idle disk that is next to nothing, the nearer head is the better one.
 */
static inline u64 btrfs_rr_tie(const struct btrfs_rr_mirror *best)
{
	if (!best->rot)
		return best->cost + (best->cost >> 3);
	return best->cost + (best->cost >> (best->load_ns ? 5 : 8));
}

/* In a queue even equal devices look up to twice as fast as each other. */
static inline bool btrfs_rr_are_equal(const struct btrfs_rr_mirror *m,
				      const struct btrfs_rr_mirror *best)
{
	const u32 slower = max_t(u32, m->eff_scale, best->eff_scale);
	const u32 faster = min_t(u32, m->eff_scale, best->eff_scale);

	if (m->rot != best->rot || m->cost > btrfs_rr_tie(best))
		return false;
	/* Where hardly any read waits, the cost does not tell who has more to do. */
	if (!m->rot && m->load_ns > best->load_ns + (best->load_ns >> 3))
		return false;
	return slower == faster || (best->load_ns && slower / 2 <= faster);
}

/*
 * The cheapest of the mirrors in the bit mask @allowed, which is not empty.
 * Among equals the turn decides; mirrors of different kinds or speeds are none.
 */
static inline int btrfs_rr_cheapest(const struct btrfs_rr_mirror *mirrors, int nr,
				    unsigned int allowed, unsigned int turn)
{
	int best = -1;
	int i;

	for (i = 0; i < nr; i++) {
		if (!(allowed & (1U << i)))
			continue;
		if (best < 0 || mirrors[i].cost < mirrors[best].cost ||
		    (mirrors[i].cost == mirrors[best].cost &&
		     mirrors[i].load_ns < mirrors[best].load_ns))
			best = i;
	}
	i = turn % nr;
	for (int k = 0; k < nr; k++) {
		if ((allowed & (1U << i)) &&
		    btrfs_rr_are_equal(&mirrors[i], &mirrors[best]))
			return i;
		i = i + 1 < nr ? i + 1 : 0;
	}
	return best;
}

/* Where the next read will find the heads: after a single request, where that ends. */
static inline u64 btrfs_rr_way(const struct btrfs_rr_mirror *m)
{
	const u64 head = m->load_ns < 2 * BTRFS_RR_SEEK_MIN_NS ? m->last_end : m->head;

	return head > m->pos ? head - m->pos : m->pos - head;
}

/*
 * Single reads on disks that are all busy with such: each should get those of
 * one area, then its heads have less far to go.  So the nearest head decides
 * among disks of about the speed of @best, unless the queue there is much longer.
 * Large reads may go only where @allowed says, small ones to no disk with a stream.
 */
static inline int btrfs_rr_nearest(const struct btrfs_rr_read *rd,
				   const struct btrfs_rr_mirror *mirrors, int nr,
				   unsigned int allowed, int best)
{
	const u64 cost = mirrors[best].cost;
	const u64 limit = rd->large ? cost + cost / 2 : 3 * cost;
	u64 shortest = btrfs_rr_way(&mirrors[best]);
	int nearest = best;

	for (int i = 0; i < nr; i++) {
		const struct btrfs_rr_mirror *m = &mirrors[i];

		if (!(allowed & (1U << i)) ||
		    (m->rot && m->scale / 3 * 2 > mirrors[best].scale))
			continue;
		if (!m->rot || !m->load_ns || (m->streaming && !rd->large))
			return best;
		if (m->cost <= limit && btrfs_rr_way(m) < shortest) {
			shortest = btrfs_rr_way(m);
			nearest = i;
		}
	}
	return nearest;
}

/* Does any disk of @disks have more than a short queue? */
static inline bool btrfs_rr_any_queues(const struct btrfs_rr_mirror *mirrors, int nr,
				       unsigned int disks)
{
	for (int i = 0; i < nr; i++)
		if ((disks & (1U << i)) && mirrors[i].load_ns > BTRFS_RR_SHORT_QUEUE_NS)
			return true;
	return false;
}

/*
 * Does the disk @m take many times as long as the disk @best?  The first reads of a
 * disk may be one request that had the angle against it.
 */
static inline bool btrfs_rr_is_far_slower(const struct btrfs_rr_mirror *m,
					  const struct btrfs_rr_mirror *best)
{
	const bool known = best->samples >= BTRFS_RR_SAMPLES_TRUSTED;
	const u32 times = known ? BTRFS_RR_FAR_SLOWER : BTRFS_RR_SLOWER_THAN_UNKNOWN;

	return m->rot && best->rot && m->samples >= BTRFS_RR_SAMPLES_TRUSTED &&
	       m->scale / times > best->scale;
}

/*
 * Too far behind the best mirror to be worth waiting for.  What the stream
 * itself has in flight is no reason to leave: two windows, twice that for a
 * reader that announced sequential access, and half as much again because the
 * predictions are not exact.
 */
static inline bool btrfs_rr_overloaded(const struct btrfs_rr_read *rd,
				       const struct btrfs_rr_mirror *m,
				       const struct btrfs_rr_mirror *best)
{
	return btrfs_rr_is_far_slower(m, best) ||
	       m->cost > 4 * best->cost + btrfs_rr_transfer_ns(m->rot, 6 * rd->readahead);
}

/*
 * Flash that a stream does better without, as a bit mask: what is that much slower
 * adds little, and the reader may wait for a piece from there.
 */
static inline unsigned int btrfs_rr_slow_flash(const struct btrfs_rr_mirror *mirrors, int nr)
{
	unsigned int slow = 0;
	u32 fastest = U32_MAX;

	for (int i = 0; i < nr; i++)
		if (!mirrors[i].rot)
			fastest = min_t(u32, fastest, mirrors[i].eff_scale);
	for (int i = 0; i < nr; i++)
		if (!mirrors[i].rot && mirrors[i].eff_scale / BTRFS_RR_FLASH_FAR_SLOWER > fastest)
			slow |= 1U << i;
	return slow;
}

/* Is there a flash mirror that would be done earlier? */
static inline bool btrfs_rr_flash_is_faster(const struct btrfs_rr_mirror *mirrors, int nr,
					    const struct btrfs_rr_mirror *m)
{
	for (int i = 0; i < nr; i++)
		if (!mirrors[i].rot && mirrors[i].cost < m->cost)
			return true;
	return false;
}

/*
 * Is a mirror idle while most of a region is still to come from the one the
 * stream is on?  Large regions of different mirrors do not end in turn.
 */
static inline bool btrfs_rr_another_is_idle(const struct btrfs_rr_read *rd,
					    const struct btrfs_rr_mirror *mirrors, int nr,
					    unsigned int allowed)
{
	const u32 fastest = btrfs_rr_fastest_rot(mirrors, nr);

	if (rd->run < max_t(u64, rd->region / 2, BTRFS_RR_REGION_ENOUGH) ||
	    mirrors[rd->stick].load_ns < btrfs_rr_transfer_ns(true, rd->region / 2))
		return false;
	for (int i = 0; i < nr; i++)
		if (i != rd->stick && (allowed & (1U << i)) && !mirrors[i].load_ns &&
		    btrfs_rr_can_share(&mirrors[i], fastest))
			return true;
	return false;
}

/* Should a stream stay where it is without looking any further? */
static inline bool btrfs_rr_stays(const struct btrfs_rr_read *rd,
				  const struct btrfs_rr_mirror *mirrors, int nr,
				  const struct btrfs_rr_mirror *best,
				  unsigned int allowed, bool over)
{
	const struct btrfs_rr_mirror *m = &mirrors[rd->stick];

	if (!m->rot)
		return rd->run < BTRFS_RR_NONROT_RUN &&
		       m->cost <= best->cost + best->cost / 2;
	if (over || rd->run >= rd->region || rd->settled ||
	    btrfs_rr_another_is_idle(rd, mirrors, nr, allowed))
		return false;
	return !btrfs_rr_flash_is_faster(mirrors, nr, m);
}

/*
 * Choose for a read that is part of no stream, with @best the cheapest mirror and
 * @allowed those that no stream is using.  The beginning of one goes where it
 * disturbs nobody, and so do several large reads of a task at once: to the disks
 * that have those already, rather than to one that somebody else is using.
 */
static inline int btrfs_rr_choose_anew(const struct btrfs_rr_read *rd,
				       const struct btrfs_rr_mirror *mirrors, int nr,
				       unsigned int allowed, int best)
{
	if (!rd->large)
		return btrfs_rr_nearest(rd, mirrors, nr, (1U << nr) - 1, best);
	if (rd->single)
		allowed |= btrfs_rr_of_task(rd, mirrors, nr);
	if (!allowed)
		allowed = btrfs_rr_refuges(rd, mirrors, nr);
	if (!allowed)
		return best;
	best = btrfs_rr_cheapest(mirrors, nr, allowed, rd->turn);
	if (rd->single && btrfs_rr_any_queues(mirrors, nr, allowed))
		return btrfs_rr_nearest(rd, mirrors, nr, allowed, best);
	return best;
}

/*
 * Choose among @nr mirrors, returns the position in the array.
 *
 * A stream stays on a rotating mirror for a region and then takes the cheapest
 * mirror that no other stream is using: a disk that looks idle between two
 * reads of another stream is not, and taking it makes both of them seek.
 */
static inline int btrfs_rr_choose(const struct btrfs_rr_read *rd,
				  struct btrfs_rr_mirror *mirrors, int nr)
{
	unsigned int all = (1U << nr) - 1;
	const u64 len = btrfs_rr_cost_len(rd, mirrors, nr);
	unsigned int allowed = btrfs_rr_untaken(rd, mirrors, nr);
	bool over;
	int best;

	for (int i = 0; i < nr; i++)
		btrfs_rr_set_cost(rd, mirrors, nr, i, len);
	if (rd->stick >= 0 || rd->large)
		all &= ~btrfs_rr_slow_flash(mirrors, nr);
	allowed &= all;
	best = btrfs_rr_cheapest(mirrors, nr, all, rd->turn);
	if (rd->stick < 0)
		return btrfs_rr_choose_anew(rd, mirrors, nr, allowed, best);

	if (btrfs_rr_is_crowded(rd, mirrors)) {
		const unsigned int refuges = btrfs_rr_refuges(rd, mirrors, nr);

		if (refuges)
			return btrfs_rr_cheapest(mirrors, nr, refuges | allowed, rd->turn);
	}
	over = btrfs_rr_overloaded(rd, &mirrors[rd->stick], &mirrors[best]);
	if (btrfs_rr_stays(rd, mirrors, nr, &mirrors[best], allowed, over))
		return rd->stick;

	allowed |= all & (over ? all : 1U << rd->stick);
	best = btrfs_rr_cheapest(mirrors, nr, allowed, rd->turn);
	/* Among equals a stream without turns stays where it is. */
	if (rd->settled && !over && mirrors[best].cost >= mirrors[rd->stick].cost)
		return rd->stick;
	return best;
}

/*
 * Can no other flash mirror be better than @m for a read that is part of no stream,
 * with @fastest the lowest scale of all?  It has nothing to do, and what it is
 * slower by is noise.
 */
static inline bool btrfs_rr_flash_is_best(const struct btrfs_rr_mirror *m, u32 fastest)
{
	return !m->load_ns &&
	       (m->scale <= fastest || m->scale - fastest <= btrfs_rr_noise(m, fastest));
}

/*
 * Bytes of the read that should go to the chosen mirror, the rest is to be
 * decided anew: a stream on a rotating mirror ends at its region, and a large
 * read is shared among flash mirrors that have nothing to do.
 */
static inline u64 btrfs_rr_split(const struct btrfs_rr_read *rd,
				 const struct btrfs_rr_mirror *mirrors, int nr, int pick)
{
	const struct btrfs_rr_mirror *m = &mirrors[pick];
	unsigned int sharers = 1;

	if (rd->len < 2 * BTRFS_RR_SPLIT_MIN)
		return rd->len;
	if (m->rot) {
		/* Staying at the end of a region begins another one. */
		const u64 run = pick == rd->stick && rd->run < rd->region ? rd->run : 0;

		if (run + rd->len < rd->region + BTRFS_RR_SPLIT_MIN)
			return rd->len;
		return max_t(u64, rd->region - run, BTRFS_RR_SPLIT_MIN);
	}
	/* Only mirrors that would not make the whole read wait for them. */
	for (int i = 0; i < nr; i++)
		if (i != pick && !mirrors[i].rot && !mirrors[i].load_ns &&
		    !m->load_ns && mirrors[i].cost <= m->cost + m->cost / 2)
			sharers++;
	if (sharers == 1)
		return rd->len;
	return max_t(u64, div_u64(rd->len + sharers - 1, sharers), BTRFS_RR_SPLIT_MIN);
}

#endif
