/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of btrfs-policy.h, which includes it: what can be set, what it is set to,
 * and changing it.  The conventions at the top of btrfs-policy.h hold here too.
 * Not to be included alone.
 */
#ifndef BTRFS_POLICY_H
#error "include <btrfs-policy.h>"
#endif
#ifndef BTRFS_POLICY_SETTINGS_H
#define BTRFS_POLICY_SETTINGS_H

/* ---- Settings ----------------------------------------------------------- */

/**
 * enum btrfs_policy_scope - the object that a setting belongs to
 * @BTRFS_POLICY_SCOPE_FS: the file system
 * @BTRFS_POLICY_SCOPE_DEVICE: each device
 */
enum btrfs_policy_scope {
	BTRFS_POLICY_SCOPE_FS = 0,
	BTRFS_POLICY_SCOPE_DEVICE = 1,
};

/**
 * struct btrfs_policy_setting - one thing that can be read and set
 * @name: its word on command lines and in files: "read-policy", "readahead", ...
 * @title: the same for people, small letters: "read policy"
 * @scope: the object that it belongs to
 * @file: file below /sys/fs/btrfs/<FSID>/; "%llu" in it is replaced by the devid
 * @grammar: the values that may be written: "0..1000"
 * @help: one line
 * @capability: name of the capability it needs
 * @is_size: its values are bytes
 */
struct btrfs_policy_setting {
	const char *name;
	const char *title;
	enum btrfs_policy_scope scope;
	const char *file;
	const char *grammar;
	const char *help;
	const char *capability;
	bool is_size;
};

/**
 * btrfs_policy_setting_at() - one row of the table of settings
 * @index: from 0
 *
 * Return: the row, or NULL behind the last one.
 */
const struct btrfs_policy_setting *btrfs_policy_setting_at(size_t index);

/**
 * btrfs_policy_setting_find() - a row of the table of settings by name
 * @name: whole word
 *
 * Return: the row, or NULL.
 */
const struct btrfs_policy_setting *btrfs_policy_setting_find(const char *name);

/**
 * btrfs_policy_setting_get() - the value in force
 * @fs: open handle
 * @name: word of the setting
 * @devid: device for device settings, 0 for the others
 * @value: receives a text to be freed: for "read-policy" the name alone, with
 *	":parameter" where the kernel has one; for "readahead" bytes in decimal;
 *	for "penalty-mixed-only" and "lagging-superblocks" "yes" or "no"; for
 *	"role" the role on disk,
 *	whether or not the kernel obeys it
 *
 * Return: 0; -EINVAL unknown setting or a missing or needless device; -ENODEV;
 * -EOPNOTSUPP; -EPERM; -EIO; -ENOMEM.
 */
int btrfs_policy_setting_get(struct btrfs_policy_fs *fs, const char *name,
			     uint64_t devid, char **value);

/**
 * btrfs_policy_setting_values() - the words that this kernel offers
 * @fs: open handle
 * @name: word of the setting
 * @values: receives an array of texts that ends with NULL, to be freed with
 *	btrfs_policy_strv_free(); empty for settings that take numbers
 *
 * Return: 0 or as btrfs_policy_setting_get().
 */
int btrfs_policy_setting_values(struct btrfs_policy_fs *fs, const char *name,
				char ***values);

/**
 * btrfs_policy_strv_free() - free an array of texts that ends with NULL
 * @values: array or NULL
 */
void btrfs_policy_strv_free(char **values);

/* ---- Changing settings -------------------------------------------------- */

/** struct btrfs_policy_request - a list of settings and their new values; opaque */
struct btrfs_policy_request;

/**
 * btrfs_policy_request_new() - make an empty request
 *
 * Return: the request or NULL when there is no memory.
 */
struct btrfs_policy_request *btrfs_policy_request_new(void);

/**
 * btrfs_policy_request_free() - free a request
 * @request: request or NULL
 */
void btrfs_policy_request_free(struct btrfs_policy_request *request);

/**
 * btrfs_policy_request_add() - add an entry
 * @request: the request
 * @setting: word of the setting
 * @devid: device for device settings, 0 for the others
 * @value: value in the setting's grammar; "readahead" takes bytes or a number
 *	with one of the suffixes K, M, G (powers of 1024)
 *
 * The entry is not checked: btrfs_policy_apply() checks all before it writes any.
 *
 * Return: 0 or -ENOMEM.
 */
int btrfs_policy_request_add(struct btrfs_policy_request *request,
			     const char *setting, uint64_t devid, const char *value);

/*
 * Flags: how to apply a request
 * BTRFS_POLICY_DRY_RUN: check everything without a change; the changes say what
 *	would be
 * BTRFS_POLICY_FORCE: set roles that leave too few devices for the profiles in
 *	use; let superblocks lag where /boot is
 * BTRFS_POLICY_SAVE: keep settings of the file system for its next mounts too, see
 *	btrfs_policy_saved_path(); it is written, too, or no setting changes
 * BTRFS_POLICY_ENQUEUE: btrfs_policy_device_add() only: wait for another exclusive
 *	operation instead of giving up
 */
enum {
	BTRFS_POLICY_DRY_RUN = 1u << 0,
	BTRFS_POLICY_FORCE = 1u << 1,
	BTRFS_POLICY_SAVE = 1u << 2,
	BTRFS_POLICY_ENQUEUE = 1u << 3,
};

/** struct btrfs_policy_changes - the changes of a request; opaque */
struct btrfs_policy_changes;

/**
 * struct btrfs_policy_change - one entry of a request and its result, or a proposal
 * @setting: row of the setting
 * @devid: device or 0
 * @path: path of the device, NULL if none or missing
 * @old_value: value before
 * @new_value: value read back from the kernel (with BTRFS_POLICY_DRY_RUN: the
 *	value that would be written); equal to @old_value if no change was needed
 * @reason: of a proposal, see btrfs_policy_suggest(), one line for people; else NULL
 */
struct btrfs_policy_change {
	const struct btrfs_policy_setting *setting;
	uint64_t devid;
	const char *path;
	const char *old_value;
	const char *new_value;
	const char *reason;
};

/**
 * btrfs_policy_apply() - carry out a request, all or none of its entries
 * @fs: open handle; the roles of its devices are read anew if the request has a devid
 * @request: the request
 * @flags: BTRFS_POLICY_... from above, or 0
 * @changes: receives one change for each entry, in the request's order, to be freed
 *	with btrfs_policy_changes_free(); untouched on failure
 *
 * All values are checked first.  Roles of all devices go to the kernel in one
 * step, or one by one if it has no call for that.  If a write fails, earlier ones are
 * put back; if even that fails, the error names the settings that stayed changed.
 * Values that match already are not written.  SIGINT, SIGTERM, SIGHUP and SIGQUIT are
 * blocked in the calling thread from the first write to the last.
 *
 * Return: 0; -EINVAL, -ENODEV, -EOPNOTSUPP, -EROFS, -EPERM, -EACCES, -EBUSY,
 * -EIO (also: the kernel took a value and then shows another one), -ENOMEM.
 */
int btrfs_policy_apply(struct btrfs_policy_fs *fs,
		       const struct btrfs_policy_request *request,
		       unsigned int flags, struct btrfs_policy_changes **changes);

/**
 * btrfs_policy_changes_count() - number of changes
 * @changes: from btrfs_policy_apply()
 *
 * Return: changes.
 */
size_t btrfs_policy_changes_count(const struct btrfs_policy_changes *changes);

/**
 * btrfs_policy_changes_at() - one change
 * @changes: from btrfs_policy_apply()
 * @index: from 0
 *
 * Return: the change, or NULL behind the last one.
 */
const struct btrfs_policy_change *
btrfs_policy_changes_at(const struct btrfs_policy_changes *changes, size_t index);

/**
 * btrfs_policy_changes_free() - free the changes
 * @changes: from btrfs_policy_apply(), or NULL
 */
void btrfs_policy_changes_free(struct btrfs_policy_changes *changes);

/* ---- Draining devices --------------------------------------------------- */

/**
 * btrfs_policy_drain() - keep new chunks off devices from one transaction on
 * @fs: open handle
 * @devids: devices; those that drain already stay so
 * @count: how many
 * @flags: BTRFS_POLICY_DRY_RUN and BTRFS_POLICY_FORCE, as for btrfs_policy_apply()
 * @changes: receives the changes of roles, to be freed with btrfs_policy_changes_free()
 *
 * Their role becomes BTRFS_POLICY_ROLE_DRAINING, on disk, and the roles that they had are
 * kept in a file of this machine for btrfs_policy_drain_undo().  What is on them moves by
 * btrfs_policy_balance() with @only_draining.
 *
 * Return: 0; -EINVAL if the devices left are too few for a profile in use; -EOPNOTSUPP if
 * this kernel cannot; -EACCES, -EROFS, -EPERM, -EIO, -ENOMEM.  After an error no role has
 * changed.
 */
int btrfs_policy_drain(struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count,
		       unsigned int flags, struct btrfs_policy_changes **changes);

/**
 * btrfs_policy_drain_undo() - give draining devices the roles that they had
 * @fs: open handle
 * @devids: draining devices
 * @count: how many
 * @flags: BTRFS_POLICY_DRY_RUN
 * @changes: as for btrfs_policy_drain()
 *
 * One whose role is not known on this machine becomes data-preferred.
 *
 * Return: 0; -EINVAL if a device is not draining; or as btrfs_policy_drain().
 */
int btrfs_policy_drain_undo(struct btrfs_policy_fs *fs, const uint64_t *devids, size_t count,
			    unsigned int flags, struct btrfs_policy_changes **changes);

/**
 * btrfs_policy_device_remove() - remove a device that has been drained
 * @fs: open handle; it is refreshed
 * @devid: device
 *
 * Return: 0; -EINVAL if it is not empty and draining; -EBUSY if another exclusive
 * operation is running; -ENODEV, -EPERM, -EROFS, -EIO.
 */
int btrfs_policy_device_remove(struct btrfs_policy_fs *fs, uint64_t devid);

/* ---- Adding devices ----------------------------------------------------- */

/** struct btrfs_policy_additions - devices that were to be added; opaque */
struct btrfs_policy_additions;

/**
 * struct btrfs_policy_addition - one device that was to be added
 * @path: path as it was named
 * @role: role that it gets
 * @signature: the signature that is or was on it, such as "ext4" or "gpt"; NULL for none
 * @devid: its number in the file system, 0 if it is not there
 * @added: it is part of the file system now
 * @wiped: @signature has been overwritten
 */
struct btrfs_policy_addition {
	const char *path;
	enum btrfs_policy_role role;
	const char *signature;
	uint64_t devid;
	bool added;
	bool wiped;
};

/**
 * btrfs_policy_device_add() - add devices that have a role from the beginning
 * @fs: open handle; it is refreshed after each device
 * @paths: block devices that are not in use
 * @count: how many
 * @role: role for all of them; on kernels without roles BTRFS_POLICY_ROLE_DATA_PREFERRED
 *	only
 * @flags: BTRFS_POLICY_DRY_RUN: check, add none; BTRFS_POLICY_FORCE: overwrite what is
 *	on them; BTRFS_POLICY_ENQUEUE
 * @additions: receives the devices, also if one of them could not be added (NULL only
 *	if none was touched), to be freed with btrfs_policy_additions_free()
 *
 * All devices are checked before the first is touched.  They are added one by one: a
 * device that was added stays when a later one fails, and the error text names it.
 * Contents are not discarded (TRIM).  SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked in
 * the calling thread while one device is overwritten and added.
 *
 * Return: 0; -EINVAL, -EEXIST (something is on a device), -EBUSY (a device is in use,
 * or another exclusive operation is running), -EOPNOTSUPP, -EPERM, or another error of
 * the kernel.
 */
int btrfs_policy_device_add(struct btrfs_policy_fs *fs, char *const *paths, size_t count,
			    enum btrfs_policy_role role, unsigned int flags,
			    struct btrfs_policy_additions **additions);

/**
 * btrfs_policy_additions_at() - one device, in the order of the call
 * @additions: from btrfs_policy_device_add()
 * @index: from 0
 *
 * Return: the device, or NULL behind the last one.
 */
const struct btrfs_policy_addition *
btrfs_policy_additions_at(const struct btrfs_policy_additions *additions, size_t index);

/**
 * btrfs_policy_additions_free() - free the list
 * @additions: list or NULL
 */
void btrfs_policy_additions_free(struct btrfs_policy_additions *additions);

#endif
