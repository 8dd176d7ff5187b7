/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of btrfs-policy.h, which includes it: settings that outlive a mount, in
 * a file that btrfs-policy.conf(5) describes, and file systems that are not
 * mounted.  The conventions at the top of btrfs-policy.h hold here too.  Not to
 * be included alone.
 */
#ifndef BTRFS_POLICY_H
#error "include <btrfs-policy.h>"
#endif
#ifndef BTRFS_POLICY_SAVED_H
#define BTRFS_POLICY_SAVED_H

/**
 * btrfs_policy_saved_path() - the file with the saved settings of a file system
 * @fs: open handle
 * @path: receives a text to be freed, whether or not the file exists
 *
 * Settings get there by btrfs_policy_apply() with BTRFS_POLICY_SAVE.
 *
 * Return: 0 or -ENOMEM.
 */
int btrfs_policy_saved_path(struct btrfs_policy_fs *fs, char **path);

/**
 * btrfs_policy_saved_read() - the saved settings, as a request that can be applied
 * @fs: open handle
 * @request: receives the request, to be freed with btrfs_policy_request_free()
 *
 * Return: 0; -ENOENT without saved settings; -EINVAL if the file is damaged (the
 * error names the line); -EACCES, -EIO, -ENOMEM.
 */
int btrfs_policy_saved_read(struct btrfs_policy_fs *fs,
			    struct btrfs_policy_request **request);

/**
 * btrfs_policy_fs_open_bdi() - open a file system that is just being mounted
 * @fs: handle from btrfs_policy_fs_new(), not opened before
 * @bdi: name of its device in the class "bdi", for example "btrfs-1"
 * @seconds: how long to wait until the mount can be seen
 *
 * The kernel announces that device at the beginning of a mount.
 *
 * Return: 0; -ENODEV if the device went away, so the mount failed or is over;
 * -ETIMEDOUT, as if it is mounted in another mount namespace only; or as btrfs_policy_fs_open().
 */
int btrfs_policy_fs_open_bdi(struct btrfs_policy_fs *fs, const char *bdi, unsigned int seconds);

/* ---- Not mounted -------------------------------------------------------- */

/**
 * btrfs_policy_fs_open_offline() - open a file system that is not mounted
 * @fs: handle from btrfs_policy_fs_new(), not opened before
 * @paths: block devices or images of one file system, or its UUID or label; for
 *	block devices those of its other devices that the system has are found
 * @count: how many, at least 1
 *
 * It can be read as if it were mounted: devices, roles on disk, placement.  No
 * setting has a value, roles are not enforced, and changes are refused.  The
 * contents need not be trusted.
 *
 * Return: 0; -EUCLEAN if it is damaged or no btrfs; -EOPNOTSUPP for a checksum or
 * feature that this build cannot read; -EBUSY if a device is in use; -EINVAL if
 * they do not belong together; -ENOENT, -EACCES, -EIO, -ENOMEM.
 */
int btrfs_policy_fs_open_offline(struct btrfs_policy_fs *fs, char *const *paths, size_t count);

/**
 * btrfs_policy_fs_mount() - mount a file system for this handle alone
 * @fs: handle opened with btrfs_policy_fs_open_offline()
 *
 * The mount has no mount point and no other process sees it.  It ends with the
 * handle.  Roles can be changed meanwhile; an interrupted balance is not continued.
 * If that fails, nothing but the error can be read of the handle.
 *
 * Return: 0; -EOPNOTSUPP if this kernel does not know roles; -EBUSY if a device is in use;
 * -ENODEV if devices are missing; -ENOTBLK for images; the error of the mount; or as
 * btrfs_policy_fs_open().
 */
int btrfs_policy_fs_mount(struct btrfs_policy_fs *fs);

#endif
