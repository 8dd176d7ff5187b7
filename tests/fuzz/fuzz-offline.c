/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz-offline FIRST COUNT IMAGE...: damages the superblocks and tree blocks of
 * images, repairs the checksums so that the damage is believed, and reads them
 * with the library; after each round the images are as before.  Whatever is on a
 * disk, the library may only say that it makes no sense.  Built with sanitizers.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offline/offline.h"
#include "tests/fuzz/random.h"

#define BLOCKS_MAX 4096
#define IMAGES_MAX 8
#define STEP 4096

struct block {
	int fd;
	off_t at;
	uint32_t size;
	uint16_t csum_type;
};

static struct block blocks[BLOCKS_MAX];
static size_t block_count;

/* ---- Blocks of an image ------------------------------------------------- */

static void add_block(int fd, off_t at, uint32_t size, uint16_t csum_type)
{
	if (block_count < BLOCKS_MAX)
		blocks[block_count++] = (struct block){ fd, at, size, csum_type };
}

/* Of the trees that the library looks at: roots, extents, chunks, block groups. */
static bool is_read(const uint8_t *block)
{
	uint64_t owner = bp_get64(block + 88);

	return (owner >= 1 && owner <= 3) || owner == BTRFS_BLOCK_GROUP_TREE_OBJECTID;
}

static void find_blocks(int fd, const struct bp_super *super)
{
	static const off_t copies[] = { 65536, 64 << 20 };
	struct bp_offline off = {};
	uint8_t block[BP_NODE_MAX];
	off_t end = lseek(fd, 0, SEEK_END);

	for (size_t i = 0; i < BP_ARRAY_SIZE(copies); i++)
		add_block(fd, copies[i], BP_SUPER_SIZE, super->csum_type);
	for (off_t at = lseek(fd, 0, SEEK_DATA); at >= 0 && at < end; at += STEP) {
		if (pread(fd, block, super->nodesize, at) != (ssize_t)super->nodesize)
			break;
		if (is_read(block) && !memcmp(block + 32, super->metadata_uuid, 16) &&
		    !bp_csum_check(&off, super->csum_type, block, super->nodesize))
			add_block(fd, at, super->nodesize, super->csum_type);
		at = lseek(fd, at + STEP, SEEK_DATA) - STEP;
	}
}

/* ---- Damage ------------------------------------------------------------- */

static void put(uint8_t *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = value >> 8 * i;
}

/* Where something stands: header, items, or the data of items at the end. */
static uint32_t pick_place(const struct block *block, const uint8_t *data)
{
	uint32_t items = bp_get32(data + 96) % 1000, head = BP_HEADER_SIZE;

	switch (random_number(4)) {
	case 0:
		return random_number(block->size);
	case 1:
		return random_number(block->size == BP_SUPER_SIZE ? 820 : head);
	case 2:
		return (head + random_number(items * 33 + 1)) % block->size;
	default:
		return block->size - 1 - random_number(block->size / 8);
	}
}

static void damage(const struct block *block, uint8_t *data)
{
	static const uint64_t odd[] = { 0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff,
					1ULL << 63, UINT64_MAX, UINT64_MAX - 4095, 16384, 65536,
					1ULL << 40, 228, 216, 204 };
	static const unsigned int widths[] = { 1, 2, 4, 8 };
	unsigned int width = widths[random_number(4)];
	uint32_t at = pick_place(block, data);

	if (at + 8 > block->size)
		at = block->size - 8;
	if (random_number(2))
		put(data + at, odd[random_number(BP_ARRAY_SIZE(odd))], width);
	else if (random_number(2))
		put(data + at, random_number(UINT64_MAX), width);
	else
		memcpy(data + at, data + pick_place(block, data) % (block->size - 8), 8);
}

static int write_block(const struct block *block, const uint8_t *data)
{
	return pwrite(block->fd, data, block->size, block->at) == (ssize_t)block->size ? 0 : -1;
}

static void damage_block(const struct block *block, const uint8_t *old)
{
	uint8_t data[BP_NODE_MAX], csum[BP_CSUM_SIZE] = {};
	uint64_t times = 1 + random_number(4);

	memcpy(data, old, block->size);
	while (times--)
		damage(block, data);
	if (random_number(16)) {
		bp_csum(block->csum_type, data + BP_CSUM_SIZE, block->size - BP_CSUM_SIZE, csum);
		memcpy(data, csum, sizeof(csum));
	}
	if (write_block(block, data))
		exit(99);
}

/* ---- Reading ------------------------------------------------------------ */

static int read_all(char **paths, size_t count)
{
	struct btrfs_policy_fs *fs = btrfs_policy_fs_new();
	struct btrfs_policy_placement *placement = NULL;
	struct btrfs_policy_suggestion *suggestion = NULL;
	int ret = btrfs_policy_fs_open_offline(fs, paths, count);

	if (!ret)
		ret = btrfs_policy_placement_read(fs, &placement);
	if (!ret)
		ret = btrfs_policy_suggest(fs, &suggestion);
	if (ret && !*btrfs_policy_fs_error(fs)) {
		fprintf(stderr, "%d without an error\n", ret);
		exit(1);
	}
	btrfs_policy_suggestion_free(suggestion);
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
	return ret;
}

/* Both copies of a block of RAID1 or DUP, or the other is simply taken. */
static bool is_twin(const uint8_t *a, const uint8_t *b, uint32_t size)
{
	return !memcmp(a + 48, b + 48, 8) && !memcmp(a, b, size);
}

static int one_round(uint64_t seed, char **paths, size_t count)
{
	static uint8_t old[BP_NODE_MAX], other[BP_NODE_MAX];
	const struct block *block;
	uint64_t start;
	int ret;

	random_seed(seed);
	block = &blocks[random_number(block_count)];
	if (pread(block->fd, old, block->size, block->at) != (ssize_t)block->size)
		exit(99);
	start = random_state;
	for (size_t i = 0; i < block_count; i++)
		if (blocks[i].size == block->size &&
		    pread(blocks[i].fd, other, block->size, blocks[i].at) == (ssize_t)block->size &&
		    is_twin(old, other, block->size)) {
			random_state = start;
			damage_block(&blocks[i], old);
			blocks[i].csum_type |= 0x8000;
		}
	ret = read_all(paths, count);
	for (size_t i = 0; i < block_count; i++)
		if (blocks[i].csum_type & 0x8000) {
			blocks[i].csum_type &= 0x7fff;
			write_block(&blocks[i], old);
		}
	return ret;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 3 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t rounds = argc > 3 ? strtoull(argv[2], NULL, 0) : 0, refused = 0;
	char **paths = argv + 3;
	size_t count = argc > 3 ? argc - 3 : 0;

	if (!count || count > IMAGES_MAX) {
		fprintf(stderr, "usage: fuzz-offline FIRST-SEED COUNT IMAGE...\n");
		return 2;
	}
	if (read_all(paths, count)) {
		fprintf(stderr, "the images cannot be read as they are\n");
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		struct bp_offline off = {};
		struct bp_super super;
		int fd = open(paths[i], O_RDWR | O_CLOEXEC);

		if (fd < 0 || bp_super_read(&off, fd, &super))
			return 1;
		find_blocks(fd, &super);
	}
	for (uint64_t seed = first; seed < first + rounds; seed++)
		refused += one_round(seed, paths, count) != 0;
	if (read_all(paths, count)) {
		fprintf(stderr, "the images are not what they were\n");
		return 1;
	}
	printf("%zu blocks, %llu rounds, %llu refused\n", block_count,
	       (unsigned long long)rounds, (unsigned long long)refused);
	return refused ? 0 : 1;
}
