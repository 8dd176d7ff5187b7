// SPDX-License-Identifier: GPL-2.0-only
/* What holds for every choice of the read policy, and the rules that its page states.  Prints TAP. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim.h"
#include "read-policy-speed.h"

static int number, failed;

static void ok(bool good, const char *name)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, name);
	failed += !good;
}

static u64 seed = 88172645463325252ULL;

static u64 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct task_struct me;

/* Fresh disks of these kinds, and a task of that number. */
static void fresh(u32 pid, int nr, const char *kinds)
{
	sim_reset();
	block_reset();
	for (int i = 0; i < nr; i++)
		block_add_disk(kinds[i] == 'h' ? "hdd" : kinds[i] == 's' ? "ssd" : "nvme", "", i);
	array_policy = ROUNDROBIN;
	array_reset((struct array_layout){ nr }, 1, false);
	me.pid = pid;
	current = &me;
}

static struct btrfs_chunk_map map_of(int nr, u64 type)
{
	struct btrfs_chunk_map map = { .type = type, .num_stripes = nr };

	for (int i = 0; i < nr; i++)
		map.stripes[i] = (struct btrfs_io_stripe){ &disks[i].dev, SIM_MIB << 10 };
	return map;
}

static int pick(const struct btrfs_chunk_map *map, u64 offset, u64 *len)
{
	struct btrfs_read_request req = { .offset = offset, .len = *len };
	const int i = btrfs_read_policy_pick(&fs_info, map, 0, map->num_stripes, &req);

	*len = req.len;
	return i;
}

/* As the read path does with what was chosen; the read stays in flight. */
static struct btrfs_read_charge charge(const struct btrfs_chunk_map *map, int i, u64 offset, u64 len)
{
	struct bio bio = { .bi_iter = { (map->stripes[i].physical + offset) >> SECTOR_SHIFT, len } };
	struct btrfs_read_charge c;

	btrfs_read_load_charge(&fs_info.read_policy, map->stripes[i].dev, &bio, &c);
	return c;
}

static void any_state(void)
{
	bool within = true, cut = true;

	for (int n = 0; n < 50000; n++) {
		const int nr = 1 + rnd() % 4, first = rnd() % 3 ? 0 : nr;
		const bool data = rnd() % 2;
		struct btrfs_read_request req = { .offset = rnd() >> rnd() % 64, .len = 4096 + (rnd() >> (24 + rnd() % 40)),
						  .unknown_pos = !(rnd() % 8) };
		const u64 len = req.len;
		struct btrfs_chunk_map map = { .type = data };
		int i;

		fresh(rnd(), nr, "hhhh");
		map.num_stripes = first + nr;
		for (i = 0; i < first + nr; i++)
			map.stripes[i] = (struct btrfs_io_stripe){ &disks[i % nr].dev, rnd() >> rnd() % 64 };
		for (i = 0; i < nr; i++) {
			u8 *byte = (u8 *)&disks[i].dev.read_load;

			disks[i].bdev.rot = rnd() % 2;
			for (size_t b = 0; b < sizeof(disks[i].dev.read_load); b++)
				byte[b] = rnd() % 3 ? 0 : rnd();
			/* What is learnt has bounds. */
			disks[i].dev.read_load.seek_ns = rnd() % 4 ? 1000 + rnd() % NSEC_PER_SEC : 0;
			disks[i].dev.read_load.unit_ns = rnd() % 4 ? 1000 + rnd() % NSEC_PER_SEC : 0;
			disks[i].dev.read_load.slots[rnd() % BTRFS_RR_SLOTS].pid = me.pid;
			if (!(rnd() % 8))
				disks[i].dev.dev_state = BIT(BTRFS_DEV_STATE_MISSING);
		}
		fs_info.read_policy.rot_nonlocal_inc = rnd() % 1001;
		fs_info.read_policy.nonrot_nonlocal_inc = rnd() % 1001;
		fs_info.read_policy.nonlocal_inc_mixed_only = rnd() % 2;
		i = btrfs_read_policy_pick(&fs_info, &map, first, nr, &req);
		within &= i >= first && i < first + nr;
		cut &= req.len && req.len <= len && ((data && !req.unknown_pos) || req.len == len) &&
		       (req.len == len || req.len % 4096 == 0);
	}
	ok(within, "any state gives a stripe among those asked about");
	ok(cut, "any state gives a part of the read, of metadata all");
}

static void new_tasks(void)
{
	struct btrfs_chunk_map map;
	bool each = true;

	for (u32 pid = 100; pid < 112; pid++) {
		u64 len = SZ_1M;

		fresh(pid, 3, "hhh");
		map = map_of(3, BTRFS_BLOCK_GROUP_DATA);
		each &= pick(&map, 0, &len) == (int)(pid % 3);
	}
	ok(each, "a new task goes by its number where disks are equal");
}

static void nearest_head(void)
{
	struct btrfs_chunk_map map;
	u64 len = 4096;
	bool near = true;

	fresh(3, 3, "hhh");
	map = map_of(3, BTRFS_BLOCK_GROUP_DATA);
	pick(&map, 0, &len);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			disks[j].dev.read_load.last_end = map.stripes[j].physical + (j == i ? SIM_MIB * 6 : SIM_MIB * 900);
		len = 4096;
		near &= pick(&map, SIM_MIB * 5, &len) == i;
	}
	ok(near, "a random read goes to the nearest head");
}

static void metadata(void)
{
	struct btrfs_chunk_map map, meta;
	u64 len = 16384, before;
	struct btrfs_read_load *load;
	int i, on;

	fresh(4, 2, "hh");
	meta = map_of(2, 0);
	i = pick(&meta, 0, &len);
	load = &disks[i].dev.read_load;
	ok(!load->slots[0].pid && !load->slots[1].pid, "metadata leaves no lease");
	map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
	/* A little of a stream, the last of it still in flight. */
	for (u64 at = on = 0; at < 4 * SIM_MIB; at += len) {
		len = SZ_1M;
		on = pick(&map, at, &len);
	}
	charge(&map, on, 3 * SIM_MIB, SZ_256K);
	len = 16384;
	before = disks[on].dev.read_load.slots[0].next;
	ok(pick(&meta, 800 * SIM_MIB, &len) != on, "metadata leaves the stream of its own task in peace");
	me.pid++;
	len = SZ_1M;
	pick(&map, 500 * SIM_MIB, &len);
	me.pid--;
	len = 16384;
	ok(pick(&meta, 800 * SIM_MIB, &len) == on, "that of others, too");
	ok(disks[on].dev.read_load.slots[0].next == before, "metadata does not move the place of a stream");
}

/* A stream that is alone: how much goes to one disk before the next, all of it in flight. */
static u64 turns(const struct btrfs_chunk_map *map, u64 slice[8])
{
	u64 at = 0, begin = 0, least = ~0ULL;
	int last = -1, n = 0;

	while (n < 8) {
		u64 len = SZ_1M;
		int i = pick(map, at, &len);

		charge(map, i, at, len);
		if (i != last && last >= 0) {
			slice[n] = at - begin;
			least = min(least, slice[n++]);
			begin = at;
		}
		last = i;
		at += len;
	}
	return least;
}

static void alone(void)
{
	struct btrfs_chunk_map map;
	u64 three[8], two[8];

	fresh(5, 3, "hhh");
	map = map_of(3, BTRFS_BLOCK_GROUP_DATA);
	ok(turns(&map, three) >= 2 * SIM_MIB, "a stream that is alone takes turns, each worth its seeks");
	fresh(5, 2, "hh");
	map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
	turns(&map, two);
	fresh(5, 3, "hhh");
	map = map_of(3, BTRFS_BLOCK_GROUP_DATA);
	charge(&map, 0, 900 * SIM_MIB, SIM_MIB);
	sim_now += 2 * NSEC_PER_SEC;
	turns(&map, three);
	ok(!memcmp(two, three, sizeof(two)), "turns are as long as without it beside a disk that answers nothing");
}

/* What our task reads from here, all in flight or done: which disks it uses, and the one of its last piece. */
static u32 stream(const struct btrfs_chunk_map *map, u64 from, u64 bytes, bool in_flight, int *last)
{
	u32 used = 0;

	for (u64 at = from, len; at < from + bytes; at += len) {
		len = min_t(u64, SZ_1M, from + bytes - at);
		*last = pick(map, at, &len);
		if (in_flight)
			charge(map, *last, at, len);
		used |= BIT(*last);
	}
	return used;
}

static void others_harm(void)
{
	bool apart = true;

	for (u32 pid = 7; pid < 9; pid++) {
		struct btrfs_chunk_map map;
		int first, second;

		fresh(6, 2, "hh");
		map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
		stream(&map, 0, SZ_2M, false, &first);
		me.pid = pid;
		stream(&map, 300 * SIM_MIB, 6 * SIM_MIB, false, &second);
		apart &= first != second;
	}
	ok(apart, "who comes second leaves the disk of a stream alone, even without load");
}

/* Another task has this on the first disk, in flight for so long; which disks does a stream use? */
static u32 used_beside(u64 bytes, u64 ns)
{
	struct btrfs_chunk_map map;
	int last;

	fresh(6, 2, "hh");
	map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
	if (stream(&map, 0, bytes, true, &last) != BIT(0))
		return 0;
	sim_now += ns;
	me.pid = 7;
	return stream(&map, 300 * SIM_MIB, 24 * SIM_MIB, true, &last);
}

/* The slots are kept while a device rests, and ticks wrap after three days. */
static void old_leases(void)
{
	bool gone = true;

	for (int hours = 1; hours < 80; hours += 3) {
		struct btrfs_chunk_map map;
		u64 begin;
		int last;

		fresh(6, 2, "hh");
		begin = sim_now;
		map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
		stream(&map, 0, 3 * SIM_MIB, false, &last);
		sim_now += hours * 3600 * NSEC_PER_SEC;
		me.pid = 7;
		gone &= stream(&map, 300 * SIM_MIB, 20 * SIM_MIB, true, &last) == 3;
		sim_now = begin;
	}
	ok(gone, "a lease that ended hours or days ago does not come back");
}

/* The members of a RAID10 may be more than a hundred. */
static void many_stripes(void)
{
	struct btrfs_chunk_map map;
	bool within = true;

	fresh(1, 2, "hh");
	map.type = BTRFS_BLOCK_GROUP_DATA;
	for (int i = 0; i < 200; i++)
		map.stripes[i] = (struct btrfs_io_stripe){ &disks[i % 2].dev, SIM_MIB << 10 };
	for (int first = 0; first < 200; first += 2) {
		struct btrfs_read_request req = { .len = SZ_64K };
		const int i = btrfs_read_policy_pick(&fs_info, &map, first, 2, &req);

		within &= i == first || i == first + 1;
	}
	ok(within, "stripes above 127 are chosen as others are");
}

/* The source of a replace is read only if it must be. */
static void replaced(void)
{
	struct btrfs_chunk_map map;
	u64 len = SZ_64K;
	bool avoided = true;

	fresh(1, 2, "hh");
	map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
	fs_info.dev_replace = (struct btrfs_dev_replace){
		true, BTRFS_DEV_REPLACE_ITEM_CONT_READING_FROM_SRCDEV_MODE_AVOID,
	};
	for (int i = 0; i < 2; i++) {
		fs_info.dev_replace.srcdev = &disks[i].dev;
		for (me.pid = 10; me.pid < 20; me.pid++)
			avoided &= pick(&map, me.pid * SIM_MIB, &len) != i;
	}
	disks[0].dev.dev_state = BIT(BTRFS_DEV_STATE_MISSING);
	ok(avoided && pick(&map, 0, &len) == 0, "the source of a replace is avoided, and no missing device chosen for it");
	fs_info.dev_replace = (struct btrfs_dev_replace){ };
}

/* What happens to a device while a read is in flight. */
static void changes(void)
{
	struct btrfs_chunk_map map;
	struct btrfs_read_charge c;
	struct btrfs_read_load *load;
	struct bio bio = { };

	fresh(1, 1, "s");
	map = map_of(1, BTRFS_BLOCK_GROUP_DATA);
	load = &disks[0].dev.read_load;
	load->timed[1] = jiffies - 1;
	load->since_ns = sim_now;
	c = charge(&map, 0, 0, 4096);
	disks[0].bdev.rot = true;
	load->head = c.end;
	sim_now += NSEC_PER_MSEC;
	btrfs_read_load_uncharge(&disks[0].dev, &bio, &c);
	ok(!load->in_flight.v, "a device that begins to count as rotational under a read is no division by zero");

	fresh(1, 1, "h");
	load->timed[0] = jiffies + 1;
	ok(!btrfs_read_has_rested(load, false), "a completion on another processor a moment later is no rest");

	fresh(1, 1, "s");
	btrfs_read_load_forget(load);
	c = charge(&map, 0, 0, SZ_1M);
	sim_now += NSEC_PER_SEC / 10;
	btrfs_read_load_uncharge(&disks[0].dev, &bio, &c);
	ok(!load->unit_ns, "the first read after a switch, which waits behind others, teaches nothing");
	c = charge(&map, 0, SZ_1M, SZ_1M);
	sim_now += 2 * NSEC_PER_MSEC;
	btrfs_read_load_uncharge(&disks[0].dev, &bio, &c);
	ok(load->unit_ns == 2 * NSEC_PER_MSEC / 16, "the second one teaches the speed");
}

/* One request alone on the device, from its begin to its end. */
static void done(const struct btrfs_chunk_map *map, int i, u64 offset, u64 len, u64 ns, int op, int status)
{
	struct bio bio = { .bi_iter = { (map->stripes[i].physical + offset) >> SECTOR_SHIFT, len }, .bi_opf = op };
	struct btrfs_read_charge c;

	btrfs_read_load_charge(&fs_info.read_policy, map->stripes[i].dev, &bio, &c);
	bio.bi_status = status;
	sim_now += ns;
	btrfs_read_load_uncharge(map->stripes[i].dev, &bio, &c);
}

/* What is known of a device that is seldom read, of kind "h" or "s". */
static void seldom(const char *kinds)
{
	struct btrfs_chunk_map map;
	struct btrfs_read_load *load = &disks[0].dev.read_load;
	struct btrfs_read_charge c;
	u64 len = 4096;

	fresh(1, 2, kinds);
	map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
	for (int i = 0; i < 2; i++)
		for (int n = 0; n < 40; n++)
			done(&map, i, n * 50 * SIM_MIB, 4096, 10 * NSEC_PER_MSEC, REQ_OP_READ, 0);
	done(&map, 0, 0, 4096, 1, REQ_OP_READ, 1);
	ok(pick(&map, SIM_MIB, &len) == 1 && pick(&map, 100 * SIM_MIB, &len) == 1, "a device that fails at once is left");
	sim_now += NSEC_PER_SEC;
	for (int n = 0; n < 5; n++) {
		done(&map, 0, n * SIM_MIB, 4096, NSEC_PER_MSEC, REQ_OP_WRITE, 0);
		sim_now += NSEC_PER_SEC / 4;
	}
	ok(btrfs_read_has_rested(load, kinds[0] == 's'), "writes do not keep it from being tried again");
	c = charge(&map, 0, 700 * SIM_MIB, 4096);
	pick(&map, 700 * SIM_MIB, &len);
	ok(!load->guess_ns, "only when it is idle");
	atomic64_sub_return_release(c.load, &load->in_flight);
	load->last_end = map.stripes[0].physical + 6 * SIM_MIB;
	ok(pick(&map, 6 * SIM_MIB, &len) == 0 && load->guess_ns, "then it is");
	done(&map, 0, 300 * SIM_MIB, 4096, 10 * NSEC_PER_MSEC, REQ_OP_READ, 0);
	ok(load->seek_ns < 30 * NSEC_PER_MSEC, "a try that is fast tells that it is well again");
}

/* Flash is left for a disk only while it answers nothing. */
static void hung_flash(void)
{
	struct btrfs_chunk_map map;
	struct btrfs_read_charge c;
	u64 len = 4096;

	fresh(1, 2, "sh");
	map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
	sim_now += NSEC_PER_SEC;
	c = charge(&map, 0, 0, 4096);
	sim_now += 50 * NSEC_PER_MSEC;
	ok(pick(&map, SIM_MIB, &len) == 0, "flash that is a little late is not left");
	sim_now += 100 * NSEC_PER_MSEC;
	ok(pick(&map, 2 * SIM_MIB, &len) == 1, "flash that answers nothing for an eighth of a second is");
	done(&map, 0, 3 * SIM_MIB, 4096, 100 * NSEC_PER_USEC, REQ_OP_WRITE, 0);
	ok(pick(&map, 4 * SIM_MIB, &len) == 0, "until it answers, if only a write");
	atomic64_sub_return_release(c.load, &disks[0].dev.read_load.in_flight);
	ok(offsetof(struct btrfs_read_load, slots) <= 64, "figures are in one cache line");
}

/* A drive answers from its own cache what it read ahead before. */
static void cached(void)
{
	struct btrfs_chunk_map map;
	bool kept = true;

	fresh(1, 3, "hhh");
	map = map_of(3, BTRFS_BLOCK_GROUP_DATA);
	for (int i = 0; i < 3; i++)
		for (int n = 0; n < 40; n++)
			done(&map, i, n * 50 * SIM_MIB, 4096, 10 * NSEC_PER_MSEC, REQ_OP_READ, 0);
	sim_now += 2 * NSEC_PER_SEC;
	for (u64 len = SZ_512K; me.pid < 4; me.pid++) {
		const int i = pick(&map, me.pid * 20 * SIM_MIB, &len);
		const u32 unit_ns = btrfs_read_speed(&disks[i].dev).unit_ns;

		done(&map, i, me.pid * 20 * SIM_MIB, len, NSEC_PER_MSEC / 2, REQ_OP_READ, 0);
		kept &= btrfs_read_speed(&disks[i].dev).unit_ns == unit_ns;
	}
	ok(kept, "after a rest, a read from its cache does not make a disk fast that is like the others");
}

/* It has no other of its kind to be compared with. */
static void flash_comes_back(void)
{
	struct btrfs_chunk_map map;
	u64 len = 4096;
	int n = 0;

	fresh(1, 2, "sh");
	map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
	for (int i = 0; i < 100; i++)
		done(&map, 0, i * SIM_MIB, 4096, 5 * NSEC_PER_MSEC, REQ_OP_READ, 1);
	for (int i = 0; i < 10; i++)
		n += pick(&map, i * 100 * SIM_MIB, &len);
	ok(n == 10, "flash that fails is left for a disk");
	sim_now += 2 * NSEC_PER_SEC;
	for (int i = 0; i < 10 && pick(&map, i * 100 * SIM_MIB, &len) == 0; i++)
		done(&map, 0, i * SIM_MIB, 4096, 100 * NSEC_PER_USEC, REQ_OP_READ, 0);
	ok(disks[0].dev.read_load.seek_ns < NSEC_PER_MSEC, "and read again when it is well");
}

static void rare_samples(void)
{
	struct btrfs_read_load *load = &disks[0].dev.read_load;
	struct btrfs_chunk_map map;

	fresh(1, 1, "h");
	map = map_of(1, BTRFS_BLOCK_GROUP_DATA);
	done(&map, 0, 0, 4096, 10 * NSEC_PER_MSEC, REQ_OP_READ, 0);
	for (int n = 1; n < 4; n++) {
		load->seek_ns = 40 * NSEC_PER_MSEC;
		sim_now += NSEC_PER_SEC * 4 / 10;
		done(&map, 0, n % 2 * 300 * SIM_MIB, 4096, 10 * NSEC_PER_MSEC, REQ_OP_READ, 0);
	}
	ok(btrfs_read_has_rested(load, true), "a few reads in seconds that are far faster than known do not keep it");
	done(&map, 0, 0, 4096, 40 * NSEC_PER_MSEC, REQ_OP_READ, 0);
	ok(!btrfs_read_has_rested(load, true), "one that takes as long does");
}

static void counted(void)
{
	const char *names[] = { "hhh", "hs", "sn" };
	bool idle = true;

	for (int a = 0; a < 3; a++) {
		const struct file files[] = { { 0, 64 * SIM_MIB, 0 }, { 200 * SIM_MIB, 64 * SIM_MIB, 40 } };
		struct job jobs[3] = {
			{ .files = files, .nr_files = 1, .ra_bytes = 4 * SIM_MIB, .bio_bytes = SIM_MIB, .block = 131072 },
			{ .files = files + 1, .nr_files = 1, .ra_bytes = 4 * SIM_MIB, .bio_bytes = 8 * SIM_MIB, .block = 131072 },
			{ .files = files, .nr_files = 1, .block = 4096, .depth = 8 },
		};

		fresh(1, strlen(names[a]), names[a]);
		jobs[2].stop_at = sim_now + NSEC_PER_SEC / 2;
		task_start(8, job_stream, &jobs[0]);
		task_start(9, job_stream, &jobs[1]);
		task_start(10, job_random, &jobs[2]);
		sim_run(NULL);
		for (int i = 0; i < nr_disks; i++)
			idle &= !atomic64_read(&disks[i].dev.read_load.in_flight);
	}
	ok(idle, "nothing stays counted as in flight");
}

/* dm refuses readahead while it is suspended; a dead device fails all of it. */
static void refused_readahead(void)
{
	struct btrfs_read_load *load = &disks[0].dev.read_load;
	struct btrfs_chunk_map map;
	u32 unit_ns;

	fresh(1, 1, "h");
	map = map_of(1, BTRFS_BLOCK_GROUP_DATA);
	for (int n = 0; n < 40; n++)
		done(&map, 0, n * SIM_MIB, SIM_MIB, 5 * NSEC_PER_MSEC, REQ_OP_READ, 0);
	unit_ns = load->unit_ns;
	done(&map, 0, 40 * SIM_MIB, SIM_MIB, 1, REQ_OP_READ | REQ_RAHEAD, 1);
	ok(load->unit_ns < unit_ns * 3 / 2, "readahead that is refused once makes no device slow");
	for (int n = 41; n < 50; n++)
		done(&map, 0, n * SIM_MIB, SIM_MIB, 1, REQ_OP_READ | REQ_RAHEAD, 1);
	ok(load->unit_ns > 4 * unit_ns, "one that fails all of it is");
}

/* A disk does not answer, and a stream reads from the other: a second stream does so, too. */
static void stalled(void)
{
	struct btrfs_chunk_map map;
	int first, wrong = 0;
	u64 len = SIM_MIB;

	fresh(2, 2, "hh");
	map = map_of(2, BTRFS_BLOCK_GROUP_DATA);
	first = pick(&map, 0, &len);
	charge(&map, !first, 900 * SIM_MIB, SIM_MIB);
	sim_now += 2 * NSEC_PER_SEC;
	for (int n = 0; n < 40; n++) {
		const u64 at = (me.pid == 3 ? 500 : 0) * SIM_MIB + n * SIM_MIB / 2;
		int i;

		len = SIM_MIB;
		i = pick(&map, at, &len);
		wrong += i != first;
		done(&map, first, at, len, 5 * NSEC_PER_MSEC, REQ_OP_READ, 0);
		if (n >= 8)
			me.pid ^= 1;
	}
	ok(!wrong, "streams share a disk while the other one does not answer");
}

int main(void)
{
	any_state();
	new_tasks();
	nearest_head();
	metadata();
	alone();
	others_harm();
	ok(used_beside(SZ_2M, 70 * NSEC_PER_MSEC) == BIT(1), "a lease does not end while its disk is late");
	ok(used_beside(4096, 0) == 3, "a stream may use the disk of a small reader, who can read elsewhere");
	old_leases();
	many_stripes();
	replaced();
	changes();
	seldom("hh");
	seldom("ss");
	cached();
	flash_comes_back();
	hung_flash();
	rare_samples();
	refused_readahead();
	stalled();
	counted();
	printf("1..%d\n", number);
	return failed != 0;
}
