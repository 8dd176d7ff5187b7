/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part of the real machine: signatures on a block device that is to be added, by
 * libblkid, and their removal; superblocks of devices that are in use.  Returns 0 or
 * -errno, makes no decisions.
 */
#include <blkid.h>
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "backend/linux.h"
#include "core/handle.h"

/* While it is open exclusively, no other process can mount it or add it to an array. */
static int open_exclusively(const char *path, int *fd)
{
	*fd = open(path, O_RDWR | O_EXCL | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

/* Of superblocks and partition tables, with the places of their magic numbers. */
static int new_probe(int fd, blkid_probe *probe)
{
	*probe = blkid_new_probe();
	if (!*probe)
		return -ENOMEM;
	if (blkid_probe_set_device(*probe, fd, 0, 0) == 0 &&
	    blkid_probe_enable_superblocks(*probe, 1) == 0 &&
	    blkid_probe_set_superblocks_flags(*probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_MAGIC) == 0 &&
	    blkid_probe_enable_partitions(*probe, 1) == 0 &&
	    blkid_probe_set_partitions_flags(*probe, BLKID_PARTS_MAGIC) == 0)
		return 0;
	blkid_free_probe(*probe);
	return -EIO;
}

/* 0 with the name of the next signature on the device, or NULL after the last one. */
static int next_signature(blkid_probe probe, const char **name)
{
	int ret = blkid_do_probe(probe);

	*name = NULL;
	if (ret)
		return ret < 0 ? -EIO : 0;
	if (blkid_probe_lookup_value(probe, "TYPE", name, NULL) &&
	    blkid_probe_lookup_value(probe, "PTTYPE", name, NULL))
		*name = "unknown";
	return 0;
}

int bp_linux_probe_new(void *self, const char *path, char **signature)
{
	const char *name;
	blkid_probe probe;
	int fd, ret = open_exclusively(path, &fd);

	*signature = NULL;
	if (ret)
		return ret;
	ret = new_probe(fd, &probe);
	if (!ret) {
		ret = next_signature(probe, &name);
		if (!ret && name)
			*signature = strdup(name);
		ret = !ret && name && !*signature ? -ENOMEM : ret;
		blkid_free_probe(probe);
	}
	close(fd);
	return ret;
}

int bp_linux_wipe(void *self, const char *path)
{
	blkid_probe probe;
	const char *name;
	int fd, ret = open_exclusively(path, &fd);

	if (ret)
		return ret;
	ret = new_probe(fd, &probe);
	if (!ret) {
		/* There may be several: a partition table has a copy at the end of the device. */
		while (!(ret = next_signature(probe, &name)) && name) {
			if (blkid_do_wipe(probe, 0)) {
				ret = -EIO;
				break;
			}
		}
		blkid_free_probe(probe);
	}
	if (!ret && fsync(fd))
		ret = -errno;
	close(fd);
	return ret;
}

/* Members of a superblock are little-endian, at these offsets. */
int bp_linux_superblock(void *self, const char *path, char *fsid, uint64_t *flags)
{
	enum { PLACE = 64 * 1024, AT_FSID = 32, AT_FLAGS = 56, AT_MAGIC = 64, LENGTH = 72 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t block[LENGTH];
	ssize_t length;
	int err;

	if (fd < 0)
		return -errno;
	length = pread(fd, block, sizeof(block), PLACE);
	err = errno;
	close(fd);
	if (length < 0)
		return -err;
	*fsid = '\0';
	*flags = 0;
	if (length != sizeof(block) || memcmp(block + AT_MAGIC, "_BHRfS_M", 8))
		return 0;
	bp_uuid_text(block + AT_FSID, fsid);
	memcpy(flags, block + AT_FLAGS, sizeof(*flags));
	*flags = le64toh(*flags);
	return 0;
}
