/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The made-up machine as the library's backend.  Items are built byte by byte
 * in the on-disk form, so that decoding is tested and not assumed.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"

/* ---- Building ----------------------------------------------------------- */

static const char policies_ours[] = "[pid] roundrobin";
static const char policies_upstream[] = "[pid] round-robin:262144 devid:1";

static void add_own_files(struct fake *fake)
{
	fake_set_file(fake, "features/device_role", "");
	fake_set_file(fake, "features/read_policy_roundrobin", "");
	fake_set_file(fake, FAKE_FSID "/read_policies/policy", policies_ours);
	fake_set_file(fake, FAKE_FSID "/read_policies/roundrobin_rot_nonlocal_inc", "1");
	fake_set_file(fake, FAKE_FSID "/read_policies/roundrobin_nonrot_nonlocal_inc", "0");
	fake_set_file(fake, FAKE_FSID "/read_policies/roundrobin_nonlocal_inc_mixed_only", "1");
}

void fake_init(struct fake *fake, enum fake_kernel kernel)
{
	memset(fake, 0, sizeof(*fake));
	fake->kernel = kernel;
	fake->fail_with = -EIO;
	fake->label = "pool";
	fake->mounts[0] = "/mnt";
	fake->mount_type = "ext4";
	fake_set_file(fake, FAKE_FSID "/bdi/read_ahead_kb", "4096");
	fake_set_file(fake, FAKE_FSID "/exclusive_operation", "none");
	if (kernel == FAKE_OURS) {
		add_own_files(fake);
		return;
	}
	fake_set_file(fake, FAKE_FSID "/read_policy",
		      kernel == FAKE_UPSTREAM ? policies_upstream : "[pid]");
}

struct fake_device *fake_add_device(struct fake *fake, uint64_t size, uint64_t disk_type,
				    bool rotational)
{
	struct fake_device *device = &fake->devices[fake->device_count++];

	device->devid = fake->device_count;
	device->size = size;
	device->type = disk_type;
	device->rotational = rotational;
	return device;
}

static uint64_t next_logical(const struct fake *fake)
{
	uint64_t next = MiB;

	for (size_t i = 0; i < fake->chunk_count; i++)
		if (fake->chunks[i].logical + fake->chunks[i].length > next)
			next = fake->chunks[i].logical + fake->chunks[i].length;
	return next;
}

static uint64_t stripe_length(const struct fake_chunk *chunk)
{
	const struct bp_profile *profile = bp_profile_of(chunk->type);

	return profile ? bp_stripe_length(profile, chunk->length, chunk->stripes) : 0;
}

/* The end of what begins at or before `at` and reaches behind it, else `at`. */
static uint64_t skip_used(const struct fake *fake, uint64_t devid, uint64_t at, uint64_t *next)
{
	*next = UINT64_MAX;
	for (size_t i = 0; i < fake->chunk_count; i++) {
		const struct fake_chunk *chunk = &fake->chunks[i];

		for (uint32_t j = 0; j < chunk->stripes; j++) {
			uint64_t start = chunk->offsets[j], end = start + stripe_length(chunk);

			if (chunk->devids[j] != devid || !start || end <= at)
				continue;
			if (start <= at)
				return skip_used(fake, devid, end, next);
			*next = start < *next ? start : *next;
		}
	}
	return at;
}

uint64_t fake_hole(const struct fake *fake, const struct fake_device *device, uint64_t wanted,
		   uint64_t *start)
{
	uint64_t at = MiB, next, longest = 0;

	for (*start = device->size; at < device->size; at = next) {
		at = skip_used(fake, device->devid, at, &next);
		if (at >= device->size)
			break;
		next = next < device->size ? next : device->size;
		if (next - at > longest) {
			longest = next - at;
			*start = at;
		}
		if (longest >= wanted)
			break;
	}
	return longest;
}

void fake_set_offsets(struct fake *fake, struct fake_chunk *chunk)
{
	memset(chunk->offsets, 0, sizeof(chunk->offsets));
	for (uint32_t i = 0; i < chunk->stripes; i++) {
		for (size_t j = 0; j < fake->device_count; j++)
			if (fake->devices[j].devid == chunk->devids[i])
				fake_hole(fake, &fake->devices[j], stripe_length(chunk),
					  &chunk->offsets[i]);
	}
}

struct fake_chunk *fake_add_chunk(struct fake *fake, uint64_t type, uint64_t length,
				  uint64_t used, uint32_t stripes, ...)
{
	struct fake_chunk *chunk = &fake->chunks[fake->chunk_count];
	va_list args;

	chunk->logical = next_logical(fake);
	chunk->type = type;
	chunk->length = length;
	chunk->used = used;
	chunk->stripes = stripes;
	va_start(args, stripes);
	for (uint32_t i = 0; i < stripes; i++)
		chunk->devids[i] = va_arg(args, int);
	va_end(args);
	fake->chunk_count++;
	fake_set_offsets(fake, chunk);
	return chunk;
}

struct fake_file *fake_file(struct fake *fake, const char *name)
{
	for (size_t i = 0; i < fake->file_count; i++)
		if (!strcmp(fake->files[i].name, name))
			return &fake->files[i];
	return NULL;
}

void fake_set_file(struct fake *fake, const char *name, const char *text)
{
	struct fake_file *file = fake_file(fake, name);

	if (!file) {
		file = &fake->files[fake->file_count++];
		snprintf(file->name, sizeof(file->name), "%s", name);
	}
	snprintf(file->text, sizeof(file->text), "%s", text);
}

void fake_two_and_two(struct fake *fake, enum fake_kernel kernel, uint64_t ssd_type,
		      uint64_t hdd_type)
{
	fake_init(fake, kernel);
	fake_add_device(fake, 100 * GiB, ssd_type, false);
	fake_add_device(fake, 100 * GiB, ssd_type, false);
	fake_add_device(fake, 1000 * GiB, hdd_type, true);
	fake_add_device(fake, 1000 * GiB, hdd_type, true);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_SYSTEM | BTRFS_BLOCK_GROUP_RAID1, 32 * MiB,
		       16384, 2, 3, 4);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, GiB,
		       700 * MiB, 2, 3, 4);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_METADATA | BTRFS_BLOCK_GROUP_RAID1, GiB,
		       100 * MiB, 2, 3, 4);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_RAID1, GiB, GiB, 2, 3, 4);
	fake_add_chunk(fake, BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_RAID1, GiB, 500 * MiB, 2,
		       1, 2);
}

uint64_t fake_unallocated(const struct fake *fake, const struct fake_device *device)
{
	uint64_t left = device->size;

	for (size_t i = 0; i < fake->chunk_count; i++)
		for (uint32_t j = 0; j < fake->chunks[i].stripes; j++)
			if (fake->chunks[i].devids[j] == device->devid)
				left -= stripe_length(&fake->chunks[i]);
	return left;
}

struct btrfs_policy_fs *fake_open(struct fake *fake)
{
	struct btrfs_policy_fs *fs = bp_fs_new_with(&fake_backend, fake);

	if (btrfs_policy_fs_open(fs, "/mnt")) {
		fprintf(stderr, "# %s\n", btrfs_policy_fs_error(fs));
		return btrfs_policy_fs_unref(fs);
	}
	return fs;
}

char *fake_state(const struct fake *fake)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < fake->file_count; i++)
		fprintf(out, "%s=%s\n", fake->files[i].name, fake->files[i].text);
	for (size_t i = 0; i < fake->device_count; i++)
		fprintf(out, "device %llu type %llx\n",
			(unsigned long long)fake->devices[i].devid,
			(unsigned long long)fake->devices[i].type);
	fprintf(out, "%s", fake->saved);
	fclose(out);
	return text;
}

/* ---- The failing switch ------------------------------------------------- */

bool fake_fails(struct fake *fake)
{
	fake->calls++;
	if (!fake->fail_at)
		return false;
	return fake->calls == fake->fail_at || (fake->fail_on && fake->calls > fake->fail_at);
}

static struct fake_device *find_device(struct fake *fake, uint64_t devid)
{
	for (size_t i = 0; i < fake->device_count; i++)
		if (fake->devices[i].devid == devid)
			return &fake->devices[i];
	return NULL;
}

/* ---- Mounts and facts --------------------------------------------------- */

static void fake_destroy(void *self)
{
}

static int fake_mount_of(void *self, const char *path, struct bp_mount *mount)
{
	struct fake *fake = self;
	bool other = !strncmp(path, "/other", 6) || !strcmp(path, ".");

	FAKE_MAY_FAIL(fake);
	if (!other && strncmp(path, "/mnt", 4))
		return -ENOENT;
	mount->target = strdup(other ? "/other" : "/mnt");
	mount->fstype = strdup(other ? fake->mount_type : "btrfs");
	return 0;
}

static int fake_mounts(void *self, struct bp_mount **list, size_t *count)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	*list = calloc(BP_ARRAY_SIZE(fake->mounts), sizeof(**list));
	for (*count = 0; *count < BP_ARRAY_SIZE(fake->mounts) && fake->mounts[*count];) {
		(*list)[*count].target = strdup(fake->mounts[*count]);
		(*list)[(*count)++].fstype = strdup("btrfs");
	}
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
	device = find_device(fake, info->devid);
	if (!device)
		return -ENODEV;
	info->total_bytes = device->size;
	info->bytes_used = device->size - fake_unallocated(fake, device);
	if (!device->missing)
		snprintf((char *)info->path, sizeof(info->path), "/dev/fake%llu",
			 (unsigned long long)device->devid);
	return 0;
}

static int fake_facts(void *self, const char *path, struct bp_facts *facts)
{
	struct fake *fake = self;
	struct fake_device *device = find_device(fake, strtoull(path + 9, NULL, 10));

	FAKE_MAY_FAIL(fake);
	facts->rotational = device->rotational;
	facts->model = strdup("Fake");
	facts->transport = strdup(device->transport ? device->transport : "sata");
	facts->rotation_rate = device->rotational == BTRFS_POLICY_YES ? 7200 : 0;
	return 0;
}

static int fake_device_number(void *self, const char *path, uint64_t *number)
{
	FAKE_MAY_FAIL((struct fake *)self);
	if (!strcmp(path, "/dev/null"))
		return -ENOTBLK;
	if (!strncmp(path, "/dev/fake", 9))
		*number = strtoull(path + 9, NULL, 10);
	else if (!strcmp(path, "/dev/disk/by-id/two"))
		*number = 2;
	else
		return -ENOENT;
	return 0;
}

static int fake_sync(void *self)
{
	FAKE_MAY_FAIL((struct fake *)self);
	return 0;
}

static int fake_saved_read(void *self, const char *fsid, char **text)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (!*fake->saved)
		return -ENOENT;
	*text = strdup(fake->saved);
	return 0;
}

static int fake_saved_write(void *self, const char *fsid, const char *text)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (fake->saved_error)
		return fake->saved_error;
	snprintf(fake->saved, sizeof(fake->saved), "%s", text);
	return 0;
}

static int fake_bdi_fsid(void *self, const char *bdi, char *fsid)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (strcmp(bdi, "btrfs-1"))
		return -ENODEV;
	if (fake->mount_looks && --fake->mount_looks)
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
}

/* ---- Roles and balance -------------------------------------------------- */

static int fake_roles(void *self, struct bp_ioctl_device_roles_args *args)
{
	const struct bp_ioctl_device_role *list = (void *)(uintptr_t)args->devices;
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	fake->role_calls++;
	if (fake->roles_result) {
		args->reason = fake->roles_reason;
		args->failed_devid = fake->roles_reason ? list[0].devid : 0;
		return fake->roles_result;
	}
	for (uint32_t i = 0; i < args->nr; i++) {
		struct fake_device *device = find_device(fake, list[i].devid);

		device->type = bp_role_to_disk(list[i].role, device->type);
	}
	return 0;
}

static const struct btrfs_balance_args *
filter_of(const struct btrfs_ioctl_balance_args *args, uint64_t type)
{
	if (type & BTRFS_BLOCK_GROUP_DATA)
		return args->flags & BTRFS_BALANCE_DATA ? &args->data : NULL;
	if (type & BTRFS_BLOCK_GROUP_SYSTEM)
		return args->flags & BTRFS_BALANCE_SYSTEM ? &args->sys : NULL;
	return args->flags & BTRFS_BALANCE_METADATA ? &args->meta : NULL;
}

static bool wanted(const struct btrfs_ioctl_balance_args *args, const struct fake_chunk *chunk)
{
	const struct btrfs_balance_args *filter = filter_of(args, chunk->type);

	return filter && filter->flags == BTRFS_BALANCE_ARGS_VRANGE &&
	       chunk->logical < filter->vend &&
	       chunk->logical + chunk->length > filter->vstart;
}

/* The devices as the allocator sees them: with roles where it knows them, else without. */
static void fill_sites(struct fake *fake, struct bp_site *sites)
{
	uint64_t start;

	for (size_t i = 0; i < fake->device_count; i++) {
		const struct fake_device *device = &fake->devices[i];
		bool obeys = fake->kernel == FAKE_OURS || fake->kernel == FAKE_HINT;

		sites[i] = (struct bp_site){
			.devid = device->devid,
			.role = obeys ? bp_role_from_disk(device->type) : 0,
			.writeable = !device->missing,
			.size = device->size,
			.room = fake_unallocated(fake, device) - MiB,
		};
		sites[i].hole = fake_hole(fake, device, UINT64_MAX, &start);
	}
}

/* Into what is free in chunks of the type that are not misplaced. */
static void move_into_free(struct fake *fake, size_t from, uint64_t *left)
{
	struct bp_site sites[FAKE_DEVICES];

	fill_sites(fake, sites);
	for (size_t i = 0; i < fake->chunk_count && *left; i++) {
		struct fake_chunk *to = &fake->chunks[i];
		const struct btrfs_policy_chunk chunk = {
			.type = to->type, .stripe_length = stripe_length(to),
			.stripes = to->stripes, .devids = to->devids,
		};
		uint64_t part = to->length - to->used;

		if (i == from || to->type != fake->chunks[from].type ||
		    bp_judge(sites, fake->device_count, &chunk))
			continue;
		part = part < *left ? part : *left;
		to->used += part;
		*left -= part;
	}
}

/* One new chunk for as much of what is left as it can hold. */
static int move_part(struct fake *fake, uint64_t type, uint64_t *left)
{
	struct fake_chunk *new = &fake->chunks[fake->chunk_count];
	uint64_t devids[2 * FAKE_DEVICES];
	struct bp_target target = { .devids = devids };
	struct bp_site sites[FAKE_DEVICES];
	int ret;

	fill_sites(fake, sites);
	ret = bp_select(sites, fake->device_count, type, &target);
	if (ret)
		return ret;
	new->type = type;
	new->logical = next_logical(fake);
	new->length = target.length;
	new->stripes = target.stripes;
	new->used = *left < target.length ? *left : target.length;
	memcpy(new->devids, devids, new->stripes * sizeof(*devids));
	*left -= new->used;
	fake->chunk_count++;
	fake_set_offsets(fake, new);
	return 0;
}

/* The old chunk goes when all it holds is elsewhere; else what was moved comes back. */
static int relocate(struct fake *fake, size_t index)
{
	static __thread struct fake before; /* too large for a stack */
	struct fake_chunk *chunk = &fake->chunks[index];
	uint64_t left = chunk->used;
	int ret = 0;

	before = *fake;
	move_into_free(fake, index, &left);
	while (!ret && left)
		ret = move_part(fake, chunk->type, &left);
	if (ret) {
		*fake = before;
		return ret;
	}
	memmove(chunk, chunk + 1, (fake->chunk_count - index - 1) * sizeof(*chunk));
	fake->chunk_count--;
	return 0;
}

static int balance_chunks(struct fake *fake, struct btrfs_ioctl_balance_args *args)
{
	int ret;

	for (size_t i = 0; i < fake->chunk_count; i++) {
		if (!wanted(args, &fake->chunks[i]))
			continue;
		fake->moved[fake->balances - 1] = fake->chunks[i].logical;
		ret = relocate(fake, i);
		args->stat.completed += !ret;
		return ret;
	}
	return 0;
}

/* It did its work, and is gone. */
static void fake_end_leftover(struct fake *fake)
{
	fake->balances++;
	balance_chunks(fake, &fake->leftover);
	memset(&fake->leftover, 0, sizeof(fake->leftover));
	fake_set_file(fake, FAKE_FSID "/exclusive_operation", "none");
}

static int fake_balance_state(void *self, struct btrfs_ioctl_balance_args *args)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (fake->leftover.state & BTRFS_BALANCE_STATE_RUNNING && !fake->leftover_looks--)
		fake_end_leftover(fake);
	if (!fake->leftover.flags)
		return -ENOTCONN;
	*args = fake->leftover;
	return 0;
}

static int fake_balance(void *self, struct btrfs_ioctl_balance_args *args)
{
	struct fake *fake = self;

	FAKE_MAY_FAIL(fake);
	if (args->flags & BTRFS_BALANCE_RESUME) {
		if (!fake->leftover.flags)
			return -ENOTCONN;
		fake_end_leftover(fake);
		return 0;
	}
	fake->balances++;
	if (fake->balances == fake->balance_special) {
		args->state = fake->balance_state;
		return fake->balance_result;
	}
	return fake->balance_skips ? 0 : balance_chunks(fake, args);
}

const struct bp_backend fake_backend = {
	.destroy = fake_destroy,
	.mount_of = fake_mount_of,
	.mounts = fake_mounts,
	.open = fake_do_open,
	.close = fake_close,
	.read_only = fake_read_only,
	.label = fake_label,
	.fs_info = fake_fs_info,
	.dev_info = fake_dev_info,
	.tree_search = fake_tree_search,
	.sync = fake_sync,
	.balance = fake_balance,
	.balance_state = fake_balance_state,
	.roles = fake_roles,
	.sysfs_exists = fake_sysfs_exists,
	.sysfs_read = fake_sysfs_read,
	.sysfs_write = fake_sysfs_write,
	.device_number = fake_device_number,
	.facts = fake_facts,
	.saved_read = fake_saved_read,
	.saved_write = fake_saved_write,
	.bdi_fsid = fake_bdi_fsid,
	.now = fake_now,
	.sleep = fake_sleep,
};
