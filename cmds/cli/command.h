/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a command is declared: one struct that the dispatcher, the help, and the
 * listing for completion and manual all read.  No property of a command is declared
 * twice.
 */
#ifndef CMDS_COMMAND_H
#define CMDS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cmds/cli/messages.h"
#include "cmds/cli/options.h"

#define ANY_NUMBER 1024

struct command;

/* One call of a command, as the dispatcher understood it. */
struct run {
	const struct command *command;
	char name[96];		/* the command as help and messages name it */
	bool json;
	bool dry_run;
	int count;		/* arguments that are no options */
	char **words;
	const void *args;	/* the command's own struct, filled from its options */
};

/*
 * @token: its word; @least: letters of it that are needed at least
 * @synopsis: what follows the words; a name in <> also tells completion what
 *	kind of thing goes there
 * @summary: one line; @details: more, wrapped by hand, NULL at the end, or NULL
 * @options: its rows, or NULL; @args_size: the struct they are stored in
 * @min_words, @max_words: arguments that are no options
 */
struct command {
	const char *token;
	size_t least;
	const char *synopsis;
	const char *summary;
	const char *const *details;
	const struct option_row *options;
	size_t args_size;
	int min_words;
	int max_words;
	bool new_devices;	/* its <device> is one that no file system has yet */
	int (*run)(const struct run *run);
};

/* A row of a group: a command or a group below. */
struct entry {
	const struct command *command;
	const struct group *group;
	bool shortcut;		/* listed elsewhere under its whole name */
};

struct group {
	const char *token;
	const char *summary;
	const struct entry *entries;	/* up to an empty one */
	const char *details;		/* whole lines below the listing */
};

#endif
