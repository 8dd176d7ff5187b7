/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words -> group -> command -> its options -> its function.
 * Refuses words and options that a command does not declare, before it runs.
 */
#include <stdio.h>
#include <string.h>

#include "cmds/cli/cleanup.h"
#include "cmds/cli/dispatch.h"
#include "cmds/cli/help.h"

static const char *entry_token(const struct entry *entry)
{
	return entry->group ? entry->group->token : entry->command->token;
}

static bool entry_matches(const struct entry *entry, const char *word)
{
	size_t least = entry->command ? entry->command->least : 0, len = strlen(word);

	return len && len >= least && strncmp(entry_token(entry), word, len) == 0;
}

const struct entry *entry_find(const struct group *group, const char *word, int *fitting)
{
	const struct entry *found = NULL;

	*fitting = 0;
	for (const struct entry *entry = group->entries; entry->command || entry->group; entry++) {
		/* What a group is short for is no shortcut. */
		if (!entry_matches(entry, word) || (entry->shortcut && found && found->group))
			continue;
		found = entry;
		++*fitting;
		if (strcmp(entry_token(entry), word) == 0) {
			*fitting = 1;
			break;
		}
	}
	return found;
}

static int complain_token(const char *name, const struct group *group, const char *word,
			  int fitting)
{
	usage_error(name, "%s token '%s'", fitting ? "ambiguous" : "unknown", word);
	if (!fitting) {
		help_group(stderr, name, group, false);
		return STATUS_FAILURE;
	}
	fprintf(stderr, "\nDid you mean one of these?\n");
	for (const struct entry *entry = group->entries; entry->command || entry->group; entry++)
		if (entry_matches(entry, word))
			fprintf(stderr, "\t%s\n", entry_token(entry));
	return STATUS_FAILURE;
}

static int check_count(const struct run *run)
{
	const struct command *command = run->command;

	if (run->count >= command->min_words && run->count <= command->max_words)
		return 0;
	if (run->count < command->min_words)
		usage_error(run->name, "not enough arguments: %d but at least %d expected",
			    run->count, command->min_words);
	else
		usage_error(run->name, "too many arguments: %d but at most %d expected",
			    run->count, command->max_words);
	fprintf(stderr, "Try '%s --help' for more information\n", run->name);
	return -1;
}

static int run_command(struct run *run, struct globals *globals, int argc, char **argv)
{
	_cleanup_free_ void *args = xcalloc(1, run->command->args_size);
	const struct option_set sets[] = {
		{ run->command->options, args },
		{ global_options, globals },
		{ NULL, NULL }
	};
	int first;

	if (options_parse(run->name, sets, false, argc, argv, &first)) {
		fprintf(stderr, "Try '%s --help' for more information\n", run->name);
		return STATUS_FAILURE;
	}
	if (globals->help) {
		help_command(stdout, run->name, run->command);
		return STATUS_OK;
	}
	run->count = argc - first;
	run->words = argv + first;
	run->args = args;
	run->json = globals->format == FORMAT_JSON;
	run->dry_run = globals->dry_run;
	messages_set_level(globals->level);
	return check_count(run) ? STATUS_FAILURE : run->command->run(run);
}

int dispatch(const char *name, const struct group *group, struct globals *globals,
	     int count, char **words)
{
	const struct entry *entry;
	struct run run = {};
	int fitting;

	snprintf(run.name, sizeof(run.name), "%s", name);
	for (; count; count--, words++, group = entry->group) {
		size_t len = strlen(run.name);

		if (strcmp(words[0], "--help") == 0) {
			help_group(stdout, run.name, group,
				   count > 1 && strcmp(words[1], "--full") == 0);
			return STATUS_OK;
		}
		entry = entry_find(group, words[0], &fitting);
		if (fitting != 1)
			return complain_token(run.name, group, words[0], fitting);
		snprintf(run.name + len, sizeof(run.name) - len, " %s", entry_token(entry));
		run.command = entry->command;
		if (run.command)
			return run_command(&run, globals, count, words);
	}
	if (globals->format == FORMAT_JSON) {
		usage_error(run.name, "no command given");
		fprintf(stderr, "Try '%s --help' for more information\n", run.name);
		return STATUS_FAILURE;
	}
	help_group(stdout, run.name, group, false);
	return STATUS_FAILURE;
}
