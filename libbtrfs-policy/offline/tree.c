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

/* Where things stand in a block's header, in an item and in a root item. */
enum {
	AT_FSID = 32, AT_BYTENR = 48, AT_GENERATION = 80, AT_OWNER = 88, AT_COUNT = 96,
	AT_LEVEL = 100,
	AT_ITEM_OFFSET = 17, AT_ITEM_SIZE = 21,
	AT_PTR_BLOCK = 17, AT_PTR_GENERATION = 25,
	AT_ROOT_BYTENR = 176, AT_ROOT_LEVEL = 238, ROOT_ITEM_LEAST = 239,
};

static struct bp_key key_at(const uint8_t *p)
{
	return (struct bp_key){ bp_get64(p), p[8], bp_get64(p + 9) };
}

static int compare(const struct bp_key *a, const struct bp_key *b)
{
	if (a->objectid != b->objectid)
		return a->objectid < b->objectid ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* ---- Blocks ------------------------------------------------------------- */

/* What a parent says of its child. */
struct wanted {
	uint64_t bytenr;
	uint64_t generation;	/* 0: any */
	uint64_t owner;
	uint8_t level;
	const struct bp_key *first;	/* NULL: any */
	const struct bp_key *end;	/* behind its last key; NULL: any */
};

static uint32_t count_of(const uint8_t *block)
{
	return bp_get32(block + AT_COUNT);
}

static const uint8_t *entry(const uint8_t *block, uint32_t index)
{
	return block + BP_HEADER_SIZE + index * (block[AT_LEVEL] ? PTR_SIZE : ITEM_SIZE);
}

static int check_keys(struct bp_offline *off, const uint8_t *block)
{
	for (uint32_t i = 1; i < count_of(block); i++) {
		struct bp_key left = key_at(entry(block, i - 1)), right = key_at(entry(block, i));

		if (compare(&left, &right) >= 0)
			return bp_wrong(off, "block %llu has keys out of order",
					(unsigned long long)bp_get64(block + AT_BYTENR));
	}
	return 0;
}

/* The data of items is behind the items, from the end of the block on and without gaps. */
static int check_items(struct bp_offline *off, const uint8_t *block)
{
	uint32_t end = off->super.nodesize - BP_HEADER_SIZE;

	for (uint32_t i = 0; !block[AT_LEVEL] && i < count_of(block); i++) {
		const uint8_t *item = entry(block, i);
		uint32_t offset = bp_get32(item + AT_ITEM_OFFSET);

		if (offset > end || bp_get32(item + AT_ITEM_SIZE) != end - offset ||
		    offset < count_of(block) * ITEM_SIZE)
			return bp_wrong(off, "block %llu has an item in the wrong place",
					(unsigned long long)bp_get64(block + AT_BYTENR));
		end = offset;
	}
	return 0;
}

/* Is it the block that its parent means? */
static int check_identity(struct bp_offline *off, const uint8_t *block,
			  const struct wanted *wanted)
{
	unsigned long long bytenr = wanted->bytenr;
	struct bp_key first, last;

	if (bp_get64(block + AT_BYTENR) != wanted->bytenr || block[AT_LEVEL] != wanted->level ||
	    bp_get64(block + AT_OWNER) != wanted->owner ||
	    memcmp(block + AT_FSID, off->super.metadata_uuid, 16) ||
	    (wanted->generation && bp_get64(block + AT_GENERATION) != wanted->generation))
		return bp_wrong(off, "block %llu is another one", bytenr);
	if (!count_of(block))
		return wanted->level || wanted->first ?
			bp_wrong(off, "block %llu is empty", bytenr) : 0;
	first = key_at(entry(block, 0));
	if (wanted->first && compare(&first, wanted->first))
		return bp_wrong(off, "block %llu begins with another key than its parent says",
				bytenr);
	last = key_at(entry(block, count_of(block) - 1));
	if (wanted->end && compare(&last, wanted->end) >= 0)
		return bp_wrong(off, "block %llu has keys of the block behind it", bytenr);
	return 0;
}

static int check_block(struct bp_offline *off, const uint8_t *block, const struct wanted *wanted)
{
	uint32_t size = block[AT_LEVEL] ? PTR_SIZE : ITEM_SIZE;
	int ret = bp_csum_check(off, off->super.csum_type, block, off->super.nodesize);

	if (ret)
		return ret;
	if (count_of(block) > (off->super.nodesize - BP_HEADER_SIZE) / size)
		return bp_wrong(off, "block %llu has %u entries",
				(unsigned long long)wanted->bytenr, count_of(block));
	ret = check_identity(off, block, wanted);
	if (!ret)
		ret = check_keys(off, block);
	return ret ? ret : check_items(off, block);
}

static const struct bp_disk *find_disk(const struct bp_offline *off, uint64_t devid)
{
	for (size_t i = 0; i < off->disk_count; i++)
		if (off->disks[i].devid == devid)
			return &off->disks[i];
	return NULL;
}

static int read_mirror(struct bp_offline *off, const struct wanted *wanted, uint32_t mirror,
		       uint8_t *block)
{
	const struct bp_disk *disk;
	struct bp_stripe place;
	ssize_t got;
	int ret = bp_map_place(off, wanted->bytenr, mirror, &place);

	if (ret)
		return ret;
	disk = find_disk(off, place.devid);
	if (!off->budget)
		return bp_wrong(off, "a tree has more blocks than its devices have room for");
	if (!disk || disk->fd < 0)
		return bp_wrong(off, "block %llu is on device %llu, which is not there",
				(unsigned long long)wanted->bytenr,
				(unsigned long long)place.devid);
	off->budget--;
	got = pread(disk->fd, block, off->super.nodesize, place.offset);
	if (got != (ssize_t)off->super.nodesize)
		return bp_wrong(off, "block %llu cannot be read: %s",
				(unsigned long long)wanted->bytenr,
				got < 0 ? strerror(errno) : "the device ends before it");
	return check_block(off, block, wanted);
}

/* All copies are tried; the block of each level stays, as the next search often needs it. */
static int read_block(struct bp_offline *off, const struct wanted *wanted, const uint8_t **block)
{
	struct bp_node *node = &off->nodes[wanted->level];
	int ret = -EUCLEAN;

	*block = node->data;
	if (node->valid && node->bytenr == wanted->bytenr)
		return check_identity(off, node->data, wanted);
	if (!node->data)
		node->data = malloc(BP_NODE_MAX);
	if (!node->data)
		return -ENOMEM;
	*block = node->data;
	node->valid = false;
	for (uint32_t mirror = 0; mirror < 4; mirror++) {
		int now = read_mirror(off, wanted, mirror, node->data);

		if (now == -ENOENT)
			break;
		ret = now;
		if (!ret || ret == -ENOMEM || ret == -EOPNOTSUPP)
			break;
	}
	node->valid = !ret;
	node->bytenr = wanted->bytenr;
	return ret;
}

/* ---- Trees -------------------------------------------------------------- */

struct walk {
	struct bp_offline *off;
	const struct bp_key *min;
	const struct bp_key *max;
	bp_offline_fn fn;
	void *user;
};

static int walk_leaf(const struct walk *walk, const uint8_t *block)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < count_of(block); i++) {
		const uint8_t *item = entry(block, i);
		struct bp_key key = key_at(item);

		if (compare(&key, walk->min) < 0)
			continue;
		if (compare(&key, walk->max) > 0)
			break;
		ret = walk->fn(walk->user, &key,
			       block + BP_HEADER_SIZE + bp_get32(item + AT_ITEM_OFFSET),
			       bp_get32(item + AT_ITEM_SIZE));
	}
	return ret;
}

static int walk_block(const struct walk *walk, const struct wanted *wanted);

/* Children behind the range, and those that end before it, are not read. */
static int walk_children(const struct walk *walk, const struct wanted *wanted,
			 const uint8_t *block)
{
	uint32_t count = count_of(block);
	int ret = 0;

	for (uint32_t i = 0; !ret && i < count; i++) {
		const uint8_t *pointer = entry(block, i);
		struct bp_key key = key_at(pointer), next;
		struct wanted child = {
			bp_get64(pointer + AT_PTR_BLOCK), bp_get64(pointer + AT_PTR_GENERATION),
			wanted->owner, wanted->level - 1, &key, wanted->end
		};

		if (compare(&key, walk->max) > 0)
			break;
		if (i + 1 < count) {
			next = key_at(entry(block, i + 1));
			if (compare(&next, walk->min) <= 0)
				continue;
			child.end = &next;
		}
		ret = walk_block(walk, &child);
	}
	return ret;
}

static int walk_block(const struct walk *walk, const struct wanted *wanted)
{
	const uint8_t *block;
	int ret = read_block(walk->off, wanted, &block);

	if (ret)
		return ret;
	return wanted->level ? walk_children(walk, wanted, block) : walk_leaf(walk, block);
}

/*
 * Blocks of one tree share no byte, so a walk reads at most as many as fit on the
 * devices, copies included.  Whatever else a tree pretends, the walk ends there.
 */
int bp_offline_walk(struct bp_offline *off, const struct bp_root *root, const struct bp_key *min,
		    const struct bp_key *max, bp_offline_fn fn, void *user)
{
	const struct walk walk = { off, min, max, fn, user };
	const struct wanted top = {
		root->bytenr, root->generation, root->owner, root->level, NULL, NULL
	};

	off->budget = off->bytes / off->super.nodesize;
	return walk_block(&walk, &top);
}

/* ---- Roots -------------------------------------------------------------- */

struct found_root {
	struct bp_offline *off;
	struct bp_root *root;
	bool found;
};

/* The last one counts. */
static int take_root(void *user, const struct bp_key *key, const uint8_t *data, uint32_t length)
{
	struct found_root *found = user;

	if (length < ROOT_ITEM_LEAST || data[AT_ROOT_LEVEL] >= BP_LEVEL_MAX)
		return bp_wrong(found->off, "the root of tree %llu makes no sense",
				(unsigned long long)key->objectid);
	*found->root = (struct bp_root){ bp_get64(data + AT_ROOT_BYTENR), 0,
					 data[AT_ROOT_LEVEL], key->objectid };
	found->found = true;
	return 0;
}

/* -ENOENT if there is no such tree. */
int bp_offline_root(struct bp_offline *off, uint64_t tree, struct bp_root *root)
{
	const struct bp_super *super = &off->super;
	const struct bp_root top = { super->root, super->generation, super->root_level,
				     BTRFS_ROOT_TREE_OBJECTID };
	const struct bp_key min = { tree, BTRFS_ROOT_ITEM_KEY, 0 };
	const struct bp_key max = { tree, BTRFS_ROOT_ITEM_KEY, UINT64_MAX };
	struct found_root found = { off, root, false };
	int ret;

	if (tree == BTRFS_CHUNK_TREE_OBJECTID) {
		*root = (struct bp_root){ super->chunk_root, super->chunk_root_generation,
					  super->chunk_root_level, tree };
		return 0;
	}
	if (tree == BTRFS_ROOT_TREE_OBJECTID) {
		*root = top;
		return 0;
	}
	if (off->last_root.owner == tree) {
		*root = off->last_root;
		return 0;
	}
	ret = bp_offline_walk(off, &top, &min, &max, take_root, &found);
	if (!ret && found.found)
		off->last_root = *root;
	return ret ? ret : found.found ? 0 : -ENOENT;
}
