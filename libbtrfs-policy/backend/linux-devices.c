/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of the real machine: properties of devices from libudev and mounts from
 * libmount.  Opens no files itself.
 */
#include <fcntl.h>
#include <libmount.h>
#include <libudev.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "backend/linux.h"
#include "core/base.h"

/* ---- Devices ------------------------------------------------------------ */

BP_DEFINE_CLEANUP(struct udev *, udev_unref);
BP_DEFINE_CLEANUP(struct udev_device *, udev_device_unref);

/* Model names in sysfs are padded with blanks at the end. */
static int copy_text(const char *text, const char **copy)
{
	size_t length = text ? strlen(text) : 0;

	while (length && (text[length - 1] == ' ' || text[length - 1] == '\n'))
		length--;
	if (!length)
		return 0;
	*copy = strndup(text, length);
	return *copy ? 0 : -ENOMEM;
}

static const char *transport_of(struct udev_device *disk)
{
	static const char *const subsystems[] = { "nvme", "usb", "virtio", "mmc" };
	const char *bus = udev_device_get_property_value(disk, "ID_BUS");

	if (bus)
		return strcmp(bus, "ata") ? bus : "sata";
	for (size_t i = 0; i < BP_ARRAY_SIZE(subsystems); i++)
		if (udev_device_get_parent_with_subsystem_devtype(disk, subsystems[i], NULL))
			return subsystems[i];
	return NULL;
}

/* Missing properties stay unknown; only lack of memory is an error. */
int bp_linux_properties(void *self, const char *path, struct btrfs_policy_device *properties)
{
	BP_CLEANUP(udev_unref_at_end) struct udev *udev = udev_new();
	BP_CLEANUP(udev_device_unref_at_end) struct udev_device *device = NULL;
	struct udev_device *disk;
	const char *text;
	struct stat st;
	int ret;

	properties->rotational = BTRFS_POLICY_UNKNOWN;
	if (!udev)
		return -ENOMEM;
	if (stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return 0;
	device = udev_device_new_from_devnum(udev, 'b', st.st_rdev);
	if (!device)
		return 0;
	/* Properties that partitions share; the parent belongs to the child. */
	disk = udev_device_get_parent_with_subsystem_devtype(device, "block", "disk");
	if (!disk)
		disk = device;
	text = udev_device_get_sysattr_value(disk, "queue/rotational");
	if (text)
		properties->rotational = *text == '1' ? BTRFS_POLICY_YES : BTRFS_POLICY_NO;
	/* 0 also for devices that do not rotate; udev reads the number from the disk. */
	text = udev_device_get_property_value(disk, "ID_ATA_ROTATION_RATE_RPM");
	properties->rotation_rate = text ? strtoul(text, NULL, 10) : 0;
	text = udev_device_get_sysattr_value(disk, "device/model");
	ret = copy_text(text ? text : udev_device_get_property_value(disk, "ID_MODEL"),
			&properties->model);
	return ret ? ret : copy_text(transport_of(disk), &properties->transport);
}

/* ---- Mounts ------------------------------------------------------------- */

BP_DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table);
BP_DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter);

static int read_table(struct libmnt_table **table)
{
	int ret;

	*table = mnt_new_table();
	if (!*table)
		return -ENOMEM;
	ret = mnt_table_parse_file(*table, "/proc/self/mountinfo");
	return ret > 0 ? -EIO : ret;
}

static struct libmnt_fs *find_mount_id(struct libmnt_table *table, int id)
{
	BP_CLEANUP(mnt_free_iter_at_end) struct libmnt_iter *iter =
		mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *entry;

	while (iter && mnt_table_next_fs(table, iter, &entry) == 0)
		if (mnt_fs_get_id(entry) == id)
			return entry;
	return NULL;
}

/*
 * The number of the mount is exact where mounts lie over each other; the path
 * alone is only what is left for kernels that do not tell it.
 */
int bp_linux_mount_of(void *self, const char *path, char **target, char **fstype,
		      bool *ignores_roles)
{
	BP_CLEANUP(mnt_unref_table_at_end) struct libmnt_table *table = NULL;
	_cleanup_free_ char *real = realpath(path, NULL);
	struct libmnt_fs *entry = NULL;
	struct statfs stfs;
	struct statx st;
	int ret;

	if (!real)
		return -errno;
	ret = read_table(&table);
	if (ret)
		return ret;
	if (statx(AT_FDCWD, real, 0, STATX_MNT_ID, &st) < 0)
		return -errno;
	if (st.stx_mask & STATX_MNT_ID)
		entry = find_mount_id(table, st.stx_mnt_id);
	if (!entry)
		entry = mnt_table_find_mountpoint(table, real, MNT_ITER_BACKWARD);
	/* A chroot is on one that is in no table, with unknown options, if its mount point is above. */
	if (!entry && (statfs(real, &stfs) < 0 || (uint32_t)stfs.f_type != BTRFS_SUPER_MAGIC))
		return -ENODEV;
	*ignores_roles = entry && !mnt_fs_get_option(entry, "nodevice_roles", NULL, NULL);
	*target = strdup(entry ? mnt_fs_get_target(entry) : real);
	*fstype = strdup(!entry ? "btrfs" : mnt_fs_get_fstype(entry) ?: "unknown");
	if (*target && *fstype)
		return 0;
	free(bp_steal(*target));
	free(bp_steal(*fstype));
	return -ENOMEM;
}

int bp_linux_mounts(void *self, char ***targets)
{
	BP_CLEANUP(mnt_unref_table_at_end) struct libmnt_table *table = NULL;
	BP_CLEANUP(mnt_free_iter_at_end) struct libmnt_iter *iter = NULL;
	struct libmnt_fs *entry;
	size_t count = 0;
	char **list;
	int ret;

	*targets = NULL;
	ret = read_table(&table);
	if (ret)
		return ret;
	iter = mnt_new_iter(MNT_ITER_FORWARD);
	if (!iter)
		return -ENOMEM;
	list = calloc(mnt_table_get_nents(table) + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	while (mnt_table_next_fs(table, iter, &entry) == 0) {
		const char *type = mnt_fs_get_fstype(entry);

		if (!type || strcmp(type, "btrfs"))
			continue;
		list[count] = strdup(mnt_fs_get_target(entry));
		if (!list[count++]) {
			btrfs_policy_strv_free(list);
			return -ENOMEM;
		}
	}
	*targets = list;
	return 0;
}
