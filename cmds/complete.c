/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What could be typed next, for the shells: the tables of commands, options and
 * settings, walked in the way the dispatcher walks them.  Has no list of words of
 * its own and prints nothing but candidates, so the scripts in share/completion
 * hold for commands that do not exist yet.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmds/handles.h"
#include "cmds/cli/dispatch.h"
#include "cmds/cli/escape.h"
#include "cmds/program.h"

/* A line that is no word but says that the shell's own names of files fit too. */
#define ALSO_DIRECTORIES ":directories"
#define ALSO_FILES ":files"

/* Without it `balance start` is btrfs's own. */
#define PREFERRED "--preferred-metadata"

enum { ALL_OURS = 0, SOME_OURS = 1 };

/* Words go out as one would type them: what needs quotes is left out, as a mount point may be a command. */
static void offer(const char *word, const char *help)
{
	_cleanup_free_ char *shown = xcheck(escape_shell(word));

	if (strcmp(shown, word) == 0)
		printf("%s\t%s\n", word, help ? help : "");
}

/* ---- Options ------------------------------------------------------------ */

static void offer_options(const struct option_row *rows)
{
	for (; rows && rows->kind; rows++) {
		_cleanup_free_ char *name = rows->name ? xasprintf("--%s", rows->name) :
							 xasprintf("-%c", rows->letter);

		if (rows->help)
			offer(name, rows->help);
	}
}

/* The option that @word is and whose argument comes next, or NULL. */
static const struct option_row *awaits(const struct option_row *rows, const char *word)
{
	if (word[0] != '-' || !word[1])
		return NULL;
	for (; rows && rows->kind; rows++) {
		bool is_this = strncmp(word, "--", 2) ?
			rows->letter && word[strlen(word) - 1] == rows->letter :
			(rows->name && strcmp(rows->name, word + 2) == 0) ||
			(rows->alias && strcmp(rows->alias, word + 2) == 0);

		if (is_this)
			return option_has_argument(rows) ? rows : NULL;
	}
	return NULL;
}

static void offer_argument(const struct option_row *row)
{
	if (row->choices)
		for (int i = 0; row->choices[i]; i++)
			offer(row->choices[i], NULL);
	else if (strchr(row->argument, '|')) {
		_cleanup_free_ char *words = xstrdup(row->argument);
		char *rest = words, *word;

		while ((word = strsep(&rest, "|")))
			offer(word, NULL);
	}
}

/* ---- Words that are no options ------------------------------------------ */

/* NULL if they cannot be found; completion must not print errors. */
static char **find_mounts(void)
{
	_cleanup_(fs) struct btrfs_policy_fs *fs = xcheck(btrfs_policy_fs_new());
	char **mounts = NULL;

	return btrfs_policy_mounts(fs, &mounts) ? NULL : mounts;
}

static void offer_paths(void)
{
	_cleanup_(strv) char **mounts = find_mounts();

	for (char **mount = mounts; mount && *mount; mount++)
		offer(*mount, "mounted btrfs");
	puts(ALSO_DIRECTORIES);
}

/* The kernel accepts the same values for all file systems: use the first. */
static void offer_policies(void)
{
	_cleanup_(fs) struct btrfs_policy_fs *fs = xcheck(btrfs_policy_fs_new());
	_cleanup_(strv) char **mounts = find_mounts(), **values = NULL;

	if (!mounts || !mounts[0] || btrfs_policy_fs_open(fs, mounts[0]) ||
	    btrfs_policy_setting_values(fs, "read-policy", &values))
		return;
	for (char **value = values; *value; value++)
		offer(*value, NULL);
}

static void offer_devices(void)
{
	_cleanup_(strv) char **mounts = find_mounts();

	offer("rotational", "all hard disks");
	offer("nonrotational", "all other devices");
	for (char **mount = mounts; mount && *mount; mount++) {
		_cleanup_(fs) struct btrfs_policy_fs *fs = xcheck(btrfs_policy_fs_new());

		if (btrfs_policy_fs_open(fs, *mount))
			continue;
		for (size_t i = 0; i < btrfs_policy_device_count(fs); i++)
			if (btrfs_policy_device_at(fs, i)->path)
				offer(btrfs_policy_device_at(fs, i)->path, *mount);
	}
	puts(ALSO_FILES);
}

/* Names in <> of the synopses. */
enum { SETTING, ROLE, READ_POLICY, DEVICE, PATH, PLACES };
static const char *const places[] = {
	[SETTING] = "setting", [ROLE] = "role", [READ_POLICY] = "read-policy",
	[DEVICE] = "device", [PATH] = "path",
};

/* Each of them once: @offered has a bit for each that was. */
static void offer_place(const char *name, size_t length, bool new_devices, unsigned int *offered)
{
	const struct btrfs_policy_setting *setting;
	int place = 0;

	while (place < PLACES && (strlen(places[place]) != length ||
				  strncmp(places[place], name, length)))
		place++;
	if (*offered & 1u << place)
		return;
	*offered |= 1u << place;
	switch (place) {
	case SETTING:
		for (size_t i = 0; (setting = btrfs_policy_setting_at(i)); i++)
			offer(setting->name, setting->help);
		break;
	case ROLE:
		for (int role = 0; role < BTRFS_POLICY_ROLE_FOREIGN; role++)
			offer(btrfs_policy_role_name(role), NULL);
		break;
	case READ_POLICY:
		offer_policies();
		break;
	case DEVICE:
		if (new_devices)
			puts(ALSO_FILES);
		else
			offer_devices();
		break;
	case PATH:
		offer_paths();
		break;
	}
}

/*
 * A place in [] may be left out, and one before ... may be filled more than once; then
 * the next fits as well.
 */
static void offer_position(const struct command *command, int position)
{
	const char *synopsis = command->synopsis;
	unsigned int offered = 0;
	int depth = 0;

	for (; *synopsis; synopsis++) {
		size_t length = strcspn(synopsis + 1, ">");

		depth += (*synopsis == '[') - (*synopsis == ']');
		if (*synopsis != '<')
			continue;
		if (position <= 0 || strncmp(synopsis + 1 + length, ">...", 4) == 0)
			offer_place(synopsis + 1, length, command->new_devices, &offered);
		if (position <= 0 && !depth)
			return;
		position -= position > 0;
	}
}

/* ---- The walk ----------------------------------------------------------- */

static int complete_command(const struct command *command, bool ours, int count, char **words)
{
	const struct option_row *row = NULL;
	const char *last = words[count - 1];
	int position = 0;

	for (int i = 0; i < count - 1; i++) {
		bool value = row;

		row = value ? NULL : awaits(command->options, words[i]);
		if (!row && !value)
			row = awaits(global_options, words[i]);
		position += !value && words[i][0] != '-';
		ours |= strcmp(words[i], PREFERRED) == 0;
	}
	if (row) {
		offer_argument(row);
		return ALL_OURS;
	}
	if (!ours) {
		offer(PREFERRED, command->summary);
		return SOME_OURS;
	}
	if (last[0] == '-') {
		offer_options(command->options);
		offer_options(global_options);
	} else {
		offer_position(command, position);
	}
	return ALL_OURS;
}

/* The program's own words are ours; below btrfs they are from "policy" on. */
static int complete_group(const struct group *group, bool ours, int count, char **words)
{
	const struct entry *entry;
	int fitting;

	if (count == 1) {
		for (entry = group->entries; entry->command || entry->group; entry++)
			if (ours || !entry->shortcut)
				offer(entry->group ? entry->group->token : entry->command->token,
				      entry->group ? entry->group->summary :
						     entry->command->summary);
		return ours ? ALL_OURS : SOME_OURS;
	}
	entry = entry_find(group, words[0], &fitting);
	if (fitting != 1)
		return ours ? ALL_OURS : SOME_OURS;
	if (entry->group)
		return complete_group(entry->group, ours || strcmp(entry->group->token, "policy") == 0,
				      count - 1, words + 1);
	ours |= strcmp(entry->command->token, "start") != 0;
	return complete_command(entry->command, ours, count - 1, words + 1);
}

int complete(int count, char **words)
{
	const struct option_row *row = NULL;
	bool ours = count && strcmp(words[0], "btrfs") != 0;

	if (count < 2)
		return ALL_OURS;
	for (count--, words++; count > 1 && (row || words[0][0] == '-'); count--, words++)
		row = row ? NULL : awaits(global_options, words[0]);
	if (row)
		offer_argument(row);
	else if (words[0][0] == '-' && count == 1)
		offer_options(global_options);
	else
		return complete_group(&program_group, ours, count, words);
	return ours ? ALL_OURS : SOME_OURS;
}
