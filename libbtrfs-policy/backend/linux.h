/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The backend of the running kernel, and its parts that other backends use too.
 */
#ifndef BP_LINUX_H
#define BP_LINUX_H

#include "core/backend.h"

extern const struct bp_backend bp_backend_linux;
/* Functions of bp_backend_linux that are in other files of this folder. */
int bp_linux_mount_of(void *self, const char *path, char **target, char **fstype,
		      bool *ignores_roles);
int bp_linux_mounts(void *self, char ***targets);
int bp_linux_properties(void *self, const char *path, struct btrfs_policy_device *device);
int bp_linux_superblock(void *self, const char *path, char *fsid, uint64_t *flags);
int bp_linux_probe_new(void *self, const char *path, char **signature);
int bp_linux_wipe(void *self, const char *path);

int bp_linux_saved_read(void *self, const char *fsid, char **text);
int bp_linux_saved_write(void *self, const char *fsid, const char *text);
int bp_linux_saved_lock(void *self, int *lock);
void bp_linux_saved_unlock(void *self, int lock);
int bp_linux_bdi_fsid(void *self, const char *bdi, char *fsid);

/*
 * Mounts the file system of these devices where no path leads to, if the kernel knows roles
 * (-EOPNOTSUPP); it is unmounted when @root is closed.
 */
int bp_linux_mount(char *const *devices, size_t count, int *root);

#endif
