/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns reading tree blocks and walking trees.  A block is used only if checksum,
 * address, file system, tree, level and the order of its keys are right.  It must
 * begin with the very key that its parent has, and end before the next key there:
 * blocks of a level share no key, so a walk meets each block once at most.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offline/offline.h"

#define KEY_SIZE 17
#define ITEM_SIZE 25
#define PTR_SIZE 33

/* Offsets in a block's header, in an item and in a root item. */
enum {
	AT_FSID = 32, AT_BYTENR = 48, AT_GENERATION = 80, AT_OWNER = 88, AT_COUNT = 96,
	AT_LEVEL = 100,
	AT_ITEM_OFFSET = 17, AT_ITEM_SIZE = 21,
	AT_PTR_BLOCK = 17, AT_PTR_GENERATION = 25,
	AT_ROOT_GENERATION = 160, AT_ROOT_BYTENR = 176, AT_ROOT_LEVEL = 238, ROOT_ITEM_LEAST = 239,
};

static struct btrfs_key key_at(const uint8_t *p)
{
	return (struct btrfs_key){ bp_get64(p), p[8], bp_get64(p + 9) };
}

/* ---- Blocks ------------------------------------------------------------- */

static uint32_t count_of(const uint8_t *block)
{
	return bp_get32(block + AT_COUNT);
}

static const uint8_t *entry(const uint8_t *block, uint32_t index)
{
	return block + BP_HEADER_SIZE + index * (block[AT_LEVEL] ? PTR_SIZE : ITEM_SIZE);
}

/* Is it the block that its parent means? */
static int check_identity(struct bp_offline *off, const uint8_t *block,
			  const struct bp_root *wanted)
{
	unsigned long long bytenr = wanted->bytenr;
	struct btrfs_key first, last;

	if (bp_get64(block + AT_BYTENR) != wanted->bytenr || block[AT_LEVEL] != wanted->level ||
	    bp_get64(block + AT_OWNER) != wanted->owner ||
	    memcmp(block + AT_FSID, off->super.metadata_uuid, 16) ||
	    (wanted->generation && bp_get64(block + AT_GENERATION) != wanted->generation))
		return bp_wrong(off, "block %llu is another one", bytenr);
	if (!count_of(block))
		return wanted->level || wanted->first ?
			bp_wrong(off, "block %llu is empty", bytenr) : 0;
	first = key_at(entry(block, 0));
	if (wanted->first && bp_key_compare(&first, wanted->first))
		return bp_wrong(off, "block %llu begins with another key than its parent says",
				bytenr);
	last = key_at(entry(block, count_of(block) - 1));
	if (wanted->end && bp_key_compare(&last, wanted->end) >= 0)
		return bp_wrong(off, "block %llu has keys of the block behind it", bytenr);
	return 0;
}

/*
 * The data of items is behind the items, from the end of the block on and without gaps.
 */
static int check_block(struct bp_offline *off, const uint8_t *block, const struct bp_root *wanted)
{
	const unsigned long long bytenr = wanted->bytenr;
	uint32_t size = block[AT_LEVEL] ? PTR_SIZE : ITEM_SIZE;
	uint32_t end = off->super.nodesize - BP_HEADER_SIZE, count = count_of(block);
	int ret = bp_csum_check(off, off->super.csum_type, block, off->super.nodesize);

	if (ret)
		return ret;
	if (count > end / size)
		return bp_wrong(off, "block %llu has %u entries", bytenr, count);
	ret = check_identity(off, block, wanted);
	if (ret)
		return ret;
	for (uint32_t i = 1; i < count; i++) {
		struct btrfs_key left = key_at(entry(block, i - 1)), right = key_at(entry(block, i));

		if (bp_key_compare(&left, &right) >= 0)
			return bp_wrong(off, "block %llu has keys out of order", bytenr);
	}
	for (uint32_t i = 0; !block[AT_LEVEL] && i < count; i++) {
		const uint8_t *item = entry(block, i);
		uint32_t offset = bp_get32(item + AT_ITEM_OFFSET);

		if (offset > end || bp_get32(item + AT_ITEM_SIZE) != end - offset ||
		    offset < count * ITEM_SIZE)
			return bp_wrong(off, "block %llu has an item in the wrong place", bytenr);
		end = offset;
	}
	return 0;
}

static const struct bp_disk *find_disk(const struct bp_offline *off, uint64_t devid)
{
	for (size_t i = 0; i < off->disk_count; i++)
		if (off->disks[i].devid == devid)
			return &off->disks[i];
	return NULL;
}

static int read_mirror(struct bp_offline *off, const struct bp_root *wanted, uint32_t mirror,
		       uint8_t *block)
{
	const struct bp_disk *disk;
	uint64_t devid, offset;
	ssize_t got;
	int ret = bp_map_place(off, wanted->bytenr, mirror, &devid, &offset);

	if (ret)
		return ret;
	disk = find_disk(off, devid);
	if (!off->budget)
		return bp_wrong(off, "a tree has more blocks than fit on its devices");
	if (!disk || disk->fd < 0)
		return bp_wrong(off, "block %llu is on device %llu, which is not there",
				(unsigned long long)wanted->bytenr,
				(unsigned long long)devid);
	off->budget--;
	got = pread(disk->fd, block, off->super.nodesize, offset);
	if (got != (ssize_t)off->super.nodesize)
		return bp_wrong(off, "block %llu cannot be read: %s",
				(unsigned long long)wanted->bytenr,
				got < 0 ? strerror(errno) : "the device ends before it");
	return check_block(off, block, wanted);
}

/* All copies are tried; the block of each level stays, as the next search often needs it. */
static int read_block(struct bp_offline *off, const struct bp_root *wanted, const uint8_t **block)
{
	uint64_t *at = &off->block_at[wanted->level];
	uint8_t **data = &off->blocks[wanted->level];
	int ret = -EUCLEAN;

	*block = *data;
	if (*at && *at == wanted->bytenr)
		return check_identity(off, *data, wanted);
	if (!*data)
		*data = malloc(BP_NODE_MAX);
	if (!*data)
		return -ENOMEM;
	*block = *data;
	*at = 0;
	for (uint32_t mirror = 0; mirror < 4; mirror++) {
		int now = read_mirror(off, wanted, mirror, *data);

		if (now == -ENOENT)
			break;
		ret = now;
		if (!ret || ret == -ENOMEM || ret == -EOPNOTSUPP)
			break;
	}
	if (!ret)
		*at = wanted->bytenr;
	return ret;
}

/* ---- Trees -------------------------------------------------------------- */

static int walk_leaf(struct bp_offline *off, const uint8_t *block,
		     int (*fn)(struct bp_offline *off, const struct btrfs_key *key,
			       const void *data, size_t length))
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < count_of(block); i++) {
		const uint8_t *at = entry(block, i);
		const struct btrfs_key key = key_at(at);

		if (bp_key_compare(&key, &off->min) < 0)
			continue;
		if (bp_key_compare(&key, &off->max) > 0)
			break;
		ret = fn(off, &key, block + BP_HEADER_SIZE + bp_get32(at + AT_ITEM_OFFSET),
			 bp_get32(at + AT_ITEM_SIZE));
	}
	return ret;
}

static int walk_block(struct bp_offline *off, const struct bp_root *wanted,
		      int (*fn)(struct bp_offline *off, const struct btrfs_key *key,
			       const void *data, size_t length));

/* Children behind the range, and those that end before it, are not read. */
static int walk_children(struct bp_offline *off, const struct bp_root *wanted,
			 const uint8_t *block,
			 int (*fn)(struct bp_offline *off, const struct btrfs_key *key,
			       const void *data, size_t length))
{
	uint32_t count = count_of(block);
	int ret = 0;

	for (uint32_t i = 0; !ret && i < count; i++) {
		const uint8_t *pointer = entry(block, i);
		struct btrfs_key key = key_at(pointer), next;
		struct bp_root child = {
			bp_get64(pointer + AT_PTR_BLOCK), bp_get64(pointer + AT_PTR_GENERATION),
			wanted->level - 1, wanted->owner, &key, wanted->end
		};

		if (bp_key_compare(&key, &off->max) > 0)
			break;
		if (i + 1 < count) {
			next = key_at(entry(block, i + 1));
			if (bp_key_compare(&next, &off->min) <= 0)
				continue;
			child.end = &next;
		}
		ret = walk_block(off, &child, fn);
	}
	return ret;
}

static int walk_block(struct bp_offline *off, const struct bp_root *wanted,
		      int (*fn)(struct bp_offline *off, const struct btrfs_key *key,
			       const void *data, size_t length))
{
	const uint8_t *block;
	int ret = read_block(off, wanted, &block);

	if (ret)
		return ret;
	return wanted->level ? walk_children(off, wanted, block, fn) : walk_leaf(off, block, fn);
}

/*
 * Blocks of one tree share no byte, so a walk reads at most as many as fit on the
 * devices, copies included.  Whatever else a tree pretends, the walk ends there.
 */
int bp_offline_walk(struct bp_offline *off, const struct bp_root *root, const struct btrfs_key *min,
		    const struct btrfs_key *max,
		    int (*fn)(struct bp_offline *off, const struct btrfs_key *key,
			       const void *data, size_t length))
{
	off->min = *min;
	off->max = *max;
	off->budget = off->bytes / off->super.nodesize;
	return walk_block(off, root, fn);
}

/* ---- Roots -------------------------------------------------------------- */

/* The last one counts. */
static int take_root(struct bp_offline *off, const struct btrfs_key *key, const void *data,
		     size_t length)
{
	const uint8_t *root = data;

	if (length < ROOT_ITEM_LEAST || root[AT_ROOT_LEVEL] >= BP_LEVEL_MAX)
		return bp_wrong(off, "the root of tree %llu makes no sense",
				(unsigned long long)key->objectid);
	off->last_root = (struct bp_root){
		.bytenr = bp_get64(root + AT_ROOT_BYTENR),
		.generation = bp_get64(root + AT_ROOT_GENERATION), .level = root[AT_ROOT_LEVEL],
		.owner = key->objectid,
	};
	return 0;
}

/* -ENOENT if there is no such tree. */
int bp_offline_root(struct bp_offline *off, uint64_t tree, struct bp_root *root)
{
	const struct bp_super *super = &off->super;
	const struct bp_root top = { super->root, super->generation, super->root_level,
				     BTRFS_ROOT_TREE_OBJECTID, NULL, NULL };
	const struct btrfs_key min = { tree, BTRFS_ROOT_ITEM_KEY, 0 };
	const struct btrfs_key max = { tree, BTRFS_ROOT_ITEM_KEY, UINT64_MAX };
	int ret = 0;

	if (tree == BTRFS_CHUNK_TREE_OBJECTID) {
		*root = (struct bp_root){ super->chunk_root, super->chunk_root_generation,
					  super->chunk_root_level, tree, NULL, NULL };
		return 0;
	}
	if (tree == BTRFS_ROOT_TREE_OBJECTID) {
		*root = top;
		return 0;
	}
	if (off->last_root.owner != tree) {
		off->last_root.owner = 0;
		ret = bp_offline_walk(off, &top, &min, &max, take_root);
		if (!ret && off->last_root.owner != tree)
			ret = -ENOENT;
		if (ret)
			off->last_root.owner = 0;
	}
	*root = off->last_root;
	return ret;
}
