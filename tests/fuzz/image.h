/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds images of btrfs in memory, well formed except for what a caller changes
 * before a block is sealed: superblock, chunk tree, root tree, extent or block
 * group tree.  Used by fuzz-trees.c.
 */
#ifndef FUZZ_IMAGE_H
#define FUZZ_IMAGE_H

#include "offline/offline.h"

#define IMAGE_SIZE (48ULL << 20)
/* Tree blocks are in one system chunk; its logical addresses are not the physical ones. */
#define IMAGE_AREA (1ULL << 20)
#define IMAGE_AREA_SIZE (46ULL << 20)
#define IMAGE_LOGICAL (64ULL << 20)
#define IMAGE_DEVICE_SIZE (1ULL << 50)
#define IMAGE_GENERATION 7
#define IMAGE_ITEM_MAX 256

struct image_item {
	struct btrfs_key key;
	uint32_t size;
	uint8_t data[IMAGE_ITEM_MAX];
};

/* A tree before it is written: items in order of their keys, and its shape. */
struct image_tree {
	uint64_t owner;
	struct image_item *items;
	size_t count;
	size_t space;
	uint32_t leaf_items;	/* per leaf, at most */
	uint32_t fanout;	/* pointers per node, at most */
	uint8_t least_level;	/* nodes with one pointer are put on top until it is reached */
};

struct image {
	uint8_t *data;
	uint32_t nodesize;
	uint64_t blocks;	/* tree blocks handed out */
	uint64_t incompat;
	struct bp_root chunk_root;
	struct bp_root root;
};

void image_put(uint8_t *to, uint64_t value, unsigned int bytes);
void image_start(struct image *image, uint32_t nodesize);
void image_end(struct image *image);

/* A block without entries; NULL if the area is full.  `bytenr` is its logical address. */
uint8_t *image_block(struct image *image, uint64_t owner, uint8_t level, uint64_t *bytenr);
uint8_t *image_at(struct image *image, uint64_t bytenr);
void image_pointer(uint8_t *block, const struct btrfs_key *key, uint64_t child);
void image_entry(const struct image *image, uint8_t *block, const struct image_item *item);
struct btrfs_key image_key(const uint8_t *block, uint32_t index);
void image_seal(const struct image *image, uint8_t *block);

struct image_item *image_add(struct image_tree *tree, uint64_t objectid, uint8_t type,
			     uint64_t offset, uint32_t size);
int image_tree_write(struct image *image, const struct image_tree *tree, struct bp_root *root);
void image_tree_free(struct image_tree *tree);

/* Items as the reader knows them. */
void image_add_device(struct image_tree *chunks, uint64_t devid);
void image_chunk_item(uint8_t *data, uint64_t length, uint64_t type, uint64_t offset);
void image_add_root(struct image_tree *roots, uint64_t id, const struct bp_root *root);
void image_super(struct image *image);
/* Writes the image to a file in memory; its path is put into `path`. */
int image_file(const struct image *image, char *path, size_t size);

#endif
