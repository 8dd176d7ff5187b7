// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles: report misplaced chunks to administrators.
 */

#include <linux/kobject.h>
#include <linux/sysfs.h>
#include "ctree.h"
#include "device-role.h"
#include "space-info.h"
#include "volumes.h"

static bool is_on(const struct btrfs_chunk_map *map, const struct btrfs_device *device)
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
	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list)
		vacant += btrfs_device_role_rank(fs_info, device, map->type) ==
				BTRFS_ROLE_RANK_FIRST &&
			  device->total_bytes >= device->bytes_used + bytes &&
			  !is_on(map, device);
	mutex_unlock(&fs_info->chunk_mutex);

	return vacant;
}

/* Bytes of device extents of the chunk that should be on other devices. */
static u64 misplaced_bytes(struct btrfs_fs_info *fs_info,
			   const struct btrfs_chunk_map *map)
{
	struct btrfs_role_profile profile;
	struct btrfs_role_chunk chunk;
	u64 bytes;

	btrfs_device_role_profile(fs_info, map->type, &profile);
	btrfs_device_role_count_chunk(fs_info, map, &chunk);
	bytes = map->stripe_size * profile.dev_stripes;
	if (chunk.other)
		chunk.vacant = count_vacant(fs_info, map, bytes);
	return btrfs_role_misplaced(&chunk, &profile) * bytes;
}

/*
 * Bytes of device extents where the roles do not want them: on a device that
 * excludes them, or on one of the second choice while one of the first could
 * take them. A seed, whose chunks stay where they are, can have roles as well, and
 * so can a missing device, though these alone do not put roles into force.
 *
 * With device_list_mutex held a chunk found in the mapping tree has devices
 * that are not going away. Take it for one chunk at a time, there can be many.
 */
ssize_t btrfs_misplaced_bytes_show(struct kobject *kobj,
				   struct kobj_attribute *attr, char *buf)
{
	const struct btrfs_space_info *space_info =
		container_of(kobj, struct btrfs_space_info, kobj);
	struct btrfs_fs_info *fs_info = space_info->fs_info;
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	struct btrfs_chunk_map *map;
	u64 next = 0;
	u64 bytes = 0;

	/* Sub groups are a part of the primary one here. */
	if (space_info->subgroup_id != BTRFS_SUB_GROUP_PRIMARY ||
	    (!btrfs_device_roles_in_force(fs_info) &&
	     list_empty(&fs_devices->seed_list) && !READ_ONCE(fs_devices->missing_devices)))
		return sysfs_emit(buf, "0\n");

	do {
		mutex_lock(&fs_devices->device_list_mutex);
		map = btrfs_find_chunk_map(fs_info, next, U64_MAX);
		if (map) {
			if ((map->type & BTRFS_BLOCK_GROUP_TYPE_MASK) == space_info->flags)
				bytes += misplaced_bytes(fs_info, map);
			next = map->start + map->chunk_len;
			btrfs_free_chunk_map(map);
		}
		mutex_unlock(&fs_devices->device_list_mutex);
		cond_resched();
	} while (map && !fatal_signal_pending(current));

	return sysfs_emit(buf, "%llu\n", bytes);
}

/* Called by the cleaner: a uevent for the first spill of each type. */
void btrfs_device_role_send_events(struct btrfs_fs_info *fs_info)
{
	static const char * const types[] = {
		[ilog2(BTRFS_BLOCK_GROUP_DATA)] = "BTRFS_TYPE=data",
		[ilog2(BTRFS_BLOCK_GROUP_METADATA)] = "BTRFS_TYPE=metadata",
		[ilog2(BTRFS_BLOCK_GROUP_SYSTEM)] = "BTRFS_TYPE=system",
	};

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		char *env[3] = { NULL };

		if (!test_and_clear_bit(i, &fs_info->roles.spill_events))
			continue;
		env[0] = "BTRFS_EVENT=spilled_chunk";
		env[1] = (char *)types[i];
		kobject_uevent_env(&fs_info->fs_devices->fsid_kobj, KOBJ_CHANGE, env);
	}
}
