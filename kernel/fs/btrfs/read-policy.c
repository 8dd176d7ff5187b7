// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read policies for mirrored block groups.
 *
 * Owns the choice of the mirror under the roundrobin policy.  Which policy is set
 * is in read-policy-choice.c, what is known of the devices is gathered in
 * read-policy-load.c, the arithmetic is in the *-core.h files, the sysfs files
 * are in read-policy-sysfs.c.
 * The choice must stay free of locks and of anything that grows with the
 * number of CPUs or streams, and no estimate made here may decide about
 * correctness: whatever is chosen, it is a stripe of the range the caller asked
 * about.
 */

#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include "ctree.h"
#include "fs.h"
#include "volumes.h"
#include "read-policy.h"
#include "read-policy-stream-core.h"
#include "compat.h"

/* A mirror that single reads or a task have used within that time is theirs. */
#define BTRFS_RR_TAKEN_NS		(100 * NSEC_PER_MSEC)
/* A window of a large readahead keeps a disk busy for as long as that ... */
#define BTRFS_RR_STREAM_NS		(500 * NSEC_PER_MSEC)
/* ... and a stream that has nothing to do there for that long is elsewhere. */
#define BTRFS_RR_PAUSE_NS		(20 * NSEC_PER_MSEC)
/* What passes under the head during a seek: turns are for streams with more in flight. */
#define BTRFS_RR_TURNS_WINDOW		SZ_2M
/* Single reads following each other closer than that are a random load. */
#define BTRFS_RR_RANDOM_NS		(50 * NSEC_PER_MSEC)

/* Where to start among equal mirrors; losing an update does no harm. */
static DEFINE_PER_CPU(unsigned int, btrfs_rr_turn);

/* Everything about one read while its mirror is chosen. */
struct btrfs_rr_pick {
	struct btrfs_fs_info *fs_info;
	const struct btrfs_chunk_map *map;
	u64 now;
	/* Address for the stream table, contiguous for what one device has. */
	u64 key;
	/* Is the read the continuation of @stream? */
	bool hit;
	/* It may go on there by chance. */
	bool chance;
	/* The last read of the task, elsewhere, is still in flight. */
	bool ahead;
	struct btrfs_rr_stream stream;
	/* What the task read last, when the read may be the next part of that. */
	struct btrfs_rr_stream task;
	struct btrfs_rr_read rd;
	/* Predicted time of what the stream has in flight on rotating mirrors. */
	u64 in_flight;
	int nr;
	struct btrfs_rr_mirror mirrors[BTRFS_RR_MAX_MIRRORS];
};

/* Time since @then, which another CPU may have taken from a better clock. */
static u64 btrfs_rr_since(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

static bool btrfs_rr_recent(u64 now, u64 then, u64 span)
{
	return then && btrfs_rr_since(now, then) < span;
}

/* Does the read go on from a long stream of its task with that number? */
static bool btrfs_rr_is_next_of(const struct btrfs_rr_pick *pick, u16 stream)
{
	return stream == pick->task.id && !pick->task.singles &&
	       pick->task.run >= BTRFS_RR_REGION_ENOUGH;
}

/* The stream that is using the device, 0 if there is none. */
static u16 btrfs_rr_owner(const struct btrfs_rr_pick *pick, const struct btrfs_read_load *load)
{
	const u64 stream_ns = READ_ONCE(load->stream_ns);
	u16 stream;

	if (!btrfs_rr_recent(pick->now, stream_ns, BTRFS_RR_STREAM_NS))
		return 0;
	if (!atomic64_read(&load->load_ns) &&
	    !btrfs_rr_recent(pick->now, max(stream_ns, READ_ONCE(load->last_done_ns)),
			     BTRFS_RR_PAUSE_NS))
		return 0;
	stream = READ_ONCE(load->stream);
	return btrfs_rr_is_next_of(pick, stream) ? pick->stream.id : stream;
}

/* Did the task, going on elsewhere now, read from this device a moment ago? */
static bool btrfs_rr_last_of_task(const struct btrfs_rr_pick *pick,
				  const struct btrfs_read_load *load)
{
	return pick->task.id && READ_ONCE(load->stream) == pick->task.id &&
	       btrfs_rr_recent(pick->now, READ_ONCE(load->stream_ns), BTRFS_RR_TAKEN_NS);
}

/* Is a read in flight on the device, the one that was sent last? */
static bool btrfs_rr_last_in_flight(const struct btrfs_read_load *load)
{
	return atomic64_read(&load->load_ns) &&
	       READ_ONCE(load->head) != READ_ONCE(load->last_end);
}

/*
 * Is this the device to go on from?  A task that reads here and there while it waits
 * for the last such read has many in flight, and each can go to a device of its own.
 * Between two files that a task reads as a whole it waits for nothing, so these stay
 * together.
 */
static bool btrfs_rr_is_stick(const struct btrfs_rr_pick *pick, int index, u64 pos,
			      const struct btrfs_read_load *load)
{
	if (!pick->hit)
		return btrfs_rr_last_of_task(pick, load) &&
		       !(pick->task.singles && btrfs_rr_last_in_flight(load));
	if (pick->stream.mirror != index % BTRFS_RR_MAX_MIRRORS)
		return false;
	/* By chance it is worth no wait: only a free device, or the heads at that place, are. */
	return !pick->chance || !atomic64_read(&load->load_ns) ||
	       READ_ONCE(load->last_end) == pos;
}

/*
 * The slot of a stream may have been overwritten.  A read that goes on where the
 * last one of its task ended on the device is of the same stream nevertheless.
 */
static void btrfs_rr_resume_stream(struct btrfs_rr_pick *pick, int first, int nr, u64 offset)
{
	for (int i = first; i < first + nr; i++) {
		const struct btrfs_io_stripe *stripe = &pick->map->stripes[i];
		const struct btrfs_read_load *load = &stripe->dev->read_load;

		if (pick->task.mirror == i % BTRFS_RR_MAX_MIRRORS &&
		    READ_ONCE(load->last_end) == stripe->physical + offset &&
		    btrfs_rr_last_of_task(pick, load)) {
			pick->stream = pick->task;
			pick->stream.singles = 0;
			pick->hit = true;
		}
	}
}

static void btrfs_rr_add_mirror(struct btrfs_rr_pick *pick, int index, u64 offset)
{
	const struct btrfs_io_stripe *stripe = &pick->map->stripes[index];
	const struct btrfs_read_load *load = &stripe->dev->read_load;
	const struct btrfs_rr_speed speed = btrfs_rr_speed_get(&load->speed);
	struct btrfs_rr_mirror *m = &pick->mirrors[pick->nr];

	if (pick->task.id && READ_ONCE(load->stream) == pick->task.id &&
	    btrfs_rr_last_in_flight(load))
		pick->ahead = true;
	if (btrfs_rr_is_stick(pick, index, stripe->physical + offset, load))
		pick->rd.stick = pick->nr;
	m->load_ns = max_t(s64, atomic64_read(&load->load_ns), 0);
	m->last_end = READ_ONCE(load->last_end);
	m->head = READ_ONCE(load->head);
	m->pos = stripe->physical + offset;
	m->idle_ns = btrfs_rr_since(pick->now, READ_ONCE(load->last_done_ns));
	m->scale = speed.scale ? speed.scale : BTRFS_RR_SCALE_ONE;
	m->samples = speed.samples;
	m->queue = m->samples ? speed.queue : m->scale;
	m->rot = bdev_rot(stripe->dev->bdev);
	m->doubt = btrfs_rr_doubt(&speed, m->rot);
	m->index = index;
	m->owner = btrfs_rr_owner(pick, load);
	m->taken = (m->owner && m->owner != pick->stream.id) ||
		   btrfs_rr_recent(pick->now, READ_ONCE(load->random_ns), BTRFS_RR_TAKEN_NS);
	m->streaming = btrfs_rr_recent(pick->now, READ_ONCE(load->stream_ns),
				       BTRFS_RR_TAKEN_NS);
	m->visited = !((READ_ONCE(load->stream) ^ pick->stream.id) >> BTRFS_RR_TASK_SHIFT);
	if (m->rot && READ_ONCE(load->stream) == (pick->hit ? pick->stream.id : pick->task.id))
		pick->in_flight += m->load_ns;
	pick->nr++;
}

/* Collect the mirrors that can be read from. */
static void btrfs_rr_add_mirrors(struct btrfs_rr_pick *pick, int first, int nr,
				 const struct btrfs_read_request *req)
{
	for (int i = first; i < first + nr; i++) {
		const struct btrfs_device *dev = pick->map->stripes[i].dev;

		if (!dev->bdev || dev == req->avoid ||
		    test_bit(BTRFS_DEV_STATE_MISSING, &dev->dev_state))
			continue;
		btrfs_rr_add_mirror(pick, i, req->offset);
	}
}

/*
 * What a device takes before who submits more has to wait.  A reader that waits
 * for one disk has nothing to give to the others, so a turn is no longer than
 * that, unless it would be too short to be worth a seek.
 */
static u64 btrfs_rr_queue_bytes(const struct btrfs_device *dev)
{
	struct request_queue *q = bdev_get_queue(dev->bdev);
	const u64 sectors = (u64)READ_ONCE(q->nr_requests) * queue_max_sectors(q);
	const u64 bytes = sectors << SECTOR_SHIFT;

	return bytes < SZ_2M ? BTRFS_RR_REGION_MAX : bytes;
}

/* How much the stream reads from one mirror before it goes on to the next. */
static u64 btrfs_rr_region(const struct btrfs_rr_pick *pick, unsigned int nr_rot)
{
	unsigned int sharers;
	u64 region;

	if (nr_rot < 2)
		return BTRFS_RR_REGION_MAX;
	sharers = btrfs_rr_nr_sharers(&pick->rd, pick->mirrors, pick->nr);
	region = btrfs_rr_region_bytes(sharers, pick->stream.window);
	if (region == BTRFS_RR_REGION_MAX)
		return region;
	for (int i = 0; i < pick->nr; i++) {
		const struct btrfs_rr_mirror *m = &pick->mirrors[i];
		const struct btrfs_device *dev = pick->map->stripes[m->index].dev;

		if (m->rot)
			region = min(region, btrfs_rr_queue_bytes(dev));
	}
	return region;
}

/* Region and penalties, which depend on what there is to choose from. */
static void btrfs_rr_set_limits(struct btrfs_rr_pick *pick)
{
	const struct btrfs_read_policy_info *info = &pick->fs_info->read_policy;
	const u64 ra = (u64)READ_ONCE(pick->fs_info->sb->s_bdi->ra_pages) << PAGE_SHIFT;
	unsigned int nr_rot = 0;

	for (int i = 0; i < pick->nr; i++)
		nr_rot += pick->mirrors[i].rot;
	pick->stream.window = max(pick->stream.window,
				  div_u64(pick->in_flight, BTRFS_RR_ROT_BYTE_NS) + pick->rd.len);
	pick->rd.region = btrfs_rr_region(pick, nr_rot);
	pick->rd.len = btrfs_rr_piece_bytes(pick->rd.len, nr_rot == pick->nr);
	pick->rd.settled = pick->hit &&
			   (pick->rd.region == BTRFS_RR_REGION_MAX ||
			    pick->stream.window < BTRFS_RR_TURNS_WINDOW) &&
			   btrfs_rr_is_settled(&pick->rd, pick->mirrors, pick->nr);
	pick->rd.readahead = min_t(u64, ra, BTRFS_RR_READAHEAD_MAX);
	if (READ_ONCE(info->nonlocal_inc_mixed_only) && (!nr_rot || nr_rot == pick->nr))
		return;
	pick->rd.rot_penalty_ns = (u64)READ_ONCE(info->rot_nonlocal_inc) *
				  BTRFS_RR_ROT_PENALTY_NS;
	pick->rd.nonrot_penalty_ns = (u64)READ_ONCE(info->nonrot_nonlocal_inc) *
				     BTRFS_RR_NONROT_PENALTY_NS;
}

/* The slot of the stream table for what the current task reads. */
static u64 btrfs_rr_task_hash(void)
{
	return btrfs_rr_hash(BTRFS_RR_TASK_KEY(current->pid));
}

/* Find out whether the read goes on where an earlier one ended. */
static void btrfs_rr_find_stream(struct btrfs_rr_pick *pick)
{
	u64 *tails = READ_ONCE(pick->fs_info->read_policy.tails);
	const u64 hash = btrfs_rr_hash(pick->key);
	u64 *slot;

	if (tails && !pick->rd.unknown_pos) {
		slot = btrfs_rr_find_tail(tails, hash, &pick->stream);
		pick->hit = slot;
		if (slot)
			WRITE_ONCE(*slot, 0);
	}
	if (pick->hit && !pick->stream.singles)
		return;

	if (tails && pick->rd.len >= BTRFS_RR_STREAM_START)
		btrfs_rr_find_tail(tails, btrfs_rr_task_hash(), &pick->task);
	if (pick->hit) {
		if (btrfs_rr_is_same(&pick->task, &pick->stream))
			pick->stream.singles = 0;
		/* The task has read elsewhere since and did not go on there either. */
		pick->chance = pick->stream.singles && pick->task.singles;
		return;
	}

	pick->stream.id = btrfs_rr_stream_id(hash, pick->now, current->pid);
	pick->stream.run = pick->task.run;
	pick->stream.window = pick->task.window;
}

static bool btrfs_rr_is_data(const struct btrfs_rr_pick *pick)
{
	return pick->map->type & BTRFS_BLOCK_GROUP_DATA;
}

/*
 * The read goes on where an earlier one ended, or looks like the start of more.
 * Metadata does not count: a stream of data needs some all the time and must
 * not be driven from disk to disk by it.
 */
static bool btrfs_rr_is_stream(const struct btrfs_rr_pick *pick)
{
	return btrfs_rr_is_data(pick) &&
	       (pick->hit || pick->rd.len >= BTRFS_RR_STREAM_START);
}

/* Remember where the stream will read next, and for the task what it read. */
static void btrfs_rr_store_stream(struct btrfs_rr_pick *pick,
				  const struct btrfs_rr_mirror *m, u64 len, bool stays)
{
	u64 *tails = READ_ONCE(pick->fs_info->read_policy.tails);

	if (!tails || pick->rd.unknown_pos)
		return;
	if (!stays) {
		pick->stream.run = 0;
		/* The window may have become smaller. */
		pick->stream.window -= pick->stream.window >> 4;
	}
	/* After a guess the next read may go elsewhere. */
	pick->stream.run = m->rot && m->guess ? BTRFS_RR_REGION_MAX : pick->stream.run + len;
	pick->stream.mirror = m->index % BTRFS_RR_MAX_MIRRORS;
	if (!pick->hit || (pick->stream.singles && (pick->chance || pick->ahead)))
		pick->stream.singles = (pick->stream.singles + 1) % BTRFS_RR_SINGLES_END;
	else
		pick->stream.singles = 0;
	btrfs_rr_store_tail(tails, btrfs_rr_hash(pick->key + len), &pick->stream);
	if (btrfs_rr_is_stream(pick))
		btrfs_rr_store_tail(tails, btrfs_rr_task_hash(), &pick->stream);
}

/*
 * Leave word on the device who is using it.  A single read does not make a disk
 * anybody's, a number of them does.
 */
static void btrfs_rr_mark_device(const struct btrfs_rr_pick *pick,
				 struct btrfs_read_load *load)
{
	if (!btrfs_rr_is_data(pick))
		return;
	if (btrfs_rr_is_stream(pick)) {
		WRITE_ONCE(load->stream, pick->stream.id);
		WRITE_ONCE(load->stream_ns, pick->now);
		return;
	}
	if (btrfs_rr_recent(pick->now, READ_ONCE(load->single_ns), BTRFS_RR_RANDOM_NS))
		WRITE_ONCE(load->random_ns, pick->now);
	WRITE_ONCE(load->single_ns, pick->now);
}

/*
 * Turns come one after the other on a disk, or it reads pieces of two in any order.
 * Next to another stream who waits would only come after that, and next to flash
 * a turn ends when that is faster.
 */
static void btrfs_rr_set_turn(const struct btrfs_rr_pick *pick, int chosen,
			      struct btrfs_rr_turn *turn)
{
	const u16 owner = pick->mirrors[chosen].owner;

	if ((owner && owner != pick->stream.id) || pick->rd.region == BTRFS_RR_REGION_MAX ||
	    !btrfs_rr_is_stream(pick) || btrfs_rr_any_flash(pick->mirrors, pick->nr) ||
	    !READ_ONCE(pick->fs_info->read_policy.turn_workers))
		return;
	turn->stream = pick->stream.id;
	turn->begins = pick->rd.stick >= 0 && chosen != pick->rd.stick;
}

/* Address for the stream table: each sub-group of RAID10 has a range of its own. */
static u64 btrfs_rr_key(const struct btrfs_chunk_map *map, int first,
			const struct btrfs_read_request *req)
{
	u64 key = map->start + req->offset;

	if (map->type & BTRFS_BLOCK_GROUP_RAID10)
		key += (u64)(first / map->sub_stripes) * map->stripe_size;
	return key;
}

static int btrfs_rr_pick(struct btrfs_fs_info *fs_info, const struct btrfs_chunk_map *map,
			 int first, int nr, struct btrfs_read_request *req)
{
	struct btrfs_rr_pick pick = {
		.fs_info = fs_info,
		.map = map,
		.now = ktime_get_coarse_ns(),
		.key = btrfs_rr_key(map, first, req),
		.rd = {
			.len = req->len,
			.stick = -1,
			.turn = this_cpu_read(btrfs_rr_turn),
			.unknown_pos = req->unknown_pos,
		},
	};
	struct btrfs_rr_mirror *m;
	int i;

	btrfs_rr_find_stream(&pick);
	if (!pick.hit && pick.task.id && !req->unknown_pos)
		btrfs_rr_resume_stream(&pick, first, nr, req->offset);
	btrfs_rr_add_mirrors(&pick, first, nr, req);
	if (!pick.nr)
		return first;
	btrfs_rr_settle_scales(pick.mirrors, pick.nr);
	pick.rd.run = pick.stream.run;
	pick.rd.stream = pick.stream.id;
	btrfs_rr_set_limits(&pick);
	pick.rd.large = req->len >= BTRFS_RR_STREAM_START;
	pick.rd.single = pick.task.singles;

	i = btrfs_rr_choose(&pick.rd, pick.mirrors, pick.nr);
	m = &pick.mirrors[i];
	/* Tree blocks are read as a whole, positions must be known to be split. */
	if (btrfs_rr_is_data(&pick) && !req->unknown_pos && pick.nr > 1)
		req->len = min(req->len, round_up(btrfs_rr_split(&pick.rd, pick.mirrors,
								 pick.nr, i),
						  fs_info->sectorsize));
	btrfs_rr_store_stream(&pick, m, req->len, i == pick.rd.stick);
	btrfs_rr_mark_device(&pick, &map->stripes[m->index].dev->read_load);
	btrfs_rr_set_turn(&pick, i, &req->turn);
	this_cpu_write(btrfs_rr_turn, i + 1);
	return m->index;
}

/*
 * Choose one of the @nr stripes starting at @first, returns its index in the
 * chunk map.  It may be one that cannot be read when there is no other.
 */
int btrfs_read_policy_pick(struct btrfs_fs_info *fs_info,
			   const struct btrfs_chunk_map *map, int first, int nr,
			   struct btrfs_read_request *req)
{
	int mirror;

	if (WARN_ON_ONCE(nr < 1 || nr > BTRFS_RR_MAX_MIRRORS))
		return first;
	mirror = btrfs_rr_pick_flash(&fs_info->read_policy, &map->stripes[first], nr,
				     btrfs_rr_key(map, first, req), req);
	return mirror < 0 ? btrfs_rr_pick(fs_info, map, first, nr, req) : first + mirror;
}

/* The stream table is kept until unmount, a reader may just be using it. */
int btrfs_rr_alloc_tails(struct btrfs_read_policy_info *info)
{
	u64 *tails;

	if (info->tails)
		return 0;
	tails = kvcalloc(BTRFS_RR_TAILS, sizeof(*tails), GFP_KERNEL);
	if (!tails)
		return -ENOMEM;
	/* Readers must not see it before it is cleared. */
	smp_store_release(&info->tails, tails);
	return 0;
}

void btrfs_read_policy_free(struct btrfs_fs_info *fs_info)
{
	kvfree(fs_info->read_policy.tails);
	fs_info->read_policy.tails = NULL;
	btrfs_rr_free_flash(&fs_info->read_policy);
	btrfs_read_turn_free(&fs_info->read_policy);
}
