/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns what an earlier run left behind: the balance of one chunk that was paused,
 * or that the kernel took up again when the file system was mounted.  It is
 * finished before anything is planned.  Balances of others are left alone.
 */
#include <string.h>

#include "balance.h"

#define HALF_A_SECOND 500000000ULL

/* Taken up again the kernel adds a filter by usage to ours. */
static bool filter_is_ours(const struct btrfs_balance_args *filter)
{
	const uint64_t known = BTRFS_BALANCE_ARGS_VRANGE | BTRFS_BALANCE_ARGS_USAGE;

	return filter->flags & BTRFS_BALANCE_ARGS_VRANGE && !(filter->flags & ~known) &&
	       filter->vend == filter->vstart + 1;
}

/* The one chunk that such a balance is about, or 0. */
static uint64_t chunk_of(const struct btrfs_ioctl_balance_args *args)
{
	const struct btrfs_balance_args *filter;

	switch (args->flags & BTRFS_BALANCE_TYPE_MASK) {
	case BTRFS_BALANCE_DATA:
		filter = &args->data;
		break;
	case BTRFS_BALANCE_METADATA:
		filter = &args->meta;
		break;
	case BTRFS_BALANCE_SYSTEM:
		filter = &args->sys;
		break;
	default:
		return 0;
	}
	return filter_is_ours(filter) ? filter->vstart : 0;
}

/* The chunk of a balance of ours that is there, 0 if there is none. */
static int find_leftover(struct btrfs_policy_fs *fs, uint64_t *chunk, bool *paused)
{
	struct btrfs_ioctl_balance_args args = {};
	int ret = fs->ops->balance_state(fs->backend, &args);

	*chunk = 0;
	if (ret == -ENOTCONN)
		return 0;
	if (ret)
		return bp_failed(fs, ret, "cannot see whether a balance of '%s' is under way",
				 fs->mount_point);
	*chunk = chunk_of(&args);
	*paused = !(args.state & BTRFS_BALANCE_STATE_RUNNING);
	return 0;
}

static int resume(struct btrfs_policy_fs *fs, uint64_t chunk)
{
	struct btrfs_ioctl_balance_args args = { .flags = BTRFS_BALANCE_RESUME };
	int ret = fs->ops->balance(fs->backend, &args);

	/* Somebody else was faster. */
	if (ret == -ENOTCONN || ret == -EINPROGRESS)
		return 0;
	if (ret)
		return bp_failed(fs, ret, "cannot finish moving chunk %llu of '%s'",
				 (unsigned long long)chunk, fs->mount_point);
	return 0;
}

/*
 * Waits for one chunk at most: if another one is under way then, somebody else is
 * at work.
 */
int bp_leftover_finish(struct btrfs_policy_fs *fs, int (*tick)(void *user), void *user)
{
	uint64_t first, chunk;
	bool paused;
	int ret = find_leftover(fs, &first, &paused);

	if (!ret && first && paused)
		return resume(fs, first);
	for (chunk = first; !ret && chunk && chunk == first && !paused;) {
		if (tick(user))
			return bp_error(fs, -ECANCELED,
					"stopped while the kernel finishes chunk %llu of '%s'",
					(unsigned long long)chunk, fs->mount_point);
		fs->ops->sleep(fs->backend, HALF_A_SECOND);
		ret = find_leftover(fs, &chunk, &paused);
	}
	return ret;
}

/* Is what stands in the way a balance that bp_leftover_finish() would finish? */
int bp_leftover_is_ours(struct btrfs_policy_fs *fs, bool *ours)
{
	uint64_t chunk;
	bool paused;
	int ret = find_leftover(fs, &chunk, &paused);

	*ours = chunk;
	return ret;
}
