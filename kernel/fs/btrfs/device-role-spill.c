// SPDX-License-Identifier: GPL-2.0

/*
 * Chunks that had to go where they are second choice: counted, and told to
 * those who look after the filesystem. Where chunks go is not decided here.
 */

#include <linux/kobject.h>
#include "ctree.h"
#include "device-role.h"
#include "fs.h"
#include "messages.h"
#include "space-info.h"
#include "volumes.h"

static bool is_first_choice(u8 rank)
{
	return rank == BTRFS_ROLE_RANK_FIRST || rank == BTRFS_ROLE_RANK_CRUMBS;
}

static bool is_among(const struct btrfs_device *device,
		     const struct btrfs_device_info *infos, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		if (infos[i].dev == device)
			return true;
	}
	return false;
}

/*
 * Has a chunk with @bg_flags on the @nr devices of @infos been spilled? It has
 * if a device excludes it, see device-role-replace.c. Being on others than the
 * first choice isn't enough: it may need more devices than there are of the first
 * choice, and uses all of these. That's by design.
 */
static bool is_spilled(const struct btrfs_fs_info *fs_info, u64 bg_flags,
		       const struct btrfs_device_info *infos, u32 nr)
{
	const struct btrfs_device *device;
	bool other = false;

	for (u32 i = 0; i < nr; i++) {
		if (infos[i].rank == BTRFS_ROLE_RANK_EXCLUDED)
			return true;
		other |= !is_first_choice(infos[i].rank);
	}
	if (!other)
		return false;

	list_for_each_entry(device, &fs_info->fs_devices->alloc_list,
			    dev_alloc_list) {
		const u8 rank = btrfs_device_role_rank(fs_info, device, bg_flags);

		if (is_first_choice(rank) && !is_among(device, infos, nr))
			return true;
	}
	return false;
}

static const char *type_name(u64 bg_flags)
{
	if (bg_flags & BTRFS_BLOCK_GROUP_DATA)
		return "data";
	if (bg_flags & BTRFS_BLOCK_GROUP_METADATA)
		return "metadata";
	return "system";
}

/* A chunk has been allocated on the @nr devices of @infos. */
void btrfs_device_role_note_chunk(struct btrfs_fs_info *fs_info, u64 bg_flags,
				  const struct btrfs_device_info *infos, u32 nr)
{
	struct btrfs_space_info *space_info;

	lockdep_assert_held(&fs_info->chunk_mutex);

	if (!btrfs_device_roles_in_force(fs_info) ||
	    !is_spilled(fs_info, bg_flags, infos, nr))
		return;

	btrfs_device_role_note_spill(fs_info, bg_flags);
	space_info = btrfs_find_space_info(fs_info, bg_flags);
	spin_lock(&space_info->lock);
	space_info->spilled_chunks++;
	spin_unlock(&space_info->lock);
	if (space_info->spilled_chunks > 1)
		return;

	btrfs_warn_rl(fs_info,
		      "no room for a %s chunk on the devices for it, others are used",
		      type_name(bg_flags));
	/* There's no telling user space from here, it allocates memory. */
	set_bit(ilog2(space_info->flags & BTRFS_BLOCK_GROUP_TYPE_MASK),
		&fs_info->role_spill_events);
}

/* Called every now and then: a uevent for the first spill of each type. */
void btrfs_device_role_send_events(struct btrfs_fs_info *fs_info)
{
	static const u64 types[] = {
		BTRFS_BLOCK_GROUP_DATA,
		BTRFS_BLOCK_GROUP_METADATA,
		BTRFS_BLOCK_GROUP_SYSTEM,
	};

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		char type[32];
		char *env[3] = { NULL };

		if (!test_and_clear_bit(ilog2(types[i]), &fs_info->role_spill_events))
			continue;
		snprintf(type, sizeof(type), "BTRFS_TYPE=%s", type_name(types[i]));
		env[0] = "BTRFS_EVENT=spilled_chunk";
		env[1] = type;
		kobject_uevent_env(&fs_info->fs_devices->fsid_kobj, KOBJ_CHANGE,
				   env);
	}
}
