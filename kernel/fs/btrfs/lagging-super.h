/* SPDX-License-Identifier: GPL-2.0 */
/* Superblocks of devices without metadata, which need not be written at each commit. */

#ifndef BTRFS_LAGGING_SUPER_H
#define BTRFS_LAGGING_SUPER_H

#include <linux/types.h>
#include "volumes.h"

static inline bool btrfs_super_lags(const struct btrfs_device *device)
{
	return test_bit(BTRFS_DEV_STATE_SUPER_LAGS, &device->dev_state);
}

int btrfs_choose_lagging_supers(struct btrfs_fs_info *fs_info, int max_mirrors);
int btrfs_write_lagging_supers(struct btrfs_fs_info *fs_info);
int btrfs_set_lagging_supers(struct btrfs_fs_info *fs_info, bool on);

#endif
