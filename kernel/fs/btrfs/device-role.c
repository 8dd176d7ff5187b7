// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles: convert devices, profiles and chunks for device-role-core.c.
 */

#include "ctree.h"
#include "device-role.h"
#include "messages.h"
#include "volumes.h"

/* A role was found in the chunk tree at mount. */
void btrfs_device_role_warn_unknown(const struct btrfs_fs_info *fs_info,
				    const struct btrfs_device *device)
{
	const u64 raw = device->type & BTRFS_ROLE_DISK_MASK;

	if (raw > 5)
		btrfs_warn(fs_info, "devid %llu has unknown role %llu, treated as %s",
			   device->devid, raw, btrfs_role_name(device->role));
}

/*
 * A device that can have a role. Devices of a seed are not ours to change, and
 * the target of a running replace gets the role of the source in the end.
 */
bool btrfs_device_can_have_role(const struct btrfs_device *device)
{
	return test_bit(BTRFS_DEV_STATE_IN_FS_METADATA, &device->dev_state) &&
	       !test_bit(BTRFS_DEV_STATE_REPLACE_TGT, &device->dev_state);
}

/* All of the profile but the limits on sizes. */
void btrfs_device_role_profile(const struct btrfs_fs_info *fs_info, u64 bg_flags,
			       struct btrfs_role_profile *profile)
{
	const struct btrfs_raid_attr *attr =
		&btrfs_raid_array[btrfs_bg_flags_to_raid_index(bg_flags)];

	*profile = (struct btrfs_role_profile) {
		.kind = btrfs_role_kind(bg_flags),
		.striped = (attr->devs_max == 0),
		.devs_min = attr->devs_min,
		.devs_max = attr->devs_max ?: BTRFS_MAX_DEVS(fs_info),
		.devs_increment = attr->devs_increment,
		.dev_stripes = attr->dev_stripes,
		.ncopies = attr->ncopies,
		.nparity = attr->nparity,
	};
	if (bg_flags & BTRFS_BLOCK_GROUP_SYSTEM)
		profile->devs_max = min_t(u32, profile->devs_max,
					  BTRFS_MAX_DEVS_SYS_CHUNK);
}

/* Count the devices of the chunk by rank. */
void btrfs_device_role_count_chunk(const struct btrfs_fs_info *fs_info,
				   const struct btrfs_chunk_map *map,
				   struct btrfs_role_chunk *chunk)
{
	const struct btrfs_device *last = NULL;

	*chunk = (struct btrfs_role_chunk) { 0 };
	/* A device that is replaced stays until all have seen the new one. */
	rcu_read_lock();
	for (int i = 0; i < map->num_stripes; i++) {
		const struct btrfs_device *device = READ_ONCE(map->stripes[i].dev);

		/* Stripes of one device are next to each other. */
		if (device == last)
			continue;
		last = device;

		switch (btrfs_device_role_rank(fs_info, device, map->type)) {
		case BTRFS_ROLE_RANK_FIRST:
			chunk->first++;
			break;
		case BTRFS_ROLE_RANK_EXCLUDED:
			chunk->excluded++;
			break;
		default:
			chunk->other++;
		}
	}
	rcu_read_unlock();
}
