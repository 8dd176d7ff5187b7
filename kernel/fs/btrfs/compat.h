/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interfaces that differ between the kernels which these files are for.  The files
 * use those of the newest kernel.  This header maps them to an older one, and must
 * be the last one that a file includes: a macro of the name of a function would
 * break its declaration.
 */
#ifndef BTRFS_POLICY_COMPAT_H
#define BTRFS_POLICY_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)

#include <linux/blkdev.h>
#include <linux/err.h>
#include "btrfs_inode.h"
#include "extent_io.h"

static inline bool bdev_rot(struct block_device *bdev)
{
	return !bdev_nonrot(bdev);
}

static inline struct btrfs_inode *btrfs_iget_inode(u64 ino, struct btrfs_root *root)
{
	struct inode *inode = btrfs_iget(ino, root);

	return IS_ERR(inode) ? ERR_CAST(inode) : BTRFS_I(inode);
}

#define btrfs_iget	btrfs_iget_inode

#define btrfs_set_extent_bit	set_extent_bit
#define btrfs_clear_extent_bit(tree, start, end, bits, cached) \
	__clear_extent_bit(tree, start, end, bits, cached, NULL)
#define btrfs_test_range_bit_exists	test_range_bit_exists

#ifndef BTRFS_FEATURE_INCOMPAT_REMAP_TREE
#define BTRFS_FEATURE_INCOMPAT_REMAP_TREE	0
#endif

/* Outside of a commit, and of all devices. */
#define write_all_supers(info, trans)	write_all_supers(info, BTRFS_SUPER_MIRROR_MAX)

/* The older page_cache_ra_unbounded() takes the lock. */
#define filemap_invalidate_lock_shared(mapping)		((void)(mapping))
#define filemap_invalidate_unlock_shared(mapping)	((void)(mapping))

/* The older function does without the last argument. */
#define btrfs_readahead_tree_block(info, bytenr, owner, generation, level, key) \
	btrfs_readahead_tree_block(info, bytenr, owner, generation, level)
#endif

#endif
