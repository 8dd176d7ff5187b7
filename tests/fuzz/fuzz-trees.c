/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz-trees FIRST COUNT: makes images whose checksums, addresses and keys are
 * right and whose trees are hostile, and reads each with the library.  A valid
 * image must give the right answer and an invalid one an error, and neither may
 * read more blocks than its budget.  Built with sanitizers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator/placement.h"
#include "tests/fuzz/image.h"
#include "tests/fuzz/random.h"

#define GIB (1ULL << 30)
#define CHUNK_SIZE 80
#define GROUP_SIZE 24
/*
 * An answer takes a few walks of the chunk tree and of the block groups.  Each of
 * them may read every block once, and one path again wherever its buffer is full.
 */
#define WALKS 4

struct world {
	struct image image;
	struct image_tree chunks;
	struct image_tree groups;
	struct image_tree roots;
	struct bp_root group_root;
	bool group_tree;
};

/* Changes items before trees are written, or blocks behind that; WRONG images must be refused. */
struct shape {
	const char *name;
	bool valid;
	void (*items)(struct world *world);
	void (*blocks)(struct world *world);
};

/* ---- A file system that is whole ---------------------------------------- */

static void add_chunk(struct world *world, uint64_t logical, uint64_t length, uint64_t type,
		      uint64_t offset)
{
	struct image_item *chunk, *group;

	chunk = image_add(&world->chunks, BTRFS_FIRST_CHUNK_TREE_OBJECTID, BTRFS_CHUNK_ITEM_KEY,
			  logical, CHUNK_SIZE);
	image_chunk_item(chunk->data, length, type, offset);
	group = image_add(&world->groups, logical, BTRFS_BLOCK_GROUP_ITEM_KEY, length, GROUP_SIZE);
	image_put(group->data, random_number(length + 1), 8);
	image_put(group->data + 8, BTRFS_FIRST_CHUNK_TREE_OBJECTID, 8);
	image_put(group->data + 16, type, 8);
}

static void add_chunks(struct world *world, uint64_t count)
{
	uint64_t at = IMAGE_LOGICAL + GIB;

	add_chunk(world, IMAGE_LOGICAL, IMAGE_AREA_SIZE, BTRFS_BLOCK_GROUP_SYSTEM, IMAGE_AREA);
	while (count--) {
		uint64_t length = (1 + random_number(1024)) << 20;

		add_chunk(world, at, length, 1ULL << 2 * random_number(2), at);
		at += length + (random_number(2) << 20);
	}
}

static void shape_tree(struct image_tree *tree, uint64_t owner)
{
	tree->owner = owner;
	tree->leaf_items = 1 + random_number(20);
	tree->fanout = 3 + random_number(20);
	tree->least_level = random_number(4);
}

static void add_items(struct world *world)
{
	image_add_device(&world->chunks, 1);
	add_chunks(world, 2 + random_number(300));
}

static int write_world(struct world *world)
{
	struct image *image = &world->image;
	int ret = image_tree_write(image, &world->groups, &world->group_root);

	if (!ret)
		ret = image_tree_write(image, &world->chunks, &image->chunk_root);
	image_add_root(&world->roots, BTRFS_EXTENT_TREE_OBJECTID, &world->group_root);
	if (world->group_tree)
		image_add_root(&world->roots, BTRFS_BLOCK_GROUP_TREE_OBJECTID, &world->group_root);
	if (!ret)
		ret = image_tree_write(image, &world->roots, &image->root);
	return ret;
}

static int make(struct world *world, const struct shape *shape)
{
	int ret;

	image_start(&world->image, 4096U << random_number(3));
	world->group_tree = random_number(2);
	shape_tree(&world->chunks, BTRFS_CHUNK_TREE_OBJECTID);
	shape_tree(&world->groups, world->group_tree ? BTRFS_BLOCK_GROUP_TREE_OBJECTID :
			   BTRFS_EXTENT_TREE_OBJECTID);
	shape_tree(&world->roots, BTRFS_ROOT_TREE_OBJECTID);
	add_items(world);
	if (shape->items)
		shape->items(world);
	ret = write_world(world);
	if (!ret && shape->blocks)
		shape->blocks(world);
	if (!ret)
		image_super(&world->image);
	return ret;
}

/* ---- Valid shapes ------------------------------------------------------- */

static void deepest(struct world *world)
{
	struct image_tree *trees[] = { &world->chunks, &world->groups, &world->roots };

	for (size_t i = 0; i < BP_ARRAY_SIZE(trees); i++)
		trees[i]->least_level = BP_LEVEL_MAX - 1;
}

/* Each block group is in a leaf of its own, at the end of a path of its own. */
static void scattered(struct world *world)
{
	deepest(world);
	world->groups.leaf_items = 1;
	world->groups.fanout = 3 + random_number(2);
}

static void many_chunks(struct world *world)
{
	world->chunks.count = world->groups.count = 0;
	add_items(world);
	world->chunks.count = 1;
	world->groups.count = 0;
	add_chunks(world, 5000);
	world->chunks.fanout = world->groups.fanout = 0;
	world->chunks.leaf_items = world->groups.leaf_items = 0;
}

static void many_devices(struct world *world)
{
	struct image_tree chunks = world->chunks;

	world->chunks.items = NULL;
	world->chunks.count = world->chunks.space = 0;
	for (uint64_t devid = 1; devid <= 2000; devid++)
		image_add_device(&world->chunks, devid);
	for (size_t i = 1; i < chunks.count; i++)
		*image_add(&world->chunks, 0, 0, 0, 0) = chunks.items[i];
	world->chunks.leaf_items = world->chunks.fanout = 0;
	image_tree_free(&chunks);
}

/* Items of block groups are longer; the tree itself is in a chunk of its own kind. */
static void remap_tree(struct world *world)
{
	static const uint64_t type = 1ULL << 12;

	world->image.incompat |= 1ULL << 17;
	for (size_t i = 0; i < world->groups.count; i++)
		world->groups.items[i].size = GROUP_SIZE + 12;
	image_put(world->groups.items[world->groups.count - 1].data + 16, type, 8);
	image_put(world->chunks.items[world->chunks.count - 1].data + 24, type, 8);
}

/* ---- Invalid items ------------------------------------------------------ */

static struct image_item *random_item(struct image_tree *tree, size_t first, size_t end)
{
	return &tree->items[first + random_number(tree->count - first - end)];
}

/* The items before it are that of the device and of the system chunk. */
static void overlapping_chunks(struct world *world)
{
	struct image_item *item = random_item(&world->chunks, 2, 1);

	image_put(item->data, item[1].key.offset - item->key.offset + (1 << 20), 8);
}

static void overlapping_stripes(struct world *world)
{
	struct image_item *item = random_item(&world->chunks, 2, 1);
	uint64_t other = bp_get64(item[1].data + 56);

	image_put(item->data + 56, other + random_number(2) * 65536, 8);
}

static void absurd_chunk(struct world *world)
{
	static const struct { uint8_t at, bytes; uint64_t value; } odd[] = {
		{ 0, 8, 0 }, { 0, 8, UINT64_MAX }, { 0, 8, 1ULL << 63 }, { 16, 8, 0 },
		{ 16, 8, 4096 }, { 24, 8, UINT64_MAX }, { 24, 8, 1 | 1 << 5 | 1 << 3 },
		{ 44, 2, 0 }, { 44, 2, 0xffff }, { 44, 2, 2 },
	};
	struct image_item *item = random_item(&world->chunks, 2, 0);
	size_t i = random_number(BP_ARRAY_SIZE(odd));

	image_put(item->data + odd[i].at, odd[i].value, odd[i].bytes);
}

static void absurd_use(struct world *world)
{
	struct image_item *item = random_item(&world->groups, 1, 0);

	image_put(item->data, item->key.offset + 1 + random_number(1ULL << 62), 8);
}

/* A chunk whose data is elsewhere, with its stripes or already without them. */
static void remapped_chunk(struct world *world)
{
	struct image_item *item = random_item(&world->chunks, 2, 0);

	remap_tree(world);
	image_put(item->data + 24, bp_get64(item->data + 24) | 1ULL << 11, 8);
	if (random_number(2)) {
		image_put(item->data + 44, 0, 2);
		item->size = offsetof(struct btrfs_chunk, stripe);
	}
}

/* In the order of keys these come from the last address to the first. */
static void chunks_backwards(struct world *world)
{
	for (uint64_t i = 0; i < 20000; i++) {
		struct image_item *item =
			image_add(&world->chunks, BTRFS_FIRST_CHUNK_TREE_OBJECTID + 1 + i,
				  BTRFS_CHUNK_ITEM_KEY, (1ULL << 60) - i * GIB, CHUNK_SIZE);

		image_chunk_item(item->data, 1 << 20, 1, (1ULL << 49) - i * GIB);
	}
	world->chunks.leaf_items = world->chunks.fanout = 0;
}

static void absurd_devices(struct world *world)
{
	struct image_item *item = &world->chunks.items[0];

	if (random_number(2))
		image_put(item->data, random_number(UINT64_MAX), 8);
	else
		item->size = random_number(98);
}

/* ---- Invalid blocks ----------------------------------------------------- */

/*
 * Each of `width` nodes of a level points to the nodes of the next one from its
 * own place on, so that walks which do not see the upper bounds of keys go every
 * way through the levels: C(width + level - 1, level) of them.
 */
static void shared_children(struct world *world)
{
	bool chunks = random_number(2) || !world->group_tree;
	const struct image_tree *tree = chunks ? &world->chunks : &world->groups;
	struct bp_root *root = chunks ? &world->image.chunk_root : &world->group_root;
	uint32_t width = 20 + random_number(20);
	uint64_t below[64], row[64];

	if (width > tree->count)
		width = tree->count;
	for (uint8_t level = 0; level < BP_LEVEL_MAX; level++) {
		for (uint32_t i = 0; i < width; i++) {
			uint8_t *block = image_block(&world->image, tree->owner, level, &row[i]);

			for (uint32_t j = i; level && j < width; j++)
				image_pointer(block, &tree->items[j].key, below[j]);
			if (!level)
				image_entry(&world->image, block, &tree->items[i]);
			image_seal(&world->image, block);
		}
		memcpy(below, row, sizeof(row));
	}
	*root = (struct bp_root){ .bytenr = below[0], .generation = IMAGE_GENERATION,
				  .level = BP_LEVEL_MAX - 1, .owner = tree->owner };
	if (!chunks) {
		world->roots.count = 0;
		image_add_root(&world->roots, BTRFS_BLOCK_GROUP_TREE_OBJECTID, root);
		image_tree_write(&world->image, &world->roots, &world->image.root);
	}
}

/* A block of the chunk tree or of the block groups, of level 1 or higher if wanted. */
static uint8_t *random_block(struct world *world, bool node)
{
	for (;;) {
		uint64_t number = random_number(world->image.blocks);
		uint8_t *block = image_at(&world->image,
					  IMAGE_LOGICAL + number * world->image.nodesize);

		if (bp_get64(block + 88) != BTRFS_ROOT_TREE_OBJECTID && (!node || block[100]))
			return block;
	}
}

static bool is_root(const struct world *world, const uint8_t *block)
{
	uint64_t bytenr = bp_get64(block + 48);

	return bytenr == world->group_root.bytenr || bytenr == world->image.chunk_root.bytenr;
}

static void taller(struct world *world)
{
	world->chunks.least_level = 1;
	world->groups.least_level = 1;
}

/* Round in a circle, into another tree, or to where no block is. */
static void wrong_child(struct world *world)
{
	uint8_t *node = random_block(world, true);
	uint8_t *child = node + BP_HEADER_SIZE + random_number(bp_get32(node + 96)) * 33 + 17;
	uint64_t old = bp_get64(child), new = old;

	while (new == old)
		new = random_number(4) ?
			IMAGE_LOGICAL + random_number(world->image.blocks) * world->image.nodesize :
			random_number(UINT64_MAX);
	image_put(child, new, 8);
	image_seal(&world->image, node);
}

/* A leaf ends with the item that the next one begins with. */
static void sibling_keys(struct world *world)
{
	struct image_item item = {};
	uint8_t *node, *leaf;
	uint32_t at;

	do {
		node = random_block(world, true);
	} while (node[100] != 1 || bp_get32(node + 96) < 2);
	at = random_number(bp_get32(node + 96) - 1);
	leaf = image_at(&world->image, bp_get64(node + BP_HEADER_SIZE + (at + 1) * 33 + 17));
	item.key = image_key(leaf, 0);
	item.size = bp_get32(leaf + BP_HEADER_SIZE + 21);
	memcpy(item.data, leaf + world->image.nodesize - item.size, item.size);
	leaf = image_at(&world->image, bp_get64(node + BP_HEADER_SIZE + at * 33 + 17));
	image_entry(&world->image, leaf, &item);
	image_seal(&world->image, leaf);
}

static void absurd_header(struct world *world)
{
	static const uint32_t counts[] = { 0, UINT32_MAX, 1 << 31, 70000, 3000 };
	static const uint64_t addresses[] = { 0, UINT64_MAX, IMAGE_LOGICAL - 4096, 1 << 20 };
	uint8_t *block = random_block(world, false);
	uint32_t count = counts[random_number(BP_ARRAY_SIZE(counts))];

	switch (random_number(5)) {
	case 0:
		block[100] += 1 + random_number(255);
		break;
	case 1:
		image_put(block + 48, addresses[random_number(BP_ARRAY_SIZE(addresses))], 8);
		break;
	case 2:
		image_put(block + 88, BTRFS_FS_TREE_OBJECTID, 8);
		break;
	case 3:		/* a root item tells it too, and is not asked */
		if (!is_root(world, block)) {
			image_put(block + 80, IMAGE_GENERATION + 1 + random_number(1000), 8);
			break;
		}
		count = UINT32_MAX;
		__attribute__((fallthrough));
	default:	/* a tree without items has an empty root */
		image_put(block + 96, count || !is_root(world, block) ? count : UINT32_MAX, 4);
	}
	image_seal(&world->image, block);
}

/* An item that lies outside, over the one before it, or with a gap between them. */
static void item_places(struct world *world)
{
	uint8_t *leaf, *item;
	uint32_t at, offset, size;

	do {
		leaf = random_block(world, false);
	} while (leaf[100] || !bp_get32(leaf + 96));
	at = random_number(bp_get32(leaf + 96));
	item = leaf + BP_HEADER_SIZE + at * 25;
	offset = bp_get32(item + 17);
	size = bp_get32(item + 21);
	if (random_number(2))
		image_put(item + 17, random_number(2) ? offset + 1 + random_number(size) :
			  random_number(UINT32_MAX - offset) + offset + 1, 4);
	else
		image_put(item + 21, random_number(2) ? size + 1 + random_number(4096) :
			  random_number(UINT32_MAX - size) + size + 1, 4);
	image_seal(&world->image, leaf);
}

/* The root of the block groups is that of another tree. */
static void wrong_root(struct world *world)
{
	struct bp_root roots[] = { world->image.chunk_root, world->image.root };

	world->roots.count = 0;
	image_add_root(&world->roots, BTRFS_EXTENT_TREE_OBJECTID, &roots[random_number(2)]);
	image_tree_write(&world->image, &world->roots, &world->image.root);
}

/* ---- Reading ------------------------------------------------------------ */

static bool right_answer(const struct world *world, const struct btrfs_policy_placement *placement)
{
	const struct image_tree *chunks = &world->chunks, *groups = &world->groups;
	size_t devices = chunks->count - groups->count;

	if (placement->chunk_count != groups->count || placement->device_count != devices)
		return false;
	for (size_t i = 0; i < groups->count; i++) {
		const struct btrfs_policy_chunk *chunk = &placement->chunks[i];

		if (chunk->logical != groups->items[i].key.objectid ||
		    chunk->length != groups->items[i].key.offset ||
		    chunk->used != bp_get64(groups->items[i].data) ||
		    chunk->offsets[0] != bp_get64(chunks->items[devices + i].data + 56))
			return false;
	}
	return true;
}

static uint64_t reads;

ssize_t __real_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at);

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at)
{
	reads++;
	return __real_pread(fd, to, size, at);
}

struct outcome {
	bool refused;
	bool right;
	char why[256];
};

static void read_image(const struct world *world, char *path, struct outcome *outcome)
{
	struct btrfs_policy_fs *fs = btrfs_policy_fs_new();
	struct btrfs_policy_placement *placement = NULL;
	int ret = btrfs_policy_fs_open_offline(fs, &path, 1);

	if (!ret)
		ret = btrfs_policy_placement_read(fs, &placement);
	outcome->refused = ret && *btrfs_policy_fs_error(fs);
	outcome->right = !ret && right_answer(world, placement);
	snprintf(outcome->why, sizeof(outcome->why), "%s", btrfs_policy_fs_error(fs));
	btrfs_policy_placement_free(placement);
	btrfs_policy_fs_unref(fs);
}

/* ---- All shapes --------------------------------------------------------- */

static const struct shape shapes[] = {
	{ "plain", true, NULL, NULL },
	{ "deepest levels", true, deepest, NULL },
	{ "scattered block groups", true, scattered, NULL },
	{ "many chunks", true, many_chunks, NULL },
	{ "many devices", true, many_devices, NULL },
	{ "remap tree", true, remap_tree, NULL },
	{ "remapped chunk", false, remapped_chunk, NULL },
	{ "shared children", false, NULL, shared_children },
	{ "wrong child", false, taller, wrong_child },
	{ "wrong child, deepest levels", false, deepest, wrong_child },
	{ "keys of a sibling", false, taller, sibling_keys },
	{ "wrong root", false, NULL, wrong_root },
	{ "absurd header", false, NULL, absurd_header },
	{ "places of items", false, NULL, item_places },
	{ "overlapping chunks", false, overlapping_chunks, NULL },
	{ "overlapping stripes", false, overlapping_stripes, NULL },
	{ "absurd chunk", false, absurd_chunk, NULL },
	{ "absurd use", false, absurd_use, NULL },
	{ "chunks backwards", false, chunks_backwards, NULL },
	{ "absurd devices", false, absurd_devices, NULL },
};

static bool one_image(uint64_t seed, bool verbose)
{
	const struct shape *shape = &shapes[seed % BP_ARRAY_SIZE(shapes)];
	struct world world = {};
	struct outcome outcome;
	char path[64];
	uint64_t budget;
	int fd;
	bool ok;

	random_seed(seed);
	if (make(&world, shape)) {
		fprintf(stderr, "seed %llu: no space for the image\n", (unsigned long long)seed);
		exit(99);
	}
	fd = image_file(&world.image, path, sizeof(path));
	if (fd < 0)
		exit(99);
	reads = 0;
	read_image(&world, path, &outcome);
	close(fd);
	budget = WALKS * (world.image.blocks + BP_LEVEL_MAX);
	ok = (shape->valid ? outcome.right : outcome.refused) && reads && reads <= budget;
	if (!ok || verbose)
		printf("%s: seed %llu: %s: %s, %llu reads of %llu, %s\n", ok ? "ok" : "WRONG",
		       (unsigned long long)seed, shape->name,
		       outcome.refused ? "refused" : outcome.right ? "right answer" : "other answer",
		       (unsigned long long)reads, (unsigned long long)budget, outcome.why);
	image_end(&world.image);
	image_tree_free(&world.chunks);
	image_tree_free(&world.groups);
	image_tree_free(&world.roots);
	return ok;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 2 ? strtoull(argv[1], NULL, 0) : 0;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 0, wrong = 0;

	if (!count) {
		fprintf(stderr, "usage: fuzz-trees FIRST-SEED COUNT [-v]\n");
		return 2;
	}
	for (uint64_t seed = first; seed < first + count; seed++)
		wrong += !one_image(seed, argc > 3);
	printf("%llu images, %llu wrong\n", (unsigned long long)count, (unsigned long long)wrong);
	return wrong ? 1 : 0;
}
