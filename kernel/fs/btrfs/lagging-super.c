// SPDX-License-Identifier: GPL-2.0

/*
 * A superblock says where the trees are. The trees can be read only if a device with
 * metadata is there, so while the filesystem is mounted only these devices need a
 * current superblock. Those of other devices lag behind: a commit writes them when it
 * changes the chunk tree, that is devices, roles or places of chunks, and they are
 * written when the filesystem is unmounted, frozen or made read-only.
 *
 * A superblock that lags must be older than the others. A mount takes the first device
 * of the highest generation, and one of that generation without the root of the log
 * tree would hide what has been synced. So a commit of the log leaves out only devices
 * that the commit of the transaction before has left out.
 */

#include "ctree.h"
#include "accessors.h"
#include "disk-io.h"
#include "fs.h"
#include "lagging-super.h"
#include "volumes.h"
#include "compat.h"

/*
 * Find the devices that have no stripe of metadata or system chunks. What the running
 * transaction has changed is counted as well, but it writes all superblocks.
 */
static void find_devices_without_metadata(struct btrfs_fs_info *fs_info)
{
	struct btrfs_device *device;
	struct rb_node *node;

	lockdep_assert_held(&fs_info->fs_devices->device_list_mutex);
	list_for_each_entry(device, &fs_info->fs_devices->devices, dev_list)
		assign_bit(BTRFS_DEV_STATE_NO_METADATA, &device->dev_state,
			   !test_bit(BTRFS_DEV_STATE_REPLACE_TGT, &device->dev_state));

	read_lock(&fs_info->mapping_tree_lock);
	for (node = rb_first_cached(&fs_info->mapping_tree); node; node = rb_next(node)) {
		const struct btrfs_chunk_map *map = rb_entry(node, struct btrfs_chunk_map, rb_node);

		if (!(map->type & (BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_SYSTEM)))
			continue;
		for (int i = 0; i < map->num_stripes; i++)
			clear_bit(BTRFS_DEV_STATE_NO_METADATA, &map->stripes[i].dev->dev_state);
	}
	read_unlock(&fs_info->mapping_tree_lock);
}

/*
 * Choose the devices whose superblocks are not written now. @max_mirrors: 0 in the commit
 * of a transaction, 1 in that of a log, BTRFS_SUPER_MIRROR_MAX if all are to be written.
 *
 * Return their number.
 */
int btrfs_choose_lagging_supers(struct btrfs_fs_info *fs_info, int max_mirrors)
{
	const struct btrfs_super_block *sb = fs_info->super_for_commit;
	const u64 generation = btrfs_super_generation(sb);
	const bool on = test_bit(BTRFS_FS_LAGGING_SUPERS, &fs_info->flags);
	const bool all = btrfs_super_chunk_root_generation(sb) == generation;
	bool may = on && max_mirrors != BTRFS_SUPER_MIRROR_MAX &&
		   !fs_info->fs_devices->missing_devices && !btrfs_is_zoned(fs_info);
	struct btrfs_device *device;
	bool known = may && !all;
	bool waits = false;
	int lagging = 0;

	list_for_each_entry(device, &fs_info->fs_devices->devices, dev_list) {
		may &= !test_bit(BTRFS_DEV_STATE_REPLACE_TGT, &device->dev_state);
		/* 0: not written since it was mounted or added, or the last write failed. */
		known &= device->super_generation != 0;
	}
	list_for_each_entry(device, &fs_info->fs_devices->devices, dev_list) {
		const bool could = may && test_bit(BTRFS_DEV_STATE_NO_METADATA, &device->dev_state);
		const bool lags = could && !all && device->super_generation &&
				  device->super_generation < generation;

		assign_bit(BTRFS_DEV_STATE_SUPER_LAGS, &device->dev_state, lags);
		lagging += lags;
		waits |= could && !lags && !atomic_read(&device->sb_write_errors) &&
			 test_bit(BTRFS_DEV_STATE_WRITEABLE, &device->dev_state);
	}
	if (on && max_mirrors == 0 && !known)
		find_devices_without_metadata(fs_info);
	/* After a commit, or two after a mount, it lags: do not let all syncs until then wait. */
	if (waits && max_mirrors == 1) {
		set_bit(BTRFS_FS_COMMIT_TRANS, &fs_info->flags);
		wake_up_process(fs_info->transaction_kthread);
	}
	return lagging;
}

/* Write what lags, with all copies, outside of a commit. */
int btrfs_write_lagging_supers(struct btrfs_fs_info *fs_info)
{
	const struct btrfs_device *device;
	bool lags = false;

	guard(mutex)(&fs_info->tree_log_mutex);
	if (BTRFS_FS_ERROR(fs_info))
		return 0;
	scoped_guard(mutex, &fs_info->fs_devices->device_list_mutex) {
		list_for_each_entry(device, &fs_info->fs_devices->devices, dev_list)
			lags |= btrfs_super_lags(device);
	}
	return lags ? write_all_supers(fs_info, NULL) : 0;
}

int btrfs_set_lagging_supers(struct btrfs_fs_info *fs_info, bool on)
{
	if (!on) {
		clear_bit(BTRFS_FS_LAGGING_SUPERS, &fs_info->flags);
		return btrfs_write_lagging_supers(fs_info);
	}
	guard(mutex)(&fs_info->fs_devices->device_list_mutex);
	find_devices_without_metadata(fs_info);
	set_bit(BTRFS_FS_LAGGING_SUPERS, &fs_info->flags);
	return 0;
}
