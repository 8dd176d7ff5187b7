/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of devices of an open file system, and the words with which users name
 * devices.  Roles are read by device-roles.c.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/handle.h"

void bp_uuid_text(const uint8_t *uuid, char *text)
{
	static const char hex[] = "0123456789abcdef";
	char *p = text;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = hex[uuid[i] >> 4];
		*p++ = hex[uuid[i] & 15];
	}
	*p = '\0';
}

void bp_devices_free(struct btrfs_policy_fs *fs)
{
	for (size_t i = 0; i < fs->device_count; i++) {
		free(fs->devices[i].path);
		free((char *)fs->devices[i].pub.model);
		free((char *)fs->devices[i].pub.transport);
	}
	free(fs->devices);
	fs->devices = NULL;
	fs->device_count = 0;
}

/* 1, 0, or -errno; `absent`: the value if the kernel does not have the file. */
static int device_flag(struct btrfs_policy_fs *fs, const char *file, uint64_t devid,
		       int absent)
{
	_cleanup_free_ char *text = NULL;
	int ret;

	ret = bp_sysfs_read(fs, file, devid, &text);
	if (ret == -ENOENT)
		return absent;
	return ret < 0 ? ret : text[0] == '1';
}

static int fill_device(struct btrfs_policy_fs *fs, struct bp_device *device,
		       const struct btrfs_ioctl_dev_info_args *args)
{
	struct btrfs_policy_device *pub = &device->pub;
	int ret;

	pub->devid = args->devid;
	pub->size = args->total_bytes;
	pub->allocated = args->bytes_used;
	pub->role = BTRFS_POLICY_ROLE_UNKNOWN;
	pub->rotational = BTRFS_POLICY_UNKNOWN;
	bp_uuid_text(args->uuid, device->uuid);
	if (args->path[0]) {
		device->path = strndup((const char *)args->path, sizeof(args->path));
		if (!device->path)
			return bp_nomem(fs);
	}
	ret = device_flag(fs, "devinfo/%llu/missing", pub->devid, !device->path);
	if (ret < 0)
		return ret;
	pub->missing = ret || !device->path;
	ret = device_flag(fs, "devinfo/%llu/writeable", pub->devid, !pub->missing);
	if (ret < 0)
		return ret;
	device->writeable = ret && !pub->missing;
	if (pub->missing)
		return 0;
	pub->path = device->path;
	ret = fs->ops->properties(fs->backend, device->path, pub);
	if (ret == -ENOMEM)
		return bp_nomem(fs);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read properties of device '%s'", device->path);
	return 0;
}

static int read_device(struct btrfs_policy_fs *fs, uint64_t devid)
{
	struct btrfs_ioctl_dev_info_args args = { .devid = devid };
	struct bp_device *devices;
	int ret;

	ret = fs->ops->dev_info(fs->backend, &args);
	if (ret == -ENODEV)
		return 0;
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read properties of device %llu of '%s'",
				 (unsigned long long)devid, fs->mount_point);
	devices = reallocarray(fs->devices, fs->device_count + 1, sizeof(*devices));
	if (!devices)
		return bp_nomem(fs);
	fs->devices = devices;
	devices += fs->device_count++;
	memset(devices, 0, sizeof(*devices));
	return fill_device(fs, devices, &args);
}

/*
 * There is no call that lists devids, so every number up to the highest is asked
 * for, as btrfs itself does.  Pointers into the entries are set when the array no
 * longer moves.
 */
int bp_devices_read(struct btrfs_policy_fs *fs, const struct btrfs_ioctl_fs_info_args *info)
{
	int ret = 0;

	for (uint64_t devid = 1; !ret && devid <= info->max_id; devid++)
		ret = read_device(fs, devid);
	fs->info.devices = fs->device_count;
	fs->info.missing = 0;
	for (size_t i = 0; i < fs->device_count; i++) {
		fs->devices[i].pub.uuid = fs->devices[i].uuid;
		fs->info.missing += fs->devices[i].pub.missing;
	}
	if (!ret && !fs->device_count)
		ret = bp_error(fs, -EUCLEAN, "the kernel lists no devices of '%s'",
			       fs->mount_point);
	return ret;
}

struct bp_device *bp_device_find(struct btrfs_policy_fs *fs, uint64_t devid)
{
	for (size_t i = 0; i < fs->device_count; i++)
		if (fs->devices[i].pub.devid == devid)
			return &fs->devices[i];
	return NULL;
}

/*
 * 1, 0, or -errno.  No file of sysfs tells: to the kernel it is the flag in the superblock
 * of a device of this file system, not of one that this was made from.
 */
int bp_is_seed(struct btrfs_policy_fs *fs)
{
	for (size_t i = 0; i < fs->device_count; i++) {
		const char *path = fs->devices[i].pub.path;
		char fsid[BP_FSID_LENGTH];
		uint64_t flags;
		int ret = path ? fs->ops->superblock(fs->backend, path, fsid, &flags) : 0;

		if (ret)
			return bp_failed(fs, ret, "cannot read the superblock of '%s'", path);
		if (path && flags & BTRFS_SUPER_FLAG_SEEDING && !strcmp(fsid, fs->fsid))
			return 1;
	}
	return 0;
}

/* The remedy for a read-only mount; superblocks that cannot be read are not a seed's. */
const char *bp_read_only_advice(struct btrfs_policy_fs *fs)
{
	return bp_is_seed(fs) > 0 ?
	       "it is a seed: add a device with 'btrfs device policy add data-preferred', then mount it read-write" :
	       "mount it read-write first";
}

BP_PUBLIC size_t btrfs_policy_device_count(const struct btrfs_policy_fs *fs)
{
	return fs ? fs->device_count : 0;
}

BP_PUBLIC const struct btrfs_policy_device *
btrfs_policy_device_at(const struct btrfs_policy_fs *fs, size_t index)
{
	return fs && index < fs->device_count ? &fs->devices[index].pub : NULL;
}

BP_PUBLIC const struct btrfs_policy_device *
btrfs_policy_device_find(const struct btrfs_policy_fs *fs, uint64_t devid)
{
	struct bp_device *device = bp_device_find((struct btrfs_policy_fs *)fs, devid);

	return device ? &device->pub : NULL;
}

/* ---- Selection by a word ------------------------------------------------ */

static bool is_devid(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

BP_PUBLIC bool btrfs_policy_device_is_word(const char *word)
{
	return !strcmp(word, "rotational") || !strcmp(word, "nonrotational") || is_devid(word);
}

/* The value that devices must match: a devid, 1 for rotational, 0, or a device number. */
static int parse_word(struct btrfs_policy_fs *fs, const char *word, uint64_t *value)
{
	int ret;

	if (is_devid(word)) {
		errno = 0;
		*value = strtoull(word, NULL, 10);
		return errno ? bp_error(fs, -EINVAL, "'%s' is not a devid", word) : 0;
	}
	if (btrfs_policy_device_is_word(word)) {
		*value = *word == 'r';
		return 0;
	}
	ret = fs->ops->device_number(fs->backend, word, value);
	if (ret == -ENOTBLK)
		return bp_error(fs, -EINVAL,
				"'%s' is not a block device; name a device, a devid, 'rotational' or 'nonrotational'",
				word);
	return ret < 0 ? bp_failed(fs, ret, "cannot access device '%s'", word) : 0;
}

/* 1, 0, or -errno */
static int selected(struct btrfs_policy_fs *fs, const char *word, uint64_t value,
		    const struct bp_device *device)
{
	uint64_t number;
	int ret;

	if (is_devid(word))
		return device->pub.devid == value;
	if (device->pub.missing)
		return 0;
	if (btrfs_policy_device_is_word(word))
		return device->pub.rotational == (int)value;
	ret = fs->ops->device_number(fs->backend, device->path, &number);
	if (ret == -ENOENT || ret == -ENOTBLK)
		return 0;
	if (ret < 0)
		return bp_failed(fs, ret, "cannot access device '%s'", device->path);
	return number == value;
}

BP_PUBLIC int btrfs_policy_device_select(struct btrfs_policy_fs *fs, const char *word,
					 uint64_t **devids, size_t *count)
{
	_cleanup_free_ uint64_t *list = NULL;
	uint64_t value;
	size_t found = 0;
	int ret;

	if (!fs->open)
		return bp_not_open(fs);
	ret = parse_word(fs, word, &value);
	if (ret)
		return ret;
	list = calloc(fs->device_count, sizeof(*list));
	if (!list)
		return bp_nomem(fs);
	for (size_t i = 0; i < fs->device_count; i++) {
		ret = selected(fs, word, value, &fs->devices[i]);
		if (ret < 0)
			return ret;
		if (ret)
			list[found++] = fs->devices[i].pub.devid;
	}
	if (!found)
		return bp_error(fs, -ENODEV,
				"'%s' is not a device of '%s'; 'btrfs device policy show' lists them",
				word, fs->mount_point);
	*devids = bp_steal(list);
	*count = found;
	return 0;
}
