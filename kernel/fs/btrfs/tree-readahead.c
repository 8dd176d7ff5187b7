// SPDX-License-Identifier: GPL-2.0
/*
 * Readahead for walks through a whole tree: the window of leaves that a walk keeps
 * ahead of itself.
 *
 * Owns no leaf and keeps nothing from one call to the next.  Only a hint: errors
 * are ignored.
 */

#include <linux/blkdev.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include "ctree.h"
#include "accessors.h"
#include "disk-io.h"
#include "extent_io.h"
#include "tree-readahead.h"
#include "volumes.h"

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

/* Submitting blocks on the disk: do not hold up a commit or a fatal signal. */
bool btrfs_may_read_ahead(struct btrfs_fs_info *fs_info)
{
	return !rwsem_is_contended(&fs_info->commit_root_sem) && !fatal_signal_pending(current);
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
	struct blk_plug plug;

	/* Nodes are visited rarely, one ahead is enough. */
	if (btrfs_header_level(node) > 1) {
		if (slot + 1 < end)
			btrfs_readahead_node_child(node, slot + 1);
		return;
	}

	/* One early, so that no batch is waited for with nothing behind it. */
	if (leaf_in_memory(node, min(slot + window / 2 + 1, end - 1)))
		return;
	blk_start_plug(&plug);
	for (int i = slot; i < min(slot + window + 1, end) && btrfs_may_read_ahead(fs_info); i++)
		btrfs_readahead_node_child(node, i);
	blk_finish_plug(&plug);
}
