/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The made-up machine as the library's backend: its mounts, its properties, the call
 * that fails, and the table of it all.
 */
#include <stdio.h>
#include <string.h>

#include "fake.h"

/* ---- The failing switch ------------------------------------------------- */

bool fake_fails(struct fake *fake)
{
	fake->calls++;
	if (!fake->fail_at)
		return false;
	return fake->calls == fake->fail_at || (fake->fail_on && fake->calls > fake->fail_at);
}

/* ---- Mounts and properties --------------------------------------------- */

static void fake_destroy(void *self)
{
}

static int fake_mount_of(void *self, const char *path, char **target, char **fstype,
			 bool *ignores_roles)
{
	struct fake *fake = self;
	bool other = !strncmp(path, "/other", 6) || !strcmp(path, ".");

	FAKE_MAY_FAIL(fake);
	if (!other && strncmp(path, "/mnt", 4))
		return -ENOENT;
	*target = strdup(other ? "/other" : "/mnt");
	*fstype = strdup(other ? fake->mount_type : "btrfs");
	*ignores_roles = fake->ignores_roles;
	return 0;
}

static int fake_mounts(void *self, char ***targets)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	*targets = calloc(BP_ARRAY_SIZE(fake->mounts) + 1, sizeof(**targets));
	for (size_t i = 0; i < BP_ARRAY_SIZE(fake->mounts) && fake->mounts[i]; i++)
		(*targets)[i] = strdup(fake->mounts[i]);
	return 0;
}

static int fake_do_open(void *self, const char *path)
{
	FAKE_MAY_FAIL((struct fake *)self);
	return strcmp(path, "/other") ? 0 : -EINVAL;
}

static void fake_close(void *self)
{
}

static int fake_read_only(void *self, bool *read_only)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	*read_only = fake->read_only;
	return 0;
}

static int fake_label(void *self, char *label, size_t size)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	snprintf(label, size, "%s", fake->label);
	return 0;
}

static int fake_boots(void *self, bool *boots)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	*boots = fake->boots;
	return 0;
}

static int fake_fs_info(void *self, struct btrfs_ioctl_fs_info_args *info)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	for (int i = 0; i < 16; i++)
		info->fsid[i] = i;
	info->nodesize = 16384;
	info->sectorsize = 4096;
	info->num_devices = fake->device_count;
	info->max_id = fake->device_count ? fake->devices[fake->device_count - 1].devid : 0;
	return 0;
}

static int fake_dev_info(void *self, struct btrfs_ioctl_dev_info_args *info)
{
	struct fake *fake = self;
	struct fake_device *device;

	FAKE_MAY_FAIL(fake);
	device = fake_device_find(fake, info->devid);
	if (!device)
		return -ENODEV;
	info->total_bytes = device->size;
	info->bytes_used = device->size - fake_unallocated(fake, device);
	if (!device->missing)
		snprintf((char *)info->path, sizeof(info->path), "/dev/fake%llu",
			 (unsigned long long)device->devid);
	return 0;
}

static int fake_incompat(void *self, uint64_t *flags)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	*flags = (fake->mixed ? BTRFS_FEATURE_INCOMPAT_MIXED_GROUPS : 0) |
		 (fake->zoned ? BTRFS_FEATURE_INCOMPAT_ZONED : 0);
	return 0;
}

static int fake_properties(void *self, const char *path, struct btrfs_policy_device *properties)
{
	struct fake *fake = self;
	struct fake_device *device = fake_device_find(fake, strtoull(path + 9, NULL, 10));

	FAKE_MAY_FAIL(fake);
	properties->rotational = device->rotational;
	properties->model = strdup("Fake");
	properties->transport = strdup(device->transport ? device->transport : "sata");
	properties->rotation_rate = device->rotational == BTRFS_POLICY_YES ? 7200 : 0;
	return 0;
}

static uint64_t devid_of(const char *path)
{
	return strtoull(path + strlen("/dev/fake"), NULL, 10);
}

static int fake_device_number(void *self, const char *path, uint64_t *number)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (!strcmp(path, "/dev/null"))
		return -ENOTBLK;
	if (!strncmp(path, "/dev/fake", 9))
		*number = devid_of(path) + (fake->renumbered && devid_of(path) == fake->renumbered) * 100;
	else if (!strcmp(path, "/dev/disk/by-id/two"))
		*number = 2;
	else
		return -ENOENT;
	return 0;
}

static int fake_superblock(void *self, const char *path, char *fsid, uint64_t *flags)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	strcpy(fsid, FAKE_FSID);
	if (fake->seed_of_other)
		fsid[0] = 'f';
	*flags = fake->seed ? BTRFS_SUPER_FLAG_SEEDING : 0;
	return 0;
}

static int fake_probe_new(void *self, const char *path, char **signature)
{
	struct fake *fake = self;
	uint64_t devid = devid_of(path);

	FAKE_MAY_FAIL(fake);
	if (fake_device_find(fake, devid) || devid == fake->in_use)
		return -EBUSY;
	if (fake->signatures[devid])
		*signature = strdup(fake->signatures[devid]);
	return 0;
}

static int fake_wipe(void *self, const char *path)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (fake->on_write)
		fake->on_write(fake);
	fake->signatures[devid_of(path)] = NULL;
	return 0;
}

static int fake_add(void *self, const char *path, enum btrfs_policy_role role)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (role && (fake->kernel != FAKE_OURS || fake->adds_without_role))
		return -ENOTTY;
	if (!path)
		return 0;
	if (fake->on_write)
		fake->on_write(fake);
	if (++fake->add_calls == fake->add_fails_at)
		return fake->add_result;
	if (devid_of(path) != fake->device_count + 1)
		return -EINVAL;
	fake_add_device(fake, 100 * GiB, bp_role_to_disk(role, 0), false);
	return 0;
}

static int fake_remove(void *self, uint64_t devid)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (fake->remove_error)
		return fake->remove_error;
	fake->removed++;
	return 0;
}

static int fake_sync(void *self)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	fake->syncs++;
	return 0;
}

static int fake_saved_read(void *self, const char *fsid, char **text)
{
	struct fake *fake = self;

	const char *saved = strstr(fsid, ".drain") ? fake->drained : fake->saved;

	FAKE_MAY_FAIL(fake);
	if (!*saved)
		return -ENOENT;
	*text = strdup(saved);
	return 0;
}

static int fake_saved_write(void *self, const char *fsid, const char *text)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (fake->on_write)
		fake->on_write(fake);
	if (!fake->saved_locked)
		return -ENOLCK;
	if (fake->saved_error)
		return fake->saved_error;
	if (strstr(fsid, ".drain"))
		snprintf(fake->drained, sizeof(fake->drained), "%s", text);
	else
		snprintf(fake->saved, sizeof(fake->saved), "%s", text);
	return 0;
}

static int fake_saved_lock(void *self, int *lock)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (fake->saved_by_other)
		strcpy(fake->saved, fake->saved_by_other);
	fake->saved_by_other = NULL;
	fake->saved_locked = true;
	*lock = 1;
	return 0;
}

static void fake_saved_unlock(void *self, int lock)
{
	((struct fake *)self)->saved_locked = false;
}

static int fake_bdi_fsid(void *self, const char *bdi, char *fsid)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (strcmp(bdi, "btrfs-1"))
		return -ENODEV;
	if (fake->mount_scans && --fake->mount_scans)
		return -EAGAIN;
	strcpy(fsid, FAKE_FSID);
	return 0;
}

static uint64_t fake_now(void *self)
{
	return ((struct fake *)self)->clock += 1000;
}

static void fake_sleep(void *self, uint64_t nanoseconds)
{
	struct fake *fake = self;

	fake->clock += nanoseconds;
	fake->naps++;
	if (fake->on_nap)
		fake->on_nap(fake);
}

const struct bp_backend fake_backend = {
	.destroy = fake_destroy,
	.mount_of = fake_mount_of,
	.mounts = fake_mounts,
	.open = fake_do_open,
	.close = fake_close,
	.read_only = fake_read_only,
	.label = fake_label,
	.boots = fake_boots,
	.fs_info = fake_fs_info,
	.dev_info = fake_dev_info,
	.incompat = fake_incompat,
	.tree_search = fake_tree_search,
	.sync = fake_sync,
	.balance = fake_balance,
	.balance_state = fake_balance_state,
	.move_stripes = fake_move_stripes,
	.roles = fake_roles,
	.sysfs_exists = fake_sysfs_exists,
	.sysfs_read = fake_sysfs_read,
	.sysfs_write = fake_sysfs_write,
	.device_number = fake_device_number,
	.properties = fake_properties,
	.superblock = fake_superblock,
	.probe_new = fake_probe_new,
	.wipe = fake_wipe,
	.add_device = fake_add,
	.remove_device = fake_remove,
	.saved_read = fake_saved_read,
	.saved_write = fake_saved_write,
	.saved_lock = fake_saved_lock,
	.saved_unlock = fake_saved_unlock,
	.bdi_fsid = fake_bdi_fsid,
	.now = fake_now,
	.sleep = fake_sleep,
};
