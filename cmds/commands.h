/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of the program and their exit statuses.
 */
#ifndef CMDS_COMMANDS_H
#define CMDS_COMMANDS_H

#include "cmds/cli/command.h"

/* Exit statuses beside those of every program, the same in all commands. */
enum {
	STATUS_STATE = 2,	/* the state of kernel or file system does not allow it */
	STATUS_NO_SPACE = 4,	/* a balance: no space on the devices for a chunk */
	STATUS_PAUSED = 5,	/* a balance: by `btrfs balance pause` */
	STATUS_CANCELED = 6,	/* a balance: by `btrfs balance cancel` */
	STATUS_STOPPED = 7,	/* a balance: by SIGINT, SIGTERM or SIGHUP */
	STATUS_METADATA_FULL = 32, /* added by usage -c */
	STATUS_MISPLACED = 64,	/* the same */
};

extern const struct command device_policy_list_command;
extern const struct command device_policy_show_command;
extern const struct command device_policy_get_command;
extern const struct command device_policy_set_command;
extern const struct command device_policy_tag_command;
extern const struct command device_policy_suggest_command;
extern const struct command device_policy_add_command;
extern const struct command device_policy_drain_command;
extern const struct command device_policy_usage_command;
extern const struct command device_policy_save_command;
extern const struct command device_policy_restore_command;
extern const struct command balance_preferred_command;
extern const struct command balance_start_command;

/* The whole program; @argv as main() gets it. */
int program_run(int argc, char **argv);

#endif
