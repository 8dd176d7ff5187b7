// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles in the accounting of space: what metadata, data and system chunks
 * can still get from the devices that roles leave them.
 *
 * The reservation path is hot and takes no lock that would let it look at the
 * devices, so it reads sums. They are made anew from all writeable devices
 * wherever free_chunk_space or these devices change, so they cannot drift.
 */

#include <linux/workqueue.h>
#include "ctree.h"
#include "block-group.h"
#include "device-role.h"
#include "space-info.h"
#include "volumes.h"

struct role_sums {
	struct btrfs_role_space space[ROLE_SHARE_NR];
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

/* What is unallocated of @device, less @reserved, and nothing if less than @least. */
static u64 unallocated(const struct btrfs_device *device, u64 reserved, u64 least)
{
	const u64 taken = device->bytes_used + reserved;

	if (device->total_bytes < taken + least)
		return 0;
	return device->total_bytes - taken;
}

static void add_unallocated(const struct btrfs_fs_info *fs_info,
			    const struct btrfs_device *device,
			    struct role_sums *sums)
{
	const u64 bytes = unallocated(device,
			btrfs_device_role_system_room(fs_info, device, 0), 0);

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
		btrfs_role_space_add(&sums->space[ROLE_SHARE_OWN], bytes);
	if (rank_of(fs_info, device, BTRFS_ROLE_KIND_METADATA) == BTRFS_ROLE_RANK_EXCLUDED)
		return;
	btrfs_role_space_add(&sums->space[ROLE_SHARE_METADATA], bytes);
	/* In pieces smaller than the chunk of mkfs there is nothing to rely on. */
	btrfs_role_space_add(&sums->space[ROLE_SHARE_SYSTEM],
			     unallocated(device, 0, SZ_8M));
}

static void publish(struct btrfs_role_state *roles, struct role_sums *sums)
{
	for (int share = 0; share < ROLE_SHARE_NR; share++) {
		for (int i = 0; i < BTRFS_ROLE_MAX_COPIES; i++)
			atomic64_set(&roles->space[share][i],
				     btrfs_role_space_for(&sums->space[share], i + 1));
	}
	for (int kind = 0; kind < 2; kind++) {
		struct btrfs_role_kind_state *state = &roles->kinds[kind];
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
 * Chunks, the devices, their sizes or their roles have changed. The caller holds
 * chunk_mutex, or runs at mount before anyone else.
 */
void btrfs_device_role_update_space(struct btrfs_fs_info *fs_info)
{
	struct btrfs_role_profile limits = {
		.dev_stripes = 1, .max_stripe = SZ_1G, .max_chunk = SZ_1G,
	};
	const struct btrfs_device *device;
	struct role_sums sums = { };

	if (!add_sizes(fs_info, &sums)) {
		WRITE_ONCE(fs_info->roles.in_force, false);
		return;
	}

	for (int kind = 0; kind < 2; kind++) {
		limits.kind = kind;
		limits.rank_bytes[BTRFS_ROLE_RANK_FIRST] = sums.first_size[kind] ?: U64_MAX;
		sums.useful[kind] = btrfs_role_useful_bytes(&limits);
	}
	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list)
		add_unallocated(fs_info, device, &sums);
	publish(&fs_info->roles, &sums);

	/* At mount it is too early: the first statfs asks for the figure. */
	if (test_bit(BTRFS_FS_OPEN, &fs_info->flags))
		queue_work(system_unbound_wq, &fs_info->roles.statfs_work);
	/* Pairs with the acquire in btrfs_device_roles_in_force(). */
	smp_store_release(&fs_info->roles.in_force, true);
}

/*
 * Bytes that metadata or system chunks of @profile could still get of a share.
 * Each copy or parity goes to its own device. For parity that is less than there
 * is, but errs on the safe side.
 */
u64 btrfs_device_role_space(const struct btrfs_fs_info *fs_info,
			    enum btrfs_role_share share, u64 profile)
{
	const struct btrfs_raid_attr *attr =
		&btrfs_raid_array[btrfs_bg_flags_to_raid_index(profile)];
	const u32 copies = attr->ncopies / attr->dev_stripes + attr->nparity;

	return div_u64(atomic64_read(&fs_info->roles.space[share][copies - 1]),
		       attr->dev_stripes);
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
