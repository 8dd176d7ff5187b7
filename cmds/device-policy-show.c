/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy show`: policies of file systems and roles of their
 * devices.  Reads only, also without privilege as far as the kernel lets.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmds/commands.h"
#include "cmds/handles.h"
#include "cmds/devices.h"
#include "cmds/filesystem.h"
#include "cmds/settings.h"

struct show_args {
	struct units units;
	bool table;
	bool offline;
};

enum { FS_ENFORCED, FS_ENFORCED_TEXT, FS_REASON, FS_KERNEL, FS_KERNEL_TEXT, FS_READ_ONLY,
	FS_MIXED, FS_MISSING, FS_OPERATION, FS_SAVED, FS_SAVED_IN_FORCE, FS_SAVED_TEXT,
	FS_COLUMNS };

static const struct column fs_columns[] = {
	[FS_ENFORCED] = { "enforced", NULL, 0 },
	[FS_ENFORCED_TEXT] = { NULL, "Enforced", 0 },
	[FS_REASON] = { "enforced-reason", NULL, 0 },
	[FS_KERNEL] = { "kernel", NULL, 0 },
	[FS_KERNEL_TEXT] = { NULL, "Kernel", 0 },
	[FS_READ_ONLY] = { "read-only", "Read-only", 0 },
	[FS_MIXED] = { "mixed", NULL, 0 },
	[FS_MISSING] = { "devices-missing", "Devices missing", 0 },
	[FS_OPERATION] = { "exclusive-operation", "Exclusive operation", COLUMN_HIDE_EMPTY },
	[FS_SAVED] = { "saved", NULL, 0 },
	[FS_SAVED_IN_FORCE] = { "saved-in-force", NULL, 0 },
	[FS_SAVED_TEXT] = { NULL, "Saved", 0 },
};

enum { DEVICE_ID, DEVICE_PATH, DEVICE_UUID, DEVICE_TYPE, DEVICE_ROTATIONAL, DEVICE_MISSING,
	DEVICE_ROLE, DEVICE_IN_FORCE, DEVICE_SIZE, DEVICE_UNALLOCATED, DEVICE_TRANSPORT,
	DEVICE_MODEL, DEVICE_RATE, DEVICE_COLUMNS };

static const struct column device_columns[] = {
	[DEVICE_ID] = { "devid", "Id", COLUMN_RIGHT | COLUMN_NO_BLOCK },
	[DEVICE_PATH] = { "path", "Path", COLUMN_NO_BLOCK },
	[DEVICE_UUID] = { "uuid", NULL, 0 },
	[DEVICE_TYPE] = { NULL, "Type", 0 },
	[DEVICE_ROTATIONAL] = { "rotational", NULL, 0 },
	[DEVICE_MISSING] = { "missing", NULL, 0 },
	[DEVICE_ROLE] = { "role", "Role", 0 },
	[DEVICE_IN_FORCE] = { "role-in-force", NULL, 0 },
	[DEVICE_SIZE] = { "size", "Size", COLUMN_RIGHT },
	[DEVICE_UNALLOCATED] = { "unallocated", "Unallocated", COLUMN_RIGHT },
	[DEVICE_TRANSPORT] = { "transport", "Transport", COLUMN_NO_TABLE | COLUMN_HIDE_EMPTY },
	[DEVICE_MODEL] = { "model", "Model", COLUMN_NO_TABLE | COLUMN_HIDE_EMPTY },
	[DEVICE_RATE] = { "rotation-rate", "Rotation rate", COLUMN_NO_TABLE | COLUMN_HIDE_EMPTY },
};

/* A policy that is saved without a parameter is shown with its default one. */
static bool is_in_force(const struct btrfs_policy_change *change)
{
	size_t length = strlen(change->new_value);

	if (strncmp(change->old_value, change->new_value, length))
		return false;
	return !change->old_value[length] ||
	       (change->old_value[length] == ':' && !strchr(change->new_value, ':'));
}

static void set_saved(struct btrfs_policy_fs *fs, struct cell *record)
{
	_cleanup_(request) struct btrfs_policy_request *request = NULL;
	_cleanup_(changes) struct btrfs_policy_changes *changes = NULL;
	_cleanup_free_ char *path = NULL, *text = NULL;
	int ret = btrfs_policy_saved_read(fs, &request);
	/* Are the saved settings in force? */
	bool in_force = ret == 0 &&
			!btrfs_policy_apply(fs, request,
					    BTRFS_POLICY_DRY_RUN | BTRFS_POLICY_FORCE, &changes);

	for (size_t i = 0; in_force && i < btrfs_policy_changes_count(changes); i++) {
		const struct btrfs_policy_change *change = btrfs_policy_changes_at(changes, i);

		in_force = is_in_force(change);
	}
	if (ret == -ENOENT || btrfs_policy_saved_path(fs, &path)) {
		record_set_text(record, FS_SAVED_TEXT, "no");
		return;
	}
	text = xasprintf("%s%s", path, ret ? ", which cannot be read" :
				 in_force ? "" : ", not in force");
	record_set_text(record, FS_SAVED, path);
	record_set_bool(record, FS_SAVED_IN_FORCE, in_force);
	record_set_text(record, FS_SAVED_TEXT, text);
}

static struct records *read_fs(struct btrfs_policy_fs *fs)
{
	struct records *records = records_new(fs_columns, FS_COLUMNS);
	const struct btrfs_policy_fs_info *info = btrfs_policy_fs_info(fs);
	_cleanup_free_ char *enforced = filesystem_enforced(fs);
	_cleanup_free_ char *kernel = filesystem_kernel(fs);
	struct cell *record = records_add(records);
	_cleanup_free_ char *operation = NULL;
	const char *why;

	record_set_bool(record, FS_ENFORCED, btrfs_policy_enforced(fs, &why));
	record_set_text(record, FS_ENFORCED_TEXT, enforced);
	record_set_text(record, FS_REASON, why);
	record_set_text(record, FS_KERNEL, btrfs_policy_kernel_name(fs));
	record_set_text(record, FS_KERNEL_TEXT, kernel);
	record_set_bool(record, FS_READ_ONLY, info->read_only);
	record_set_bool(record, FS_MIXED, info->mixed);
	record_set_number(record, FS_MISSING, info->missing);
	if (btrfs_policy_exclusive_operation(fs, &operation) == 0)
		record_set_text(record, FS_OPERATION, operation);
	set_saved(fs, record);
	return records;
}

/* While a device is made smaller it has its new size already, and chunks beyond it. */
static uint64_t unallocated(const struct btrfs_policy_device *device)
{
	return device->size > device->allocated ? device->size - device->allocated : 0;
}

static void add_device(struct records *records, const struct btrfs_policy_device *device)
{
	struct cell *record = records_add(records);

	record_set_number(record, DEVICE_ID, device->devid);
	record_set_text(record, DEVICE_PATH, device->path);
	record_set_text(record, DEVICE_UUID, device->uuid);
	record_set_text(record, DEVICE_TYPE, device_type(device));
	record_set_tristate(record, DEVICE_ROTATIONAL, device->rotational);
	record_set_bool(record, DEVICE_MISSING, device->missing);
	record_set_text(record, DEVICE_ROLE, btrfs_policy_role_name(device->role));
	record_set_bool(record, DEVICE_IN_FORCE, device->role_in_force);
	record_set_size(record, DEVICE_SIZE, device->size);
	record_set_size(record, DEVICE_UNALLOCATED, unallocated(device));
	record_set_text(record, DEVICE_TRANSPORT, device->transport);
	record_set_text(record, DEVICE_MODEL, device->model);
	if (device->rotation_rate)
		record_set_number(record, DEVICE_RATE, device->rotation_rate);
}

static void print_json(const struct btrfs_policy_fs *fs, const struct records *summary,
		       const struct records *settings, const struct records *devices,
		       json_object *array)
{
	json_object *object = filesystem_json(fs), *members = records_json_object(summary, 0);

	json_object_object_foreach(members, key, value)
		json_object_object_add(object, key, json_object_get(value));
	json_object_put(members);
	json_object_object_add(object, "settings", records_json_keyed(settings, SETTING_NAME));
	json_object_object_add(object, "devices", records_json_array(devices));
	json_object_array_add(array, object);
}

#define SHOW_WIDTH 33

static void print_text(const struct btrfs_policy_fs *fs, const struct records *summary,
		       const struct records *settings, const struct records *devices,
		       const struct show_args *args)
{
	filesystem_print_heading(fs);
	records_print_block(summary, 0, SHOW_WIDTH, &args->units);
	for (int i = 0; i < records_count(settings); i++) {
		_cleanup_free_ char *name = records_cell_text(settings, i, SETTING_NAME, &args->units);
		_cleanup_free_ char *value = records_cell_text(settings, i, SETTING_SHOWN, &args->units);
		_cleanup_free_ char *title = xstrdup(btrfs_policy_setting_find(name)->title);

		title[0] = toupper((unsigned char)title[0]);
		records_print_pair(SHOW_WIDTH, title, value);
	}
	if (args->table) {
		putchar('\n');
		records_print_table(devices, &args->units);
		return;
	}
	for (int i = 0; i < records_count(devices); i++) {
		const struct btrfs_policy_device *device = btrfs_policy_device_at(fs, i);

		device_print_heading(device->devid, device->path ? device->path : "missing");
		records_print_block(devices, i, SHOW_WIDTH, &args->units);
	}
}

/* Shows one file system, as text or as an element of @array. */
static int show_one(const struct run *run, char *const *words, int count, json_object *array)
{
	const struct show_args *args = run->args;
	_cleanup_(records) struct records *summary = NULL, *settings = NULL, *devices = NULL;
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	int status = args->offline ? filesystem_open_offline(words, count, &fs) :
				     filesystem_open(*words, &fs);

	if (status)
		return status;
	summary = read_fs(fs);
	devices = records_new(device_columns, DEVICE_COLUMNS);
	for (size_t i = 0; i < btrfs_policy_device_count(fs); i++)
		add_device(devices, btrfs_policy_device_at(fs, i));
	status = settings_read(fs, false, &settings);
	if (status)
		return status;
	if (array)
		print_json(fs, summary, settings, devices, array);
	else
		print_text(fs, summary, settings, devices, args);
	return STATUS_OK;
}

static int cmd_device_policy_show(const struct run *run)
{
	json_object *array = run->json ? json_object_new_array() : NULL;
	const struct show_args *args = run->args;
	int worst = STATUS_OK, end = args->offline ? 1 : run->count;

	for (int i = 0; i < end || i == 0; i++) {
		int status;

		if (i && !run->json)
			putchar('\n');
		status = show_one(run, run->words + i, run->count, array);
		worst = status > worst ? status : worst;
	}
	if (run->json)
		json_print_document("device-policy-show", array);
	return worst;
}

static const struct option_row show_options[] = {
	{ .kind = OPTION_FLAG, .letter = 'T', .offset = offsetof(struct show_args, table),
	  .help = "show devices in tabular format" },
	{ .kind = OPTION_FLAG, .name = "offline", .offset = offsetof(struct show_args, offline),
	  .help = "read a file system that is not mounted, from its devices or images" },
	OPTION_UNIT_ROWS(offsetof(struct show_args, units)),
	OPTIONS_END
};

static const char *const show_details[] = {
	"Show whether the running kernel enforces roles, the read policy and its",
	"penalties, and the role of each device. Roles that the kernel ignores are",
	"not shown as in force. <path> may be a mount point, anything below it, a",
	"UUID or a label.",
	"With --offline all paths are devices or images of one file system.",
	NULL
};

const struct command device_policy_show_command = {
	.token = "show",
	.synopsis = "[options] [<path>...]",
	.summary = "Show policies of file systems and roles of their devices",
	.details = show_details,
	.options = show_options,
	.args_size = sizeof(struct show_args),
	.max_words = ANY_NUMBER,
	.run = cmd_device_policy_show,
};
