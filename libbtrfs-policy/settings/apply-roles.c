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
static int refuse(struct btrfs_policy_fs *fs, unsigned int reason, uint64_t devid,
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
		return bp_failed(fs, ret, "cannot search for '/sys/fs/btrfs/%s'", name);
	return ret;
}

static int check_kind(struct btrfs_policy_fs *fs, enum btrfs_policy_kind kind, uint32_t before,
		      uint32_t after)
{
	static const uint32_t reasons[] = {
		[BTRFS_POLICY_KIND_DATA] = BTRFS_DEVICE_ROLES_TOO_FEW_DATA,
		[BTRFS_POLICY_KIND_METADATA] = BTRFS_DEVICE_ROLES_TOO_FEW_METADATA,
		[BTRFS_POLICY_KIND_SYSTEM] = BTRFS_DEVICE_ROLES_TOO_FEW_SYSTEM,
	};
	const struct bp_profile *profile;

	for (size_t i = 0; after < before && (profile = bp_profile_at(i)); i++) {
		_cleanup_free_ char *detail = NULL;
		int ret;

		if (after >= profile->devs_min)
			continue;
		ret = in_use(fs, btrfs_policy_kind_name(kind), profile->name);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		detail = bp_format("%s needs %u, %u would be left", profile->name,
				   profile->devs_min, after);
		return refuse(fs, reasons[kind], 0, detail);
	}
	return 0;
}

/*
 * Would every profile in use still find its devices?  As in the kernel only a
 * change for the worse is refused: where devices are missing already it must be
 * possible to allow the others more.
 */
int bp_roles_check(struct btrfs_policy_fs *fs, const struct btrfs_ioctl_device_role *roles,
		   size_t count, bool force)
{
	static const uint64_t types[] = {
		[BTRFS_POLICY_KIND_DATA] = BTRFS_BLOCK_GROUP_DATA,
		[BTRFS_POLICY_KIND_METADATA] = BTRFS_BLOCK_GROUP_METADATA,
		[BTRFS_POLICY_KIND_SYSTEM] = BTRFS_BLOCK_GROUP_SYSTEM,
	};
	uint32_t before[BP_ARRAY_SIZE(types)];
	_cleanup_free_ struct bp_candidate *candidates = NULL;
	int ret = 0;

	/* The default may come back, as in the kernel, where another one has left its tags. */
	for (size_t i = 0; fs->info.mixed && i < count; i++)
		if (roles[i].role != BTRFS_POLICY_ROLE_DATA_PREFERRED)
			return refuse(fs, BTRFS_DEVICE_ROLES_MIXED, roles[i].devid, NULL);
	if (!count || force || fs->info.mixed)
		return 0;
	candidates = calloc(fs->device_count, sizeof(*candidates));
	if (!candidates)
		return bp_nomem(fs);
	for (size_t i = 0; i < fs->device_count; i++) {
		candidates[i].devid = fs->devices[i].pub.devid;
		candidates[i].role = fs->devices[i].pub.role;
		candidates[i].writeable = fs->devices[i].writeable;
	}
	for (size_t i = 0; i < BP_ARRAY_SIZE(types); i++)
		before[i] = bp_allowed_candidates(candidates, fs->device_count, types[i]);
	for (size_t i = 0; i < count; i++)
		bp_candidate_find(candidates, fs->device_count, roles[i].devid)->role =
			roles[i].role;
	for (size_t i = 0; !ret && i < BP_ARRAY_SIZE(types); i++)
		ret = check_kind(fs, i, before[i],
				 bp_allowed_candidates(candidates, fs->device_count, types[i]));
	return ret;
}

/* ---- Our series: one ioctl ---------------------------------------------- */

static int write_together(struct btrfs_policy_fs *fs, struct btrfs_ioctl_device_role *roles,
			  size_t count, bool force)
{
	struct btrfs_ioctl_device_roles_args args = {
		.op = BTRFS_DEVICE_ROLES_SET,
		.nr = count,
		.devices = (uintptr_t)roles,
		.flags = force ? BTRFS_DEVICE_ROLES_FORCE : 0,
	};
	int ret;

	for (size_t i = 0; i < count; i++)
		roles[i].role = bp_role_core(roles[i].role);
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

static int hint_put_back(struct btrfs_policy_fs *fs, const struct btrfs_ioctl_device_role *roles,
			 const uint64_t *types, size_t done, int err)
{
	_cleanup_free_ char *first = strdup(fs->error);
	int failed = 0;

	for (size_t i = done; i-- > 0;) {
		int ret = hint_write(fs, roles[i].devid, types[i]);

		failed = failed ? failed : ret;
	}
	if (done && failed)
		return bp_error(fs, err, "%s; and roles changed before it could not be put back",
				first ? first : "");
	return first ? bp_error(fs, err, "%s", first) : err;
}

static int write_one_by_one(struct btrfs_policy_fs *fs,
			    const struct btrfs_ioctl_device_role *roles, size_t count)
{
	_cleanup_free_ uint64_t *types = calloc(count, sizeof(*types));
	int ret;

	if (!types)
		return bp_nomem(fs);
	for (size_t i = 0; i < count; i++) {
		ret = hint_read(fs, roles[i].devid, &types[i]);
		if (ret)
			return ret;
		/* Their file takes the role alone and would wipe every other bit of the field. */
		if (bp_role_other_bits(types[i]))
			return bp_error(fs, -EOPNOTSUPP,
					"cannot change the role of device %llu of '%s': its type 0x%llx has bits that this kernel's file would wipe; use a kernel with the btrfs-policy series",
					(unsigned long long)roles[i].devid, fs->mount_point,
					(unsigned long long)types[i]);
	}
	for (size_t i = 0; i < count; i++) {
		ret = hint_write(fs, roles[i].devid, bp_role_to_disk(roles[i].role, types[i]));
		if (ret)
			return hint_put_back(fs, roles, types, i, ret);
	}
	return 0;
}

int bp_roles_write(struct btrfs_policy_fs *fs, struct btrfs_ioctl_device_role *roles,
		   size_t count, bool force)
{
	if (bp_is_hint_kernel(fs))
		return write_one_by_one(fs, roles, count);
	return write_together(fs, roles, count, force);
}
