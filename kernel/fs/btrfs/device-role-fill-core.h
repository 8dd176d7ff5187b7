/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */

/*
 * Device roles: which block groups are filled last. As device-role-core.h this
 * is nothing but decisions, and compiles in user space.
 */

#ifndef BTRFS_DEVICE_ROLE_FILL_CORE_H
#define BTRFS_DEVICE_ROLE_FILL_CORE_H

#include "device-role-core.h"

/*
 * Devices with room for a part of a new chunk. A block group may stand on some
 * of them already.
 */
struct btrfs_role_room {
	/* Of the first choice. */
	u32 first;
	/* All that don't exclude it. */
	u32 allowed;
};

/*
 * Would a new chunk stand better than the block group whose devices are counted
 * in @group? Then what is free in the block group is not to be used: whatever is
 * put there would have to be moved sooner or later.
 *
 * Of the devices with room @group.first may be the block group's own, so a
 * further one is certain only if there are more than that.
 */
static inline bool btrfs_role_pass_over(const struct btrfs_role_chunk *group,
					const struct btrfs_role_profile *profile,
					const struct btrfs_role_room *room)
{
	if (group->excluded)
		return btrfs_role_enough(profile, room->allowed);
	if (!group->other)
		return false;
	if (profile->striped)
		return btrfs_role_enough(profile, room->first);
	return room->first > group->first;
}

#endif
