/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interrupted balance of an earlier run: of one chunk, paused, or resumed by the
 * kernel at mount.  It is finished before a plan is made.  Balances that users
 * started are left alone.
 */
#include <string.h>

#include "balance/balance.h"

/* Limit of waits for a long commit, each of BP_TICK. */
#define NAPS 120

/* The one chunk that such a balance moves, or 0. */
static uint64_t chunk_of(const struct btrfs_ioctl_balance_args *args)
{
	const uint64_t known = BTRFS_BALANCE_ARGS_VRANGE | BTRFS_BALANCE_ARGS_USAGE;
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
	/* When the kernel resumes a balance it adds a filter by usage to ours. */
	if (!(filter->flags & BTRFS_BALANCE_ARGS_VRANGE) || filter->flags & ~known ||
	    filter->vend != filter->vstart + 1)
		return 0;
	return filter->vstart;
}

/* 1 if there is a balance, 0 if there is none; `chunk` is 0 if it is not one of ours */
static int find_interrupted(struct btrfs_policy_fs *fs, uint64_t *chunk, bool *paused)
{
	struct btrfs_ioctl_balance_args args = {};
	int ret = fs->ops->balance_state(fs->backend, &args);

	*chunk = 0;
	*paused = false;
	if (ret == -ENOTCONN)
		return 0;
	if (ret)
		return bp_failed(fs, ret, "cannot see whether a balance of '%s' is under way",
				 fs->mount_point);
	*chunk = chunk_of(&args);
	*paused = !(args.state & BTRFS_BALANCE_STATE_RUNNING);
	return 1;
}

static int resume(struct btrfs_policy_fs *fs, uint64_t chunk, bool *paused)
{
	struct btrfs_ioctl_balance_args args = { .flags = BTRFS_BALANCE_RESUME };
	int ret = fs->ops->balance(fs->backend, &args);

	/* Another process resumed it, or it cannot be moved: the plan moves other chunks first. */
	if (ret == -ENOTCONN || ret == -EINPROGRESS || ret == -ENOSPC || ret == -EIO)
		return 0;
	*paused = args.state & BTRFS_BALANCE_STATE_PAUSE_REQ;
	if (ret == -ECANCELED)
		return bp_canceled(fs, *paused);
	if (ret)
		return bp_failed(fs, ret, "cannot finish moving chunk %llu of '%s'",
				 (unsigned long long)chunk, fs->mount_point);
	return 0;
}

static int nap(struct btrfs_policy_fs *fs, int (*tick)(void *user), void *user)
{
	if (tick(user))
		return bp_error(fs, -ECANCELED,
				"stopped while the kernel finishes an earlier balance of '%s'",
				fs->mount_point);
	fs->ops->sleep(fs->backend, BP_TICK);
	return 0;
}

/* The balance of a killed process ends in two steps with a commit in between. */
static int wait_until_gone(struct btrfs_policy_fs *fs, int (*tick)(void *user), void *user)
{
	uint64_t chunk;
	bool paused;
	int ret = 0;

	for (int naps = 0; !ret && naps < NAPS; naps++) {
		_cleanup_free_ char *name = NULL;

		if (btrfs_policy_exclusive_operation(fs, &name) || strcmp(name, "balance"))
			return 0;
		ret = find_interrupted(fs, &chunk, &paused);
		if (ret)
			return ret < 0 ? ret : 0;
		ret = nap(fs, tick, user);
	}
	return ret;
}

/*
 * Waits for one chunk at most: a balance of another chunk belongs to another process.
 */
int bp_interrupted_finish(struct btrfs_policy_fs *fs, bool *paused, int (*tick)(void *user),
		       void *user)
{
	uint64_t first, chunk;
	bool is_paused;
	int there = find_interrupted(fs, &chunk, &is_paused), ret;

	if (chunk && is_paused)
		return resume(fs, chunk, paused);
	first = chunk;
	while (there > 0 && chunk && chunk == first && !is_paused) {
		ret = nap(fs, tick, user);
		if (ret)
			return ret;
		there = find_interrupted(fs, &chunk, &is_paused);
	}
	if (there)
		return there < 0 ? there : 0;
	return wait_until_gone(fs, tick, user);
}

/* Is a balance that bp_interrupted_finish() would finish the one that is running or paused? */
int bp_interrupted_is_ours(struct btrfs_policy_fs *fs, bool *ours)
{
	uint64_t chunk;
	bool paused;
	int ret = find_interrupted(fs, &chunk, &paused);

	*ours = chunk;
	return ret < 0 ? ret : 0;
}

/*
 * Is the balance that keeps others out the kernel's own, which reclaims block groups, or
 * the rest of one that was killed?  Nobody can end these, and they end by themselves.
 */
bool bp_kernel_balances(struct btrfs_policy_fs *fs)
{
	_cleanup_free_ char *file = bp_sysfs_name(fs, "exclusive_operation", 0);
	struct btrfs_ioctl_balance_args args = {};
	char name[BP_SYSFS_LENGTH];

	return file && fs->ops->sysfs_read(fs->backend, file, name, sizeof(name)) >= 0 &&
	       !strcmp(name, "balance") &&
	       fs->ops->balance_state(fs->backend, &args) == -ENOTCONN;
}

/* Does the balance of this chunk still exist, and is it paused? */
int bp_interrupted_is_paused(struct btrfs_policy_fs *fs, uint64_t chunk, bool *paused)
{
	uint64_t found;
	int ret = find_interrupted(fs, &found, paused);

	*paused = *paused && found == chunk;
	return ret < 0 ? ret : 0;
}
