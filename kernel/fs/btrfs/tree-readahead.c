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
#include "read-gap.h"
#include "tree-readahead-core.h"
#include "tree-readahead.h"
#include "volumes.h"
#include "compat.h"

/*
 * To pass a gap of that size takes a quarter to half of a revolution, which is
 * less than the way to another place and back.
 */
#define LEAF_READAHEAD_MAX_GAP		SZ_512K

struct leaf_readahead {
	struct btrfs_fs_info *fs_info;
	/* If gaps are read, too. */
	struct read_gaps *gaps;
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
	ra->gaps = NULL;
	ra->nr = 0;
	return ra;
}

/*
 * Where there is a head, leaves that are close are to be read in one piece from
 * here on.  Freeing @ra then waits for what is being read.
 */
void btrfs_leaf_readahead_join(struct leaf_readahead *ra)
{
	if (ra->fs_info->fs_devices->rotating)
		ra->gaps = btrfs_read_gaps_alloc(ra->fs_info);
}

void btrfs_leaf_readahead_free(struct leaf_readahead *ra)
{
	if (!ra)
		return;
	btrfs_read_gaps_free(ra->gaps);
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
 * The same for one that is not worth a way of its own.  Half of the room is for
 * those that are; returns false when the other half is full.
 */
bool btrfs_leaf_readahead_add_optional(struct leaf_readahead *ra,
				       const struct extent_buffer *node, int slot)
{
	if (!ra->gaps || ra->nr >= ra->max / 2)
		return false;
	btrfs_leaf_readahead_add(ra, node, slot);
	ra->places[ra->nr - 1].optional = true;
	return true;
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

static bool block_in_memory(struct btrfs_fs_info *fs_info, u64 bytenr)
{
	struct extent_buffer *eb = find_extent_buffer(fs_info, bytenr);

	if (!eb)
		return false;
	free_extent_buffer(eb);
	return true;
}

/* What is in memory is a gap. */
static void drop_read(struct leaf_readahead *ra)
{
	unsigned int nr = 0;

	for (unsigned int n = 0; n < ra->nr; n++)
		if (!block_in_memory(ra->fs_info, ra->places[n].bytenr))
			ra->places[nr++] = ra->places[n];
	ra->nr = nr;
}

/* One sweep of the head. */
static void plan_sweep(struct leaf_readahead *ra)
{
	sort(ra->places, ra->nr, sizeof(ra->places[0]), compare_leaf_places, NULL);
	if (!ra->gaps)
		return;
	drop_read(ra);
	ra->nr = merge_leaf_places(ra->places, ra->nr);
	ra->nr = drop_leaf_places(ra->places, ra->nr, ra->fs_info->nodesize,
				  LEAF_READAHEAD_MAX_GAP);
}

static void read_gap_after(struct leaf_readahead *ra, const struct leaf_place *place)
{
	const u32 nodesize = ra->fs_info->nodesize;
	const u32 gap = leaf_gap(place, place + 1, nodesize, LEAF_READAHEAD_MAX_GAP);

	if (gap)
		btrfs_read_gap(ra->gaps, place->bytenr + nodesize, gap);
}

/*
 * Read all that were added, which leaves room for others.  Without a head there
 * is nothing to gain from an order, but the first one added is wanted first.
 */
void btrfs_leaf_readahead_submit(struct leaf_readahead *ra)
{
	struct blk_plug plug;

	if (ra->fs_info->fs_devices->rotating)
		plan_sweep(ra);
	blk_start_plug(&plug);
	for (unsigned int n = 0; n < ra->nr; n++) {
		const struct leaf_place *place = &ra->places[n];

		/* Where the generation is not known, the key is not either. */
		btrfs_readahead_tree_block(ra->fs_info, place->bytenr, place->owner,
					   place->generation, place->level,
					   place->generation ? &place->first_key : NULL);
		if (ra->gaps && n + 1 < ra->nr)
			read_gap_after(ra, place);
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

	return block_in_memory(fs_info, btrfs_node_blockptr(parent, n));
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
