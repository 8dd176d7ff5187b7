/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy add`: adds devices that have a role before the first chunk
 * can get there.  The library checks all of them before it touches one.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmds/commands.h"
#include "cmds/handles.h"
#include "cmds/devices.h"
#include "cmds/filesystem.h"
#include "cmds/cli/records.h"

struct add_args {
	bool force;
	bool enqueue;
};

enum { ADD_PATH, ADD_ID, ADD_SIGNATURE, ADD_WIPED, ADD_ADDED, ADD_COLUMNS };

static const struct column add_columns[] = {
	[ADD_PATH] = { "path", NULL, 0 },
	[ADD_ID] = { "devid", NULL, 0 },
	[ADD_SIGNATURE] = { "signature", NULL, 0 },
	[ADD_WIPED] = { "overwritten", NULL, 0 },
	[ADD_ADDED] = { "added", NULL, 0 },
};

static json_object *additions_json(const struct btrfs_policy_additions *additions)
{
	_cleanup_(records) struct records *records = records_new(add_columns, ADD_COLUMNS);
	const struct btrfs_policy_addition *row;

	for (size_t i = 0; (row = btrfs_policy_additions_at(additions, i)); i++) {
		struct cell *record = records_add(records);

		record_set_text(record, ADD_PATH, row->path);
		if (row->devid)
			record_set_number(record, ADD_ID, row->devid);
		record_set_text(record, ADD_SIGNATURE, row->signature);
		record_set_bool(record, ADD_WIPED, row->wiped);
		record_set_bool(record, ADD_ADDED, row->added);
	}
	return records_json_array(records);
}

static void print_json(const struct run *run, const struct btrfs_policy_fs *fs,
		       enum btrfs_policy_role role,
		       const struct btrfs_policy_additions *additions)
{
	json_object *object = filesystem_json(fs);

	json_object_object_add(object, "dry-run", json_object_new_boolean(run->dry_run));
	json_object_object_add(object, "role",
		json_object_new_string(btrfs_policy_role_name(role)));
	json_object_object_add(object, "devices", additions_json(additions));
	json_print_document("device-policy-add", object);
}

static void print_text(const struct run *run, const struct btrfs_policy_additions *additions)
{
	const struct btrfs_policy_addition *row;

	for (size_t i = 0; (row = btrfs_policy_additions_at(additions, i)); i++) {
		const char *role = btrfs_policy_role_name(row->role);
		bool lost = run->dry_run ? row->signature != NULL : row->wiped;

		if (run->dry_run)
			say(LEVEL_DEFAULT, "would add: %s as %s%s%s", row->path, role,
			    lost ? ", overwriting " : "", lost ? row->signature : "");
		else if (row->added)
			say(LEVEL_DEFAULT, "added: %s as device %" PRIu64 ", %s%s%s", row->path,
			    row->devid, role, lost ? ", overwriting " : "",
			    lost ? row->signature : "");
	}
}

static int cmd_device_policy_add(const struct run *run)
{
	const struct add_args *args = run->args;
	unsigned int flags = (args->force ? BTRFS_POLICY_FORCE : 0) |
			     (args->enqueue ? BTRFS_POLICY_ENQUEUE : 0) |
			     (run->dry_run ? BTRFS_POLICY_DRY_RUN : 0);
	_cleanup_(additions) struct btrfs_policy_additions *additions = NULL;
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	char **devices = run->words + 1;
	enum btrfs_policy_role role;
	const char *path = NULL;
	int ret, status, count = run->count - 1;

	if (!word_is_device(run->words[run->count - 1]))
		path = devices[--count];
	if (btrfs_policy_role_parse(run->words[0], &role))
		return no_role(run->words[0]);
	if (!count) {
		error("no device given to add to '%s'; name block devices by path", path);
		return STATUS_FAILURE;
	}
	status = filesystem_open(path, &fs);
	if (status)
		return status;
	ret = btrfs_policy_device_add(fs, devices, count, role, flags, &additions);
	if (ret)
		status = filesystem_failed(fs, ret);
	if (additions && run->json)
		print_json(run, fs, role, additions);
	else if (additions)
		print_text(run, additions);
	return status;
}

static const struct option_row add_options[] = {
	{ .kind = OPTION_FLAG, .letter = 'f', .name = "force",
	  .offset = offsetof(struct add_args, force),
	  .help = "overwrite a file system, partition table or other signature on the "
		  "devices" },
	{ .kind = OPTION_FLAG, .name = "enqueue", .offset = offsetof(struct add_args, enqueue),
	  .help = "wait if there's another exclusive operation running" },
	OPTIONS_END
};

static const char *const add_details[] = {
	"Add block devices like 'btrfs device add', with their role, so that no chunk",
	"of the wrong kind is allocated on them first. All devices are checked before",
	"the first is changed. If a device fails, those added before it stay.",
	"Contents are not discarded. The last word is <path> unless it names a",
	"device. Kernels that ignore roles accept only data-preferred.",
	NULL
};

const struct command device_policy_add_command = {
	.token = "add",
	.synopsis = "[options] <role> <device>... [<path>]",
	.summary = "Add devices with a role",
	.details = add_details,
	.options = add_options,
	.args_size = sizeof(struct add_args),
	.min_words = 2,
	.max_words = ANY_NUMBER,
	.new_devices = true,
	.run = cmd_device_policy_add,
};
