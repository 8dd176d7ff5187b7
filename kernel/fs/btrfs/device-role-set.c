// SPDX-License-Identifier: GPL-2.0

/*
 * The change of device roles: one or many devices in one transaction, all or
 * none of them. What a role means once it is set is not decided here, and the
 * ioctl's arguments are not known here, see device-role-ioctl.c.
 */

#include <linux/fs.h>
#include <linux/delay.h>
#include <linux/sched/signal.h>
#include <linux/sysfs.h>
#include "ctree.h"
#include "accessors.h"
#include "block-group.h"
#include "device-role.h"
#include "fs.h"
#include "messages.h"
#include "space-info.h"
#include "transaction.h"
#include "volumes.h"

static int refuse(struct btrfs_role_request *request, u64 devid,
		  enum btrfs_device_roles_reason reason, int error)
{
	request->failed_devid = devid;
	request->reason = reason;
	return error;
}

/* The first device of the request that is about to exclude the kind. */
static u64 first_excluding(const struct btrfs_role_request *request,
			   enum btrfs_role_kind kind)
{
	for (u32 i = 0; i < request->nr; i++) {
		if (btrfs_role_rank(request->changes[i].role, kind) ==
		    BTRFS_ROLE_RANK_EXCLUDED)
			return request->changes[i].devid;
	}
	return 0;
}

/*
 * A device that can have a role. Devices of a seed are not ours to change, and
 * the target of a running replace gets the role of the source in the end.
 */
bool btrfs_device_can_have_role(const struct btrfs_device *device)
{
	return test_bit(BTRFS_DEV_STATE_IN_FS_METADATA, &device->dev_state) &&
	       !test_bit(BTRFS_DEV_STATE_REPLACE_TGT, &device->dev_state);
}

static struct btrfs_device *find_device(struct btrfs_fs_info *fs_info, u64 devid)
{
	struct btrfs_device *device;

	list_for_each_entry(device, &fs_info->fs_devices->devices, dev_list) {
		if (device->devid == devid && btrfs_device_can_have_role(device))
			return device;
	}
	return NULL;
}

/* What is wrong with the request no matter in which state the devices are. */
static int check_request(struct btrfs_fs_info *fs_info,
			 struct btrfs_role_request *request)
{
	const bool mixed = btrfs_fs_incompat(fs_info, MIXED_GROUPS);

	for (u32 i = 0; i < request->nr; i++) {
		const struct btrfs_role_change *change = &request->changes[i];

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
					      BTRFS_DEVICE_ROLES_LISTED_TWICE,
					      -EINVAL);
		}
	}
	return 0;
}

static bool is_seed_device(struct btrfs_fs_info *fs_info, u64 devid)
{
	const struct btrfs_fs_devices *seed;
	const struct btrfs_device *device;

	list_for_each_entry(seed, &fs_info->fs_devices->seed_list, seed_list) {
		list_for_each_entry(device, &seed->devices, dev_list) {
			if (device->devid == devid)
				return true;
		}
	}
	return false;
}

static int find_devices(struct btrfs_fs_info *fs_info,
			struct btrfs_role_request *request)
{
	for (u32 i = 0; i < request->nr; i++) {
		struct btrfs_role_change *change = &request->changes[i];

		change->device = find_device(fs_info, change->devid);
		if (!change->device && is_seed_device(fs_info, change->devid))
			return refuse(request, change->devid,
				      BTRFS_DEVICE_ROLES_SEED, -EINVAL);
		if (!change->device)
			return refuse(request, change->devid,
				      BTRFS_DEVICE_ROLES_NO_DEVICE, -ENODEV);
	}
	return 0;
}

/* Put the new types into force, or the old ones back. */
static void apply_types(struct btrfs_fs_info *fs_info,
			struct btrfs_role_request *request, bool new)
{
	lockdep_assert_held(&fs_info->chunk_mutex);

	for (u32 i = 0; i < request->nr; i++) {
		struct btrfs_role_change *change = &request->changes[i];

		btrfs_device_set_type(change->device,
				      new ? change->new_type :
					    change->old_type);
	}
	/* Pairs with the acquire in get_standing(). */
	smp_store_release(&fs_info->role_generation, fs_info->role_generation + 2);
	btrfs_device_role_update_space(fs_info);
	/* What was full may find room on other devices now. */
	btrfs_clear_space_info_full(fs_info);
}

/*
 * Change the types in memory. The allocator holds chunk_mutex too and sees all
 * of the change or nothing, and so can the check look at the result itself.
 */
static int change_types(struct btrfs_fs_info *fs_info,
			struct btrfs_role_request *request)
{
	struct btrfs_role_counts before;
	struct btrfs_role_counts after;
	enum btrfs_device_roles_reason reason;

	mutex_lock(&fs_info->chunk_mutex);
	btrfs_device_role_count(fs_info, true, &before);
	for (u32 i = 0; i < request->nr; i++) {
		struct btrfs_role_change *change = &request->changes[i];

		change->old_type = change->device->type;
		change->new_type = btrfs_role_to_disk(change->old_type,
						      change->role);
	}
	apply_types(fs_info, request, true);
	btrfs_device_role_count(fs_info, true, &after);

	reason = btrfs_device_role_check_counts(fs_info, &before, &after);
	if (reason != BTRFS_DEVICE_ROLES_OK && !request->force)
		apply_types(fs_info, request, false);
	mutex_unlock(&fs_info->chunk_mutex);

	if (reason == BTRFS_DEVICE_ROLES_OK || request->force)
		return 0;
	return refuse(request, first_excluding(request,
				reason == BTRFS_DEVICE_ROLES_TOO_FEW_DATA ?
				BTRFS_ROLE_KIND_DATA : BTRFS_ROLE_KIND_METADATA),
		      reason, -EINVAL);
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
			      struct btrfs_role_request *request)
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
			     const struct btrfs_role_request *request)
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
			struct btrfs_role_request *request)
{
	struct btrfs_fs_info *fs_info = trans->fs_info;
	int ret;

	/* Keeps devices from going away, and replace from finishing. */
	lockdep_assert_held(&fs_info->fs_devices->device_list_mutex);

	ret = find_devices(fs_info, request);
	if (!ret)
		ret = change_types(fs_info, request);
	if (!ret)
		ret = write_device_items(trans, request);
	if (!ret)
		update_at_commit(trans, request);
	return ret;
}

static void log_request(struct btrfs_fs_info *fs_info,
			const struct btrfs_role_request *request, int error)
{
	if (error) {
		btrfs_warn(fs_info, "device roles not changed: %s (devid %llu, error %d)",
			   btrfs_device_roles_reason(request->reason),
			   request->failed_devid, error);
		return;
	}

	for (u32 i = 0; i < request->nr; i++) {
		const struct btrfs_role_change *change = &request->changes[i];

		if (change->old_type != change->new_type)
			btrfs_info(fs_info, "role of devid %llu changed from %s to %s",
				   change->devid,
				   btrfs_role_name(btrfs_role_from_disk(change->old_type)),
				   btrfs_role_name(change->role));
	}
}

/*
 * The commit failed and the filesystem is read-only now. What we show should be
 * what is on disk. Devices may have been removed since, so look them up again.
 */
static void restore_types(struct btrfs_fs_info *fs_info,
			  struct btrfs_role_request *request)
{
	mutex_lock(&fs_info->fs_devices->device_list_mutex);
	if (find_devices(fs_info, request) == 0) {
		mutex_lock(&fs_info->chunk_mutex);
		apply_types(fs_info, request, false);
		mutex_unlock(&fs_info->chunk_mutex);
	}
	mutex_unlock(&fs_info->fs_devices->device_list_mutex);
}

/*
 * With the lock on the list of devices. A request that must not wait for it has
 * -EAGAIN if it is taken.
 */
static int change_roles_locked(struct btrfs_trans_handle *trans,
			       struct btrfs_role_request *request)
{
	struct mutex *lock = &trans->fs_info->fs_devices->device_list_mutex;
	int ret;

	if (!request->nowait)
		mutex_lock(lock);
	else if (!mutex_trylock(lock))
		return -EAGAIN;
	ret = change_roles(trans, request);
	mutex_unlock(lock);
	return ret;
}

static int finish_change(struct btrfs_trans_handle *trans,
			 struct btrfs_role_request *request)
{
	struct btrfs_fs_info *fs_info = trans->fs_info;
	int ret;

	if (request->nowait) {
		btrfs_end_transaction(trans);
		set_bit(BTRFS_FS_COMMIT_TRANS, &fs_info->flags);
		wake_up_process(fs_info->transaction_kthread);
		return 0;
	}

	ret = btrfs_commit_transaction(trans);
	if (ret)
		restore_types(fs_info, request);
	return ret;
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
int btrfs_set_device_roles(struct btrfs_fs_info *fs_info,
			   struct btrfs_role_request *request)
{
	struct btrfs_trans_handle *trans;
	int ret;

	ret = check_request(fs_info, request);
	if (ret)
		goto out;

	/*
	 * The system space backs changes of the chunk tree, nothing else needs
	 * to be reserved. Joining does not even try, so that roles can be
	 * relaxed on a filesystem that is full because of them.
	 */
	trans = btrfs_join_transaction(fs_info->tree_root);
	if (IS_ERR(trans)) {
		ret = PTR_ERR(trans);
		goto out;
	}

	ret = change_roles_locked(trans, request);
	if (ret)
		btrfs_end_transaction(trans);
	else
		ret = finish_change(trans, request);
	if (ret == -EAGAIN && request->nowait)
		return ret;
	if (!ret)
		btrfs_device_role_sync_statfs(fs_info);
out:
	log_request(fs_info, request, ret);
	return ret;
}

/* Try again from the start, without holding on to the file. Don't be busy. */
static int retry_store(void)
{
	msleep(20);
	return restart_syscall();
}

/*
 * Make sure that the filesystem stays mounted, writeable and not frozen, like
 * mnt_want_write() does for those who have a mount. Unmount and remount hold
 * s_umount, and unmount waits for us under it, so don't wait for it in turn.
 */
static int want_write(struct super_block *sb)
{
	if (!(READ_ONCE(sb->s_flags) & SB_BORN))
		return -EBUSY;
	if (!sb_start_write_trylock(sb))
		return -EBUSY;
	if (!down_read_trylock(&sb->s_umount)) {
		sb_end_write(sb);
		return -EAGAIN;
	}
	if (sb_rdonly(sb)) {
		up_read(&sb->s_umount);
		sb_end_write(sb);
		return -EROFS;
	}
	return 0;
}

static void drop_write(struct super_block *sb)
{
	up_read(&sb->s_umount);
	sb_end_write(sb);
}

/* One device, with its file in sysfs released so that it can be removed. */
static int store_role(struct btrfs_device *device, u8 role,
		      struct kobject *kobj, const struct attribute *attr)
{
	struct btrfs_fs_info *fs_info = device->fs_info;
	struct btrfs_role_change change = { .role = role };
	struct btrfs_role_request request = {
		.changes = &change,
		.nr = 1,
		.nowait = true,
	};
	struct kernfs_node *kn;
	int ret;

	change.devid = device->devid;

	kn = sysfs_break_active_protection(kobj, attr);
	if (!kn)
		return -ENODEV;
	ret = btrfs_set_device_roles(fs_info, &request);
	sysfs_unbreak_active_protection(kn);

	return ret;
}

/* An exact name with or without a newline, nothing else. */
ssize_t btrfs_device_role_store(struct btrfs_device *device,
				struct kobject *kobj,
				const struct attribute *attr,
				const char *buf, size_t len)
{
	struct super_block *sb = device->fs_info->sb;
	int role;
	int ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;

	role = btrfs_role_parse(buf, len);
	if (role < 0)
		return -EINVAL;

	ret = want_write(sb);
	if (!ret) {
		ret = store_role(device, role, kobj, attr);
		drop_write(sb);
	}
	if (ret == -EAGAIN)
		ret = retry_store();
	return ret ? ret : len;
}

/* All names with the current one in brackets, or the foreign value in them. */
ssize_t btrfs_device_role_show(const struct btrfs_device *device, char *buf)
{
	const u8 current_role = READ_ONCE(device->role);
	ssize_t len = 0;

	for (u8 role = 0; role < BTRFS_ROLE_NR; role++)
		len += sysfs_emit_at(buf, len, role == current_role ?
				     "%s[%s]" : "%s%s", role ? " " : "",
				     btrfs_role_name(role));
	if (current_role & BTRFS_ROLE_FOREIGN)
		len += sysfs_emit_at(buf, len, " [%s:%llu]",
				     btrfs_role_name(current_role),
				     current_role & BTRFS_ROLE_DISK_MASK);
	len += sysfs_emit_at(buf, len, "\n");
	return len;
}
