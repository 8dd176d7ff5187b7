/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Owns the way from logical addresses to devices: chunks of the superblock's list
 * first, then those of the chunk tree.
 */
#include <stdlib.h>
#include <string.h>

#include "core/profiles.h"
#include "offline/offline.h"

#define STRIPE_LENGTH 65536
#define CHUNK_HEAD 48	/* bytes of a chunk item before its stripes */
#define STRIPE_SIZE 32
#define KEY_SIZE 17

void bp_map_free(struct bp_offline *off)
{
	for (size_t i = 0; i < off->chunk_count; i++)
		free((uint64_t *)off->chunks[i].devids);
	free(off->chunks);
	off->chunks = NULL;
	off->chunk_count = off->chunk_space = 0;
}

/* Index of the first chunk at or behind an address. */
static size_t position(const struct bp_offline *off, uint64_t logical)
{
	size_t low = 0, high = off->chunk_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (off->chunks[middle].logical < logical)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int decode(struct bp_offline *off, const uint8_t *data, size_t length,
		  struct btrfs_policy_chunk *chunk)
{
	const struct bp_profile *profile;
	uint32_t substripes;
	uint64_t *devids;

	if (length < CHUNK_HEAD)
		return bp_wrong(off, "a chunk item has %zu bytes", length);
	chunk->length = bp_get64(data);
	chunk->type = bp_get64(data + 24);
	if (chunk->type & BP_CHUNK_REMAPPED) {
		bp_wrong(off, "chunk %llu is remapped: the feature remap-tree is not supported yet",
			 (unsigned long long)chunk->logical);
		return -EOPNOTSUPP;
	}
	chunk->stripes = bp_get16(data + 44);
	substripes = bp_get16(data + 46);
	profile = bp_profile_of(chunk->type);
	if (!chunk->stripes || length != CHUNK_HEAD + (size_t)chunk->stripes * STRIPE_SIZE ||
	    bp_get64(data + 16) != STRIPE_LENGTH || !chunk->length ||
	    chunk->logical + chunk->length < chunk->logical || !profile ||
	    !(chunk->stripe_length = bp_stripe_length(profile, chunk->length, chunk->stripes)))
		return bp_wrong(off, "chunk %llu makes no sense",
				(unsigned long long)chunk->logical);
	if (profile->flag == BTRFS_BLOCK_GROUP_RAID10 &&
	    (substripes != 2 || chunk->stripes % 2))
		return bp_wrong(off, "chunk %llu has %u substripes of %u",
				(unsigned long long)chunk->logical, substripes,
				chunk->stripes);
	chunk->devids = devids = calloc(2 * chunk->stripes, sizeof(*devids));
	if (!devids)
		return -ENOMEM;
	chunk->offsets = devids + chunk->stripes;
	for (uint32_t i = 0; i < chunk->stripes; i++) {
		devids[i] = bp_get64(data + CHUNK_HEAD + i * STRIPE_SIZE);
		devids[chunk->stripes + i] = bp_get64(data + CHUNK_HEAD + i * STRIPE_SIZE + 8);
	}
	return 0;
}

/* A chunk that is known already, from the superblock, is replaced. */
int bp_map_add(struct bp_offline *off, uint64_t logical, const uint8_t *data, size_t length)
{
	struct btrfs_policy_chunk chunk = { .logical = logical };
	size_t at = position(off, logical), next = at;
	const struct btrfs_policy_chunk *before, *behind;
	struct btrfs_policy_chunk *chunks = bp_grown(off->chunks, &off->chunk_space,
						     off->chunk_count + 1, sizeof(*chunks));
	int ret;

	if (!chunks)
		return -ENOMEM;
	off->chunks = chunks;
	ret = decode(off, data, length, &chunk);
	if (at < off->chunk_count && off->chunks[at].logical == logical)
		next++;
	before = at ? &off->chunks[at - 1] : NULL;
	behind = next < off->chunk_count ? &off->chunks[next] : NULL;
	if (!ret && ((before && logical - before->logical < before->length) ||
		     (behind && behind->logical - logical < chunk.length)))
		ret = bp_wrong(off, "chunk %llu overlaps another one",
			       (unsigned long long)logical);
	if (ret) {
		free((uint64_t *)chunk.devids);
		return ret;
	}
	if (next > at) {
		free((uint64_t *)off->chunks[at].devids);
		off->chunks[at] = chunk;
		return 0;
	}
	memmove(&off->chunks[at + 1], &off->chunks[at],
		(off->chunk_count - at) * sizeof(chunk));
	off->chunks[at] = chunk;
	off->chunk_count++;
	return 0;
}

/* The superblock's list: a key and a chunk item, again and again. */
int bp_map_array(struct bp_offline *off)
{
	const uint8_t *array = off->super.array;
	size_t size = off->super.array_size, at = 0;

	while (at < size) {
		size_t length;
		int ret;

		if (size - at < KEY_SIZE + CHUNK_HEAD)
			return bp_wrong(off, "the superblock's list of system chunks is cut off");
		length = CHUNK_HEAD + (size_t)bp_get16(array + at + KEY_SIZE + 44) * STRIPE_SIZE;
		if (size - at - KEY_SIZE < length)
			return bp_wrong(off, "the superblock's list of system chunks is cut off");
		ret = bp_map_add(off, bp_get64(array + at + 9), array + at + KEY_SIZE, length);
		if (ret)
			return ret;
		at += KEY_SIZE + length;
	}
	return 0;
}

/* ---- Places on devices --------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct btrfs_policy_chunk *left = a, *right = b;

	if (*left->devids != *right->devids)
		return *left->devids < *right->devids ? -1 : 1;
	return (*left->offsets > *right->offsets) - (*left->offsets < *right->offsets);
}

/* All stripes, as chunks of one stripe, in the order of their places; NULL without memory. */
static struct btrfs_policy_chunk *sorted_stripes(const struct bp_offline *off, size_t *count)
{
	struct btrfs_policy_chunk *stripes;
	size_t n = 0;

	for (size_t i = 0; i < off->chunk_count; i++)
		n += off->chunks[i].stripes;
	stripes = calloc(n + 1, sizeof(*stripes));
	*count = n;
	if (!stripes)
		return NULL;
	n = 0;
	for (size_t i = 0; i < off->chunk_count; i++) {
		const struct btrfs_policy_chunk *chunk = &off->chunks[i];

		for (uint32_t j = 0; j < chunk->stripes; j++)
			stripes[n++] = (struct btrfs_policy_chunk){
				.stripe_length = chunk->stripe_length, .stripes = 1,
				.devids = &chunk->devids[j], .offsets = &chunk->offsets[j],
			};
	}
	qsort(stripes, n, sizeof(*stripes), by_place);
	return stripes;
}

/* No byte of a device belongs to two chunks. */
int bp_map_check(struct bp_offline *off)
{
	size_t count;
	_cleanup_free_ struct btrfs_policy_chunk *stripes = sorted_stripes(off, &count);

	if (!stripes)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++) {
		const struct btrfs_policy_chunk *left = &stripes[i - 1], *right = &stripes[i];

		if (*right->devids == *left->devids &&
		    *right->offsets - *left->offsets < left->stripe_length)
			return bp_wrong(off, "two chunks have byte %llu of device %llu",
					(unsigned long long)*right->offsets,
					(unsigned long long)*right->devids);
	}
	return 0;
}

/* Which stripe of a striped chunk, and how far into it; `parts` lie beside each other. */
static uint64_t split(uint64_t offset, uint32_t parts, uint32_t *part)
{
	uint64_t row = offset / STRIPE_LENGTH;

	*part = row % parts;
	return row / parts * STRIPE_LENGTH + offset % STRIPE_LENGTH;
}

int bp_map_place(struct bp_offline *off, uint64_t logical, uint32_t mirror, uint64_t *devid,
		 uint64_t *offset)
{
	size_t at = position(off, logical);
	const struct btrfs_policy_chunk *chunk;
	const struct bp_profile *profile;
	uint64_t inside;
	uint32_t stripe, part = 0;

	if (at && (at == off->chunk_count || off->chunks[at].logical != logical))
		at--;
	chunk = &off->chunks[at];
	if (at == off->chunk_count || logical - chunk->logical >= chunk->length)
		return bp_wrong(off, "address %llu is in no chunk", (unsigned long long)logical);
	profile = bp_profile_of(chunk->type);
	if (mirror >= profile->copies)
		return -ENOENT;
	inside = logical - chunk->logical;
	stripe = mirror;
	if (!profile->devs_max) {	/* not copies of the whole */
		inside = split(inside, (chunk->stripes - profile->parity) / profile->copies, &part);
		stripe = part * profile->copies + mirror;
	}
	if (profile->parity)		/* parity wanders */
		stripe = (inside / STRIPE_LENGTH + part) % chunk->stripes;
	if (stripe >= chunk->stripes)
		return -ENOENT;
	*devid = chunk->devids[stripe];
	if (__builtin_add_overflow(chunk->offsets[stripe], inside, offset) ||
	    *offset > INT64_MAX - BP_NODE_MAX)
		return bp_wrong(off, "address %llu lies behind the end of all devices",
				(unsigned long long)logical);
	return 0;
}
