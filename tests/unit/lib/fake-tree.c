/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trees of the made-up machine: items in the on-disk form, handed out in pieces
 * as the search call does it.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"

struct sink {
	struct fake *fake;
	struct btrfs_ioctl_search_key *key;
	uint8_t *buf;
	size_t size;
	size_t used;
	uint32_t items;
	uint32_t limit;
	bool full;
};

static int compare(uint64_t objectid, uint32_t type, uint64_t offset, uint64_t key_objectid,
		   uint32_t key_type, uint64_t key_offset)
{
	if (objectid != key_objectid)
		return objectid < key_objectid ? -1 : 1;
	if (type != key_type)
		return type < key_type ? -1 : 1;
	return offset == key_offset ? 0 : offset < key_offset ? -1 : 1;
}

static bool before_range(const struct btrfs_ioctl_search_key *key, uint64_t objectid,
			 uint32_t type, uint64_t offset)
{
	return compare(objectid, type, offset, key->min_objectid, key->min_type,
		       key->min_offset) < 0;
}

static bool behind_range(const struct btrfs_ioctl_search_key *key, uint64_t objectid,
			 uint32_t type, uint64_t offset)
{
	return compare(objectid, type, offset, key->max_objectid, key->max_type,
		       key->max_offset) > 0;
}

static void emit(struct sink *sink, uint64_t objectid, uint32_t type, uint64_t offset,
		 const void *item, size_t length)
{
	struct btrfs_ioctl_search_header header = {
		.objectid = objectid, .type = type, .offset = offset,
	};

	if (sink->full || before_range(sink->key, objectid, type, offset))
		return;
	if (behind_range(sink->key, objectid, type, offset)) {
		sink->full = true;	/* and all that follow are, too */
		return;
	}
	if (type == sink->fake->cut_type)
		length -= sink->fake->cut_bytes;
	if (sink->items == sink->limit || sink->used + sizeof(header) + length > sink->size) {
		sink->full = true;
		return;
	}
	header.len = length;
	if (sink->fake->backwards && sink->items)
		header.offset = 0;
	memcpy(sink->buf + sink->used, &header, sizeof(header));
	memcpy(sink->buf + sink->used + sizeof(header), item, length);
	sink->used += sizeof(header) + length;
	sink->items++;
	sink->fake->items++;
}

static void emit_device(struct sink *sink, const struct fake_device *device)
{
	struct btrfs_dev_item item = {
		.devid = htole64(device->devid),
		.total_bytes = htole64(device->size),
		.type = htole64(device->type),
	};

	emit(sink, BTRFS_DEV_ITEMS_OBJECTID, BTRFS_DEV_ITEM_KEY, device->devid, &item,
	     sizeof(item));
}

static void emit_chunk(struct sink *sink, const struct fake_chunk *chunk)
{
	uint8_t bytes[sizeof(struct btrfs_chunk) + FAKE_STRIPES * sizeof(struct btrfs_stripe)];
	struct btrfs_chunk head = {
		.length = htole64(chunk->length),
		.type = htole64(chunk->type),
		.num_stripes = htole16(chunk->stripes),
	};
	size_t at = offsetof(struct btrfs_chunk, stripe);

	memcpy(bytes, &head, sizeof(head));
	for (uint32_t i = 0; i < chunk->stripes; i++) {
		struct btrfs_stripe stripe = {
			.devid = htole64(chunk->devids[i]),
			.offset = htole64(chunk->offsets[i]),
		};

		memcpy(bytes + at, &stripe, sizeof(stripe));
		at += sizeof(stripe);
	}
	emit(sink, BTRFS_FIRST_CHUNK_TREE_OBJECTID, BTRFS_CHUNK_ITEM_KEY, chunk->logical, bytes,
	     at);
}

static void emit_group(struct sink *sink, const struct fake_chunk *chunk)
{
	struct {
		struct btrfs_block_group_item item;
		uint8_t more[12]; /* bytes from other groups, entries in the remap tree */
	} __attribute__((packed)) group = {
		.item.used = htole64(chunk->used),
		.item.flags = htole64(chunk->type),
	};

	/* Another item between the groups in the extent tree. */
	emit(sink, chunk->logical, BTRFS_EXTENT_ITEM_KEY, 16384, "extent", 6);
	emit(sink, chunk->logical, BTRFS_BLOCK_GROUP_ITEM_KEY, chunk->length, &group,
	     sink->fake->remap_tree ? sizeof(group) : sizeof(group.item));
}

/* Number `i` of the sparse chunks; each round of them puts two stripes on each device. */
static struct fake_chunk *sparse_chunk(const struct fake *fake, uint64_t i)
{
	static __thread struct fake_chunk chunk;
	uint64_t place = MiB + 2 * (i / fake->device_count) * GiB;

	chunk.logical = (i + 1) * GiB;
	chunk.length = GiB;
	chunk.used = GiB / 2;
	chunk.type = BTRFS_BLOCK_GROUP_DATA | BTRFS_BLOCK_GROUP_RAID1;
	chunk.stripes = 2;
	chunk.devids[0] = i % fake->device_count + 1;
	chunk.devids[1] = (i + 1) % fake->device_count + 1;
	chunk.offsets[0] = place;
	chunk.offsets[1] = place + GiB;
	return &chunk;
}

/* From the address `from` on, as far as sparse ones go. */
static void emit_chunks(struct sink *sink, uint64_t from,
			void (*emit_one)(struct sink *sink, const struct fake_chunk *chunk))
{
	struct fake *fake = sink->fake;

	for (size_t i = 0; i < fake->chunk_count; i++)
		emit_one(sink, &fake->chunks[i]);
	for (uint64_t i = from < GiB ? 0 : from / GiB - 1; i < fake->sparse_chunks; i++) {
		emit_one(sink, sparse_chunk(fake, i));
		if (sink->full)
			return;
	}
}

static int fill(struct sink *sink, uint64_t tree)
{
	struct fake *fake = sink->fake;
	bool groups = fake->group_tree ? tree == BTRFS_BLOCK_GROUP_TREE_OBJECTID :
					 tree == BTRFS_EXTENT_TREE_OBJECTID;

	if (tree == BTRFS_BLOCK_GROUP_TREE_OBJECTID && !fake->group_tree)
		return -ENOENT;
	for (size_t i = 0; tree == BTRFS_CHUNK_TREE_OBJECTID && i < fake->device_count; i++)
		emit_device(sink, &fake->devices[i]);
	if (tree == BTRFS_CHUNK_TREE_OBJECTID)
		emit_chunks(sink, sink->key->min_offset, emit_chunk);
	if (groups)
		emit_chunks(sink, sink->key->min_objectid, emit_group);
	return 0;
}

int fake_tree_search(void *self, struct btrfs_ioctl_search_args_v2 *args)
{
	struct fake *fake = self;
	struct sink sink = {
		.fake = fake, .key = &args->key, .buf = (uint8_t *)args->buf,
		.size = args->buf_size,
		.limit = fake->items_at_once ? fake->items_at_once : UINT32_MAX,
	};
	int ret;

	FAKE_MAY_FAIL(fake);
	if (fake->unprivileged)
		return -EPERM;
	ret = fill(&sink, args->key.tree_id);
	args->key.nr_items = sink.items;
	return ret;
}
