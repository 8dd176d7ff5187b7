// SPDX-License-Identifier: GPL-2.0
/*
 * Readahead of what full send reads to find out who else has an extent.
 *
 * An extent of a tree that has been snapshotted and changed since is referred
 * to by leaves of several trees.  Send visits all of them, for one extent after
 * the other, and so goes from tree to tree with single reads.  Which leaves these
 * are is in the extent's item.
 *
 * Owns no leaf.  Only ever a hint: nothing that fails in here is told to anybody.
 */

#include <linux/slab.h>
#include "ctree.h"
#include "accessors.h"
#include "disk-io.h"
#include "extent-tree.h"
#include "send-sharers.h"
#include "tree-readahead.h"

/* Files that follow each other are in the same few leaves of each tree. */
#define SEND_SHARERS_RECENT	16
/* With more references than that send does not look for them. */
#define SEND_SHARERS_MAX_REFS	1024

struct send_sharers {
	struct btrfs_root *root;
	struct leaf_readahead *leaves;
	/* To extent items, root items, and the nodes above a leaf of another tree. */
	struct btrfs_path *item_path;
	struct btrfs_path *root_path;
	struct btrfs_path *node_path;
	/* Addresses of the leaves that were added last. */
	u64 recent[SEND_SHARERS_RECENT];
	unsigned int nr_recent;
	/* The file that is sent, as a reference to its extent names it. */
	u64 owner;
	u64 ino;
};

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

/* What is added goes to @leaves, which the caller submits. */
struct send_sharers *btrfs_send_sharers_alloc(struct btrfs_root *root,
					      struct leaf_readahead *leaves)
{
	struct send_sharers *sharers = kzalloc(sizeof(*sharers), GFP_KERNEL);

	if (!sharers)
		return NULL;
	sharers->root = root;
	sharers->leaves = leaves;
	sharers->item_path = alloc_commit_root_path(0);
	sharers->root_path = alloc_commit_root_path(0);
	sharers->node_path = alloc_commit_root_path(1);
	if (!sharers->item_path || !sharers->root_path || !sharers->node_path) {
		btrfs_send_sharers_free(sharers);
		return NULL;
	}
	return sharers;
}

void btrfs_send_sharers_free(struct send_sharers *sharers)
{
	if (!sharers)
		return;
	btrfs_free_path(sharers->item_path);
	btrfs_free_path(sharers->root_path);
	btrfs_free_path(sharers->node_path);
	kfree(sharers);
}

static bool recently_added(struct send_sharers *sharers, u64 bytenr)
{
	for (int i = 0; i < SEND_SHARERS_RECENT; i++)
		if (sharers->recent[i] == bytenr)
			return true;
	sharers->recent[sharers->nr_recent++ % SEND_SHARERS_RECENT] = bytenr;
	return false;
}

/* A reference by address: a leaf that was left to snapshots. */
static void add_leaf(struct send_sharers *sharers, u64 bytenr)
{
	if (!recently_added(sharers, bytenr))
		btrfs_leaf_readahead_add_block(sharers->leaves, bytenr);
}

/* Files are sent in the order of keys: the leaves of the next node come next. */
static void add_next_node(struct send_sharers *sharers, const struct btrfs_path *path)
{
	const int slot = btrfs_leaf_readahead_next_node(path);

	if (slot >= 0 && !recently_added(sharers, btrfs_node_blockptr(path->nodes[2], slot)))
		btrfs_leaf_readahead_add(sharers->leaves, path->nodes[2], slot);
}

/* A reference by name: the leaf is where the key is in that tree. */
static void add_leaf_of_key(struct send_sharers *sharers, struct btrfs_root *root,
			    const struct btrfs_key *key)
{
	struct btrfs_path *path = sharers->node_path;
	int slot;
	int ret;

	ret = btrfs_search_slot(NULL, root, key, path, 0, 0);
	if (ret >= 0 && path->nodes[1]) {
		/* Without an exact match it is where the key would go. */
		slot = path->slots[1];
		if (ret > 0 && slot > 0)
			slot--;
		if (!recently_added(sharers, btrfs_node_blockptr(path->nodes[1], slot)))
			btrfs_leaf_readahead_add(sharers->leaves, path->nodes[1], slot);
		add_next_node(sharers, path);
	}
	btrfs_release_path(path);
}

static void add_owner(struct send_sharers *sharers, const struct extent_buffer *leaf,
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
	if (root_id == sharers->owner && key.objectid == sharers->ino)
		return;
	/* Nothing but commit roots, as locks of trees come before commit_root_sem. */
	root = btrfs_get_fs_root_commit_root(sharers->root->fs_info, sharers->root_path, root_id);
	if (IS_ERR(root))
		return;
	add_leaf_of_key(sharers, root, &key);
	btrfs_put_root(root);
}

/* All references in the item of an extent; those with items of their own are rare. */
static void add_references(struct send_sharers *sharers, struct extent_buffer *leaf,
			   int slot)
{
	struct btrfs_extent_item *item = btrfs_item_ptr(leaf, slot, struct btrfs_extent_item);
	const u64 refs = btrfs_extent_refs(leaf, item);
	const unsigned long end = (unsigned long)item + btrfs_item_size(leaf, slot);
	unsigned long ptr = (unsigned long)(item + 1);

	/* Since the file was looked at another block may have come there, of a tree. */
	if (!(btrfs_extent_flags(leaf, item) & BTRFS_EXTENT_FLAG_DATA))
		return;
	if (refs < 2 || refs > SEND_SHARERS_MAX_REFS)
		return;
	while (ptr < end) {
		struct btrfs_extent_inline_ref *ref = (struct btrfs_extent_inline_ref *)ptr;
		const int type = btrfs_get_extent_inline_ref_type(leaf, ref,
								  BTRFS_REF_TYPE_DATA);

		if (type == BTRFS_REF_TYPE_INVALID)
			return;
		if (type == BTRFS_SHARED_DATA_REF_KEY)
			add_leaf(sharers, btrfs_extent_inline_ref_offset(leaf, ref));
		else if (type == BTRFS_EXTENT_DATA_REF_KEY)
			add_owner(sharers, leaf, (struct btrfs_extent_data_ref *)&ref->offset);
		ptr += btrfs_extent_inline_ref_size(type);
	}
}

/*
 * The extent at @bytenr is going to be sent, as one of inode @ino in a leaf that
 * is @owner's.  Reads the extent's item.  The caller holds
 * commit_root_sem until it has submitted what was added: after that another block
 * may be where the leaf was.
 */
void btrfs_send_sharers_add(struct send_sharers *sharers, u64 bytenr, u64 owner, u64 ino)
{
	struct btrfs_fs_info *fs_info = sharers->root->fs_info;
	struct btrfs_path *path = sharers->item_path;
	const struct btrfs_key key = {
		.objectid = bytenr,
		.type = BTRFS_EXTENT_ITEM_KEY,
		.offset = (u64)-1,
	};
	struct btrfs_root *extent_root;
	struct btrfs_key found;

	sharers->owner = owner;
	sharers->ino = ino;
	lockdep_assert_held_read(&fs_info->commit_root_sem);
	extent_root = btrfs_extent_root(fs_info, bytenr);
	if (extent_root && btrfs_search_slot(NULL, extent_root, &key, path, 0, 0) > 0 &&
	    path->slots[0] > 0) {
		btrfs_item_key_to_cpu(path->nodes[0], &found, path->slots[0] - 1);
		if (found.objectid == bytenr && found.type == BTRFS_EXTENT_ITEM_KEY)
			add_references(sharers, path->nodes[0], path->slots[0] - 1);
	}
	btrfs_release_path(path);
}
