/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy tag`: sets the roles of devices, all in one step or none, and
 * shows the capacity afterwards.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmds/commands.h"
#include "cmds/changes.h"
#include "cmds/handles.h"
#include "cmds/cli/escape.h"
#include "cmds/devices.h"
#include "cmds/filesystem.h"
#include "cmds/outlook.h"

struct tag_args {
	bool force;
	bool offline;
	bool save;
};

/* A role and the words for its devices. */
struct tag_group {
	enum btrfs_policy_role role;
	char **devices;
	int count;
};

/* A role begins a group.  The last word is the path unless it means a device. */
static int parse_words(const struct run *run, struct tag_group *groups, int *count,
		       const char **path)
{
	struct tag_group *group = groups - 1;
	enum btrfs_policy_role role;

	for (int i = 0; i < run->count; i++) {
		char **word = &run->words[i];

		if (btrfs_policy_role_parse(*word, &role) == 0)
			*++group = (struct tag_group){ .role = role, .devices = word + 1 };
		else if (i == 0)
			return no_role(*word);
		else if (i == run->count - 1 && !word_is_device(*word))
			*path = *word;
		else
			group->count++;
	}
	*count = group - groups + 1;
	for (group = groups; group < groups + *count; group++) {
		if (group->count)
			continue;
		error("no device given to tag as %s%s%s%s; name devices by path, by devid, or as "
		      "'rotational' or 'nonrotational'", btrfs_policy_role_name(group->role),
		      *path ? " on '" : "", *path ? *path : "", *path ? "'" : "");
		return STATUS_FAILURE;
	}
	return STATUS_OK;
}

/* The request, and the same in the words of btrfs_policy_placement_assume(). */
static int add_group(struct btrfs_policy_fs *fs, const struct tag_group *group,
		     struct btrfs_policy_request *request, char **assume)
{
	const char *role = btrfs_policy_role_name(group->role);
	_cleanup_free_ uint64_t *devids = NULL;
	size_t count = 0;
	int ret = devices_select(fs, group->devices, group->count, &devids, &count);

	for (size_t i = 0; !ret && i < count; i++) {
		char *longer = xasprintf("%s%s%s=%" PRIu64, *assume ? *assume : "",
					 *assume ? "," : "", role, devids[i]);

		free(*assume);
		*assume = longer;
		ret = btrfs_policy_request_add(request, "role", devids[i], role);
	}
	return ret;
}

/*
 * The capacity afterwards, and the reason why misplaced chunks cannot be moved, or NULL.
 * Not for mixed block groups, which ignore roles.
 */
static int predict_outlook(struct btrfs_policy_fs *fs, const char *assume,
			   struct btrfs_policy_outlook *outlook, char **blocked)
{
	_cleanup_(placement) struct btrfs_policy_placement *placement = NULL;
	int ret;

	if (btrfs_policy_fs_info(fs)->mixed)
		return 0;
	ret = btrfs_policy_placement_read(fs, &placement);
	if (!ret)
		ret = btrfs_policy_placement_assume(fs, placement, assume);
	if (!ret)
		ret = outlook_blocked(fs, placement, blocked);
	return ret ? ret : btrfs_policy_placement_outlook(fs, placement, true, outlook);
}

static void print_after(const struct run *run, const struct btrfs_policy_fs *fs,
			const struct btrfs_policy_outlook *outlook, bool blocked)
{
	const struct tag_args *args = run->args;
	const struct btrfs_policy_fs_info *info = btrfs_policy_fs_info(fs);
	_cleanup_free_ char *path = xcheck(escape_shell(info->mount_point ? info->mount_point : info->fsid));

	if (outlook)
		outlook_print(outlook, run->dry_run);
	if (args->save)
		say(LEVEL_DEFAULT, "roles are stored on disk by the file system; no other setting needs saving");
	if (!run->dry_run && !blocked)
		say(LEVEL_INFO, "new chunks go by this; those that exist stay until 'btrfs "
		    "balance --preferred-metadata %s'", path);
}

static int print_changes(const struct run *run, struct btrfs_policy_fs *fs,
			 const struct btrfs_policy_changes *changes,
			 const struct btrfs_policy_outlook *outlook, const char *blocked)
{
	json_object *object;

	if (run->json) {
		object = changes_json(run, fs, changes, false);
		json_object_object_add(object, "outlook", outlook ? outlook_json(outlook) : NULL);
		json_print_document("device-policy-tag", object);
	} else {
		changes_print(run, changes);
		print_after(run, fs, outlook, blocked);
	}
	if (blocked)
		warning("misplaced chunks %s: %s", run->dry_run ? "could not be moved" :
			"stay where they are", blocked);
	if (outlook)
		outlook_warn(outlook, run->dry_run);
	return STATUS_OK;
}

/* The outlook is computed first: if that fails, no role is changed. */
static int tag(const struct run *run, struct btrfs_policy_fs *fs, const struct tag_group *groups,
	       int group_count)
{
	_cleanup_(request) struct btrfs_policy_request *request =
		xcheck(btrfs_policy_request_new());
	_cleanup_(changes) struct btrfs_policy_changes *changes = NULL;
	const struct tag_args *args = run->args;
	unsigned int flags = (args->force ? BTRFS_POLICY_FORCE : 0) |
			     (run->dry_run ? BTRFS_POLICY_DRY_RUN : 0);
	struct btrfs_policy_outlook outlook = {};
	_cleanup_free_ char *assume = NULL, *blocked = NULL;
	int ret = 0;

	for (int i = 0; !ret && i < group_count; i++)
		ret = add_group(fs, &groups[i], request, &assume);
	if (!ret)
		ret = btrfs_policy_apply(fs, request, flags | BTRFS_POLICY_DRY_RUN, &changes);
	if (!ret)
		ret = predict_outlook(fs, assume, &outlook, &blocked);
	if (!ret && !run->dry_run) {
		btrfs_policy_changes_free(changes);
		changes = NULL;
		ret = btrfs_policy_apply(fs, request, flags, &changes);
	}
	if (ret)
		return filesystem_failed(fs, ret);
	return print_changes(run, fs, changes, outlook.data_profile ? &outlook : NULL, blocked);
}

/* By the path, or the first device that is named by its own. */
static int open_unmounted(const struct run *run, const char *path,
			  struct btrfs_policy_fs **fs)
{
	char *target = (char *)path;
	int status, ret;

	for (int i = 0; !target && i < run->count; i++)
		if (*run->words[i] == '/')
			target = run->words[i];
	if (run->dry_run)
		error("--offline mounts the file system, so it takes no --dry-run; "
		      "'usage --offline --assume' shows the effect of roles");
	else if (!target)
		error("no file system given; name a device by its path, or the UUID or label last");
	if (run->dry_run || !target)
		return STATUS_FAILURE;
	status = filesystem_open_offline(&target, 1, fs);
	if (status)
		return status;
	ret = btrfs_policy_fs_mount(*fs);
	return ret ? filesystem_failed(*fs, ret) : STATUS_OK;
}

static int cmd_device_policy_tag(const struct run *run)
{
	_cleanup_free_ struct tag_group *groups = xcalloc(run->count, sizeof(*groups));
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	const struct tag_args *args = run->args;
	const char *path = NULL;
	int count = 0, status = parse_words(run, groups, &count, &path);

	if (status == STATUS_OK)
		status = args->offline ? open_unmounted(run, path, &fs) : filesystem_open(path, &fs);
	return status ? status : tag(run, fs, groups, count);
}

static const struct option_row tag_options[] = {
	{ .kind = OPTION_FLAG, .name = "force", .offset = offsetof(struct tag_args, force),
	  .help = "tag even if too few devices are left for a profile in use" },
	{ .kind = OPTION_FLAG, .name = "offline", .offset = offsetof(struct tag_args, offline),
	  .help = "tag a file system that is not mounted, by a mount that no one sees" },
	{ .kind = OPTION_FLAG, .name = "save", .offset = offsetof(struct tag_args, save),
	  .help = "accepted for symmetry with set; has no effect, roles are always "
		  "stored on disk" },
	OPTIONS_END
};

static const char *const tag_details[] = {
	"Roles are data-preferred (the default), metadata-preferred, data-only and",
	"metadata-only. A <device> is a path, a devid, 'rotational' or",
	"'nonrotational'. Several roles may be given, each with its devices; all",
	"change in one step. The last word is <path> unless it names a device. Roles",
	"are stored on disk and apply to new chunks; 'balance --preferred-metadata'",
	"moves existing ones. Prints the capacity afterwards, and warns if metadata",
	"could not grow to ten times its size, or to a tenth of the data that fits.",
	NULL
};

const struct command device_policy_tag_command = {
	.token = "tag",
	.synopsis = "[options] <role> <device>... [<role> <device>...]... [<path>]",
	.summary = "Set the role of devices",
	.details = tag_details,
	.options = tag_options,
	.args_size = sizeof(struct tag_args),
	.min_words = 2,
	.max_words = ANY_NUMBER,
	.run = cmd_device_policy_tag,
};
