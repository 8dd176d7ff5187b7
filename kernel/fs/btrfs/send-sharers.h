/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leaves of other trees with extents that are sent.  See send-sharers.c.
 */

#ifndef BTRFS_SEND_SHARERS_H
#define BTRFS_SEND_SHARERS_H

#include <linux/types.h>

struct btrfs_root;
struct leaf_readahead;
struct send_sharers;

struct send_sharers *btrfs_send_sharers_alloc(struct btrfs_root *root,
					      struct leaf_readahead *leaves);
void btrfs_send_sharers_add(struct send_sharers *sharers, u64 bytenr,
			    u64 owner, u64 ino);
void btrfs_send_sharers_free(struct send_sharers *sharers);

#endif
