/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Owns the bytes of an image: where fields are in blocks, items and superblocks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/image.h"

#define ITEM_SIZE 25
#define PTR_SIZE 33
#define CHUNK_SIZE 80	/* with one stripe */
#define DEV_ITEM_SIZE 98
#define ROOT_ITEM_SIZE 439
#define SUPER_AT (64 << 10)
#define MAGIC 0x4d5f53665248425fULL

static const uint8_t fsid[16] = "hostile image 1";

void image_put(uint8_t *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = value >> 8 * i;
}

/* One image at a time: fresh memory for each would take most of the time. */
void image_start(struct image *image, uint32_t nodesize)
{
	static uint8_t data[IMAGE_SIZE];

	*image = (struct image){ .data = data, .nodesize = nodesize, .incompat = 1 << 9 };
}

void image_end(struct image *image)
{
	memset(image->data, 0, IMAGE_AREA + image->blocks * image->nodesize);
}

/* ---- Blocks ------------------------------------------------------------- */

uint8_t *image_at(struct image *image, uint64_t bytenr)
{
	return image->data + (bytenr - IMAGE_LOGICAL + IMAGE_AREA);
}

uint8_t *image_block(struct image *image, uint64_t owner, uint8_t level, uint64_t *bytenr)
{
	uint8_t *block;

	if ((image->blocks + 1) * image->nodesize > IMAGE_AREA_SIZE)
		return NULL;
	*bytenr = IMAGE_LOGICAL + image->blocks++ * image->nodesize;
	block = image_at(image, *bytenr);
	memcpy(block + 32, fsid, sizeof(fsid));
	image_put(block + 48, *bytenr, 8);
	image_put(block + 80, IMAGE_GENERATION, 8);
	image_put(block + 88, owner, 8);
	block[100] = level;
	return block;
}

static void put_key(uint8_t *to, const struct btrfs_key *key)
{
	image_put(to, key->objectid, 8);
	to[8] = key->type;
	image_put(to + 9, key->offset, 8);
}

struct btrfs_key image_key(const uint8_t *block, uint32_t index)
{
	const uint8_t *p = block + BP_HEADER_SIZE + index * (block[100] ? PTR_SIZE : ITEM_SIZE);

	return (struct btrfs_key){ bp_get64(p), p[8], bp_get64(p + 9) };
}

static uint8_t *next_entry(uint8_t *block, uint32_t size)
{
	uint32_t count = bp_get32(block + 96);

	image_put(block + 96, count + 1, 4);
	return block + BP_HEADER_SIZE + count * size;
}

void image_pointer(uint8_t *block, const struct btrfs_key *key, uint64_t child)
{
	uint8_t *pointer = next_entry(block, PTR_SIZE);

	put_key(pointer, key);
	image_put(pointer + 17, child, 8);
	image_put(pointer + 25, IMAGE_GENERATION, 8);
}

/* Data of items is put from the end of the block towards its beginning. */
void image_entry(const struct image *image, uint8_t *block, const struct image_item *item)
{
	uint32_t count = bp_get32(block + 96), end = image->nodesize - BP_HEADER_SIZE;
	uint8_t *entry;

	if (count)
		end = bp_get32(block + BP_HEADER_SIZE + (count - 1) * ITEM_SIZE + 17);
	entry = next_entry(block, ITEM_SIZE);
	put_key(entry, &item->key);
	image_put(entry + 17, end - item->size, 4);
	image_put(entry + 21, item->size, 4);
	memcpy(block + BP_HEADER_SIZE + end - item->size, item->data,
	       item->size < IMAGE_ITEM_MAX ? item->size : IMAGE_ITEM_MAX);
}

static void seal(uint8_t *block, size_t size)
{
	memset(block, 0, BP_CSUM_SIZE);
	bp_csum(0, block + BP_CSUM_SIZE, size - BP_CSUM_SIZE, block);
}

void image_seal(const struct image *image, uint8_t *block)
{
	seal(block, image->nodesize);
}

/* ---- Trees -------------------------------------------------------------- */

struct image_item *image_add(struct image_tree *tree, uint64_t objectid, uint8_t type,
			     uint64_t offset, uint32_t size)
{
	struct image_item *item;

	if (tree->count == tree->space) {
		tree->space = tree->space ? 2 * tree->space : 64;
		tree->items = reallocarray(tree->items, tree->space, sizeof(*tree->items));
		if (!tree->items)
			exit(99);
	}
	item = &tree->items[tree->count++];
	*item = (struct image_item){ { objectid, type, offset }, size, {} };
	return item;
}

void image_tree_free(struct image_tree *tree)
{
	free(tree->items);
	*tree = (struct image_tree){};
}

/* What the level above needs of the one below: the address of each block. */
struct row {
	uint64_t *bytenr;
	size_t count;
};

static uint32_t entries_most(const struct image *image, uint32_t wanted, uint32_t size)
{
	uint32_t most = (image->nodesize - BP_HEADER_SIZE) / size;

	return !wanted || wanted > most ? most : wanted;
}

static int write_leaves(struct image *image, const struct image_tree *tree, struct row *row)
{
	uint32_t largest = 1, most;
	size_t done = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (tree->items[i].size > largest)
			largest = tree->items[i].size;
	most = entries_most(image, tree->leaf_items, ITEM_SIZE + largest);
	do {
		uint8_t *leaf = image_block(image, tree->owner, 0, &row->bytenr[row->count]);

		if (!leaf)
			return -ENOSPC;
		row->count++;
		for (uint32_t i = 0; i < most && done < tree->count; i++)
			image_entry(image, leaf, &tree->items[done++]);
		image_seal(image, leaf);
	} while (done < tree->count);
	return 0;
}

static int write_nodes(struct image *image, const struct image_tree *tree, uint8_t level,
		       struct row *row)
{
	uint32_t most = entries_most(image, tree->fanout, PTR_SIZE);
	size_t done = 0, nodes = 0;

	while (done < row->count) {
		uint64_t bytenr;
		uint8_t *node = image_block(image, tree->owner, level, &bytenr);

		if (!node)
			return -ENOSPC;
		for (uint32_t i = 0; i < most && done < row->count; i++, done++) {
			struct btrfs_key key = image_key(image_at(image, row->bytenr[done]), 0);

			image_pointer(node, &key, row->bytenr[done]);
		}
		image_seal(image, node);
		row->bytenr[nodes++] = bytenr;
	}
	row->count = nodes;
	return 0;
}

int image_tree_write(struct image *image, const struct image_tree *tree, struct bp_root *root)
{
	struct row row = { calloc(tree->count + 1, sizeof(*row.bytenr)), 0 };
	uint8_t level = 0;
	int ret = row.bytenr ? write_leaves(image, tree, &row) : -ENOMEM;

	while (!ret && (row.count > 1 || level < tree->least_level)) {
		if (++level == BP_LEVEL_MAX)
			ret = -ENOSPC;
		else
			ret = write_nodes(image, tree, level, &row);
	}
	*root = (struct bp_root){ .bytenr = row.bytenr ? row.bytenr[0] : 0,
				  .generation = IMAGE_GENERATION, .level = level };
	free(row.bytenr);
	return ret;
}

/* ---- Items -------------------------------------------------------------- */

void image_add_device(struct image_tree *chunks, uint64_t devid)
{
	struct image_item *item = image_add(chunks, BTRFS_DEV_ITEMS_OBJECTID,
					    BTRFS_DEV_ITEM_KEY, devid, DEV_ITEM_SIZE);

	image_put(item->data, devid, 8);
	image_put(item->data + 8, IMAGE_DEVICE_SIZE, 8);
}

/* One stripe on device 1. */
void image_chunk_item(uint8_t *data, uint64_t length, uint64_t type, uint64_t offset)
{
	memset(data, 0, CHUNK_SIZE);
	image_put(data, length, 8);
	image_put(data + 8, BTRFS_EXTENT_TREE_OBJECTID, 8);
	image_put(data + 16, 65536, 8);
	image_put(data + 24, type, 8);
	image_put(data + 32, 4096, 4);
	image_put(data + 36, 4096, 4);
	image_put(data + 40, 4096, 4);
	image_put(data + 44, 1, 2);
	image_put(data + 46, 1, 2);
	image_put(data + 48, 1, 8);
	image_put(data + 56, offset, 8);
}

void image_add_root(struct image_tree *roots, uint64_t id, const struct bp_root *root)
{
	struct image_item *item = image_add(roots, id, BTRFS_ROOT_ITEM_KEY, 0, ROOT_ITEM_SIZE);

	item->size = IMAGE_ITEM_MAX;	/* the rest of a root item is not read */
	image_put(item->data + 160, IMAGE_GENERATION, 8);
	image_put(item->data + 176, root->bytenr, 8);
	item->data[238] = root->level;
}

/* ---- The superblock and the file ---------------------------------------- */

void image_super(struct image *image)
{
	const struct btrfs_key system = { BTRFS_FIRST_CHUNK_TREE_OBJECTID, BTRFS_CHUNK_ITEM_KEY,
				       IMAGE_LOGICAL };
	uint8_t *super = image->data + SUPER_AT;

	memcpy(super + 32, fsid, sizeof(fsid));
	image_put(super + 48, SUPER_AT, 8);
	image_put(super + 64, MAGIC, 8);
	image_put(super + 72, IMAGE_GENERATION, 8);
	image_put(super + 80, image->root.bytenr, 8);
	image_put(super + 88, image->chunk_root.bytenr, 8);
	image_put(super + 112, IMAGE_DEVICE_SIZE, 8);
	image_put(super + 120, image->blocks * image->nodesize, 8);
	image_put(super + 136, 1, 8);
	image_put(super + 144, 4096, 4);
	image_put(super + 148, image->nodesize, 4);
	image_put(super + 160, 17 + CHUNK_SIZE, 4);
	image_put(super + 164, IMAGE_GENERATION, 8);
	image_put(super + 188, image->incompat, 8);
	super[198] = image->root.level;
	super[199] = image->chunk_root.level;
	image_put(super + 201, 1, 8);
	image_put(super + 209, IMAGE_DEVICE_SIZE, 8);
	put_key(super + 811, &system);
	image_chunk_item(super + 811 + 17, IMAGE_AREA_SIZE, BTRFS_BLOCK_GROUP_SYSTEM, IMAGE_AREA);
	seal(super, BP_SUPER_SIZE);
}

int image_file(const struct image *image, char *path, size_t size)
{
	uint64_t end = IMAGE_AREA + image->blocks * image->nodesize;
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, image->data, end, 0) != (ssize_t)end || ftruncate(fd, IMAGE_DEVICE_SIZE))
		return -1;
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}
