// SPDX-License-Identifier: GPL-2.0

/*
 * A device whose writes have all been flushed needs no flush. It is marked when a flush
 * is sent. The mark is removed when a write ends, before those who wait for the write
 * are woken. A write in flight does not count: nothing depends on it yet.
 *
 * A log tree makes only the data of the inodes in it durable. Each inode has a mask of
 * the devices to which its data was written since it was flushed. Who logs the inode
 * hands it over to the log, btrfs_fs_info::log_unflushed, and the commit of the log
 * flushes these devices and those with metadata. It does so with locks that all fsyncs
 * need, so an fsync flushes its own data before it logs.
 */

#include <linux/blkdev.h>
#include <linux/file.h>
#include "ctree.h"
#include "bio.h"
#include "btrfs_inode.h"
#include "device-flush.h"
#include "fs.h"
#include "volumes.h"

/* Devids that are far apart share a bit: that flushes one device more. */
static unsigned long device_mask(const struct btrfs_device *device)
{
	return BIT(device->devid % BITS_PER_LONG);
}

/* A write to the device has ended; @inode: whose data it was, or NULL. */
void btrfs_device_wrote(struct btrfs_device *device, struct btrfs_inode *inode)
{
	atomic_long_t *unflushed = NULL;

	if (!device)
		return;
	/* What relocation wrote is data of other inodes, which do not know of it. */
	if (inode && btrfs_is_data_reloc_root(inode->root))
		unflushed = &inode->root->fs_info->log_unflushed;
	else if (inode && is_data_inode(inode))
		unflushed = &inode->unflushed;
	/* Pairs with the barrier in btrfs_device_begin_flush(): the write, or the mark. */
	smp_mb();
	if (test_bit(BTRFS_DEV_STATE_FLUSHED, &device->dev_state))
		clear_bit(BTRFS_DEV_STATE_FLUSHED, &device->dev_state);
	/* Who finds the device in the mask must not find the mark of before. */
	smp_mb__after_atomic();
	if (unflushed && !(atomic_long_read(unflushed) & device_mask(device)))
		atomic_long_or(device_mask(device), unflushed);
}

void btrfs_devices_wrote(const struct btrfs_io_context *bioc, struct btrfs_inode *inode)
{
	for (int i = 0; i < bioc->num_stripes; i++)
		btrfs_device_wrote(bioc->stripes[i].dev, inode);
}

/*
 * Return whether the device needs a flush, which the caller sends. @data: mask of the
 * devices whose data must be flushed, metadata always must.
 */
bool btrfs_device_begin_flush(struct btrfs_fs_info *fs_info, struct btrfs_device *device,
			      unsigned long data)
{
	const bool skip = test_bit(BTRFS_FS_LAGGING_SUPERS, &fs_info->flags);

	lockdep_assert_held(&fs_info->fs_devices->device_list_mutex);
	if (skip && !(data & device_mask(device)) &&
	    test_bit(BTRFS_DEV_STATE_NO_METADATA, &device->dev_state))
		return false;
	if (test_and_set_bit(BTRFS_DEV_STATE_FLUSHED, &device->dev_state) && skip)
		return false;
	/* Pairs with btrfs_device_wrote(): the mark is there before the flush is sent. */
	smp_mb__after_atomic();
	return true;
}

/*
 * The inode is in a log, or its data can get there in another way. Its items were
 * copied before, so all their data is in the mask.
 */
void btrfs_log_unflushed(struct btrfs_inode *inode)
{
	atomic_long_or(atomic_long_xchg(&inode->unflushed, 0),
		       &inode->root->fs_info->log_unflushed);
}

/*
 * Flush the data of the inode on devices without metadata. What fails stays in the
 * mask, and the commit of the log deals with it. Whoever logs the inode waits.
 */
void btrfs_flush_data(struct btrfs_inode *inode)
{
	struct btrfs_fs_info *fs_info = inode->root->fs_info;
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	struct file **files __free(kfree) = NULL;
	struct btrfs_device *device;
	struct bio *bio = NULL;
	unsigned long mask, keep = 0;
	int nr = 0;

	if (!test_bit(BTRFS_FS_LAGGING_SUPERS, &fs_info->flags) ||
	    btrfs_test_opt(fs_info, NOBARRIER))
		return;

	guard(mutex)(&inode->log_mutex);
	if (!atomic_long_read(&inode->unflushed))
		return;
	scoped_guard(mutex, &fs_devices->device_list_mutex) {
		files = kcalloc(fs_devices->open_devices, sizeof(*files), GFP_NOFS);
		if (!files)
			return;
		mask = atomic_long_xchg(&inode->unflushed, 0);
		list_for_each_entry(device, &fs_devices->devices, dev_list) {
			if (!device->bdev || !(mask & device_mask(device)))
				continue;
			if (!test_bit(BTRFS_DEV_STATE_NO_METADATA, &device->dev_state)) {
				keep |= device_mask(device);
				continue;
			}
			/* That flush has ended, as it held the mutex. */
			if (test_bit(BTRFS_DEV_STATE_FLUSHED, &device->dev_state))
				continue;
			/* The device may be removed, but does not go away. */
			files[nr++] = get_file(device->bdev_file);
			bio = blk_next_bio(bio, device->bdev, 0,
					   REQ_OP_WRITE | REQ_SYNC | REQ_PREFLUSH, GFP_NOFS);
		}
	}
	if (bio) {
		if (submit_bio_wait(bio))
			keep = mask;
		bio_put(bio);
	}
	atomic_long_or(keep, &inode->unflushed);
	while (nr)
		fput(files[--nr]);
}
