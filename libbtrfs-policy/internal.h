/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the library share with each other and nobody else.
 * Functions return 0 or -errno; those that take a handle leave an error text in
 * it whenever they fail.
 */
#ifndef BP_INTERNAL_H
#define BP_INTERNAL_H

#include <errno.h>
#include <stdarg.h>

#include "backend.h"
#include "btrfs-policy.h"
#include "cleanup.h"

#define BP_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BP_PUBLIC __attribute__((visibility("default")))
#define BP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#define BP_FSID_LENGTH 37
#define BP_ERROR_LENGTH 2048
/* No sysfs file of btrfs is longer than a page. */
#define BP_SYSFS_LENGTH 4097

/* Where settings that outlive a mount are kept, one file a file system. */
#define BP_SAVED_DIR "/etc/btrfs-policy.d"

/* Names of the role files; a patch set that is older than ours has the second. */
#define BP_FILE_ROLE "devinfo/%llu/role"
#define BP_FILE_HINT "devinfo/%llu/type"

struct bp_device {
	struct btrfs_policy_device pub;
	char uuid[BP_FSID_LENGTH];
	char *path;
	char *model;
	char *transport;
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
	/* For tree searches, kept because there can be very many of them. */
	struct btrfs_ioctl_search_args_v2 *search;
	char error[BP_ERROR_LENGTH];
};

/* errors.c */
int bp_error(struct btrfs_policy_fs *fs, int err, const char *fmt, ...) BP_PRINTF(3, 4);
int bp_failed(struct btrfs_policy_fs *fs, int err, const char *fmt, ...) BP_PRINTF(3, 4);
int bp_error_more(struct btrfs_policy_fs *fs, int err, const char *fmt, ...) BP_PRINTF(3, 4);
int bp_nomem(struct btrfs_policy_fs *fs);
int bp_not_open(struct btrfs_policy_fs *fs);
char *bp_format(const char *fmt, ...) BP_PRINTF(1, 2);

/* fs.c */
struct btrfs_policy_fs *bp_fs_new_with(const struct bp_backend *ops, void *backend);

/* mount.c */
int bp_find_target(struct btrfs_policy_fs *fs, const char *target, char **mount_point);

/* devices.c */
int bp_devices_read(struct btrfs_policy_fs *fs, const struct btrfs_ioctl_fs_info_args *info);
void bp_devices_free(struct btrfs_policy_fs *fs);
struct bp_device *bp_device_find(struct btrfs_policy_fs *fs, uint64_t devid);
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
int bp_need(struct btrfs_policy_fs *fs, const char *capability, const char *what);
bool bp_is_hint_kernel(const struct btrfs_policy_fs *fs);
const char *bp_enforced_advice(const struct btrfs_policy_fs *fs);

/* tree.c */
struct bp_item {
	uint64_t objectid;
	uint32_t type;
	uint64_t offset;
	const void *data;
	size_t length;
};

struct bp_range {
	uint64_t tree;
	struct { uint64_t objectid; uint32_t type; uint64_t offset; } first, last;
};

typedef int (*bp_item_fn)(struct btrfs_policy_fs *fs, const struct bp_item *item, void *user);
int bp_tree_walk(struct btrfs_policy_fs *fs, const struct bp_range *range, bp_item_fn fn,
		 void *user);
/*
 * With the feature remap-tree, which older headers do not have: chunks of that tree, chunks whose
 * data is elsewhere, and longer items of block groups.
 */
#define BP_CHUNK_REMAP_TREE (1ULL << 12)
#define BP_CHUNK_REMAPPED (1ULL << 11)
#define BP_LONG_GROUP_SIZE (sizeof(struct btrfs_block_group_item) + 12)
int bp_decode_device(const struct bp_item *item, struct btrfs_dev_item *device);
/* -EOPNOTSUPP for a remapped chunk; those of the remap tree become metadata */
int bp_decode_chunk(const struct bp_item *item, struct btrfs_policy_chunk *chunk,
		    uint64_t **devids);
int bp_decode_block_group(const struct bp_item *item, uint64_t *used);

/* profiles.c */
struct bp_profile {
	uint64_t flag;
	const char *name;
	uint32_t copies;
	uint32_t parity;
	uint32_t dev_stripes;
	uint32_t devs_min;
	uint32_t devs_max; /* 0: as many as there are */
	uint32_t devs_increment;
};

const struct bp_profile *bp_profile_at(size_t index);
const struct bp_profile *bp_profile_of(uint64_t type);
enum btrfs_policy_kind bp_kind_of(uint64_t type);
uint64_t bp_stripe_length(const struct bp_profile *profile, uint64_t length, uint32_t stripes);

/* roles.c */
enum btrfs_policy_role bp_role_from_disk(uint64_t type);
uint64_t bp_role_to_disk(enum btrfs_policy_role role, uint64_t type);
uint64_t bp_role_other_bits(uint64_t type);
unsigned int bp_role_core(enum btrfs_policy_role role);

/* settings.c: what public rows do not say */
struct bp_setting {
	struct btrfs_policy_setting pub;
	/* Text to the form that setting_get() hands out; -EINVAL if it is none. */
	int (*parse)(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		     const char *text, char **value);
	/* That form to what the kernel's file wants, and back. */
	char *(*to_file)(const char *value);
	int (*from_file)(const char *text, char **value);
};

const struct bp_setting *bp_setting_find(const char *name);
int bp_setting_file(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    const char **file);
int bp_setting_read(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    uint64_t devid, char **value);
int bp_setting_check_device(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
			    uint64_t devid);

/* values.c: grammars of settings */
int bp_parse_choice(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		    const char *text, char **value);
int bp_parse_penalty(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		     const char *text, char **value);
int bp_parse_bool(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		  const char *text, char **value);
int bp_parse_readahead(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		       const char *text, char **value);
int bp_parse_role(struct btrfs_policy_fs *fs, const struct bp_setting *setting,
		  const char *text, char **value);
char *bp_file_same(const char *value);
char *bp_file_bool(const char *value);
char *bp_file_readahead(const char *value);
int bp_value_choice(const char *text, char **value);
int bp_value_number(const char *text, char **value);
int bp_value_bool(const char *text, char **value);
int bp_value_readahead(const char *text, char **value);

/* apply-roles.c */
struct bp_role_change {
	uint64_t devid;
	enum btrfs_policy_role old_role;
	enum btrfs_policy_role new_role;
};

int bp_roles_check(struct btrfs_policy_fs *fs, const struct bp_role_change *changes,
		   size_t count, bool force);
int bp_roles_write(struct btrfs_policy_fs *fs, const struct bp_role_change *changes,
		   size_t count, bool force);

/* saved.c */
struct bp_saved_value {
	const char *name;
	const char *value;
	bool written;
};

int bp_saved_compose(struct btrfs_policy_fs *fs, struct bp_saved_value *values, size_t count,
		     char **text);
int bp_saved_write(struct btrfs_policy_fs *fs, const char *text);
int bp_saved_lock(struct btrfs_policy_fs *fs, int *lock);
void bp_saved_unlock(struct btrfs_policy_fs *fs, int lock);

/* select.c: a device as the allocator sees it, real or imagined */
struct bp_site {
	uint64_t devid;
	enum btrfs_policy_role role;
	bool writeable;
	uint64_t size;
	uint64_t room; /* bytes that chunks could take */
	uint64_t hole; /* the most of them in one piece; 0: all */
	bool lost;     /* in a what-if */
};

/* Nothing is ever put into the first MiB of a device. */
#define BP_DEVICE_RESERVED (1024ULL * 1024)

/* A chunk that would be allocated; `devids` and `offsets` have an entry for each stripe. */
struct bp_target {
	uint64_t length;
	uint64_t stripe_length;
	uint64_t wanted; /* length of hole that was looked for on each device */
	uint32_t stripes;
	uint64_t *devids;
	uint64_t *offsets; /* array.c fills them in */
};

struct bp_site *bp_site_find(struct bp_site *sites, size_t count, uint64_t devid);
size_t bp_target_capacity(size_t sites);
int bp_select(const struct bp_site *sites, size_t count, uint64_t type,
	      struct bp_target *target);
enum btrfs_policy_misplaced bp_judge(struct bp_site *sites, size_t count,
				     const struct btrfs_policy_chunk *chunk);
uint32_t bp_not_first_choice(struct bp_site *sites, size_t count, uint64_t type,
			     const uint64_t *devids, uint32_t stripes);
bool bp_site_misuses(const struct bp_site *site, const struct btrfs_policy_chunk *chunk);
uint64_t bp_site_hole(const struct bp_site *site);
uint64_t bp_site_room_for(const struct bp_site *site, uint64_t type);
uint64_t bp_site_offer(const struct bp_site *site, uint64_t type);
uint64_t bp_worthwhile(const struct bp_site *sites, size_t count, uint64_t type);
uint64_t bp_largest_chunk(const struct bp_site *sites, size_t count, uint64_t type);
uint64_t bp_type_of_new(uint64_t kind_flags, uint64_t profiles, uint32_t writeable);
bool bp_excluded(const struct bp_site *site, uint64_t type);
uint32_t bp_allowed_sites(const struct bp_site *sites, size_t count, uint64_t type);

#endif
