/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy suggest`: proposes settings that suit the devices, as commands
 * to be run by hand.  Reads only; must never apply anything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmds/commands.h"
#include "cmds/handles.h"
#include "cmds/devices.h"
#include "cmds/cli/escape.h"
#include "cmds/filesystem.h"
#include "cmds/settings.h"

enum { PROPOSAL_SETTING, PROPOSAL_ID, PROPOSAL_PATH, PROPOSAL_OLD, PROPOSAL_NEW, PROPOSAL_REASON,
	PROPOSAL_COLUMNS };

static const struct column proposal_columns[] = {
	[PROPOSAL_SETTING] = { "setting", NULL, 0 },
	[PROPOSAL_ID] = { "devid", NULL, 0 },
	[PROPOSAL_PATH] = { "path", NULL, 0 },
	[PROPOSAL_OLD] = { "old", NULL, 0 },
	[PROPOSAL_NEW] = { "new", NULL, 0 },
	[PROPOSAL_REASON] = { "reason", NULL, 0 },
};

enum { CAPACITY_KIND, CAPACITY_PROFILE, CAPACITY_BEFORE, CAPACITY_AFTER, CAPACITY_FIRST,
	CAPACITY_COLUMNS };

static const struct column capacity_columns[] = {
	[CAPACITY_KIND] = { "kind", "At most", 0 },
	[CAPACITY_PROFILE] = { "profile", "Profile", 0 },
	[CAPACITY_BEFORE] = { "before", "Now", COLUMN_RIGHT },
	[CAPACITY_AFTER] = { "after", "Then", COLUMN_RIGHT },
	[CAPACITY_FIRST] = { "first-choice", "On first choice", COLUMN_RIGHT },
};

enum { MISMATCH_KIND, MISMATCH_PROFILE, MISMATCH_NEEDS, MISMATCH_LEFT, MISMATCH_COLUMNS };

static const struct column mismatch_columns[] = {
	[MISMATCH_KIND] = { "kind", NULL, 0 },
	[MISMATCH_PROFILE] = { "profile", NULL, 0 },
	[MISMATCH_NEEDS] = { "needs", NULL, 0 },
	[MISMATCH_LEFT] = { "left", NULL, 0 },
};

/* ---- Commands ----------------------------------------------------------- */

/* Adds @line, which it takes over, to a list of texts that ends with NULL. */
static void add_line(char ***lines, char *line)
{
	size_t count = 0;

	while (*lines && (*lines)[count])
		count++;
	*lines = xrealloc(*lines, count + 2, sizeof(**lines));
	(*lines)[count] = line;
	(*lines)[count + 1] = NULL;
}

static bool is_role(const struct btrfs_policy_change *row)
{
	return row->devid != 0;
}

/* All devices that are to have one role, in one command: then they get it in one step. */
static void add_tag(char ***commands, const struct btrfs_policy_suggestion *suggestion,
		    const char *role, const char *path)
{
	const struct btrfs_policy_change *row;
	char *line = xasprintf("btrfs device policy tag %s", role);

	for (size_t i = 0; (row = btrfs_policy_suggestion_proposal(suggestion, i)); i++) {
		char *longer;

		if (!is_role(row) || strcmp(row->new_value, role))
			continue;
		longer = xasprintf("%s %" PRIu64, line, row->devid);
		free(line);
		line = longer;
	}
	add_line(commands, xasprintf("%s %s", line, path));
	free(line);
}

/* The value proposed for a setting of the file system, or NULL. */
static const char *proposed(const struct btrfs_policy_suggestion *suggestion, const char *setting)
{
	const struct btrfs_policy_change *row;

	for (size_t i = 0; (row = btrfs_policy_suggestion_proposal(suggestion, i)); i++)
		if (strcmp(row->setting->name, setting) == 0)
			return row->new_value;
	return NULL;
}

static void add_set(char ***commands, struct btrfs_policy_fs *fs,
		    const struct btrfs_policy_suggestion *suggestion, const char *path)
{
	const char *policy = proposed(suggestion, "read-policy");
	const struct btrfs_policy_change *row;
	_cleanup_free_ char *now = NULL;
	bool any = false;
	char *line;

	if (!policy && btrfs_policy_setting_get(fs, "read-policy", 0, &now))
		return;
	line = xasprintf("btrfs device policy set %s", policy ? policy : now);
	for (size_t i = 0; (row = btrfs_policy_suggestion_proposal(suggestion, i)); i++) {
		_cleanup_free_ char *word = NULL;
		char *longer;

		any |= !is_role(row);
		if (is_role(row) || strcmp(row->setting->name, "read-policy") == 0)
			continue;
		word = setting_word(row->setting, row->new_value);
		longer = xasprintf("%s --%s %s", line, row->setting->name, word);
		free(line);
		line = longer;
	}
	if (any)
		add_line(commands, xasprintf("%s --save %s", line, path));
	free(line);
}

/* ---- Text --------------------------------------------------------------- */

static void print_proposals(const struct btrfs_policy_suggestion *suggestion,
			    const struct units *units)
{
	const struct btrfs_policy_change *row;

	for (size_t i = 0; (row = btrfs_policy_suggestion_proposal(suggestion, i)); i++) {
		_cleanup_free_ char *device = row->devid ? device_name(row->devid, row->path) :
							   xstrdup("");
		_cleanup_free_ char *shown = xcheck(escape_text(device));
		_cleanup_free_ char *old = setting_shown(row->setting, row->old_value, units);
		_cleanup_free_ char *new = setting_shown(row->setting, row->new_value, units);

		printf("%s%s%s: %s -> %s\n    %s\n", row->setting->title, *shown ? " of " : "",
		       shown, old, new, row->reason);
	}
}

static struct records *read_capacities(const struct btrfs_policy_suggestion *suggestion)
{
	struct records *records = records_new(capacity_columns, CAPACITY_COLUMNS);
	const struct btrfs_policy_capacity *row;

	for (size_t i = 0; (row = btrfs_policy_suggestion_capacity(suggestion, i)); i++) {
		struct cell *record = records_add(records);

		record_set_text(record, CAPACITY_KIND, btrfs_policy_kind_name(row->kind));
		record_set_text(record, CAPACITY_PROFILE, row->profile);
		record_set_size(record, CAPACITY_BEFORE, row->before);
		record_set_size(record, CAPACITY_AFTER, row->after);
		record_set_size(record, CAPACITY_FIRST, row->first_choice);
	}
	return records;
}

static void print_effects(const struct btrfs_policy_suggestion *suggestion,
			  const struct units *units)
{
	_cleanup_(records) struct records *capacities = read_capacities(suggestion);
	const struct btrfs_policy_mismatch *row;
	char count[UNITS_TEXT], size[UNITS_TEXT];
	uint64_t chunks, bytes;

	putchar('\n');
	records_print_table(capacities, units);
	putchar('\n');
	for (size_t i = 0; (row = btrfs_policy_suggestion_mismatch(suggestion, i)); i++)
		printf("No longer possible: %s,%s needs %u devices, %u would be left\n",
		       btrfs_policy_kind_name(row->kind), row->profile, row->needs, row->left);
	btrfs_policy_suggestion_moves(suggestion, &chunks, &bytes);
	if (chunks)
		printf("To be moved afterwards: %s, %s\n", units_count(chunks, "chunk", count),
		       units_format(bytes, units, size));
}

static void print_text(const struct btrfs_policy_fs *fs,
		       const struct btrfs_policy_suggestion *suggestion,
		       char *const *commands, const struct units *units)
{
	const char *text;

	filesystem_print_heading(fs);
	for (size_t i = 0; (text = btrfs_policy_suggestion_note(suggestion, i)); i++)
		printf("%s\n", text);
	if (!commands) {
		printf("Nothing to change\n");
		return;
	}
	putchar('\n');
	print_proposals(suggestion, units);
	print_effects(suggestion, units);
	printf("\nCommands, none of which has been run:\n");
	for (int i = 0; commands && commands[i]; i++) {
		_cleanup_free_ char *shown = xcheck(escape_text(commands[i]));

		printf("    %s\n", shown);
	}
}

/* ---- JSON --------------------------------------------------------------- */

static json_object *proposals_json(const struct btrfs_policy_suggestion *suggestion)
{
	_cleanup_(records) struct records *records = records_new(proposal_columns,
								 PROPOSAL_COLUMNS);
	const struct btrfs_policy_change *row;

	for (size_t i = 0; (row = btrfs_policy_suggestion_proposal(suggestion, i)); i++) {
		struct cell *record = records_add(records);

		record_set_text(record, PROPOSAL_SETTING, row->setting->name);
		if (row->devid)
			record_set_number(record, PROPOSAL_ID, row->devid);
		record_set_text(record, PROPOSAL_PATH, row->path);
		record_set_value(record, PROPOSAL_OLD, row->old_value);
		record_set_value(record, PROPOSAL_NEW, row->new_value);
		record_set_text(record, PROPOSAL_REASON, row->reason);
	}
	return records_json_array(records);
}

static json_object *mismatches_json(const struct btrfs_policy_suggestion *suggestion)
{
	_cleanup_(records) struct records *records = records_new(mismatch_columns, MISMATCH_COLUMNS);
	const struct btrfs_policy_mismatch *row;

	for (size_t i = 0; (row = btrfs_policy_suggestion_mismatch(suggestion, i)); i++) {
		struct cell *record = records_add(records);

		record_set_text(record, MISMATCH_KIND, btrfs_policy_kind_name(row->kind));
		record_set_text(record, MISMATCH_PROFILE, row->profile);
		record_set_number(record, MISMATCH_NEEDS, row->needs);
		record_set_number(record, MISMATCH_LEFT, row->left);
	}
	return records_json_array(records);
}

static void add_text(json_object *array, const char *text)
{
	_cleanup_free_ char *clean = xcheck(escape_utf8(text));

	json_object_array_add(array, json_object_new_string(clean));
}

static void print_json(const struct btrfs_policy_fs *fs,
		       const struct btrfs_policy_suggestion *suggestion,
		       char *const *commands)
{
	_cleanup_(records) struct records *capacities = read_capacities(suggestion);
	json_object *object = filesystem_json(fs), *moves = json_object_new_object();
	json_object *notes = json_object_new_array(), *lines = json_object_new_array();
	const char *text;
	uint64_t chunks, bytes;

	for (size_t i = 0; (text = btrfs_policy_suggestion_note(suggestion, i)); i++)
		add_text(notes, text);
	for (int i = 0; commands && commands[i]; i++)
		add_text(lines, commands[i]);

	btrfs_policy_suggestion_moves(suggestion, &chunks, &bytes);
	json_object_object_add(moves, "chunks", json_object_new_uint64(chunks));
	json_object_object_add(moves, "bytes", json_object_new_uint64(bytes));
	json_object_object_add(object, "enforced",
			       json_object_new_boolean(btrfs_policy_enforced(fs, NULL)));
	json_object_object_add(object, "notes", notes);
	json_object_object_add(object, "proposals", proposals_json(suggestion));
	json_object_object_add(object, "capacity", records_json_array(capacities));
	json_object_object_add(object, "misfits", mismatches_json(suggestion));
	json_object_object_add(object, "moves", moves);
	json_object_object_add(object, "commands", lines);
	json_print_document("device-policy-suggest", object);
}

/* ---- The command -------------------------------------------------------- */

static int cmd_device_policy_suggest(const struct run *run)
{
	_cleanup_(suggestion) struct btrfs_policy_suggestion *suggestion = NULL;
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	_cleanup_(strv) char **commands = NULL;
	_cleanup_free_ char *path = NULL;
	uint64_t chunks, bytes;
	int ret, status = filesystem_open(run->words[0], &fs);

	if (status)
		return status;
	ret = btrfs_policy_suggest(fs, &suggestion);
	if (ret)
		return filesystem_failed(fs, ret);
	path = xcheck(escape_shell(btrfs_policy_fs_info(fs)->mount_point));
	if (proposed(suggestion, "role"))
		add_tag(&commands, suggestion, proposed(suggestion, "role"), path);
	/* A kernel that ignores roles refuses to balance by them. */
	btrfs_policy_suggestion_moves(suggestion, &chunks, &bytes);
	if (chunks && btrfs_policy_enforced(fs, NULL))
		add_line(&commands, xasprintf("btrfs balance --preferred-metadata %s", path));
	add_set(&commands, fs, suggestion, path);
	if (run->json)
		print_json(fs, suggestion, commands);
	else
		print_text(fs, suggestion, commands, run->args);
	return STATUS_OK;
}

static const struct option_row suggest_options[] = {
	OPTION_UNIT_ROWS(0),
	OPTIONS_END
};

static const char *const suggest_details[] = {
	"Propose roles and settings from the properties of the devices. Shows the",
	"reason for each, the capacity of the array before and after, and profiles",
	"that would no longer find enough devices. Prints the commands to run and",
	"runs none of them. Roles that have been set are kept.",
	NULL
};

const struct command device_policy_suggest_command = {
	.token = "suggest",
	.synopsis = "[options] [<path>]",
	.summary = "Propose roles and a read policy that suit the devices",
	.details = suggest_details,
	.options = suggest_options,
	.args_size = sizeof(struct units),
	.max_words = 1,
	.run = cmd_device_policy_suggest,
};
