/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Help of commands and groups.  Owns the layout: 80 columns, options in a column
 * of 26 as in btrfs.  Has no text about any command of its own.
 */
#include <string.h>

#include "cmds/cli/cleanup.h"
#include "cmds/cli/globals.h"
#include "cmds/cli/help.h"

#define HELP_WIDTH 80
#define OPTION_COLUMN 30

/* Prints @text from column @column on, going on below it where the line ends. */
static void print_wrapped(FILE *stream, const char *text, int column)
{
	int at = column;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (at > column && at + 1 + len > HELP_WIDTH) {
			fprintf(stream, "\n%*s", column, "");
			at = column;
		}
		at += fprintf(stream, "%s%.*s", at > column ? " " : "", len, text);
		text += len + strspn(text + len, " ");
	}
	fputc('\n', stream);
}

void help_options(FILE *stream, const struct option_row *rows)
{
	for (; rows && rows->kind; rows++) {
		_cleanup_free_ char *letter = NULL, *name = NULL, *alias = NULL, *heading = NULL;
		int width = OPTION_COLUMN - 5;

		if (!rows->help)
			continue;
		letter = rows->letter ? xasprintf("-%c", rows->letter) : xstrdup("");
		name = rows->name ? xasprintf("--%s", rows->name) : xstrdup("");
		alias = rows->alias ? xasprintf("|--%s", rows->alias) : xstrdup("");
		heading = xasprintf("%s%s%s%s%s%s", letter, *letter && *name ? "|" : "", name, alias,
				    rows->argument ? " " : "", rows->argument ? rows->argument : "");
		if ((int)strlen(heading) > width)
			fprintf(stream, "    %s\n%*s", heading, OPTION_COLUMN, "");
		else
			fprintf(stream, "    %-*s ", width, heading);
		print_wrapped(stream, rows->help, OPTION_COLUMN);
	}
}

/* The text after "usage: "; a long synopsis continues below its own beginning. */
static void help_synopsis(FILE *stream, const char *before, const char *name,
			  const struct command *command)
{
	int at = fprintf(stream, "%s%s ", before, name);

	print_wrapped(stream, command->synopsis, at);
}

void help_command(FILE *stream, const char *name, const struct command *command)
{
	help_synopsis(stream, "usage: ", name, command);
	fprintf(stream, "\n    %s\n", command->summary);
	if (command->details)
		fputc('\n', stream);
	for (int i = 0; command->details && command->details[i]; i++)
		fprintf(stream, "%s%s\n", *command->details[i] ? "    " : "", command->details[i]);
	if (command->options)
		fputc('\n', stream);
	help_options(stream, command->options);
	fprintf(stream, "\n    Global options:\n");
	help_options(stream, global_options);
}

static void help_entries(FILE *stream, const char *name, const struct entry *entries, bool full)
{
	for (; entries->command || entries->group; entries++) {
		const char *token = entries->group ? entries->group->token :
						     entries->command->token;
		_cleanup_free_ char *whole = xasprintf("%s %s", name, token);

		if (entries->shortcut)
			continue;
		if (entries->group) {
			help_entries(stream, whole, entries->group->entries, full);
			continue;
		}
		if (full) {
			help_command(stream, whole, entries->command);
			fputc('\n', stream);
			continue;
		}
		help_synopsis(stream, "    ", whole, entries->command);
		fprintf(stream, "        %s\n", entries->command->summary);
	}
}

void help_listing(FILE *stream, const char *name, const struct group *group, bool full)
{
	help_entries(stream, name, group->entries, full);
	fprintf(stream, "%s%s\n%s", full ? "" : "\n", group->summary, group->details);
}

void help_group(FILE *stream, const char *name, const struct group *group, bool full)
{
	fprintf(stream, "usage: %s <command> [<args>]\n\n", name);
	help_listing(stream, name, group, full);
}
