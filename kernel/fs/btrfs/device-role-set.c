// SPDX-License-Identifier: GPL-2.0

/*
 * The change of device roles, by sysfs and ioctl: one or many devices in one
 * transaction, all or none of them.
 */

#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include "ctree.h"
#include "btrfs_inode.h"
#include "device-role.h"
#include "ioctl.h"
#include "messages.h"
#include "space-info.h"
#include "transaction.h"
#include "volumes.h"

/* One device's part in a change of roles. */
struct role_change {
	u64 devid;
	/* Below BTRFS_ROLE_NR, or BTRFS_ROLE_DRAINING. */
	u32 role;

	/* Looked up if it is not known. */
	struct btrfs_device *device;
	u64 old_type;
};

/* A change of roles that is made as a whole or not at all. */
struct role_request {
	struct role_change *changes;
	u32 nr;
	/* Leave it to the caller if profiles cannot be satisfied any more. */
	bool force;

	/* Of a request that failed: which device (or 0) and why. */
	u64 failed_devid;
	enum btrfs_device_roles_reason reason;
};

static int refuse(struct role_request *request, u64 devid,
		  enum btrfs_device_roles_reason reason, int error)
{
	request->failed_devid = devid;
	request->reason = reason;
	return error;
}

/* Errors of the request that do not depend on the state of the devices. */
static int check_request(struct btrfs_fs_info *fs_info, struct role_request *request)
{
	const bool mixed = btrfs_fs_incompat(fs_info, MIXED_GROUPS);

	for (u32 i = 0; i < request->nr; i++) {
		const struct role_change *change = &request->changes[i];

		if (change->role >= BTRFS_ROLE_NR && change->role != BTRFS_ROLE_DRAINING)
			return refuse(request, change->devid, BTRFS_DEVICE_ROLES_BAD_ROLE, -EINVAL);
		/* Back to the default is fine, that's what mixed ones do. */
		if (mixed && change->role != 0)
			return refuse(request, change->devid, BTRFS_DEVICE_ROLES_MIXED, -EINVAL);
		for (u32 j = 0; j < i; j++) {
			if (request->changes[j].devid == change->devid)
				return refuse(request, change->devid,
					      BTRFS_DEVICE_ROLES_LISTED_TWICE, -EINVAL);
		}
	}
	return 0;
}

static int find_devices(struct btrfs_fs_info *fs_info, struct role_request *request)
{
	for (u32 i = 0; i < request->nr; i++) {
		BTRFS_DEV_LOOKUP_ARGS(args);
		struct role_change *change = &request->changes[i];

		args.devid = change->devid;
		if (!change->device)
			change->device = btrfs_find_device(fs_info->fs_devices, &args);
		/* The end of a replace gives the number of a device to another, and it has 0. */
		if (!change->devid || !change->device || change->device->devid != change->devid ||
		    !btrfs_device_can_have_role(change->device))
			return refuse(request, change->devid,
				      BTRFS_DEVICE_ROLES_NO_DEVICE, -ENODEV);
		if (change->device->fs_devices != fs_info->fs_devices)
			return refuse(request, change->devid, BTRFS_DEVICE_ROLES_SEED, -EINVAL);
	}
	return 0;
}

static void apply_types(struct btrfs_fs_info *fs_info, struct role_request *request)
{
	for (u32 i = 0; i < request->nr; i++) {
		struct role_change *change = &request->changes[i];

		change->old_type = change->device->type;
		btrfs_device_set_type(change->device,
				      btrfs_role_to_disk(change->old_type, change->role));
		WRITE_ONCE(change->device->role_dirty, true);
	}
	set_bit(BTRFS_FS_NEED_TRANS_COMMIT, &fs_info->flags);
	btrfs_update_per_profile_avail(fs_info);
	/* What was full may find space on other devices now. */
	memset(fs_info->roles.spilled_at, 0, sizeof(fs_info->roles.spilled_at));
	btrfs_clear_space_info_full(fs_info);
}

/*
 * Change the types in memory; the next commit writes them. The allocator holds
 * chunk_mutex too and sees all changes or none.
 */
static int change_types(struct btrfs_fs_info *fs_info, struct role_request *request)
{
	enum btrfs_device_roles_reason reason;
	u32 counts[2][2];
	u64 devid = 0;
	int kind;
	int ret;

	guard(mutex)(&fs_info->chunk_mutex);
	ret = find_devices(fs_info, request);
	if (ret)
		return ret;
	/* There and back. The types, which others may write meanwhile, stay. */
	for (int i = 0; i < 2; i++) {
		btrfs_device_role_count(fs_info, true, NULL, counts[i]);
		for (u32 j = 0; j < request->nr; j++)
			swap(request->changes[j].device->role, request->changes[j].role);
	}
	reason = btrfs_device_role_check_counts(fs_info, counts[0], counts[1]);
	if (request->force)
		reason = BTRFS_DEVICE_ROLES_OK;
	if (reason == BTRFS_DEVICE_ROLES_OK)
		apply_types(fs_info, request);
	/* Pairs with the acquire in get_placement_class(), which may have seen what is refused. */
	smp_store_release(&fs_info->roles.generation, fs_info->roles.generation + 1);
	if (reason == BTRFS_DEVICE_ROLES_OK)
		return 0;
	/* The first device of the request that is about to exclude the kind. */
	kind = reason == BTRFS_DEVICE_ROLES_TOO_FEW_DATA ? BTRFS_ROLE_KIND_DATA :
							   BTRFS_ROLE_KIND_METADATA;
	for (u32 i = request->nr; i-- > 0; ) {
		if (btrfs_role_rank(request->changes[i].role, kind) == BTRFS_ROLE_RANK_EXCLUDED)
			devid = request->changes[i].devid;
	}
	return refuse(request, devid, reason, -EINVAL);
}

static void log_request(struct btrfs_fs_info *fs_info,
			const struct role_request *request, int error)
{
	if (error)
		btrfs_warn(fs_info, "device roles not changed: %s (devid %llu, error %d)",
			   btrfs_device_roles_reasons[request->reason],
			   request->failed_devid, error);
	for (u32 i = 0; i < request->nr && !error; i++) {
		const struct role_change *change = &request->changes[i];
		const u8 old = btrfs_role_from_disk(change->old_type);

		if (old != change->role)
			btrfs_info(fs_info, "role of devid %llu changed from %s to %s",
				   change->devid, btrfs_role_name(old),
				   btrfs_role_name(change->role));
	}
}

/* Set the roles of all devices in the request, on disk, or of none. */
static int set_roles(struct btrfs_fs_info *fs_info, struct role_request *request)
{
	struct btrfs_trans_handle *trans;
	int ret;

	ret = check_request(fs_info, request);
	if (ret)
		goto out;

	/* Without a reservation: the file system may be full because of its roles. */
	trans = btrfs_join_transaction(fs_info->tree_root);
	if (IS_ERR(trans)) {
		ret = PTR_ERR(trans);
		goto out;
	}

	/* Keeps devices from going away, and replace from finishing. */
	scoped_guard(mutex, &fs_info->fs_devices->device_list_mutex)
		ret = change_types(fs_info, request);
	if (ret)
		btrfs_end_transaction(trans);
	else
		ret = btrfs_commit_transaction(trans);
out:
	log_request(fs_info, request, ret);
	return ret;
}

/*
 * Called by the cleaner, for a role that was set by sysfs. One that is set again and
 * again must not stop what a commit stops, such as scrub: that gets half of the time.
 */
void btrfs_device_role_commit(struct btrfs_fs_info *fs_info)
{
	struct btrfs_trans_handle *trans = btrfs_join_transaction(fs_info->tree_root);
	const unsigned long begin = jiffies;

	/* Unmount waits for it. */
	if (!IS_ERR(trans) && !btrfs_commit_transaction(trans))
		msleep(min(jiffies_to_msecs(jiffies - begin), 5000));
}

/*
 * Accept only an exact name, with or without a newline. A removal of the device waits
 * for the users of this file: that keeps the device, and none of its locks may be taken.
 */
ssize_t btrfs_device_role_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t len)
{
	struct btrfs_device *device = container_of(kobj, struct btrfs_device, devid_kobj);
	struct btrfs_fs_info *fs_info = device->fs_info;
	const int role = btrfs_role_parse(buf, len);
	struct role_change change = { .devid = device->devid, .role = role, .device = device };
	struct role_request request = { .changes = &change, .nr = 1 };
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (role < 0)
		return -EINVAL;
	/* Held by mount, remount, freeze and unmount, which may wait for this file. */
	if (!down_read_trylock(&fs_info->sb->s_umount))
		return -EBUSY;

	if (sb_rdonly(fs_info->sb)) {
		ret = -EROFS;
	} else if (fs_info->sb->s_writers.frozen != SB_UNFROZEN) {
		ret = -EBUSY;
	} else {
		ret = check_request(fs_info, &request) ?: change_types(fs_info, &request);
		log_request(fs_info, &request, ret);
		if (!ret)
			wake_up_process(fs_info->cleaner_kthread);
	}
	up_read(&fs_info->sb->s_umount);
	return ret ?: len;
}

/* All names that can be set, and the current one in brackets. */
ssize_t btrfs_device_role_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct btrfs_device *device = container_of(kobj, struct btrfs_device, devid_kobj);
	const u8 current_role = READ_ONCE(device->role);
	ssize_t len = 0;

	for (u8 role = 0; role < BTRFS_ROLE_NR; role++)
		len += sysfs_emit_at(buf, len, role == current_role ? "%s[%s]" : "%s%s",
				     role ? " " : "", btrfs_role_name(role));
	if (current_role >= BTRFS_ROLE_NR)
		len += sysfs_emit_at(buf, len, " [%s]", btrfs_role_name(current_role));
	return len + sysfs_emit_at(buf, len, "\n");
}

/* As many devices as fit, and the number of all. */
static int ioctl_get(struct btrfs_fs_info *fs_info,
		     struct btrfs_ioctl_device_roles_args *args)
{
	const u32 nr = min_t(u32, args->nr, BTRFS_DEVICE_ROLES_MAX);
	const struct btrfs_device *device;
	struct btrfs_ioctl_device_role *entries __free(kvfree) =
		kvcalloc(nr, sizeof(*entries), GFP_KERNEL);

	if (args->flags)
		return -EOPNOTSUPP;
	if (!entries)
		return -ENOMEM;
	args->nr = 0;
	rcu_read_lock();
	list_for_each_entry_rcu(device, &fs_info->fs_devices->devices, dev_list) {
		const u8 role = READ_ONCE(device->role);

		if (!btrfs_device_can_have_role(device) || args->nr++ >= nr)
			continue;
		entries[args->nr - 1].devid = device->devid;
		entries[args->nr - 1].role = role == BTRFS_ROLE_FOREIGN ?
					     role | BTRFS_DEVICE_ROLE_FOREIGN : role;
	}
	rcu_read_unlock();
	return copy_to_user(u64_to_user_ptr(args->devices), entries,
			    min(nr, args->nr) * sizeof(*entries)) ? -EFAULT : 0;
}

static int copy_changes(struct role_request *request,
			const struct btrfs_ioctl_device_role __user *entries)
{
	struct btrfs_ioctl_device_role entry;

	for (u32 i = 0; i < request->nr; i++) {
		if (copy_from_user(&entry, &entries[i], sizeof(entry)))
			return -EFAULT;
		if (entry.flags || entry.reserved[0] || entry.reserved[1])
			return refuse(request, entry.devid, BTRFS_DEVICE_ROLES_OK, -EINVAL);
		request->changes[i].devid = entry.devid;
		request->changes[i].role = entry.role;
	}
	return 0;
}

static int ioctl_set(struct file *file, struct btrfs_ioctl_device_roles_args *args)
{
	struct role_request request = {
		.nr = args->nr,
		.force = args->flags & BTRFS_DEVICE_ROLES_FORCE,
	};
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (args->flags & ~BTRFS_DEVICE_ROLES_FORCE)
		return -EOPNOTSUPP;
	if (args->nr == 0)
		return -EINVAL;
	if (args->nr > BTRFS_DEVICE_ROLES_MAX)
		return -E2BIG;

	request.changes = kvcalloc(args->nr, sizeof(*request.changes), GFP_KERNEL);
	if (!request.changes)
		return -ENOMEM;

	ret = copy_changes(&request, u64_to_user_ptr(args->devices));
	if (!ret)
		ret = mnt_want_write_file(file);
	if (!ret) {
		ret = set_roles(inode_to_fs_info(file_inode(file)), &request);
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

	if (args.op == BTRFS_DEVICE_ROLES_GET)
		ret = ioctl_get(inode_to_fs_info(file_inode(file)), &args);
	else if (args.op == BTRFS_DEVICE_ROLES_SET)
		ret = ioctl_set(file, &args);
	else
		return -EOPNOTSUPP;

	return copy_to_user(argp, &args, sizeof(args)) ? -EFAULT : ret;
}

long btrfs_ioctl_add_dev_role(struct file *file, void __user *argp)
{
	struct btrfs_fs_info *fs_info = inode_to_fs_info(file_inode(file));
	struct btrfs_ioctl_add_dev_role_args args;
	struct role_change change = { 0 };
	struct role_request request = { .changes = &change, .nr = 1 };
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;

	if (copy_from_user(&args, argp, sizeof(args)))
		return -EFAULT;
	if (args.flags || memchr_inv(args.reserved, 0, sizeof(args.reserved)))
		return -EINVAL;

	change.role = min_t(u32, args.role, BTRFS_ROLE_NR); /* none that drains */
	ret = check_request(fs_info, &request);
	/* The first one of a sprout is going to be the only writeable one. */
	if (ret || (fs_info->fs_devices->seeding && args.role > BTRFS_ROLE_PREFER_METADATA)) {
		btrfs_err(fs_info, "device not added: %s",
			  ret ? btrfs_device_roles_reasons[request.reason] :
				"the first one of a sprout cannot exclude a kind");
		return ret ?: -EINVAL;
	}

	char *path __free(kfree) = strndup_user(u64_to_user_ptr(args.path), PATH_MAX);

	if (IS_ERR(path))
		return PTR_ERR(path);
	ret = btrfs_add_dev(fs_info, path, btrfs_role_to_disk(0, args.role));
	/* New chunks may need more devices with it than before. */
	if (!ret)
		btrfs_device_role_warn_few(fs_info);
	return ret;
}
