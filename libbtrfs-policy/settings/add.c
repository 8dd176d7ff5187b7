/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns adding devices that have a role before the first chunk can get there.
 * All of them are checked before the first is touched.  One that was added stays
 * when a later one fails, and the error says which were.
 */
#include <string.h>

#include "settings/settings.h"

struct btrfs_policy_additions {
	struct btrfs_policy_addition *list;	/* path and signature are allocated */
	uint64_t *numbers;			/* of the devices */
	size_t count;
};

BP_PUBLIC void btrfs_policy_additions_free(struct btrfs_policy_additions *additions)
{
	if (!additions)
		return;
	for (size_t i = 0; i < additions->count; i++) {
		free((char *)additions->list[i].path);
		free((char *)additions->list[i].signature);
	}
	free(additions->list);
	free(additions->numbers);
	free(additions);
}

BP_PUBLIC const struct btrfs_policy_addition *
btrfs_policy_additions_at(const struct btrfs_policy_additions *additions, size_t index)
{
	return index < additions->count ? &additions->list[index] : NULL;
}

/* ---- Checking ----------------------------------------------------------- */

/* A seed is mounted read-only, and yet takes a device: that stores everything at first. */
static int check_read_only(struct btrfs_policy_fs *fs, enum btrfs_policy_role role)
{
	int ret;

	if (!fs->info.read_only)
		return 0;
	ret = bp_is_seed(fs);
	if (ret < 0)
		return ret;
	if (!ret)
		return bp_error(fs, -EROFS,
				"cannot add a device to '%s': it is mounted read-only; mount it read-write first",
				fs->mount_point);
	if (role != BTRFS_POLICY_ROLE_DATA_ONLY && role != BTRFS_POLICY_ROLE_METADATA_ONLY)
		return 0;
	return bp_error(fs, -EINVAL,
			"cannot add a device as %s to the seed '%s': its first device has to store data and metadata; add it as data-preferred, mount '%s' read-write, then run 'btrfs device policy tag'",
			btrfs_policy_role_name(role), fs->mount_point, fs->mount_point);
}

static int check_file_system(struct btrfs_policy_fs *fs, enum btrfs_policy_role role)
{
	int ret;

	if (fs->info.offline)
		return bp_error(fs, -EINVAL, "cannot add a device to '%s': it is not mounted",
				fs->mount_point);
	if (role > BTRFS_POLICY_ROLE_METADATA_ONLY)
		return bp_error(fs, -EINVAL, "a device cannot be added as %s",
				btrfs_policy_role_name(role));
	ret = check_read_only(fs, role);
	if (ret || role == BTRFS_POLICY_ROLE_DATA_PREFERRED)
		return ret;
	if (fs->info.mixed)
		return bp_error(fs, -EINVAL,
				"cannot add a device as %s to '%s': mixed block groups ignore roles; add it as data-preferred",
				btrfs_policy_role_name(role), fs->mount_point);
	ret = bp_need(fs, "roles-atomic", "add a device that has a role");
	if (ret)
		return ret;
	ret = fs->ops->add_device(fs->backend, NULL, role);
	if (ret == -ENOTTY)
		return bp_error(fs, -EOPNOTSUPP,
				"cannot add a device as %s to '%s': this kernel has roles, but not the call for it; boot a newer kernel with the btrfs-policy series",
				btrfs_policy_role_name(role), fs->mount_point);
	return ret ? bp_failed(fs, ret, "cannot add a device to '%s'", fs->mount_point) : 0;
}

static int check_one(struct btrfs_policy_fs *fs, const struct btrfs_policy_additions *additions,
		     size_t at, unsigned int flags)
{
	struct btrfs_policy_addition *addition = &additions->list[at];
	char *signature = NULL;
	int ret = fs->ops->device_number(fs->backend, addition->path, &additions->numbers[at]);

	if (!ret)
		ret = fs->ops->probe_new(fs->backend, addition->path, &signature);
	/* One that was overwritten before the kernel refused the device is still told. */
	if (signature || !addition->wiped) {
		free((char *)addition->signature);
		addition->signature = signature;
		addition->wiped = false;
	}
	if (ret == -ENOTBLK)
		return bp_error(fs, -EINVAL, "cannot add '%s': it is not a block device", addition->path);
	if (ret == -EBUSY)
		return bp_error(fs, -EBUSY,
				"cannot add '%s': it is in use; unmount it, or take it out of its array, first",
				addition->path);
	if (ret)
		return bp_failed(fs, ret, "cannot add '%s'", addition->path);
	for (size_t i = 0; i < at; i++)
		if (additions->numbers[i] == additions->numbers[at])
			return bp_error(fs, -EINVAL, "'%s' and '%s' are the same device",
					additions->list[i].path, addition->path);
	if (!signature || flags & BTRFS_POLICY_FORCE)
		return 0;
	bp_error(fs, -EEXIST,
		 "cannot add '%s': there is %s on it, which would be lost; name another device",
		 addition->path, signature);
	return bp_hint(fs, -EEXIST, BTRFS_POLICY_HINT_FORCE);
}

static int check_all(struct btrfs_policy_fs *fs, struct btrfs_policy_additions *additions,
		      char *const *paths, size_t count, enum btrfs_policy_role role,
		      unsigned int flags)
{
	int ret = 0;

	additions->list = calloc(count + 1, sizeof(*additions->list));
	additions->numbers = calloc(count + 1, sizeof(*additions->numbers));
	if (!additions->list || !additions->numbers)
		return bp_nomem(fs);
	for (size_t i = 0; !ret && i < count; i++) {
		additions->list[i].path = strdup(paths[i]);
		additions->list[i].role = role;
		additions->count++;
		ret = additions->list[i].path ? check_one(fs, additions, i, flags) : bp_nomem(fs);
	}
	return ret;
}

/* The rest, after a wait that may have taken hours, or the minutes that adding another took. */
static int check_again(struct btrfs_policy_fs *fs, struct btrfs_policy_additions *additions,
		       size_t from, unsigned int flags)
{
	int ret = btrfs_policy_fs_refresh(fs);

	if (!ret)
		ret = check_file_system(fs, additions->list[from].role);
	for (size_t i = from; !ret && i < additions->count; i++) {
		uint64_t number = additions->numbers[i];

		ret = check_one(fs, additions, i, flags);
		if (!ret && additions->numbers[i] != number)
			ret = bp_error(fs, -ENODEV,
				       "cannot add '%s': it has become another device meanwhile; check it, then run the command again",
				       additions->list[i].path);
	}
	return ret;
}

/* ---- Adding ------------------------------------------------------------- */

/* The kernel does not tell the devid: it is that of the device with the same number. */
static int find_added(struct btrfs_policy_fs *fs, struct btrfs_policy_addition *addition,
		      uint64_t wanted)
{
	int ret = btrfs_policy_fs_refresh(fs);

	/* One that was missing may have got this path again; a new one has the highest devid. */
	for (size_t i = fs->device_count; !ret && i-- > 0;) {
		const struct btrfs_policy_device *device = &fs->devices[i].pub;
		uint64_t number;

		if (!device->path ||
		    fs->ops->device_number(fs->backend, device->path, &number) ||
		    number != wanted)
			continue;
		addition->devid = device->devid;
		if (device->role == addition->role)
			return 0;
		return bp_error(fs, -EIO, "'%s' was added as device %llu, but as %s", addition->path,
				(unsigned long long)device->devid,
				btrfs_policy_role_name(device->role));
	}
	return ret ? ret : bp_error(fs, -EIO, "'%s' was added and is not there", addition->path);
}

static int add_one(struct btrfs_policy_fs *fs, struct btrfs_policy_addition *addition, uint64_t number)
{
	int ret = 0;

	if (addition->signature && !addition->wiped)
		ret = fs->ops->wipe(fs->backend, addition->path);
	if (ret)
		return bp_failed(fs, ret, "cannot add '%s': cannot overwrite the %s on it",
				 addition->path, addition->signature);
	addition->wiped = addition->signature;
	ret = fs->ops->add_device(fs->backend, addition->path, addition->role);
	if (ret)
		return ret == -EINVAL ?
		       bp_error(fs, ret, "cannot add '%s': the kernel refused it; see 'dmesg'", addition->path) :
		       bp_failed(fs, ret, "cannot add '%s'", addition->path);
	addition->added = true;
	return find_added(fs, addition, number);
}

/* After the reason: changes that remain. */
static int tell_rest(struct btrfs_policy_fs *fs, int err,
		     const struct btrfs_policy_additions *additions)
{
	for (size_t i = 0; i < additions->count; i++) {
		const struct btrfs_policy_addition *addition = &additions->list[i];

		if (addition->added)
			bp_error_more(fs, err, "; '%s' has been added as %s and stays", addition->path,
				      btrfs_policy_role_name(addition->role));
		else if (addition->wiped)
			bp_error_more(fs, err, "; the %s on '%s' has been overwritten",
				      addition->signature, addition->path);
		else
			bp_error_more(fs, err, "; '%s' is untouched", addition->path);
	}
	return err;
}

static int no_tick(void *user)
{
	return 0;
}

/* Has another operation begun after the wait?  One that has ended again counts once. */
static bool was_outrun(struct btrfs_policy_fs *fs, bool *before)
{
	bool can_wait, first = !*before;
	int ret = bp_exclusive_check(fs, &can_wait);

	*before = !ret;
	return ret ? ret == -EBUSY && can_wait : first;
}

static int add_all(struct btrfs_policy_fs *fs, struct btrfs_policy_additions *additions,
		    unsigned int flags)
{
	bool outrun = false;

	for (size_t i = 0; i < additions->count;) {
		bool can_wait;
		sigset_t old;
		int ret = bp_exclusive_wait(fs, flags & BTRFS_POLICY_ENQUEUE, no_tick, NULL);

		/* A balance that is paused, or becomes so meanwhile, keeps no device from being added. */
		if (ret == -EBUSY && bp_exclusive_check(fs, &can_wait) == -EBUSY && !can_wait)
			ret = 0;
		if (!ret)
			ret = check_again(fs, additions, i, flags);
		if (ret)
			return tell_rest(fs, ret, additions);
		/* A signal ends the process between two devices, not between overwriting and adding. */
		bp_signals_defer(&old);
		ret = add_one(fs, &additions->list[i], additions->numbers[i]);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
		if (ret == -EBUSY && was_outrun(fs, &outrun) && flags & BTRFS_POLICY_ENQUEUE)
			continue;
		if (ret)
			return tell_rest(fs, ret, additions);
		i++;
	}
	return 0;
}

BP_PUBLIC int btrfs_policy_device_add(struct btrfs_policy_fs *fs, char *const *paths, size_t count,
				      enum btrfs_policy_role role, unsigned int flags,
				      struct btrfs_policy_additions **additions)
{
	const bool waits = flags & BTRFS_POLICY_ENQUEUE && !(flags & BTRFS_POLICY_DRY_RUN);
	struct btrfs_policy_additions *new;
	bool can_wait;
	int ret;

	*additions = NULL;
	if (!fs->open)
		return bp_not_open(fs);
	ret = check_file_system(fs, role);
	if (ret)
		return ret;
	/* A paused balance does not keep the kernel from adding devices. */
	ret = bp_exclusive_check(fs, &can_wait);
	if (ret && (ret != -EBUSY || (can_wait && !waits)))
		return ret;
	new = calloc(1, sizeof(*new));
	if (!new)
		return bp_nomem(fs);
	ret = check_all(fs, new, paths, count, role, flags);
	if (ret) {
		btrfs_policy_additions_free(new);
		return ret;
	}
	*additions = new;
	return flags & BTRFS_POLICY_DRY_RUN ? 0 : add_all(fs, new, flags);
}
