// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file system on the disks: where logical addresses are, which policy chooses,
 * and the leaves of metadata that a cold read needs first.
 */
#include <stdio.h>
#include <stdlib.h>
#include "sim.h"

#define CHUNK		(1ull << 30)
#define CHUNKS		4
#define STRIPE		SZ_64K
/* A leaf of checksums is for so much data, one of inodes for so many. */
#define LEAF		SZ_16K
#define CSUM_BYTES	(16 * SIM_MIB)
#define LEAF_INODES	40
#define LEAVES		4096

enum policy array_policy;
bool array_trace;
struct btrfs_fs_info fs_info;
struct btrfs_read_policy_info array_settings = { .rot_nonlocal_inc = 1, .nonlocal_inc_mixed_only = 1 };

static struct array_layout layout;
static struct btrfs_chunk_map chunks[CHUNKS], meta;
static bool leaf_known[2][LEAVES];
static u32 where[2][LEAVES];

/* The mirrors of a chunk begin where others of their disk end: not in the same place. */
static void place(struct btrfs_chunk_map *map, u64 type, u64 base, u64 seed)
{
	map->type = type;
	map->num_stripes = layout.raid10 ? nr_disks : layout.copies;
	for (int i = 0; i < map->num_stripes; i++) {
		map->stripes[i].dev = &disks[i].dev;
		map->stripes[i].physical = base + lm_hash(seed, base + i) % 16 * 16 * SIM_MIB;
	}
}

void array_reset(struct array_layout with, u64 seed, bool cold)
{
	layout = with;
	place(&meta, 0, 64 * SIM_MIB, seed);
	for (int c = 0; c < CHUNKS; c++)
		place(&chunks[c], BTRFS_BLOCK_GROUP_DATA, CHUNK * (c + 1), seed);
	memset(leaf_known, !cold, sizeof(leaf_known));
	for (u32 i = 0; i < LEAVES; i++)
		where[0][i] = where[1][i] = lm_hash(seed, i) % LEAVES;
	fs_info.read_policy = array_settings;
	fs_info.read_policy.count_load = array_policy == ROUNDROBIN;
}

static int disk_of(const struct btrfs_io_stripe *stripe)
{
	int disk = 0;

	while (&disks[disk].dev != stripe->dev)
		disk++;
	return disk;
}

/* As raid1 of md: on in order, else where nothing is in flight, else the closest; with flash the fewest in flight. */
static int pick_md(const struct btrfs_chunk_map *map, int first, int nr, u64 offset)
{
	int least = first, closest = first;
	u64 best = U64_MAX;
	bool flash = false;

	for (int i = first; i < first + nr; i++) {
		const struct sim_disk *disk = &disks[disk_of(&map->stripes[i])];
		const u64 pos = map->stripes[i].physical + offset;
		const u64 way = pos < disk->head ? disk->head - pos : pos - disk->head;

		if (pos == disk->next_pos || !way)
			return i;
		flash |= !disk->bdev.rot;
		if (disk->pending < disks[disk_of(&map->stripes[least])].pending)
			least = i;
		if (way < best) {
			best = way;
			closest = i;
		}
	}
	return flash || !disks[disk_of(&map->stripes[least])].pending ? least : closest;
}

static int pick(const struct btrfs_chunk_map *map, int first, int nr, struct btrfs_read_request *req)
{
	int best = first;

	switch (array_policy) {
	case PID:
		return first + current->pid % nr;
	case LEAST_QUEUE:
		for (int i = first; i < first + nr; i++)
			if (block_in_flight(disk_of(&map->stripes[i])) <
			    block_in_flight(disk_of(&map->stripes[best])))
				best = i;
		return best;
	case MD:
		return pick_md(map, first, nr, req->offset);
	default:
		return btrfs_read_policy_pick(&fs_info, map, first, nr, req);
	}
}

struct wait { struct task *task; bool done; };

static void wait_end(struct sim_bio *bio)
{
	struct wait *wait = bio->private;

	wait->done = true;
	task_wake(wait->task);
}

static void send(const struct btrfs_io_stripe *stripe, u64 at, u64 len, void (*end)(struct sim_bio *),
		 void *private, u64 offset)
{
	struct sim_bio *bio = calloc(1, sizeof(*bio));
	const int disk = disk_of(stripe);

	*bio = (struct sim_bio){ .dev = stripe->dev, .disk = disk, .end = end, .private = private, .offset = offset };
	bio->bio.bi_iter.bi_sector = (stripe->physical + at) >> SECTOR_SHIFT;
	bio->bio.bi_iter.bi_size = len;
	disks[disk].last_sent = sim_now;
	if (array_trace)
		printf("%9.3f ms %u: disk %d at %7.3f MiB, %4llu KiB%s\n", (sim_now - 1000 * NSEC_PER_SEC) / 1e6, current->pid, disk,
		       (stripe->physical + at) / 1048576.0, (unsigned long long)len >> 10, end == wait_end ? " metadata" : "");
	btrfs_read_load_charge(&fs_info.read_policy, stripe->dev, &bio->bio, &bio->charge);
	block_submit(bio);
}

/* Chooses, cuts, and returns how much of @len goes to the stripe. */
static u64 map_read(const struct btrfs_chunk_map *map, u64 at, u64 len, const struct btrfs_io_stripe **stripe,
		    u64 *offset)
{
	struct btrfs_read_request req = { .offset = at, .len = len };
	int first = 0, nr = map->num_stripes;

	if (layout.raid10) {
		const int pairs = nr / layout.copies;

		first = at / STRIPE % pairs * layout.copies;
		nr = layout.copies;
		req.offset = at / STRIPE / pairs * STRIPE + at % STRIPE;
		req.len = min(len, STRIPE - at % STRIPE);
	}
	*offset = req.offset;
	*stripe = &map->stripes[pick(map, first, nr, &req)];
	return req.len;
}

/* A leaf is read when it is needed, by the task that needs it. */
static void need_leaf(int kind, u64 nr)
{
	const struct btrfs_io_stripe *stripe;
	struct wait wait = { sim_task, false };
	u64 offset;

	if (leaf_known[kind][nr])
		return;
	leaf_known[kind][nr] = true;
	map_read(&meta, ((u64)where[kind][nr] * 2 + kind) * LEAF, LEAF, &stripe, &offset);
	send(stripe, offset, LEAF, wait_end, &wait, 0);
	while (!wait.done)
		task_wait();
}

void array_read_inode(u64 nr)
{
	need_leaf(1, nr / LEAF_INODES % LEAVES);
}

void array_read(u64 logical, u64 len, void (*end)(struct sim_bio *), void *private, u64 offset)
{
	while (len) {
		const u64 size = layout.raid10 ? CHUNK * nr_disks / layout.copies : CHUNK;
		const struct btrfs_io_stripe *stripe;
		u64 at = logical % size, n, pos;

		n = map_read(&chunks[logical / size], at, min(len, size - at), &stripe, &pos);
		need_leaf(0, logical / CSUM_BYTES);
		send(stripe, pos, n, end, private, offset);
		logical += n;
		offset += n;
		len -= n;
	}
}
