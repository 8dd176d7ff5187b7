// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles in allocation: the devices of new chunks, which block groups new
 * extents go to, and what is done where the devices have no space.
 */

#include "ctree.h"
#include "block-group.h"
#include "device-role.h"
#include "messages.h"
#include "ordered-data.h"
#include "space-info.h"
#include "transaction.h"
#include "volumes.h"

/* The limits of the chunk's size are those of a large filesystem. */
void btrfs_device_role_profile(const struct btrfs_fs_info *fs_info, u64 bg_flags,
			       struct btrfs_role_profile *profile)
{
	const struct btrfs_raid_attr *attr =
		&btrfs_raid_array[btrfs_bg_flags_to_raid_index(bg_flags)];
	const struct btrfs_role_sums *sums = &fs_info->fs_devices->role_sums;

	*profile = (struct btrfs_role_profile) {
		.kind = btrfs_role_kind(bg_flags),
		.striped = (attr->devs_max == 0),
		.devs_min = attr->devs_min,
		.devs_max = attr->devs_max ?: BTRFS_MAX_DEVS(fs_info),
		.devs_increment = attr->devs_increment,
		.dev_stripes = attr->dev_stripes,
		.ncopies = attr->ncopies,
		.nparity = attr->nparity,
		.max_stripe = bg_flags & BTRFS_BLOCK_GROUP_SYSTEM ? SZ_32M : SZ_1G,
		.max_chunk = SZ_1G,
	};
	if (bg_flags & BTRFS_BLOCK_GROUP_SYSTEM)
		profile->devs_max = min_t(u32, profile->devs_max,
					  BTRFS_MAX_DEVS_SYS_CHUNK);
	for (u32 i = 0; i < ARRAY_SIZE(sums->roles); i++)
		profile->rank_bytes[btrfs_role_rank(i, profile->kind)] +=
			sums->roles[i].bytes;
}

/* Count the devices of the chunk by rank. */
void btrfs_device_role_count_chunk(const struct btrfs_fs_info *fs_info,
				   const struct btrfs_chunk_map *map,
				   struct btrfs_role_chunk *chunk)
{
	enum btrfs_role_rank rank;

	*chunk = (struct btrfs_role_chunk) { 0 };
	/* A device that is replaced stays until all have seen the new one. */
	rcu_read_lock();
	for (int i = 0; i < map->num_stripes; i++) {
		const struct btrfs_device *device = READ_ONCE(map->stripes[i].dev);

		/* Stripes of one device are next to each other. */
		if (i && device == READ_ONCE(map->stripes[i - 1].dev))
			continue;
		rank = btrfs_device_role_rank(fs_info, device, map->type);
		if (rank == BTRFS_ROLE_RANK_FIRST)
			chunk->first++;
		else if (rank == BTRFS_ROLE_RANK_EXCLUDED)
			chunk->excluded++;
		else
			chunk->other++;
	}
	rcu_read_unlock();
}

/*
 * Keep those of the @nr devices in @infos that the roles prefer for a chunk with
 * @bg_flags, and limit the size of the chunk, @max_chunk, to their size.
 */
u32 btrfs_device_role_select(const struct btrfs_fs_info *fs_info, u64 bg_flags,
			     struct btrfs_device_info *infos, u32 nr,
			     u64 max_stripe, u64 *max_chunk)
{
	struct btrfs_role_profile profile;

	btrfs_device_role_profile(fs_info, bg_flags, &profile);
	profile.max_stripe = max_stripe;
	profile.max_chunk = *max_chunk;

	nr = btrfs_role_select(infos, nr, &profile);
	/* A zone is as large as it is. */
	if (!btrfs_is_zoned(fs_info))
		*max_chunk = profile.max_chunk;
	return nr;
}

/*
 * The cached placement class of a block group, btrfs_block_group::role_placement:
 * the number of first choice devices, whether there are others, and above that
 * the generation of the roles, in one word that needs no lock.
 */
#define PLACEMENT_FIRST		0x1fU
#define PLACEMENT_OTHER		BIT(5)
#define PLACEMENT_EXCLUDED	BIT(6)
/* Never 0: that marks a block group without a cached class. */
#define PLACEMENT_KEY(generation)	((generation) << 8 | BIT(7))

static u32 get_placement_class(struct btrfs_block_group *bg)
{
	/* Pairs with the release in apply_types(): the roles are no older. */
	const u32 key = PLACEMENT_KEY(smp_load_acquire(&bg->fs_info->roles.generation));
	u32 class = READ_ONCE(bg->role_placement);
	struct btrfs_role_chunk chunk = { 0 };
	struct btrfs_chunk_map *map;

	if ((class & PLACEMENT_KEY(~0U)) == key)
		return class;

	map = btrfs_find_chunk_map(bg->fs_info, bg->start, bg->length);
	if (map) {
		btrfs_device_role_count_chunk(bg->fs_info, map, &chunk);
		btrfs_free_chunk_map(map);
	}
	class = key | min(chunk.first, PLACEMENT_FIRST) |
		(chunk.other ? PLACEMENT_OTHER : 0) |
		(chunk.excluded ? PLACEMENT_EXCLUDED : 0);
	WRITE_ONCE(bg->role_placement, class);
	return class;
}

/* Of the devices of the first choice: the role that prefers a kind has its number. */
#define first_sum(info, kind, member) \
	(READ_ONCE((info)->fs_devices->role_sums.roles[kind].member) + \
	 READ_ONCE((info)->fs_devices->role_sums.roles[(kind) | BTRFS_ROLE_EXCLUDE_OTHER].member))

/* Devices of ranks up to @rank with space for a chunk: as many of each role as RAID1C4 needs. */
static u32 count_usable(const struct btrfs_fs_info *fs_info,
			const struct btrfs_role_profile *profile, u32 rank)
{
	const struct btrfs_role_devices *roles = fs_info->fs_devices->role_sums.roles;
	const u64 useful = max_t(u64, btrfs_role_useful_bytes(profile), BTRFS_STRIPE_LEN);
	/* Full, until they have more than when a chunk found no space. */
	const bool full = first_sum(fs_info, profile->kind, avail.sum) <=
			  READ_ONCE(fs_info->roles.spilled_at[profile->kind]);
	u32 nr = 0;

	for (u32 i = 0; i < BTRFS_ROLE_ALL; i++) {
		const enum btrfs_role_rank own = btrfs_role_rank(i, profile->kind);

		if (own > rank || (own == BTRFS_ROLE_RANK_FIRST && full))
			continue;
		for (u32 k = 0; k < ARRAY_SIZE(roles->avail.top); k++)
			nr += READ_ONCE(roles[i].avail.top[k]) >= useful;
	}
	return nr;
}

/*
 * Should the allocation of an extent leave the block group alone for now?
 *
 * What goes into a misplaced one would be relocated again. So these are filled
 * last, when no other has free space and no new chunk would be placed better.
 * With @early set, others are tried first anyway: they may have free space again.
 *
 * System chunks are small, and needed at times when no new one can be made.
 */
bool btrfs_device_role_pass_over(struct btrfs_block_group *bg, bool early)
{
	struct btrfs_role_profile profile;
	struct btrfs_role_chunk chunk;
	u32 class;

	if (bg->flags & BTRFS_BLOCK_GROUP_SYSTEM || btrfs_is_zoned(bg->fs_info))
		return false;

	class = get_placement_class(bg);
	if (!(class & (PLACEMENT_OTHER | PLACEMENT_EXCLUDED)))
		return false;
	/* Data has no clusters, and each of its extents would look through all block groups. */
	if (early && (class & PLACEMENT_EXCLUDED ||
		      (bg->flags & BTRFS_BLOCK_GROUP_METADATA && (class & PLACEMENT_FIRST) <
		       first_sum(bg->fs_info, BTRFS_ROLE_KIND_METADATA, devices))))
		return true;

	chunk.first = class & PLACEMENT_FIRST;
	chunk.other = class & PLACEMENT_OTHER;
	chunk.excluded = class & PLACEMENT_EXCLUDED;
	btrfs_device_role_profile(bg->fs_info, bg->flags, &profile);
	return btrfs_role_pass_over(&chunk, &profile,
				    count_usable(bg->fs_info, &profile, chunk.excluded ?
						 BTRFS_ROLE_RANK_LAST : BTRFS_ROLE_RANK_FIRST));
}

/*
 * Has a chunk on the @nr devices of @infos been spilled: excluded by a device, or
 * on others while it leaves one of the @devices of the first choice unused?
 */
static bool is_spilled(const struct btrfs_device_info *infos, u32 nr, u32 devices)
{
	u32 first = 0;

	for (u32 i = 0; i < nr; i++) {
		if (infos[i].rank == BTRFS_ROLE_RANK_EXCLUDED)
			return true;
		first += infos[i].rank == BTRFS_ROLE_RANK_FIRST ||
			 infos[i].rank == BTRFS_ROLE_RANK_BELOW_MIN;
	}
	return first < nr && first < devices;
}

/* A chunk has been allocated on the @nr devices of @infos. */
void btrfs_device_role_note_chunk(struct btrfs_fs_info *fs_info, u64 bg_flags,
				  const struct btrfs_device_info *infos, u32 nr)
{
	const enum btrfs_role_kind kind = btrfs_role_kind(bg_flags);
	const bool spilled = is_spilled(infos, nr, first_sum(fs_info, kind, devices));
	struct btrfs_space_info *space_info;

	lockdep_assert_held(&fs_info->chunk_mutex);

	/* Else each extent would try to allocate a new chunk. */
	if (!(bg_flags & BTRFS_BLOCK_GROUP_SYSTEM))
		WRITE_ONCE(fs_info->roles.spilled_at[kind],
			   spilled ? first_sum(fs_info, kind, avail.sum) : 0);
	if (!spilled)
		return;

	space_info = btrfs_find_space_info(fs_info, bg_flags);
	scoped_guard(spinlock, &space_info->lock)
		space_info->spilled_chunks++;
	if (space_info->spilled_chunks > 1)
		return;

	btrfs_warn_rl(fs_info,
		      "no space for a %s chunk on the devices for it, others are used",
		      bg_flags & BTRFS_BLOCK_GROUP_DATA ? "data" :
		      bg_flags & BTRFS_BLOCK_GROUP_METADATA ? "metadata" : "system");
	/* The cleaner tells user space, that allocates memory. */
	set_bit(ilog2(bg_flags & BTRFS_BLOCK_GROUP_TYPE_MASK),
		&fs_info->roles.spill_events);
}

/* Chunks that a replace allocates for one block group at most. */
#define REPLACE_CHUNKS_MAX	16

/*
 * Allocate a chunk for a tree block that has found no space, also on devices that
 * exclude it. Without this the transaction is aborted: its space was reserved, or
 * came from the global reserve, which may be exhausted, or exceed the space left.
 */
bool btrfs_device_role_last_resort(const struct btrfs_root *root, u64 flags)
{
	struct btrfs_fs_info *fs_info = root->fs_info;
	struct btrfs_trans_handle *trans = current->journal_info;
	int ret;

	/* Blocks of the chunk tree are wanted under chunk_mutex. */
	if (!trans || flags & BTRFS_BLOCK_GROUP_SYSTEM || !btrfs_device_roles_in_force(fs_info))
		return false;
	/* An fsync can fail, and a relocation that has not begun to merge. */
	if (btrfs_root_id(root) == BTRFS_TREE_LOG_OBJECTID ||
	    (btrfs_root_id(root) == BTRFS_TREE_RELOC_OBJECTID &&
	     btrfs_root_refs(&root->root_item) == 0))
		return false;
	/* One chunk is enough for all that wait for it. */
	if (!mutex_trylock(&fs_info->roles.last_resort_mutex)) {
		mutex_lock(&fs_info->roles.last_resort_mutex);
		mutex_unlock(&fs_info->roles.last_resort_mutex);
		return true;
	}
	flags = btrfs_get_alloc_profile(fs_info, flags & BTRFS_BLOCK_GROUP_TYPE_MASK);
	WRITE_ONCE(fs_info->roles.last_resort_task, current);
	ret = btrfs_chunk_alloc(trans, btrfs_find_space_info(fs_info, flags), flags,
				CHUNK_ALLOC_FORCE_FOR_EXTENT);
	WRITE_ONCE(fs_info->roles.last_resort_task, NULL);
	mutex_unlock(&fs_info->roles.last_resort_mutex);
	/* 0 if another task has allocated one. */
	return ret >= 0;
}

/*
 * Make a block group read-only that device replace has to copy and for which
 * btrfs_inc_block_group_ro() has found no space.
 *
 * Dirty data counts as used, and so does what the transaction has freed. A commit
 * may be all it takes. If not, other devices have to take what is written meanwhile,
 * also those whose roles exclude it: a device that cannot be replaced is worse than
 * a misplaced chunk.
 */
int btrfs_device_role_replace_ro(struct btrfs_block_group *bg)
{
	struct btrfs_fs_info *fs_info = bg->fs_info;
	int ret;

	if (btrfs_is_zoned(fs_info) || !btrfs_device_roles_in_force(fs_info))
		return -ENOSPC;

	ret = btrfs_start_delalloc_roots(fs_info, LONG_MAX, false);
	if (ret)
		return ret;
	btrfs_wait_ordered_roots(fs_info, U64_MAX, NULL);
	ret = btrfs_commit_current_transaction(fs_info->tree_root) ?:
	      btrfs_inc_block_group_ro(bg, true);
	if (ret != -ENOSPC)
		return ret;

	btrfs_warn(fs_info,
		   "no device with space for writes while block group %llu is copied, roles are ignored for it",
		   bg->start);
	/* There is one replace at a time. */
	WRITE_ONCE(fs_info->roles.replace_task, current);
	for (int i = 0; i < REPLACE_CHUNKS_MAX && ret == -ENOSPC; i++)
		ret = btrfs_inc_block_group_ro(bg, true);
	WRITE_ONCE(fs_info->roles.replace_task, NULL);
	return ret;
}
