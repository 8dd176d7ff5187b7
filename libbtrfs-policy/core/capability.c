/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the one table of what kernels can do and which file shows it.  A
 * capability is what a file proves: never a version number, never a guess.
 */
#include <stdio.h>
#include <string.h>

#include "core/handle.h"

#define GET_KERNEL \
	"boot a kernel with the btrfs-policy series (or install the package btrfs-policy-dkms)"

/*
 * `any`: one of the files is enough; the first is the one that errors name.  Those below
 * FEATURES are the kernel's, the others are the file system's; "%llu" stands for the first
 * present device.
 */
#define FEATURES "features/"
static const struct row {
	const char *name;
	const char *any[3];
	const char *help;
	const char *advice;
} rows[] = {
	{ "roles-enforced",
	  { FEATURES "device_role", BP_FILE_HINT,
	    "devinfo/%llu/allocation_hint" },
	  "new chunks go where roles say", GET_KERNEL },
	{ "roles-set",
	  { FEATURES "device_role", BP_FILE_HINT },
	  "roles of mounted devices can be changed", GET_KERNEL },
	{ "roles-atomic", { FEATURES "device_role" },
	  "roles of several devices change in one step", GET_KERNEL },
	{ "roundrobin", { FEATURES "read_policy_roundrobin" },
	  "the read policy 'roundrobin'", GET_KERNEL },
	{ "read-policy", { "read_policies/policy", "read_policy" },
	  "the policy that spreads reads of mirrors can be changed",
	  "boot Linux 5.11 or newer" },
	{ "penalties", { "read_policies/roundrobin_rot_nonlocal_inc" },
	  "penalties of the read policy 'roundrobin'", GET_KERNEL },
	{ "readahead", { "bdi/read_ahead_kb" },
	  "readahead of the file system", "mount sysfs on /sys" },
	{ "placement-counters", { "allocation/metadata/misplaced_bytes" },
	  "the kernel counts misplaced bytes", GET_KERNEL },
};

#define ROWS BP_ARRAY_SIZE(rows)

static uint64_t sample_devid(const struct btrfs_policy_fs *fs)
{
	for (size_t i = 0; i < fs->device_count; i++)
		if (!fs->devices[i].pub.missing)
			return fs->devices[i].pub.devid;
	return 1;
}

/* 1, 0, or -errno; *full gets the full name of the file. */
static int look(struct btrfs_policy_fs *fs, const char *file, char **full)
{
	_cleanup_free_ char *name = strncmp(file, FEATURES, strlen(FEATURES)) ?
		bp_sysfs_name(fs, file, sample_devid(fs)) : strdup(file);
	int ret;

	if (!name)
		return bp_nomem(fs);
	ret = fs->ops->sysfs_exists(fs->backend, name);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot look for '/sys/fs/btrfs/%s'", name);
	*full = bp_format(BP_SYSFS "%s", name);
	return *full ? ret : bp_nomem(fs);
}

static int read_row(struct btrfs_policy_fs *fs, const struct row *row,
		    struct btrfs_policy_capability *capability)
{
	int ret;

	capability->name = row->name;
	capability->help = row->help;
	capability->advice = row->advice;
	for (size_t i = 0; i < BP_ARRAY_SIZE(row->any) && row->any[i]; i++) {
		_cleanup_free_ char *full = NULL;

		ret = look(fs, row->any[i], &full);
		if (ret < 0)
			return ret;
		if (ret || !i) {
			free((char *)capability->file);
			capability->file = bp_steal(full);
			capability->available = ret;
		}
		if (ret)
			break;
	}
	return 0;
}

/* Whoever mounted it may have told the kernel to ignore roles. */
static int read_ignored(struct btrfs_policy_fs *fs, bool *ignored)
{
	struct bp_mount mount = {};
	int ret;

	*ignored = false;
	if (fs->info.offline)
		return 0;
	ret = fs->ops->mount_of(fs->backend, fs->mount_point, &mount);
	if (ret)
		return bp_failed(fs, ret, "cannot find the mount options of '%s'",
				 fs->mount_point);
	*ignored = mount.ignores_roles;
	bp_mount_clear(&mount);
	return 0;
}

static int judge_enforced(struct btrfs_policy_fs *fs)
{
	const struct btrfs_policy_capability *row =
		btrfs_policy_capability_find(fs, "roles-enforced");
	bool ignored;
	int ret = read_ignored(fs, &ignored);

	if (ret)
		return ret;
	fs->enforced = row->available && !fs->info.mixed && !ignored;
	if (fs->info.offline)
		fs->enforced_why = strdup("it is not mounted");
	else if (fs->info.mixed)
		fs->enforced_why = strdup("mixed block groups ignore roles");
	else if (row->available && ignored)
		fs->enforced_why = strdup("it is mounted with nodevice_roles");
	else if (row->available)
		fs->enforced_why = bp_format("'%s' is there", row->file);
	else
		fs->enforced_why = bp_format("this kernel has no '%s'", row->file);
	return fs->enforced_why ? 0 : bp_nomem(fs);
}

/* Stock modules name no version; those that a package built do. */
static int read_module_version(struct btrfs_policy_fs *fs, const char *module, char **version)
{
	char text[64], name[64];
	int ret;

	snprintf(name, sizeof(name), "../../module/%s/version", module);
	ret = fs->ops->sysfs_read(fs->backend, name, text, sizeof(text));
	if (ret == -ENOENT)
		return 0;
	if (ret)
		return bp_failed(fs, ret, "cannot read '/sys/module/%s/version'", module);
	*version = strdup(text);
	return *version ? 0 : bp_nomem(fs);
}

int bp_capabilities_read(struct btrfs_policy_fs *fs)
{
	int ret = 0;

	fs->capabilities = calloc(ROWS, sizeof(*fs->capabilities));
	if (!fs->capabilities)
		return bp_nomem(fs);
	for (size_t i = 0; !ret && i < ROWS; i++)
		ret = read_row(fs, &rows[i], &fs->capabilities[i]);
	if (!ret)
		ret = read_module_version(fs, "btrfs", &fs->module_version);
	return ret ? ret : judge_enforced(fs);
}

void bp_capabilities_free(struct btrfs_policy_fs *fs)
{
	for (size_t i = 0; fs->capabilities && i < ROWS; i++)
		free((char *)fs->capabilities[i].file);
	free(fs->capabilities);
	free(fs->enforced_why);
	free(fs->module_version);
	fs->module_version = NULL;
	fs->capabilities = NULL;
	fs->enforced_why = NULL;
	fs->enforced = false;
}

BP_PUBLIC const struct btrfs_policy_capability *
btrfs_policy_capability_at(const struct btrfs_policy_fs *fs, size_t index)
{
	return fs->capabilities && index < ROWS ? &fs->capabilities[index] : NULL;
}

BP_PUBLIC const struct btrfs_policy_capability *
btrfs_policy_capability_find(const struct btrfs_policy_fs *fs, const char *name)
{
	for (size_t i = 0; fs->capabilities && i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return &fs->capabilities[i];
	return NULL;
}

bool bp_capable(const struct btrfs_policy_fs *fs, const char *name)
{
	const struct btrfs_policy_capability *row = btrfs_policy_capability_find(fs, name);

	return row && row->available;
}

/* What would make the kernel obey roles. */
const char *bp_enforced_advice(const struct btrfs_policy_fs *fs)
{
	const struct btrfs_policy_capability *row =
		btrfs_policy_capability_find(fs, "roles-enforced");

	return row->available ? "mount it without that option" : row->advice;
}

bool bp_is_hint_kernel(const struct btrfs_policy_fs *fs)
{
	return bp_capable(fs, "roles-set") && !bp_capable(fs, "roles-atomic");
}

/* Error with the missing file and what to do, if the kernel lacks something. */
int bp_need(struct btrfs_policy_fs *fs, const char *capability, const char *what)
{
	const struct btrfs_policy_capability *row =
		btrfs_policy_capability_find(fs, capability);

	if (row->available)
		return 0;
	return bp_error(fs, -EOPNOTSUPP, "cannot %s on '%s': this kernel has no '%s'; %s", what,
			fs->mount_point, row->file, row->advice);
}

BP_PUBLIC bool btrfs_policy_enforced(const struct btrfs_policy_fs *fs, const char **why)
{
	if (why)
		*why = fs->enforced_why ? fs->enforced_why : "the file system is not open";
	return fs->enforced;
}

/* The read policy file lists more than "[pid]" where a kernel has upstream's. */
static bool has_other_policies(const struct btrfs_policy_fs *fs)
{
	struct btrfs_policy_fs *mutable = (struct btrfs_policy_fs *)fs;
	char **words = NULL;
	bool found;

	if (btrfs_policy_setting_values(mutable, "read-policy", &words))
		return false;
	found = words[0] && words[1];
	btrfs_policy_strv_free(words);
	return found;
}

BP_PUBLIC const char *btrfs_policy_kernel_name(const struct btrfs_policy_fs *fs)
{
	if (fs->info.offline)
		return "offline";
	if (bp_capable(fs, "roles-atomic") || bp_capable(fs, "roundrobin"))
		return "device-role";
	if (bp_capable(fs, "roles-enforced"))
		return "allocation-hint";
	return has_other_policies(fs) ? "experimental-read-policy" : "stock";
}

BP_PUBLIC const char *btrfs_policy_module_version(const struct btrfs_policy_fs *fs)
{
	return fs->module_version;
}
