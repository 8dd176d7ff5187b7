// SPDX-License-Identifier: GPL-2.0

/*
 * The ioctls that get and set device roles and add a device with one: arguments
 * from and to user space, and who may. It must not change a role itself, see
 * device-role-set.c.
 */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/uaccess.h>
#include "ctree.h"
#include "btrfs_inode.h"
#include "device-role.h"
#include "fs.h"
#include "ioctl.h"
#include "messages.h"
#include "volumes.h"

/* Fill in what fits and return the number of devices there are. */
static u32 get_roles(struct btrfs_fs_info *fs_info,
		     struct btrfs_ioctl_device_role *entries, u32 nr)
{
	const struct btrfs_device *device;
	u32 found = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(device, &fs_info->fs_devices->devices, dev_list) {
		u8 role = READ_ONCE(device->role);

		if (!btrfs_device_can_have_role(device))
			continue;
		if (found < nr) {
			entries[found].devid = device->devid;
			entries[found].role = role;
			if (role & BTRFS_ROLE_FOREIGN)
				entries[found].role = BTRFS_DEVICE_ROLE_FOREIGN |
						      (role & BTRFS_ROLE_DISK_MASK);
		}
		found++;
	}
	rcu_read_unlock();

	return found;
}

static int ioctl_get(struct btrfs_fs_info *fs_info,
		     struct btrfs_ioctl_device_roles_args *args)
{
	struct btrfs_ioctl_device_role *entries;
	u32 nr = min_t(u32, args->nr, BTRFS_DEVICE_ROLES_MAX);
	int ret = 0;

	if (args->flags)
		return -EOPNOTSUPP;

	entries = kvcalloc(nr, sizeof(*entries), GFP_KERNEL);
	if (!entries)
		return -ENOMEM;

	args->nr = get_roles(fs_info, entries, nr);
	if (copy_to_user(u64_to_user_ptr(args->devices), entries,
			 min(nr, args->nr) * sizeof(*entries)))
		ret = -EFAULT;
	kvfree(entries);

	return ret;
}

static int copy_changes(struct btrfs_role_request *request,
			const struct btrfs_ioctl_device_roles_args *args)
{
	const struct btrfs_ioctl_device_role __user *entries;
	struct btrfs_ioctl_device_role entry;

	entries = u64_to_user_ptr(args->devices);
	for (u32 i = 0; i < request->nr; i++) {
		if (copy_from_user(&entry, &entries[i], sizeof(entry)))
			return -EFAULT;
		if (entry.flags || entry.reserved[0] || entry.reserved[1]) {
			request->failed_devid = entry.devid;
			return -EINVAL;
		}
		request->changes[i].devid = entry.devid;
		request->changes[i].role = entry.role;
	}
	return 0;
}

static int ioctl_set(struct file *file,
		     struct btrfs_ioctl_device_roles_args *args)
{
	struct btrfs_role_request request = { .nr = args->nr };
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (args->flags & ~BTRFS_DEVICE_ROLES_FLAGS_SUPP)
		return -EOPNOTSUPP;
	if (args->nr == 0)
		return -EINVAL;
	if (args->nr > BTRFS_DEVICE_ROLES_MAX)
		return -E2BIG;

	request.force = args->flags & BTRFS_DEVICE_ROLES_FORCE;
	request.changes = kvcalloc(args->nr, sizeof(*request.changes), GFP_KERNEL);
	if (!request.changes)
		return -ENOMEM;

	ret = copy_changes(&request, args);
	if (!ret)
		ret = mnt_want_write_file(file);
	if (!ret) {
		ret = btrfs_set_device_roles(inode_to_fs_info(file_inode(file)),
					     &request);
		mnt_drop_write_file(file);
	}
	kvfree(request.changes);

	args->failed_devid = request.failed_devid;
	args->reason = request.reason;
	return ret;
}

/* The arguments go back to the user in any case, they hold the reason. */
long btrfs_ioctl_device_roles(struct file *file, void __user *argp)
{
	struct btrfs_ioctl_device_roles_args args;
	int ret;

	if (copy_from_user(&args, argp, sizeof(args)))
		return -EFAULT;
	if (args.pad || memchr_inv(args.reserved, 0, sizeof(args.reserved)))
		return -EINVAL;

	args.failed_devid = 0;
	args.reason = BTRFS_DEVICE_ROLES_OK;

	switch (args.op) {
	case BTRFS_DEVICE_ROLES_GET:
		ret = ioctl_get(inode_to_fs_info(file_inode(file)), &args);
		break;
	case BTRFS_DEVICE_ROLES_SET:
		ret = ioctl_set(file, &args);
		break;
	default:
		return -EOPNOTSUPP;
	}

	if (copy_to_user(argp, &args, sizeof(args)))
		return -EFAULT;
	return ret;
}

/* Can a new device have that role? */
static int check_new_role(struct btrfs_fs_info *fs_info, u32 role)
{
	if (role >= BTRFS_ROLE_NR)
		return -EINVAL;

	if (btrfs_fs_incompat(fs_info, MIXED_GROUPS) && role != 0) {
		btrfs_err(fs_info, "device not added: %s",
			  btrfs_device_roles_reason(BTRFS_DEVICE_ROLES_MIXED));
		return -EINVAL;
	}

	/* It's going to be the only writeable one. */
	if (fs_info->fs_devices->seeding && role & BTRFS_ROLE_EXCLUDE_OTHER) {
		btrfs_err(fs_info,
			  "device not added: the first one of a sprout cannot be %s",
			  btrfs_role_name(role));
		return -EINVAL;
	}
	return 0;
}

long btrfs_ioctl_add_dev_role(struct file *file, void __user *argp)
{
	struct btrfs_fs_info *fs_info = inode_to_fs_info(file_inode(file));
	struct btrfs_ioctl_add_dev_role_args args;
	char *path;
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;

	if (copy_from_user(&args, argp, sizeof(args)))
		return -EFAULT;
	if (args.flags || memchr_inv(args.reserved, 0, sizeof(args.reserved)))
		return -EINVAL;

	ret = check_new_role(fs_info, args.role);
	if (ret)
		return ret;

	path = strndup_user(u64_to_user_ptr(args.path), PATH_MAX);
	if (IS_ERR(path))
		return PTR_ERR(path);
	ret = btrfs_add_dev(fs_info, path, btrfs_role_to_disk(0, args.role));
	kfree(path);
	return ret;
}
