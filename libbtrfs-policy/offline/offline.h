/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file system that is not mounted, read from its devices or images.  All
 * input is untrusted: no data is used before its checksum, its address and its
 * bounds have been checked.  Shared by the files of this folder.
 */
#ifndef BP_OFFLINE_H
#define BP_OFFLINE_H

#include "core/tree.h"

#define BP_SUPER_SIZE 4096
#define BP_NODE_MAX 65536
#define BP_LEVEL_MAX 8
#define BP_CSUM_SIZE 32
#define BP_HEADER_SIZE 101

/* The part of a superblock that a reader needs, in this machine's byte order. */
struct bp_super {
	uint8_t fsid[16];
	uint8_t metadata_uuid[16];	/* the value in tree blocks */
	uint64_t generation;
	uint64_t root;
	uint64_t chunk_root;
	uint64_t chunk_root_generation;
	uint64_t num_devices;
	uint64_t incompat;
	uint32_t sectorsize;
	uint32_t nodesize;
	uint32_t array_size;
	uint16_t csum_type;
	uint8_t root_level;
	uint8_t chunk_root_level;
	uint64_t devid;
	char label[BTRFS_LABEL_SIZE];
	uint8_t array[2048];
};

/* One device or image; `present` is false for those that only the chunk tree knows. */
struct bp_disk {
	uint64_t devid;
	int fd;
	uint64_t bytes;
	char *path;
	struct btrfs_dev_item item;
	bool known;	/* `item` is valid */
};

/* A block of a tree, as its parent or the superblock describes it. */
struct bp_root {
	uint64_t bytenr;
	uint64_t generation;	/* 0: any */
	uint8_t level;
	uint64_t owner;	/* id of the tree */
	const struct btrfs_key *first;	/* NULL: any */
	const struct btrfs_key *end;	/* behind its last key; NULL: any */
};

struct bp_offline {
	struct bp_super super;
	struct bp_disk *disks;
	size_t disk_count;
	struct btrfs_policy_chunk *chunks;	/* in order of address; `used` is not read */
	size_t chunk_count;
	size_t chunk_space;
	uint8_t *blocks[BP_LEVEL_MAX];		/* the last one of each level */
	uint64_t block_at[BP_LEVEL_MAX];	/* its address; 0: none */
	struct bp_root last_root;	/* searches mostly stay in one tree; owner 0: none */
	uint64_t bytes;			/* that can be read of the open devices */
	bool short_device;		/* one of them is shorter than its item says */
	/* The walk under way: its range, and blocks that it may still read. */
	struct btrfs_key min, max;
	uint64_t budget;
	struct btrfs_ioctl_search_args_v2 *search;	/* that it answers */
	uint64_t filled;				/* bytes of the answer */
	uint32_t found;					/* items in it */
	char why[1024];			/* error of the last read */
};

static inline uint16_t bp_get16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

static inline uint32_t bp_get32(const uint8_t *p)
{
	return bp_get16(p) | (uint32_t)bp_get16(p + 2) << 16;
}

static inline uint64_t bp_get64(const uint8_t *p)
{
	return bp_get32(p) | (uint64_t)bp_get32(p + 4) << 32;
}

int bp_wrong(struct bp_offline *off, const char *fmt, ...) BP_PRINTF(2, 3);

/* csum.c: bytes of the checksum of this type, below 4; 0 if this build lacks it */
int bp_csum(uint16_t type, const uint8_t *data, size_t size, uint8_t *csum);
/* 0, -EUCLEAN, -EOPNOTSUPP for a checksum that this build lacks */
int bp_csum_check(struct bp_offline *off, uint16_t type, const uint8_t *block, size_t size);

/* super.c */
int bp_super_read(struct bp_offline *off, int fd, struct bp_super *super);

/* map.c */
int bp_map_array(struct bp_offline *off);
int bp_map_add(struct bp_offline *off, uint64_t logical, const uint8_t *data, size_t length);
int bp_map_check(struct bp_offline *off);
void bp_map_free(struct bp_offline *off);
/* Where copy number `mirror` is; -ENOENT behind the last copy. */
int bp_map_place(struct bp_offline *off, uint64_t logical, uint32_t mirror, uint64_t *devid,
		 uint64_t *offset);

/* tree.c */
/* The function's value other than 0 ends the walk and is its result. */
int bp_offline_root(struct bp_offline *off, uint64_t tree, struct bp_root *root);
int bp_offline_walk(struct bp_offline *off, const struct bp_root *root, const struct btrfs_key *min,
		    const struct btrfs_key *max,
		    int (*fn)(struct bp_offline *off, const struct btrfs_key *key,
			       const void *data, size_t length));

/* names.c: paths of devices of a btrfs with this tag, up to NULL; `uuids` may be NULL */
int bp_offline_named(const char *tag, const char *value, char ***paths, char ***uuids);
/* `path` is to be freed; -EUCLEAN if the word means several file systems. */
int bp_offline_path(struct bp_offline *off, const char *word, char **path);

#endif
