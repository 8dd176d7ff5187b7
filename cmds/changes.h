/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Carrying out a request and printing its changes: the common end of the
 * commands that change settings.
 */
#ifndef CMDS_CHANGES_H
#define CMDS_CHANGES_H

#include <json-c/json.h>

#include "cmds/commands.h"
#include "btrfs-policy.h"

/*
 * Applies @request (with --dry-run: only checks it) and prints one line a change,
 * or the JSON document @name.  Returns the exit status.
 */
int changes_apply(const struct run *run, struct btrfs_policy_fs *fs,
		  const struct btrfs_policy_request *request, unsigned int flags,
		  const char *name);

/* One JSON object; @saved: name the file that keeps them. @changes may be NULL. */
json_object *changes_json(const struct run *run, struct btrfs_policy_fs *fs,
			  const struct btrfs_policy_changes *changes, bool saved);

void changes_print(const struct run *run, const struct btrfs_policy_changes *changes);

/* "saved in ..." */
void changes_print_saved(const struct run *run, struct btrfs_policy_fs *fs);

#endif
