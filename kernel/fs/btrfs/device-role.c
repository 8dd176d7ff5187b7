// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles, the kernel side. See device-role.h.
 */

#include "ctree.h"
#include "accessors.h"
#include "block-group.h"
#include "device-role.h"
#include "fs.h"
#include "messages.h"
#include "misc.h"
#include "space-info.h"
#include "volumes.h"

/*
 * The type of a device is the on-disk field, its role what that means to us.
 * Writers hold chunk_mutex unless the device is not in use yet. The role is a
 * single byte, so that it can be read anywhere without a lock.
 */
void btrfs_device_set_type(struct btrfs_device *device, u64 type)
{
	device->type = type;
	WRITE_ONCE(device->role, btrfs_role_from_disk(type));
}

/* Take over the type found in the chunk tree at mount. */
void btrfs_device_load_type(struct btrfs_fs_info *fs_info,
			    struct btrfs_device *device, u64 type)
{
	btrfs_device_set_type(device, type);
	device->commit_type = type;

	if (btrfs_role_unknown_on_disk(type))
		btrfs_warn(fs_info,
			   "devid %llu has unknown role %llu, treated as %s",
			   device->devid, type & BTRFS_ROLE_DISK_MASK,
			   btrfs_role_name(device->role));
}

/* The replacement of a device does the same job as the device did. */
void btrfs_device_inherit_type(struct btrfs_device *device,
			       const struct btrfs_device *from)
{
	btrfs_device_set_type(device, from->type);
	device->commit_type = from->commit_type;
}

/* The role that the device really has: none if they are to be ignored. */
u8 btrfs_device_role_in_force(const struct btrfs_fs_info *fs_info,
			      const struct btrfs_device *device)
{
	if (btrfs_test_opt(fs_info, NODEVICE_ROLES))
		return 0;
	return READ_ONCE(device->role);
}

/*
 * How welcome a chunk with @bg_flags is on the device. With mixed block groups
 * there is nothing to steer, and system chunks go where the rest goes.
 */
enum btrfs_role_rank btrfs_device_role_rank(const struct btrfs_fs_info *fs_info,
					    const struct btrfs_device *device,
					    u64 bg_flags)
{
	if (btrfs_fs_incompat(fs_info, MIXED_GROUPS))
		return BTRFS_ROLE_RANK_FIRST;

	return btrfs_role_rank(btrfs_device_role_in_force(fs_info, device),
			       btrfs_role_kind(bg_flags));
}

/* Bytes of the device that a chunk with @bg_flags has to leave unallocated. */
u64 btrfs_device_role_system_room(const struct btrfs_fs_info *fs_info,
				  const struct btrfs_device *device,
				  u64 bg_flags)
{
	if (bg_flags & BTRFS_BLOCK_GROUP_SYSTEM || btrfs_is_zoned(fs_info) ||
	    btrfs_fs_incompat(fs_info, MIXED_GROUPS))
		return 0;

	return btrfs_role_system_room(btrfs_device_role_in_force(fs_info, device),
				      device->total_bytes);
}

/* Roles may have come into force or be ignored from now on. */
void btrfs_device_role_remount(struct btrfs_fs_info *fs_info)
{
	mutex_lock(&fs_info->chunk_mutex);
	btrfs_device_role_update_space(fs_info);
	btrfs_clear_space_info_full(fs_info);
	mutex_unlock(&fs_info->chunk_mutex);
}

static bool any_has_role(const struct btrfs_fs_info *fs_info,
			 const struct btrfs_fs_devices *fs_devices)
{
	const struct btrfs_device *device;

	list_for_each_entry(device, &fs_devices->devices, dev_list) {
		if (btrfs_device_role_in_force(fs_info, device) != 0)
			return true;
	}
	return false;
}

/* Also those of a seed, whose chunks stay where they are. */
static bool has_roles(const struct btrfs_fs_info *fs_info)
{
	const struct btrfs_fs_devices *seed;

	list_for_each_entry(seed, &fs_info->fs_devices->seed_list, seed_list) {
		if (any_has_role(fs_info, seed))
			return true;
	}
	return any_has_role(fs_info, fs_info->fs_devices);
}

static bool chunk_stands_on(const struct btrfs_chunk_map *map,
			    const struct btrfs_device *device)
{
	for (int i = 0; i < map->num_stripes; i++) {
		if (map->stripes[i].dev == device)
			return true;
	}
	return false;
}

/* First choice devices outside of the chunk with @bytes unallocated. */
static u32 count_vacant(struct btrfs_fs_info *fs_info,
			const struct btrfs_chunk_map *map, u64 bytes)
{
	const struct btrfs_device *device;
	u32 vacant = 0;

	mutex_lock(&fs_info->chunk_mutex);
	list_for_each_entry(device, &fs_info->fs_devices->alloc_list,
			    dev_alloc_list) {
		if (btrfs_device_role_rank(fs_info, device, map->type) ==
		    BTRFS_ROLE_RANK_FIRST &&
		    device->total_bytes >= device->bytes_used + bytes &&
		    !chunk_stands_on(map, device))
			vacant++;
	}
	mutex_unlock(&fs_info->chunk_mutex);

	return vacant;
}

/* Bytes of device extents of the chunk that should be on other devices. */
static u64 chunk_misplaced_bytes(struct btrfs_fs_info *fs_info,
				 const struct btrfs_chunk_map *map)
{
	const struct btrfs_raid_attr *attr =
		&btrfs_raid_array[btrfs_bg_flags_to_raid_index(map->type)];
	const struct btrfs_role_profile profile = {
		.striped = (attr->devs_max == 0),
		.devs_min = attr->devs_min,
		.devs_increment = attr->devs_increment,
	};
	const u64 bytes = map->stripe_size * attr->dev_stripes;
	struct btrfs_role_chunk chunk = { 0 };

	/* The stripes of a device are next to each other. */
	for (int i = 0; i < map->num_stripes; i += attr->dev_stripes) {
		switch (btrfs_device_role_rank(fs_info, map->stripes[i].dev,
					       map->type)) {
		case BTRFS_ROLE_RANK_FIRST:
			chunk.first++;
			break;
		case BTRFS_ROLE_RANK_EXCLUDED:
			chunk.excluded++;
			break;
		default:
			chunk.other++;
		}
	}
	if (chunk.other)
		chunk.vacant = count_vacant(fs_info, map, bytes);

	return btrfs_role_misplaced(&chunk, &profile) * bytes;
}

/*
 * Bytes of device extents that hold @bg_type where the roles don't want it: on
 * a device that excludes it, or on one of the second choice while one of the
 * first could take it.
 *
 * With device_list_mutex held a chunk found in the mapping tree has devices
 * that are not going away. Take it for one chunk at a time, there can be many.
 */
u64 btrfs_device_role_misplaced_bytes(struct btrfs_fs_info *fs_info, u64 bg_type)
{
	struct mutex *lock = &fs_info->fs_devices->device_list_mutex;
	struct btrfs_chunk_map *map;
	u64 next = 0;
	u64 bytes = 0;
	bool more;

	mutex_lock(lock);
	more = has_roles(fs_info);
	mutex_unlock(lock);

	while (more && !fatal_signal_pending(current)) {
		mutex_lock(lock);
		map = btrfs_find_chunk_map(fs_info, next, U64_MAX);
		if (map) {
			if ((map->type & BTRFS_BLOCK_GROUP_TYPE_MASK) == bg_type)
				bytes += chunk_misplaced_bytes(fs_info, map);
			next = map->start + map->chunk_len;
			btrfs_free_chunk_map(map);
		} else {
			more = false;
		}
		mutex_unlock(lock);
		cond_resched();
	}

	return bytes;
}
