// SPDX-License-Identifier: GPL-2.0
/*
 * Readahead of the leaves that full send needs for the extents it sends: their
 * items in the extent tree, their checksums, and the leaves of other trees that
 * refer to them.
 *
 * Send looks for clones of each extent.  An extent of a tree that was snapshotted
 * and changed since is referred to by leaves of several trees, and send visits
 * all of them.  Owns no leaf.  Only a hint: errors are ignored.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include "ctree.h"
#include "accessors.h"
#include "disk-io.h"
#include "extent-tree.h"
#include "send-readahead.h"
#include "tree-readahead.h"
#include "volumes.h"

/* Files that follow each other are in the same few leaves of each tree. */
#define SEND_LEAVES_RECENT	32
/* Without a head, those after it are read as well: the next files are likely there. */
#define SEND_LEAVES_AHEAD	3
/* Send does not look for clones of an extent with more references. */
#define SEND_LEAVES_MAX_REFS	1024
/* How many leaves are collected at most, besides a window, before they are read. */
#define SEND_LEAVES_WANTED	1024

struct send_leaves {
	struct btrfs_root *root;
	struct leaf_readahead *wanted;
	/* To extent items, root items, and the nodes above a leaf. */
	struct btrfs_path *item_path;
	struct btrfs_path *root_path;
	struct btrfs_path *node_path;
	/* Addresses of the leaves that were added last. */
	u64 recent[SEND_LEAVES_RECENT];
	unsigned int nr_recent;
	/* The tree that is sent: leaves at once, the key after them, where the next are read. */
	int window;
	struct btrfs_key window_end;
	struct btrfs_key window_refill;
};

/* Commit roots: locks of trees would come before commit_root_sem. */
static struct btrfs_path *alloc_commit_root_path(int lowest_level)
{
	struct btrfs_path *path = btrfs_alloc_path();

	if (path) {
		path->search_commit_root = 1;
		path->skip_locking = 1;
		path->lowest_level = lowest_level;
	}
	return path;
}

struct send_leaves *btrfs_send_leaves_alloc(struct btrfs_root *root)
{
	const u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	struct send_leaves *leaves = kzalloc(sizeof(*leaves), GFP_KERNEL);

	if (!leaves)
		return NULL;
	leaves->root = root;
	/* Only a head saves time by fewer visits of the tree. */
	if (root->fs_info->fs_devices->rotating)
		leaves->window = (u32)min_t(u64, SZ_8M, memory >> 6) / root->fs_info->nodesize;
	leaves->wanted = btrfs_leaf_readahead_alloc(root->fs_info,
						    leaves->window + SEND_LEAVES_WANTED);
	leaves->item_path = alloc_commit_root_path(0);
	leaves->root_path = alloc_commit_root_path(0);
	leaves->node_path = alloc_commit_root_path(1);
	if (!leaves->wanted || !leaves->item_path || !leaves->root_path || !leaves->node_path) {
		btrfs_send_leaves_free(leaves);
		return NULL;
	}
	return leaves;
}

void btrfs_send_leaves_free(struct send_leaves *leaves)
{
	if (!leaves)
		return;
	btrfs_free_path(leaves->item_path);
	btrfs_free_path(leaves->root_path);
	btrfs_free_path(leaves->node_path);
	btrfs_leaf_readahead_free(leaves->wanted);
	kfree(leaves);
}

static bool recently_added(struct send_leaves *leaves, u64 bytenr)
{
	for (int i = 0; i < SEND_LEAVES_RECENT; i++)
		if (leaves->recent[i] == bytenr)
			return true;
	leaves->recent[leaves->nr_recent++ % SEND_LEAVES_RECENT] = bytenr;
	return false;
}

/* The leaf of a key.  Without an exact match the slot of a node is where the key would go. */
static int leaf_slot(const struct btrfs_path *path, int ret)
{
	return path->slots[1] - (ret > 0 && path->slots[1] > 0);
}

/* The leaf of @root that has @key, and what is read with it. */
static void add_leaf_of_key(struct send_leaves *leaves, struct btrfs_root *root,
			    const struct btrfs_key *key)
{
	struct btrfs_path *path = leaves->node_path;
	int last;
	int ret;

	if (IS_ERR_OR_NULL(root))
		return;
	ret = btrfs_search_slot(NULL, root, key, path, 0, 0);
	if (ret >= 0 && path->nodes[1]) {
		last = min_t(int, leaf_slot(path, ret) + (leaves->window ? 0 : SEND_LEAVES_AHEAD),
			     btrfs_header_nritems(path->nodes[1]) - 1);
		for (int slot = leaf_slot(path, ret); slot <= last; slot++)
			if (!recently_added(leaves, btrfs_node_blockptr(path->nodes[1], slot)))
				btrfs_leaf_readahead_add(leaves->wanted, path->nodes[1], slot);
	}
	btrfs_release_path(path);
}

/* The leaves with the item of an extent, and with its checksums. */
static void add_lookups(struct send_leaves *leaves, const struct send_extent *extent)
{
	struct btrfs_fs_info *fs_info = leaves->root->fs_info;
	const struct btrfs_key item = {
		.objectid = extent->bytenr,
		.type = BTRFS_EXTENT_ITEM_KEY,
		.offset = (u64)-1,
	};
	const struct btrfs_key csum = {
		.objectid = BTRFS_EXTENT_CSUM_OBJECTID,
		.type = BTRFS_EXTENT_CSUM_KEY,
		.offset = extent->bytenr,
	};

	add_leaf_of_key(leaves, btrfs_extent_root(fs_info, extent->bytenr), &item);
	if (!extent->nodatasum)
		add_leaf_of_key(leaves, btrfs_csum_root(fs_info, extent->bytenr), &csum);
}

/* A reference by name: the leaf is where the key is in that tree. */
static void add_owner(struct send_leaves *leaves, const struct send_extent *extent,
		      const struct extent_buffer *leaf,
		      const struct btrfs_extent_data_ref *ref)
{
	const u64 root_id = btrfs_extent_data_ref_root(leaf, ref);
	const struct btrfs_key key = {
		.objectid = btrfs_extent_data_ref_objectid(leaf, ref),
		.type = BTRFS_EXTENT_DATA_KEY,
		.offset = btrfs_extent_data_ref_offset(leaf, ref),
	};
	struct btrfs_root *root;

	/* The reference of the file that is sent, which send knows as well. */
	if (root_id == extent->owner && key.objectid == extent->ino)
		return;
	root = btrfs_get_fs_root_commit_root(leaves->root->fs_info, leaves->root_path, root_id);
	add_leaf_of_key(leaves, root, &key);
	if (!IS_ERR(root))
		btrfs_put_root(root);
}

/* All references in the item of an extent; those with items of their own are rare. */
static void add_references(struct send_leaves *leaves, const struct send_extent *extent,
			   struct extent_buffer *leaf, int slot)
{
	struct btrfs_extent_item *item = btrfs_item_ptr(leaf, slot, struct btrfs_extent_item);
	const u64 refs = btrfs_extent_refs(leaf, item);
	const unsigned long end = (unsigned long)item + btrfs_item_size(leaf, slot);
	unsigned long ptr = (unsigned long)(item + 1);

	/* The extent may have been freed since, and hold a tree block now. */
	if (!(btrfs_extent_flags(leaf, item) & BTRFS_EXTENT_FLAG_DATA))
		return;
	if (refs < 2 || refs > SEND_LEAVES_MAX_REFS)
		return;
	while (ptr < end) {
		struct btrfs_extent_inline_ref *ref = (struct btrfs_extent_inline_ref *)ptr;
		const int type = btrfs_get_extent_inline_ref_type(leaf, ref,
								  BTRFS_REF_TYPE_DATA);
		const u64 parent = btrfs_extent_inline_ref_offset(leaf, ref);

		if (type == BTRFS_REF_TYPE_INVALID)
			return;
		/* A reference by address: a leaf that was left to snapshots. */
		if (type == BTRFS_SHARED_DATA_REF_KEY && !recently_added(leaves, parent))
			btrfs_leaf_readahead_add_block(leaves->wanted, parent);
		if (type == BTRFS_EXTENT_DATA_REF_KEY)
			add_owner(leaves, extent, leaf,
				  (struct btrfs_extent_data_ref *)&ref->offset);
		ptr += btrfs_extent_inline_ref_size(type);
	}
}

/* Leaves of other trees with an extent.  Reads the extent's item. */
static void add_sharers(struct send_leaves *leaves, const struct send_extent *extent)
{
	struct btrfs_root *root = btrfs_extent_root(leaves->root->fs_info, extent->bytenr);
	struct btrfs_path *path = leaves->item_path;
	const struct btrfs_key key = {
		.objectid = extent->bytenr,
		.type = BTRFS_EXTENT_ITEM_KEY,
		.offset = (u64)-1,
	};
	struct btrfs_key found;

	if (root && btrfs_search_slot(NULL, root, &key, path, 0, 0) > 0 && path->slots[0] > 0) {
		btrfs_item_key_to_cpu(path->nodes[0], &found, path->slots[0] - 1);
		if (found.objectid == extent->bytenr && found.type == BTRFS_EXTENT_ITEM_KEY)
			add_references(leaves, extent, path->nodes[0], path->slots[0] - 1);
	}
	btrfs_release_path(path);
}

/* The first key after the leaf in @slot of the node of @path. */
static void end_of_leaf(const struct btrfs_path *path, int slot, struct btrfs_key *end)
{
	for (int level = 1; level < BTRFS_MAX_LEVEL && path->nodes[level]; level++) {
		if (level > 1)
			slot = path->slots[level];
		if (slot + 1 < btrfs_header_nritems(path->nodes[level])) {
			btrfs_node_key_to_cpu(path->nodes[level], end, slot + 1);
			return;
		}
	}
	*end = (struct btrfs_key){ (u64)-1, (u8)-1, (u64)-1 };
}

/* The leaves that the next batches are found in: one sweep of the head reads all. */
static void add_window(struct send_leaves *leaves, const struct btrfs_key *next)
{
	struct btrfs_path *path = leaves->node_path;
	struct btrfs_key key = *next;
	int left = leaves->window;

	if (!left || btrfs_comp_cpu_keys(next, &leaves->window_refill) < 0)
		return;
	if (btrfs_comp_cpu_keys(&leaves->window_end, &key) > 0)
		key = leaves->window_end;
	while (left > 0 && key.objectid != (u64)-1) {
		const int ret = btrfs_search_slot(NULL, leaves->root, &key, path, 0, 0);
		int slot;

		if (ret < 0 || !path->nodes[1])
			break;
		for (slot = leaf_slot(path, ret);
		     left > 0 && slot < btrfs_header_nritems(path->nodes[1]); slot++) {
			btrfs_leaf_readahead_add(leaves->wanted, path->nodes[1], slot);
			if (--left == leaves->window / 2)
				btrfs_node_key_to_cpu(path->nodes[1], &leaves->window_refill, slot);
		}
		end_of_leaf(path, slot - 1, &key);
		btrfs_release_path(path);
	}
	btrfs_release_path(path);
	leaves->window_end = key;
	if (key.objectid == (u64)-1)
		leaves->window_refill = key;
}

/* Read ahead the leaves for @nr @extents, and those of the tree that is sent from @next on. */
void btrfs_send_leaves_read(struct send_leaves *leaves, struct send_extent **extents,
			    unsigned int nr, const struct btrfs_key *next)
{
	struct rw_semaphore *sem = &leaves->root->fs_info->commit_root_sem;

	/* The blocks of commit roots are stable only while this is held. */
	down_read(sem);
	for (unsigned int n = 0; n < nr; n++) {
		add_lookups(leaves, extents[n]);
		cond_resched();
	}
	add_window(leaves, next);
	btrfs_leaf_readahead_submit(leaves->wanted);
	/* This waits for leaves of the extent tree. */
	for (unsigned int n = 0; n < nr; n++) {
		add_sharers(leaves, extents[n]);
		cond_resched();
	}
	btrfs_leaf_readahead_submit(leaves->wanted);
	up_read(sem);
}
