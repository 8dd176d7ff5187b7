// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of what lies between blocks, for nothing but to stay in one piece.
 *
 * The head of a disk passes over a gap anyway; with a request for it the block
 * layer makes one of those on both sides, and the disk does not go elsewhere
 * in between.
 *
 * Owns the memory that the gaps are read into, all of them into the same, and
 * sees that it and the file system are there as long as one is being read.
 * Must not look at what was read: it may be anything, and may have failed.
 */

#include <linux/blkdev.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "bio.h"
#include "btrfs_inode.h"
#include "dev-replace.h"
#include "fs.h"
#include "read-gap.h"
#include "volumes.h"
#include "compat.h"

#define READ_GAP_PIECE		SZ_64K

struct read_gaps {
	struct btrfs_fs_info *fs_info;
	struct folio *nowhere;
	atomic_t in_flight;
};

struct read_gaps *btrfs_read_gaps_alloc(struct btrfs_fs_info *fs_info)
{
	struct read_gaps *gaps = kzalloc(sizeof(*gaps), GFP_KERNEL);

	if (!gaps)
		return NULL;
	gaps->fs_info = fs_info;
	gaps->nowhere = folio_alloc(GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY,
				    get_order(READ_GAP_PIECE));
	if (!gaps->nowhere) {
		kfree(gaps);
		return NULL;
	}
	return gaps;
}

void btrfs_read_gaps_free(struct read_gaps *gaps)
{
	if (!gaps)
		return;
	wait_var_event(&gaps->in_flight, !atomic_read(&gaps->in_flight));
	folio_put(gaps->nowhere);
	kfree(gaps);
}

static void gap_end_io(struct btrfs_bio *bbio)
{
	struct read_gaps *gaps = bbio->private;

	bio_put(&bbio->bio);
	/* Only its address counts after this. */
	if (atomic_dec_and_test(&gaps->in_flight))
		wake_up_var(&gaps->in_flight);
}

static bool has_heads(const struct btrfs_chunk_map *map)
{
	for (int i = 0; i < map->num_stripes; i++) {
		struct block_device *bdev = map->stripes[i].dev->bdev;

		if (!bdev || !bdev_rot(bdev))
			return false;
	}
	return true;
}

/*
 * Is all of it on disks, as it is in addresses?  Where there is parity it is not,
 * and zones may be too empty to be read.
 */
static bool can_read(struct btrfs_fs_info *fs_info, u64 start, u32 len)
{
	struct btrfs_chunk_map *map;
	bool ret;

	if (btrfs_is_zoned(fs_info))
		return false;
	/* Keeps the devices. */
	btrfs_bio_counter_inc_blocked(fs_info);
	map = btrfs_find_chunk_map(fs_info, start, 1);
	ret = map && start + len <= map->start + map->chunk_len &&
	      !(map->type & BTRFS_BLOCK_GROUP_RAID56_MASK) && has_heads(map);
	btrfs_free_chunk_map(map);
	btrfs_bio_counter_dec(fs_info);
	return ret;
}

/* Read @len bytes from @start to nowhere. */
void btrfs_read_gap(struct read_gaps *gaps, u64 start, u32 len)
{
	struct btrfs_bio *bbio;

	if (!can_read(gaps->fs_info, start, len))
		return;
	bbio = btrfs_bio_alloc(DIV_ROUND_UP(len, READ_GAP_PIECE),
			       REQ_OP_READ | REQ_META | REQ_RAHEAD,
			       BTRFS_I(gaps->fs_info->btree_inode), start,
			       gap_end_io, gaps);
	bbio->bio.bi_iter.bi_sector = start >> SECTOR_SHIFT;
	while (len) {
		const u32 piece = min_t(u32, len, READ_GAP_PIECE);

		bio_add_folio_nofail(&bbio->bio, gaps->nowhere, piece, 0);
		len -= piece;
	}
	atomic_inc(&gaps->in_flight);
	btrfs_submit_bbio(bbio, 0);
}
