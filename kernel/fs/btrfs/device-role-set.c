// SPDX-License-Identifier: GPL-2.0

/*
 * The change of device roles, by sysfs and ioctl: one or many devices in one
 * transaction, all or none of them.
 */

#include <linux/capability.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sched/signal.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include "ctree.h"
#include "block-group.h"
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
	/* Below BTRFS_ROLE_NR */
	u32 role;

	/* Filled in on the way. */
	struct btrfs_device *device;
	u64 old_type;
	u64 new_type;
};

/* A change of roles that is made as a whole or not at all. */
struct role_request {
	struct role_change *changes;
	u32 nr;
	/* Leave it to the caller if profiles cannot be satisfied any more. */
	bool force;
	/* Neither wait for the list of devices nor for the commit. */
	bool nowait;

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

		if (change->role >= BTRFS_ROLE_NR)
			return refuse(request, change->devid,
				      BTRFS_DEVICE_ROLES_BAD_ROLE, -EINVAL);
		/* Back to the default is fine, that's what mixed ones do. */
		if (mixed && change->role != 0)
			return refuse(request, change->devid,
				      BTRFS_DEVICE_ROLES_MIXED, -EINVAL);
		for (u32 j = 0; j < i; j++) {
			if (request->changes[j].devid == change->devid)
				return refuse(request, change->devid,
					      BTRFS_DEVICE_ROLES_LISTED_TWICE, -EINVAL);
		}
	}
	return 0;
}

static struct btrfs_device *find_device(const struct btrfs_fs_devices *fs_devices,
					u64 devid)
{
	struct btrfs_device *device;

	list_for_each_entry(device, &fs_devices->devices, dev_list) {
		if (device->devid == devid && btrfs_device_can_have_role(device))
			return device;
	}
	return NULL;
}

static int find_devices(struct btrfs_fs_info *fs_info, struct role_request *request)
{
	const struct btrfs_fs_devices *seed;

	for (u32 i = 0; i < request->nr; i++) {
		struct role_change *change = &request->changes[i];

		change->device = find_device(fs_info->fs_devices, change->devid);
		if (change->device)
			continue;
		list_for_each_entry(seed, &fs_info->fs_devices->seed_list, seed_list) {
			if (find_device(seed, change->devid))
				return refuse(request, change->devid,
					      BTRFS_DEVICE_ROLES_SEED, -EINVAL);
		}
		return refuse(request, change->devid, BTRFS_DEVICE_ROLES_NO_DEVICE,
			      -ENODEV);
	}
	return 0;
}

/* Put the new types into force, or the old ones back. */
static void apply_types(struct btrfs_fs_info *fs_info,
			const struct role_request *request, bool new)
{
	lockdep_assert_held(&fs_info->chunk_mutex);

	for (u32 i = 0; i < request->nr; i++) {
		const struct role_change *change = &request->changes[i];

		btrfs_device_set_type(change->device,
				      new ? change->new_type : change->old_type);
	}
	/* Pairs with the acquire in get_placement_class(). */
	smp_store_release(&fs_info->roles.generation, fs_info->roles.generation + 1);
	btrfs_update_per_profile_avail(fs_info);
	/* What was full may find room on other devices now. */
	btrfs_clear_space_info_full(fs_info);
}

/*
 * Change the types in memory. The allocator holds chunk_mutex too and sees all
 * changes or none, and the check can read the result itself.
 */
static int change_types(struct btrfs_fs_info *fs_info, struct role_request *request)
{
	enum btrfs_device_roles_reason reason;
	u32 before[2];
	u32 after[2];
	u64 devid = 0;
	int kind;

	mutex_lock(&fs_info->chunk_mutex);
	btrfs_device_role_count(fs_info, true, NULL, before);
	for (u32 i = 0; i < request->nr; i++) {
		struct role_change *change = &request->changes[i];

		change->old_type = change->device->type;
		change->new_type = btrfs_role_to_disk(change->old_type, change->role);
	}
	apply_types(fs_info, request, true);
	btrfs_device_role_count(fs_info, true, NULL, after);
	reason = btrfs_device_role_check_counts(fs_info, before, after);
	if (reason != BTRFS_DEVICE_ROLES_OK && !request->force)
		apply_types(fs_info, request, false);
	mutex_unlock(&fs_info->chunk_mutex);

	if (reason == BTRFS_DEVICE_ROLES_OK || request->force)
		return 0;

	/* The first device of the request that is about to exclude the kind. */
	kind = reason == BTRFS_DEVICE_ROLES_TOO_FEW_DATA ? BTRFS_ROLE_KIND_DATA :
							   BTRFS_ROLE_KIND_METADATA;
	for (u32 i = 0; i < request->nr && !devid; i++) {
		if (btrfs_role_rank(request->changes[i].role, kind) ==
		    BTRFS_ROLE_RANK_EXCLUDED)
			devid = request->changes[i].devid;
	}
	return refuse(request, devid, reason, -EINVAL);
}

static int write_device_item(struct btrfs_trans_handle *trans,
			     struct btrfs_device *device)
{
	int ret;

	btrfs_reserve_chunk_metadata(trans, false);
	ret = btrfs_update_device(trans, device);
	btrfs_trans_release_chunk_metadata(trans);
	return ret;
}

/*
 * Write the device items. If one fails put everything back, in memory and in
 * the items already written: the transaction is shared and will be committed.
 * The item that failed has not been touched, as only the search for it can fail.
 */
static int write_device_items(struct btrfs_trans_handle *trans,
			      struct role_request *request)
{
	struct btrfs_fs_info *fs_info = trans->fs_info;
	u32 written;
	int ret = 0;

	for (written = 0; written < request->nr; written++) {
		ret = write_device_item(trans, request->changes[written].device);
		if (ret)
			break;
	}
	if (!ret)
		return 0;

	mutex_lock(&fs_info->chunk_mutex);
	apply_types(fs_info, request, false);
	mutex_unlock(&fs_info->chunk_mutex);

	for (u32 i = 0; i < written; i++) {
		int undo = write_device_item(trans, request->changes[i].device);

		if (undo) {
			btrfs_abort_transaction(trans, undo);
			break;
		}
	}

	/* The item went first: the device is about to be removed. */
	if (ret == -ENOENT)
		return refuse(request, request->changes[written].devid,
			      BTRFS_DEVICE_ROLES_NO_DEVICE, -ENODEV);
	return ret;
}

/* The commit hands the types on to the super blocks. */
static void update_at_commit(struct btrfs_trans_handle *trans,
			     const struct role_request *request)
{
	mutex_lock(&trans->fs_info->chunk_mutex);
	for (u32 i = 0; i < request->nr; i++) {
		struct btrfs_device *device = request->changes[i].device;

		if (list_empty(&device->post_commit_list))
			list_add_tail(&device->post_commit_list,
				      &trans->transaction->dev_update_list);
	}
	mutex_unlock(&trans->fs_info->chunk_mutex);
}

/* The change itself, as a part of the transaction. */
static int change_roles(struct btrfs_trans_handle *trans,
			struct role_request *request)
{
	struct btrfs_fs_info *fs_info = trans->fs_info;
	/* Keeps devices from going away, and replace from finishing. */
	struct mutex *lock = &fs_info->fs_devices->device_list_mutex;
	int ret;

	if (!request->nowait)
		mutex_lock(lock);
	else if (!mutex_trylock(lock))
		return -EAGAIN;

	ret = find_devices(fs_info, request);
	if (!ret)
		ret = change_types(fs_info, request);
	if (!ret)
		ret = write_device_items(trans, request);
	if (!ret)
		update_at_commit(trans, request);
	mutex_unlock(lock);
	return ret;
}

static void log_request(struct btrfs_fs_info *fs_info,
			const struct role_request *request, int error)
{
	if (error) {
		btrfs_warn(fs_info, "device roles not changed: %s (devid %llu, error %d)",
			   btrfs_device_roles_reasons[request->reason],
			   request->failed_devid, error);
		return;
	}

	for (u32 i = 0; i < request->nr; i++) {
		const struct role_change *change = &request->changes[i];

		if (change->old_type != change->new_type)
			btrfs_info(fs_info, "role of devid %llu changed from %s to %s",
				   change->devid,
				   btrfs_role_name(btrfs_role_from_disk(change->old_type)),
				   btrfs_role_name(change->role));
	}
}

/*
 * Set the roles of all devices in the request, on disk, or of none.
 *
 * With @nowait, set for the file in sysfs, the commit is started, but not waited
 * for. The removal of a device waits for users of its kobject while it holds
 * device_list_mutex and a transaction handle, so nothing may be waited for then
 * that needs either. Joining waits only for a commit that has got rid of all
 * other handles, and such a commit does not depend on a removal that holds one.
 */
static int set_roles(struct btrfs_fs_info *fs_info, struct role_request *request)
{
	struct btrfs_trans_handle *trans;
	int ret;

	ret = check_request(fs_info, request);
	if (ret)
		goto out;

	/*
	 * The system space backs changes of the chunk tree, no other reservation
	 * is needed. Joining does not even try, so that roles can be
	 * relaxed on a filesystem that is full because of them.
	 */
	trans = btrfs_join_transaction(fs_info->tree_root);
	if (IS_ERR(trans)) {
		ret = PTR_ERR(trans);
		goto out;
	}

	ret = change_roles(trans, request);
	if (ret) {
		btrfs_end_transaction(trans);
		if (ret == -EAGAIN && request->nowait)
			return ret;
	} else if (request->nowait) {
		btrfs_end_transaction(trans);
		set_bit(BTRFS_FS_COMMIT_TRANS, &fs_info->flags);
		wake_up_process(fs_info->transaction_kthread);
	} else {
		ret = btrfs_commit_transaction(trans);
	}
	if (!ret)
		btrfs_device_role_sync_statfs(fs_info);
out:
	log_request(fs_info, request, ret);
	return ret;
}

/*
 * Make sure that the filesystem stays mounted, writeable and not frozen, like
 * mnt_want_write() does for callers that have a mount. Unmount and remount hold
 * s_umount, and unmount waits for us under it, so don't wait for it in turn.
 */
static int want_write(struct super_block *sb)
{
	int ret = -EAGAIN;

	if (!(READ_ONCE(sb->s_flags) & SB_BORN) || !sb_start_write_trylock(sb))
		return -EBUSY;
	if (down_read_trylock(&sb->s_umount)) {
		if (!sb_rdonly(sb))
			return 0;
		ret = -EROFS;
		up_read(&sb->s_umount);
	}
	sb_end_write(sb);
	return ret;
}

/* Accept only an exact name, with or without a newline. */
ssize_t btrfs_device_role_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t len)
{
	struct btrfs_device *device = container_of(kobj, struct btrfs_device, devid_kobj);
	struct super_block *sb = device->fs_info->sb;
	const int role = btrfs_role_parse(buf, len);
	struct role_change change = { .devid = device->devid, .role = role };
	struct role_request request = { .changes = &change, .nr = 1, .nowait = true };
	struct kernfs_node *kn;
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (role < 0)
		return -EINVAL;

	ret = want_write(sb);
	if (!ret) {
		/* Release the file, so that the device can be removed. */
		kn = sysfs_break_active_protection(kobj, &attr->attr);
		ret = kn ? set_roles(device->fs_info, &request) : -ENODEV;
		if (kn)
			sysfs_unbreak_active_protection(kn);
		up_read(&sb->s_umount);
		sb_end_write(sb);
	}
	if (ret == -EAGAIN) {
		/* From the start, without holding on to the file. Don't be busy. */
		msleep(20);
		ret = restart_syscall();
	}
	return ret ?: len;
}

/* All names with the current one in brackets, or the foreign value in them. */
ssize_t btrfs_device_role_show(struct kobject *kobj, struct kobj_attribute *attr,
			       char *buf)
{
	const struct btrfs_device *device =
		container_of(kobj, struct btrfs_device, devid_kobj);
	const u8 current_role = READ_ONCE(device->role);
	ssize_t len = 0;

	for (u8 role = 0; role < BTRFS_ROLE_NR; role++)
		len += sysfs_emit_at(buf, len, role == current_role ? "%s[%s]" : "%s%s",
				     role ? " " : "", btrfs_role_name(role));
	if (current_role & BTRFS_ROLE_FOREIGN)
		len += sysfs_emit_at(buf, len, " [%s:%llu]",
				     btrfs_role_name(current_role),
				     current_role & BTRFS_ROLE_DISK_MASK);
	return len + sysfs_emit_at(buf, len, "\n");
}

/* Fill in as many devices as fit and return the number of all. */
static u32 get_roles(struct btrfs_fs_info *fs_info,
		     struct btrfs_ioctl_device_role *entries, u32 nr)
{
	const struct btrfs_device *device;
	u32 found = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(device, &fs_info->fs_devices->devices, dev_list) {
		const u8 role = READ_ONCE(device->role);

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
	if (args->flags & ~BTRFS_DEVICE_ROLES_FLAGS_SUPP)
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

/* Can a new device have that role? */
static int check_new_role(struct btrfs_fs_info *fs_info, u32 role)
{
	if (role >= BTRFS_ROLE_NR)
		return -EINVAL;

	if (btrfs_fs_incompat(fs_info, MIXED_GROUPS) && role != 0) {
		btrfs_err(fs_info, "device not added: %s",
			  btrfs_device_roles_reasons[BTRFS_DEVICE_ROLES_MIXED]);
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
