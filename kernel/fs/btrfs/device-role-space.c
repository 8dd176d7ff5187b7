// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles in the accounting of space: what metadata, data and system chunks
 * can still get from the devices that roles leave them. The sums are made anew
 * from all writeable devices by btrfs_update_per_profile_avail(), so they cannot
 * drift.
 */

#include <linux/workqueue.h>
#include "ctree.h"
#include "block-group.h"
#include "device-role.h"
#include "space-info.h"
#include "volumes.h"

struct role_sums {
	struct btrfs_avail_sums metadata;
	struct btrfs_avail_sums shares[ROLE_SHARE_NR];
	struct btrfs_role_kind_state kinds[2];
	/* Bytes of the devices of the first choice, and the useful part of one. */
	u64 first_size[2];
	u64 useful[2];
};

static enum btrfs_role_rank rank_of(const struct btrfs_fs_info *fs_info,
				    const struct btrfs_device *device,
				    enum btrfs_role_kind kind)
{
	return btrfs_role_rank(btrfs_device_role(fs_info, device), kind);
}

/* Sum up sizes. Return whether a device has a role. */
static bool add_sizes(const struct btrfs_fs_info *fs_info, struct role_sums *sums)
{
	const struct btrfs_device *device;
	bool roles = false;

	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list) {
		roles |= (btrfs_device_role(fs_info, device) != 0);
		for (int kind = 0; kind < 2; kind++) {
			switch (rank_of(fs_info, device, kind)) {
			case BTRFS_ROLE_RANK_FIRST:
				sums->first_size[kind] += device->total_bytes;
				fallthrough;
			default:
				sums->kinds[kind].bytes += device->total_bytes;
				break;
			case BTRFS_ROLE_RANK_EXCLUDED:
				break;
			}
		}
	}
	return roles;
}

static void add_unallocated(const struct btrfs_fs_info *fs_info,
			    const struct btrfs_device *device,
			    struct role_sums *sums)
{
	const u64 reserved = max_t(u64, BTRFS_DEVICE_RANGE_RESERVED,
				   btrfs_device_role_system_room(fs_info, device, 0));
	const u64 all = device->total_bytes > device->bytes_used ?
			device->total_bytes - device->bytes_used : 0;
	const u64 bytes = all > reserved ? all - reserved : 0;

	for (int kind = 0; kind < 2; kind++) {
		const enum btrfs_role_rank rank = rank_of(fs_info, device, kind);
		struct btrfs_role_kind_state *state = &sums->kinds[kind];
		const bool useful = bytes >= sums->useful[kind];

		if (rank == BTRFS_ROLE_RANK_EXCLUDED)
			continue;
		state->unallocated += bytes;
		state->room_allowed += useful;
		if (rank == BTRFS_ROLE_RANK_FIRST) {
			state->first_bytes += bytes;
			state->room_first += useful;
		}
	}

	if (rank_of(fs_info, device, BTRFS_ROLE_KIND_DATA) == BTRFS_ROLE_RANK_EXCLUDED)
		btrfs_add_avail(&sums->shares[ROLE_SHARE_OWN], bytes);
	if (rank_of(fs_info, device, BTRFS_ROLE_KIND_METADATA) == BTRFS_ROLE_RANK_EXCLUDED)
		return;
	btrfs_add_avail(&sums->metadata, bytes);
	/* In pieces smaller than the chunk of mkfs there is nothing to rely on. */
	if (all >= SZ_8M && !btrfs_is_zoned(fs_info))
		btrfs_add_avail(&sums->shares[ROLE_SHARE_SYSTEM], all);
}

static void publish(struct btrfs_fs_info *fs_info, struct role_sums *sums)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;

	spin_lock(&fs_devices->per_profile_lock);
	for (int share = 0; share < ROLE_SHARE_NR; share++) {
		for (int i = 0; i < BTRFS_NR_RAID_TYPES; i++)
			fs_devices->role_avail[share][i] =
				btrfs_profile_avail(&sums->shares[share], i);
	}
	spin_unlock(&fs_devices->per_profile_lock);

	for (int kind = 0; kind < 2; kind++) {
		struct btrfs_role_kind_state *state = &fs_info->roles.kinds[kind];
		struct btrfs_role_kind_state *sum = &sums->kinds[kind];

		/* Not better than it was when a chunk found no room. */
		if (sum->first_bytes <= state->spilled_at)
			sum->room_first = 0;
		else
			state->spilled_at = 0;
		state->first_bytes = sum->first_bytes;
		WRITE_ONCE(state->bytes, sum->bytes);
		WRITE_ONCE(state->unallocated, sum->unallocated);
		WRITE_ONCE(state->room_first, sum->room_first);
		WRITE_ONCE(state->room_allowed, sum->room_allowed);
	}
}

/*
 * Chunks, the devices, their sizes or their roles have changed. With roles in force
 * return true, and what metadata chunks can get in @metadata.
 */
bool btrfs_device_role_update_avail(struct btrfs_fs_info *fs_info,
				    struct btrfs_avail_sums *metadata)
{
	struct btrfs_role_profile limits = {
		.dev_stripes = 1, .max_stripe = SZ_1G, .max_chunk = SZ_1G,
	};
	const struct btrfs_device *device;
	struct role_sums sums = { };

	if (!add_sizes(fs_info, &sums)) {
		WRITE_ONCE(fs_info->roles.in_force, false);
		return false;
	}

	for (int kind = 0; kind < 2; kind++) {
		limits.kind = kind;
		limits.rank_bytes[BTRFS_ROLE_RANK_FIRST] = sums.first_size[kind] ?: U64_MAX;
		sums.useful[kind] = btrfs_role_useful_bytes(&limits);
	}
	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list)
		add_unallocated(fs_info, device, &sums);
	publish(fs_info, &sums);
	*metadata = sums.metadata;

	/* At mount it is too early: the first statfs asks for the figure. */
	if (test_bit(BTRFS_FS_OPEN, &fs_info->flags))
		queue_work(system_unbound_wq, &fs_info->roles.statfs_work);
	/* Pairs with the acquire in btrfs_device_roles_in_force(). */
	smp_store_release(&fs_info->roles.in_force, true);
	return true;
}

/* Bytes of a share that chunks of @profile can get. */
u64 btrfs_device_role_avail(const struct btrfs_fs_info *fs_info,
			    enum btrfs_role_share share, u64 profile)
{
	struct btrfs_fs_devices *fs_devices = fs_info->fs_devices;
	u64 avail;

	spin_lock(&fs_devices->per_profile_lock);
	avail = fs_devices->role_avail[share][btrfs_bg_flags_to_raid_index(profile)];
	spin_unlock(&fs_devices->per_profile_lock);

	return avail;
}

/*
 * Copy what is to know of at most @max devices for chunks with @bg_flags. The
 * rank is read once for each, so that all that is worked out from it fits.
 */
static u32 copy_devices(const struct btrfs_fs_info *fs_info, u64 bg_flags,
			struct btrfs_device_info *infos, u32 max,
			struct btrfs_role_profile *profile)
{
	struct btrfs_device *device;
	u32 nr = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(device, &fs_info->fs_devices->devices, dev_list) {
		const enum btrfs_role_rank rank =
			btrfs_device_role_rank(fs_info, device, bg_flags);
		const u64 total = btrfs_device_get_total_bytes(device);
		const u64 taken = btrfs_device_get_bytes_used(device) +
			max_t(u64, BTRFS_DEVICE_RANGE_RESERVED,
			      btrfs_device_role_system_room(fs_info, device, bg_flags));

		if (!test_bit(BTRFS_DEV_STATE_WRITEABLE, &device->dev_state) ||
		    !btrfs_device_can_have_role(device) || !device->bdev)
			continue;
		profile->rank_bytes[rank] += total;
		if (rank == BTRFS_ROLE_RANK_EXCLUDED)
			continue;
		if (nr == max)
			break;
		infos[nr].rank = rank;
		infos[nr++].total_avail = total > taken ? total - taken : 0;
	}
	rcu_read_unlock();

	return nr;
}

/*
 * How much data fits into new chunks. With tiers of devices no formula says that,
 * the steps of the allocator do. They are taken on a copy of what is to know of
 * the devices, each time that this has changed. So this holds no lock that an
 * allocation needs, and statfs reads the last result and waits for no device.
 */
static void statfs_work(struct work_struct *work)
{
	struct btrfs_fs_info *fs_info =
		container_of(work, struct btrfs_fs_info, roles.statfs_work);
	const u64 bg_flags = btrfs_data_alloc_profile(fs_info);
	struct btrfs_role_profile profile;
	struct btrfs_device_info *infos;
	/* A device that is added meanwhile makes the work run again. */
	u32 nr = READ_ONCE(fs_info->fs_devices->open_devices);

	/* Without memory the figure remains what it was. */
	infos = kvcalloc(nr, sizeof(*infos), GFP_NOFS);
	if (!infos)
		return;

	btrfs_device_role_profile(fs_info, bg_flags, &profile);
	profile.max_chunk = READ_ONCE(btrfs_find_space_info(fs_info, bg_flags)->chunk_size);
	profile.max_stripe = min_t(u64, profile.max_chunk, SZ_1G);
	nr = copy_devices(fs_info, bg_flags, infos, nr, &profile);
	atomic64_set(&fs_info->roles.avail_data,
		     btrfs_role_available(infos, nr, &profile));
	kvfree(infos);
	/* Pairs with the acquire in btrfs_device_role_avail_data(). */
	smp_store_release(&fs_info->roles.avail_flags, (u32)bg_flags);
}

void btrfs_device_role_init(struct btrfs_fs_info *fs_info)
{
	INIT_WORK(&fs_info->roles.statfs_work, statfs_work);
}

/* No chunk is allocated or removed any more. */
void btrfs_device_role_stop(struct btrfs_fs_info *fs_info)
{
	cancel_work_sync(&fs_info->roles.statfs_work);
}

/* Bring what statfs reads up to date before returning. */
void btrfs_device_role_sync_statfs(struct btrfs_fs_info *fs_info)
{
	queue_work(system_unbound_wq, &fs_info->roles.statfs_work);
	flush_work(&fs_info->roles.statfs_work);
}

/* Bytes of data, without copies and parity, that fit into new chunks. */
u64 btrfs_device_role_avail_data(struct btrfs_fs_info *fs_info)
{
	/* New chunks may have another profile since a balance began or ended. */
	if (smp_load_acquire(&fs_info->roles.avail_flags) !=
	    (u32)btrfs_data_alloc_profile(fs_info))
		btrfs_device_role_sync_statfs(fs_info);

	return atomic64_read(&fs_info->roles.avail_data);
}
