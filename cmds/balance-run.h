/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moving chunks with progress and a report, for the commands that do so.
 */
#ifndef CMDS_BALANCE_RUN_H
#define CMDS_BALANCE_RUN_H

#include <json-c/json.h>

#include "btrfs-policy.h"

/*
 * btrfs_policy_balance() with progress on stderr by @mode, of progress.h.  The first
 * signal ends it after the chunk being moved, and is not handled any more.
 */
int balance_run(struct btrfs_policy_fs *fs, struct btrfs_policy_balance_options options, int mode,
		struct btrfs_policy_balance_report **report);

/* @ret is from balance_run(). */
void balance_print_report(const struct btrfs_policy_balance_report *report, int ret);
json_object *balance_report_json(const struct btrfs_policy_balance_report *report);

/* The exit status; @report may be NULL. */
int balance_end_status(const struct btrfs_policy_balance_report *report, int ret);

#endif
