/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far data and metadata can grow, the same in all commands.
 */
#ifndef CMDS_OUTLOOK_H
#define CMDS_OUTLOOK_H

#include <json-c/json.h>

#include "cmds/cli/units.h"
#include "btrfs-policy.h"

json_object *outlook_json(const struct btrfs_policy_outlook *outlook);

/* A line with the capacity left for data and metadata. */
void outlook_print(const struct btrfs_policy_outlook *outlook, bool would);

/* @why receives the reason why misplaced chunks cannot be moved, or NULL. */
int outlook_blocked(struct btrfs_policy_fs *fs, const struct btrfs_policy_placement *placement,
		    char **why);

/* Warns if metadata has little to grow into. */
void outlook_warn(const struct btrfs_policy_outlook *outlook, bool would);

#endif
