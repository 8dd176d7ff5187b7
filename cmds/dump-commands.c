/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that can be typed, as JSON: completion is made from it, and the
 * manual and the help are checked against it.
 */
#include "cmds/handles.h"
#include "cmds/cli/globals.h"
#include "cmds/cli/records.h"
#include "cmds/program.h"
#include "btrfs-policy.h"

static void add_text(json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

static json_object *texts_json(const char *const *texts)
{
	json_object *array = json_object_new_array();

	for (; texts && *texts; texts++)
		json_object_array_add(array, json_object_new_string(*texts));
	return array;
}

static json_object *options_json(const struct option_row *rows)
{
	json_object *array = json_object_new_array();

	for (; rows && rows->kind; rows++) {
		const char letter[2] = { rows->letter, '\0' };
		json_object *object;

		if (!rows->help)
			continue;
		object = json_object_new_object();
		add_text(object, "long", rows->name);
		add_text(object, "short", rows->letter ? letter : NULL);
		add_text(object, "alias", rows->alias);
		add_text(object, "argument", rows->argument);
		json_object_object_add(object, "choices", texts_json(rows->choices));
		add_text(object, "help", rows->help);
		json_object_array_add(array, object);
	}
	return array;
}

static void add_entries(json_object *array, const char *before, const struct entry *entries)
{
	for (; entries->command || entries->group; entries++) {
		const char *token = entries->group ? entries->group->token :
						     entries->command->token;
		_cleanup_free_ char *words = xasprintf("%s%s%s", before, *before ? " " : "", token);

		const struct command *command = entries->command;
		json_object *object;

		if (entries->group)
			add_entries(array, words, entries->group->entries);
		if (entries->group || entries->shortcut)
			continue;
		object = json_object_new_object();
		add_text(object, "command", words);
		add_text(object, "synopsis", command->synopsis);
		add_text(object, "summary", command->summary);
		json_object_object_add(object, "details", texts_json(command->details));
		json_object_object_add(object, "options", options_json(command->options));
		json_object_array_add(array, object);
	}
}

static json_object *settings_json(void)
{
	json_object *array = json_object_new_array();
	const struct btrfs_policy_setting *setting;

	for (size_t i = 0; (setting = btrfs_policy_setting_at(i)); i++) {
		json_object *object = json_object_new_object();

		add_text(object, "name", setting->name);
		add_text(object, "scope",
			 setting->scope == BTRFS_POLICY_SCOPE_FS ? "filesystem" : "device");
		add_text(object, "grammar", setting->grammar);
		add_text(object, "help", setting->help);
		json_object_array_add(array, object);
	}
	return array;
}

void dump_commands(void)
{
	json_object *object = json_object_new_object(), *commands = json_object_new_array();
	json_object *roles = json_object_new_array();

	for (int role = 0; role < BTRFS_POLICY_ROLE_FOREIGN; role++)
		json_object_array_add(roles, json_object_new_string(btrfs_policy_role_name(role)));
	add_entries(commands, "", program_group.entries);
	json_object_object_add(object, "global-options", options_json(global_options));
	json_object_object_add(object, "program-options", options_json(program_options));
	json_object_object_add(object, "commands", commands);
	json_object_object_add(object, "settings", settings_json());
	json_object_object_add(object, "roles", roles);
	json_print_document("commands", object);
}
