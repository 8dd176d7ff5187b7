// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles in the accounting of space: what metadata, data and system
 * chunks can still get from the devices that roles leave them.
 *
 * The reservation path is hot and takes no lock that would let it look at the
 * devices, so it reads sums. They are made anew, in one walk over the writeable
 * devices, wherever free_chunk_space or the list of these devices changes, so
 * they cannot drift. Without roles in force nothing is summed up.
 */

#include "ctree.h"
#include "block-group.h"
#include "device-role.h"
#include "device-role-fill-core.h"
#include "fs.h"
#include "misc.h"
#include "volumes.h"

static const u64 kind_flags[2] = {
	[BTRFS_ROLE_KIND_DATA] = BTRFS_BLOCK_GROUP_DATA,
	[BTRFS_ROLE_KIND_METADATA] = BTRFS_BLOCK_GROUP_METADATA,
};

/* Unallocated bytes of the writeable devices, and devices with room for a chunk. */
struct role_sums {
	/* That metadata, data and system chunks may take. */
	struct btrfs_role_space metadata;
	u64 data;
	struct btrfs_role_space system;
	/* That exclude data. */
	struct btrfs_role_space own;
	/* By kind: of the first choice, and devices with a useful part. */
	u64 first_bytes[2];
	struct btrfs_role_room room[2];
};

static bool excludes(const struct btrfs_fs_info *fs_info,
		     const struct btrfs_device *device, u64 bg_flags)
{
	return btrfs_device_role_rank(fs_info, device, bg_flags) ==
	       BTRFS_ROLE_RANK_EXCLUDED;
}

/* What chunks other than system ones can take from the device. */
static u64 unallocated(const struct btrfs_fs_info *fs_info,
		       const struct btrfs_device *device)
{
	const u64 room = btrfs_device_role_system_room(fs_info, device,
						       BTRFS_BLOCK_GROUP_METADATA);
	const u64 taken = device->bytes_used + room;

	return device->total_bytes > taken ? device->total_bytes - taken : 0;
}

/*
 * What system chunks can take, with all of what others have to leave. In pieces
 * smaller than the system chunk of mkfs it is nothing to rely on.
 */
static u64 unallocated_for_system(const struct btrfs_device *device)
{
	const u64 taken = device->bytes_used + SZ_8M;

	return device->total_bytes >= taken ?
	       device->total_bytes - device->bytes_used : 0;
}

static void count_room(const struct btrfs_fs_info *fs_info,
		       const struct btrfs_device *device, u64 bytes,
		       struct role_sums *sums)
{
	for (int kind = 0; kind < 2; kind++) {
		const enum btrfs_role_rank rank =
			btrfs_device_role_rank(fs_info, device, kind_flags[kind]);
		const bool useful = bytes >= fs_info->role_useful[kind];

		if (rank == BTRFS_ROLE_RANK_EXCLUDED)
			continue;
		sums->room[kind].allowed += useful;
		if (rank == BTRFS_ROLE_RANK_FIRST) {
			sums->first_bytes[kind] += bytes;
			sums->room[kind].first += useful;
		}
	}
}

static void add_device(const struct btrfs_fs_info *fs_info,
		       const struct btrfs_device *device, struct role_sums *sums)
{
	const u64 bytes = unallocated(fs_info, device);

	if (!excludes(fs_info, device, BTRFS_BLOCK_GROUP_METADATA)) {
		btrfs_role_space_add(&sums->metadata, bytes);
		btrfs_role_space_add(&sums->system, unallocated_for_system(device));
	}
	if (excludes(fs_info, device, BTRFS_BLOCK_GROUP_DATA))
		btrfs_role_space_add(&sums->own, bytes);
	else
		sums->data += bytes;
	count_room(fs_info, device, bytes, sums);
}

static void publish_room(struct btrfs_fs_info *fs_info, int kind,
			 const struct role_sums *sums)
{
	const u64 first_bytes = sums->first_bytes[kind];
	u32 first = sums->room[kind].first;

	fs_info->role_first_bytes[kind] = first_bytes;
	/* Not better than it was when a chunk found no room. */
	if (first_bytes <= fs_info->role_spilled_at[kind])
		first = 0;
	else
		fs_info->role_spilled_at[kind] = 0;
	WRITE_ONCE(fs_info->role_room_first[kind], first);
	WRITE_ONCE(fs_info->role_room_allowed[kind], sums->room[kind].allowed);
}

static void publish(struct btrfs_fs_info *fs_info, const struct role_sums *sums)
{
	static_assert(ARRAY_SIZE(fs_info->role_metadata_space) ==
		      BTRFS_ROLE_MAX_COPIES);

	for (int i = 0; i < BTRFS_ROLE_MAX_COPIES; i++) {
		atomic64_set(&fs_info->role_metadata_space[i],
			     btrfs_role_space_for(&sums->metadata, i + 1));
		atomic64_set(&fs_info->role_metadata_own_space[i],
			     btrfs_role_space_for(&sums->own, i + 1));
		atomic64_set(&fs_info->role_system_space[i],
			     btrfs_role_space_for(&sums->system, i + 1));
	}
	WRITE_ONCE(fs_info->role_unallocated[BTRFS_ROLE_KIND_DATA], sums->data);
	WRITE_ONCE(fs_info->role_unallocated[BTRFS_ROLE_KIND_METADATA],
		   sums->metadata.sum);
	publish_room(fs_info, BTRFS_ROLE_KIND_DATA, sums);
	publish_room(fs_info, BTRFS_ROLE_KIND_METADATA, sums);
}

static void sum_up(struct btrfs_fs_info *fs_info)
{
	const struct btrfs_device *device;
	struct role_sums sums = { 0 };

	list_for_each_entry(device, &fs_info->fs_devices->alloc_list,
			    dev_alloc_list)
		add_device(fs_info, device, &sums);
	publish(fs_info, &sums);
	btrfs_device_role_update_statfs(fs_info);
}

/* A chunk has come or gone. */
void btrfs_device_role_update_unallocated(struct btrfs_fs_info *fs_info)
{
	lockdep_assert_held(&fs_info->chunk_mutex);

	if (fs_info->roles_in_force)
		sum_up(fs_info);
}

/*
 * The devices, their sizes or their roles have changed. All callers hold
 * chunk_mutex, or run at mount before anyone else.
 */
void btrfs_device_role_update_space(struct btrfs_fs_info *fs_info)
{
	const struct btrfs_device *device;
	u64 allowed[2] = { 0 };
	u64 first[2] = { 0 };
	bool in_force = false;

	list_for_each_entry(device, &fs_info->fs_devices->alloc_list,
			    dev_alloc_list) {
		in_force |= btrfs_device_role_in_force(fs_info, device) != 0;
		for (int kind = 0; kind < 2; kind++) {
			const enum btrfs_role_rank rank =
				btrfs_device_role_rank(fs_info, device,
						       kind_flags[kind]);

			if (rank != BTRFS_ROLE_RANK_EXCLUDED)
				allowed[kind] += device->total_bytes;
			if (rank == BTRFS_ROLE_RANK_FIRST)
				first[kind] += device->total_bytes;
		}
	}

	for (int kind = 0; kind < 2; kind++) {
		WRITE_ONCE(fs_info->role_bytes[kind], allowed[kind]);
		fs_info->role_useful[kind] =
			btrfs_role_useful_bytes(kind, first[kind] ?
						div_u64(first[kind], 10) : SZ_1G,
						SZ_1G, 1);
	}

	sum_up(fs_info);
	/* Pairs with the acquire in limits_space(), for the figures. */
	smp_store_release(&fs_info->roles_in_force, in_force);
}

/*
 * Look up @space, by the number of copies, for a profile. Each copy or parity
 * goes to its own device. For parity that is less than there is, but errs on
 * the safe side.
 */
static u64 space_for_profile(const atomic64_t *space, u64 profile)
{
	const struct btrfs_raid_attr *attr =
		&btrfs_raid_array[btrfs_bg_flags_to_raid_index(profile)];
	const u32 copies = attr->ncopies / attr->dev_stripes + attr->nparity;

	return div_u64(atomic64_read(&space[copies - 1]), attr->dev_stripes);
}

/* Are requests for space of this task judged by roles? */
static bool limits_space(const struct btrfs_fs_info *fs_info)
{
	/* Pairs with the release in btrfs_device_role_update_space(): the figures. */
	return smp_load_acquire(&fs_info->roles_in_force) &&
	       READ_ONCE(fs_info->roles_ignored_by) != current;
}

/*
 * Bytes that metadata or system chunks of @profile could still get at most, or
 * U64_MAX if there are no roles and the common estimate holds.
 */
u64 btrfs_device_role_space(const struct btrfs_fs_info *fs_info, u64 profile)
{
	if (!limits_space(fs_info))
		return U64_MAX;

	return space_for_profile(fs_info->role_metadata_space, profile);
}

/* Do the roles leave space for another metadata chunk, if there are any? */
bool btrfs_device_role_metadata_grows(struct btrfs_fs_info *fs_info)
{
	return btrfs_device_role_space(fs_info, btrfs_metadata_alloc_profile(fs_info)) >=
	       BTRFS_STRIPE_LEN;
}

/* Bytes that such chunks could get whatever data does, 0 without roles. */
u64 btrfs_device_role_own_space(const struct btrfs_fs_info *fs_info, u64 profile)
{
	return space_for_profile(fs_info->role_metadata_own_space, profile);
}

/* Bytes that system chunks could get, 0 without roles. */
u64 btrfs_device_role_system_space(const struct btrfs_fs_info *fs_info, u64 profile)
{
	if (!limits_space(fs_info) || btrfs_is_zoned(fs_info))
		return 0;

	return space_for_profile(fs_info->role_system_space, profile);
}

/* Does any writeable device have another role than the default one? */
bool btrfs_device_roles_in_force(const struct btrfs_fs_info *fs_info)
{
	return READ_ONCE(fs_info->roles_in_force) &&
	       !btrfs_fs_incompat(fs_info, MIXED_GROUPS);
}

/*
 * Unallocated bytes for chunks with @bg_flags, for those who want to keep a
 * stock of them. On devices for the other kind that would be a stock of nothing.
 */
u64 btrfs_device_role_unallocated(const struct btrfs_fs_info *fs_info,
				  u64 bg_flags)
{
	if (!btrfs_device_roles_in_force(fs_info))
		return atomic64_read(&fs_info->free_chunk_space);

	return READ_ONCE(fs_info->role_unallocated[btrfs_role_kind(bg_flags)]);
}

/* The @chunk_size of the whole filesystem, as what fits to those devices. */
u64 btrfs_device_role_chunk_size(const struct btrfs_fs_info *fs_info,
				 u64 bg_flags, u64 chunk_size)
{
	u64 bytes;

	if (!btrfs_device_roles_in_force(fs_info))
		return chunk_size;

	bytes = READ_ONCE(fs_info->role_bytes[btrfs_role_kind(bg_flags)]);
	return min(chunk_size, mult_perc(bytes, 10));
}
