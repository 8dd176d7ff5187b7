/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of capabilities of kernels and the files that prove them.  A capability
 * is never derived from a version number or a guess.
 */
#include <stdio.h>
#include <string.h>

#include "core/handle.h"

#define GET_KERNEL \
	"boot a kernel with the btrfs-policy series (or install the package btrfs-policy-dkms)"

/*
 * `file` in this table: the file that shows it, the one that errors name.  Those below
 * FEATURES are the kernel's, the others are the file system's; "%llu" is replaced by the devid
 * of the first present device.
 */
#define FEATURES "features/"
#define GET_SYSFS "mount sysfs on /sys"
static const struct btrfs_policy_capability rows[] = {
	{ .name = "roles-enforced", .file = FEATURES "device_role",
	  .help = "new chunks go where roles say", .advice = GET_KERNEL },
	{ .name = "roles-set", .file = FEATURES "device_role",
	  .help = "roles of mounted devices can be changed", .advice = GET_KERNEL },
	{ .name = "roles-atomic", .file = FEATURES "device_role",
	  .help = "roles of several devices change in one step", .advice = GET_KERNEL },
	{ .name = "drain", .file = FEATURES "device_drain",
	  .help = "devices can be drained: they get no new chunks", .advice = GET_KERNEL },
	{ .name = "roundrobin", .file = FEATURES "read_policy_roundrobin",
	  .help = "the read policy 'roundrobin'", .advice = GET_KERNEL },
	{ .name = "read-policy", .file = "read_policies/policy",
	  .help = "the policy that spreads reads of mirrors can be changed",
	  .advice = "boot Linux 5.11 or newer" },
	{ .name = "penalties", .file = "read_policies/roundrobin_rot_nonlocal_inc",
	  .help = "penalties of the read policy 'roundrobin'", .advice = GET_KERNEL },
	{ .name = "readahead", .file = "bdi/read_ahead_kb",
	  .help = "readahead of the file system", .advice = GET_SYSFS },
	{ .name = "lagging-superblocks", .file = "allocation/lagging_superblocks",
	  .help = "commits can leave out devices without metadata", .advice = GET_KERNEL },
	{ .name = "move-stripe", .file = FEATURES "move_stripe",
	  .help = "chunks change devices without relocation", .advice = GET_KERNEL },
	{ .name = "placement-counters", .file = "allocation/metadata/misplaced_bytes",
	  .help = "the kernel counts misplaced bytes", .advice = GET_KERNEL },
};

/* Files of other kernels that show the same as well. */
static const char *const others[][2] = {
	{ "roles-enforced", BP_FILE_HINT },
	{ "roles-enforced", "devinfo/%llu/allocation_hint" },
	{ "roles-set", BP_FILE_HINT },
	{ "read-policy", "read_policy" },
};

#define ROWS BP_ARRAY_SIZE(rows)

/* 1, 0, or -errno; *full gets the full name of the file. */
static int find_file(struct btrfs_policy_fs *fs, const char *file, char **full)
{
	_cleanup_free_ char *name = NULL;
	uint64_t devid = 1;
	int ret;

	for (size_t i = fs->device_count; i-- > 0;)
		if (!fs->devices[i].pub.missing)
			devid = fs->devices[i].pub.devid;
	name = strncmp(file, FEATURES, strlen(FEATURES)) ? bp_sysfs_name(fs, file, devid) :
							   strdup(file);
	if (!name)
		return bp_nomem(fs);
	ret = fs->ops->sysfs_exists(fs->backend, name);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot search for '/sys/fs/btrfs/%s'", name);
	*full = bp_format(BP_SYSFS "%s", name);
	return *full ? ret : bp_nomem(fs);
}

static int read_row(struct btrfs_policy_fs *fs, const struct btrfs_policy_capability *row,
		    struct btrfs_policy_capability *capability)
{
	char *full = NULL;
	int ret;

	*capability = *row;
	capability->file = NULL;
	if (fs->no_sysfs)
		capability->advice = GET_SYSFS;
	ret = find_file(fs, row->file, &full);
	capability->file = full;
	for (size_t i = 0; !ret && i < BP_ARRAY_SIZE(others); i++) {
		if (strcmp(others[i][0], row->name))
			continue;
		ret = find_file(fs, others[i][1], &full);
		if (ret > 0) {
			free((char *)capability->file);
			capability->file = full;
		} else if (!ret) {
			free(full);
		}
	}
	capability->available = ret > 0;
	return ret < 0 ? ret : 0;
}

/* A mount option may have told the kernel to ignore roles. */
static int read_ignored(struct btrfs_policy_fs *fs, bool *ignored)
{
	_cleanup_free_ char *target = NULL, *fstype = NULL;
	int ret;

	*ignored = false;
	if (fs->info.offline || fs->unseen)
		return 0;
	ret = fs->ops->mount_of(fs->backend, fs->mount_point, &target, &fstype, ignored);
	if (ret)
		return bp_failed(fs, ret, "cannot find the mount options of '%s'",
				 fs->mount_point);
	return 0;
}

/* The reason why a capability is not available. */
static char *why_absent(const struct btrfs_policy_fs *fs,
			const struct btrfs_policy_capability *row)
{
	if (fs->no_sysfs)
		return strdup("'" BP_SYSFS "features' is not there");
	return bp_format("this kernel has no '%s'", row->file);
}

static int find_enforced(struct btrfs_policy_fs *fs)
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
		fs->enforced_why = why_absent(fs, row);
	return fs->enforced_why ? 0 : bp_nomem(fs);
}

int bp_capabilities_read(struct btrfs_policy_fs *fs)
{
	char version[64];
	int ret;

	fs->capabilities = calloc(ROWS, sizeof(*fs->capabilities));
	if (!fs->capabilities)
		return bp_nomem(fs);
	ret = fs->ops->sysfs_exists(fs->backend, "features");
	if (ret < 0)
		return bp_failed(fs, ret, "cannot search for '" BP_SYSFS "features'");
	fs->no_sysfs = !ret && !fs->info.offline;
	ret = 0;
	for (size_t i = 0; !ret && i < ROWS; i++)
		ret = read_row(fs, &rows[i], &fs->capabilities[i]);
	if (ret)
		return ret;
	/* Stock modules name no version; those that a package built do. */
	ret = fs->ops->sysfs_read(fs->backend, "../../module/btrfs/version", version,
				  sizeof(version));
	if (ret && ret != -ENOENT)
		return bp_failed(fs, ret, "cannot read '/sys/module/btrfs/version'");
	if (!ret && !(fs->module_version = strdup(version)))
		return bp_nomem(fs);
	return find_enforced(fs);
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

/* The remedy that makes the kernel obey roles. */
const char *bp_enforced_advice(const struct btrfs_policy_fs *fs)
{
	const struct btrfs_policy_capability *row =
		btrfs_policy_capability_find(fs, "roles-enforced");

	if (!row)
		return "open it again";
	return row->available ? "mount it without that option" : row->advice;
}

bool bp_is_hint_kernel(const struct btrfs_policy_fs *fs)
{
	return bp_capable(fs, "roles-set") && !bp_capable(fs, "roles-atomic");
}

/* The error of a handle that holds nothing because a refresh has failed. */
int bp_unread(struct btrfs_policy_fs *fs, const char *what)
{
	return bp_error(fs, -EIO, "cannot %s on '%s': its state could not be read; open it again",
			what, fs->mount_point);
}

/* Error with the missing file and the remedy, if the kernel lacks the capability. */
int bp_need(struct btrfs_policy_fs *fs, const char *capability, const char *what)
{
	const struct btrfs_policy_capability *row =
		btrfs_policy_capability_find(fs, capability);
	_cleanup_free_ char *why = NULL;

	if (!row)
		return bp_unread(fs, what);
	if (row->available)
		return 0;
	why = why_absent(fs, row);
	if (!why)
		return bp_nomem(fs);
	return bp_error(fs, -EOPNOTSUPP, "cannot %s on '%s': %s; %s", what, fs->mount_point, why,
			row->advice);
}

BP_PUBLIC bool btrfs_policy_enforced(const struct btrfs_policy_fs *fs, const char **why)
{
	if (why)
		*why = fs->enforced_why ? fs->enforced_why : "its state could not be read";
	return fs->enforced;
}

BP_PUBLIC const char *btrfs_policy_kernel_name(const struct btrfs_policy_fs *fs)
{
	char **words = NULL;
	bool several;

	if (fs->info.offline)
		return "offline";
	if (bp_capable(fs, "roles-atomic") || bp_capable(fs, "roundrobin"))
		return "device-role";
	if (bp_capable(fs, "roles-enforced"))
		return "allocation-hint";
	/* The read policy file lists more than "[pid]" where a kernel has upstream's. */
	if (btrfs_policy_setting_values((struct btrfs_policy_fs *)fs, "read-policy", &words))
		return "stock";
	several = words[0] && words[1];
	btrfs_policy_strv_free(words);
	return several ? "experimental-read-policy" : "stock";
}

BP_PUBLIC const char *btrfs_policy_module_version(const struct btrfs_policy_fs *fs)
{
	return fs->module_version;
}
