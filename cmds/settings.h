/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The settings of a file system as records, for the commands that show them.
 */
#ifndef CMDS_SETTINGS_H
#define CMDS_SETTINGS_H

#include <stdbool.h>

#include "cmds/cli/records.h"
#include "btrfs-policy.h"

enum {
	SETTING_NAME,
	SETTING_SCOPE,
	SETTING_VALUE,
	SETTING_SHOWN,
	SETTING_VALUES,
	SETTING_GRAMMAR,
	SETTING_POSSIBLE,
	SETTING_AVAILABLE,
	SETTING_HELP,
	SETTING_COLUMNS
};

/*
 * One row for each setting, those of devices only if wanted.  A setting that the
 * kernel lacks has no value.  Returns 0 or the exit status, after an error.
 */
int settings_read(struct btrfs_policy_fs *fs, bool devices, struct records **records);

/* A value for people, with a unit if it is a size; to be freed. */
char *setting_shown(const struct btrfs_policy_setting *setting, const char *value,
		    const struct units *units);

/* The shortest word for this value on a command line; to be freed. */
char *setting_word(const struct btrfs_policy_setting *setting, const char *value);

#endif
