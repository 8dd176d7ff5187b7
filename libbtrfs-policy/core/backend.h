/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The world outside as one table of functions.  The library proper reaches the
 * kernel, the mount table and the devices through it only, so that tests can put
 * a made-up machine in its place.  Every function returns 0 or -errno unless
 * said otherwise, does not print, and keeps no error text.
 */
#ifndef BP_BACKEND_H
#define BP_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "btrfs-policy.h"
#include "core/kernel-abi.h"

/* The folder that names of sysfs files are relative to. */
#define BP_SYSFS "/sys/fs/btrfs/"

/* Where settings that outlive a mount are kept, one file a file system. */
#define BP_SAVED_DIR "/etc/btrfs-policy.d"

struct bp_backend {
	void (*destroy)(void *self);

	/*
	 * The mount that a path lies in: mount point and type, to be freed, and whether
	 * it has the option nodevice_roles.
	 */
	int (*mount_of)(void *self, const char *path, char **target, char **fstype,
			bool *ignores_roles);
	/* The mount points of all btrfs, up to NULL; the caller frees the texts and the list. */
	int (*mounts)(void *self, char ***targets);

	/* Opens the file system that the functions below mean; -EINVAL if not btrfs. */
	int (*open)(void *self, const char *path);
	void (*close)(void *self);

	int (*read_only)(void *self, bool *read_only);
	int (*label)(void *self, char *label, size_t size);
	/* Is /boot on it? */
	int (*boots)(void *self, bool *boots);
	int (*fs_info)(void *self, struct btrfs_ioctl_fs_info_args *info);
	int (*dev_info)(void *self, struct btrfs_ioctl_dev_info_args *info);
	/* The superblock's feature flags that older kernels must know: BTRFS_FEATURE_INCOMPAT_*. */
	int (*incompat)(void *self, uint64_t *flags);
	/* Fills args->buf, of args->buf_size bytes, with args->key.nr_items items. */
	int (*tree_search)(void *self, struct btrfs_ioctl_search_args_v2 *args);
	/* Error in the data that the last failed search read; may be NULL. */
	const char *(*why)(void *self);
	int (*sync)(void *self);
	/* -EBUSY also where the kernel says "exclusive operation" in its own number. */
	int (*balance)(void *self, struct btrfs_ioctl_balance_args *args);
	/* State of the present balance; -ENOTCONN if there is none. */
	int (*balance_state)(void *self, struct btrfs_ioctl_balance_args *args);
	/* Ends early, with -EINTR, on a signal.  -EBUSY as above. */
	int (*move_stripes)(void *self, struct btrfs_ioctl_move_stripes_args *args);
	int (*roles)(void *self, struct btrfs_ioctl_device_roles_args *args);

	/* Names are relative to /sys/fs/btrfs. */
	int (*sysfs_exists)(void *self, const char *name); /* 1, 0 or -errno */
	/* The whole file, without the last newline, NUL at the end; -EOVERFLOW. */
	int (*sysfs_read)(void *self, const char *name, char *buf, size_t size);
	int (*sysfs_write)(void *self, const char *name, const char *text);

	/* Device number of a block device; -ENOTBLK. */
	int (*device_number)(void *self, const char *path, uint64_t *number);
	/* Sets rotational, model, transport and rotation_rate; texts are allocated or NULL. */
	int (*properties)(void *self, const char *path, struct btrfs_policy_device *device);
	/*
	 * FSID and flags of the superblock at 64 KiB; "" and 0 if there is none.  A zoned
	 * device may have an old one there.
	 */
	int (*superblock)(void *self, const char *path, char *fsid, uint64_t *flags);

	/*
	 * Probes a block device that is to be added: -EBUSY if it is open exclusively.
	 * @signature receives the name of the signature on it, to be freed, or NULL.
	 */
	int (*probe_new)(void *self, const char *path, char **signature);
	/* Removes all signatures. */
	int (*wipe)(void *self, const char *path);
	/*
	 * -ENOTTY if the kernel cannot give it a role at once.  Without a path it only
	 * tests for that: 0, or -ENOTTY.
	 */
	int (*add_device)(void *self, const char *path, enum btrfs_policy_role role);
	/* -EBUSY as above. */
	int (*remove_device)(void *self, uint64_t devid);

	/*
	 * Settings that outlive a mount: the whole text, -ENOENT if there is none, -EFBIG
	 * and -EUCLEAN if it cannot be one.  A write replaces the whole text or fails.
	 */
	int (*saved_read)(void *self, const char *fsid, char **text);
	int (*saved_write)(void *self, const char *fsid, const char *text);
	/* Between these two no other process changes any of them. */
	int (*saved_lock)(void *self, int *lock);
	void (*saved_unlock)(void *self, int lock);
	/* FSID of a bdi device: -EAGAIN while it is being mounted, -ENODEV if there is none. */
	int (*bdi_fsid)(void *self, const char *bdi, char *fsid);

	uint64_t (*now)(void *self); /* monotonic, nanoseconds */
	void (*sleep)(void *self, uint64_t nanoseconds);
};

#endif
