// SPDX-License-Identifier: GPL-2.0
/*
 * Readahead of many leaves in one sweep, of one tree or of several, and the
 * window that a walk through a whole tree keeps ahead of itself.
 *
 * The order of keys is not that of places: copy on write moves leaves, and trees
 * that change together lie among each other.  A disk that is given leaves as
 * they come, as many at a time as it takes, moves its head to and fro.  So they
 * are collected, and asked for in the order of their addresses if there is one
 * with a head.
 *
 * Owns no leaf and keeps nothing from one call to the next.  Only ever a hint:
 * nothing that fails in here is told to anybody.
 */

#include <linux/blkdev.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include "ctree.h"
#include "accessors.h"
#include "disk-io.h"
#include "extent_io.h"
#include "tree-readahead.h"
#include "volumes.h"
#include "compat.h"

struct leaf_place {
	u64 bytenr;
	u64 owner;
	u64 generation;
	int level;
	struct btrfs_key first_key;
};

struct leaf_readahead {
	struct btrfs_fs_info *fs_info;
	unsigned int max;
	unsigned int nr;
	struct leaf_place places[] __counted_by(max);
};

/* Room for @max leaves. */
struct leaf_readahead *btrfs_leaf_readahead_alloc(struct btrfs_fs_info *fs_info,
						  unsigned int max)
{
	struct leaf_readahead *ra;

	ra = kvmalloc(struct_size(ra, places, max), GFP_NOFS | __GFP_NOWARN);
	if (!ra)
		return NULL;
	ra->max = max;
	ra->fs_info = fs_info;
	ra->nr = 0;
	return ra;
}

void btrfs_leaf_readahead_free(struct leaf_readahead *ra)
{
	kvfree(ra);
}

/* What @node points to, a leaf or a node.  What is full is submitted first. */
void btrfs_leaf_readahead_add(struct leaf_readahead *ra,
			      const struct extent_buffer *node, int slot)
{
	struct leaf_place *place;

	if (ra->nr == ra->max)
		btrfs_leaf_readahead_submit(ra);
	place = &ra->places[ra->nr++];
	*place = (struct leaf_place) {
		.bytenr = btrfs_node_blockptr(node, slot),
		.owner = btrfs_header_owner(node),
		.generation = btrfs_node_ptr_generation(node, slot),
		.level = btrfs_header_level(node) - 1,
	};
	btrfs_node_key_to_cpu(node, &place->first_key, slot);
}

/*
 * The slot, in its parent, of the node after that of level 1 in @path, or -1.  A
 * walk comes to a halt there if it has not been read ahead.
 */
int btrfs_leaf_readahead_next_node(const struct btrfs_path *path)
{
	const struct extent_buffer *parent = path->nodes[2];
	const int slot = path->slots[2] + 1;

	return parent && slot < btrfs_header_nritems(parent) ? slot : -1;
}

/* A leaf of which nothing but its place is known. */
void btrfs_leaf_readahead_add_block(struct leaf_readahead *ra, u64 bytenr)
{
	if (ra->nr == ra->max)
		btrfs_leaf_readahead_submit(ra);
	ra->places[ra->nr++] = (struct leaf_place) { .bytenr = bytenr };
}

static int compare_leaf_places(const void *a, const void *b)
{
	const struct leaf_place *pa = a;
	const struct leaf_place *pb = b;

	if (pa->bytenr == pb->bytenr)
		return 0;
	return pa->bytenr < pb->bytenr ? -1 : 1;
}

/*
 * Read all that were added, which leaves room for others.  Without a head there
 * is nothing to gain from an order, but the first one added is wanted first.
 */
void btrfs_leaf_readahead_submit(struct leaf_readahead *ra)
{
	struct blk_plug plug;

	if (ra->fs_info->fs_devices->rotating)
		sort(ra->places, ra->nr, sizeof(ra->places[0]), compare_leaf_places, NULL);
	blk_start_plug(&plug);
	for (unsigned int n = 0; n < ra->nr; n++) {
		const struct leaf_place *place = &ra->places[n];

		/* Where the generation is not known, the key is not either. */
		btrfs_readahead_tree_block(ra->fs_info, place->bytenr, place->owner,
					   place->generation, place->level,
					   place->generation ? &place->first_key : NULL);
	}
	blk_finish_plug(&plug);
	ra->nr = 0;
}

/*
 * How many leaves a walk through a whole tree keeps ahead of itself.
 *
 * Every refill of the window moves the head of a hard disk to the tree and back
 * to whatever else is being read, so there it has to be worth the way.  Without
 * a head the gain is in having many reads under way and less does it.  Leaves
 * that are not used yet are memory: a small machine gets a small window.
 */
static int leaf_window(const struct btrfs_fs_info *fs_info)
{
	const u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	const bool rotating = fs_info->fs_devices->rotating;
	u32 window;

	window = rotating ? min_t(u64, SZ_8M, memory >> 6) :
			    min_t(u64, SZ_512K, memory >> 9);
	return max_t(u32, window, SZ_128K) / fs_info->nodesize;
}

/*
 * The node that @path comes to after the one of level 1 it is in, if that is in
 * memory.  Only in trees that do not change: there it needs no lock.
 */
static struct extent_buffer *following_node(struct btrfs_fs_info *fs_info,
					    const struct btrfs_path *path)
{
	const struct extent_buffer *parent = path->nodes[2];
	const int slot = path->slots[2] + 1;
	struct extent_buffer *eb;

	if (!path->search_commit_root || !path->skip_locking || !parent ||
	    slot >= btrfs_header_nritems(parent))
		return NULL;

	eb = find_extent_buffer(fs_info, btrfs_node_blockptr(parent, slot));
	if (!eb)
		return NULL;
	if (btrfs_buffer_uptodate(eb, btrfs_node_ptr_generation(parent, slot), NULL) == 1)
		return eb;
	free_extent_buffer(eb);
	return NULL;
}

/* The leaves of a node and of the one after it, if that is known, counted through. */
struct leaf_range {
	const struct extent_buffer *node;
	struct extent_buffer *following;
	int nr_node;
	int nr;
};

static const struct extent_buffer *leaf_parent(const struct leaf_range *range, int *n)
{
	if (*n < range->nr_node)
		return range->node;
	*n -= range->nr_node;
	return range->following;
}

static bool leaf_in_memory(struct btrfs_fs_info *fs_info,
			   const struct leaf_range *range, int n)
{
	const struct extent_buffer *parent = leaf_parent(range, &n);
	struct extent_buffer *eb;

	eb = find_extent_buffer(fs_info, btrfs_node_blockptr(parent, n));
	if (!eb)
		return false;
	free_extent_buffer(eb);
	return true;
}

/* From the node at level 1 of @path on, which is enough for leaf @last of it. */
static void get_range(struct btrfs_fs_info *fs_info, const struct btrfs_path *path,
		      const struct extent_buffer *node, int last,
		      struct leaf_range *range)
{
	range->node = node;
	range->following = NULL;
	range->nr_node = btrfs_header_nritems(node);
	range->nr = range->nr_node;
	if (last < range->nr_node)
		return;
	range->following = following_node(fs_info, path);
	if (range->following)
		range->nr += btrfs_header_nritems(range->following);
}

static void put_range(const struct leaf_range *range)
{
	if (range->following)
		free_extent_buffer(range->following);
}

static void add_range_of_leaves(struct leaf_readahead *ra, const struct leaf_range *range,
				int first, int last)
{
	for (int i = first; i <= last; i++) {
		int slot = i;
		const struct extent_buffer *parent = leaf_parent(range, &slot);

		btrfs_leaf_readahead_add(ra, parent, slot);
	}
}

/* Read ahead leaves @first to @last. */
static void readahead_range(struct btrfs_fs_info *fs_info,
			    const struct leaf_range *range, int first, int last)
{
	struct leaf_readahead *ra;

	ra = btrfs_leaf_readahead_alloc(fs_info, last - first + 1);
	if (!ra)
		return;
	add_range_of_leaves(ra, range, first, last);
	btrfs_leaf_readahead_submit(ra);
	btrfs_leaf_readahead_free(ra);
}

/*
 * Readahead for READA_FORWARD_BATCH, by someone who is going to visit all
 * leaves from @slot on, whether or not they are close to each other.
 *
 * The window is refilled when half of it is used, all in one go.  No state is
 * needed for that: the leaf in the middle of the window is in memory as long as
 * the last refill lasts.  A batch has the leaf that is wanted now.
 */
void btrfs_readahead_batch(const struct btrfs_path *path,
			   struct extent_buffer *node, int slot)
{
	struct btrfs_fs_info *fs_info = node->fs_info;
	struct leaf_range range;
	int window;

	/* Nodes are visited rarely, one ahead is enough. */
	if (btrfs_header_level(node) > 1) {
		if (slot + 1 < btrfs_header_nritems(node))
			btrfs_readahead_node_child(node, slot + 1);
		return;
	}

	window = leaf_window(fs_info);
	get_range(fs_info, path, node, slot + window, &range);
	/* One early, so that no batch is waited for with nothing behind it. */
	if (!leaf_in_memory(fs_info, &range, min(slot + window / 2 + 1, range.nr - 1)))
		readahead_range(fs_info, &range, slot, min(slot + window, range.nr - 1));
	put_range(&range);
}
