// SPDX-License-Identifier: GPL-2.0-only
/*
 * The roundrobin read policy: choice of the mirror.
 *
 * A read goes to the mirror where its own time, and what it takes from tasks there, is least:
 *
 *	cost = wait + own + harm + leave
 *
 *	wait	what is in flight there: seeks * S + bytes * X
 *	own	seek from the end of what was sent last, and transfer
 *	harm	for each other task with a lease: 2 * S or its run, and our transfer, up to 3 * S
 *	leave	what remains of our own slice on the device that we go on from
 *
 * S, the time of a seek, and X, the time to transfer a unit, are learnt from the requests that
 * complete (read-policy-load.c).  A lease is kept in one of the slots of the device and lasts for
 * what the task has in flight.  On flash there are no leases, and a seek is all of a small read.
 *
 * No locks, nothing that grows with the number of CPUs or tasks, and no estimate
 * decides about correctness: whatever is chosen is one of the stripes asked about.
 */

#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include "dev-replace.h"
#include "fs.h"
#include "read-policy-speed.h"

/* Leases end at ticks of 65 us; an end more than a minute ahead is from before they wrapped. */
#define TICK_SHIFT	16
/* Costs are in 64 ns, a part of the smallest, in 32 bits. */
#define COST_SHIFT	6
/* RAID1C4 has the most mirrors. */
#define MIRRORS_MAX	4
/* Longer reads are decided about in pieces: a third of the least slice, a part of a window. */
#define ROT_PIECE	SZ_1M
#define FLASH_PIECE	SZ_256K
/* What is that many times slower has no part in a stream, which would wait for it. */
#define ROT_SLOW	2
#define FLASH_SLOW	8
/* A random read moves the head for the next ones, too: a way 16 times as long costs a seek. */
#define RANDOM_WAY	8

/* One mirror while it is compared with the others; times of it are in 64 ns. */
struct btrfs_rr_mirror {
	u32 wait;
	u32 harm;
	struct btrfs_read_speed speed;
	/* Position in the chunk map, and the slot of our task or -1. */
	u16 index;
	s8 slot;
	/* Other tasks with a lease; streams among them, or single reads of flash, in twelfths. */
	u8 others;
	u8 streams;
	/* The read goes on where the last one ended, or a small gap after that. */
	bool cont : 1;
	/* Rested: what is known of it may be wrong.  What is guessed instead is far better. */
	bool rested_seek : 1, rested_unit : 1, guess : 1;
};

struct btrfs_rr_pick {
	const struct btrfs_chunk_map *map;
	const struct btrfs_read_policy_info *info;
	u64 offset;
	u64 now_ns;
	/* Bytes of the read, and units of a whole slice on a disk, 0 if it has none. */
	u32 len;
	u32 slice;
	u32 leave, least_wait;
	u32 pid;
	/* The mirror that the task is on, or -1. */
	s8 on;
	u8 nr, nr_rot;
	u8 run, window, least_streams;
	bool data;
	/* A stream reads; a mirror has rested; single reads of flash lose no place; others read. */
	bool stream, rested, single, crowd;
	struct btrfs_rr_mirror mirrors[MIRRORS_MAX];
};

/* Where to start among equal mirrors of flash; losing an update does no harm. */
static DEFINE_PER_CPU(unsigned int, btrfs_rr_turn);

/* Nanoseconds to the unit of costs, with room for sums of them. */
static u32 btrfs_rr_cost(u64 ns)
{
	return min_t(u64, ns >> COST_SHIFT, BIT(28));
}

static u32 btrfs_rr_units(u64 bytes)
{
	return DIV_ROUND_UP_ULL(bytes, BIT(BTRFS_READ_UNIT_SHIFT));
}

static struct btrfs_read_load *btrfs_rr_load(const struct btrfs_rr_pick *pick,
					     const struct btrfs_rr_mirror *m)
{
	return &pick->map->stripes[m->index].dev->read_load;
}

static struct btrfs_rr_slot *btrfs_rr_own_slot(const struct btrfs_rr_pick *pick,
					       const struct btrfs_rr_mirror *m)
{
	return &btrfs_rr_load(pick, m)->slots[m->slot];
}

/* What remains of the lease in ticks, 0 if there is none.  It does not end while a read is late. */
static u32 btrfs_rr_lease(const struct btrfs_rr_pick *pick, const struct btrfs_rr_mirror *m, int s)
{
	const struct btrfs_read_load *load = btrfs_rr_load(pick, m);
	const u64 ns = m->wait ? READ_ONCE(load->since_ns) + m->speed.seek_ns : ~0ULL;
	const u32 left = READ_ONCE(load->slots[s].until) - (min(ns, pick->now_ns) >> TICK_SHIFT);

	return READ_ONCE(load->slots[s].pid) && left <= BIT(20) ? left : 0;
}

/* Would the loss of its place cost the task a whole seek? */
static bool btrfs_rr_is_stream(const struct btrfs_rr_slot *slot, const struct btrfs_rr_mirror *m)
{
	return (u64)2 * READ_ONCE(slot->run) * m->speed.unit_ns >= m->speed.seek_ns;
}

static u64 btrfs_rr_pos(const struct btrfs_rr_pick *pick, const struct btrfs_rr_mirror *m)
{
	return pick->map->stripes[m->index].physical + pick->offset;
}

static noinline void btrfs_rr_add_mirror(struct btrfs_rr_pick *pick, int index)
{
	const struct btrfs_device *dev = pick->map->stripes[index].dev;
	const struct btrfs_read_load *load = &dev->read_load;
	struct btrfs_rr_mirror *m = &pick->mirrors[pick->nr++];

	m->index = index;
	m->slot = -1;
	m->speed = btrfs_read_speed(dev);
	if (m->speed.rot && !pick->nr_rot++)
		pick->now_ns = ktime_get_ns();
	m->wait = btrfs_rr_cost(btrfs_read_wait_ns(load, &m->speed, pick->now_ns));
	m->rested_unit = !m->wait &&
			 btrfs_read_has_rested(load, btrfs_read_is_single(&m->speed, pick->len));
	m->rested_seek = m->speed.rot ? !m->wait && btrfs_read_has_rested(load, true) :
					m->rested_unit;
	/* Who waits for a single read of flash is not known, but how many do. */
	m->others = m->speed.rot ? 0 : btrfs_read_singles(load);
	pick->rested |= m->rested_seek || m->rested_unit;
}

/* Where the last read and our task on the device go on. */
static void btrfs_rr_find_task(struct btrfs_rr_pick *pick, struct btrfs_rr_mirror *m)
{
	const struct btrfs_read_load *load = btrfs_rr_load(pick, m);
	const u32 page = btrfs_rr_pos(pick, m) >> PAGE_SHIFT;

	m->cont = btrfs_read_goes_on(&m->speed, READ_ONCE(load->last_end) >> PAGE_SHIFT, page);
	for (int s = 0; s < BTRFS_RR_SLOTS; s++) {
		if (READ_ONCE(load->slots[s].pid) != pick->pid)
			continue;
		m->slot = s;
		m->cont |= btrfs_read_goes_on(&m->speed, READ_ONCE(load->slots[s].next), page);
		pick->run = max(pick->run, READ_ONCE(load->slots[s].run));
	}
}

/* A rested device is as good as the best of its kind, flash as a disk, until that is tried. */
static void btrfs_rr_guess(const struct btrfs_rr_pick *pick, struct btrfs_rr_mirror *m)
{
	const struct btrfs_read_speed known = m->speed;

	for (int i = 0; i < pick->nr; i++) {
		const struct btrfs_read_speed *peer = &pick->mirrors[i].speed;

		if (known.rot && !peer->rot)
			continue;
		if (m->rested_seek)
			m->speed.seek_ns = min(m->speed.seek_ns, peer->seek_ns);
		if (m->rested_unit)
			m->speed.unit_ns = min(m->speed.unit_ns, peer->unit_ns);
	}
	/* Not a guess if it was about that good; seeks of disks differ more by chance. */
	m->guess = (u64)2 * known.unit_ns > (u64)3 * m->speed.unit_ns ||
		   known.seek_ns / (known.rot ? 4 : 2) > m->speed.seek_ns;
}

/* A stream counts on each of the disks that it uses as its share of them, in twelfths. */
static u32 btrfs_rr_share(const struct btrfs_rr_pick *pick, u32 pid)
{
	u32 nr = 0;

	for (int i = 0; i < pick->nr; i++) {
		const struct btrfs_rr_mirror *m = &pick->mirrors[i];
		const struct btrfs_rr_slot *slots = btrfs_rr_load(pick, m)->slots;

		for (int s = 0; s < BTRFS_RR_SLOTS; s++)
			nr += READ_ONCE(slots[s].pid) == pid && btrfs_rr_lease(pick, m, s);
	}
	return 12 / max(nr, 1U);
}

/* What other tasks lose when we come, and how many streams are there. */
static noinline void btrfs_rr_add_harm(struct btrfs_rr_pick *pick, struct btrfs_rr_mirror *m)
{
	u64 harm = 0;

	for (int s = 0; s < BTRFS_RR_SLOTS; s++) {
		const struct btrfs_rr_slot *slot = &btrfs_rr_load(pick, m)->slots[s];

		if (!btrfs_rr_lease(pick, m, s))
			continue;
		if (s == m->slot) {
			pick->stream |= btrfs_rr_is_stream(slot, m);
			continue;
		}
		/* Who interrupts a run costs it a seek there and one back. */
		harm += min(2ULL * m->speed.seek_ns, (u64)READ_ONCE(slot->run) * m->speed.unit_ns);
		m->others++;
		pick->crowd = true;
		if (btrfs_rr_is_stream(slot, m))
			m->streams += btrfs_rr_share(pick, READ_ONCE(slot->pid));
	}
	m->harm = btrfs_rr_cost(harm);
}

/* The mirror that the read goes on from, for others the one where the task was last, or -1. */
static noinline int btrfs_rr_find_place(const struct btrfs_rr_pick *pick)
{
	u64 highest = 0;
	int on = -1;

	for (int i = 0; i < pick->nr; i++) {
		const struct btrfs_rr_mirror *m = &pick->mirrors[i];
		u64 rank = m->slot >= 0 ? btrfs_rr_lease(pick, m, m->slot) : 0;

		if (pick->data && m->cont)
			rank |= BIT_ULL(32) << (m->slot >= 0);
		if (rank > highest) {
			highest = rank;
			on = i;
		}
	}
	return on;
}

/*
 * A stream that is alone reads in time slices: while it has a slice of data in flight on one disk
 * the next one seeks.  Its slice is twice what it has in flight, as its own queue makes it leave
 * after about half, divided by the disks that are free of tasks and of load from outside, a little
 * less or it would end as a window does, no more than the queue takes, but at least 1.5 seeks.
 */
static void btrfs_rr_set_slice(struct btrfs_rr_pick *pick)
{
	const struct btrfs_rr_mirror *on = &pick->mirrors[pick->on];
	const struct btrfs_rr_slot *slot = btrfs_rr_own_slot(pick, on);
	const u32 since = READ_ONCE(slot->since);
	struct request_queue *q = bdev_get_queue(pick->map->stripes[on->index].dev->bdev);
	u32 units = btrfs_rr_units(pick->len), seek_ns = on->speed.seek_ns, nr_free = 0;

	for (int i = 0; i < pick->nr; i++) {
		const struct btrfs_rr_mirror *m = &pick->mirrors[i];

		if ((m->others + m->streams && m != on) || m->speed.seek_ns / 4 > on->speed.seek_ns)
			continue;
		units += btrfs_rr_units(btrfs_read_in_flight(btrfs_rr_load(pick, m)));
		if (m->speed.rot)
			seek_ns = min(seek_ns, m->speed.seek_ns);
		nr_free++;
	}
	pick->window = max_t(u32, READ_ONCE(slot->window), min_t(u32, units / 4, U8_MAX));
	pick->slice = min_t(u64, pick->window * 15 / 2 / max(nr_free, 2U),
			    (u64)q->nr_requests * queue_max_bytes(q) >> BTRFS_READ_UNIT_SHIFT);
	pick->slice = max_t(u32, pick->slice, div_u64((u64)seek_ns * 3 / 2, on->speed.unit_ns));
	/* A stream alone that waits for each read gains in the long run by a faster disk. */
	if (!on->wait && nr_free == pick->nr)
		pick->slice = max_t(u32, pick->slice, READ_ONCE(slot->run));
	if (pick->slice > since)
		pick->leave = btrfs_rr_cost((u64)(pick->slice - since) * on->speed.unit_ns);
}

/* What the administrator adds, in half seeks of the device. */
static u64 btrfs_rr_penalty_ns(const struct btrfs_rr_pick *pick, const struct btrfs_rr_mirror *m)
{
	const struct btrfs_read_policy_info *info = pick->info;

	if (READ_ONCE(info->nonlocal_inc_mixed_only) && (!pick->nr_rot || pick->nr_rot == pick->nr))
		return 0;
	return (u64)m->speed.seek_ns / 2 * (m->speed.rot ? READ_ONCE(info->rot_nonlocal_inc) :
					    READ_ONCE(info->nonrot_nonlocal_inc));
}

/* The sum that is at the top of this file. */
static u32 btrfs_rr_total(const struct btrfs_rr_pick *pick, int i)
{
	const struct btrfs_rr_mirror *m = &pick->mirrors[i];
	const u64 last_end = READ_ONCE(btrfs_rr_load(pick, m)->last_end);
	const u64 pos = btrfs_rr_pos(pick, m);
	/* Slices are compared as a whole. */
	const u64 bytes = pick->slice && pick->nr_rot == pick->nr ?
			  (u64)pick->slice << BTRFS_READ_UNIT_SHIFT : pick->len;
	const u64 transfer_ns = btrfs_read_transfer_ns(bytes, m->speed.unit_ns);
	const u64 penalty_ns = btrfs_rr_penalty_ns(pick, m);
	const u32 seek = btrfs_rr_cost(m->speed.seek_ns);
	u64 own = btrfs_read_access_ns(&m->speed, last_end, pos, pick->len);

	/* A long seek delays all who wait there; if reads wait everywhere, no disk goes idle. */
	if (own && m->speed.rot && !pick->stream)
		own += (RANDOM_WAY + RANDOM_WAY * pick->least_wait / seek - 1) *
		       (own - m->speed.seek_ns / 2);
	if (last_end != pos)
		own += penalty_ns;
	/* A new task goes by its number, unless a queue is longer by a stream's and the least. */
	if (pick->on < 0 && pick->nr_rot == pick->nr)
		return (m->wait + m->harm) / (4 * seek + pick->least_wait);
	/* Who waits can read elsewhere: after a seek in flight there, a seek, and one back. */
	if (!btrfs_read_is_single(&m->speed, bytes))
		own += transfer_ns + m->others * min(transfer_ns, 3ULL * m->speed.seek_ns);
	return m->wait + m->harm + btrfs_rr_cost(own) + (i == pick->on ? 0 : pick->leave);
}

/* A stream that is read in order would wait for one that is so much slower than another. */
static bool btrfs_rr_is_slow(const struct btrfs_rr_pick *pick, const struct btrfs_rr_mirror *m)
{
	for (int i = 0; i < pick->nr && !m->guess; i++) {
		const struct btrfs_rr_mirror *peer = &pick->mirrors[i];

		if (peer->speed.rot == m->speed.rot && peer->streams == pick->least_streams &&
		    m->speed.unit_ns / (m->speed.rot ? ROT_SLOW : FLASH_SLOW) > peer->speed.unit_ns)
			return true;
	}
	return false;
}

/* The lowest total; flash that is about as good as the best is used in rotation. */
static noinline int btrfs_rr_choose(const struct btrfs_rr_pick *pick)
{
	const unsigned int first = pick->nr_rot ? 0 : this_cpu_read(btrfs_rr_turn);
	u32 lowest = 0;
	int best = -1;

	for (int k = 0; k < pick->nr; k++) {
		const int i = (first + k) % pick->nr;
		const struct btrfs_rr_mirror *m = &pick->mirrors[i];
		const u32 cost = pick->single ? m->wait + btrfs_rr_cost(m->speed.seek_ns) :
						btrfs_rr_total(pick, i);

		if (pick->stream && (m->streams > pick->least_streams || btrfs_rr_is_slow(pick, m)))
			continue;
		if (best < 0 || cost + (pick->nr_rot ? 0 : cost / 8) < lowest) {
			lowest = cost;
			best = i;
		}
	}
	if (!pick->nr_rot)
		this_cpu_write(btrfs_rr_turn, best + 1);
	/* With others everywhere a stream stays where it has no more of them. */
	if (pick->stream && pick->least_streams && pick->on >= 0 &&
	    pick->mirrors[pick->on].streams == pick->least_streams &&
	    !btrfs_rr_is_slow(pick, &pick->mirrors[pick->on]))
		best = pick->on;
	return best;
}

/* How much of the read is for the chosen mirror; no piece goes on after a slice. */
static u32 btrfs_rr_piece(const struct btrfs_rr_pick *pick, int best)
{
	const struct btrfs_rr_mirror *m = &pick->mirrors[best];
	u32 left = pick->slice;

	if (!pick->slice || pick->least_streams || !m->speed.rot)
		return pick->len;
	if (best == pick->on)
		left -= min_t(u32, left, READ_ONCE(btrfs_rr_own_slot(pick, m)->since));
	return left ? min_t(u64, pick->len, (u64)left << BTRFS_READ_UNIT_SHIFT) : pick->len;
}

/* Our slot, one that is free, or that of the shortest run; NULL if all have more than we. */
static struct btrfs_rr_slot *btrfs_rr_take_slot(const struct btrfs_rr_pick *pick,
						const struct btrfs_rr_mirror *m)
{
	u32 least = max_t(u32, pick->run, btrfs_rr_units(pick->len)) + 1;
	struct btrfs_rr_slot *found = NULL;

	if (m->slot >= 0)
		return btrfs_rr_own_slot(pick, m);
	for (int s = 0; pick->data && s < BTRFS_RR_SLOTS; s++) {
		struct btrfs_rr_slot *slot = &btrfs_rr_load(pick, m)->slots[s];
		const u32 run = btrfs_rr_lease(pick, m, s) ? READ_ONCE(slot->run) : 0;

		if (run < least) {
			least = run;
			found = slot;
		}
	}
	if (found)
		*found = (struct btrfs_rr_slot){ .pid = pick->pid };
	return found;
}

/* Leave word on the device who is using it. */
static noinline void btrfs_rr_take_lease(const struct btrfs_rr_pick *pick, int best)
{
	const struct btrfs_rr_mirror *m = &pick->mirrors[best];
	struct btrfs_rr_slot *slot = btrfs_rr_take_slot(pick, m);
	const u64 last_end = READ_ONCE(btrfs_rr_load(pick, m)->last_end);
	const u32 page = btrfs_rr_pos(pick, m) >> PAGE_SHIFT;
	const u32 units = btrfs_rr_units(pick->len);
	const u64 lease = ((u64)m->wait << COST_SHIFT) + m->speed.seek_ns +
			  btrfs_read_transfer_ns(pick->len, m->speed.unit_ns);
	u32 run;

	if (!slot)
		return;
	if (pick->data) {
		run = READ_ONCE(slot->next) == page ? READ_ONCE(slot->run) : 0;
		/* Another read came between: a seek is paid. RAID10 reads less at a time here. */
		if (!btrfs_read_goes_on(&m->speed, last_end >> PAGE_SHIFT, page))
			run -= run / (2 + pick->map->num_stripes / pick->nr);
		run = (run ?: pick->run / 2) + units;
		/* One read tells whether a guess was right, then the slice is over. */
		WRITE_ONCE(slot->since, best != pick->on || !m->cont ? m->guess ? U16_MAX : units :
			   min(READ_ONCE(slot->since) + units, U16_MAX));
		WRITE_ONCE(slot->window, pick->window);
		WRITE_ONCE(slot->run, min_t(u32, run, U8_MAX));
		WRITE_ONCE(slot->next, page + (pick->len >> PAGE_SHIFT));
	}
	/* Until it should be done, and as long again; to wait longer costs more than its place. */
	WRITE_ONCE(slot->until, (pick->now_ns + 2 * lease) >> TICK_SHIFT);
}

/* Choose where disks are among the mirrors. */
static noinline int btrfs_rr_pick_rot(struct btrfs_rr_pick *pick)
{
	const struct btrfs_rr_mirror *on;
	int best;

	pick->least_streams = U8_MAX;
	pick->least_wait = U32_MAX;
	for (int i = 0; i < pick->nr; i++) {
		struct btrfs_rr_mirror *m = &pick->mirrors[i];

		btrfs_rr_find_task(pick, m);
		/* Single reads of flash wait for a stream's pieces as another stream would. */
		m->streams = m->others ? 12 : 0;
		if (m->speed.rot)
			btrfs_rr_add_harm(pick, m);
		/* What answers nothing for a second is no place for a stream. */
		if (m->wait >= btrfs_rr_cost(NSEC_PER_SEC))
			m->streams = U8_MAX;
		pick->least_streams = min(pick->least_streams, m->streams);
		pick->least_wait = min(pick->least_wait, m->wait);
	}
	pick->on = btrfs_rr_find_place(pick);
	on = pick->on >= 0 ? &pick->mirrors[pick->on] : NULL;
	pick->stream |= on && on->cont;
	if (on && pick->data && on->cont && on->slot >= 0)
		btrfs_rr_set_slice(pick);
	else if (on && (pick->data ? on->cont : pick->crowd))
		pick->leave = btrfs_rr_cost(on->speed.seek_ns);
	best = btrfs_rr_choose(pick);
	if (pick->data)
		pick->len = btrfs_rr_piece(pick, best);
	/* A stream whose slice is over somewhere leaves that to others as soon as it is idle. */
	if (pick->slice && best != pick->on)
		WRITE_ONCE(btrfs_rr_own_slot(pick, on)->until,
			   (pick->now_ns + ((u64)on->wait << COST_SHIFT)) >> TICK_SHIFT);
	if (pick->mirrors[best].speed.rot)
		btrfs_rr_take_lease(pick, best);
	return best;
}

/* What the read takes if the device is as fast as guessed. */
static void btrfs_rr_note_guess(const struct btrfs_rr_pick *pick, const struct btrfs_rr_mirror *m)
{
	struct btrfs_read_load *load = btrfs_rr_load(pick, m);
	u64 ns = btrfs_read_access_ns(&m->speed, load->last_end, btrfs_rr_pos(pick, m), pick->len);

	if (!btrfs_read_is_single(&m->speed, pick->len))
		ns += btrfs_read_transfer_ns(pick->len, m->speed.unit_ns);
	WRITE_ONCE(load->guess_ns, min_t(u64, ns, U32_MAX));
}

/*
 * Choose one of the @nr stripes starting at @first, returns its index in the
 * chunk map.  It may be one that cannot be read when there is no other.
 */
int btrfs_read_policy_pick(struct btrfs_fs_info *fs_info, const struct btrfs_chunk_map *map,
			   int first, int nr, struct btrfs_read_request *req)
{
	struct btrfs_rr_pick pick = {
		.map = map, .info = &fs_info->read_policy,
		.offset = req->offset,
		.len = min_t(u64, req->len, SZ_1G),
		.pid = current->pid, .on = -1,
		.data = (map->type & BTRFS_BLOCK_GROUP_DATA) && !req->unknown_pos,
	};
	struct btrfs_dev_replace *replace = &fs_info->dev_replace;
	const bool avoid = btrfs_dev_replace_is_ongoing(replace) &&
			   replace->cont_reading_from_srcdev_mode ==
			   BTRFS_DEV_REPLACE_ITEM_CONT_READING_FROM_SRCDEV_MODE_AVOID;
	int best;

	if (WARN_ON_ONCE(nr < 1 || nr > MIRRORS_MAX))
		return first;
	for (int k = 0; k < nr; k++) {
		const int i = first + (pick.pid + k) % nr;
		const struct btrfs_device *dev = map->stripes[i].dev;

		if (dev->bdev && !(avoid && dev == replace->srcdev) &&
		    !test_bit(BTRFS_DEV_STATE_MISSING, &dev->dev_state))
			btrfs_rr_add_mirror(&pick, i);
	}
	if (!pick.nr)
		return first;
	for (int i = 0; pick.rested && i < pick.nr; i++)
		btrfs_rr_guess(&pick, &pick.mirrors[i]);
	/* Tree blocks are read as a whole. */
	if (pick.data)
		pick.len = min_t(u32, pick.len, pick.nr_rot == pick.nr ? ROT_PIECE : FLASH_PIECE);
	pick.stream = !pick.nr_rot && !btrfs_read_is_single(&pick.mirrors[0].speed, pick.len);
	pick.single = !pick.nr_rot && !pick.stream &&
		      (READ_ONCE(pick.info->nonlocal_inc_mixed_only) ||
		       !READ_ONCE(pick.info->nonrot_nonlocal_inc));
	best = pick.nr_rot ? btrfs_rr_pick_rot(&pick) : btrfs_rr_choose(&pick);
	if (pick.mirrors[best].guess)
		btrfs_rr_note_guess(&pick, &pick.mirrors[best]);
	req->len = pick.data ? pick.len : req->len;
	return pick.mirrors[best].index;
}
