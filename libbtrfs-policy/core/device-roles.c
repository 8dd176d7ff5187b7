/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns reading the role of each device of an open file system: the device item
 * in the chunk tree where allowed, else the kernel's file.  Writing is
 * apply-roles.c's business.
 */
#include <stdio.h>
#include <string.h>

#include "core/handle.h"
#include "core/roles.h"
#include "core/tree.h"

static int take_device_item(struct btrfs_policy_fs *fs, const struct btrfs_key *key, const void *data,
			 size_t length, void *user)
{
	struct btrfs_dev_item raw;
	struct bp_device *device;

	if (key->type != BTRFS_DEV_ITEM_KEY)
		return 0;
	if (bp_decode_device(data, length, &raw))
		return bp_error(fs, -EUCLEAN,
				"the item of device %llu of '%s' is damaged (%zu bytes)",
				(unsigned long long)key->offset, fs->mount_point, length);
	device = bp_device_find(fs, raw.devid);
	if (!device)
		return 0;
	device->pub.disk_type = raw.type;
	device->pub.disk_type_known = true;
	device->pub.role = bp_role_from_disk(raw.type);
	return 0;
}

static int role_from_text(struct btrfs_policy_fs *fs, const char *text,
			  enum btrfs_policy_role *role)
{
	_cleanup_free_ char *word = NULL;
	char *end;
	uint64_t type;
	int ret;

	if (!bp_is_hint_kernel(fs)) {
		ret = bp_choice_current(text, &word);
		if (ret)
			return ret;
		/* Once it had the number that is on disk behind it: "foreign:4". */
		if (!strncmp(word, "foreign:", 8))
			word[7] = '\0';
		return bp_role_of_name(word, role) ? -EUCLEAN : 0;
	}
	errno = 0;
	type = strtoull(text, &end, 0);
	if (errno || end == text || *end)
		return -EUCLEAN;
	*role = bp_role_from_disk(type);
	return 0;
}

/* The role that the running kernel goes by; needs a kernel that has one. */
int bp_role_current(struct btrfs_policy_fs *fs, uint64_t devid, enum btrfs_policy_role *role)
{
	const char *file = bp_is_hint_kernel(fs) ? BP_FILE_HINT : BP_FILE_ROLE;
	_cleanup_free_ char *text = NULL;
	int ret;

	ret = bp_sysfs_read(fs, file, devid, &text);
	if (ret)
		return ret;
	ret = role_from_text(fs, text, role);
	if (ret == -ENOMEM)
		return bp_nomem(fs);
	if (ret)
		return bp_error(fs, -EUCLEAN,
				"the kernel's file for the role of device %llu of '%s' has '%s', which is no role",
				(unsigned long long)devid, fs->mount_point, text);
	return 0;
}

/*
 * Without CAP_SYS_ADMIN trees cannot be searched: the roles stay unknown unless
 * the kernel shows them in files.
 */
int bp_device_roles_read(struct btrfs_policy_fs *fs)
{
	const struct btrfs_key first = { BTRFS_DEV_ITEMS_OBJECTID, BTRFS_DEV_ITEM_KEY, 0 };
	const struct btrfs_key last = { BTRFS_DEV_ITEMS_OBJECTID, BTRFS_DEV_ITEM_KEY, UINT64_MAX };
	int ret = bp_tree_walk(fs, BTRFS_CHUNK_TREE_OBJECTID, &first, &last, take_device_item, NULL);

	if (ret == -EPERM || ret == -EACCES)
		ret = 0;
	if (ret || !bp_capable(fs, "roles-set"))
		return ret;
	for (size_t i = 0; !ret && i < fs->device_count; i++) {
		struct btrfs_policy_device *device = &fs->devices[i].pub;

		ret = bp_role_current(fs, device->devid, &device->role);
		if (!ret)
			device->role_in_force = fs->enforced;
		/* A seed device is no member of the array that roles act on. */
		else if (ret == -ENOENT)
			ret = 0;
	}
	return ret;
}
