/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine that has one file system, which is not mounted: the backend behind
 * --offline.  It can be read like any other and never be changed.  Opens devices
 * and images for reading only; everything in them is checked by offline-*.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/linux.h"
#include "offline/offline.h"

/* Far above what any file system has; a loop over all devids has to end. */
#define DEVID_MAX 65536
#define DISKS_MAX 4096

int bp_wrong(struct bp_offline *off, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(off->why, sizeof(off->why), fmt, args);
	va_end(args);
	return -EUCLEAN;
}

static void offline_close(void *self)
{
	struct bp_offline *off = self;

	for (size_t i = 0; i < off->disk_count; i++) {
		if (off->disks[i].fd >= 0)
			close(off->disks[i].fd);
		off->disks[i].fd = -1;
	}
}

static void offline_destroy(void *self)
{
	struct bp_offline *off = self;

	offline_close(self);
	for (size_t i = 0; i < off->disk_count; i++)
		free(off->disks[i].path);
	for (size_t i = 0; i < BP_LEVEL_MAX; i++)
		free(off->blocks[i]);
	bp_map_free(off);
	free(off->disks);
	free(off);
}

BP_DEFINE_CLEANUP(struct bp_offline *, offline_destroy);

/* ---- Opening ------------------------------------------------------------ */

static struct bp_disk *find_disk(struct bp_offline *off, uint64_t devid)
{
	for (size_t i = 0; i < off->disk_count; i++)
		if (off->disks[i].devid == devid)
			return &off->disks[i];
	return NULL;
}

static struct bp_disk *add_disk(struct bp_offline *off, uint64_t devid)
{
	struct bp_disk *disks = reallocarray(off->disks, off->disk_count + 1, sizeof(*disks));

	if (!disks)
		return NULL;
	off->disks = disks;
	disks += off->disk_count++;
	*disks = (struct bp_disk){ .devid = devid, .fd = -1 };
	return disks;
}

/* A device that is in use would change while it is read. */
static int open_path(struct bp_offline *off, const char *path, int *fd)
{
	struct stat st;
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode)) {
		bp_wrong(off, "it is neither a block device nor an image");
		return -EINVAL;
	}
	*fd = open(path, flags | (S_ISBLK(st.st_mode) ? O_EXCL : 0));
	if (*fd < 0 && errno == EBUSY)
		bp_wrong(off, "it is in use; leave out --offline for what is mounted");
	return *fd < 0 ? -errno : 0;
}

static int check_member(struct bp_offline *off, const struct bp_super *super)
{
	const struct bp_disk *other = find_disk(off, super->devid);

	if (off->disk_count && memcmp(super->fsid, off->super.fsid, sizeof(super->fsid))) {
		bp_wrong(off, "it belongs to another file system than the first one");
		return -EINVAL;
	}
	if (other) {
		bp_wrong(off, "it claims to be device %llu, and so does '%s'",
			 (unsigned long long)super->devid, other->path);
		return -EEXIST;
	}
	if (off->disk_count >= DISKS_MAX || super->devid > DEVID_MAX || !super->devid)
		return bp_wrong(off, "it claims to be device %llu",
				(unsigned long long)super->devid);
	return 0;
}

/*
 * How much a walk may read of a device.  Of an image only what is stored counts: one with
 * holes can have any size.  It may be compressed where it lies.
 */
static uint64_t readable(int fd, uint64_t bytes)
{
	const uint64_t ratio = 64;
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || bytes / ratio < st.st_blocks * 512ULL)
		return bytes;
	return st.st_blocks * 512ULL * ratio;
}

static int open_disk(struct bp_offline *off, const char *path)
{
	struct bp_super super;
	struct bp_disk *disk;
	off_t bytes;
	int fd = -1, ret = open_path(off, path, &fd);

	if (!ret)
		ret = bp_super_read(off, fd, &super);
	if (!ret)
		ret = check_member(off, &super);
	disk = ret ? NULL : add_disk(off, super.devid);
	if (!disk) {
		if (fd >= 0)
			close(fd);
		return ret ? ret : -ENOMEM;
	}
	disk->fd = fd;
	disk->path = strdup(path);
	bytes = lseek(fd, 0, SEEK_END);
	disk->bytes = bytes > 0 ? bytes : 0;
	off->bytes += readable(fd, disk->bytes);
	/* The newest superblock speaks for all of them. */
	if (off->disk_count == 1 || super.generation > off->super.generation)
		off->super = super;
	return disk->path ? 0 : -ENOMEM;
}

/* ---- Contents of the chunk tree ----------------------------------------- */

static int take_device(struct bp_offline *off, const struct btrfs_key *key, const void *data,
		     size_t length)
{
	struct btrfs_dev_item decoded;
	struct bp_disk *disk;

	if (bp_decode_device(data, length, &decoded) || decoded.devid != key->offset ||
	    !decoded.devid || decoded.devid > DEVID_MAX || off->disk_count >= DISKS_MAX)
		return bp_wrong(off, "the item of device %llu makes no sense",
				(unsigned long long)key->offset);
	disk = find_disk(off, decoded.devid);
	if (!disk)
		disk = add_disk(off, decoded.devid);
	if (!disk)
		return -ENOMEM;
	/* The kernel does not mount it either. */
	if (disk->fd >= 0 && decoded.total_bytes > disk->bytes) {
		off->short_device = true;
		return bp_wrong(off, "device %llu should have %llu bytes and has %llu",
				(unsigned long long)decoded.devid,
				(unsigned long long)decoded.total_bytes,
				(unsigned long long)disk->bytes);
	}
	disk->item = decoded;
	disk->known = true;
	return 0;
}

static int take_item(struct bp_offline *off, const struct btrfs_key *key, const void *data,
		     size_t length)
{

	if (key->type == BTRFS_CHUNK_ITEM_KEY && key->objectid != BTRFS_FIRST_CHUNK_TREE_OBJECTID)
		return bp_wrong(off, "the key of chunk %llu makes no sense",
				(unsigned long long)key->offset);
	if (key->type == BTRFS_CHUNK_ITEM_KEY)
		return bp_map_add(off, key->offset, data, length);
	return key->type == BTRFS_DEV_ITEM_KEY ? take_device(off, key, data, length) : 0;
}

static int read_chunk_tree(struct bp_offline *off)
{
	const struct btrfs_key first = {}, last = { UINT64_MAX, UINT8_MAX, UINT64_MAX };
	struct bp_root root;
	int ret = bp_map_array(off);

	if (!ret)
		ret = bp_offline_root(off, BTRFS_CHUNK_TREE_OBJECTID, &root);
	if (!ret)
		ret = bp_offline_walk(off, &root, &first, &last, take_item);
	return ret ? ret : bp_map_check(off);
}

/* ---- Other devices of it ------------------------------------------------ */

static void drop_disk(struct bp_offline *off)
{
	struct bp_disk *disk = &off->disks[--off->disk_count];

	off->bytes -= readable(disk->fd, disk->bytes);
	close(disk->fd);
	free(disk->path);
}

/*
 * Ignores devices that cannot be opened, as those that were added already.  With copies of
 * a device, as snapshots of volumes are, which of the others belong to it cannot be known:
 * then it does with those that were named, if they are several.
 */
static int add_others(struct bp_offline *off, char **why)
{
	const struct bp_super super = off->super;
	const size_t named = off->disk_count;
	char uuid[BP_FSID_LENGTH];
	char **paths = NULL;
	struct stat st;

	if (off->disk_count >= off->super.num_devices ||
	    fstat(off->disks[0].fd, &st) < 0 || !S_ISBLK(st.st_mode))
		return 0;
	bp_uuid_text(off->super.fsid, uuid);
	bp_offline_named("UUID", uuid, &paths, NULL);
	for (char **path = paths; path && *path; path++)
		if (open_disk(off, *path) == -EEXIST && !*why)
			*why = bp_format("'%s': %s; name all devices of one of the copies", *path,
					 off->why);
	btrfs_policy_strv_free(paths);
	if (*why && named == 1 && off->disk_count > named)
		return -EEXIST;
	while (*why && off->disk_count > named)
		drop_disk(off);
	if (*why)
		off->super = super;
	free(*why);
	*why = NULL;
	return 0;
}

/* `why` receives the error text, to be freed; NULL without memory. */
static int open_devices(struct bp_offline **result, char *const *paths, size_t count,
			char **why)
{
	BP_CLEANUP(offline_destroy_at_end) struct bp_offline *off = calloc(1, sizeof(*off));
	int ret = off ? 0 : -ENOMEM;

	*why = NULL;
	for (size_t i = 0; !ret && i < count; i++) {
		_cleanup_free_ char *path = NULL;

		*off->why = '\0';
		ret = bp_offline_path(off, paths[i], &path);
		if (!ret)
			ret = open_disk(off, path);
		if (ret && ret != -ENOMEM)
			*why = bp_format("'%s': %s", path ? path : paths[i],
					 *off->why ? off->why : strerror(-ret));
	}
	if (!ret)
		ret = add_others(off, why);
	if (ret)
		return ret;
	ret = read_chunk_tree(off);
	if (ret && ret != -ENOMEM)
		*why = bp_format("'%s': %s%s", paths[0], off->why,
				 off->disk_count < off->super.num_devices && !off->short_device ?
				 "; name its other devices too" : "");
	if (!ret)
		*result = bp_steal(off);
	return ret;
}

/* ---- The file system ---------------------------------------------------- */

static int offline_open(void *self, const char *path)
{
	return 0;
}

static int offline_read_only(void *self, bool *read_only)
{
	*read_only = true;
	return 0;
}

static int offline_label(void *self, char *label, size_t size)
{
	const struct bp_offline *off = self;

	memcpy(label, off->super.label, size < BTRFS_LABEL_SIZE ? size : BTRFS_LABEL_SIZE);
	return 0;
}

static int offline_fs_info(void *self, struct btrfs_ioctl_fs_info_args *info)
{
	const struct bp_offline *off = self;

	info->num_devices = off->disk_count;
	info->nodesize = off->super.nodesize;
	info->sectorsize = off->super.sectorsize;
	memcpy(info->fsid, off->super.fsid, sizeof(info->fsid));
	for (size_t i = 0; i < off->disk_count; i++)
		if (off->disks[i].devid > info->max_id)
			info->max_id = off->disks[i].devid;
	return 0;
}

static int offline_dev_info(void *self, struct btrfs_ioctl_dev_info_args *info)
{
	const struct bp_disk *disk = find_disk(self, info->devid);

	if (!disk || !disk->known)
		return -ENODEV;
	info->total_bytes = disk->item.total_bytes;
	info->bytes_used = disk->item.bytes_used;
	memcpy(info->uuid, disk->item.uuid, sizeof(info->uuid));
	snprintf((char *)info->path, sizeof(info->path), "%s", disk->path ? disk->path : "");
	return 0;
}

static int offline_incompat(void *self, uint64_t *flags)
{
	const struct bp_offline *off = self;

	*flags = off->super.incompat;
	return 0;
}

/* ---- Searching ---------------------------------------------------------- */

/* The value 1 ends the walk: the answer is full. */
static int put_item(struct bp_offline *off, const struct btrfs_key *key, const void *data,
		     size_t length)
{
	struct btrfs_ioctl_search_args_v2 *args = off->search;
	uint8_t *to = (uint8_t *)args->buf + off->filled;
	struct btrfs_ioctl_search_header header = {
		.objectid = key->objectid, .type = key->type,
		.offset = key->offset, .len = length,
	};

	if (args->buf_size - off->filled < sizeof(header) + length)
		return 1;
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), data, length);
	off->filled += sizeof(header) + length;
	return ++off->found == args->key.nr_items;
}

static int offline_tree_search(void *self, struct btrfs_ioctl_search_args_v2 *args)
{
	const struct btrfs_key min = { args->key.min_objectid, args->key.min_type,
				    args->key.min_offset };
	const struct btrfs_key max = { args->key.max_objectid, args->key.max_type,
				    args->key.max_offset };
	struct bp_offline *off = self;
	struct bp_root root;
	int ret = bp_offline_root(off, args->key.tree_id, &root);

	off->search = args;
	off->filled = off->found = 0;
	if (!ret)
		ret = bp_offline_walk(off, &root, &min, &max, put_item);
	args->key.nr_items = off->found;
	return ret < 0 ? ret : 0;
}

static const char *offline_why(void *self)
{
	const struct bp_offline *off = self;

	return off->why;
}

/* ---- Unsupported operations --------------------------------------------- */

static int offline_sync(void *self)
{
	return -EROFS;
}

static int offline_balance(void *self, struct btrfs_ioctl_balance_args *args)
{
	return -EROFS;
}

static int offline_move_stripes(void *self, struct btrfs_ioctl_move_stripes_args *args)
{
	return -EROFS;
}

static int offline_roles(void *self, struct btrfs_ioctl_device_roles_args *args)
{
	return -EROFS;
}

static int offline_sysfs_exists(void *self, const char *name)
{
	return 0;
}

static int offline_sysfs_read(void *self, const char *name, char *buf, size_t size)
{
	return -ENOENT;
}

static int offline_sysfs_write(void *self, const char *name, const char *text)
{
	return -EROFS;
}

static int offline_saved_write(void *self, const char *fsid, const char *text)
{
	return -EROFS;
}

static int offline_saved_lock(void *self, int *lock)
{
	return -EROFS;
}

static int offline_device_number(void *self, const char *path, uint64_t *number)
{
	return bp_backend_linux.device_number(NULL, path, number);
}

static int offline_bdi_fsid(void *self, const char *bdi, char *fsid)
{
	return -ENODEV;
}

static uint64_t offline_now(void *self)
{
	return bp_backend_linux.now(NULL);
}

static void offline_sleep(void *self, uint64_t nanoseconds)
{
	bp_backend_linux.sleep(NULL, nanoseconds);
}

const struct bp_backend bp_backend_offline = {
	.destroy = offline_destroy,
	.mount_of = bp_linux_mount_of,
	.mounts = bp_linux_mounts,
	.open = offline_open,
	.close = offline_close,
	.read_only = offline_read_only,
	.label = offline_label,
	.fs_info = offline_fs_info,
	.dev_info = offline_dev_info,
	.incompat = offline_incompat,
	.tree_search = offline_tree_search,
	.why = offline_why,
	.sync = offline_sync,
	.balance = offline_balance,
	.move_stripes = offline_move_stripes,
	.roles = offline_roles,
	.sysfs_exists = offline_sysfs_exists,
	.sysfs_read = offline_sysfs_read,
	.sysfs_write = offline_sysfs_write,
	.device_number = offline_device_number,
	.properties = bp_linux_properties,
	.superblock = bp_linux_superblock,
	.saved_read = bp_linux_saved_read,
	.saved_write = offline_saved_write,
	.saved_lock = offline_saved_lock,
	.saved_unlock = bp_linux_saved_unlock,
	.bdi_fsid = offline_bdi_fsid,
	.now = offline_now,
	.sleep = offline_sleep,
};

BP_PUBLIC int btrfs_policy_fs_open_offline(struct btrfs_policy_fs *fs, char *const *paths,
					   size_t count)
{
	_cleanup_free_ char *why = NULL;
	struct bp_offline *off = NULL;
	int ret;

	if (fs->open || !count)
		return bp_error(fs, -EINVAL, count ? "the handle has '%s' open already" :
						     "no device given", fs->mount_point);
	ret = open_devices(&off, paths, count, &why);
	if (ret)
		return why ? bp_error(fs, ret, "cannot read %s", why) : bp_nomem(fs);
	return bp_fs_switch(fs, &bp_backend_offline, off, paths[0], true);
}
