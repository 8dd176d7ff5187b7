/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Usage texts in btrfs's own format, made from the rows of commands.h.
 */
#ifndef CMDS_HELP_H
#define CMDS_HELP_H

#include <stdbool.h>
#include <stdio.h>

#include "cmds/cli/command.h"

/* The whole help of one command; @name is how it was called. */
void help_command(FILE *stream, const char *name, const struct command *command);

/* The commands of a group; with @full the whole help of each. */
void help_listing(FILE *stream, const char *name, const struct group *group, bool full);

/* The same with a usage line above it. */
void help_group(FILE *stream, const char *name, const struct group *group, bool full);

/* Rows as they are printed in a help text. */
void help_options(FILE *stream, const struct option_row *rows);

#endif
