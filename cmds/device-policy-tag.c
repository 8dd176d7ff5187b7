/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `btrfs device policy tag`: what devices are meant for.  Roles of all devices
 * named change in one step, or none does.
 */
#include <errno.h>
#include <stdio.h>

#include "cmds/commands.h"
#include "cmds/common/changes.h"
#include "cmds/common/cleanup.h"
#include "cmds/common/escape.h"
#include "cmds/common/filesystem.h"

struct tag_args {
	bool force;
	bool save;
};

struct tag_words {
	const char *role;
	char **devices;
	int count;
	const char *path;
};

static int parse_words(const struct run *run, struct tag_words *words)
{
	enum btrfs_policy_role role;

	words->role = run->words[0];
	words->devices = run->words + 1;
	words->count = run->count - 1;
	if (!word_is_device(run->words[run->count - 1]))
		words->path = words->devices[--words->count];
	if (btrfs_policy_role_parse(words->role, &role)) {
		error("there is no role '%s'; roles are: data-preferred, metadata-preferred, "
		      "data-only, metadata-only", words->role);
		return STATUS_FAILURE;
	}
	if (words->count)
		return STATUS_OK;
	error("no device given to tag as %s on '%s'; name devices by path, by devid, or as "
	      "'rotational' or 'nonrotational'", words->role, words->path);
	return STATUS_FAILURE;
}

/* A device may be meant by more than one word; it is tagged once. */
static bool is_new(const uint64_t *devids, size_t count, uint64_t devid)
{
	for (size_t i = 0; i < count; i++)
		if (devids[i] == devid)
			return false;
	return true;
}

static int select_devices(struct btrfs_policy_fs *fs, const struct tag_words *words,
			  uint64_t **devids, size_t *count)
{
	for (int i = 0; i < words->count; i++) {
		_cleanup_free_ uint64_t *found = NULL;
		size_t found_count;
		int ret = btrfs_policy_device_select(fs, words->devices[i], &found, &found_count);

		if (ret)
			return ret;
		*devids = xrealloc(*devids, *count + found_count, sizeof(**devids));
		for (size_t j = 0; j < found_count; j++)
			if (is_new(*devids, *count, found[j]))
				(*devids)[(*count)++] = found[j];
	}
	return 0;
}

static int build_request(struct btrfs_policy_fs *fs, const struct tag_words *words,
			 struct btrfs_policy_request *request)
{
	_cleanup_free_ uint64_t *devids = NULL;
	size_t count = 0;
	int ret = select_devices(fs, words, &devids, &count);

	for (size_t i = 0; !ret && i < count; i++)
		ret = btrfs_policy_request_add(request, "role", devids[i], words->role);
	return ret;
}

static int cmd_device_policy_tag(const struct run *run)
{
	_cleanup_(request) struct btrfs_policy_request *request = NULL;
	const struct tag_args *args = run->args;
	_cleanup_(fs) struct btrfs_policy_fs *fs = NULL;
	struct tag_words words = {};
	int ret, status = parse_words(run, &words);

	if (status == STATUS_OK)
		status = filesystem_open(words.path, &fs);
	if (status)
		return status;
	request = xcheck(btrfs_policy_request_new());
	ret = build_request(fs, &words, request);
	if (ret)
		return filesystem_failed(fs, ret);
	status = changes_apply(run, fs, request, args->force ? BTRFS_POLICY_FORCE : 0,
			       "device-policy-tag");
	if (status || run->json)
		return status;
	if (args->save)
		say(LEVEL_DEFAULT, "roles are kept on disk by the file system; there is nothing else to save");
	if (!run->dry_run) {
		_cleanup_free_ char *path = xcheck(escape_shell(btrfs_policy_fs_info(fs)->mount_point));

		say(LEVEL_INFO, "new chunks go by this; those that exist stay until 'btrfs "
		    "balance --preferred-metadata %s'", path);
	}
	return status;
}

static const struct option_row tag_options[] = {
	{ .kind = OPTION_FLAG, .name = "force", .offset = offsetof(struct tag_args, force),
	  .help = "tag even if too few devices are left for a profile in use" },
	{ .kind = OPTION_FLAG, .name = "save", .offset = offsetof(struct tag_args, save),
	  .help = "taken for the sake of order: roles are kept on disk without it" },
	OPTIONS_END
};

static const char *const tag_details[] = {
	"Roles are data-preferred (the default), metadata-preferred, data-only and",
	"metadata-only. A <device> is a path, a devid, 'rotational' or",
	"'nonrotational'. The last word is taken as <path> unless it means a device.",
	"Roles are stored on disk and hold for new chunks; the others are moved by",
	"'balance --preferred-metadata'.",
	NULL
};

const struct command device_policy_tag_command = {
	.token = "tag",
	.synopsis = "[options] <role> <device>... [<path>]",
	.summary = "Say what devices are meant for",
	.details = tag_details,
	.options = tag_options,
	.args_size = sizeof(struct tag_args),
	.min_words = 2,
	.max_words = ANY_NUMBER,
	.run = cmd_device_policy_tag,
};
