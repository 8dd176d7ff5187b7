/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of words that the program knows, for listings.
 */
#ifndef CMDS_PROGRAM_H
#define CMDS_PROGRAM_H

#include "cmds/commands.h"

extern const struct group program_group;
extern const struct option_row program_options[];

/* Everything that can be typed, as JSON on stdout: for completion, manual and tests. */
void dump_commands(void);

/*
 * Prints the candidates for the last of @words, one a line with its help after a tab;
 * the first of @words is the program's name.  Returns 0 if the list is complete, 1 if
 * btrfs has words of its own there.
 */
int complete(int count, char **words);

#endif
