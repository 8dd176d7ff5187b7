/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns changing roles: whether enough devices are left for the profiles in use,
 * and handing the roles to the kernel in one step (our series) or one by one
 * with the way back open (allocation-hint kernels).
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "allocator/select.h"
#include "core/profiles.h"
#include "core/roles.h"
#include "settings/settings.h"

/* ---- Enough devices? ---------------------------------------------------- */

/* The words for each reason, the same for the kernel's refusal and our own. */
static int refuse(struct btrfs_policy_fs *fs, enum btrfs_device_roles_reason reason, uint64_t devid,
		  const char *detail)
{
	static const char *const words[] = {
		[BTRFS_DEVICE_ROLES_BAD_ROLE] = "the role is not one that the kernel knows",
		[BTRFS_DEVICE_ROLES_NO_DEVICE] = "there is no such device",
		[BTRFS_DEVICE_ROLES_LISTED_TWICE] = "a device is listed twice",
		[BTRFS_DEVICE_ROLES_TOO_FEW_DATA] = "too few devices would be left for the data profile",
		[BTRFS_DEVICE_ROLES_TOO_FEW_METADATA] = "too few devices would be left for the metadata profile",
		[BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM] = "too few devices would be left for the system profile",
		[BTRFS_DEVICE_ROLES_MIXED] = "mixed block groups ignore roles, so each device can only be data-preferred",
		[BTRFS_DEVICE_ROLES_SEED] = "a device of a seed has no role that can be set; remove it to move its contents to the others",
	};
	const char *why = reason < BP_ARRAY_SIZE(words) ? words[reason] : NULL;

	bp_error(fs, 0, "cannot change roles of '%s': %s", fs->mount_point,
		 why ? why : "the kernel refuses for a reason unknown to this version");
	if (devid)
		bp_error_more(fs, 0, " (device %llu)", (unsigned long long)devid);
	if (detail)
		bp_error_more(fs, 0, " (%s)", detail);
	if (reason < BTRFS_DEVICE_ROLES_TOO_FEW_DATA || reason > BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM)
		return -EINVAL;
	bp_error_more(fs, 0, "; convert the profile first or choose other roles");
	return bp_hint(fs, -EINVAL, BTRFS_POLICY_HINT_FORCE);
}

/* 1, 0, or -errno: is there a block group of the kind and profile? */
static int in_use(struct btrfs_policy_fs *fs, const char *kind, const char *profile)
{
	_cleanup_free_ char *file = bp_format("allocation/%s/%s", kind, profile);
	_cleanup_free_ char *name = NULL;
	int ret;

	if (!file)
		return bp_nomem(fs);
	for (char *p = file; *p; p++)
		*p = tolower((unsigned char)*p);
	name = bp_sysfs_name(fs, file, 0);
	if (!name)
		return bp_nomem(fs);
	ret = fs->ops->sysfs_exists(fs->backend, name);
	if (ret < 0)
		return bp_failed(fs, ret, "cannot look for '/sys/fs/btrfs/%s'", name);
	return ret;
}

struct kind {
	const char *name;
	uint64_t type;
	enum btrfs_device_roles_reason reason;
};

static int check_kind(struct btrfs_policy_fs *fs, const struct kind *kind, uint32_t before,
		      uint32_t after)
{
	const struct bp_profile *profile;

	for (size_t i = 0; after < before && (profile = bp_profile_at(i)); i++) {
		_cleanup_free_ char *detail = NULL;
		int ret;

		if (after >= profile->devs_min)
			continue;
		ret = in_use(fs, kind->name, profile->name);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		detail = bp_format("%s needs %u, %u would be left", profile->name,
				   profile->devs_min, after);
		return refuse(fs, kind->reason, 0, detail);
	}
	return 0;
}

static struct bp_site *sites_before(struct btrfs_policy_fs *fs)
{
	struct bp_site *sites = calloc(fs->device_count, sizeof(*sites));

	for (size_t i = 0; sites && i < fs->device_count; i++) {
		sites[i].devid = fs->devices[i].pub.devid;
		sites[i].role = fs->devices[i].pub.role;
		sites[i].writeable = fs->devices[i].writeable;
	}
	return sites;
}

static const struct kind kinds[] = {
	{ "data", BTRFS_BLOCK_GROUP_DATA, BTRFS_DEVICE_ROLES_TOO_FEW_DATA },
	{ "metadata", BTRFS_BLOCK_GROUP_METADATA, BTRFS_DEVICE_ROLES_TOO_FEW_METADATA },
	{ "system", BTRFS_BLOCK_GROUP_SYSTEM, BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM },
};

/* The default may come back, as in the kernel, where another one has left its tags. */
static int check_mixed(struct btrfs_policy_fs *fs, const struct bp_role_change *changes,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (changes[i].new_role != BTRFS_POLICY_ROLE_DATA_PREFERRED)
			return refuse(fs, BTRFS_DEVICE_ROLES_MIXED, changes[i].devid, NULL);
	return 0;
}

/*
 * Would every profile in use still find its devices?  As in the kernel only a
 * change for the worse is refused: where devices are missing already it must be
 * possible to allow the others more.
 */
int bp_roles_check(struct btrfs_policy_fs *fs, const struct bp_role_change *changes,
		   size_t count, bool force)
{
	uint32_t before[BP_ARRAY_SIZE(kinds)];
	_cleanup_free_ struct bp_site *sites = NULL;
	int ret = 0;

	if (fs->info.mixed)
		return check_mixed(fs, changes, count);
	if (!count || force)
		return 0;
	sites = sites_before(fs);
	if (!sites)
		return bp_nomem(fs);
	for (size_t i = 0; i < BP_ARRAY_SIZE(kinds); i++)
		before[i] = bp_allowed_sites(sites, fs->device_count, kinds[i].type);
	for (size_t i = 0; i < count; i++)
		bp_site_find(sites, fs->device_count, changes[i].devid)->role =
			changes[i].new_role;
	for (size_t i = 0; !ret && i < BP_ARRAY_SIZE(kinds); i++)
		ret = check_kind(fs, &kinds[i], before[i],
				 bp_allowed_sites(sites, fs->device_count, kinds[i].type));
	return ret;
}

/* ---- Our series: one ioctl ---------------------------------------------- */

static int write_together(struct btrfs_policy_fs *fs, const struct bp_role_change *changes,
			  size_t count, bool force)
{
	_cleanup_free_ struct btrfs_ioctl_device_role *list = calloc(count, sizeof(*list));
	struct btrfs_ioctl_device_roles_args args = {
		.op = BTRFS_DEVICE_ROLES_SET,
		.nr = count,
		.devices = (uintptr_t)list,
		.flags = force ? BTRFS_DEVICE_ROLES_FORCE : 0,
	};
	int ret;

	if (!list)
		return bp_nomem(fs);
	for (size_t i = 0; i < count; i++) {
		list[i].devid = changes[i].devid;
		list[i].role = changes[i].new_role;
	}
	ret = fs->ops->roles(fs->backend, &args);
	if (ret < 0 && args.reason) {
		refuse(fs, args.reason, args.failed_devid, NULL);
		return ret;
	}
	if (ret < 0)
		return bp_failed(fs, ret, "cannot change roles of '%s'", fs->mount_point);
	return 0;
}

/* ---- Allocation-hint kernels: a number for each device ------------------ */

static int hint_read(struct btrfs_policy_fs *fs, uint64_t devid, uint64_t *type)
{
	_cleanup_free_ char *text = NULL;
	char *end;
	int ret;

	ret = bp_sysfs_read(fs, BP_FILE_HINT, devid, &text);
	if (ret)
		return ret;
	errno = 0;
	*type = strtoull(text, &end, 0);
	if (errno || end == text || *end)
		return bp_error(fs, -EUCLEAN, "the kernel shows '%s' as the type of device %llu",
				text, (unsigned long long)devid);
	return 0;
}

static int hint_write(struct btrfs_policy_fs *fs, uint64_t devid, uint64_t type)
{
	_cleanup_free_ char *text = bp_format("%llu", (unsigned long long)type);

	return text ? bp_sysfs_write(fs, BP_FILE_HINT, devid, text) : bp_nomem(fs);
}

/* Their file takes the role alone and would wipe every other bit of the field. */
static int refuse_other_bits(struct btrfs_policy_fs *fs, uint64_t devid, uint64_t type)
{
	return bp_error(fs, -EOPNOTSUPP,
			"cannot change the role of device %llu of '%s': its type 0x%llx has bits that this kernel's file would wipe; use a kernel with the btrfs-policy series",
			(unsigned long long)devid, fs->mount_point, (unsigned long long)type);
}

static int hint_put_back(struct btrfs_policy_fs *fs, const struct bp_role_change *changes,
			 const uint64_t *types, size_t done, int err)
{
	_cleanup_free_ char *first = strdup(fs->error);
	int failed = 0;

	for (size_t i = done; i-- > 0;) {
		int ret = hint_write(fs, changes[i].devid, types[i]);

		failed = failed ? failed : ret;
	}
	if (done && failed)
		return bp_error(fs, err, "%s; and roles changed before it could not be put back",
				first ? first : "");
	return first ? bp_error(fs, err, "%s", first) : err;
}

static int write_one_by_one(struct btrfs_policy_fs *fs, const struct bp_role_change *changes,
			    size_t count)
{
	_cleanup_free_ uint64_t *types = calloc(count, sizeof(*types));
	int ret;

	if (!types)
		return bp_nomem(fs);
	for (size_t i = 0; i < count; i++) {
		ret = hint_read(fs, changes[i].devid, &types[i]);
		if (ret)
			return ret;
		if (bp_role_other_bits(types[i]))
			return refuse_other_bits(fs, changes[i].devid, types[i]);
	}
	for (size_t i = 0; i < count; i++) {
		ret = hint_write(fs, changes[i].devid,
				 bp_role_to_disk(changes[i].new_role, types[i]));
		if (ret)
			return hint_put_back(fs, changes, types, i, ret);
	}
	return 0;
}

int bp_roles_write(struct btrfs_policy_fs *fs, const struct bp_role_change *changes,
		   size_t count, bool force)
{
	for (size_t i = 0; i < count; i++)
		if (changes[i].new_role > BTRFS_POLICY_ROLE_METADATA_ONLY)
			return bp_error(fs, -EINVAL,
					"cannot set device %llu back to a foreign role",
					(unsigned long long)changes[i].devid);
	if (bp_is_hint_kernel(fs))
		return write_one_by_one(fs, changes, count);
	return write_together(fs, changes, count, force);
}
