/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Carrying out a request and saying what it changed: the common end of the
 * commands that change settings.
 */
#ifndef CMDS_CHANGES_H
#define CMDS_CHANGES_H

#include "cmds/commands.h"
#include "btrfs-policy.h"

/*
 * Applies @request (with --dry-run: only checks it) and prints one line a change,
 * or the JSON document @name.  Returns the exit status.
 */
int changes_apply(const struct run *run, struct btrfs_policy_fs *fs,
		  const struct btrfs_policy_request *request, unsigned int flags,
		  const char *name);

#endif
