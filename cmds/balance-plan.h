/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output of --dry-run of commands that move chunks: the plan.
 */
#ifndef CMDS_BALANCE_PLAN_H
#define CMDS_BALANCE_PLAN_H

#include "cmds/commands.h"
#include "btrfs-policy.h"

/*
 * Reads, plans and prints, as the JSON document @name; moves no chunk.  Returns the exit
 * status that the run would end with.
 */
int balance_show_plan(const struct run *run, struct btrfs_policy_fs *fs, const char *name,
		      const struct btrfs_policy_balance_options *options, const char *assume);

#endif
