// SPDX-License-Identifier: GPL-2.0-only
/*
 * The roundrobin read policy where all mirrors are flash and a read is small:
 * what btrfs_read_policy_pick() would choose, for a small part of its cost.
 *
 * Owns what it remembers of streams, which is per CPU.  A flash device answers
 * so many reads that a table which all CPUs write would be what they wait for,
 * and a stream that goes on at another CPU only loses a few merges.  May read
 * the state of devices, but writes no memory that other CPUs use; the load of
 * the device that is chosen is counted when the read is submitted to it.
 */

#include <linux/blkdev.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include "ctree.h"
#include "fs.h"
#include "volumes.h"
#include "read-policy.h"
#include "read-policy-stream-core.h"
#include "compat.h"

#define BTRFS_RR_FLASH_TAILS_BITS	6

/*
 * Where the reads on one CPU ended, and the mirror to begin with among equals.
 * The task may be moved between two accesses, losing an update does no harm.
 */
struct btrfs_rr_flash_cpu {
	u64 tails[BIT(BTRFS_RR_FLASH_TAILS_BITS)];
	u32 turn;
	/* The tick in which mirrors of different speed were last compared. */
	u32 compared;
} ____cacheline_aligned_in_smp;

int btrfs_rr_alloc_flash(struct btrfs_read_policy_info *info)
{
	struct btrfs_rr_flash_cpu __percpu *flash;

	if (info->flash)
		return 0;
	flash = alloc_percpu(struct btrfs_rr_flash_cpu);
	if (!flash)
		return -ENOMEM;
	/* Readers must not see it before it is cleared. */
	smp_store_release(&info->flash, flash);
	return 0;
}

void btrfs_rr_free_flash(struct btrfs_read_policy_info *info)
{
	free_percpu(info->flash);
	info->flash = NULL;
}

static u64 btrfs_rr_flash_load(const struct btrfs_device *dev)
{
	return max_t(s64, atomic64_read(&dev->read_load.load_ns), 0);
}

struct btrfs_rr_flash_scales {
	u32 fastest;
	u32 slowest;
};

/* Can all stripes be read, from flash of which enough is known? */
static __always_inline bool btrfs_rr_flash_scales(const struct btrfs_io_stripe *stripes,
						  int nr, struct btrfs_rr_flash_scales *ret)
{
	u32 fastest = U32_MAX;
	u32 slowest = 0;

	for (int i = 0; i < nr; i++) {
		const struct btrfs_device *dev = stripes[i].dev;
		const u32 scale = READ_ONCE(dev->read_load.speed.scale);

		if (!dev->bdev || test_bit(BTRFS_DEV_STATE_MISSING, &dev->dev_state) ||
		    bdev_rot(dev->bdev) ||
		    READ_ONCE(dev->read_load.speed.samples) < BTRFS_RR_SAMPLES_TRUSTED)
			return false;
		fastest = min(fastest, scale);
		slowest = max(slowest, scale);
	}
	ret->fastest = fastest;
	ret->slowest = slowest;
	return fastest;
}

/* The next that is as good as any, or -1. */
static __always_inline int btrfs_rr_flash_next(const struct btrfs_io_stripe *stripes, int nr,
					       int turn, u32 fastest)
{
	int i = turn < nr ? turn : 0;

	for (int k = 0; k < nr; k++) {
		const struct btrfs_rr_mirror m = {
			.load_ns = btrfs_rr_flash_load(stripes[i].dev),
			.scale = READ_ONCE(stripes[i].dev->read_load.speed.scale),
		};

		if (btrfs_rr_flash_is_best(&m, fastest))
			return i;
		i = i + 1 < nr ? i + 1 : 0;
	}
	return -1;
}

/* Compare all that is known of the mirrors; @stick is the one the stream is on, or -1. */
static noinline int btrfs_rr_flash_choose(const struct btrfs_read_policy_info *info,
					  const struct btrfs_io_stripe *stripes, int nr,
					  const struct btrfs_read_request *req,
					  const struct btrfs_rr_stream *stream, int stick,
					  unsigned int turn)
{
	struct btrfs_rr_mirror mirrors[BTRFS_RR_MAX_MIRRORS];
	const u64 now = ktime_get_coarse_ns();
	struct btrfs_rr_read rd = {
		.len = req->len,
		.run = stream->run,
		.stick = stick,
		.turn = turn,
	};

	for (int i = 0; i < nr; i++) {
		const struct btrfs_read_load *load = &stripes[i].dev->read_load;
		const u64 last = READ_ONCE(load->last_done_ns);

		mirrors[i] = (struct btrfs_rr_mirror){
			.load_ns = btrfs_rr_flash_load(stripes[i].dev),
			.last_end = READ_ONCE(load->last_end),
			.pos = stripes[i].physical + req->offset,
			.idle_ns = now > last ? now - last : 0,
			.scale = READ_ONCE(load->speed.scale),
			.queue = READ_ONCE(load->speed.queue),
			.samples = BTRFS_RR_SAMPLES_TRUSTED,
		};
	}
	if (!READ_ONCE(info->nonlocal_inc_mixed_only))
		rd.nonrot_penalty_ns = (u64)READ_ONCE(info->nonrot_nonlocal_inc) *
				       BTRFS_RR_NONROT_PENALTY_NS;
	return btrfs_rr_choose(&rd, mirrors, nr);
}

/*
 * Without a stream or a penalty it may be enough to look for a mirror that is idle.
 * A slow one is to be tried again from time to time, so these are compared, too,
 * but not for every read; once in a tick is soon enough.
 */
static __always_inline bool btrfs_rr_flash_may_rotate(const struct btrfs_read_policy_info *info,
						      struct btrfs_rr_flash_cpu *cpu,
						      const struct btrfs_rr_flash_scales *s)
{
	const struct btrfs_rr_mirror slowest = { .scale = s->slowest };
	const u32 now = jiffies;

	if (!READ_ONCE(info->nonlocal_inc_mixed_only))
		return false;
	if (btrfs_rr_flash_is_best(&slowest, s->fastest) || READ_ONCE(cpu->compared) == now)
		return true;
	WRITE_ONCE(cpu->compared, now);
	return false;
}

static u64 *btrfs_rr_flash_slot(struct btrfs_rr_flash_cpu *cpu, u64 hash)
{
	return &cpu->tails[hash >> (64 - BTRFS_RR_FLASH_TAILS_BITS)];
}

/*
 * Choose one of the stripes, returns its position among them or -1 if the read
 * is not for this file.  @key is its address for the table of streams.
 */
int btrfs_rr_pick_flash(const struct btrfs_read_policy_info *info,
			const struct btrfs_io_stripe *stripes, int nr, u64 key,
			const struct btrfs_read_request *req)
{
	struct btrfs_rr_flash_cpu __percpu *flash = READ_ONCE(info->flash);
	struct btrfs_rr_stream stream = { .id = 1 };
	struct btrfs_rr_flash_scales scales;
	struct btrfs_rr_flash_cpu *cpu;
	u64 hash = btrfs_rr_hash(key);
	int stick = -1;
	u64 *slot;
	int i = -1;

	if (!flash || req->len >= BTRFS_RR_STREAM_START || req->avoid || req->unknown_pos ||
	    !btrfs_rr_flash_scales(stripes, nr, &scales))
		return -1;

	cpu = raw_cpu_ptr(flash);
	slot = btrfs_rr_flash_slot(cpu, hash);
	if (btrfs_rr_tail_match(READ_ONCE(*slot), hash, &stream) && stream.mirror < nr) {
		WRITE_ONCE(*slot, 0);
		stick = stream.mirror;
	} else if (btrfs_rr_flash_may_rotate(info, cpu, &scales)) {
		i = btrfs_rr_flash_next(stripes, nr, READ_ONCE(cpu->turn), scales.fastest);
	}
	if (i < 0)
		i = btrfs_rr_flash_choose(info, stripes, nr, req, &stream, stick,
					  READ_ONCE(cpu->turn));

	stream.run = (i == stick ? stream.run : 0) + req->len;
	stream.mirror = i;
	hash = btrfs_rr_hash(key + req->len);
	slot = btrfs_rr_flash_slot(cpu, hash);
	WRITE_ONCE(*slot, btrfs_rr_tail_pack(hash, &stream));
	WRITE_ONCE(cpu->turn, i + 1);
	return i;
}
