// SPDX-License-Identifier: GPL-2.0

/*
 * Whether the devices that roles leave for data and for metadata are enough for
 * the profiles, before something changes, and what is on the wrong devices.
 */

#include <linux/kobject.h>
#include <linux/sysfs.h>
#include "ctree.h"
#include "device-role.h"
#include "messages.h"
#include "space-info.h"
#include "volumes.h"

const char * const btrfs_device_roles_reasons[] = {
	[BTRFS_DEVICE_ROLES_OK] = "error",
	[BTRFS_DEVICE_ROLES_BAD_ROLE] = "no such role",
	[BTRFS_DEVICE_ROLES_NO_DEVICE] = "no such device",
	[BTRFS_DEVICE_ROLES_LISTED_TWICE] = "device listed twice",
	[BTRFS_DEVICE_ROLES_TOO_FEW_DATA] = "too few devices left for the data profile",
	[BTRFS_DEVICE_ROLES_TOO_FEW_METADATA] = "too few devices left for the metadata profile",
	[BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM] = "too few devices left for the system profile",
	[BTRFS_DEVICE_ROLES_MIXED] = "mixed block groups ignore roles",
	[BTRFS_DEVICE_ROLES_SEED] = "a seed device has no role that can be set",
};

static u64 convert_target(const struct btrfs_balance_args *args)
{
	return args->flags & BTRFS_BALANCE_ARGS_CONVERT ? args->target : 0;
}

/* The profiles in use, by data, metadata and system, and what a balance converts to. */
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

	guard(spinlock)(&fs_info->balance_lock);
	bctl = fs_info->balance_ctl;
	if (bctl) {
		profiles[0] |= convert_target(&bctl->data);
		profiles[1] |= convert_target(&bctl->meta);
		profiles[2] |= convert_target(&bctl->sys);
	}
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
 * Would the profiles still find enough devices? 0, or why not. Only a change for
 * the worse is refused: where devices are missing, others must be allowed more.
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
 * a text for the number of devices that a profile needs. The caller takes it off
 * alloc_list in the same critical section, so that no role counts on it.
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

/* Too few devices are no error: existing chunks stay usable, and can be repaired. */
void btrfs_device_role_warn_few(struct btrfs_fs_info *fs_info)
{
	static const u32 plenty[2] = { U32_MAX, U32_MAX };
	enum btrfs_device_roles_reason reason;
	u32 counts[2];

	guard(mutex)(&fs_info->chunk_mutex);
	if (!btrfs_device_roles_in_force(fs_info))
		return;
	btrfs_device_role_count(fs_info, false, NULL, counts);
	reason = btrfs_device_role_check_counts(fs_info, plenty, counts);
	if (reason != BTRFS_DEVICE_ROLES_OK)
		btrfs_warn(fs_info, "by the roles of devices, %s",
			   btrfs_device_roles_reasons[reason]);
}

/* Are there enough devices for the profiles that a balance converts to? */
bool btrfs_device_role_allows_balance(struct btrfs_fs_info *fs_info,
				      const struct btrfs_balance_control *bctl)
{
	static const char * const types[] = { "data", "metadata", "system" };
	const struct btrfs_balance_args * const args[] = { &bctl->data, &bctl->meta, &bctl->sys };
	u32 counts[2];

	/* The balance is known: a change of roles after this heeds it. */
	guard(mutex)(&fs_info->chunk_mutex);
	if (!btrfs_device_roles_in_force(fs_info))
		return true;
	btrfs_device_role_count(fs_info, false, NULL, counts);
	for (int i = 0; i < ARRAY_SIZE(args); i++) {
		const u64 target = convert_target(args[i]);
		const u32 needed = most_demanding(target)->devs_min;

		if (!target || counts[i > 0] >= needed)
			continue;
		btrfs_err(fs_info,
			  "balance: convert %s profile %s needs %u devices, roles leave %u",
			  types[i], btrfs_bg_type_to_raid_name(target), needed, counts[i > 0]);
		return false;
	}
	return true;
}

static bool is_on(const struct btrfs_chunk_map *map, const struct btrfs_device *device)
{
	for (int i = 0; i < map->num_stripes; i++) {
		if (map->stripes[i].dev == device)
			return true;
	}
	return false;
}

/* First choice devices outside of the chunk that have @bytes and would be preferred. */
static u32 count_vacant(struct btrfs_fs_info *fs_info, const struct btrfs_chunk_map *map,
			u64 bytes, u64 useful)
{
	const struct btrfs_device *device;
	u32 vacant = 0;

	guard(mutex)(&fs_info->chunk_mutex);
	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list)
		vacant += btrfs_device_role_rank(fs_info, device, map->type) ==
				BTRFS_ROLE_RANK_FIRST &&
			  device->total_bytes >= device->bytes_used +
				max(max(bytes, useful) + BTRFS_DEVICE_RANGE_RESERVED, useful +
				btrfs_device_role_system_space(fs_info, device, map->type)) &&
			  !is_on(map, device);
	return vacant;
}

/* Bytes of device extents of the chunk that should be on other devices. */
static u64 misplaced_bytes(struct btrfs_fs_info *fs_info, const struct btrfs_chunk_map *map)
{
	struct btrfs_role_profile profile;
	struct btrfs_role_chunk chunk;
	u64 bytes;

	btrfs_device_role_profile(fs_info, map->type, &profile);
	btrfs_device_role_count_chunk(fs_info, map, &chunk);
	/* A stripe of DUP may have been moved to a device of its own. */
	bytes = div_u64(map->stripe_size * map->num_stripes,
			chunk.first + chunk.other + chunk.excluded);
	if (chunk.other)
		chunk.vacant = count_vacant(fs_info, map, bytes, btrfs_role_useful_bytes(&profile));
	return btrfs_role_misplaced(&chunk, &profile) * bytes;
}

/*
 * Bytes of device extents where the roles do not want them. A seed and a missing
 * device can have roles as well, though these alone do not put roles into force.
 *
 * With device_list_mutex held a chunk found in the mapping tree has devices
 * that are not going away. Take it for one chunk at a time, there can be many.
 */
ssize_t btrfs_misplaced_bytes_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct btrfs_space_info *space_info =
		container_of(kobj, struct btrfs_space_info, kobj);
	struct btrfs_fs_info *fs_info = space_info->fs_info;
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	struct btrfs_chunk_map *map;
	u64 next = 0, bytes = 0;

	/* Sub groups are a part of the primary one here. */
	if (space_info->subgroup_id != BTRFS_SUB_GROUP_PRIMARY)
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

#define SPILLED_CHUNK	"BTRFS_EVENT=spilled_chunk"

/* Called by the cleaner: a uevent for the first spill of each type. */
void btrfs_device_role_send_events(struct btrfs_fs_info *fs_info)
{
	static char *events[][3] = {
		[ilog2(BTRFS_BLOCK_GROUP_DATA)] = { SPILLED_CHUNK, "BTRFS_TYPE=data" },
		[ilog2(BTRFS_BLOCK_GROUP_METADATA)] = { SPILLED_CHUNK, "BTRFS_TYPE=metadata" },
		[ilog2(BTRFS_BLOCK_GROUP_SYSTEM)] = { SPILLED_CHUNK, "BTRFS_TYPE=system" },
	};

	for (int i = 0; i < ARRAY_SIZE(events); i++) {
		if (test_and_clear_bit(i, &fs_info->roles.spill_events))
			kobject_uevent_env(&fs_info->fs_devices->fsid_kobj, KOBJ_CHANGE, events[i]);
	}
}
