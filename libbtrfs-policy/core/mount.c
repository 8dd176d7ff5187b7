/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the mount point of a btrfs from the user's word for it (path, device, UUID,
 * label, or none).  The mount table itself comes from the backend.
 */
#include <stdio.h>
#include <string.h>

#include "core/handle.h"

static int target_of_path(struct btrfs_policy_fs *fs, const char *path, char **mount_point)
{
	_cleanup_free_ char *mounted = NULL, *fstype = NULL;
	bool ignores_roles;
	int ret;

	ret = fs->ops->mount_of(fs->backend, path, &mounted, &fstype, &ignores_roles);
	if (ret == -ENOENT)
		return ret;
	if (ret < 0)
		return bp_failed(fs, ret, "cannot find the file system of '%s'", path);
	if (strcmp(fstype, "btrfs"))
		return bp_error(fs, -EINVAL,
				"'%s' is not on a btrfs file system but on %s; name the mount point of a btrfs",
				path, fstype);
	*mount_point = bp_steal(mounted);
	return 0;
}

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

/* Properties that identify one mounted btrfs; @label has BTRFS_LABEL_SIZE + 1 bytes. */
static int identify(struct btrfs_policy_fs *fs, const char *mount_point, uint64_t device,
		    char *fsid, char *label, bool *has_device, bool *read_only)
{
	struct btrfs_ioctl_fs_info_args args = {};
	int ret;

	memset(label, 0, BTRFS_LABEL_SIZE + 1);
	*has_device = false;
	ret = fs->ops->open(fs->backend, mount_point);
	if (ret < 0)
		return ret;
	ret = fs->ops->fs_info(fs->backend, &args);
	if (!ret)
		ret = fs->ops->label(fs->backend, label, BTRFS_LABEL_SIZE);
	if (!ret)
		ret = fs->ops->read_only(fs->backend, read_only);
	if (!ret && device)
		ret = find_device(fs, &args, device, has_device);
	fs->ops->close(fs->backend);
	bp_uuid_text(args.fsid, fsid);
	return ret;
}

/* The search key, a UUID, a label, a block device or none (matches any), and the result. */
struct search {
	const char *uuid;
	const char *label;
	uint64_t device;
	char fsid[BP_FSID_LENGTH]; /* of the first match */
	char *mount_point;
	bool read_only; /* this mount point */
	size_t matches; /* different file systems */
	char names[BP_ERROR_LENGTH / 2];
	int unreadable; /* first error, reported only without a match */
};

static bool matches(const struct search *wanted, const char *fsid, const char *label)
{
	if (!wanted->uuid && !wanted->label)
		return true;
	return (wanted->uuid && !strcasecmp(wanted->uuid, fsid)) ||
	       (wanted->label && *wanted->label && !strcmp(wanted->label, label));
}

/* Hidden below another mount, gone since, or a FIFO or socket of a btrfs that is mounted there. */
static bool is_elsewhere(int ret)
{
	return ret == -EINVAL || ret == -ENOENT || ret == -ENOTTY || ret == -ENXIO;
}

/* In a place where we cannot go, or below a network file system without its server. */
bool bp_is_out_of_reach(int ret)
{
	return ret == -ENOTDIR || ret == -EACCES || ret == -ESTALE || ret == -ENOTCONN;
}

static int probe_mount(struct btrfs_policy_fs *fs, struct search *search,
			 const char *target)
{
	char fsid[BP_FSID_LENGTH], label[BTRFS_LABEL_SIZE + 1];
	size_t length = strlen(search->names);
	bool has_device, read_only;
	int ret;

	ret = identify(fs, target, search->device, fsid, label, &has_device, &read_only);
	if (is_elsewhere(ret))
		return 0;
	if (ret) {
		search->unreadable = search->unreadable ? search->unreadable : ret;
		return 0;
	}
	if (search->device ? !has_device : !matches(search, fsid, label))
		return 0;
	if (!search->matches)
		memcpy(search->fsid, fsid, sizeof(search->fsid));
	if (!search->matches || strcmp(search->fsid, fsid)) {
		snprintf(search->names + length, sizeof(search->names) - length, "%s'%s'",
			 length ? ", " : "", target);
		search->matches++;
	}
	/* The first of its mount points will do, unless only another can be written to. */
	if (search->mount_point &&
	    (!search->read_only || read_only || strcmp(search->fsid, fsid)))
		return 0;
	free(search->mount_point);
	search->mount_point = strdup(target);
	search->read_only = read_only;
	return search->mount_point ? 0 : bp_nomem(fs);
}

static int check_search(struct btrfs_policy_fs *fs, const struct search *found,
			const char *target)
{
	if (found->matches == 1)
		return 0;
	if (found->matches)
		return bp_error(fs, -EINVAL, "%s%s%s %s; name one of: %s", target ? "'" : "",
				target ? target : "no path given", target ? "'" : "",
				target ? "matches more than one file system" :
					 "and more than one btrfs is mounted",
				found->names);
	if (found->unreadable)
		return bp_failed(fs, found->unreadable, "cannot access the mounted btrfs");
	if (found->device)
		return bp_error(fs, -ENOENT,
				"block device '%s' belongs to no mounted btrfs; mount it first",
				target);
	if (target)
		return bp_error(fs, -ENOENT,
				"'%s' is neither a path nor UUID or label of a mounted btrfs; mount it first or name its mount point",
				target);
	return bp_error(fs, -ENOENT, "no path given and no btrfs is mounted; mount one first");
}

static int target_by_search(struct btrfs_policy_fs *fs, struct search *search,
			    const char *target, char **mount_point)
{
	char **mounts;
	int ret;

	ret = fs->ops->mounts(fs->backend, &mounts);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read the mount table");
	for (char **mount = mounts; !ret && *mount; mount++)
		ret = probe_mount(fs, search, *mount);
	btrfs_policy_strv_free(mounts);
	if (!ret)
		ret = check_search(fs, search, target);
	if (ret)
		free(search->mount_point);
	else
		*mount_point = search->mount_point;
	return ret;
}

int bp_find_target(struct btrfs_policy_fs *fs, const char *target, char **mount_point)
{
	struct search search = {};
	int ret;

	if (target && !*target)
		return bp_error(fs, -EINVAL, "the path is empty");
	/* The number of a device is never 0. */
	if (target) {
		ret = fs->ops->device_number(fs->backend, target, &search.device);
		if (ret == -ENOMEM)
			return bp_nomem(fs);
		if (!ret && search.device)
			return target_by_search(fs, &search, target, mount_point);
		search.device = 0;
	}
	ret = target_of_path(fs, target ? target : ".", mount_point);
	if (!ret || ret == -ENOMEM || (target && ret != -ENOENT))
		return ret;
	if (!target)
		return target_by_search(fs, &search, NULL, mount_point);
	if (!strncmp(target, "UUID=", 5))
		search.uuid = target + 5;
	else if (!strncmp(target, "LABEL=", 6))
		search.label = target + 6;
	else if (strchr(target, '/'))
		return bp_failed(fs, ret, "cannot open '%s'", target);
	else
		search.uuid = search.label = target;
	return target_by_search(fs, &search, target, mount_point);
}

/* ---- All of them -------------------------------------------------------- */

/* Adds the mount point of a file system that is not in the list yet; the list is large enough. */
static int list_mount(struct btrfs_policy_fs *fs, char **paths, char (*fsids)[BP_FSID_LENGTH],
		      const char *target)
{
	char fsid[BP_FSID_LENGTH], label[BTRFS_LABEL_SIZE + 1];
	bool has_device, read_only;
	size_t i = 0;
	int ret = identify(fs, target, 0, fsid, label, &has_device, &read_only);

	if (is_elsewhere(ret) || bp_is_out_of_reach(ret))
		return 0;
	if (ret == -ENOMEM)
		return bp_nomem(fs);
	/* Who opens one that fails learns why. */
	if (ret)
		*fsid = '\0';
	for (; paths[i]; i++)
		if (!ret && !strcmp(fsids[i], fsid))
			return 0;
	memcpy(fsids[i], fsid, sizeof(fsid));
	paths[i] = strdup(target);
	return paths[i] ? 0 : bp_nomem(fs);
}

BP_PUBLIC int btrfs_policy_mounts(struct btrfs_policy_fs *fs, char ***paths)
{
	_cleanup_free_ char (*fsids)[BP_FSID_LENGTH] = NULL;
	char **mounts, **list;
	size_t count = 0;
	int ret;

	if (fs->open)
		return bp_error(fs, -EINVAL, "the handle has '%s' open already",
				fs->mount_point);
	ret = fs->ops->mounts(fs->backend, &mounts);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read the mount table");
	while (mounts[count])
		count++;
	list = calloc(count + 1, sizeof(*list));
	fsids = calloc(count + 1, sizeof(*fsids));
	ret = list && fsids ? 0 : bp_nomem(fs);
	for (size_t i = 0; !ret && i < count; i++)
		ret = list_mount(fs, list, fsids, mounts[i]);
	btrfs_policy_strv_free(mounts);
	if (ret)
		btrfs_policy_strv_free(list);
	else
		*paths = list;
	return ret;
}
