/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moves one chunk: a balance of its kind whose filter matches only this chunk.  The
 * kernel then is in the state that `btrfs balance status|pause|cancel` know.
 */
#include <string.h>

#include "balance/balance.h"

/* A range of one byte at a chunk's start overlaps no other chunk. */
static void set_filter(struct btrfs_balance_args *filter,
		       const struct btrfs_policy_chunk *chunk)
{
	filter->flags = BTRFS_BALANCE_ARGS_VRANGE;
	filter->vstart = chunk->logical;
	filter->vend = chunk->logical + 1;
}

/* System chunks want the force flag, as `btrfs balance start -f -s` gives it. */
static void set_args(struct btrfs_ioctl_balance_args *args,
		     const struct btrfs_policy_chunk *chunk)
{
	memset(args, 0, sizeof(*args));
	switch (chunk->kind) {
	case BTRFS_POLICY_KIND_SYSTEM:
		args->flags = BTRFS_BALANCE_SYSTEM | BTRFS_BALANCE_FORCE;
		set_filter(&args->sys, chunk);
		break;
	case BTRFS_POLICY_KIND_METADATA:
		args->flags = BTRFS_BALANCE_METADATA;
		set_filter(&args->meta, chunk);
		break;
	default:
		args->flags = BTRFS_BALANCE_DATA;
		set_filter(&args->data, chunk);
		break;
	}
}

int bp_canceled(struct btrfs_policy_fs *fs, bool paused)
{
	return bp_error(fs, -ECANCELED,
			"the balance of '%s' was %s by another process; run it again to continue",
			fs->mount_point, paused ? "paused" : "cancelled");
}

/* -ECANCELED for a pause, too; -ENOSPC without a word; all else as the kernel says. */
int bp_relocate(struct btrfs_policy_fs *fs, const struct btrfs_policy_chunk *chunk, bool *moved,
		bool *paused)
{
	struct btrfs_ioctl_balance_args args;
	int ret, seen;

	set_args(&args, chunk);
	*moved = *paused = false;
	ret = fs->ops->balance(fs->backend, &args);
	if (!ret) {
		*moved = args.stat.completed;
		return 0;
	}
	*paused = args.state & BTRFS_BALANCE_STATE_PAUSE_REQ;
	if (ret == -ENOSPC) {
		/* With -ENOSPC the kernel does not report a pause that a user requested. */
		seen = bp_interrupted_is_paused(fs, chunk->logical, paused);
		if (seen || !*paused)
			return seen ? seen : ret;
	}
	if (ret == -ECANCELED || *paused)
		return bp_canceled(fs, *paused);
	/* A balance that was paused after the check. */
	if (ret == -EINPROGRESS)
		return bp_error(fs, -EBUSY,
				"cannot move chunks of '%s': another balance is running or paused; wait for it, or run 'btrfs balance cancel'",
				fs->mount_point);
	if (ret == -EBUSY) {
		bp_error(fs, ret,
			 "cannot move chunk %llu of '%s': another exclusive operation is running; wait for it",
			 (unsigned long long)chunk->logical, fs->mount_point);
		return bp_hint(fs, ret, BTRFS_POLICY_HINT_ENQUEUE);
	}
	return bp_failed(fs, ret, "cannot move chunk %llu of '%s'",
			 (unsigned long long)chunk->logical, fs->mount_point);
}
