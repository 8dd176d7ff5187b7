/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy get`: one setting, bare, for scripts.  Reads only.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmds/commands.h"
#include "cmds/handles.h"
#include "cmds/devices.h"
#include "cmds/cli/escape.h"
#include "cmds/filesystem.h"

struct get_words {
	const char *setting;
	const char *device;	/* NULL: all, if the setting is one of devices */
	const char *path;
};

enum { VALUE_ID, VALUE_PATH, VALUE_VALUE, VALUE_COLUMNS };

static const struct column value_columns[] = {
	[VALUE_ID] = { "devid", "Id", COLUMN_RIGHT },
	[VALUE_PATH] = { "path", "Path", 0 },
	[VALUE_VALUE] = { "value", "Value", 0 },
};

static struct get_words parse_words(const struct run *run)
{
	struct get_words words = { .setting = run->words[0] };

	if (run->count == 3 || (run->count == 2 && word_is_device(run->words[1])))
		words.device = run->words[1];
	if (run->count > 1 + !!words.device)
		words.path = run->words[run->count - 1];
	return words;
}

static int add_value(struct btrfs_policy_fs *fs, const char *setting, uint64_t devid,
		     struct records *records)
{
	const struct btrfs_policy_device *device = btrfs_policy_device_find(fs, devid);
	_cleanup_free_ char *value = NULL;
	struct record *record;
	int ret = btrfs_policy_setting_get(fs, setting, devid, &value);

	if (ret)
		return ret;
	record = records_add(records);
	if (devid)
		record_set_number(record, VALUE_ID, devid);
	if (device)
		record_set_text(record, VALUE_PATH, device->path);
	record_set_value(record, VALUE_VALUE, value);
	return 0;
}

static int add_selected(struct btrfs_policy_fs *fs, const struct get_words *words,
			struct records *records)
{
	_cleanup_free_ uint64_t *devids = NULL;
	size_t count;
	int ret = btrfs_policy_device_select(fs, words->device, &devids, &count);

	for (size_t i = 0; !ret && i < count; i++)
		ret = add_value(fs, words->setting, devids[i], records);
	return ret;
}

static int read_values(struct btrfs_policy_fs *fs, const struct get_words *words,
		       struct records *records)
{
	const struct btrfs_policy_setting *setting = btrfs_policy_setting_find(words->setting);
	int ret = 0;

	if (words->device)
		return add_selected(fs, words, records);
	if (!setting || setting->scope == BTRFS_POLICY_SCOPE_FS)
		return add_value(fs, words->setting, 0, records);
	for (size_t i = 0; !ret && i < btrfs_policy_device_count(fs); i++)
		ret = add_value(fs, words->setting, btrfs_policy_device_at(fs, i)->devid, records);
	return ret;
}

static void print_values(const struct records *records)
{
	if (records_count(records) == 1) {
		_cleanup_free_ char *value =
			records_cell_text(records, 0, VALUE_VALUE, &UNITS_DEFAULT);

		puts(value);
		return;
	}
	records_print_table(records, &UNITS_DEFAULT);
}

static void print_json(const struct btrfs_policy_fs *fs, const char *setting,
		       const struct records *records)
{
	json_object *object = filesystem_json(fs);

	json_object_object_add(object, "setting", json_object_new_string(setting));
	json_object_object_add(object, "values", records_json_array(records));
	json_print_document("device-policy-get", object);
}

static int cmd_device_policy_get(const struct run *run)
{
	_cleanup_(records) struct records *records = records_new(value_columns, VALUE_COLUMNS);
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	struct get_words words = parse_words(run);
	int ret, status = filesystem_open(words.path, &fs);

	if (status)
		return status;
	ret = read_values(fs, &words, records);
	if (ret)
		return filesystem_failed(fs, ret);
	if (run->json)
		print_json(fs, words.setting, records);
	else
		print_values(records);
	return STATUS_OK;
}

static const char *const get_details[] = {
	"Prints the value alone, or a table if it is asked of several devices. A",
	"<device> is a path, a devid, 'rotational' or 'nonrotational'; without one a",
	"setting of devices is shown for all. 'list' names the settings.",
	NULL
};

const struct command device_policy_get_command = {
	.token = "get",
	.synopsis = "<setting> [<device>] [<path>]",
	.summary = "Print the value of one setting",
	.details = get_details,
	.min_words = 1,
	.max_words = 3,
	.run = cmd_device_policy_get,
};
