/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `balance --preferred-metadata --dry-run` shows: the plan.
 */
#ifndef CMDS_BALANCE_PLAN_H
#define CMDS_BALANCE_PLAN_H

#include "cmds/commands.h"
#include "btrfs-policy.h"

/* Reads, plans and prints; moves nothing.  Returns the exit status. */
int balance_show_plan(const struct run *run, struct btrfs_policy_fs *fs, uint64_t limit,
		      const char *assume);

#endif
