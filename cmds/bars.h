/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bar for each device that shows its contents.
 */
#ifndef CMDS_BARS_H
#define CMDS_BARS_H

#include "btrfs-policy.h"

/* One bar a device on stdout, as wide as the terminal, or 80 columns; in colour on a terminal. */
void bars_print(const struct btrfs_policy_placement *placement);

#endif
