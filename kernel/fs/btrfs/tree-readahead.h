/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readahead of many leaves in one sweep.  See tree-readahead.c.
 */

#ifndef BTRFS_TREE_READAHEAD_H
#define BTRFS_TREE_READAHEAD_H

#include <linux/types.h>

struct btrfs_fs_info;
struct extent_buffer;
struct leaf_readahead;

struct leaf_readahead *btrfs_leaf_readahead_alloc(struct btrfs_fs_info *fs_info,
						  unsigned int max);
void btrfs_leaf_readahead_add(struct leaf_readahead *ra,
			      const struct extent_buffer *node, int slot);
void btrfs_leaf_readahead_add_block(struct leaf_readahead *ra, u64 bytenr);
void btrfs_leaf_readahead_submit(struct leaf_readahead *ra);
void btrfs_leaf_readahead_free(struct leaf_readahead *ra);

void btrfs_readahead_batch(struct extent_buffer *node, int slot);

#endif
