// SPDX-License-Identifier: GPL-2.0

/*
 * Whether the devices that roles leave for data and for metadata are enough for
 * the profiles: before roles change, a device goes, or a profile is converted.
 * Nothing is changed here.
 */

#include "ctree.h"
#include "device-role.h"
#include "fs.h"
#include "messages.h"
#include "volumes.h"

/* The profiles in use, by type. */
struct profiles_in_use {
	u64 data;
	u64 metadata;
	u64 system;
};

/* What a balance, running or paused, converts to is needed as well. */
static void add_conversions(struct btrfs_fs_info *fs_info,
			    struct profiles_in_use *profiles)
{
	const struct btrfs_balance_control *bctl;

	spin_lock(&fs_info->balance_lock);
	bctl = fs_info->balance_ctl;
	if (bctl && bctl->data.flags & BTRFS_BALANCE_ARGS_CONVERT)
		profiles->data |= bctl->data.target;
	if (bctl && bctl->meta.flags & BTRFS_BALANCE_ARGS_CONVERT)
		profiles->metadata |= bctl->meta.target;
	if (bctl && bctl->sys.flags & BTRFS_BALANCE_ARGS_CONVERT)
		profiles->system |= bctl->sys.target;
	spin_unlock(&fs_info->balance_lock);
}

static void get_profiles(struct btrfs_fs_info *fs_info,
			 struct profiles_in_use *profiles)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&fs_info->profiles_lock);
		profiles->data = fs_info->avail_data_alloc_bits;
		profiles->metadata = fs_info->avail_metadata_alloc_bits;
		profiles->system = fs_info->avail_system_alloc_bits;
	} while (read_seqretry(&fs_info->profiles_lock, seq));
	add_conversions(fs_info, profiles);
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

static bool excludes(u8 role, enum btrfs_role_kind kind)
{
	return btrfs_role_rank(role, kind) == BTRFS_ROLE_RANK_EXCLUDED;
}

/*
 * Count the writeable devices that may have chunks of each kind, by the roles in
 * force or by those @stored, that the next mount may obey.
 */
void btrfs_device_role_count(const struct btrfs_fs_info *fs_info, bool stored,
			     struct btrfs_role_counts *counts)
{
	const struct btrfs_device *device;

	lockdep_assert_held(&fs_info->chunk_mutex);

	memset(counts, 0, sizeof(*counts));
	list_for_each_entry(device, &fs_info->fs_devices->alloc_list,
			    dev_alloc_list) {
		const u8 role = stored ? device->role :
				btrfs_device_role_in_force(fs_info, device);

		counts->data += !excludes(role, BTRFS_ROLE_KIND_DATA);
		counts->metadata += !excludes(role, BTRFS_ROLE_KIND_METADATA);
	}
}

/*
 * Would the profiles in use still find enough devices? Only a change for the
 * worse is refused: where devices are missing already it must be possible to
 * allow the remaining ones more, one after the other.
 */
enum btrfs_device_roles_reason
btrfs_device_role_check_counts(struct btrfs_fs_info *fs_info,
			       const struct btrfs_role_counts *before,
			       const struct btrfs_role_counts *after)
{
	struct profiles_in_use profiles;

	get_profiles(fs_info, &profiles);
	if (after->data < before->data &&
	    after->data < most_demanding(profiles.data)->devs_min)
		return BTRFS_DEVICE_ROLES_TOO_FEW_DATA;
	if (after->metadata >= before->metadata)
		return BTRFS_DEVICE_ROLES_OK;
	if (after->metadata < most_demanding(profiles.metadata)->devs_min)
		return BTRFS_DEVICE_ROLES_TOO_FEW_METADATA;
	if (after->metadata < most_demanding(profiles.system)->devs_min)
		return BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM;
	return BTRFS_DEVICE_ROLES_OK;
}

const char *btrfs_device_roles_reason(enum btrfs_device_roles_reason reason)
{
	static const char * const reasons[] = {
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
		[BTRFS_DEVICE_ROLES_MIXED] =
			"mixed block groups ignore roles",
		[BTRFS_DEVICE_ROLES_SEED] =
			"a seed device has no role that can be set",
	};

	return reasons[reason];
}

/*
 * The code for user space, with a text that existing tools have: the one for
 * the number of devices that the profile needs.
 */
static int removal_error(struct btrfs_fs_info *fs_info,
			 enum btrfs_device_roles_reason reason)
{
	struct profiles_in_use profiles;
	u64 bits;

	get_profiles(fs_info, &profiles);
	if (reason == BTRFS_DEVICE_ROLES_TOO_FEW_DATA)
		bits = profiles.data;
	else if (reason == BTRFS_DEVICE_ROLES_TOO_FEW_METADATA)
		bits = profiles.metadata;
	else
		bits = profiles.system;

	return most_demanding(bits)->mindev_error ?: BTRFS_ERROR_DEV_ONLY_WRITABLE;
}

/*
 * Can the writeable device go? 0, or one of btrfs_err_code. The caller takes it
 * off the list of such devices in the same critical section, so that no role
 * that is set meanwhile counts on it.
 */
int btrfs_device_role_check_removal(struct btrfs_fs_info *fs_info,
				    const struct btrfs_device *device)
{
	const u8 role = btrfs_device_role_in_force(fs_info, device);
	enum btrfs_device_roles_reason reason;
	struct btrfs_role_counts before;
	struct btrfs_role_counts after;

	lockdep_assert_held(&fs_info->chunk_mutex);

	if (!btrfs_device_roles_in_force(fs_info))
		return 0;

	btrfs_device_role_count(fs_info, false, &before);
	after = before;
	after.data -= !excludes(role, BTRFS_ROLE_KIND_DATA);
	after.metadata -= !excludes(role, BTRFS_ROLE_KIND_METADATA);

	reason = btrfs_device_role_check_counts(fs_info, &before, &after);
	if (reason == BTRFS_DEVICE_ROLES_OK)
		return 0;

	btrfs_warn(fs_info, "cannot remove devid %llu: by their roles, %s",
		   device->devid, btrfs_device_roles_reason(reason));
	return removal_error(fs_info, reason);
}

/*
 * A missing device is removed, often because a new one has been added. That one
 * has its own role; only device replace hands a role on.
 */
void btrfs_device_role_note_removal(struct btrfs_fs_info *fs_info,
				    const struct btrfs_device *device)
{
	if (!test_bit(BTRFS_DEV_STATE_MISSING, &device->dev_state) ||
	    !device->role)
		return;

	btrfs_info(fs_info,
		   "missing devid %llu is removed, no other device gets its role %s",
		   device->devid, btrfs_role_name(device->role));
}

/*
 * At mount: roles that the profiles cannot live with were set by a kernel that
 * doesn't check, or devices are missing. What is there can be used and helped,
 * so mount anyway.
 */
void btrfs_device_role_check_mount(struct btrfs_fs_info *fs_info)
{
	static const struct btrfs_role_counts plenty = {
		.data = U32_MAX,
		.metadata = U32_MAX,
	};
	enum btrfs_device_roles_reason reason;
	struct btrfs_role_counts counts;

	if (!btrfs_device_roles_in_force(fs_info))
		return;

	mutex_lock(&fs_info->chunk_mutex);
	btrfs_device_role_count(fs_info, false, &counts);
	mutex_unlock(&fs_info->chunk_mutex);

	reason = btrfs_device_role_check_counts(fs_info, &plenty, &counts);
	if (reason != BTRFS_DEVICE_ROLES_OK)
		btrfs_warn(fs_info, "by the roles of devices, %s",
			   btrfs_device_roles_reason(reason));
}

static bool allows_convert(struct btrfs_fs_info *fs_info,
			   const struct btrfs_balance_args *args, u32 devices,
			   const char *type)
{
	const int index = btrfs_bg_flags_to_raid_index(args->target);
	const u32 needed = btrfs_raid_array[index].devs_min;

	if (!(args->flags & BTRFS_BALANCE_ARGS_CONVERT) || devices >= needed)
		return true;

	btrfs_err(fs_info,
		  "balance: convert %s profile %s needs %u devices, roles leave %u",
		  type, btrfs_bg_type_to_raid_name(args->target), needed,
		  devices);
	return false;
}

/* Are there enough devices for the profiles that a balance converts to? */
bool btrfs_device_role_allows_balance(struct btrfs_fs_info *fs_info,
				      const struct btrfs_balance_control *bctl)
{
	struct btrfs_role_counts counts;

	mutex_lock(&fs_info->chunk_mutex);
	btrfs_device_role_count(fs_info, false, &counts);
	mutex_unlock(&fs_info->chunk_mutex);

	return allows_convert(fs_info, &bctl->data, counts.data, "data") &&
	       allows_convert(fs_info, &bctl->meta, counts.metadata, "metadata") &&
	       allows_convert(fs_info, &bctl->sys, counts.metadata, "system");
}
