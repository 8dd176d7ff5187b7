/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data of small files read ahead of a full send.  See send-readahead.c.
 */

#ifndef BTRFS_SEND_READAHEAD_H
#define BTRFS_SEND_READAHEAD_H

#include <linux/types.h>

struct inode;
struct btrfs_root;
struct send_readahead;

struct send_readahead *btrfs_send_readahead_alloc(struct btrfs_root *root,
						  bool compressed);
void btrfs_send_readahead_move(struct send_readahead *ra, u64 ino);
struct inode *btrfs_send_readahead_take(struct send_readahead *ra, u64 ino,
					bool *clean);
void btrfs_send_readahead_free(struct send_readahead *ra);

#endif
