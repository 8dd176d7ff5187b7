/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of words that the program knows, for those who list it.
 */
#ifndef CMDS_PROGRAM_H
#define CMDS_PROGRAM_H

#include "cmds/commands.h"

extern const struct group program_group;
extern const struct option_row program_options[];

/* Everything that can be typed, as JSON on stdout: for completion, manual and tests. */
void dump_commands(void);

/*
 * Prints what could stand in the place of the last of @words, a candidate a line
 * with its help behind a tab; the first is the program's name.  Returns 0 if
 * nothing but these fits there, 1 if btrfs has words there of its own.
 */
int complete(int count, char **words);

#endif
