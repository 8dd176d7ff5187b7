/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of a handle, and the properties of the file system as a whole.  Devices,
 * roles and capabilities are read by the files named after them.  Reaches the kernel
 * only through the backend.
 */
#include <string.h>

#include "core/handle.h"

BP_PUBLIC const char *btrfs_policy_version(void)
{
	return PACKAGE_VERSION;
}

struct btrfs_policy_fs *bp_fs_new_with(const struct bp_backend *ops, void *backend)
{
	struct btrfs_policy_fs *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->refs = 1;
	fs->ops = ops;
	fs->backend = backend;
	return fs;
}

BP_PUBLIC struct btrfs_policy_fs *btrfs_policy_fs_ref(struct btrfs_policy_fs *fs)
{
	if (fs)
		fs->refs++;
	return fs;
}

static void forget(struct btrfs_policy_fs *fs)
{
	bp_devices_free(fs);
	bp_capabilities_free(fs);
}

static void close_fs(struct btrfs_policy_fs *fs)
{
	forget(fs);
	fs->ops->close(fs->backend);
	free(fs->mount_point);
	free(fs->search);
	fs->mount_point = NULL;
	fs->search = NULL;
	fs->open = false;
}

BP_PUBLIC struct btrfs_policy_fs *btrfs_policy_fs_unref(struct btrfs_policy_fs *fs)
{
	if (!fs || --fs->refs)
		return NULL;
	close_fs(fs);
	fs->ops->destroy(fs->backend);
	free(fs);
	return NULL;
}

static int read_info(struct btrfs_policy_fs *fs, struct btrfs_ioctl_fs_info_args *args)
{
	uint64_t incompat;
	int ret;

	memset(args, 0, sizeof(*args));
	ret = fs->ops->fs_info(fs->backend, args);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read properties of '%s'", fs->mount_point);
	bp_uuid_text(args->fsid, fs->fsid);
	fs->info.fsid = fs->fsid;
	fs->info.label = fs->label;
	fs->info.mount_point = fs->info.offline || fs->unseen ? NULL : fs->mount_point;
	fs->info.nodesize = args->nodesize;
	fs->info.sectorsize = args->sectorsize;
	ret = fs->ops->read_only(fs->backend, &fs->info.read_only);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot determine whether '%s' is read-only",
				 fs->mount_point);
	memset(fs->label, 0, sizeof(fs->label));
	ret = fs->ops->label(fs->backend, fs->label, BTRFS_LABEL_SIZE);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read the label of '%s'", fs->mount_point);
	ret = fs->ops->incompat(fs->backend, &incompat);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read the features of '%s'", fs->mount_point);
	fs->info.mixed = incompat & BTRFS_FEATURE_INCOMPAT_MIXED_GROUPS;
	fs->zoned = incompat & BTRFS_FEATURE_INCOMPAT_ZONED;
	fs->fixed_stripes = incompat & (BTRFS_FEATURE_INCOMPAT_ZONED | BP_RAID_STRIPE_TREE |
					BTRFS_FEATURE_INCOMPAT_EXTENT_TREE_V2);
	return 0;
}

BP_PUBLIC int btrfs_policy_fs_refresh(struct btrfs_policy_fs *fs)
{
	struct btrfs_ioctl_fs_info_args args;
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	forget(fs);
	ret = read_info(fs, &args);
	if (!ret)
		ret = bp_devices_read(fs, &args);
	if (!ret)
		ret = bp_capabilities_read(fs);
	if (!ret)
		ret = bp_device_roles_read(fs);
	if (ret)
		forget(fs);
	return ret;
}

BP_PUBLIC int btrfs_policy_fs_open(struct btrfs_policy_fs *fs, const char *target)
{
	int ret;

	if (fs->open)
		return bp_error(fs, -EINVAL, "the handle has '%s' open already",
				fs->mount_point);
	ret = bp_find_target(fs, target, &fs->mount_point);
	if (ret)
		return ret;
	ret = fs->ops->open(fs->backend, fs->mount_point);
	if (ret < 0) {
		if (ret == -EINVAL || ret == -ENOTTY)
			ret = bp_error(fs, -EINVAL,
				       "'%s' is not on a btrfs file system; name the mount point of a btrfs",
				       fs->mount_point);
		else
			ret = bp_failed(fs, ret, "cannot open '%s'", fs->mount_point);
		close_fs(fs);
		return ret;
	}
	fs->open = true;
	ret = btrfs_policy_fs_refresh(fs);
	if (ret)
		close_fs(fs);
	return ret;
}

/* Read the file system of another backend, which the handle then owns. */
int bp_fs_switch(struct btrfs_policy_fs *fs, const struct bp_backend *ops, void *backend,
		 const char *name, bool offline)
{
	int ret;

	close_fs(fs);
	fs->ops->destroy(fs->backend);
	fs->ops = ops;
	fs->backend = backend;
	fs->info.offline = offline;
	fs->unseen = !offline;
	fs->mount_point = strdup(name);
	if (!fs->mount_point)
		return bp_nomem(fs);
	fs->open = true;
	ret = btrfs_policy_fs_refresh(fs);
	if (ret)
		close_fs(fs);
	return ret;
}

BP_PUBLIC const struct btrfs_policy_fs_info *
btrfs_policy_fs_info(const struct btrfs_policy_fs *fs)
{
	return fs && fs->open ? &fs->info : NULL;
}
