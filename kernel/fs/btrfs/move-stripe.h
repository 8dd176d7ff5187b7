/* SPDX-License-Identifier: GPL-2.0 */
/* Move stripes of chunks to other devices: what scrub, bios and the ioctl need of it. */

#ifndef BTRFS_MOVE_STRIPE_H
#define BTRFS_MOVE_STRIPE_H

#include <linux/ktime.h>
#include <uapi/linux/btrfs.h>
#include "block-group.h"
#include "volumes.h"

struct btrfs_stripe_move {
	struct btrfs_fs_info *fs_info;
	/* What the caller wants, and what it is told. */
	struct btrfs_ioctl_move_stripes_args *args;
	struct btrfs_ioctl_move_stripe item;
	bool cancel;

	struct btrfs_block_group *bg;
	struct btrfs_chunk_map *map;
	struct btrfs_device *src;
	struct btrfs_device *dst;
	u64 from;	/* physical address of the old place */
	u64 to;		/* and of the new one */

	bool write_failed;
	ktime_t due;	/* when the limit of the rate allows the next read */
};

void btrfs_move_redirect(struct btrfs_stripe_move *move, struct btrfs_io_stripe *stripe, u32 len);
int btrfs_move_parity(struct btrfs_stripe_move *move, u64 physical, u64 full_stripe);
int btrfs_move_pace(struct btrfs_stripe_move *move, u64 physical);
int btrfs_scrub_copy_stripe(struct btrfs_stripe_move *move);
int btrfs_ioctl_move_stripes(struct file *file, void __user *argp);

#endif
