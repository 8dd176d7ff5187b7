/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The real machine.  This folder alone names /sys and makes ioctls.  Returns 0 or
 * -errno, does not print, makes no decisions.
 */
#include <btrfsutil.h>
#include <fcntl.h>
#include <libmount.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "backend/linux.h"
#include "core/handle.h"

static inline void close_at_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_close_ BP_CLEANUP(close_at_end)

static void linux_destroy(void *self)
{
	free(self);
}

/* The state of this backend is the file descriptor of the file system, or -1. */
static int fd_of(void *self)
{
	return *(int *)self;
}

/* The kernel answers some calls with positive numbers of its own. */
static int linux_ioctl(void *self, unsigned long request, void *arg)
{
	int ret = ioctl(fd_of(self), request, arg);

	if (ret < 0)
		return -errno;
	if (ret == BTRFS_ERROR_DEV_EXCL_RUN_IN_PROGRESS)
		return -EBUSY;
	return ret > 0 ? -EIO : 0;
}

/* ---- The file system ---------------------------------------------------- */

static int linux_open(void *self, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct statfs st;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &st) < 0)
		return -errno;
	if ((unsigned int)st.f_type != BTRFS_SUPER_MAGIC)
		return -EINVAL;
	*(int *)self = fd;
	fd = -1;
	return 0;
}

static void linux_close(void *self)
{
	close_at_end(self);
	*(int *)self = -1;
}

static int linux_read_only(void *self, bool *read_only)
{
	struct statvfs st;

	if (fstatvfs(fd_of(self), &st) < 0)
		return -errno;
	*read_only = st.f_flag & ST_RDONLY;
	return 0;
}

static int linux_label(void *self, char *label, size_t size)
{
	char text[BTRFS_LABEL_SIZE] = "";
	int ret = linux_ioctl(self, BTRFS_IOC_GET_FSLABEL, text);

	if (ret)
		return ret;
	memcpy(label, text, size < sizeof(text) ? size : sizeof(text));
	return 0;
}

static int linux_fs_info(void *self, struct btrfs_ioctl_fs_info_args *info)
{
	return linux_ioctl(self, BTRFS_IOC_FS_INFO, info);
}

static int linux_boots(void *self, bool *boots)
{
	_cleanup_close_ int fd = open("/boot", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	struct btrfs_ioctl_fs_info_args ours = {}, theirs = {};
	int ret = linux_fs_info(self, &ours);

	*boots = fd >= 0 && !ioctl(fd, BTRFS_IOC_FS_INFO, &theirs) &&
		 !memcmp(ours.fsid, theirs.fsid, sizeof(ours.fsid));
	return ret;
}

static int linux_dev_info(void *self, struct btrfs_ioctl_dev_info_args *info)
{
	return linux_ioctl(self, BTRFS_IOC_DEV_INFO, info);
}

static int linux_incompat(void *self, uint64_t *flags)
{
	struct btrfs_ioctl_feature_flags features = {};
	int ret = linux_ioctl(self, BTRFS_IOC_GET_FEATURES, &features);

	*flags = features.incompat_flags;
	return ret;
}

static int linux_tree_search(void *self, struct btrfs_ioctl_search_args_v2 *args)
{
	return linux_ioctl(self, BTRFS_IOC_TREE_SEARCH_V2, args);
}

static int linux_sync(void *self)
{
	enum btrfs_util_error err = btrfs_util_sync_fd(fd_of(self));

	return err == BTRFS_UTIL_OK ? 0 : -errno;
}

static int linux_balance(void *self, struct btrfs_ioctl_balance_args *args)
{
	return linux_ioctl(self, BTRFS_IOC_BALANCE_V2, args);
}

static int linux_balance_state(void *self, struct btrfs_ioctl_balance_args *args)
{
	return linux_ioctl(self, BTRFS_IOC_BALANCE_PROGRESS, args);
}

static int linux_move_stripes(void *self, struct btrfs_ioctl_move_stripes_args *args)
{
	return linux_ioctl(self, BTRFS_IOC_MOVE_STRIPES, args);
}

/*
 * The kernel keeps the path for people: of device-mapper the name, not the number.
 * Without a path: a kernel that has the ioctl refuses these flags.
 */
static int linux_add_device(void *self, const char *path, enum btrfs_policy_role role)
{
	_cleanup_free_ char *name = path ? mnt_resolve_path(path, NULL) : NULL;
	struct btrfs_ioctl_add_dev_role_args args = { .path = (uintptr_t)name, .role = role };
	struct btrfs_ioctl_vol_args plain = {};
	int ret;

	if (!path) {
		args.flags = ~0U;
		args.role = 0;
		ret = linux_ioctl(self, BTRFS_IOC_ADD_DEV_ROLE, &args);
		return ret == -ENOTTY ? ret : 0;
	}
	if (!name)
		return -ENOMEM;
	if (role != BTRFS_POLICY_ROLE_DATA_PREFERRED)
		return linux_ioctl(self, BTRFS_IOC_ADD_DEV_ROLE, &args);
	if (strlen(name) >= sizeof(plain.name))
		return -ENAMETOOLONG;
	strcpy(plain.name, name);
	return linux_ioctl(self, BTRFS_IOC_ADD_DEV, &plain);
}

static int linux_remove_device(void *self, uint64_t devid)
{
	struct btrfs_ioctl_vol_args_v2 args = { .flags = BTRFS_DEVICE_SPEC_BY_ID, .devid = devid };

	return linux_ioctl(self, BTRFS_IOC_RM_DEV_V2, &args);
}

static int linux_roles(void *self, struct btrfs_ioctl_device_roles_args *args)
{
	return linux_ioctl(self, BTRFS_IOC_DEVICE_ROLES, args);
}

/* ---- sysfs -------------------------------------------------------------- */

static char *sysfs_path(const char *name)
{
	return bp_format(BP_SYSFS "%s", name);
}

static int linux_sysfs_exists(void *self, const char *name)
{
	_cleanup_free_ char *path = sysfs_path(name);

	if (!path)
		return -ENOMEM;
	if (access(path, F_OK) == 0)
		return 1;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}

static int linux_sysfs_read(void *self, const char *name, char *buf, size_t size)
{
	_cleanup_free_ char *path = sysfs_path(name);
	_cleanup_close_ int fd = -1;
	ssize_t length;

	if (!path)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	length = read(fd, buf, size);
	if (length < 0)
		return -errno;
	if ((size_t)length == size)
		return -EOVERFLOW;
	if (length && buf[length - 1] == '\n')
		length--;
	buf[length] = '\0';
	return 0;
}

/* One write is one setting: a file of sysfs never takes half of it. */
static int linux_sysfs_write(void *self, const char *name, const char *text)
{
	_cleanup_free_ char *path = sysfs_path(name);
	_cleanup_close_ int fd = -1;

	if (!path)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* ---- Devices and time --------------------------------------------------- */

static int linux_device_number(void *self, const char *path, uint64_t *number)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISBLK(st.st_mode))
		return -ENOTBLK;
	*number = st.st_rdev;
	return 0;
}

static uint64_t linux_now(void *self)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* A signal may cut it short, which callers see as time not gone by. */
static void linux_sleep(void *self, uint64_t nanoseconds)
{
	struct timespec wait = {
		.tv_sec = nanoseconds / 1000000000,
		.tv_nsec = nanoseconds % 1000000000,
	};

	nanosleep(&wait, NULL);
}

const struct bp_backend bp_backend_linux = {
	.destroy = linux_destroy,
	.mount_of = bp_linux_mount_of,
	.mounts = bp_linux_mounts,
	.open = linux_open,
	.close = linux_close,
	.read_only = linux_read_only,
	.label = linux_label,
	.boots = linux_boots,
	.fs_info = linux_fs_info,
	.dev_info = linux_dev_info,
	.incompat = linux_incompat,
	.tree_search = linux_tree_search,
	.sync = linux_sync,
	.balance = linux_balance,
	.balance_state = linux_balance_state,
	.move_stripes = linux_move_stripes,
	.roles = linux_roles,
	.sysfs_exists = linux_sysfs_exists,
	.sysfs_read = linux_sysfs_read,
	.sysfs_write = linux_sysfs_write,
	.device_number = linux_device_number,
	.properties = bp_linux_properties,
	.superblock = bp_linux_superblock,
	.probe_new = bp_linux_probe_new,
	.wipe = bp_linux_wipe,
	.add_device = linux_add_device,
	.remove_device = linux_remove_device,
	.saved_read = bp_linux_saved_read,
	.saved_write = bp_linux_saved_write,
	.saved_lock = bp_linux_saved_lock,
	.saved_unlock = bp_linux_saved_unlock,
	.bdi_fsid = bp_linux_bdi_fsid,
	.now = linux_now,
	.sleep = linux_sleep,
};

BP_PUBLIC struct btrfs_policy_fs *btrfs_policy_fs_new(void)
{
	int *backend = malloc(sizeof(*backend));
	struct btrfs_policy_fs *fs;

	if (!backend)
		return NULL;
	*backend = -1;
	fs = bp_fs_new_with(&bp_backend_linux, backend);
	if (!fs)
		bp_backend_linux.destroy(backend);
	return fs;
}
