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

int bp_key_compare(const struct btrfs_key *a, const struct btrfs_key *b)
{
	if (a->objectid != b->objectid)
		return a->objectid < b->objectid ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The key of the item at *pos of the buffer, and the length of its data, to which *pos moves. */
static int take_item(const uint8_t *buf, size_t *pos, struct btrfs_key *key, size_t *length)
{
	struct btrfs_ioctl_search_header header;

	if (BUFFER_SIZE - *pos < sizeof(header))
		return -EUCLEAN;
	memcpy(&header, buf + *pos, sizeof(header));
	*pos += sizeof(header);
	if (header.len > BUFFER_SIZE - *pos || header.type > UINT8_MAX)
		return -EUCLEAN;
	*key = (struct btrfs_key){ header.objectid, header.type, header.offset };
	*length = header.len;
	return 0;
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

/* Search from `next` on, into the buffer; the number of items is in its key then. */
static int search(struct btrfs_policy_fs *fs, uint64_t tree, const struct btrfs_key *next,
		  const struct btrfs_key *last)
{
	int ret;

	if (!fs->search)
		fs->search = malloc(sizeof(*fs->search) + BUFFER_SIZE);
	if (!fs->search)
		return bp_nomem(fs);
	fs->search->key = (struct btrfs_ioctl_search_key){
		.tree_id = tree, .nr_items = UINT32_MAX, .max_transid = UINT64_MAX,
		.min_objectid = next->objectid, .max_objectid = last->objectid,
		.min_type = next->type, .max_type = last->type,
		.min_offset = next->offset, .max_offset = last->offset,
	};
	fs->search->buf_size = BUFFER_SIZE;
	ret = fs->ops->tree_search(fs->backend, fs->search);
	if (ret == -EUCLEAN && fs->ops->why)
		return bp_error(fs, ret, "cannot read the %s of '%s': %s", tree_name(tree),
				fs->mount_point, fs->ops->why(fs->backend));
	if (ret < 0)
		return bp_failed(fs, ret, "cannot read the %s of '%s'", tree_name(tree),
				 fs->mount_point);
	return 0;
}

/*
 * Call `fn` for every item in the range; its value other than 0 ends the walk.
 * It must not walk itself: there is one buffer.
 */
int bp_tree_walk(struct btrfs_policy_fs *fs, uint64_t tree, const struct btrfs_key *first,
		 const struct btrfs_key *last,
		 int (*fn)(struct btrfs_policy_fs *fs, const struct btrfs_key *key,
			   const void *data, size_t length, void *user),
		 void *user)
{
	struct btrfs_key next = *first, key;

	for (;;) {
		int ret = search(fs, tree, &next, last);
		size_t pos = 0, length;
		const uint8_t *buf;

		if (ret || !fs->search->key.nr_items)
			return ret;
		buf = (const uint8_t *)fs->search->buf;
		for (uint32_t i = 0; i < fs->search->key.nr_items; i++) {
			/* A key that goes backwards would make the walk endless. */
			if (take_item(buf, &pos, &key, &length) ||
			    bp_key_compare(&key, &next) < 0)
				return bp_error(fs, -EUCLEAN,
						"the kernel handed back a piece of a tree of '%s' that makes no sense",
						fs->mount_point);
			ret = fn(fs, &key, buf + pos, length, user);
			pos += length;
			if (ret)
				return ret;
			/* Behind this one, unless it is the last of all keys. */
			next = key;
			if (!++next.offset && !++next.type && !++next.objectid)
				return 0;
		}
		if (bp_key_compare(&next, last) > 0)
			return 0;
	}
}

int bp_decode_device(const void *data, size_t length, struct btrfs_dev_item *device)
{
	if (length != sizeof(*device))
		return -EUCLEAN;
	memcpy(device, data, sizeof(*device));
	device->devid = le64toh(device->devid);
	device->total_bytes = le64toh(device->total_bytes);
	device->bytes_used = le64toh(device->bytes_used);
	device->type = le64toh(device->type);
	return 0;
}

/* Devids, and behind them as many offsets. */
static int decode_stripes(const uint8_t *data, size_t length, uint32_t count,
			   uint64_t **devids)
{
	const size_t head = offsetof(struct btrfs_chunk, stripe);
	struct btrfs_stripe stripe;

	if (length != head + count * sizeof(stripe))
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

int bp_decode_chunk(const struct btrfs_key *key, const void *data, size_t length,
		    struct btrfs_policy_chunk *chunk, uint64_t **devids)
{
	const struct bp_profile *profile;
	const size_t head = offsetof(struct btrfs_chunk, stripe);
	struct btrfs_chunk raw;

	if (length < head)
		return -EUCLEAN;
	memcpy(&raw, data, head);
	chunk->logical = key->offset;
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
	return decode_stripes(data, length, chunk->stripes, devids);
}

int bp_decode_block_group(const struct btrfs_key *key, const void *data, size_t length,
			  uint64_t *used)
{
	struct btrfs_block_group_item raw;

	if (length != sizeof(raw) && length != BP_LONG_GROUP_SIZE)
		return -EUCLEAN;
	memcpy(&raw, data, sizeof(raw));
	*used = le64toh(raw.used);
	/* The key has the length. */
	return *used > key->offset ? -EUCLEAN : 0;
}
