/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of the real machine: what libudev knows of devices and libmount of
 * mounts.  Opens no files itself.
 */
#include <fcntl.h>
#include <libmount.h>
#include <libudev.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/linux.h"
#include "core/base.h"

/* ---- Devices ------------------------------------------------------------ */

BP_DEFINE_CLEANUP(struct udev *, udev_unref);
BP_DEFINE_CLEANUP(struct udev_device *, udev_device_unref);

/* What partitions of it share; the parent belongs to the child. */
static struct udev_device *whole_disk(struct udev_device *device)
{
	struct udev_device *disk =
		udev_device_get_parent_with_subsystem_devtype(device, "block", "disk");

	return disk ? disk : device;
}

static enum btrfs_policy_tristate rotational_of(struct udev_device *disk)
{
	const char *text = udev_device_get_sysattr_value(disk, "queue/rotational");

	if (!text)
		return BTRFS_POLICY_UNKNOWN;
	return *text == '1' ? BTRFS_POLICY_YES : BTRFS_POLICY_NO;
}

/* Model names in sysfs are padded with blanks at the end. */
static int copy_text(const char *text, char **copy)
{
	size_t length = text ? strlen(text) : 0;

	while (length && (text[length - 1] == ' ' || text[length - 1] == '\n'))
		length--;
	if (!length)
		return 0;
	*copy = strndup(text, length);
	return *copy ? 0 : -ENOMEM;
}

static const char *model_of(struct udev_device *disk)
{
	const char *text = udev_device_get_sysattr_value(disk, "device/model");

	return text ? text : udev_device_get_property_value(disk, "ID_MODEL");
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

/* 0 also for what does not turn; udev has the number from the disk itself. */
static uint32_t rotation_rate_of(struct udev_device *disk)
{
	const char *text = udev_device_get_property_value(disk, "ID_ATA_ROTATION_RATE_RPM");

	return text ? strtoul(text, NULL, 10) : 0;
}

static int fill_facts(struct udev_device *device, struct bp_facts *facts)
{
	struct udev_device *disk = whole_disk(device);
	int ret;

	facts->rotational = rotational_of(disk);
	facts->rotation_rate = rotation_rate_of(disk);
	ret = copy_text(model_of(disk), &facts->model);
	return ret ? ret : copy_text(transport_of(disk), &facts->transport);
}

/* What nobody knows stays unknown; only lack of memory is an error. */
int bp_linux_facts(void *self, const char *path, struct bp_facts *facts)
{
	BP_CLEANUP(udev_unref_at_end) struct udev *udev = udev_new();
	BP_CLEANUP(udev_device_unref_at_end) struct udev_device *device = NULL;
	struct stat st;

	facts->rotational = BTRFS_POLICY_UNKNOWN;
	if (!udev)
		return -ENOMEM;
	if (stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return 0;
	device = udev_device_new_from_devnum(udev, 'b', st.st_rdev);
	return device ? fill_facts(device, facts) : 0;
}

/* ---- Mounts ------------------------------------------------------------- */

BP_DEFINE_CLEANUP(struct libmnt_table *, mnt_unref_table);
BP_DEFINE_CLEANUP(struct libmnt_iter *, mnt_free_iter);

static int copy_mount(struct libmnt_fs *entry, struct bp_mount *mount)
{
	mount->read_only = !mnt_optstr_get_option(mnt_fs_get_options(entry), "ro", NULL, NULL);
	mount->ignores_roles = !mnt_fs_get_option(entry, "nodevice_roles", NULL, NULL);
	mount->target = strdup(mnt_fs_get_target(entry));
	mount->fstype = strdup(mnt_fs_get_fstype(entry) ? mnt_fs_get_fstype(entry) : "unknown");
	if (mount->target && mount->fstype)
		return 0;
	bp_mount_clear(mount);
	return -ENOMEM;
}

static int read_table(struct libmnt_table **table)
{
	int ret;

	*table = mnt_new_table();
	if (!*table)
		return -ENOMEM;
	ret = mnt_table_parse_file(*table, "/proc/self/mountinfo");
	return ret > 0 ? -EIO : ret;
}

/* -ENODEV if the kernel does not tell the mount of a path. */
static int mount_id_of(const char *path, int *id)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &st) < 0)
		return -errno;
	*id = st.stx_mnt_id;
	return st.stx_mask & STATX_MNT_ID ? 0 : -ENODEV;
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
int bp_linux_mount_of(void *self, const char *path, struct bp_mount *mount)
{
	BP_CLEANUP(mnt_unref_table_at_end) struct libmnt_table *table = NULL;
	_cleanup_free_ char *real = realpath(path, NULL);
	struct libmnt_fs *entry = NULL;
	int id, ret;

	if (!real)
		return -errno;
	ret = read_table(&table);
	if (ret)
		return ret;
	ret = mount_id_of(real, &id);
	if (ret && ret != -ENODEV)
		return ret;
	if (!ret)
		entry = find_mount_id(table, id);
	if (!entry)
		entry = mnt_table_find_mountpoint(table, real, MNT_ITER_BACKWARD);
	return entry ? copy_mount(entry, mount) : -ENODEV;
}

static int add_mount(struct libmnt_fs *entry, struct bp_mount **list, size_t *count)
{
	struct bp_mount *longer;

	if (!mnt_fs_get_fstype(entry) || strcmp(mnt_fs_get_fstype(entry), "btrfs"))
		return 0;
	longer = reallocarray(*list, *count + 1, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	*list = longer;
	memset(&longer[*count], 0, sizeof(*longer));
	return copy_mount(entry, &longer[(*count)++]);
}

int bp_linux_mounts(void *self, struct bp_mount **list, size_t *count)
{
	BP_CLEANUP(mnt_unref_table_at_end) struct libmnt_table *table = NULL;
	BP_CLEANUP(mnt_free_iter_at_end) struct libmnt_iter *iter = NULL;
	struct libmnt_fs *entry;
	int ret;

	*list = NULL;
	*count = 0;
	ret = read_table(&table);
	if (ret)
		return ret;
	iter = mnt_new_iter(MNT_ITER_FORWARD);
	if (!iter)
		return -ENOMEM;
	while (!ret && mnt_table_next_fs(table, iter, &entry) == 0)
		ret = add_mount(entry, list, count);
	if (!ret)
		return 0;
	bp_mounts_free(*list, *count);
	*list = NULL;
	*count = 0;
	return ret;
}
