/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a file system that is read from its devices to the same one, mounted by the
 * kernel for this handle alone.
 */
#include <string.h>
#include <unistd.h>

#include "backend/linux.h"
#include "core/handle.h"

static int mount_devices(struct btrfs_policy_fs *fs, int *root)
{
	_cleanup_free_ char **paths = calloc(fs->device_count, sizeof(*paths));
	int ret;

	if (!paths)
		return bp_nomem(fs);
	for (size_t i = 0; i < fs->device_count; i++)
		paths[i] = fs->devices[i].path;
	/* Its reader has them open exclusively. */
	fs->ops->close(fs->backend);
	ret = bp_linux_mount(paths, fs->device_count, root);
	if (ret == -EOPNOTSUPP)
		return bp_error(fs, ret, "cannot set roles of '%s': this kernel has no '/sys/fs/btrfs/features/device_role'; boot one that has it",
				fs->mount_point);
	if (ret == -ENOTBLK || ret == -EINVAL)
		return bp_failed(fs, ret, "cannot mount '%s', which takes block devices ('losetup' makes them of images)",
				 fs->mount_point);
	return ret ? bp_failed(fs, ret, "cannot mount '%s' (dmesg may say why)", fs->mount_point) : 0;
}

BP_PUBLIC int btrfs_policy_fs_mount(struct btrfs_policy_fs *fs)
{
	_cleanup_free_ char *name = NULL;
	int *backend, root, ret;

	if (!fs->open || !fs->info.offline)
		return bp_error(fs, -EINVAL, "only a file system that was opened from its devices can be mounted");
	/* A degraded mount is for the administrator to decide. */
	if (fs->info.missing)
		return bp_error(fs, -ENODEV, "cannot mount '%s': devices are missing; mount it with '-o degraded' first",
				fs->mount_point);
	ret = mount_devices(fs, &root);
	if (ret)
		return ret;
	name = strdup(fs->mount_point);
	backend = malloc(sizeof(*backend));
	if (!name || !backend) {
		close(root);
		free(backend);
		return bp_nomem(fs);
	}
	*backend = root;
	return bp_fs_switch(fs, &bp_backend_linux, backend, name, false);
}
