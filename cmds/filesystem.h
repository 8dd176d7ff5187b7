/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of every command for a file system: open it, report its errors, and
 * distinguish devices and paths among the words of the user.
 */
#ifndef CMDS_FILESYSTEM_H
#define CMDS_FILESYSTEM_H

#include <stdbool.h>

#include "cmds/cli/records.h"
#include "btrfs-policy.h"

/*
 * Opens @target, or what the library takes for it if NULL.  Prints an error and
 * returns an exit status other than 0 if that fails; @fs is to be unreferenced
 * in any case.
 */
int filesystem_open(const char *target, struct btrfs_policy_fs **fs);

/* The same for a file system that is not mounted, by its devices or images. */
int filesystem_open_offline(char *const *paths, int count, struct btrfs_policy_fs **fs);

/* The exit status for an error of the library. */
int filesystem_status(int ret);

/* Prints why the last call with @fs failed; returns the exit status for @ret. */
int filesystem_failed(const struct btrfs_policy_fs *fs, int ret);

/* Does @word mean a device (rather than a path, UUID or label of a file system)? */
bool word_is_device(const char *word);

/* Whether roles are obeyed, and why, as "no, this kernel ..."; to be freed. */
char *filesystem_enforced(const struct btrfs_policy_fs *fs);

/* The same as the members enforced and enforced-reason of @object. */
void filesystem_add_enforced(const struct btrfs_policy_fs *fs, json_object *object);

/* The version and kind of the kernel, as "6.12.1 (device-role)"; to be freed. */
char *filesystem_kernel(const struct btrfs_policy_fs *fs);

/* A JSON object with the members that name a file system: fsid, label, mount-point. */
json_object *filesystem_json(const struct btrfs_policy_fs *fs);

/* Prints "Label: 'x'  uuid: ..." */
void filesystem_print_heading(const struct btrfs_policy_fs *fs);

#endif
