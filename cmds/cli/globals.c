/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the global options.  Their values for a command are in struct run;
 * their levels are those of btrfs.
 */
#include "cmds/cli/globals.h"
#include "cmds/cli/messages.h"

static const char *const format_names[] = { "text", "json", NULL };

const struct option_row global_options[] = {
	{ .kind = OPTION_CHOICE, .name = "format", .offset = offsetof(struct globals, format),
	  .argument = "TYPE", .choices = format_names, .help = "where TYPE is: text, json" },
	{ .kind = OPTION_FLAG, .name = "dry-run", .offset = offsetof(struct globals, dry_run),
	  .help = "check everything and show the changes without making them" },
	{ .kind = OPTION_COUNT, .letter = 'v', .name = "verbose", .value = LEVEL_DEBUG,
	  .offset = offsetof(struct globals, level), .help = "increase output verbosity" },
	{ .kind = OPTION_VALUE, .letter = 'q', .name = "quiet", .value = LEVEL_QUIET,
	  .offset = offsetof(struct globals, level), .help = "print only errors" },
	{ .kind = OPTION_CHOICE, .name = "log", .offset = offsetof(struct globals, level),
	  .argument = "LEVEL", .choices = level_names,
	  .help = "where LEVEL is: quiet, default, info, verbose, debug" },
	{ .kind = OPTION_FLAG, .name = "help", .offset = offsetof(struct globals, help) },
	OPTIONS_END
};
