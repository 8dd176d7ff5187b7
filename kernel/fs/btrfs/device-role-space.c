// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles in the accounting of space: what metadata, data and system chunks
 * can still get. The sums are made anew each time, so they cannot drift.
 */

#include "ctree.h"
#include "device-role.h"
#include "volumes.h"

static bool has_roles(const struct btrfs_fs_info *fs_info)
{
	const struct btrfs_device *device;

	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list) {
		if (btrfs_device_role(fs_info, device))
			return true;
	}
	return false;
}

static void add_device(const struct btrfs_fs_info *fs_info,
		       const struct btrfs_device *device,
		       struct btrfs_role_sums *sums)
{
	const u64 reserved = max_t(u64, BTRFS_DEVICE_RANGE_RESERVED,
				   btrfs_device_role_system_space(fs_info, device, 0));
	const u64 all = device->total_bytes > device->bytes_used ?
			device->total_bytes - device->bytes_used : 0;
	const u64 bytes = all > reserved ? all - reserved : 0;
	const u8 role = btrfs_device_role(fs_info, device);
	enum btrfs_role_rank ranks[2];

	for (int kind = 0; kind < 2; kind++) {
		const enum btrfs_role_rank rank = btrfs_role_rank(role, kind);

		ranks[kind] = rank;
		sums->kinds[kind].bytes[rank] += device->total_bytes;
		sums->kinds[kind].devices += (rank == BTRFS_ROLE_RANK_FIRST);
		btrfs_add_avail(&sums->kinds[kind].avail[rank], bytes);
	}
	if (ranks[BTRFS_ROLE_KIND_METADATA] == BTRFS_ROLE_RANK_EXCLUDED)
		return;
	if (ranks[BTRFS_ROLE_KIND_DATA] != BTRFS_ROLE_RANK_EXCLUDED)
		sums->shared += bytes;
	/* In pieces smaller than the chunk of mkfs there is nothing to rely on. */
	if (all >= SZ_8M)
		btrfs_add_avail(&sums->system, all);
}

/* Chunks, devices, sizes or roles have changed. Return whether roles are in force. */
bool btrfs_device_role_update_avail(struct btrfs_fs_info *fs_info)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	struct btrfs_role_sums sums = { 0 };
	const struct btrfs_device *device;
	const bool roles = has_roles(fs_info);

	if (roles) {
		list_for_each_entry(device, &fs_devices->alloc_list, dev_alloc_list)
			add_device(fs_info, device, &sums);
		spin_lock(&fs_devices->per_profile_lock);
		fs_devices->role_sums = sums;
		spin_unlock(&fs_devices->per_profile_lock);
	}
	/* Pairs with the acquire in btrfs_device_roles_in_force(). */
	smp_store_release(&fs_info->roles.in_force, roles);
	return roles;
}

/* Bytes, without copies and parity, that new chunks of the type and profile can get. */
u64 btrfs_device_role_avail(const struct btrfs_fs_info *fs_info, u64 bg_flags)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	const struct btrfs_role_sums *sums = &fs_devices->role_sums;
	struct btrfs_role_profile profile;
	u64 avail;

	btrfs_device_role_profile(fs_info, bg_flags, &profile);
	spin_lock(&fs_devices->per_profile_lock);
	if (bg_flags & BTRFS_BLOCK_GROUP_SYSTEM)
		avail = btrfs_role_available(&sums->system, 1, &profile);
	else
		avail = btrfs_role_available(sums->kinds[profile.kind].avail,
					     BTRFS_ROLE_RANK_EXCLUDED, &profile);
	spin_unlock(&fs_devices->per_profile_lock);
	return avail;
}
