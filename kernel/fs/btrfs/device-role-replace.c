// SPDX-License-Identifier: GPL-2.0

/*
 * Where device roles leave no room for what has to go on: device replace, and the
 * transaction that is running.
 */

#include <linux/wait_bit.h>
#include "ctree.h"
#include "block-group.h"
#include "device-role.h"
#include "messages.h"
#include "ordered-data.h"
#include "space-info.h"
#include "transaction.h"
#include "volumes.h"
#include "compat.h"

/* Chunks that a replace allocates for one block group at most. */
#define REPLACE_CHUNKS_MAX	16

/* One task at a time; the other ones that ignore roles do not wait for this one. */
static void start_ignoring(struct btrfs_fs_info *fs_info)
{
	wait_var_event(&fs_info->roles.ignored_by,
		       !cmpxchg(&fs_info->roles.ignored_by, NULL, current));
}

static void stop_ignoring(struct btrfs_fs_info *fs_info)
{
	WRITE_ONCE(fs_info->roles.ignored_by, NULL);
	wake_up_var(&fs_info->roles.ignored_by);
}

/* Allocate a chunk for the writes to @bg, on devices that exclude it if need be. */
static int add_chunk_anywhere(const struct btrfs_block_group *bg)
{
	struct btrfs_fs_info *fs_info = bg->fs_info;
	const u64 flags = btrfs_get_alloc_profile(fs_info, bg->space_info->flags);
	struct btrfs_block_group *new_bg;
	struct btrfs_trans_handle *trans;
	int ret;
	int end_ret;

	trans = btrfs_join_transaction(fs_info->tree_root);
	if (IS_ERR(trans))
		return PTR_ERR(trans);

	start_ignoring(fs_info);
	if (flags & BTRFS_BLOCK_GROUP_SYSTEM) {
		/* Callers of btrfs_chunk_alloc() must not ask for a system chunk. */
		mutex_lock(&fs_info->chunk_mutex);
		new_bg = btrfs_create_chunk(trans, bg->space_info, flags);
		/* What fails here is done by btrfs_create_pending_block_groups(). */
		if (!IS_ERR(new_bg))
			btrfs_chunk_alloc_add_chunk_item(trans, new_bg);
		mutex_unlock(&fs_info->chunk_mutex);
		ret = PTR_ERR_OR_ZERO(new_bg);
	} else {
		ret = btrfs_chunk_alloc(trans, bg->space_info, flags,
					CHUNK_ALLOC_FORCE);
	}
	stop_ignoring(fs_info);
	end_ret = btrfs_end_transaction(trans);

	return ret < 0 ? ret : end_ret;
}

/*
 * Allocate a chunk for a tree block that has found no space, also on devices that
 * exclude it. Without this the transaction is aborted: its space was reserved, or
 * came from the global reserve, which may be larger than what is left. So it is when
 * roles were forced and no block group is writeable, as on a device that was added
 * to a seed.
 */
bool btrfs_device_role_last_resort(struct btrfs_fs_info *fs_info, u64 flags)
{
	struct btrfs_trans_handle *trans = current->journal_info;
	int ret;

	/* Do not wait for another task here: it may wait for this transaction. */
	if (!trans || btrfs_is_zoned(fs_info) ||
	    cmpxchg(&fs_info->roles.ignored_by, NULL, current))
		return false;

	ret = btrfs_chunk_alloc(trans, btrfs_find_space_info(fs_info, flags), flags,
				CHUNK_ALLOC_FORCE_FOR_EXTENT);
	stop_ignoring(fs_info);
	return ret > 0;
}

/*
 * Make a block group read-only that device replace has to copy and for which
 * btrfs_inc_block_group_ro() has found no space.
 *
 * Dirty data counts as used. Writing it may be all it takes. If not, other
 * devices have to take what is written meanwhile, also those whose roles exclude
 * it: a device that cannot be replaced is worse than a misplaced chunk. If too
 * few devices have room for that, the estimate decides that is used without
 * roles. It admits metadata and system block groups by unallocated space, whether
 * or not that makes a chunk of their profile.
 */
int btrfs_device_role_replace_ro(struct btrfs_block_group *bg)
{
	struct btrfs_fs_info *fs_info = bg->fs_info;
	int ret;

	if (btrfs_is_zoned(fs_info))
		return -ENOSPC;

	ret = btrfs_start_delalloc_roots(fs_info, LONG_MAX, false);
	if (ret)
		return ret;
	btrfs_wait_ordered_roots(fs_info, U64_MAX, NULL);
	ret = btrfs_inc_block_group_ro(bg, true);

	for (int i = 0; i < REPLACE_CHUNKS_MAX && ret == -ENOSPC; i++) {
		ret = add_chunk_anywhere(bg);
		if (ret < 0)
			break;
		btrfs_warn(fs_info,
			   "no device with room for writes while block group %llu is copied, roles are ignored for it",
			   bg->start);
		ret = btrfs_inc_block_group_ro(bg, true);
	}
	if (ret != -ENOSPC)
		return ret;

	start_ignoring(fs_info);
	ret = btrfs_inc_block_group_ro(bg, true);
	stop_ignoring(fs_info);
	return ret;
}
