// SPDX-License-Identifier: GPL-2.0

/*
 * Device roles and free space in block groups that stand on the wrong devices.
 *
 * What is relocated from one such block group must not go into the next one,
 * and new extents should not either: it would be relocated again. So these
 * block groups are filled last, when no other has free space and no new chunk
 * would stand better. Nothing is kept back: in the end every block group is
 * tried, so this cannot bring about an ENOSPC.
 */

#include "ctree.h"
#include "block-group.h"
#include "device-role.h"
#include "device-role-fill-core.h"
#include "fs.h"
#include "volumes.h"

/*
 * The devices of a block group, counted by rank, and the generation of the
 * roles they were counted with. All in one word, so that it can be replaced
 * without a lock by whoever finds it out of date. Numbers that don't fit are
 * cut off at STANDING_MAX, which does not change what follows from them.
 */
#define STANDING_BITS		6
#define STANDING_MAX		((1U << STANDING_BITS) - 1)
#define STANDING_GENERATION(g)	((g) << (3 * STANDING_BITS))

static u32 pack_standing(const struct btrfs_role_chunk *group, u32 generation)
{
	return min(group->first, STANDING_MAX) |
	       min(group->other, STANDING_MAX) << STANDING_BITS |
	       min(group->excluded, STANDING_MAX) << (2 * STANDING_BITS) |
	       STANDING_GENERATION(generation);
}

static struct btrfs_role_chunk unpack_standing(u32 standing)
{
	return (struct btrfs_role_chunk) {
		.first = standing & STANDING_MAX,
		.other = standing >> STANDING_BITS & STANDING_MAX,
		.excluded = standing >> (2 * STANDING_BITS) & STANDING_MAX,
	};
}

/* Count the devices of the block group. */
static u32 look_up_standing(const struct btrfs_block_group *bg, u32 generation)
{
	struct btrfs_fs_info *fs_info = bg->fs_info;
	struct btrfs_role_chunk group = { 0 };
	struct btrfs_chunk_map *map;

	map = btrfs_find_chunk_map(fs_info, bg->start, bg->length);
	if (!map)
		return pack_standing(&group, generation);

	/* A device that is replaced stays until all have seen the new one. */
	rcu_read_lock();
	for (int i = 0; i < map->num_stripes; i++) {
		const struct btrfs_device *device =
			READ_ONCE(map->stripes[i].dev);

		/* Stripes of one device are next to each other. */
		if (i > 0 && device == READ_ONCE(map->stripes[i - 1].dev))
			continue;

		switch (btrfs_device_role_rank(fs_info, device, map->type)) {
		case BTRFS_ROLE_RANK_FIRST:
			group.first++;
			break;
		case BTRFS_ROLE_RANK_EXCLUDED:
			group.excluded++;
			break;
		default:
			group.other++;
		}
	}
	rcu_read_unlock();
	btrfs_free_chunk_map(map);

	return pack_standing(&group, generation);
}

static struct btrfs_role_chunk get_standing(struct btrfs_block_group *bg)
{
	/*
	 * Never 0, that's a block group nobody has looked at. Pairs with the
	 * release in apply_types(): the roles looked up are no older than this.
	 */
	const u32 generation = smp_load_acquire(&bg->fs_info->role_generation) | 1U;
	const u32 high = STANDING_GENERATION(generation);
	u32 standing = READ_ONCE(bg->role_standing);

	if ((standing & ~(STANDING_GENERATION(1U) - 1)) != high) {
		standing = look_up_standing(bg, generation);
		WRITE_ONCE(bg->role_standing, standing);
	}
	return unpack_standing(standing);
}

/*
 * Should the allocation of an extent leave the block group alone for now? With
 * @early set also if the block group would serve as well as a new one, but
 * others are to be tried first.
 *
 * System chunks are small, and needed at times when no new one can be made.
 */
bool btrfs_device_role_pass_over(struct btrfs_block_group *bg, bool early)
{
	const struct btrfs_fs_info *fs_info = bg->fs_info;
	const enum btrfs_role_kind kind = btrfs_role_kind(bg->flags);
	struct btrfs_role_profile profile;
	const struct btrfs_raid_attr *attr;
	struct btrfs_role_chunk group;
	struct btrfs_role_room room;

	if (!READ_ONCE(fs_info->roles_in_force) ||
	    bg->flags & BTRFS_BLOCK_GROUP_SYSTEM ||
	    kind == BTRFS_ROLE_KIND_MIXED || btrfs_is_zoned(fs_info))
		return false;

	group = get_standing(bg);
	if (!group.excluded && !group.other)
		return false;
	if (group.excluded && early)
		return true;

	attr = &btrfs_raid_array[btrfs_bg_flags_to_raid_index(bg->flags)];
	profile.striped = (attr->devs_max == 0);
	profile.devs_min = attr->devs_min;
	profile.devs_increment = attr->devs_increment;
	room.first = READ_ONCE(fs_info->role_room_first[kind]);
	room.allowed = READ_ONCE(fs_info->role_room_allowed[kind]);

	return btrfs_role_pass_over(&group, &profile, &room);
}

/*
 * A chunk went to the second choice. Unallocated space in small pieces is no
 * room, and there are other reasons that are not counted above. From here on
 * the first choice has none, until it has more space than now: else each
 * extent would be worth a try with a new chunk.
 */
void btrfs_device_role_note_spill(struct btrfs_fs_info *fs_info, u64 bg_flags)
{
	const enum btrfs_role_kind kind = btrfs_role_kind(bg_flags);

	lockdep_assert_held(&fs_info->chunk_mutex);

	if (bg_flags & BTRFS_BLOCK_GROUP_SYSTEM ||
	    kind == BTRFS_ROLE_KIND_MIXED)
		return;
	fs_info->role_spilled_at[kind] = fs_info->role_first_bytes[kind];
	WRITE_ONCE(fs_info->role_room_first[kind], 0);
}
