/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads of what lies between blocks, for nothing but to stay in one piece.
 * See read-gap.c.
 */

#ifndef BTRFS_READ_GAP_H
#define BTRFS_READ_GAP_H

#include <linux/types.h>

struct btrfs_fs_info;
struct read_gaps;

struct read_gaps *btrfs_read_gaps_alloc(struct btrfs_fs_info *fs_info);
void btrfs_read_gaps_free(struct read_gaps *gaps);
void btrfs_read_gap(struct read_gaps *gaps, u64 start, u32 len);

#endif
