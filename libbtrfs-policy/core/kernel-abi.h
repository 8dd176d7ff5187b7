/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the device-role kernel series adds to <linux/btrfs.h>, for building
 * against headers that do not have it.  Owns numbers and layouts that kernels
 * and programs have agreed on: nothing here may ever change.
 */
#ifndef BP_KERNEL_ABI_H
#define BP_KERNEL_ABI_H

#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <linux/ioctl.h>
#include <linux/types.h>

struct bp_ioctl_device_role {
	__u64 devid;
	__u32 role;
	__u32 flags;
	__u64 reserved[2];
};

struct bp_ioctl_device_roles_args {
	__u32 op;
	__u32 nr;
	__u64 devices;
	__u64 flags;
	__u64 failed_devid;
	__u32 reason;
	__u32 pad;
	__u64 reserved[8];
};

#define BP_IOC_DEVICE_ROLES \
	_IOWR(BTRFS_IOCTL_MAGIC, 112, struct bp_ioctl_device_roles_args)

struct bp_ioctl_add_dev_role_args {
	__u64 path;
	__u32 role;
	__u32 flags;
	__u64 reserved[6];
};

#define BP_IOC_ADD_DEV_ROLE \
	_IOW(BTRFS_IOCTL_MAGIC, 113, struct bp_ioctl_add_dev_role_args)

enum { BP_ROLES_GET = 0, BP_ROLES_SET = 1 };
enum { BP_ROLES_FORCE = 1 };

enum bp_roles_reason {
	BP_REASON_NONE = 0,
	BP_REASON_BAD_ROLE = 1,
	BP_REASON_NO_DEVICE = 2,
	BP_REASON_TWICE = 3,
	BP_REASON_DATA = 4,
	BP_REASON_METADATA = 5,
	BP_REASON_SYSTEM = 6,
	BP_REASON_MIXED = 7,
	BP_REASON_SEED = 8,
};

_Static_assert(sizeof(struct bp_ioctl_device_role) == 32, "layout of the ioctl");
_Static_assert(sizeof(struct bp_ioctl_device_roles_args) == 104, "layout of the ioctl");
_Static_assert(sizeof(struct bp_ioctl_add_dev_role_args) == 64, "layout of the ioctl");

#endif
