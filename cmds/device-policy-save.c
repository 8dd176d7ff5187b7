/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy save` and `restore`: settings that outlive a mount, for
 * one file system or for all that are mounted.  One that fails does not keep the
 * others from their turn.
 */
#include <errno.h>
#include <stdio.h>

#include "cmds/commands.h"
#include "cmds/changes.h"
#include "cmds/handles.h"
#include "cmds/filesystem.h"
#include "cmds/settings.h"

/* A mount of a very large file system takes long; the unit has a limit of its own, a little later. */
#define MOUNT_SECONDS 3600

struct save_args {
	bool all;
	const char *bdi;
};

/* ---- Save --------------------------------------------------------------- */

/* Everything that this kernel has, as it is now. */
static int request_current(struct btrfs_policy_fs *fs, struct btrfs_policy_request *request)
{
	const struct btrfs_policy_setting *setting;

	for (size_t i = 0; (setting = btrfs_policy_setting_at(i)); i++) {
		_cleanup_free_ char *value = NULL;
		int ret;

		if (setting->scope == BTRFS_POLICY_SCOPE_DEVICE)
			continue;
		ret = btrfs_policy_setting_get(fs, setting->name, 0, &value);
		if (!ret)
			ret = btrfs_policy_request_add(request, setting->name, 0, value);
		if (ret && ret != -EOPNOTSUPP)
			return ret;
	}
	return 0;
}

static int save_one(const struct run *run, struct btrfs_policy_fs *fs, json_object *array)
{
	_cleanup_(request) struct btrfs_policy_request *request =
		xcheck(btrfs_policy_request_new());
	_cleanup_(changes) struct btrfs_policy_changes *changes = NULL;
	unsigned int flags = BTRFS_POLICY_SAVE | (run->dry_run ? BTRFS_POLICY_DRY_RUN : 0);
	int ret = request_current(fs, request);

	if (!ret)
		ret = btrfs_policy_apply(fs, request, flags, &changes);
	if (ret)
		return filesystem_failed(fs, ret);
	if (array) {
		json_object_array_add(array, changes_json(run, fs, changes, true));
		return STATUS_OK;
	}
	for (size_t i = 0; i < btrfs_policy_changes_count(changes); i++) {
		const struct btrfs_policy_change *change = btrfs_policy_changes_at(changes, i);
		_cleanup_free_ char *shown = setting_shown(change->setting, change->new_value,
							   &UNITS_DEFAULT);

		say(LEVEL_DEFAULT, "%s: %s", change->setting->title, shown);
	}
	changes_print_saved(run, fs);
	return STATUS_OK;
}

/* ---- Restore ------------------------------------------------------------ */

/* Roles need no file to be kept: they are on disk, and a kernel without them does not show them. */
static int roles_status(struct btrfs_policy_fs *fs)
{
	const char *why;

	if (btrfs_policy_enforced(fs, &why))
		return STATUS_OK;
	for (size_t i = 0; i < btrfs_policy_device_count(fs); i++) {
		enum btrfs_policy_role role = btrfs_policy_device_at(fs, i)->role;

		if (role == BTRFS_POLICY_ROLE_DATA_PREFERRED || role == BTRFS_POLICY_ROLE_UNKNOWN)
			continue;
		warning("the roles of '%s' are not enforced: %s",
			btrfs_policy_fs_info(fs)->mount_point, why);
		return STATUS_STATE;
	}
	return STATUS_OK;
}

static int restore_saved(const struct run *run, struct btrfs_policy_fs *fs, json_object *array)
{
	_cleanup_(request) struct btrfs_policy_request *request = NULL;
	_cleanup_(changes) struct btrfs_policy_changes *changes = NULL;
	_cleanup_free_ char *why = NULL, *path = NULL;
	const struct save_args *args = run->args;
	int ret = btrfs_policy_saved_read(fs, &request);

	if (ret == -ENOENT && array)
		json_object_array_add(array, changes_json(run, fs, NULL, false));
	else if (ret == -ENOENT)
		say(args->all || args->bdi ? LEVEL_INFO : LEVEL_DEFAULT, "%s",
		    btrfs_policy_fs_error(fs));
	if (ret)
		return ret == -ENOENT ? STATUS_OK : filesystem_failed(fs, ret);
	/* Who saved them has been asked. */
	ret = btrfs_policy_apply(fs, request,
				 BTRFS_POLICY_FORCE | (run->dry_run ? BTRFS_POLICY_DRY_RUN : 0), &changes);
	if (ret) {
		why = xstrdup(btrfs_policy_fs_error(fs));
		btrfs_policy_saved_path(fs, &path);
		error("cannot restore the settings of '%s' saved in '%s': %s",
		      btrfs_policy_fs_info(fs)->mount_point, path ? path : "", why);
		return filesystem_status(ret);
	}
	if (array)
		json_object_array_add(array, changes_json(run, fs, changes, true));
	else
		changes_print(run, changes);
	return STATUS_OK;
}

static int restore_one(const struct run *run, struct btrfs_policy_fs *fs, json_object *array)
{
	int saved = restore_saved(run, fs, array), roles = roles_status(fs);

	return saved ? saved : roles;
}

/* ---- Which ones --------------------------------------------------------- */

/* @array is NULL or receives the JSON of the file system. */
static int do_one(const struct run *run, struct btrfs_policy_fs *fs, bool restore,
		  json_object *array)
{
	return restore ? restore_one(run, fs, array) : save_one(run, fs, array);
}

static int at_path(const struct run *run, const char *path, bool restore, json_object *array)
{
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	int status = filesystem_open(path, &fs);

	return status ? status : do_one(run, fs, restore, array);
}

static int at_all(const struct run *run, bool restore, json_object *array)
{
	_cleanup_(fs) struct btrfs_policy_fs *fs = xcheck(btrfs_policy_fs_new());
	_cleanup_(strv) char **mounts = NULL;
	int worst = STATUS_OK, ret = btrfs_policy_mounts(fs, &mounts);

	if (ret)
		return filesystem_failed(fs, ret);
	for (char **mount = mounts; *mount; mount++) {
		int status = at_path(run, *mount, restore, array);

		worst = status > worst ? status : worst;
	}
	return worst;
}

/* A mount that failed, has ended, or is in another namespace needs no restore. */
static int at_bdi(const struct run *run, const char *bdi, bool restore, json_object *array)
{
	_cleanup_(fs) struct btrfs_policy_fs *fs = xcheck(btrfs_policy_fs_new());
	int ret = btrfs_policy_fs_open_bdi(fs, bdi, MOUNT_SECONDS);

	if (ret == -ETIMEDOUT) {
		warning("%s, so its settings are not restored; once it is mounted, run 'btrfs device policy restore <path>'",
			btrfs_policy_fs_error(fs));
		return STATUS_OK;
	}
	if (ret == -ENODEV) {
		say(LEVEL_INFO, "%s", btrfs_policy_fs_error(fs));
		return STATUS_OK;
	}
	return ret ? filesystem_failed(fs, ret) : do_one(run, fs, restore, array);
}

static int run_each(const struct run *run, bool restore, const char *name)
{
	json_object *array = run->json ? json_object_new_array() : NULL;
	const struct save_args *args = run->args;
	int status;

	if (args->all + !!args->bdi + run->count > 1) {
		error("more than one target given; name a path or use --all");
		return STATUS_FAILURE;
	}
	if (args->all)
		status = at_all(run, restore, array);
	else if (args->bdi)
		status = at_bdi(run, args->bdi, restore, array);
	else
		status = at_path(run, run->words[0], restore, array);
	if (array && (args->all || json_object_array_length(array)))
		json_print_document(name, array);
	else
		json_object_put(array);
	return status;
}

static int cmd_device_policy_save(const struct run *run)
{
	return run_each(run, false, "device-policy-save");
}

static int cmd_device_policy_restore(const struct run *run)
{
	return run_each(run, true, "device-policy-restore");
}

static const struct option_row save_options[] = {
	{ .kind = OPTION_FLAG, .name = "all", .offset = offsetof(struct save_args, all),
	  .help = "apply to all mounted btrfs file systems" },
	OPTIONS_END
};

static const struct option_row restore_options[] = {
	{ .kind = OPTION_FLAG, .name = "all", .offset = offsetof(struct save_args, all),
	  .help = "apply to all mounted btrfs file systems" },
	{ .kind = OPTION_TEXT, .name = "bdi", .argument = "NAME",
	  .offset = offsetof(struct save_args, bdi),
	  .help = "select the file system with this bdi device once it is mounted; used by the systemd unit" },
	OPTIONS_END
};

static const char *const save_details[] = {
	"Write the read policy, penalties and readahead in force to",
	"/etc/btrfs-policy.d/<FSID>.conf, see btrfs-policy.conf(5). At each mount a",
	"udev rule and a systemd unit restore them; remove the file to stop that.",
	"Roles are stored in the file system.",
	NULL
};

static const char *const restore_details[] = {
	"Set the saved settings of a file system, all or none of them. Without saved",
	"settings the command succeeds and makes no change. The status is 2 if this",
	"kernel lacks a setting, or does not enforce the roles that are on disk. A",
	"udev rule and a systemd unit run this at each mount; the unit then fails.",
	NULL
};

const struct command device_policy_save_command = {
	.token = "save",
	.synopsis = "[options] [<path>]",
	.summary = "Keep settings for the next mounts",
	.details = save_details,
	.options = save_options,
	.args_size = sizeof(struct save_args),
	.max_words = 1,
	.run = cmd_device_policy_save,
};

const struct command device_policy_restore_command = {
	.token = "restore",
	.synopsis = "[options] [<path>]",
	.summary = "Set the saved settings",
	.details = restore_details,
	.options = restore_options,
	.args_size = sizeof(struct save_args),
	.max_words = 1,
	.run = cmd_device_policy_restore,
};
