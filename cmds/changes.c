/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line for each change, old -> new, with the value read back from the
 * kernel.  The library makes all changes or none; this file prints its report.
 */
#include <string.h>

#include "cmds/changes.h"
#include "cmds/handles.h"
#include "cmds/devices.h"
#include "cmds/filesystem.h"
#include "cmds/settings.h"

enum { CHANGE_SETTING, CHANGE_ID, CHANGE_PATH, CHANGE_OLD, CHANGE_NEW, CHANGE_CHANGED,
	CHANGE_COLUMNS };

static const struct column change_columns[] = {
	[CHANGE_SETTING] = { "setting", NULL, 0 },
	[CHANGE_ID] = { "devid", NULL, 0 },
	[CHANGE_PATH] = { "path", NULL, 0 },
	[CHANGE_OLD] = { "old", NULL, 0 },
	[CHANGE_NEW] = { "new", NULL, 0 },
	[CHANGE_CHANGED] = { "changed", NULL, 0 },
};

static void print_change(const struct btrfs_policy_change *change, bool dry_run)
{
	_cleanup_free_ char *device = change->devid ?
		device_name(change->devid, change->path) : xstrdup("");
	_cleanup_free_ char *old = setting_shown(change->setting, change->old_value, &UNITS_DEFAULT);
	_cleanup_free_ char *new = setting_shown(change->setting, change->new_value, &UNITS_DEFAULT);
	_cleanup_free_ char *shown = NULL;
	bool same = strcmp(change->old_value, change->new_value) == 0;

	/* Old and new; both in bytes where they would look the same and are not. */
	if (same)
		shown = xasprintf("%s, unchanged", new);
	else if (strcmp(old, new) == 0)
		shown = xasprintf("%s -> %s", change->old_value, change->new_value);
	else
		shown = xasprintf("%s -> %s", old, new);
	say(LEVEL_DEFAULT, "%s%s%s%s: %s", dry_run && !same ? "would set: " : "",
	    change->setting->title, *device ? " of " : "", device, shown);
}

/* NULL for no changes at all. */
json_object *changes_json(const struct run *run, struct btrfs_policy_fs *fs,
			  const struct btrfs_policy_changes *changes, bool saved)
{
	_cleanup_(records) struct records *records = records_new(change_columns, CHANGE_COLUMNS);
	json_object *object = filesystem_json(fs);
	_cleanup_free_ char *path = NULL;

	for (size_t i = 0; changes && i < btrfs_policy_changes_count(changes); i++) {
		const struct btrfs_policy_change *change = btrfs_policy_changes_at(changes, i);
		struct cell *record = records_add(records);

		record_set_text(record, CHANGE_SETTING, change->setting->name);
		if (change->devid)
			record_set_number(record, CHANGE_ID, change->devid);
		record_set_text(record, CHANGE_PATH, change->path);
		record_set_value(record, CHANGE_OLD, change->old_value);
		record_set_value(record, CHANGE_NEW, change->new_value);
		record_set_bool(record, CHANGE_CHANGED,
				strcmp(change->old_value, change->new_value));
	}
	if (saved)
		btrfs_policy_saved_path(fs, &path);
	json_object_object_add(object, "dry-run", json_object_new_boolean(run->dry_run));
	json_object_object_add(object, "saved", path ? json_object_new_string(path) : NULL);
	json_object_object_add(object, "changes", records_json_array(records));
	return object;
}

void changes_print(const struct run *run, const struct btrfs_policy_changes *changes)
{
	for (size_t i = 0; i < btrfs_policy_changes_count(changes); i++)
		print_change(btrfs_policy_changes_at(changes, i), run->dry_run);
}

void changes_print_saved(const struct run *run, struct btrfs_policy_fs *fs)
{
	_cleanup_free_ char *path = NULL;

	if (btrfs_policy_saved_path(fs, &path) == 0)
		say(LEVEL_DEFAULT, "%ssaved in '%s'", run->dry_run ? "would be " : "", path);
}

int changes_apply(const struct run *run, struct btrfs_policy_fs *fs,
		  const struct btrfs_policy_request *request, unsigned int flags,
		  const char *name)
{
	_cleanup_(changes) struct btrfs_policy_changes *changes = NULL;
	bool saved = flags & BTRFS_POLICY_SAVE;
	int ret;

	if (run->dry_run)
		flags |= BTRFS_POLICY_DRY_RUN;
	ret = btrfs_policy_apply(fs, request, flags, &changes);
	if (ret)
		return filesystem_failed(fs, ret);
	if (run->json) {
		json_print_document(name, changes_json(run, fs, changes, saved));
		return STATUS_OK;
	}
	changes_print(run, changes);
	if (saved)
		changes_print_saved(run, fs);
	return STATUS_OK;
}
