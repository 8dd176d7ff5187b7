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

enum { VALUE_ID, VALUE_PATH, VALUE_VALUE, VALUE_COLUMNS };

static const struct column value_columns[] = {
	[VALUE_ID] = { "devid", "Id", COLUMN_RIGHT },
	[VALUE_PATH] = { "path", "Path", 0 },
	[VALUE_VALUE] = { "value", "Value", 0 },
};

static int add_value(struct btrfs_policy_fs *fs, const char *setting, uint64_t devid,
		     struct records *records)
{
	const struct btrfs_policy_device *device = btrfs_policy_device_find(fs, devid);
	_cleanup_free_ char *value = NULL;
	struct cell *record;
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

/* Of all devices if @device is NULL and the setting is one of devices. */
static int read_values(struct btrfs_policy_fs *fs, const char *name, const char *device,
		       struct records *records)
{
	const struct btrfs_policy_setting *setting = btrfs_policy_setting_find(name);
	_cleanup_free_ uint64_t *devids = NULL;
	size_t count;
	int ret = 0;

	if (device) {
		ret = btrfs_policy_device_select(fs, device, &devids, &count);
		for (size_t i = 0; !ret && i < count; i++)
			ret = add_value(fs, name, devids[i], records);
		return ret;
	}
	if (!setting || setting->scope == BTRFS_POLICY_SCOPE_FS)
		return add_value(fs, name, 0, records);
	for (size_t i = 0; !ret && i < btrfs_policy_device_count(fs); i++)
		ret = add_value(fs, name, btrfs_policy_device_at(fs, i)->devid, records);
	return ret;
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
	const char *device = NULL, *path = NULL;
	_cleanup_free_ char *value = NULL;
	int ret, status;

	if (run->count == 3 || (run->count == 2 && word_is_device(run->words[1])))
		device = run->words[1];
	if (run->count > 1 + !!device)
		path = run->words[run->count - 1];
	status = filesystem_open(path, &fs);
	if (status)
		return status;
	ret = read_values(fs, run->words[0], device, records);
	if (ret)
		return filesystem_failed(fs, ret);
	if (run->json) {
		print_json(fs, run->words[0], records);
	} else if (records_count(records) == 1) {
		value = records_cell_text(records, 0, VALUE_VALUE, &UNITS_DEFAULT);
		puts(value);
	} else {
		records_print_table(records, &UNITS_DEFAULT);
	}
	return STATUS_OK;
}

static const char *const get_details[] = {
	"Print the value alone, or a table for several devices. A",
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
