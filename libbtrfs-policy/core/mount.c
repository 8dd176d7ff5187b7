/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the way from what a user names (path, device, UUID, label, nothing) to a mount
 * point of a btrfs.  The mount table itself comes from the backend.
 */
#include <stdio.h>
#include <string.h>

#include "core/handle.h"

void bp_mount_clear(struct bp_mount *mount)
{
	free(mount->target);
	free(mount->fstype);
	memset(mount, 0, sizeof(*mount));
}

void bp_mounts_free(struct bp_mount *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bp_mount_clear(&list[i]);
	free(list);
}

static int not_btrfs(struct btrfs_policy_fs *fs, const char *path, const char *fstype)
{
	return bp_error(fs, -EINVAL,
			"'%s' is not on a btrfs file system but on %s; name the mount point of a btrfs",
			path, fstype);
}

static int target_of_path(struct btrfs_policy_fs *fs, const char *path, char **mount_point)
{
	struct bp_mount mount = {};
	int ret;

	ret = fs->ops->mount_of(fs->backend, path, &mount);
	if (ret == -ENOENT)
		return ret;
	if (ret < 0)
		return bp_failed(fs, ret, "cannot find the file system of '%s'", path);
	if (strcmp(mount.fstype, "btrfs"))
		ret = not_btrfs(fs, path, mount.fstype);
	else
		*mount_point = bp_steal(mount.target);
	bp_mount_clear(&mount);
	return ret;
}

/* What identifies one mounted btrfs. */
struct identity {
	char fsid[BP_FSID_LENGTH];
	char label[BTRFS_LABEL_SIZE + 1];
	bool has_device;	/* the one that was asked for */
};

/* Is the block device with that number one of the file system that is open? */
static int find_device(struct btrfs_policy_fs *fs, const struct btrfs_ioctl_fs_info_args *info,
		       uint64_t number, bool *found)
{
	for (uint64_t devid = 1; !*found && devid <= info->max_id; devid++) {
		struct btrfs_ioctl_dev_info_args args = { .devid = devid };
		uint64_t one;
		int ret = fs->ops->dev_info(fs->backend, &args);

		if (ret == -ENODEV)
			continue;
		if (ret)
			return ret;
		/* A path that is gone is a device that is missing. */
		ret = fs->ops->device_number(fs->backend, (const char *)args.path, &one);
		*found = !ret && one == number;
	}
	return 0;
}

static int identify(struct btrfs_policy_fs *fs, const char *mount_point, uint64_t device,
		    struct identity *id)
{
	struct btrfs_ioctl_fs_info_args args = {};
	int ret;

	memset(id, 0, sizeof(*id));
	ret = fs->ops->open(fs->backend, mount_point);
	if (ret < 0)
		return ret;
	ret = fs->ops->fs_info(fs->backend, &args);
	if (!ret)
		ret = fs->ops->label(fs->backend, id->label, BTRFS_LABEL_SIZE);
	if (!ret && device)
		ret = find_device(fs, &args, device, &id->has_device);
	fs->ops->close(fs->backend);
	bp_uuid_text(args.fsid, id->fsid);
	return ret;
}

/* What to look for: a UUID, a label, a block device, or (none of them) anything. */
struct wanted {
	const char *uuid;
	const char *label;
	uint64_t device;
};

static bool fits(const struct wanted *wanted, const struct identity *id)
{
	if (wanted->device)
		return id->has_device;
	if (!wanted->uuid && !wanted->label)
		return true;
	return (wanted->uuid && !strcasecmp(wanted->uuid, id->fsid)) ||
	       (wanted->label && *wanted->label && !strcmp(wanted->label, id->label));
}

struct search {
	char fsid[BP_FSID_LENGTH]; /* of the first match */
	char *mount_point;
	bool read_only; /* this mount point */
	size_t matches; /* different file systems */
	char names[BP_ERROR_LENGTH / 2];
	int unreadable; /* first error, told only if nothing matched */
};

static void note_match(struct search *found, const char *target, const struct identity *id)
{
	size_t length = strlen(found->names);

	if (found->matches && !strcmp(found->fsid, id->fsid))
		return;
	if (!found->matches)
		memcpy(found->fsid, id->fsid, sizeof(found->fsid));
	snprintf(found->names + length, sizeof(found->names) - length, "%s'%s'",
		 length ? ", " : "", target);
	found->matches++;
}

/* The first of its mount points will do, unless only another can be written to. */
static int note_mount_point(struct search *found, const struct bp_mount *mount,
			    const struct identity *id)
{
	if (found->mount_point &&
	    (!found->read_only || mount->read_only || strcmp(found->fsid, id->fsid)))
		return 0;
	free(found->mount_point);
	found->mount_point = strdup(mount->target);
	found->read_only = mount->read_only;
	return found->mount_point ? 0 : -ENOMEM;
}

static int look_at_mount(struct btrfs_policy_fs *fs, const struct wanted *wanted,
			 struct search *found, const struct bp_mount *mount)
{
	struct identity id;
	int ret;

	ret = identify(fs, mount->target, wanted->device, &id);
	/* Hidden below another mount, or gone since. */
	if (ret == -EINVAL || ret == -ENOENT)
		return 0;
	if (ret) {
		found->unreadable = found->unreadable ? found->unreadable : ret;
		return 0;
	}
	if (!fits(wanted, &id))
		return 0;
	note_match(found, mount->target, &id);
	return note_mount_point(found, mount, &id) ? bp_nomem(fs) : 0;
}

static int search_mounts(struct btrfs_policy_fs *fs, const struct wanted *wanted,
			 struct search *found)
{
	struct bp_mount *list;
	size_t count;
	int ret;

	ret = fs->ops->mounts(fs->backend, &list, &count);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read the mount table");
	for (size_t i = 0; !ret && i < count; i++)
		ret = look_at_mount(fs, wanted, found, &list[i]);
	bp_mounts_free(list, count);
	return ret;
}

static int judge_search(struct btrfs_policy_fs *fs, const struct wanted *wanted,
			const struct search *found, const char *target)
{
	if (found->matches == 1)
		return 0;
	if (found->matches)
		return bp_error(fs, -EINVAL, "%s%s%s %s; name one of: %s", target ? "'" : "",
				target ? target : "no path given", target ? "'" : "",
				target ? "fits more than one file system" :
					 "and more than one btrfs is mounted",
				found->names);
	if (found->unreadable)
		return bp_failed(fs, found->unreadable, "cannot look at the mounted btrfs");
	if (wanted->device)
		return bp_error(fs, -ENOENT,
				"block device '%s' belongs to no mounted btrfs; mount it first",
				target);
	if (target)
		return bp_error(fs, -ENOENT,
				"'%s' is neither a path nor UUID or label of a mounted btrfs; mount it first or name its mount point",
				target);
	return bp_error(fs, -ENOENT, "no path given and no btrfs is mounted");
}

static int target_by_search(struct btrfs_policy_fs *fs, const struct wanted *wanted,
			    const char *target, char **mount_point)
{
	struct search found = {};
	int ret;

	ret = search_mounts(fs, wanted, &found);
	if (!ret)
		ret = judge_search(fs, wanted, &found, target);
	if (ret)
		free(found.mount_point);
	else
		*mount_point = found.mount_point;
	return ret;
}

static int target_without_name(struct btrfs_policy_fs *fs, char **mount_point)
{
	const struct wanted anything = {};
	int ret;

	ret = target_of_path(fs, ".", mount_point);
	if (ret == -ENOMEM || !ret)
		return ret;
	return target_by_search(fs, &anything, NULL, mount_point);
}

/* 1 if it is one; the number of a device is never 0. */
static int is_block_device(struct btrfs_policy_fs *fs, const char *target, uint64_t *number)
{
	int ret = fs->ops->device_number(fs->backend, target, number);

	if (ret == -ENOMEM)
		return bp_nomem(fs);
	return !ret && *number;
}

int bp_find_target(struct btrfs_policy_fs *fs, const char *target, char **mount_point)
{
	struct wanted wanted = { .uuid = target, .label = target }, device = {};
	int ret;

	if (!target)
		return target_without_name(fs, mount_point);
	if (!*target)
		return bp_error(fs, -EINVAL, "the path is empty");
	ret = is_block_device(fs, target, &device.device);
	if (ret)
		return ret < 0 ? ret : target_by_search(fs, &device, target, mount_point);
	ret = target_of_path(fs, target, mount_point);
	if (ret != -ENOENT)
		return ret;
	if (strchr(target, '/'))
		return bp_failed(fs, ret, "cannot open '%s'", target);
	if (!strncmp(target, "UUID=", 5))
		wanted = (struct wanted){ .uuid = target + 5 };
	else if (!strncmp(target, "LABEL=", 6))
		wanted = (struct wanted){ .label = target + 6 };
	return target_by_search(fs, &wanted, target, mount_point);
}

/* ---- All of them -------------------------------------------------------- */

struct list {
	char **paths;
	char (*fsids)[BP_FSID_LENGTH];
	size_t count;
};

static bool listed(const struct list *list, const char *fsid)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->fsids[i], fsid))
			return true;
	return false;
}

static int list_mount(struct btrfs_policy_fs *fs, struct list *list, const char *target)
{
	struct identity id;
	int ret = identify(fs, target, 0, &id);

	/* Hidden below another mount, gone since, or in a place where we may not go. */
	if (ret == -EINVAL || ret == -ENOENT || ret == -EACCES)
		return 0;
	if (ret == -ENOMEM)
		return bp_nomem(fs);
	if (ret)
		return bp_failed(fs, ret, "cannot look at the btrfs mounted on '%s'", target);
	if (listed(list, id.fsid))
		return 0;
	memcpy(list->fsids[list->count], id.fsid, sizeof(id.fsid));
	list->paths[list->count] = strdup(target);
	return list->paths[list->count++] ? 0 : bp_nomem(fs);
}

BP_PUBLIC int btrfs_policy_mounts(struct btrfs_policy_fs *fs, char ***paths)
{
	struct list list = {};
	struct bp_mount *mounts;
	size_t count;
	int ret;

	if (fs->open)
		return bp_error(fs, -EINVAL, "the handle has '%s' open already",
				fs->mount_point);
	ret = fs->ops->mounts(fs->backend, &mounts, &count);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read the mount table");
	list.paths = calloc(count + 1, sizeof(*list.paths));
	list.fsids = calloc(count + 1, sizeof(*list.fsids));
	ret = list.paths && list.fsids ? 0 : bp_nomem(fs);
	for (size_t i = 0; !ret && i < count; i++)
		ret = list_mount(fs, &list, mounts[i].target);
	bp_mounts_free(mounts, count);
	free(list.fsids);
	if (ret)
		btrfs_policy_strv_free(list.paths);
	else
		*paths = list.paths;
	return ret;
}
