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

struct add_words {
	enum btrfs_policy_role role;
	char **devices;
	int count;
	const char *path;
};

enum { ADD_PATH, ADD_ID, ADD_SIGNATURE, ADD_WIPED, ADD_ADDED, ADD_COLUMNS };

static const struct column add_columns[] = {
	[ADD_PATH] = { "path", NULL, 0 },
	[ADD_ID] = { "devid", NULL, 0 },
	[ADD_SIGNATURE] = { "signature", NULL, 0 },
	[ADD_WIPED] = { "overwritten", NULL, 0 },
	[ADD_ADDED] = { "added", NULL, 0 },
};

static int parse_words(const struct run *run, struct add_words *words)
{
	words->devices = run->words + 1;
	words->count = run->count - 1;
	if (!word_is_device(run->words[run->count - 1]))
		words->path = words->devices[--words->count];
	if (btrfs_policy_role_parse(run->words[0], &words->role))
		return no_role(run->words[0]);
	if (words->count)
		return STATUS_OK;
	error("no device given to add to '%s'; name block devices by path", words->path);
	return STATUS_FAILURE;
}

static json_object *additions_json(const struct btrfs_policy_additions *additions)
{
	_cleanup_(records) struct records *records = records_new(add_columns, ADD_COLUMNS);
	const struct btrfs_policy_addition *row;

	for (size_t i = 0; (row = btrfs_policy_additions_at(additions, i)); i++) {
		struct record *record = records_add(records);

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
		       const struct add_words *words,
		       const struct btrfs_policy_additions *additions)
{
	json_object *object = filesystem_json(fs);

	json_object_object_add(object, "dry-run", json_object_new_boolean(run->dry_run));
	json_object_object_add(object, "role",
		json_object_new_string(btrfs_policy_role_name(words->role)));
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
	struct add_words words = {};
	int ret, status = parse_words(run, &words);

	if (status == STATUS_OK)
		status = filesystem_open(words.path, &fs);
	if (status)
		return status;
	ret = btrfs_policy_device_add(fs, words.devices, words.count, words.role, flags, &additions);
	if (ret)
		status = filesystem_failed(fs, ret);
	if (additions && run->json)
		print_json(run, fs, &words, additions);
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
	"Adds block devices, as 'btrfs device add' does, with their role: no chunk of",
	"the wrong kind can get there first. All devices are checked before the first",
	"is touched. A device that was added stays if a later one fails. Contents are",
	"not discarded. The last word is taken as <path> unless it means a device. On",
	"kernels that ignore roles data-preferred alone is possible.",
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
