/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening file systems for commands; owns how errors of the library become
 * messages and exit statuses.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "cmds/handles.h"
#include "cmds/cli/escape.h"
#include "cmds/commands.h"
#include "cmds/filesystem.h"
#include "cmds/cli/messages.h"

int filesystem_status(int ret)
{
	switch (ret) {
	case -EOPNOTSUPP:
	case -EBUSY:
	case -EROFS:
		return STATUS_STATE;
	default:
		return ret < 0 ? STATUS_FAILURE : STATUS_OK;
	}
}

int filesystem_failed(const struct btrfs_policy_fs *fs, int ret)
{
	static const char *const options[] = {
		[BTRFS_POLICY_HINT_NONE] = "",
		[BTRFS_POLICY_HINT_FORCE] = ", or use --force",
		[BTRFS_POLICY_HINT_ENQUEUE] = ", or use --enqueue",
	};
	const char *text = btrfs_policy_fs_error(fs);

	error("%s%s", *text ? text : strerror(-ret), options[btrfs_policy_fs_hint(fs)]);
	return filesystem_status(ret);
}

int filesystem_open(const char *target, struct btrfs_policy_fs **fs)
{
	int ret;

	*fs = xcheck(btrfs_policy_fs_new());
	ret = btrfs_policy_fs_open(*fs, target);
	return ret ? filesystem_failed(*fs, ret) : STATUS_OK;
}

int filesystem_open_offline(char *const *paths, int count, struct btrfs_policy_fs **fs)
{
	uint32_t missing;
	int ret;

	*fs = NULL;
	if (!count) {
		error("no device given; name the devices or images of one file system");
		return STATUS_FAILURE;
	}
	*fs = xcheck(btrfs_policy_fs_new());
	ret = btrfs_policy_fs_open_offline(*fs, paths, count);
	if (ret)
		return filesystem_failed(*fs, ret);
	/* The free space of devices that are not named is unknown. */
	missing = btrfs_policy_fs_info(*fs)->missing;
	if (missing)
		warning("%u of %u devices of the file system %s not named; name them too",
			missing, btrfs_policy_fs_info(*fs)->devices, missing == 1 ? "is" : "are");
	return STATUS_OK;
}

bool word_is_device(const char *word)
{
	struct stat st;

	if (btrfs_policy_device_is_word(word))
		return true;
	if (stat(word, &st) == 0)
		return S_ISBLK(st.st_mode);
	return strncmp(word, "/dev/", strlen("/dev/")) == 0;
}

char *filesystem_enforced(const struct btrfs_policy_fs *fs)
{
	const char *why;
	bool enforced = btrfs_policy_enforced(fs, &why);

	return enforced ? xstrdup("yes") : xasprintf("no, %s", why);
}

void filesystem_add_enforced(const struct btrfs_policy_fs *fs, json_object *object)
{
	const char *why;
	bool enforced = btrfs_policy_enforced(fs, &why);

	json_object_object_add(object, "enforced", json_object_new_boolean(enforced));
	json_object_object_add(object, "enforced-reason", json_object_new_string(why));
}

char *filesystem_kernel(const struct btrfs_policy_fs *fs)
{
	const char *module = btrfs_policy_module_version(fs);
	const char *kind = btrfs_policy_kernel_name(fs);
	struct utsname name;

	if (btrfs_policy_fs_info(fs)->offline)
		return xstrdup("not mounted");
	if (uname(&name))
		return xstrdup(kind);
	return xasprintf("%s (%s)%s%s", name.release, kind,
			 module ? ", btrfs.ko " : "", module ? module : "");
}

enum { FS_FSID, FS_LABEL, FS_MOUNT, FS_COLUMNS };

static const struct column fs_columns[] = {
	[FS_FSID] = { "fsid", NULL, 0 },
	[FS_LABEL] = { "label", NULL, 0 },
	[FS_MOUNT] = { "mount-point", NULL, 0 },
};

json_object *filesystem_json(const struct btrfs_policy_fs *fs)
{
	_cleanup_(records) struct records *records = records_new(fs_columns, FS_COLUMNS);
	const struct btrfs_policy_fs_info *info = btrfs_policy_fs_info(fs);
	struct cell *record = records_add(records);

	record_set_text(record, FS_FSID, info->fsid);
	if (*info->label)
		record_set_text(record, FS_LABEL, info->label);
	record_set_text(record, FS_MOUNT, info->mount_point);
	return records_json_object(records, 0);
}

void filesystem_print_heading(const struct btrfs_policy_fs *fs)
{
	const struct btrfs_policy_fs_info *info = btrfs_policy_fs_info(fs);
	_cleanup_free_ char *label = xcheck(escape_text(info->label));

	printf("Label: %s%s%s  uuid: %s\n", *label ? "'" : "none", label, *label ? "'" : "",
	       info->fsid);
}
