/* SPDX-License-Identifier: GPL-2.0 */

/*
 * Device roles: which devices may and should carry data and metadata.
 *
 * The decisions are in device-role-core.c. Roles are in force if any
 * writeable device has one.
 */

#ifndef BTRFS_DEVICE_ROLE_H
#define BTRFS_DEVICE_ROLE_H

#include "accessors.h"
#include "device-role-core.h"
#include "fs.h"

struct file;
struct kobj_attribute;
struct btrfs_balance_control;
struct btrfs_block_group;
struct btrfs_chunk_map;

/*
 * The type of a device is the on-disk field, its role is the decoded meaning, a
 * byte that can be read without a lock. Writers hold chunk_mutex.
 */
static inline void btrfs_device_set_type(struct btrfs_device *device, u64 type)
{
	device->type = type;
	WRITE_ONCE(device->role, btrfs_role_from_disk(type));
}

/* The role that counts: none if they are to be ignored, as in mixed block groups. */
static inline u8 btrfs_device_role(const struct btrfs_fs_info *fs_info,
				   const struct btrfs_device *device)
{
	if (btrfs_test_opt(fs_info, NODEVICE_ROLES) ||
	    btrfs_fs_incompat(fs_info, MIXED_GROUPS))
		return 0;
	return READ_ONCE(device->role);
}

static inline bool btrfs_device_roles_in_force(const struct btrfs_fs_info *fs_info)
{
	/* Pairs with the release in btrfs_device_role_update_avail(): the sums. */
	return smp_load_acquire(&fs_info->roles.in_force);
}

/* May this task use devices that exclude the kind that it allocates? */
static inline bool btrfs_device_roles_ignored(const struct btrfs_fs_info *fs_info)
{
	return READ_ONCE(fs_info->roles.replace_task) == current ||
	       READ_ONCE(fs_info->roles.last_resort_task) == current;
}

/* The target of a running replace gets the role of the source in the end. */
static inline bool btrfs_device_can_have_role(const struct btrfs_device *device)
{
	return test_bit(BTRFS_DEV_STATE_IN_FS_METADATA, &device->dev_state) &&
	       !test_bit(BTRFS_DEV_STATE_REPLACE_TGT, &device->dev_state);
}

/* How welcome a chunk with @bg_flags is on the device. */
static inline enum btrfs_role_rank
btrfs_device_role_rank(const struct btrfs_fs_info *fs_info,
		       const struct btrfs_device *device, u64 bg_flags)
{
	return btrfs_role_rank(btrfs_device_role(fs_info, device), btrfs_role_kind(bg_flags));
}

/* Bytes of the device that a chunk with @bg_flags has to leave unallocated. */
static inline u64 btrfs_device_role_system_space(const struct btrfs_fs_info *fs_info,
						 const struct btrfs_device *device,
						 u64 bg_flags)
{
	if (bg_flags & BTRFS_BLOCK_GROUP_SYSTEM || btrfs_is_zoned(fs_info))
		return 0;
	return btrfs_role_system_space(btrfs_device_role(fs_info, device), device->total_bytes);
}

/* Most of these are called only with roles in force. */
void btrfs_device_role_update_avail(struct btrfs_fs_info *fs_info);
void btrfs_device_role_commit(struct btrfs_fs_info *fs_info);
void btrfs_device_role_warn_few(struct btrfs_fs_info *fs_info);
void btrfs_device_role_send_events(struct btrfs_fs_info *fs_info);
void btrfs_device_role_profile(const struct btrfs_fs_info *fs_info, u64 bg_flags,
			       struct btrfs_role_profile *profile);
void btrfs_device_role_count_chunk(const struct btrfs_fs_info *fs_info,
				   const struct btrfs_chunk_map *map,
				   struct btrfs_role_chunk *chunk);
u32 btrfs_device_role_select(const struct btrfs_fs_info *fs_info, u64 bg_flags,
			     struct btrfs_device_info *infos, u32 nr,
			     u64 max_stripe, u64 *max_chunk);
bool btrfs_device_role_pass_over(struct btrfs_block_group *bg, bool early);
void btrfs_device_role_note_chunk(struct btrfs_fs_info *fs_info, u64 bg_flags,
				  const struct btrfs_device_info *infos, u32 nr);
u64 btrfs_device_role_avail(const struct btrfs_fs_info *fs_info, u64 bg_flags);

extern const char * const btrfs_device_roles_reasons[];
void btrfs_device_role_count(const struct btrfs_fs_info *fs_info, bool stored,
			     const struct btrfs_device *except, u32 counts[2]);
int btrfs_device_role_check_counts(struct btrfs_fs_info *fs_info,
				   const u32 before[2], const u32 after[2]);
int btrfs_device_role_check_removal(struct btrfs_fs_info *fs_info,
				    const struct btrfs_device *device);
bool btrfs_device_role_allows_balance(struct btrfs_fs_info *fs_info,
				      const struct btrfs_balance_control *bctl);
long btrfs_ioctl_device_roles(struct file *file, void __user *argp);
long btrfs_ioctl_add_dev_role(struct file *file, void __user *argp);
ssize_t btrfs_device_role_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf);
ssize_t btrfs_device_role_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t len);
ssize_t btrfs_misplaced_bytes_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf);

int btrfs_device_role_replace_ro(struct btrfs_block_group *bg);
bool btrfs_device_role_last_resort(const struct btrfs_root *root, u64 flags);

#endif
