/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy list`: settings, their values, and the capabilities of this
 * kernel.  Reads only.
 */
#include <stdio.h>

#include "cmds/commands.h"
#include "cmds/handles.h"
#include "cmds/filesystem.h"
#include "cmds/settings.h"

enum { CAPABILITY_NAME, CAPABILITY_AVAILABLE, CAPABILITY_FILE, CAPABILITY_HELP,
	CAPABILITY_ADVICE, CAPABILITY_COLUMNS };

static const struct column capability_columns[] = {
	[CAPABILITY_NAME] = { "name", "Capability", 0 },
	[CAPABILITY_AVAILABLE] = { "available", "Available", 0 },
	[CAPABILITY_FILE] = { "file", NULL, 0 },
	[CAPABILITY_HELP] = { "help", "What for", 0 },
	[CAPABILITY_ADVICE] = { "advice", NULL, 0 },
};

static struct records *capabilities_read(const struct btrfs_policy_fs *fs)
{
	struct records *records = records_new(capability_columns, CAPABILITY_COLUMNS);
	const struct btrfs_policy_capability *row;

	for (size_t i = 0; (row = btrfs_policy_capability_at(fs, i)); i++) {
		struct cell *record = records_add(records);

		record_set_text(record, CAPABILITY_NAME, row->name);
		record_set_bool(record, CAPABILITY_AVAILABLE, row->available);
		record_set_text(record, CAPABILITY_FILE, row->file);
		record_set_text(record, CAPABILITY_HELP, row->help);
		if (!row->available)
			record_set_text(record, CAPABILITY_ADVICE, row->advice);
	}
	return records;
}

static void print_text(const struct btrfs_policy_fs *fs, const struct records *settings,
		       const struct records *capabilities)
{
	_cleanup_free_ char *kernel = filesystem_kernel(fs);
	_cleanup_free_ char *enforced = filesystem_enforced(fs);

	filesystem_print_heading(fs);
	records_print_pair(10, "Kernel", kernel);
	records_print_pair(10, "Enforced", enforced);
	putchar('\n');
	records_print_table(settings, &UNITS_DEFAULT);
	putchar('\n');
	records_print_table(capabilities, &UNITS_DEFAULT);
}

static void print_json(const struct btrfs_policy_fs *fs, const struct records *settings,
		       const struct records *capabilities)
{
	const char *module = btrfs_policy_module_version(fs);
	json_object *object = filesystem_json(fs);

	filesystem_add_enforced(fs, object);
	json_object_object_add(object, "kernel",
			       json_object_new_string(btrfs_policy_kernel_name(fs)));
	json_object_object_add(object, "module-version",
			       module ? json_object_new_string(module) : NULL);
	json_object_object_add(object, "settings", records_json_keyed(settings, SETTING_NAME));
	json_object_object_add(object, "capabilities",
			       records_json_keyed(capabilities, CAPABILITY_NAME));
	json_print_document("device-policy-list", object);
}

static int cmd_device_policy_list(const struct run *run)
{
	_cleanup_(records) struct records *settings = NULL;
	_cleanup_(records) struct records *capabilities = NULL;
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	int status = filesystem_open(run->words[0], &fs);

	if (status)
		return status;
	status = settings_read(fs, true, &settings);
	if (status)
		return status;
	capabilities = capabilities_read(fs);
	if (run->json)
		print_json(fs, settings, capabilities);
	else
		print_text(fs, settings, capabilities);
	return STATUS_OK;
}

static const char *const list_details[] = {
	"List every setting with its value and the values that it accepts, then the",
	"capabilities of the running kernel. A setting that the kernel lacks has no",
	"value.",
	NULL
};

const struct command device_policy_list_command = {
	.token = "list",
	.synopsis = "[<path>]",
	.summary = "List settings, their values, and what the kernel can do",
	.details = list_details,
	.max_words = 1,
	.run = cmd_device_policy_list,
};
