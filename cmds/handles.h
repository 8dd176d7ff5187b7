/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cleanup of objects that the library returns.
 */
#ifndef CMDS_HANDLES_H
#define CMDS_HANDLES_H

#include "btrfs-policy.h"
#include "cmds/cli/cleanup.h"

DEFINE_CLEANUP(fs, struct btrfs_policy_fs *, btrfs_policy_fs_unref);
DEFINE_CLEANUP(request, struct btrfs_policy_request *, btrfs_policy_request_free);
DEFINE_CLEANUP(changes, struct btrfs_policy_changes *, btrfs_policy_changes_free);
DEFINE_CLEANUP(additions, struct btrfs_policy_additions *, btrfs_policy_additions_free);
DEFINE_CLEANUP(placement, struct btrfs_policy_placement *, btrfs_policy_placement_free);
DEFINE_CLEANUP(plan, struct btrfs_policy_plan *, btrfs_policy_plan_free);
DEFINE_CLEANUP(suggestion, struct btrfs_policy_suggestion *, btrfs_policy_suggestion_free);
DEFINE_CLEANUP(report, struct btrfs_policy_balance_report *, btrfs_policy_balance_report_free);

#endif
