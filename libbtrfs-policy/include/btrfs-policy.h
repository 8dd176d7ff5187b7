/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Public interface of libbtrfs-policy: device roles, read policies and the
 * placement of chunks of btrfs file systems.
 *
 * Conventions, everywhere:
 * - Functions return 0 or a negative errno value; what else they return is said
 *   with them.  The library never prints and never exits.
 * - After a failure of a function that takes a handle, btrfs_policy_fs_error()
 *   has a sentence for people: what was tried, on what, why, what to do.
 * - Structures that the library hands out as `const` pointers belong to the
 *   object they came from and live as long as it.  Members are only ever added
 *   at their end, so never copy, embed or make arrays of them.
 * - Structures that the caller hands in start with `size`; fill it with sizeof
 *   and zero the rest.  Members that a caller does not know of count as zero.
 * - Sizes, offsets and free space are bytes.  A devid of 0 means "no device".
 * - A handle may be used by one thread at a time; different handles are
 *   independent.  Tables of names and settings are constant.
 *
 * Error numbers with one meaning in the whole library (a command maps them):
 *   -EINVAL      bad text or value, or the path is not on btrfs
 *   -EOPNOTSUPP  this kernel lacks the feature; the error names the missing file
 *   -EBUSY       another exclusive operation is running; the error names it
 *   -ENODEV      no such device in this file system
 *   -ENOENT      no such path, UUID or label
 *   -EPERM, -EACCES  no permission
 *   -EROFS       the file system is mounted read-only
 *   -ENOSPC      not enough space on the devices that a chunk should go to
 *   -EUCLEAN     the kernel returned inconsistent data
 */
#ifndef BTRFS_POLICY_H
#define BTRFS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * btrfs_policy_version() - version of the library at run time
 *
 * Return: a constant text such as "0.1.0".
 */
const char *btrfs_policy_version(void);

/* ---- Roles -------------------------------------------------------------- */

/**
 * enum btrfs_policy_role - the use that a device is meant for
 * @BTRFS_POLICY_ROLE_DATA_PREFERRED: data first choice, metadata allowed
 * @BTRFS_POLICY_ROLE_METADATA_PREFERRED: metadata first choice, data allowed
 * @BTRFS_POLICY_ROLE_DATA_ONLY: never metadata
 * @BTRFS_POLICY_ROLE_METADATA_ONLY: never data
 * @BTRFS_POLICY_ROLE_FOREIGN: another patch set's mark to avoid a device; read, never set
 * @BTRFS_POLICY_ROLE_UNKNOWN: could not be read (no permission)
 * @BTRFS_POLICY_ROLE_DRAINING: no new chunks; set by btrfs_policy_drain()
 *
 * The values 0 to 3 are two bits: bit 0 prefer metadata, bit 1 exclude the
 * other kind.  They are not the numbers stored on disk.
 */
enum btrfs_policy_role {
	BTRFS_POLICY_ROLE_DATA_PREFERRED = 0,
	BTRFS_POLICY_ROLE_METADATA_PREFERRED = 1,
	BTRFS_POLICY_ROLE_DATA_ONLY = 2,
	BTRFS_POLICY_ROLE_METADATA_ONLY = 3,
	BTRFS_POLICY_ROLE_FOREIGN = 4,
	BTRFS_POLICY_ROLE_UNKNOWN = 5,
	BTRFS_POLICY_ROLE_DRAINING = 6,
};

/**
 * btrfs_policy_role_name() - the word for a role
 * @role: any value of the enum
 *
 * Return: "data-preferred", "metadata-preferred", "data-only", "metadata-only",
 * "foreign", "draining" or "unknown" (also for values outside the enum).
 */
const char *btrfs_policy_role_name(enum btrfs_policy_role role);

/**
 * btrfs_policy_role_parse() - the role for a word
 * @text: one of the four names that can be set, whole and in small letters
 * @role: receives the role
 *
 * Return: 0, or -EINVAL for any other text.
 */
int btrfs_policy_role_parse(const char *text, enum btrfs_policy_role *role);

/* ---- Kinds of chunks ---------------------------------------------------- */

/**
 * enum btrfs_policy_kind - kind of the contents of a chunk
 * @BTRFS_POLICY_KIND_DATA: file contents
 * @BTRFS_POLICY_KIND_METADATA: trees
 * @BTRFS_POLICY_KIND_SYSTEM: the chunk tree; roles treat it as metadata
 * @BTRFS_POLICY_KIND_MIXED: mixed block groups; roles do not apply to them
 * @BTRFS_POLICY_KINDS: how many kinds there are, for arrays
 */
enum btrfs_policy_kind {
	BTRFS_POLICY_KIND_DATA = 0,
	BTRFS_POLICY_KIND_METADATA = 1,
	BTRFS_POLICY_KIND_SYSTEM = 2,
	BTRFS_POLICY_KIND_MIXED = 3,
	BTRFS_POLICY_KINDS = 4,
};

/**
 * btrfs_policy_kind_name() - the word that btrfs uses for a kind
 * @kind: any value of the enum
 *
 * Return: "Data", "Metadata", "System", "Data+Metadata", or "unknown".
 */
const char *btrfs_policy_kind_name(enum btrfs_policy_kind kind);

/* ---- File systems ------------------------------------------------------- */

/** struct btrfs_policy_fs - a btrfs file system; opaque, counted references */
struct btrfs_policy_fs;

/**
 * btrfs_policy_fs_new() - make an empty handle
 *
 * Return: a handle with one reference, or NULL when there is no memory.
 */
struct btrfs_policy_fs *btrfs_policy_fs_new(void);

/**
 * btrfs_policy_fs_ref() - take a reference
 * @fs: handle or NULL
 *
 * Return: @fs.
 */
struct btrfs_policy_fs *btrfs_policy_fs_ref(struct btrfs_policy_fs *fs);

/**
 * btrfs_policy_fs_unref() - drop a reference; the last one closes and frees
 * @fs: handle or NULL
 *
 * Return: NULL, so that `fs = btrfs_policy_fs_unref(fs)` leaves no stale pointer.
 */
struct btrfs_policy_fs *btrfs_policy_fs_unref(struct btrfs_policy_fs *fs);

/**
 * btrfs_policy_fs_open() - open a mounted file system
 * @fs: handle from btrfs_policy_fs_new(), not opened before
 * @target: a path on the file system (mount point or anything below it), one of
 *	its block devices, the file system's UUID or its label ("UUID=..." and "LABEL=..." too); NULL for
 *	the current directory's file system or, if that is not btrfs, for the
 *	only btrfs that is mounted
 *
 * A path that exists wins over a UUID or label that looks the same.  Nothing on
 * the file system is changed.  Without CAP_SYS_ADMIN roles may stay unknown and
 * placement cannot be read; opening still works.
 *
 * Return: 0; -EINVAL (not btrfs; more than one candidate, the error lists
 * them), -ENOENT, -EACCES, -EPERM, -EUCLEAN, -ENOMEM.
 */
int btrfs_policy_fs_open(struct btrfs_policy_fs *fs, const char *target);

/**
 * btrfs_policy_mounts() - where file systems are mounted
 * @fs: handle from btrfs_policy_fs_new(), not opened before; it stays that way
 * @paths: receives an array of texts that ends with NULL, to be freed with
 *	btrfs_policy_strv_free(): one mount point for each mounted btrfs, in the
 *	order of the mount table, and each that fails, so that it is not overlooked;
 *	mount points that the caller cannot reach are left out
 *
 * Return: 0, -EINVAL if @fs is open, -EIO if the mount table cannot be read, -ENOMEM.
 */
int btrfs_policy_mounts(struct btrfs_policy_fs *fs, char ***paths);

/**
 * btrfs_policy_fs_refresh() - read devices, roles and capabilities again
 * @fs: open handle
 *
 * Pointers to devices and capabilities, and the texts of btrfs_policy_enforced() and
 * btrfs_policy_module_version(), that were handed out before are invalid afterwards,
 * whatever the result is.
 *
 * Return: 0 or a negative error as btrfs_policy_fs_open().
 */
int btrfs_policy_fs_refresh(struct btrfs_policy_fs *fs);

/**
 * btrfs_policy_fs_error() - the sentence that explains the last failure
 * @fs: handle or NULL
 *
 * Return: text without a final full stop or newline, valid until the next call
 * with the handle; "" without a failure.  Names from outside (labels, paths)
 * are not escaped in it: escape it for a terminal.
 */
const char *btrfs_policy_fs_error(const struct btrfs_policy_fs *fs);

/**
 * enum btrfs_policy_hint - an option of the call that would have avoided its failure
 * @BTRFS_POLICY_HINT_NONE: there is none
 * @BTRFS_POLICY_HINT_FORCE: BTRFS_POLICY_FORCE
 * @BTRFS_POLICY_HINT_ENQUEUE: BTRFS_POLICY_ENQUEUE, or @enqueue of a balance
 */
enum btrfs_policy_hint {
	BTRFS_POLICY_HINT_NONE = 0,
	BTRFS_POLICY_HINT_FORCE = 1,
	BTRFS_POLICY_HINT_ENQUEUE = 2,
};

/**
 * btrfs_policy_fs_hint() - which option would have avoided the last failure
 * @fs: handle or NULL
 *
 * Return: the option, for the caller to name in its own words behind the text of
 * btrfs_policy_fs_error().
 */
enum btrfs_policy_hint btrfs_policy_fs_hint(const struct btrfs_policy_fs *fs);

/**
 * struct btrfs_policy_fs_info - properties of an open file system
 * @fsid: UUID in its usual text form (36 characters)
 * @label: label, "" if there is none; untrusted bytes
 * @mount_point: mount point that the target was found in, NULL if not mounted
 * @nodesize: bytes of a tree block
 * @sectorsize: bytes of a sector
 * @devices: number of devices, missing ones included
 * @missing: number of missing devices
 * @read_only: mounted read-only
 * @mixed: has mixed block groups, which ignore roles
 * @offline: not mounted, see btrfs_policy_fs_open_offline()
 */
struct btrfs_policy_fs_info {
	const char *fsid;
	const char *label;
	const char *mount_point;
	uint32_t nodesize;
	uint32_t sectorsize;
	uint32_t devices;
	uint32_t missing;
	bool read_only;
	bool mixed;
	bool offline;
};

/**
 * btrfs_policy_fs_info() - properties of an open file system
 * @fs: open handle
 *
 * Return: the properties, or NULL if @fs is not open.
 */
const struct btrfs_policy_fs_info *btrfs_policy_fs_info(const struct btrfs_policy_fs *fs);

/**
 * enum btrfs_policy_tristate - yes, no, or not known
 * @BTRFS_POLICY_UNKNOWN: could not be found out
 * @BTRFS_POLICY_NO: no
 * @BTRFS_POLICY_YES: yes
 */
enum btrfs_policy_tristate {
	BTRFS_POLICY_UNKNOWN = -1,
	BTRFS_POLICY_NO = 0,
	BTRFS_POLICY_YES = 1,
};

/**
 * struct btrfs_policy_device - one device of a file system
 * @devid: number of the device in the file system, from 1
 * @uuid: device UUID as text (36 characters)
 * @path: block device, NULL if missing
 * @size: bytes of the device that btrfs uses
 * @allocated: bytes of it that chunks occupy
 * @missing: the device is not there
 * @rotational: spinning disk?
 * @model: model name, NULL if not known; untrusted bytes
 * @transport: "nvme", "sata", "usb", ... , NULL if not known
 * @role: the use that the device is meant for
 * @role_in_force: the kernel acts on @role; never true on a kernel that ignores it
 * @disk_type: the device item's whole type field, valid if @disk_type_known
 * @disk_type_known: the device item could be read
 * @rotation_rate: revolutions a minute, 0 if not rotational or not known
 */
struct btrfs_policy_device {
	uint64_t devid;
	const char *uuid;
	const char *path;
	uint64_t size;
	uint64_t allocated;
	bool missing;
	enum btrfs_policy_tristate rotational;
	const char *model;
	const char *transport;
	enum btrfs_policy_role role;
	bool role_in_force;
	uint64_t disk_type;
	bool disk_type_known;
	uint32_t rotation_rate;
};

/**
 * btrfs_policy_device_count() - how many devices the file system has
 * @fs: open handle
 *
 * Return: count, missing devices included; 0 if @fs is not open.
 */
size_t btrfs_policy_device_count(const struct btrfs_policy_fs *fs);

/**
 * btrfs_policy_device_at() - one device, in ascending order of devid
 * @fs: open handle
 * @index: from 0 to btrfs_policy_device_count() - 1
 *
 * Return: the device or NULL.
 */
const struct btrfs_policy_device *btrfs_policy_device_at(const struct btrfs_policy_fs *fs,
							 size_t index);

/**
 * btrfs_policy_device_find() - the device with a devid
 * @fs: open handle
 * @devid: number of the device
 *
 * Return: the device or NULL.
 */
const struct btrfs_policy_device *btrfs_policy_device_find(const struct btrfs_policy_fs *fs,
							   uint64_t devid);

/**
 * btrfs_policy_device_select() - the devices that a user's word means
 * @fs: open handle
 * @word: a path of a block device (symbolic links are followed and the device
 *	number is compared), a devid, "rotational" or "nonrotational"
 * @devids: receives an array to be freed with free(), ascending
 * @count: receives its length, at least 1 on success
 *
 * A word of digits alone is a devid even if a file has that name (say "./7").
 *
 * Return: 0; -ENODEV if no device of the file system fits, -EINVAL for a word
 * that is none of these, -ENOENT or -EACCES from resolving a path, -ENOMEM.
 */
int btrfs_policy_device_select(struct btrfs_policy_fs *fs, const char *word,
			       uint64_t **devids, size_t *count);

/**
 * btrfs_policy_device_is_word() - does a word mean devices without being a path?
 * @word: text as btrfs_policy_device_select() takes it
 *
 * Return: true for a devid, "rotational" and "nonrotational".
 */
bool btrfs_policy_device_is_word(const char *word);

/* ---- Capabilities of the kernel ----------------------------------------- */

/**
 * struct btrfs_policy_capability - one thing a kernel can or cannot do
 * @name: stable word, for example "roles-enforced"
 * @available: this kernel, with this file system, can
 * @file: the file that proves it, full path
 * @help: its purpose, one line
 * @advice: the remedy if it is not available
 */
struct btrfs_policy_capability {
	const char *name;
	bool available;
	const char *file;
	const char *help;
	const char *advice;
};

/**
 * btrfs_policy_capability_at() - one row of the capability table
 * @fs: open handle
 * @index: from 0
 *
 * Names: "roles-enforced", "roles-set", "roles-atomic", "roundrobin",
 * "read-policy", "penalties", "readahead", "lagging-superblocks",
 * "move-stripe", "placement-counters".
 *
 * Return: the row, or NULL behind the last one.
 */
const struct btrfs_policy_capability *
btrfs_policy_capability_at(const struct btrfs_policy_fs *fs, size_t index);

/**
 * btrfs_policy_capability_find() - a row of the capability table by name
 * @fs: open handle
 * @name: word of the capability
 *
 * Return: the row, or NULL for an unknown name.
 */
const struct btrfs_policy_capability *
btrfs_policy_capability_find(const struct btrfs_policy_fs *fs, const char *name);

/**
 * btrfs_policy_enforced() - does the running kernel obey roles?
 * @fs: open handle
 * @why: receives one line for people, or NULL if not wanted
 *
 * Return: true only if a file of the kernel that does so was found.
 */
bool btrfs_policy_enforced(const struct btrfs_policy_fs *fs, const char **why);

/**
 * btrfs_policy_kernel_name() - which kind of kernel this is
 * @fs: open handle
 *
 * Return: "device-role", "allocation-hint", "experimental-read-policy", "stock",
 * or "offline" for a file system that is not mounted.
 */
const char *btrfs_policy_kernel_name(const struct btrfs_policy_fs *fs);

/**
 * btrfs_policy_module_version() - version of the loaded module btrfs.ko
 * @fs: open handle
 *
 * Return: the version that the module states, or NULL: stock modules have none.
 */
const char *btrfs_policy_module_version(const struct btrfs_policy_fs *fs);

/**
 * btrfs_policy_exclusive_operation() - the exclusive operation that is running
 * @fs: open handle
 * @name: receives a text to be freed: "none", "balance", "balance paused",
 *	"device add", ... as the kernel names it
 *
 * Return: 0; -EOPNOTSUPP if the kernel does not tell; -ENOMEM, -EIO.
 */
int btrfs_policy_exclusive_operation(struct btrfs_policy_fs *fs, char **name);

/* ---- The rest has headers of its own ------------------------------------ */

#include "btrfs-policy-settings.h"
#include "btrfs-policy-saved.h"
#include "btrfs-policy-placement.h"
#include "btrfs-policy-balance.h"
#include "btrfs-policy-suggest.h"

#ifdef __cplusplus
}
#endif

#endif
