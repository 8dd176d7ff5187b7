/* SPDX-License-Identifier: GPL-2.0 */

/*
 * Device roles: which devices may and should carry data and metadata.
 *
 * The kernel side: roles of open devices, what the allocator and the space
 * accounting ask, and the change of roles. What to decide from a role is in
 * device-role-core.h. Without CONFIG_BTRFS_DEVICE_ROLES every answer is the one
 * of a device without a role.
 */

#ifndef BTRFS_DEVICE_ROLE_H
#define BTRFS_DEVICE_ROLE_H

#include <linux/errno.h>
#include <linux/types.h>
#include <uapi/linux/btrfs.h>
#include "device-role-core.h"
#include "fs.h"

struct attribute;
struct file;
struct kobject;
struct btrfs_balance_control;
struct btrfs_block_group;
struct btrfs_device;
struct btrfs_fs_info;

/* Writeable devices that may carry data, and metadata. */
struct btrfs_role_counts {
	u32 data;
	u32 metadata;
};

/* One device's part in a change of roles. */
struct btrfs_role_change {
	u64 devid;
	/* Below BTRFS_ROLE_NR */
	u32 role;

	/* Filled in on the way. */
	struct btrfs_device *device;
	u64 old_type;
	u64 new_type;
};

/* A change of roles that is made as a whole or not at all. */
struct btrfs_role_request {
	struct btrfs_role_change *changes;
	u32 nr;
	/* Leave it to the caller if profiles cannot be satisfied any more. */
	bool force;
	/* Neither wait for the list of devices nor for the commit. */
	bool nowait;

	/* Of a request that failed: which device (or 0) and why. */
	u64 failed_devid;
	enum btrfs_device_roles_reason reason;
};

#ifdef CONFIG_BTRFS_DEVICE_ROLES

void btrfs_device_set_type(struct btrfs_device *device, u64 type);
void btrfs_device_load_type(struct btrfs_fs_info *fs_info,
			    struct btrfs_device *device, u64 type);
void btrfs_device_inherit_type(struct btrfs_device *device,
			       const struct btrfs_device *from);

enum btrfs_role_rank btrfs_device_role_rank(const struct btrfs_fs_info *fs_info,
					    const struct btrfs_device *device,
					    u64 bg_flags);
u64 btrfs_device_role_system_room(const struct btrfs_fs_info *fs_info,
				  const struct btrfs_device *device,
				  u64 bg_flags);
u8 btrfs_device_role_in_force(const struct btrfs_fs_info *fs_info,
			      const struct btrfs_device *device);
void btrfs_device_role_init(struct btrfs_fs_info *fs_info);
void btrfs_device_role_stop(struct btrfs_fs_info *fs_info);
void btrfs_device_role_update_space(struct btrfs_fs_info *fs_info);
void btrfs_device_role_update_unallocated(struct btrfs_fs_info *fs_info);
void btrfs_device_role_update_statfs(struct btrfs_fs_info *fs_info);
void btrfs_device_role_sync_statfs(struct btrfs_fs_info *fs_info);
void btrfs_device_role_note_spill(struct btrfs_fs_info *fs_info, u64 bg_flags);
bool btrfs_device_role_pass_over(struct btrfs_block_group *bg, bool early);
bool btrfs_device_role_copies_writeable(const struct btrfs_block_group *bg);
int btrfs_device_role_replace_ro(struct btrfs_block_group *bg);
bool btrfs_device_role_last_resort(struct btrfs_fs_info *fs_info, u64 flags);
void btrfs_device_role_remount(struct btrfs_fs_info *fs_info);
u64 btrfs_device_role_space(const struct btrfs_fs_info *fs_info, u64 profile);
bool btrfs_device_role_metadata_grows(struct btrfs_fs_info *fs_info);
u64 btrfs_device_role_own_space(const struct btrfs_fs_info *fs_info, u64 profile);
u64 btrfs_device_role_system_space(const struct btrfs_fs_info *fs_info, u64 profile);
u64 btrfs_device_role_unallocated(const struct btrfs_fs_info *fs_info,
				  u64 bg_flags);
u64 btrfs_device_role_chunk_size(const struct btrfs_fs_info *fs_info,
				 u64 bg_flags, u64 chunk_size);
bool btrfs_device_roles_in_force(const struct btrfs_fs_info *fs_info);
u64 btrfs_device_role_avail_data(struct btrfs_fs_info *fs_info);
bool btrfs_device_can_have_role(const struct btrfs_device *device);
u64 btrfs_device_role_misplaced_bytes(struct btrfs_fs_info *fs_info,
				      u64 bg_type);
const char *btrfs_device_roles_reason(enum btrfs_device_roles_reason reason);
void btrfs_device_role_count(const struct btrfs_fs_info *fs_info, bool stored,
			     struct btrfs_role_counts *counts);
enum btrfs_device_roles_reason
btrfs_device_role_check_counts(struct btrfs_fs_info *fs_info,
			       const struct btrfs_role_counts *before,
			       const struct btrfs_role_counts *after);
void btrfs_device_role_note_chunk(struct btrfs_fs_info *fs_info, u64 bg_flags,
				  const struct btrfs_device_info *infos, u32 nr);
void btrfs_device_role_send_events(struct btrfs_fs_info *fs_info);
void btrfs_device_role_check_mount(struct btrfs_fs_info *fs_info);
int btrfs_device_role_check_removal(struct btrfs_fs_info *fs_info,
				    const struct btrfs_device *device);
void btrfs_device_role_note_removal(struct btrfs_fs_info *fs_info,
				    const struct btrfs_device *device);
bool btrfs_device_role_allows_balance(struct btrfs_fs_info *fs_info,
				      const struct btrfs_balance_control *bctl);
int btrfs_set_device_roles(struct btrfs_fs_info *fs_info,
			   struct btrfs_role_request *request);
long btrfs_ioctl_device_roles(struct file *file, void __user *argp);
long btrfs_ioctl_add_dev_role(struct file *file, void __user *argp);
ssize_t btrfs_device_role_show(const struct btrfs_device *device, char *buf);
ssize_t btrfs_device_role_store(struct btrfs_device *device,
				struct kobject *kobj,
				const struct attribute *attr,
				const char *buf, size_t len);

#else

static inline void btrfs_device_set_type(struct btrfs_device *device, u64 type)
{
	device->type = type;
}

static inline void btrfs_device_load_type(struct btrfs_fs_info *fs_info,
					  struct btrfs_device *device, u64 type)
{
	device->type = type;
	device->commit_type = type;
}

static inline void btrfs_device_inherit_type(struct btrfs_device *device,
					     const struct btrfs_device *from)
{
}

static inline enum btrfs_role_rank
btrfs_device_role_rank(const struct btrfs_fs_info *fs_info,
		       const struct btrfs_device *device, u64 bg_flags)
{
	return BTRFS_ROLE_RANK_FIRST;
}

static inline u64 btrfs_device_role_system_room(const struct btrfs_fs_info *fs_info,
						const struct btrfs_device *device,
						u64 bg_flags)
{
	return 0;
}

static inline void btrfs_device_role_init(struct btrfs_fs_info *fs_info)
{
}

static inline void btrfs_device_role_stop(struct btrfs_fs_info *fs_info)
{
}

static inline void btrfs_device_role_update_space(struct btrfs_fs_info *fs_info)
{
}

static inline void btrfs_device_role_update_unallocated(struct btrfs_fs_info *fs_info)
{
}

static inline bool btrfs_device_role_pass_over(struct btrfs_block_group *bg,
					       bool early)
{
	return false;
}

static inline bool
btrfs_device_role_copies_writeable(const struct btrfs_block_group *bg)
{
	return false;
}

static inline int btrfs_device_role_replace_ro(struct btrfs_block_group *bg)
{
	return -ENOSPC;
}

static inline bool
btrfs_device_role_last_resort(struct btrfs_fs_info *fs_info, u64 flags)
{
	return false;
}

static inline void btrfs_device_role_remount(struct btrfs_fs_info *fs_info)
{
}

static inline u64 btrfs_device_role_space(const struct btrfs_fs_info *fs_info,
					  u64 profile)
{
	return U64_MAX;
}

static inline bool btrfs_device_role_metadata_grows(struct btrfs_fs_info *fs_info)
{
	return true;
}

static inline u64 btrfs_device_role_own_space(const struct btrfs_fs_info *fs_info,
					      u64 profile)
{
	return 0;
}

static inline u64 btrfs_device_role_system_space(const struct btrfs_fs_info *fs_info,
						 u64 profile)
{
	return 0;
}

static inline u64 btrfs_device_role_unallocated(const struct btrfs_fs_info *fs_info,
						u64 bg_flags)
{
	return atomic64_read(&fs_info->free_chunk_space);
}

static inline u64 btrfs_device_role_chunk_size(const struct btrfs_fs_info *fs_info,
					       u64 bg_flags, u64 chunk_size)
{
	return chunk_size;
}

static inline bool btrfs_device_roles_in_force(const struct btrfs_fs_info *fs_info)
{
	return false;
}

static inline u64 btrfs_device_role_avail_data(struct btrfs_fs_info *fs_info)
{
	return 0;
}

static inline void btrfs_device_role_note_chunk(struct btrfs_fs_info *fs_info,
						u64 bg_flags,
						const struct btrfs_device_info *infos,
						u32 nr)
{
}

static inline void btrfs_device_role_send_events(struct btrfs_fs_info *fs_info)
{
}

static inline void btrfs_device_role_check_mount(struct btrfs_fs_info *fs_info)
{
}

static inline void btrfs_device_role_note_removal(struct btrfs_fs_info *fs_info,
						  const struct btrfs_device *device)
{
}

static inline int btrfs_device_role_check_removal(struct btrfs_fs_info *fs_info,
						  const struct btrfs_device *device)
{
	return 0;
}

static inline bool btrfs_device_role_allows_balance(struct btrfs_fs_info *fs_info,
						    const struct btrfs_balance_control *bctl)
{
	return true;
}

static inline long btrfs_ioctl_device_roles(struct file *file,
					    void __user *argp)
{
	return -ENOTTY;
}

static inline long btrfs_ioctl_add_dev_role(struct file *file,
					    void __user *argp)
{
	return -ENOTTY;
}

#endif /* CONFIG_BTRFS_DEVICE_ROLES */

#endif
