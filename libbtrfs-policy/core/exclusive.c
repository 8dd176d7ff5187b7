/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other exclusive operations (balance, device add, ...) on the file system: their
 * state, and waiting for their end.
 */
#include <string.h>

#include "core/handle.h"

#define FILE_NAME "exclusive_operation"

BP_PUBLIC int btrfs_policy_exclusive_operation(struct btrfs_policy_fs *fs, char **name)
{
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	ret = bp_sysfs_read(fs, FILE_NAME, 0, name);
	if (ret == -ENOENT)
		return bp_error(fs, -EOPNOTSUPP,
				"cannot see other operations on '%s': this kernel has no '/sys/fs/btrfs/%s/%s'",
				fs->mount_point, fs->fsid, FILE_NAME);
	return ret;
}

/* Is no other operation running? 0, -EBUSY with the name, or another error. */
int bp_exclusive_check(struct btrfs_policy_fs *fs, bool *can_wait)
{
	_cleanup_free_ char *name = NULL;
	int ret;

	*can_wait = false;
	ret = btrfs_policy_exclusive_operation(fs, &name);
	if (ret == -EOPNOTSUPP)
		return 0;
	if (ret || !strcmp(name, "none"))
		return ret;
	*can_wait = strcmp(name, "balance paused");
	if (!*can_wait)
		return bp_error(fs, -EBUSY,
				"a balance is paused on '%s'; run 'btrfs balance resume' or 'btrfs balance cancel' first",
				fs->mount_point);
	bp_error(fs, -EBUSY, "another exclusive operation '%s' is running on '%s'; wait for it", name,
		 fs->mount_point);
	return bp_hint(fs, -EBUSY, BTRFS_POLICY_HINT_ENQUEUE);
}

/*
 * Only a user ends a paused balance, so do not wait for it.
 * `tick` is called twice a second; any value but 0 ends the wait.
 */
int bp_exclusive_wait(struct btrfs_policy_fs *fs, bool enqueue, int (*tick)(void *user),
		      void *user)
{
	bool can_wait;
	int ret;

	for (;;) {
		ret = bp_exclusive_check(fs, &can_wait);
		if (ret != -EBUSY || !enqueue || !can_wait)
			return ret;
		if (tick(user))
			return bp_error(fs, -ECANCELED,
					"stopped while waiting for another operation on '%s'; run the command again to go on",
					fs->mount_point);
		fs->ops->sleep(fs->backend, BP_TICK);
	}
}
