/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle of a file system and the properties that are read when it is opened.
 * Functions return 0 or -errno; those that take a handle leave an error text in
 * it whenever they fail.
 */
#ifndef BP_HANDLE_H
#define BP_HANDLE_H

#include "btrfs-policy.h"
#include "core/backend.h"
#include "core/base.h"

#define BP_FSID_LENGTH 37
#define BP_ERROR_LENGTH 2048
/* No sysfs file of btrfs is longer than a page. */
#define BP_SYSFS_LENGTH 4097

/* Names of the role files; a patch set that is older than ours has the second. */
#define BP_FILE_ROLE "devinfo/%llu/role"
#define BP_FILE_HINT "devinfo/%llu/type"

struct bp_device {
	struct btrfs_policy_device pub;
	char uuid[BP_FSID_LENGTH];
	char *path;	/* also of a device that is missing; model and transport are `pub`'s */
	bool writeable;
};

struct btrfs_policy_fs {
	unsigned int refs;
	const struct bp_backend *ops;
	void *backend;
	bool open;
	struct btrfs_policy_fs_info info;
	char fsid[BP_FSID_LENGTH];
	char label[BTRFS_LABEL_SIZE + 1];
	char *mount_point;
	struct bp_device *devices;
	size_t device_count;
	struct btrfs_policy_capability *capabilities;
	char *module_version; /* of the loaded btrfs.ko, or NULL */
	char *enforced_why;
	bool enforced;
	bool zoned;
	bool fixed_stripes; /* by its format: the kernel does not move them */
	bool unseen; /* mounted for this handle alone */
	bool no_sysfs; /* all capabilities are unknown; the kernel may have them */
	/* For tree searches, kept because there can be very many of them. */
	struct btrfs_ioctl_search_args_v2 *search;
	char error[BP_ERROR_LENGTH];
	enum btrfs_policy_hint hint;
};

/* errors.c */
int bp_error(struct btrfs_policy_fs *fs, int err, const char *fmt, ...) BP_PRINTF(3, 4);
int bp_failed(struct btrfs_policy_fs *fs, int err, const char *fmt, ...) BP_PRINTF(3, 4);
int bp_error_more(struct btrfs_policy_fs *fs, int err, const char *fmt, ...) BP_PRINTF(3, 4);
int bp_hint(struct btrfs_policy_fs *fs, int err, enum btrfs_policy_hint hint);
int bp_nomem(struct btrfs_policy_fs *fs);
int bp_not_open(struct btrfs_policy_fs *fs);

/* fs.c */
struct btrfs_policy_fs *bp_fs_new_with(const struct bp_backend *ops, void *backend);
int bp_fs_switch(struct btrfs_policy_fs *fs, const struct bp_backend *ops, void *backend,
		 const char *name, bool offline);

/* mount.c */
int bp_find_target(struct btrfs_policy_fs *fs, const char *target, char **mount_point);
bool bp_is_out_of_reach(int ret);

/* devices.c */
int bp_devices_read(struct btrfs_policy_fs *fs, const struct btrfs_ioctl_fs_info_args *info);
void bp_devices_free(struct btrfs_policy_fs *fs);
struct bp_device *bp_device_find(struct btrfs_policy_fs *fs, uint64_t devid);
int bp_is_seed(struct btrfs_policy_fs *fs);
const char *bp_read_only_advice(struct btrfs_policy_fs *fs);
void bp_uuid_text(const uint8_t *uuid, char *text);

/* device-roles.c */
int bp_device_roles_read(struct btrfs_policy_fs *fs);
int bp_role_current(struct btrfs_policy_fs *fs, uint64_t devid, enum btrfs_policy_role *role);

/* sysfs.c: files below /sys/fs/btrfs/<FSID>/ */
char *bp_sysfs_name(struct btrfs_policy_fs *fs, const char *file, uint64_t devid);
int bp_sysfs_read(struct btrfs_policy_fs *fs, const char *file, uint64_t devid, char **text);
int bp_sysfs_write(struct btrfs_policy_fs *fs, const char *file, uint64_t devid,
		   const char *text);
int bp_choice_current(const char *list, char **word);
int bp_choice_words(const char *list, char ***words);

/* capability.c */
int bp_capabilities_read(struct btrfs_policy_fs *fs);
void bp_capabilities_free(struct btrfs_policy_fs *fs);
bool bp_capable(const struct btrfs_policy_fs *fs, const char *name);
int bp_unread(struct btrfs_policy_fs *fs, const char *what);
int bp_need(struct btrfs_policy_fs *fs, const char *capability, const char *what);
bool bp_is_hint_kernel(const struct btrfs_policy_fs *fs);
const char *bp_enforced_advice(const struct btrfs_policy_fs *fs);

/* Nanoseconds between two polls of other operations, and so between two ticks. */
#define BP_TICK 500000000ULL

/* exclusive.c */
int bp_exclusive_check(struct btrfs_policy_fs *fs, bool *can_wait);
int bp_exclusive_wait(struct btrfs_policy_fs *fs, bool enqueue, int (*tick)(void *user),
		      void *user);

#endif
