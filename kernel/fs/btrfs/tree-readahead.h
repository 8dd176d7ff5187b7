/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Readahead for walks through a whole tree.  See tree-readahead.c.
 */

#ifndef BTRFS_TREE_READAHEAD_H
#define BTRFS_TREE_READAHEAD_H

#include <linux/types.h>

struct btrfs_fs_info;
struct extent_buffer;

bool btrfs_may_read_ahead(struct btrfs_fs_info *fs_info);
void btrfs_readahead_batch(struct extent_buffer *node, int slot);

#endif
