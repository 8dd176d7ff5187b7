/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns draining: the role that keeps new chunks off devices, the file with the roles
 * that they had before, and the removal of those that are empty.  Moving their chunks
 * is the business of balance/.
 */
#include <stdio.h>
#include <string.h>

#include "core/roles.h"
#include "settings/settings.h"

#define SUFFIX ".drain"	/* behind the FSID, in the name of the file */

/* ---- Roles before ------------------------------------------------------- */

static int failed(struct btrfs_policy_fs *fs, int err, const char *what)
{
	return bp_failed(fs, err, "cannot %s '" BP_SAVED_DIR "/%s" SUFFIX ".conf', the roles before a drain",
			 what, fs->fsid);
}

/* A file that is not there is an empty one. */
static int read_roles(struct btrfs_policy_fs *fs, char **text)
{
	_cleanup_free_ char *name = bp_format("%s" SUFFIX, fs->fsid);
	int ret = name ? fs->ops->saved_read(fs->backend, name, text) : -ENOMEM;

	if (ret == -ENOENT) {
		*text = strdup("");
		ret = *text ? 0 : -ENOMEM;
	}
	return ret < 0 ? failed(fs, ret, "read") : 0;
}

/* From its line "<devid> = <role>"; -ENOENT if it has none. */
static int role_in(const char *text, uint64_t devid, enum btrfs_policy_role *role)
{
	unsigned long long number;
	char word[32];

	for (; *text; text += *text == '\n') {
		if (sscanf(text, "%llu = %31s", &number, word) == 2 && number == devid &&
		    !btrfs_policy_role_parse(word, role))
			return 0;
		text += strcspn(text, "\n");
	}
	return -ENOENT;
}

static bool is_listed(const uint64_t *devids, size_t count, uint64_t devid)
{
	size_t i = 0;

	while (i < count && devids[i] != devid)
		i++;
	return i < count;
}

/* Those that drain already keep the lines of the old text. */
static char *compose(const struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count,
		     const char *old)
{
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	for (size_t i = 0; stream && i < fs->device_count; i++) {
		uint64_t devid = fs->devices[i].pub.devid;
		enum btrfs_policy_role role = fs->devices[i].pub.role;

		if (role == BTRFS_POLICY_ROLE_DRAINING ? !role_in(old, devid, &role) :
							 is_listed(devids, count, devid))
			fprintf(stream, "%llu = %s\n", (unsigned long long)devid,
				btrfs_policy_role_name(role));
	}
	if (stream && !fclose(stream))
		return text;
	free(text);
	return NULL;
}

static int remember(struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count)
{
	_cleanup_free_ char *name = bp_format("%s" SUFFIX, fs->fsid);
	_cleanup_free_ char *old = NULL, *text = NULL;
	int lock, ret = name ? bp_saved_lock(fs, &lock) : bp_nomem(fs);

	if (ret)
		return ret;
	ret = read_roles(fs, &old);
	if (!ret)
		text = compose(fs, devids, count, old);
	if (text) {
		ret = fs->ops->saved_write(fs->backend, name, text);
		ret = ret < 0 ? failed(fs, ret, "write") : 0;
	} else if (!ret) {
		ret = bp_nomem(fs);
	}
	fs->ops->saved_unlock(fs->backend, lock);
	return ret;
}

/* ---- Roles now ---------------------------------------------------------- */

/* To "draining", or to what @before says.  There is no force: chunks could not move. */
static int set_roles(struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count,
		     const char *before, unsigned int flags, struct btrfs_policy_changes **changes)
{
	struct btrfs_policy_request *request = btrfs_policy_request_new();
	int ret = request ? 0 : -ENOMEM;

	for (size_t i = 0; !ret && i < count; i++) {
		enum btrfs_policy_role role = BTRFS_POLICY_ROLE_DRAINING;

		if (before && role_in(before, devids[i], &role))
			role = BTRFS_POLICY_ROLE_DATA_PREFERRED;
		ret = btrfs_policy_request_add(request, "role", devids[i],
					       btrfs_policy_role_name(role));
	}
	ret = ret ? bp_nomem(fs) : btrfs_policy_apply(fs, request, flags, changes);
	btrfs_policy_request_free(request);
	return ret ? bp_hint(fs, ret, BTRFS_POLICY_HINT_NONE) : 0;
}

/* The roles are checked, then remembered, then changed. */
BP_PUBLIC int btrfs_policy_drain(struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count,
				 unsigned int flags, struct btrfs_policy_changes **changes)
{
	int ret = set_roles(fs, devids, count, NULL, flags | BTRFS_POLICY_DRY_RUN, changes);

	if (ret || flags & BTRFS_POLICY_DRY_RUN)
		return ret;
	btrfs_policy_changes_free(bp_steal(*changes));
	ret = remember(fs, devids, count);
	return ret ? ret : set_roles(fs, devids, count, NULL, flags, changes);
}

BP_PUBLIC int btrfs_policy_drain_undo(struct btrfs_policy_fs *fs, const uint64_t *devids,
				      size_t count, unsigned int flags,
				      struct btrfs_policy_changes **changes)
{
	_cleanup_free_ char *before = NULL;

	if (!fs->open)
		return bp_not_open(fs);
	for (size_t i = 0; i < count; i++) {
		const struct bp_device *device = bp_device_find(fs, devids[i]);

		if (!device || device->pub.role != BTRFS_POLICY_ROLE_DRAINING)
			return bp_error(fs, -EINVAL, "device %llu of '%s' is not draining",
					(unsigned long long)devids[i], fs->mount_point);
	}
	return read_roles(fs, &before) ?: set_roles(fs, devids, count, before, flags, changes);
}

/* ---- Removal ------------------------------------------------------------ */

BP_PUBLIC int btrfs_policy_device_remove(struct btrfs_policy_fs *fs, uint64_t devid)
{
	const unsigned long long id = devid;
	const struct bp_device *device;
	int ret = btrfs_policy_fs_refresh(fs);

	if (ret)
		return ret;
	device = bp_device_find(fs, devid);
	if (!device || fs->info.offline)
		return bp_error(fs, -ENODEV, "there is no device %llu in '%s'", id, fs->mount_point);
	if (device->pub.role != BTRFS_POLICY_ROLE_DRAINING || device->pub.allocated)
		return bp_error(fs, -EINVAL,
				"cannot remove device %llu of '%s': it is not empty and draining",
				id, fs->mount_point);
	ret = fs->ops->remove_device(fs->backend, devid);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot remove device %llu of '%s'", id, fs->mount_point);
	return btrfs_policy_fs_refresh(fs);
}
