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
#include <linux/sched/signal.h>
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

/* Space for @max leaves. */
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
 * Read those that were added, which leaves space for others.  Without a head there
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

		/* Submitting blocks on the disk: do not hold up a commit or a fatal signal. */
		if (rwsem_is_contended(&ra->fs_info->commit_root_sem) ||
		    fatal_signal_pending(current))
			break;
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

static bool leaf_in_memory(const struct extent_buffer *node, int slot)
{
	struct extent_buffer *eb;

	eb = find_extent_buffer(node->fs_info, btrfs_node_blockptr(node, slot));
	if (!eb)
		return false;
	free_extent_buffer(eb);
	return true;
}

/*
 * Readahead for READA_FORWARD_BATCH, for a walk that is going to visit all
 * leaves from @slot on, whether or not they are close to each other.
 *
 * The window ends with the node.  It is refilled when half of it is used, all in
 * one go.  No state is needed for that: the leaf in the middle of the window is in
 * memory as long as the last refill lasts.  A batch has the leaf that is wanted now.
 */
void btrfs_readahead_batch(struct extent_buffer *node, int slot)
{
	struct btrfs_fs_info *fs_info = node->fs_info;
	const int end = btrfs_header_nritems(node);
	const int window = leaf_window(fs_info);
	struct leaf_readahead *ra;

	/* Nodes are visited rarely, one ahead is enough. */
	if (btrfs_header_level(node) > 1) {
		if (slot + 1 < end)
			btrfs_readahead_node_child(node, slot + 1);
		return;
	}

	/* One early, so that no batch is waited for with nothing behind it. */
	if (leaf_in_memory(node, min(slot + window / 2 + 1, end - 1)))
		return;
	ra = btrfs_leaf_readahead_alloc(fs_info, min(window + 1, end - slot));
	if (!ra)
		return;
	for (int i = slot; i < min(slot + window + 1, end); i++)
		btrfs_leaf_readahead_add(ra, node, i);
	btrfs_leaf_readahead_submit(ra);
	btrfs_leaf_readahead_free(ra);
}
