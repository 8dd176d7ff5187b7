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
		if (device->role)
			return btrfs_device_role(fs_info, device);
	}
	return false;
}

static void add_device(const struct btrfs_fs_info *fs_info,
		       const struct btrfs_device *device,
		       struct btrfs_role_sums *sums)
{
	const u64 reserved = max_t(u64, BTRFS_DEVICE_RANGE_RESERVED,
				   btrfs_device_role_system_space(fs_info, device, 0));
	/* What the running transaction has freed is free after its commit. */
	const u64 used = device->bytes_used + device->freed_bytes;
	const u64 all = device->total_bytes > used ? device->total_bytes - used : 0;
	struct btrfs_role_devices *own = &sums->roles[device->role];

	own->devices++;
	own->bytes += device->total_bytes;
	btrfs_add_avail(&own->avail, all > reserved ? all - reserved : 0);
	/* Pieces smaller than the chunk of mkfs are nothing to rely on. */
	if (all >= SZ_8M && device->role != BTRFS_ROLE_DRAINING)
		btrfs_add_avail(&sums->system[device->role == BTRFS_ROLE_EXCLUDE_OTHER],
				all - BTRFS_DEVICE_RANGE_RESERVED);
}

/* Chunks, devices, sizes or roles have changed. */
void btrfs_device_role_update_avail(struct btrfs_fs_info *fs_info)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	const bool roles = has_roles(fs_info);
	const struct btrfs_device *device;
	struct btrfs_role_sums sums = { 0 };

	list_for_each_entry(device, &fs_devices->alloc_list, dev_alloc_list)
		add_device(fs_info, device, &sums);
	sums.shared = sums.roles[0].avail.sum + sums.roles[1].avail.sum +
		      sums.roles[BTRFS_ROLE_FOREIGN].avail.sum;
	/* Without roles, too: a missing device may have one, and misplaced stripes. */
	scoped_guard(spinlock, &fs_devices->per_profile_lock)
		fs_devices->role_sums = sums;
	/* For get_placement_class(): what it cached while a mount option changed is wrong. */
	smp_store_release(&fs_info->roles.generation,
			  fs_info->roles.generation + (roles != fs_info->roles.in_force));
	/* Pairs with the acquire in btrfs_device_roles_in_force(). */
	smp_store_release(&fs_info->roles.in_force, roles);
}

/* Let @to count the devices of @from as well. */
static void merge_avail(struct btrfs_avail_sums *to, const struct btrfs_avail_sums *from)
{
	to->sum += from->sum;
	for (u32 i = 0; i < ARRAY_SIZE(from->top); i++) {
		to->sum -= from->top[i];
		btrfs_add_avail(to, from->top[i]);
	}
	to->devs += from->devs - min(from->devs, ARRAY_SIZE(from->top));
}

/* Bytes, without copies and parity, that new chunks of the type and profile can get. */
u64 btrfs_device_role_avail(const struct btrfs_fs_info *fs_info, u64 bg_flags)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	const struct btrfs_role_sums *sums = &fs_devices->role_sums;
	struct btrfs_avail_sums ranks[BTRFS_ROLE_RANK_NR] = { 0 };
	const bool ignored = btrfs_device_roles_ignored(fs_info);
	struct btrfs_role_profile profile;

	btrfs_device_role_profile(fs_info, bg_flags, &profile);
	spin_lock(&fs_devices->per_profile_lock);
	if (bg_flags & BTRFS_BLOCK_GROUP_SYSTEM && !ignored) {
		/* Where others have no space data-only ones have to do. */
		ranks[0] = sums->system[sums->system[0].devs == 0];
	} else {
		for (u32 i = 0; i < ARRAY_SIZE(sums->roles); i++)
			merge_avail(&ranks[btrfs_role_rank(i, profile.kind)],
				    &sums->roles[i].avail);
	}
	spin_unlock(&fs_devices->per_profile_lock);
	return btrfs_role_available(ranks, ignored ? BTRFS_ROLE_RANK_NR : BTRFS_ROLE_RANK_EXCLUDED,
				    &profile);
}
