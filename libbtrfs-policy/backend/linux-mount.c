/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of the real machine: a mount in no directory, which ends with the file descriptor
 * of its root.  Returns 0 or -errno.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "backend/linux.h"
#include "core/handle.h"

static void close_at_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define _cleanup_close_ BP_CLEANUP(close_at_end)

/* Makes the devices known to the kernel, as `btrfs device scan` does. */
static int scan(char *const *devices, size_t count)
{
	_cleanup_close_ int control = open("/dev/btrfs-control", O_RDWR | O_CLOEXEC);

	if (control < 0)
		return -errno;
	for (size_t i = 0; i < count; i++) {
		struct btrfs_ioctl_vol_args args = {};

		snprintf(args.name, sizeof(args.name), "%s", devices[i]);
		if (ioctl(control, BTRFS_IOC_SCAN_DEV, &args) < 0)
			return -errno;
	}
	return 0;
}

int bp_linux_mount(char *const *devices, size_t count, int *root)
{
	_cleanup_close_ int context = fsopen("btrfs", FSOPEN_CLOEXEC);
	_cleanup_close_ int mounted = -1;
	_cleanup_free_ char *path = NULL;
	int ret;

	if (context < 0)
		return -errno;
	/* fsopen() has loaded the module. */
	if (bp_backend_linux.sysfs_exists(NULL, "features/device_role") <= 0)
		return -EOPNOTSUPP;
	ret = scan(devices, count);
	if (ret)
		return ret;
	/* An interrupted balance stays so. */
	if (fsconfig(context, FSCONFIG_SET_STRING, "source", devices[0], 0) < 0 ||
	    fsconfig(context, FSCONFIG_SET_FLAG, "skip_balance", NULL, 0) < 0 ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	mounted = fsmount(context, FSMOUNT_CLOEXEC,
			  MOUNT_ATTR_NOATIME | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID);
	path = bp_format("/proc/self/fd/%d", mounted);
	*root = mounted < 0 || !path ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *root < 0 ? -errno : 0;
}
