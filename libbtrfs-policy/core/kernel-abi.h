/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Definitions that the device-role series adds to <linux/btrfs.h>, for building
 * against headers without them; names and layouts are those of that header.  They
 * are ABI and must not change.
 */
#ifndef BP_KERNEL_ABI_H
#define BP_KERNEL_ABI_H

#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#ifndef BTRFS_IOC_DEVICE_ROLES

struct btrfs_ioctl_device_role {
	__u64 devid;
	__u32 role;
	__u32 flags;
	__u64 reserved[2];
};

struct btrfs_ioctl_device_roles_args {
	__u32 op;
	__u32 nr;
	__u64 devices;
	__u64 flags;
	__u64 failed_devid;
	__u32 reason;
	__u32 pad;
	__u64 reserved[8];
};

#define BTRFS_IOC_DEVICE_ROLES \
	_IOWR(BTRFS_IOCTL_MAGIC, 112, struct btrfs_ioctl_device_roles_args)

struct btrfs_ioctl_add_dev_role_args {
	__u64 path;
	__u32 role;
	__u32 flags;
	__u64 reserved[6];
};

#define BTRFS_IOC_ADD_DEV_ROLE \
	_IOW(BTRFS_IOCTL_MAGIC, 113, struct btrfs_ioctl_add_dev_role_args)

#define BTRFS_DEVICE_ROLES_GET 0
#define BTRFS_DEVICE_ROLES_SET 1
#define BTRFS_DEVICE_ROLES_FORCE (1ULL << 0)

enum btrfs_device_roles_reason {
	BTRFS_DEVICE_ROLES_OK = 0,
	BTRFS_DEVICE_ROLES_BAD_ROLE = 1,
	BTRFS_DEVICE_ROLES_NO_DEVICE = 2,
	BTRFS_DEVICE_ROLES_LISTED_TWICE = 3,
	BTRFS_DEVICE_ROLES_TOO_FEW_DATA = 4,
	BTRFS_DEVICE_ROLES_TOO_FEW_METADATA = 5,
	BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM = 6,
	BTRFS_DEVICE_ROLES_MIXED = 7,
	BTRFS_DEVICE_ROLES_SEED = 8,
};

#endif

/* BTRFS_FEATURE_INCOMPAT_RAID_STRIPE_TREE, which older headers lack. */
#define BP_RAID_STRIPE_TREE (1ULL << 14)

#ifndef BTRFS_IOC_MOVE_STRIPES

enum btrfs_move_stripe_reason {
	BTRFS_MOVE_STRIPE_OK,
	BTRFS_MOVE_STRIPE_UNSUPPORTED,
	BTRFS_MOVE_STRIPE_EXCLUSIVE_OPERATION,
	BTRFS_MOVE_STRIPE_NO_CHUNK,
	BTRFS_MOVE_STRIPE_NO_DEVICE,
	BTRFS_MOVE_STRIPE_TARGET_HAS_STRIPE,
	BTRFS_MOVE_STRIPE_NO_SPACE,
	BTRFS_MOVE_STRIPE_SWAP_FILE,
	BTRFS_MOVE_STRIPE_NOT_READ_ONLY,
	BTRFS_MOVE_STRIPE_UNREPAIRABLE,
	BTRFS_MOVE_STRIPE_TARGET_ERROR,
	BTRFS_MOVE_STRIPE_CANCELED,
	BTRFS_MOVE_STRIPE_FROZEN,
};

struct btrfs_ioctl_move_stripe {
	__u64 chunk;
	__u64 devid;
	__u32 stripe;
	__u32 flags;
	__s32 result;
	__u32 reason;
	__u64 failed_logical;
	__u64 copied;
	__u64 repaired;
	__u64 reserved[3];
};

#define BTRFS_MOVE_STRIPES_START 0

struct btrfs_ioctl_move_stripes_args {
	__u32 op;
	__u32 reason;
	__u64 nr;
	__u64 items;
	__u64 bytes_per_sec;
	__u64 flags;
	__u64 done;
	__u64 moved;
	__u64 copied;
	__u64 position;
	__u64 reserved[7];
};

#define BTRFS_IOC_MOVE_STRIPES \
	_IOWR(BTRFS_IOCTL_MAGIC, 114, struct btrfs_ioctl_move_stripes_args)

#endif

_Static_assert(sizeof(struct btrfs_ioctl_device_role) == 32, "layout of the ioctl");
_Static_assert(sizeof(struct btrfs_ioctl_device_roles_args) == 104, "layout of the ioctl");
_Static_assert(sizeof(struct btrfs_ioctl_add_dev_role_args) == 64, "layout of the ioctl");
_Static_assert(sizeof(struct btrfs_ioctl_move_stripe) == 80, "layout of the ioctl");
_Static_assert(sizeof(struct btrfs_ioctl_move_stripes_args) == 128, "layout of the ioctl");

#endif
