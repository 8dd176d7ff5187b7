/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns walking a tree of the file system by search calls and decoding the few
 * items that the library reads.  Items are little-endian, packed and of the
 * length that the kernel says: every one is checked before a byte of it is used.
 */
#include <endian.h>
#include <string.h>

#include "core/profiles.h"
#include "core/tree.h"

/* An item is at most a tree block of 64KiB, so one always fits. */
#define BUFFER_SIZE (128 * 1024)

static void cursor_start(struct btrfs_ioctl_search_key *key, const struct bp_range *range)
{
	memset(key, 0, sizeof(*key));
	key->tree_id = range->tree;
	key->min_objectid = range->first.objectid;
	key->min_type = range->first.type;
	key->min_offset = range->first.offset;
	key->max_objectid = range->last.objectid;
	key->max_type = range->last.type;
	key->max_offset = range->last.offset;
	key->max_transid = UINT64_MAX;
}

/* Go behind an item; false at the end of all keys. */
static bool cursor_advance(struct btrfs_ioctl_search_key *key, const struct bp_item *item)
{
	key->min_objectid = item->objectid;
	key->min_type = item->type;
	key->min_offset = item->offset + 1;
	if (key->min_offset)
		return true;
	key->min_type = item->type + 1;
	if (key->min_type <= UINT8_MAX)
		return true;
	key->min_type = 0;
	return ++key->min_objectid != 0;
}

static bool before_cursor(const struct btrfs_ioctl_search_key *key, const struct bp_item *item)
{
	if (item->objectid != key->min_objectid)
		return item->objectid < key->min_objectid;
	if (item->type != key->min_type)
		return item->type < key->min_type;
	return item->offset < key->min_offset;
}

static bool behind_end(const struct btrfs_ioctl_search_key *key)
{
	if (key->min_objectid != key->max_objectid)
		return key->min_objectid > key->max_objectid;
	if (key->min_type != key->max_type)
		return key->min_type > key->max_type;
	return key->min_offset > key->max_offset;
}

static int damaged(struct btrfs_policy_fs *fs, const char *what)
{
	return bp_error(fs, -EUCLEAN, "the kernel handed back %s of '%s' that makes no sense",
			what, fs->mount_point);
}

struct walk {
	struct btrfs_ioctl_search_key *key;
	const uint8_t *buf;
	bp_item_fn fn;
	void *user;
	bool ended;
};

/* Take the item at *pos out of the buffer, move *pos behind it. */
static int take_item(const uint8_t *buf, size_t *pos, struct bp_item *item)
{
	struct btrfs_ioctl_search_header header;

	if (BUFFER_SIZE - *pos < sizeof(header))
		return -EUCLEAN;
	memcpy(&header, buf + *pos, sizeof(header));
	*pos += sizeof(header);
	if (header.len > BUFFER_SIZE - *pos)
		return -EUCLEAN;
	item->objectid = header.objectid;
	item->type = header.type;
	item->offset = header.offset;
	item->data = buf + *pos;
	item->length = header.len;
	*pos += header.len;
	return 0;
}

/* A key that goes backwards would make the walk endless. */
static int walk_buffer(struct btrfs_policy_fs *fs, struct walk *walk)
{
	uint32_t items = walk->key->nr_items;
	struct bp_item item;
	size_t pos = 0;
	int ret;

	for (uint32_t i = 0; i < items; i++) {
		if (take_item(walk->buf, &pos, &item) || before_cursor(walk->key, &item))
			return damaged(fs, "a piece of a tree");
		ret = walk->fn(fs, &item, walk->user);
		if (ret)
			return ret;
		walk->ended = !cursor_advance(walk->key, &item) || behind_end(walk->key);
	}
	return 0;
}

static int search_buffer(struct btrfs_policy_fs *fs)
{
	if (!fs->search)
		fs->search = malloc(sizeof(*fs->search) + BUFFER_SIZE);
	return fs->search ? 0 : bp_nomem(fs);
}

/* The trees that are read here. */
static const char *tree_name(uint64_t tree)
{
	switch (tree) {
	case BTRFS_CHUNK_TREE_OBJECTID:
		return "chunk tree";
	case BTRFS_EXTENT_TREE_OBJECTID:
		return "extent tree";
	default:
		return "block group tree";
	}
}

/*
 * Call `fn` for every item in the range; its value other than 0 ends the walk.
 * It must not walk itself: there is one buffer.
 */
int bp_tree_walk(struct btrfs_policy_fs *fs, const struct bp_range *range, bp_item_fn fn,
		 void *user)
{
	struct walk walk = { .fn = fn, .user = user };
	int ret = search_buffer(fs);

	if (ret)
		return ret;
	walk.key = &fs->search->key;
	walk.buf = (const uint8_t *)fs->search->buf;
	cursor_start(walk.key, range);
	while (!walk.ended) {
		walk.key->nr_items = UINT32_MAX;
		fs->search->buf_size = BUFFER_SIZE;
		ret = fs->ops->tree_search(fs->backend, fs->search);
		if (ret == -EUCLEAN && fs->ops->why)
			return bp_error(fs, ret, "cannot read the %s of '%s': %s",
					tree_name(range->tree), fs->mount_point,
					fs->ops->why(fs->backend));
		if (ret < 0)
			return bp_failed(fs, ret, "cannot read the %s of '%s'",
					 tree_name(range->tree), fs->mount_point);
		if (!walk.key->nr_items)
			return 0;
		ret = walk_buffer(fs, &walk);
		if (ret)
			return ret;
	}
	return 0;
}

int bp_decode_device(const struct bp_item *item, struct btrfs_dev_item *device)
{
	if (item->length != sizeof(*device))
		return -EUCLEAN;
	memcpy(device, item->data, sizeof(*device));
	device->devid = le64toh(device->devid);
	device->total_bytes = le64toh(device->total_bytes);
	device->bytes_used = le64toh(device->bytes_used);
	device->type = le64toh(device->type);
	return 0;
}

/* Devids, and behind them as many offsets. */
static int decode_stripes(const struct bp_item *item, uint32_t count, uint64_t **devids)
{
	const size_t head = offsetof(struct btrfs_chunk, stripe);
	const uint8_t *data = item->data;
	struct btrfs_stripe stripe;

	if (item->length != head + count * sizeof(stripe))
		return -EUCLEAN;
	*devids = calloc(2 * count, sizeof(**devids));
	if (!*devids)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		memcpy(&stripe, data + head + i * sizeof(stripe), sizeof(stripe));
		(*devids)[i] = le64toh(stripe.devid);
		(*devids)[count + i] = le64toh(stripe.offset);
	}
	return 0;
}

int bp_decode_chunk(const struct bp_item *item, struct btrfs_policy_chunk *chunk,
		    uint64_t **devids)
{
	const struct bp_profile *profile;
	const size_t head = offsetof(struct btrfs_chunk, stripe);
	struct btrfs_chunk raw;

	if (item->length < head)
		return -EUCLEAN;
	memcpy(&raw, item->data, head);
	chunk->logical = item->offset;
	chunk->length = le64toh(raw.length);
	chunk->type = le64toh(raw.type);
	if (chunk->type & BP_CHUNK_REMAPPED)
		return -EOPNOTSUPP;
	if (chunk->type & BP_CHUNK_REMAP_TREE)
		chunk->type ^= BP_CHUNK_REMAP_TREE | BTRFS_BLOCK_GROUP_METADATA;
	chunk->stripes = le16toh(raw.num_stripes);
	profile = bp_profile_of(chunk->type);
	if (!profile)
		return -EUCLEAN;
	chunk->kind = bp_kind_of(chunk->type);
	chunk->profile = profile->name;
	chunk->stripe_length = bp_stripe_length(profile, chunk->length, chunk->stripes);
	if (!chunk->stripe_length)
		return -EUCLEAN;
	return decode_stripes(item, chunk->stripes, devids);
}

int bp_decode_block_group(const struct bp_item *item, uint64_t *used)
{
	struct btrfs_block_group_item raw;

	if (item->length != sizeof(raw) && item->length != BP_LONG_GROUP_SIZE)
		return -EUCLEAN;
	memcpy(&raw, item->data, sizeof(raw));
	*used = le64toh(raw.used);
	/* The key has the length. */
	return *used > item->offset ? -EUCLEAN : 0;
}
