/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data of small files, and the leaves for it, read ahead of a full send.
 */

#ifndef BTRFS_SEND_READAHEAD_H
#define BTRFS_SEND_READAHEAD_H

#include <linux/types.h>

struct btrfs_key;
struct btrfs_root;
struct inode;
struct send_leaves;
struct send_readahead;

/* An extent of a small file that is read ahead. */
struct send_extent {
	/* Holds a reference once the extent was read. */
	struct inode *inode;
	u64 ino;
	/* The range in the file. */
	u64 offset;
	u64 bytes;
	/* The address, and the tree that the reference in the extent's item names. */
	u64 bytenr;
	u64 owner;
	/* Nothing of the file was in the page cache before. */
	bool clean;
	bool nodatasum;
};

struct send_leaves *btrfs_send_leaves_alloc(struct btrfs_root *root);
void btrfs_send_leaves_read(struct send_leaves *leaves, struct send_extent **extents,
			    unsigned int nr, const struct btrfs_key *next);
void btrfs_send_leaves_free(struct send_leaves *leaves);

struct send_readahead *btrfs_send_readahead_alloc(struct btrfs_root *root, bool compressed);
void btrfs_send_readahead_move(struct send_readahead *ra, u64 ino);
bool btrfs_send_readahead_take(struct send_readahead *ra, u64 ino, bool *clean);
void btrfs_send_readahead_free(struct send_readahead *ra);

#endif
