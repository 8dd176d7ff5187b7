/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Superblocks: reads all copies of a device, and uses the newest valid one.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "offline/offline.h"

#define MAGIC 0x4d5f53665248425fULL /* "_BHRfS_M" */
#define METADATA_UUID (1ULL << 10)
/*
 * Features that do not change the format of the superblock and of the chunk tree, or
 * the mapping of chunks: all up to ZONED, RAID_STRIPE_TREE and SIMPLE_QUOTA, and REMAP_TREE, whose
 * remapped chunks are refused one by one.
 */
#define KNOWN_INCOMPAT (((1ULL << 13) - 1) | 1ULL << 14 | 1ULL << 16 | 1ULL << 17)

/* Offsets in a superblock. */
enum {
	AT_FSID = 32, AT_BYTENR = 48, AT_MAGIC = 64, AT_GENERATION = 72, AT_ROOT = 80,
	AT_CHUNK_ROOT = 88, AT_NUM_DEVICES = 136, AT_SECTORSIZE = 144, AT_NODESIZE = 148,
	AT_ARRAY_SIZE = 160, AT_CHUNK_GENERATION = 164, AT_INCOMPAT = 188, AT_CSUM_TYPE = 196,
	AT_ROOT_LEVEL = 198, AT_CHUNK_LEVEL = 199, AT_DEV_ITEM = 201, AT_LABEL = 299,
	AT_METADATA_UUID = 571, AT_ARRAY = 811,
};

static const uint64_t copies[] = { 64ULL << 10, 64ULL << 20, 256ULL << 30 };

static void decode(const uint8_t *block, struct bp_super *super)
{
	super->generation = bp_get64(block + AT_GENERATION);
	super->root = bp_get64(block + AT_ROOT);
	super->chunk_root = bp_get64(block + AT_CHUNK_ROOT);
	super->chunk_root_generation = bp_get64(block + AT_CHUNK_GENERATION);
	super->num_devices = bp_get64(block + AT_NUM_DEVICES);
	super->incompat = bp_get64(block + AT_INCOMPAT);
	super->sectorsize = bp_get32(block + AT_SECTORSIZE);
	super->nodesize = bp_get32(block + AT_NODESIZE);
	super->array_size = bp_get32(block + AT_ARRAY_SIZE);
	super->csum_type = bp_get16(block + AT_CSUM_TYPE);
	super->root_level = block[AT_ROOT_LEVEL];
	super->chunk_root_level = block[AT_CHUNK_LEVEL];
	super->devid = bp_get64(block + AT_DEV_ITEM);
	memcpy(super->fsid, block + AT_FSID, sizeof(super->fsid));
	memcpy(super->metadata_uuid,
	       block + (super->incompat & METADATA_UUID ? AT_METADATA_UUID : AT_FSID),
	       sizeof(super->metadata_uuid));
	memcpy(super->label, block + AT_LABEL, sizeof(super->label));
	super->label[sizeof(super->label) - 1] = '\0';
	memcpy(super->array, block + AT_ARRAY, sizeof(super->array));
}

static bool is_power(uint32_t value, uint32_t least, uint32_t most)
{
	return value >= least && value <= most && !(value & (value - 1));
}

static int check(struct bp_offline *off, const struct bp_super *super)
{
	if (!is_power(super->sectorsize, 512, BP_NODE_MAX) ||
	    !is_power(super->nodesize, 4096, BP_NODE_MAX))
		return bp_wrong(off, "its superblock has a nodesize of %u and a sectorsize of %u",
				super->nodesize, super->sectorsize);
	if (super->array_size > sizeof(super->array))
		return bp_wrong(off, "its superblock has %u bytes of system chunks",
				super->array_size);
	if (super->root_level >= BP_LEVEL_MAX || super->chunk_root_level >= BP_LEVEL_MAX)
		return bp_wrong(off, "its superblock has trees of level %u and %u",
				super->root_level, super->chunk_root_level);
	if (super->incompat & ~KNOWN_INCOMPAT) {
		bp_wrong(off, "it has features that this version does not know, incompat_flags 0x%llx",
			 (unsigned long long)(super->incompat & ~KNOWN_INCOMPAT));
		return -EOPNOTSUPP;
	}
	return 0;
}

static int read_copy(struct bp_offline *off, int fd, uint64_t at, struct bp_super *super)
{
	uint8_t block[BP_SUPER_SIZE];
	ssize_t got = pread(fd, block, sizeof(block), at);
	int ret;

	if (got < 0)
		return -errno;
	if (got != sizeof(block) || bp_get64(block + AT_MAGIC) != MAGIC)
		return bp_wrong(off, "it has no superblock of btrfs");
	if (bp_get64(block + AT_BYTENR) != at)
		return bp_wrong(off, "its superblock belongs elsewhere");
	ret = bp_csum_check(off, bp_get16(block + AT_CSUM_TYPE), block, sizeof(block));
	if (ret)
		return ret;
	decode(block, super);
	return check(off, super);
}

/*
 * If all copies are invalid, the error of the first is reported.  One of a file system that
 * was there before may be left where the present one is too small for a copy.
 */
int bp_super_read(struct bp_offline *off, int fd, struct bp_super *super)
{
	char first[sizeof(off->why)] = "";
	bool found = false;
	int err = 0;

	for (size_t i = 0; i < BP_ARRAY_SIZE(copies); i++) {
		struct bp_super copy;
		int ret = read_copy(off, fd, copies[i], &copy);

		if (ret && i == 0) {
			memcpy(first, off->why, sizeof(first));
			err = ret;
		}
		if (ret || (found && (copy.generation <= super->generation ||
				      memcmp(copy.fsid, super->fsid, sizeof(copy.fsid)))))
			continue;
		*super = copy;
		found = true;
	}
	memcpy(off->why, first, sizeof(first));
	return found ? 0 : err;
}
