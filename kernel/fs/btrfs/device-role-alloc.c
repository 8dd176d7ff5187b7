// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles in allocation: the devices of new chunks, and which block groups
 * new extents go to.
 */

#include "ctree.h"
#include "block-group.h"
#include "device-role.h"
#include "messages.h"
#include "space-info.h"
#include "volumes.h"

/*
 * Keep those of the @nr devices in @infos that the roles prefer for a chunk with
 * @bg_flags, and limit the size of the chunk, @max_chunk, to their size.
 */
u32 btrfs_device_role_select(const struct btrfs_fs_info *fs_info, u64 bg_flags,
			     struct btrfs_device_info *infos, u32 nr,
			     u64 max_stripe, u64 *max_chunk)
{
	const struct btrfs_device *device;
	struct btrfs_role_profile profile;

	btrfs_device_role_profile(fs_info, bg_flags, &profile);
	profile.max_stripe = max_stripe;
	profile.max_chunk = *max_chunk;
	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list)
		profile.rank_bytes[btrfs_device_role_rank(fs_info, device, bg_flags)] +=
			device->total_bytes;

	nr = btrfs_role_select(infos, nr, &profile);
	/* A zone is as large as it is. */
	if (!btrfs_is_zoned(fs_info))
		*max_chunk = btrfs_role_max_chunk(&profile,
						  btrfs_role_best_rank(infos, nr));
	return nr;
}

/*
 * The cached placement class of a block group, btrfs_block_group::role_standing:
 * the number of first choice devices (saturated), whether there are others, and
 * above that the generation of the roles. It is one word, so that a reader that
 * finds it out of date can replace it without a lock.
 */
#define PLACEMENT_FIRST		0x1fU
#define PLACEMENT_OTHER		BIT(5)
#define PLACEMENT_EXCLUDED	BIT(6)
/* Never 0: that marks a block group without a cached class. */
#define PLACEMENT_KEY(generation)	((generation) << 8 | BIT(7))

static u32 find_placement_class(const struct btrfs_block_group *bg, u32 key)
{
	struct btrfs_role_chunk chunk = { 0 };
	struct btrfs_chunk_map *map;

	map = btrfs_find_chunk_map(bg->fs_info, bg->start, bg->length);
	if (map) {
		btrfs_device_role_count_chunk(bg->fs_info, map, &chunk);
		btrfs_free_chunk_map(map);
	}
	return key | min(chunk.first, PLACEMENT_FIRST) |
	       (chunk.other ? PLACEMENT_OTHER : 0) |
	       (chunk.excluded ? PLACEMENT_EXCLUDED : 0);
}

static u32 get_placement_class(struct btrfs_block_group *bg)
{
	/* Pairs with the release in apply_types(): the roles are no older. */
	const u32 key = PLACEMENT_KEY(smp_load_acquire(&bg->fs_info->roles.generation));
	u32 class = READ_ONCE(bg->role_standing);

	if ((class & PLACEMENT_KEY(~0U)) != key) {
		class = find_placement_class(bg, key);
		WRITE_ONCE(bg->role_standing, class);
	}
	return class;
}

/*
 * Should the allocation of an extent leave the block group alone for now?
 *
 * Data relocated from a misplaced block group must not go into the next misplaced
 * one, and new extents should not either: they would be relocated again. So
 * these are filled last, when no other has free space and no new chunk would be
 * placed better. With @early set, others are to be tried first in any case. In
 * the end every block group is tried, so this cannot bring about an ENOSPC.
 *
 * System chunks are small, and needed at times when no new one can be made.
 */
bool btrfs_device_role_pass_over(struct btrfs_block_group *bg, bool early)
{
	const struct btrfs_role_kind_state *state;
	struct btrfs_role_profile profile;
	struct btrfs_role_chunk chunk;
	u32 class;

	if (bg->flags & BTRFS_BLOCK_GROUP_SYSTEM || btrfs_is_zoned(bg->fs_info))
		return false;

	class = get_placement_class(bg);
	if (!(class & (PLACEMENT_OTHER | PLACEMENT_EXCLUDED)))
		return false;
	if (class & PLACEMENT_EXCLUDED && early)
		return true;

	chunk.first = class & PLACEMENT_FIRST;
	chunk.other = class & PLACEMENT_OTHER;
	chunk.excluded = class & PLACEMENT_EXCLUDED;
	btrfs_device_role_profile(bg->fs_info, bg->flags, &profile);
	state = &bg->fs_info->roles.kinds[profile.kind];
	return btrfs_role_pass_over(&chunk, &profile, READ_ONCE(state->room_first),
				    READ_ONCE(state->room_allowed));
}

static bool is_first_choice(u8 rank)
{
	return rank == BTRFS_ROLE_RANK_FIRST || rank == BTRFS_ROLE_RANK_BELOW_MIN;
}

/*
 * Has a chunk on the @nr devices of @infos been spilled? It has if a device
 * excludes it, which happens only for device replace. Being on others than the
 * first choice is not enough: it may need more devices than there are of the
 * first choice, and use all of these.
 */
static bool is_spilled(const struct btrfs_fs_info *fs_info, u64 bg_flags,
		       const struct btrfs_device_info *infos, u32 nr)
{
	const struct btrfs_device *device;
	u32 unused = 0;
	u32 used = 0;

	for (u32 i = 0; i < nr; i++) {
		if (infos[i].rank == BTRFS_ROLE_RANK_EXCLUDED)
			return true;
		used += is_first_choice(infos[i].rank);
	}
	if (used == nr)
		return false;

	list_for_each_entry(device, &fs_info->fs_devices->alloc_list, dev_alloc_list)
		unused += btrfs_device_role_rank(fs_info, device, bg_flags) ==
			  BTRFS_ROLE_RANK_FIRST;
	return unused > used;
}

/* A chunk has been allocated on the @nr devices of @infos. */
void btrfs_device_role_note_chunk(struct btrfs_fs_info *fs_info, u64 bg_flags,
				  const struct btrfs_device_info *infos, u32 nr)
{
	struct btrfs_role_kind_state *state =
		&fs_info->roles.kinds[btrfs_role_kind(bg_flags)];
	struct btrfs_space_info *space_info;

	lockdep_assert_held(&fs_info->chunk_mutex);

	if (!is_spilled(fs_info, bg_flags, infos, nr))
		return;

	/*
	 * Count the first choice as full until it has more space than now: else
	 * each extent would try to allocate a new chunk.
	 */
	if (!(bg_flags & BTRFS_BLOCK_GROUP_SYSTEM)) {
		state->spilled_at = state->first_bytes;
		WRITE_ONCE(state->room_first, 0);
	}

	space_info = btrfs_find_space_info(fs_info, bg_flags);
	spin_lock(&space_info->lock);
	space_info->spilled_chunks++;
	spin_unlock(&space_info->lock);
	if (space_info->spilled_chunks > 1)
		return;

	btrfs_warn_rl(fs_info,
		      "no room for a %s chunk on the devices for it, others are used",
		      bg_flags & BTRFS_BLOCK_GROUP_DATA ? "data" :
		      bg_flags & BTRFS_BLOCK_GROUP_METADATA ? "metadata" : "system");
	/* The cleaner tells user space, that allocates memory. */
	set_bit(ilog2(bg_flags & BTRFS_BLOCK_GROUP_TYPE_MASK),
		&fs_info->roles.spill_events);
}
