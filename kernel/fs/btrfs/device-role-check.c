// SPDX-License-Identifier: GPL-2.0

/*
 * Whether the devices that roles leave for data and for metadata are enough for
 * the profiles: before roles change, a device goes, or a profile is converted.
 */

#include "ctree.h"
#include "device-role.h"
#include "messages.h"
#include "volumes.h"

const char * const btrfs_device_roles_reasons[] = {
	[BTRFS_DEVICE_ROLES_OK] = "error",
	[BTRFS_DEVICE_ROLES_BAD_ROLE] = "no such role",
	[BTRFS_DEVICE_ROLES_NO_DEVICE] = "no such device",
	[BTRFS_DEVICE_ROLES_LISTED_TWICE] = "device listed twice",
	[BTRFS_DEVICE_ROLES_TOO_FEW_DATA] =
		"too few devices left for the data profile",
	[BTRFS_DEVICE_ROLES_TOO_FEW_METADATA] =
		"too few devices left for the metadata profile",
	[BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM] =
		"too few devices left for the system profile",
	[BTRFS_DEVICE_ROLES_MIXED] = "mixed block groups ignore roles",
	[BTRFS_DEVICE_ROLES_SEED] = "a seed device has no role that can be set",
};

static u64 convert_target(const struct btrfs_balance_args *args)
{
	return args->flags & BTRFS_BALANCE_ARGS_CONVERT ? args->target : 0;
}

/*
 * The profiles of data, metadata and system chunks: those in use, and what a
 * balance, running or paused, converts to.
 */
static void get_profiles(struct btrfs_fs_info *fs_info, u64 profiles[3])
{
	const struct btrfs_balance_control *bctl;
	unsigned int seq;

	do {
		seq = read_seqbegin(&fs_info->profiles_lock);
		profiles[0] = fs_info->avail_data_alloc_bits;
		profiles[1] = fs_info->avail_metadata_alloc_bits;
		profiles[2] = fs_info->avail_system_alloc_bits;
	} while (read_seqretry(&fs_info->profiles_lock, seq));

	spin_lock(&fs_info->balance_lock);
	bctl = fs_info->balance_ctl;
	if (bctl) {
		profiles[0] |= convert_target(&bctl->data);
		profiles[1] |= convert_target(&bctl->meta);
		profiles[2] |= convert_target(&bctl->sys);
	}
	spin_unlock(&fs_info->balance_lock);
}

/* Of the profiles in @bits, the one that needs the most devices. */
static const struct btrfs_raid_attr *most_demanding(u64 bits)
{
	const struct btrfs_raid_attr *most = &btrfs_raid_array[BTRFS_RAID_SINGLE];

	for (int i = 0; i < BTRFS_NR_RAID_TYPES; i++) {
		if (bits & btrfs_raid_array[i].bg_flag &&
		    btrfs_raid_array[i].devs_min > most->devs_min)
			most = &btrfs_raid_array[i];
	}
	return most;
}

/*
 * Count the writeable devices but @except that may have data and metadata, by the
 * roles in force or by those @stored, that the next mount may obey.
 */
void btrfs_device_role_count(const struct btrfs_fs_info *fs_info, bool stored,
			     const struct btrfs_device *except, u32 counts[2])
{
	const struct btrfs_device *device;

	lockdep_assert_held(&fs_info->chunk_mutex);

	counts[0] = 0;
	counts[1] = 0;
	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list) {
		const u8 role = stored ? device->role : btrfs_device_role(fs_info, device);

		for (int kind = 0; kind < 2 && device != except; kind++)
			counts[kind] += btrfs_role_rank(role, kind) !=
					BTRFS_ROLE_RANK_EXCLUDED;
	}
}

/*
 * Would the profiles still find enough devices? Only a change for the worse is
 * refused: where devices are missing already it must be possible to allow the
 * remaining ones more, one after the other. 0, or why not.
 */
int btrfs_device_role_check_counts(struct btrfs_fs_info *fs_info,
				   const u32 before[2], const u32 after[2])
{
	u64 profiles[3];

	get_profiles(fs_info, profiles);
	for (int i = 0; i < 3; i++) {
		const int kind = i ? BTRFS_ROLE_KIND_METADATA : BTRFS_ROLE_KIND_DATA;

		if (after[kind] < before[kind] &&
		    after[kind] < most_demanding(profiles[i])->devs_min)
			return BTRFS_DEVICE_ROLES_TOO_FEW_DATA + i;
	}
	return BTRFS_DEVICE_ROLES_OK;
}

/*
 * Can the writeable device go? 0, or one of btrfs_err_code: existing tools have
 * a text for the number of devices that a profile needs. The caller takes the
 * device off the list of such devices in the same critical section, so that no
 * role that is set meanwhile counts on it.
 */
int btrfs_device_role_check_removal(struct btrfs_fs_info *fs_info,
				    const struct btrfs_device *device)
{
	enum btrfs_device_roles_reason reason;
	const struct btrfs_raid_attr *attr;
	u64 profiles[3];
	u32 before[2];
	u32 after[2];

	btrfs_device_role_count(fs_info, false, NULL, before);
	btrfs_device_role_count(fs_info, false, device, after);
	reason = btrfs_device_role_check_counts(fs_info, before, after);
	if (reason == BTRFS_DEVICE_ROLES_OK)
		return 0;

	btrfs_warn(fs_info, "cannot remove devid %llu: by their roles, %s",
		   device->devid, btrfs_device_roles_reasons[reason]);
	get_profiles(fs_info, profiles);
	attr = most_demanding(profiles[reason - BTRFS_DEVICE_ROLES_TOO_FEW_DATA]);
	return attr->mindev_error ?: BTRFS_ERROR_DEV_ONLY_WRITABLE;
}

/*
 * At mount: roles that the profiles cannot live with were set by a kernel that
 * doesn't check, or devices are missing. Existing chunks remain usable and can
 * be repaired, so mount anyway.
 */
void btrfs_device_role_check_mount(struct btrfs_fs_info *fs_info)
{
	static const u32 plenty[2] = { U32_MAX, U32_MAX };
	enum btrfs_device_roles_reason reason;
	u32 counts[2];

	if (!btrfs_device_roles_in_force(fs_info))
		return;

	mutex_lock(&fs_info->chunk_mutex);
	btrfs_device_role_count(fs_info, false, NULL, counts);
	mutex_unlock(&fs_info->chunk_mutex);

	reason = btrfs_device_role_check_counts(fs_info, plenty, counts);
	if (reason != BTRFS_DEVICE_ROLES_OK)
		btrfs_warn(fs_info, "by the roles of devices, %s",
			   btrfs_device_roles_reasons[reason]);
}

static bool allows_convert(struct btrfs_fs_info *fs_info,
			   const struct btrfs_balance_args *args, u32 devices,
			   const char *type)
{
	const u64 target = convert_target(args);
	const u32 needed = most_demanding(target)->devs_min;

	if (!target || devices >= needed)
		return true;

	btrfs_err(fs_info,
		  "balance: convert %s profile %s needs %u devices, roles leave %u",
		  type, btrfs_bg_type_to_raid_name(target), needed, devices);
	return false;
}

/* Are there enough devices for the profiles that a balance converts to? */
bool btrfs_device_role_allows_balance(struct btrfs_fs_info *fs_info,
				      const struct btrfs_balance_control *bctl)
{
	u32 counts[2];

	mutex_lock(&fs_info->chunk_mutex);
	btrfs_device_role_count(fs_info, false, NULL, counts);
	mutex_unlock(&fs_info->chunk_mutex);

	return allows_convert(fs_info, &bctl->data, counts[0], "data") &&
	       allows_convert(fs_info, &bctl->meta, counts[1], "metadata") &&
	       allows_convert(fs_info, &bctl->sys, counts[1], "system");
}
