/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names and kinds of devices, the same in all commands.
 */
#ifndef CMDS_DEVICES_H
#define CMDS_DEVICES_H

#include <stdint.h>

#include "cmds/cli/records.h"
#include "btrfs-policy.h"

/* "hdd", "ssd", "missing", or NULL if it is not known whether it spins. */
const char *device_type(const struct btrfs_policy_device *device);

/* Sets @column to true or false, or leaves it empty if not known. */
void record_set_tristate(struct cell *record, int column, enum btrfs_policy_tristate value);

/*
 * The devices that words mean, as btrfs_policy_device_select() does for one; each is
 * listed once.  @count is 0 before, @devids is to be freed.
 */
int devices_select(struct btrfs_policy_fs *fs, char *const *words, int word_count,
		   uint64_t **devids, size_t *count);

/* Prints an error with the roles that there are; STATUS_FAILURE. */
int no_role(const char *word);

/* "1 (/dev/sda)"; to be freed. */
char *device_name(uint64_t devid, const char *path);

/* "/dev/sda, ID: 1", the line above a block about a device. */
void device_print_heading(uint64_t devid, const char *path);

#endif
