/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From words to a command: unique prefixes at every level, as in btrfs.
 */
#ifndef CMDS_DISPATCH_H
#define CMDS_DISPATCH_H

#include "cmds/cli/command.h"
#include "cmds/cli/globals.h"

/*
 * The entry of @group that @word means or may be short for; @fitting receives how
 * many there are, and only if it is 1 the entry is meant.
 */
const struct entry *entry_find(const struct group *group, const char *word, int *fitting);

/*
 * Finds the command that @words mean, starting at @group, parses its options and
 * runs it.  @name is the program's; @globals what came before the words.
 * Returns the exit status.
 */
int dispatch(const char *name, const struct group *group, struct globals *globals,
	     int count, char **words);

#endif
