// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles in statfs: how much data fits into new chunks.
 *
 * With tiers of devices no formula says that, the steps of the allocator do. A
 * work item takes them on a copy of the figures of all devices, each time that
 * these have changed. It holds no lock that an allocation needs, neither does
 * statfs wait for the devices: it reads the last result.
 */

#include <linux/workqueue.h>
#include "ctree.h"
#include "block-group.h"
#include "device-role.h"
#include "fs.h"
#include "space-info.h"
#include "volumes.h"

/* Bytes of the device that chunks with @bg_flags can still get. */
static u64 device_room(const struct btrfs_fs_info *fs_info,
		       const struct btrfs_device *device, u64 bg_flags)
{
	const u64 total = btrfs_device_get_total_bytes(device);
	const u64 room = btrfs_device_role_system_room(fs_info, device, bg_flags);
	const u64 taken = btrfs_device_get_bytes_used(device) +
			  max_t(u64, room, BTRFS_DEVICE_RANGE_RESERVED);

	return total > taken ? total - taken : 0;
}

/*
 * Copy what is to know of the devices for chunks with @bg_flags, of at most @max
 * of them. The rank is read once for each device, so that all that is worked
 * out from it fits together.
 */
static u32 copy_devices(const struct btrfs_fs_info *fs_info, u64 bg_flags,
			struct btrfs_device_info *infos, u32 max,
			struct btrfs_role_limits *limits)
{
	struct btrfs_device *device;
	u32 nr = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(device, &fs_info->fs_devices->devices, dev_list) {
		const enum btrfs_role_rank rank =
			btrfs_device_role_rank(fs_info, device, bg_flags);

		if (!test_bit(BTRFS_DEV_STATE_WRITEABLE, &device->dev_state) ||
		    !btrfs_device_can_have_role(device) || !device->bdev)
			continue;
		limits->rank_bytes[rank] += btrfs_device_get_total_bytes(device);
		if (rank == BTRFS_ROLE_RANK_EXCLUDED)
			continue;
		if (nr == max)
			break;

		infos[nr].rank = rank;
		infos[nr].total_avail = device_room(fs_info, device, bg_flags);
		nr++;
	}
	rcu_read_unlock();

	return nr;
}

static void describe_profile(const struct btrfs_fs_info *fs_info,
			     const struct btrfs_raid_attr *attr,
			     struct btrfs_role_profile *profile)
{
	profile->striped = (attr->devs_max == 0);
	profile->devs_min = attr->devs_min;
	profile->devs_max = attr->devs_max;
	if (profile->striped)
		profile->devs_max = BTRFS_MAX_DEVS(fs_info);
	profile->devs_increment = attr->devs_increment;
}

/* What is to know of chunks with @bg_flags, once the devices have been counted. */
static void describe_chunks(struct btrfs_fs_info *fs_info, u64 bg_flags,
			    struct btrfs_role_profile *profile,
			    struct btrfs_role_limits *limits)
{
	const struct btrfs_raid_attr *attr =
		&btrfs_raid_array[btrfs_bg_flags_to_raid_index(bg_flags)];
	const u64 chunk_size =
		READ_ONCE(btrfs_find_space_info(fs_info, bg_flags)->chunk_size);
	u64 max_chunk;

	limits->dev_stripes = attr->dev_stripes;
	limits->ncopies = attr->ncopies;
	limits->nparity = attr->nparity;
	limits->max_chunk = chunk_size;
	limits->max_stripe = min_t(u64, chunk_size, SZ_1G);

	describe_profile(fs_info, attr, profile);
	max_chunk = btrfs_role_max_chunk(limits, BTRFS_ROLE_RANK_FIRST);
	profile->useful = btrfs_role_useful_bytes(btrfs_role_kind(bg_flags),
						  max_chunk, limits->max_stripe,
						  limits->dev_stripes);
}

static void statfs_work(struct work_struct *work)
{
	struct btrfs_fs_info *fs_info =
		container_of(work, struct btrfs_fs_info, role_statfs_work);
	const u64 bg_flags = btrfs_data_alloc_profile(fs_info);
	struct btrfs_role_profile profile;
	struct btrfs_role_limits limits = { 0 };
	struct btrfs_device_info *infos;
	/* A device that is added meanwhile makes the work run again. */
	u32 nr = READ_ONCE(fs_info->fs_devices->open_devices);

	/* Without memory the figure remains what it was. */
	infos = kvcalloc(nr, sizeof(*infos), GFP_NOFS);
	if (!infos)
		return;

	nr = copy_devices(fs_info, bg_flags, infos, nr, &limits);
	describe_chunks(fs_info, bg_flags, &profile, &limits);
	atomic64_set(&fs_info->role_avail_data,
		     btrfs_role_available(infos, nr, &profile, &limits));
	kvfree(infos);
	/* Pairs with the acquire in btrfs_device_role_avail_data(). */
	smp_store_release(&fs_info->role_avail_flags, (u32)bg_flags);
}

void btrfs_device_role_init(struct btrfs_fs_info *fs_info)
{
	INIT_WORK(&fs_info->role_statfs_work, statfs_work);
}

/* No chunk is allocated or removed any more. */
void btrfs_device_role_stop(struct btrfs_fs_info *fs_info)
{
	cancel_work_sync(&fs_info->role_statfs_work);
}

/* What statfs reads is out of date. */
void btrfs_device_role_update_statfs(struct btrfs_fs_info *fs_info)
{
	/* At mount it is too early: the first statfs asks for the figure. */
	if (test_bit(BTRFS_FS_OPEN, &fs_info->flags))
		queue_work(system_unbound_wq, &fs_info->role_statfs_work);
}

/* Bring it up to date before returning. */
void btrfs_device_role_sync_statfs(struct btrfs_fs_info *fs_info)
{
	queue_work(system_unbound_wq, &fs_info->role_statfs_work);
	flush_work(&fs_info->role_statfs_work);
}

/* Bytes of data, without copies and parity, that fit into new chunks. */
u64 btrfs_device_role_avail_data(struct btrfs_fs_info *fs_info)
{
	/* New chunks may have another profile since a balance began or ended. */
	if (smp_load_acquire(&fs_info->role_avail_flags) !=
	    (u32)btrfs_data_alloc_profile(fs_info))
		btrfs_device_role_sync_statfs(fs_info);

	return atomic64_read(&fs_info->role_avail_data);
}
