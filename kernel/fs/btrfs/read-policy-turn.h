/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One turn after the other on each disk: what the submission and the completion
 * of a read call.  For a read that is part of no turn they do nothing.
 */

#ifndef BTRFS_READ_POLICY_TURN_H
#define BTRFS_READ_POLICY_TURN_H

#include "bio.h"

struct btrfs_device;
struct btrfs_fs_info;

bool __btrfs_read_turn_waits(struct btrfs_device *device, struct btrfs_bio *bbio);
void __btrfs_read_turn_done(struct btrfs_fs_info *fs_info, struct btrfs_device *device);

/* Only what is part of the load of its device may wait for it. */
static inline bool btrfs_read_turn_waits(struct btrfs_device *device, struct btrfs_bio *bbio)
{
	if (!bbio->read_charge)
		bbio->turn.stream = 0;
	return bbio->turn.stream && __btrfs_read_turn_waits(device, bbio);
}

static inline void btrfs_read_turn_done(struct btrfs_fs_info *fs_info,
					struct btrfs_device *device, struct btrfs_bio *bbio)
{
	if (bbio->turn.stream)
		__btrfs_read_turn_done(fs_info, device);
}

#endif
