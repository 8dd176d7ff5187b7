/* SPDX-License-Identifier: GPL-2.0 */
/* Which devices have something to flush, and for whom. */

#ifndef BTRFS_DEVICE_FLUSH_H
#define BTRFS_DEVICE_FLUSH_H

#include <linux/types.h>

struct btrfs_device;
struct btrfs_fs_info;
struct btrfs_inode;
struct btrfs_io_context;

void btrfs_device_wrote(struct btrfs_device *device, struct btrfs_inode *inode);
void btrfs_devices_wrote(const struct btrfs_io_context *bioc, struct btrfs_inode *inode);
bool btrfs_device_begin_flush(struct btrfs_fs_info *fs_info, struct btrfs_device *device,
			      unsigned long data);
void btrfs_log_unflushed(struct btrfs_inode *inode);
void btrfs_flush_data(struct btrfs_inode *inode);

#endif
