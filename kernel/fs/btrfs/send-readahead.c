// SPDX-License-Identifier: GPL-2.0
/*
 * Readahead of data across files, for full send.
 *
 * Send reads one file after the other, so with small files a device never has
 * more than one request, however far the readahead within a file goes.  Here
 * a walk of its own goes through the tree ahead of the one that sends, and
 * reads the small files it meets into the page cache, in batches.
 *
 * Owns the inodes it has read ahead until they are taken or passed over, and
 * leaves nothing in the page cache that was not there before.  Only ever a
 * hint: nothing that fails in here makes send fail.
 */

#include <linux/blkdev.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sort.h>
#include "ctree.h"
#include "accessors.h"
#include "btrfs_inode.h"
#include "disk-io.h"
#include "extent-tree.h"
#include "file-item.h"
#include "send-readahead.h"
#include "send-sharers.h"
#include "tree-readahead.h"
#include "volumes.h"
#include "compat.h"

/* Larger files keep the device busy on their own. */
#define SEND_READAHEAD_MAX_FILE		SZ_1M
/* How many leaves are wanted at most besides a window before they are read. */
#define SEND_READAHEAD_LEAVES		512
/* How many leaves are read at most before it is known that they are needed. */
#define SEND_READAHEAD_GUESS		128

struct send_readahead_file {
	struct inode *inode;
	u64 ino;
	u64 size;
	/* Where its first extent is, and the tree that the reference names. */
	u64 bytenr;
	u64 owner;
	/* Nothing of it was in the page cache before. */
	bool clean;
	bool nodatasum;
};

/*
 * A tree in which extents are looked up: the keys of the leaves that were read
 * ahead last, up to but not including @end.
 */
struct lookup_tree {
	struct btrfs_key start;
	struct btrfs_key end;
};

struct send_readahead {
	struct btrfs_root *root;
	struct btrfs_path *path;
	/* For the trees that are looked up for each extent. */
	struct btrfs_path *lookup_path;
	struct leaf_readahead *leaves;
	struct send_sharers *sharers;
	struct lookup_tree extents;
	struct lookup_tree csums;
	/*
	 * The window of the tree that is sent: how many leaves it has at most, how
	 * many of these the walk has before it, and the first key after them.
	 */
	int window;
	int window_left;
	struct btrfs_key window_end;
	/* Extents are sent as they are, around the page cache. */
	bool compressed;
	bool rotating;
	bool end_of_tree;

	/* Where the last batch begins, and the next, maybe within an inode. */
	u64 batch_ino;
	struct btrfs_key next;
	struct send_readahead_file file;
	/* The files of a batch as they are on disk. */
	struct send_readahead_file **order;

	unsigned int max_batch_files;
	u64 max_batch_bytes;
	/* A ring for two batches, in the order of inode numbers. */
	unsigned int max_files;
	unsigned int first;
	unsigned int nr;
	struct send_readahead_file files[] __counted_by(max_files);
};

/*
 * A batch is what is read in one visit of a disk's head, and two of them are in
 * memory: enough to be worth the way where there is a head, also if that is a
 * good part of a small memory, and otherwise as much as keeps many reads under
 * way.
 */
static u64 batch_bytes(bool rotating)
{
	const u64 memory = (u64)totalram_pages() << PAGE_SHIFT;

	return rotating ? min_t(u64, SZ_32M, memory >> 5) :
			  min_t(u64, SZ_1M, memory >> 7);
}

/*
 * Leaves are small next to what they point to, so they are read for several
 * batches in one visit of the trees, and most batches are read without one.
 */
static int window_leaves(const struct btrfs_fs_info *fs_info)
{
	const u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	const u32 bytes = min_t(u64, SZ_16M, memory >> 5);

	return bytes / fs_info->nodesize;
}

/*
 * The first batch is a small one where there is a head: as soon as it is known
 * what is looked up for some files, the leaves for all the next are read with
 * those of the tree that is sent, not after them.
 */
static u64 first_batch_bytes(const struct send_readahead *ra)
{
	return ra->rotating ? ra->max_batch_bytes / 16 : ra->max_batch_bytes;
}

struct send_readahead *btrfs_send_readahead_alloc(struct btrfs_root *root,
						  bool compressed)
{
	const bool rotating = root->fs_info->fs_devices->rotating;
	const u64 bytes = batch_bytes(rotating);
	const unsigned int files = bytes / SZ_4K;
	struct send_readahead *ra;

	ra = kvzalloc(struct_size(ra, files, 2 * files), GFP_KERNEL);
	if (!ra)
		return NULL;

	ra->max_files = 2 * files;
	ra->root = root;
	ra->rotating = rotating;
	ra->compressed = compressed;
	ra->max_batch_bytes = bytes;
	ra->max_batch_files = files;
	ra->next.objectid = BTRFS_FIRST_FREE_OBJECTID;
	ra->path = btrfs_alloc_path();
	ra->lookup_path = btrfs_alloc_path();
	ra->window = window_leaves(root->fs_info);
	ra->leaves = btrfs_leaf_readahead_alloc(root->fs_info,
						2 * (ra->window + SEND_READAHEAD_LEAVES));
	if (ra->leaves)
		ra->sharers = btrfs_send_sharers_alloc(root, ra->leaves);
	ra->order = kvmalloc_array(files, sizeof(*ra->order), GFP_KERNEL);
	if (!ra->path || !ra->lookup_path || !ra->sharers || !ra->order) {
		btrfs_send_readahead_free(ra);
		return NULL;
	}
	/* As for send itself, so that transactions go on between two searches. */
	ra->path->search_commit_root = 1;
	ra->path->skip_locking = 1;
	ra->path->need_commit_sem = 1;
	/* For a small first batch; the window comes with what is looked up for it. */
	ra->path->reada = rotating ? READA_FORWARD_ALWAYS : READA_FORWARD_BATCH;

	ra->lookup_path->search_commit_root = 1;
	ra->lookup_path->skip_locking = 1;
	ra->lookup_path->lowest_level = 1;
	return ra;
}

static struct send_readahead_file *nth_file(struct send_readahead *ra, unsigned int n)
{
	return &ra->files[(ra->first + n) % ra->max_files];
}

static void forget_first(struct send_readahead *ra)
{
	ra->first = (ra->first + 1) % ra->max_files;
	ra->nr--;
}

/* The first one was read in vain: it is not sent, or not from its data. */
static void drop_first(struct send_readahead *ra)
{
	struct send_readahead_file *file = nth_file(ra, 0);

	if (file->inode) {
		if (file->clean)
			truncate_inode_pages(&file->inode->i_data, 0);
		iput(file->inode);
	}
	forget_first(ra);
}

void btrfs_send_readahead_free(struct send_readahead *ra)
{
	if (!ra)
		return;
	while (ra->nr)
		drop_first(ra);
	btrfs_free_path(ra->path);
	btrfs_free_path(ra->lookup_path);
	btrfs_send_sharers_free(ra->sharers);
	btrfs_leaf_readahead_free(ra->leaves);
	kvfree(ra->order);
	kvfree(ra);
}

/*
 * The inode with its reference, if it has been read ahead.  Files are asked
 * for in the order of their numbers, so those before it are not needed.
 */
struct inode *btrfs_send_readahead_take(struct send_readahead *ra, u64 ino,
					bool *clean)
{
	struct inode *inode;

	if (!ra)
		return NULL;
	while (ra->nr && nth_file(ra, 0)->ino < ino)
		drop_first(ra);
	if (!ra->nr || nth_file(ra, 0)->ino != ino)
		return NULL;

	inode = nth_file(ra, 0)->inode;
	*clean = nth_file(ra, 0)->clean;
	forget_first(ra);
	return inode;
}

/*
 * A small regular file.  Not one without links: send skips it, and to open and
 * release it would be to delete it.
 */
static bool is_candidate(const struct extent_buffer *leaf, int slot,
			 struct send_readahead_file *file)
{
	const struct btrfs_inode_item *ii;

	ii = btrfs_item_ptr(leaf, slot, struct btrfs_inode_item);
	file->size = btrfs_inode_size(leaf, ii);
	file->nodatasum = btrfs_inode_flags(leaf, ii) & BTRFS_INODE_NODATASUM;
	return S_ISREG(btrfs_inode_mode(leaf, ii)) && btrfs_inode_nlink(leaf, ii) &&
	       file->size && file->size <= SEND_READAHEAD_MAX_FILE;
}

/* Is there data at the start of the file that send is going to read? */
static bool has_data(const struct send_readahead *ra,
		     const struct extent_buffer *leaf, int slot,
		     struct send_readahead_file *file)
{
	const struct btrfs_file_extent_item *ei;

	ei = btrfs_item_ptr(leaf, slot, struct btrfs_file_extent_item);
	if (btrfs_file_extent_type(leaf, ei) != BTRFS_FILE_EXTENT_REG)
		return false;
	if (ra->compressed &&
	    btrfs_file_extent_compression(leaf, ei) != BTRFS_COMPRESS_NONE)
		return false;
	file->bytenr = btrfs_file_extent_disk_bytenr(leaf, ei);
	file->owner = btrfs_header_owner(leaf);
	return file->bytenr != 0;
}

/* One item; ra->file is what is known of the inode it belongs to. */
static void collect_item(struct send_readahead *ra,
			 const struct extent_buffer *leaf, int slot,
			 const struct btrfs_key *key)
{
	struct send_readahead_file *file = &ra->file;

	if (key->type == BTRFS_INODE_ITEM_KEY)
		file->ino = is_candidate(leaf, slot, file) ? key->objectid : 0;
	if (key->type == BTRFS_EXTENT_DATA_KEY && key->offset == 0 &&
	    key->objectid == file->ino && has_data(ra, leaf, slot, file))
		*nth_file(ra, ra->nr++) = *file;
}

/*
 * Find the files of the next batch, of about @max_bytes.  The leaves it goes through to find them
 * are those which send needs next, so they are read ahead as well.
 */
static void collect_batch(struct send_readahead *ra, u64 max_bytes)
{
	struct btrfs_path *path = ra->path;
	const unsigned int max = min(ra->nr + ra->max_batch_files, ra->max_files);
	struct btrfs_key key = ra->next;
	unsigned int nr = ra->nr;
	u64 bytes = 0;
	int ret;

	ret = btrfs_search_slot(NULL, ra->root, &key, path, 0, 0);
	while (ret >= 0 && nr < max && bytes < max_bytes) {
		if (path->slots[0] >= btrfs_header_nritems(path->nodes[0])) {
			/* Leaves are memory as well, and without files the walk waits for all. */
			bytes += 2 * ra->root->fs_info->nodesize;
			ra->window_left--;
			ret = btrfs_next_leaf(ra->root, path);
			if (ret) {
				ra->end_of_tree = true;
				break;
			}
		}
		btrfs_item_key_to_cpu(path->nodes[0], &key, path->slots[0]);
		collect_item(ra, path->nodes[0], path->slots[0], &key);
		if (ra->nr != nr)
			bytes += ra->file.size;
		nr = ra->nr;
		path->slots[0]++;
	}
	ra->end_of_tree |= ret < 0;
	ra->next = key;
	ra->next.offset++;
	btrfs_release_path(path);
}

/*
 * The slot of the leaf that has the key searched for, or would have.  Without an
 * exact match a path down to nodes only is where the key would go.
 */
static int leaf_slot(const struct btrfs_path *path, int ret)
{
	return path->slots[1] - (ret > 0 && path->slots[1] > 0);
}

/* The first key that is not in the leaves up to @slot of the node of @path. */
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

/*
 * Add the leaf that @path has come to, in @slot of its node.  If leaf after leaf
 * is asked for, and there is no head, those which follow as well.
 */
static void add_leaves(struct send_readahead *ra, const struct btrfs_path *path,
		       int slot, bool in_turn, struct lookup_tree *tree)
{
	const struct extent_buffer *node = path->nodes[1];
	const int guess = in_turn && !ra->rotating ? SEND_READAHEAD_GUESS : 0;
	const int last = min_t(int, slot + guess, btrfs_header_nritems(node) - 1);

	for (int i = slot; i <= last; i++)
		btrfs_leaf_readahead_add(ra->leaves, node, i);
	end_of_leaf(path, last, &tree->end);
}

/* Read ahead the leaf of another tree that has @key, if that was not just done. */
static void readahead_leaf(struct send_readahead *ra, struct btrfs_root *root,
			   const struct btrfs_key *key, struct lookup_tree *tree)
{
	struct btrfs_path *path = ra->lookup_path;
	struct btrfs_key first;
	bool in_turn;
	int slot;
	int ret;

	if (!root || (btrfs_comp_cpu_keys(key, &tree->start) >= 0 &&
		      btrfs_comp_cpu_keys(key, &tree->end) < 0))
		return;

	ret = btrfs_search_slot(NULL, root, key, path, 0, 0);
	if (ret >= 0 && path->nodes[1]) {
		slot = leaf_slot(path, ret);
		btrfs_node_key_to_cpu(path->nodes[1], &first, slot);
		in_turn = !btrfs_comp_cpu_keys(&first, &tree->end);
		tree->start = *key;
		add_leaves(ra, path, slot, in_turn, tree);
	}
	btrfs_release_path(path);
}

static int compare_bytenr(const void *a, const void *b)
{
	const struct send_readahead_file *fa = *(struct send_readahead_file **)a;
	const struct send_readahead_file *fb = *(struct send_readahead_file **)b;

	if (fa->bytenr == fb->bytenr)
		return 0;
	return fa->bytenr < fb->bytenr ? -1 : 1;
}

/* Put the last @nr files in the order of their places on disk. */
static void order_batch(struct send_readahead *ra, unsigned int nr)
{
	for (unsigned int n = 0; n < nr; n++)
		ra->order[n] = nth_file(ra, ra->nr - nr + n);
	sort(ra->order, nr, sizeof(*ra->order), compare_bytenr, NULL);
}

/* A commit does not want to wait for what is read under commit_root_sem. */
static void make_way_for_commit(struct send_readahead *ra)
{
	struct rw_semaphore *sem = &ra->root->fs_info->commit_root_sem;

	if (!rwsem_is_contended(sem))
		return;
	btrfs_leaf_readahead_submit(ra->leaves);
	up_read(sem);
	cond_resched();
	down_read(sem);
}

/*
 * Add leaves of the node that @path has come to from @slot on, as many as there is
 * room for in the window, and the node after it.
 */
static void extend_window(struct send_readahead *ra, const struct btrfs_path *path, int slot)
{
	const struct extent_buffer *node = path->nodes[1];
	const int end = min_t(int, slot + ra->window - ra->window_left,
			      btrfs_header_nritems(node));
	const int next = btrfs_leaf_readahead_next_node(path);

	ra->window_left += end - slot;
	end_of_leaf(path, end - 1, &ra->window_end);
	while (slot < end)
		btrfs_leaf_readahead_add(ra->leaves, node, slot++);
	if (next >= 0)
		btrfs_leaf_readahead_add(ra->leaves, path->nodes[2], next);
}

/*
 * The leaves that the next batches are found in, to be read on the same way.  If
 * these were left to the walk, a head would come for them between those batches.
 */
static void add_window(struct send_readahead *ra)
{
	struct btrfs_path *path = ra->lookup_path;
	int ret;

	if (!ra->rotating || ra->end_of_tree || ra->window_left > ra->window / 2)
		return;
	/* The walk has come through it. */
	if (ra->window_left <= 0) {
		ra->window_left = 0;
		ra->window_end = ra->next;
	}
	while (ra->window_left < ra->window && ra->window_end.objectid != (u64)-1) {
		ret = btrfs_search_slot(NULL, ra->root, &ra->window_end, path, 0, 0);
		if (ret < 0 || !path->nodes[1])
			break;
		extend_window(ra, path, leaf_slot(path, ret));
		btrfs_release_path(path);
	}
	btrfs_release_path(path);
}

/*
 * What is looked up for each extent: its item, to find out who else has it, and
 * its checksums.  Files that follow each other share leaves of both.
 */
static void readahead_lookups(struct send_readahead *ra, unsigned int nr)
{
	struct btrfs_fs_info *fs_info = ra->root->fs_info;

	/* Nothing to go there for: what the walk reads for itself does. */
	if (!nr)
		return;
	/* Blocks of commit roots stay what they are under this only. */
	down_read(&fs_info->commit_root_sem);
	for (unsigned int n = 0; n < nr; n++) {
		const struct send_readahead_file *file = ra->order[n];
		const struct btrfs_key extent = {
			.objectid = file->bytenr,
			.type = BTRFS_EXTENT_ITEM_KEY,
			.offset = (u64)-1,
		};
		const struct btrfs_key csum = {
			.objectid = BTRFS_EXTENT_CSUM_OBJECTID,
			.type = BTRFS_EXTENT_CSUM_KEY,
			.offset = file->bytenr,
		};

		readahead_leaf(ra, btrfs_extent_root(fs_info, file->bytenr),
			       &extent, &ra->extents);
		if (!file->nodatasum)
			readahead_leaf(ra, btrfs_csum_root(fs_info, file->bytenr),
				       &csum, &ra->csums);
		make_way_for_commit(ra);
	}
	add_window(ra);
	btrfs_leaf_readahead_submit(ra->leaves);
	up_read(&fs_info->commit_root_sem);
}

/* Leaves of other trees, as the items of the extents name them. */
static void readahead_sharers(struct send_readahead *ra, unsigned int nr)
{
	struct rw_semaphore *sem = &ra->root->fs_info->commit_root_sem;

	down_read(sem);
	for (unsigned int n = 0; n < nr; n++) {
		const struct send_readahead_file *file = ra->order[n];

		btrfs_send_sharers_add(ra->sharers, file->bytenr, file->owner, file->ino);
		make_way_for_commit(ra);
	}
	btrfs_leaf_readahead_submit(ra->leaves);
	up_read(sem);
}

static void readahead_file(struct send_readahead *ra, struct send_readahead_file *file)
{
	struct file_ra_state file_ra = { 0 };
	struct btrfs_inode *btrfs_inode = btrfs_iget(file->ino, ra->root);
	struct inode *inode;

	if (IS_ERR(btrfs_inode))
		return;
	inode = &btrfs_inode->vfs_inode;
	file->inode = inode;
	file->clean = inode->i_mapping->nrpages == 0;
	file_ra_state_init(&file_ra, inode->i_mapping);
	page_cache_sync_readahead(inode->i_mapping, &file_ra, NULL, 0,
				  DIV_ROUND_UP(file->size, PAGE_SIZE));
}

static void readahead_files(struct send_readahead *ra, unsigned int nr)
{
	struct blk_plug plug;

	blk_start_plug(&plug);
	for (unsigned int n = 0; n < nr; n++)
		readahead_file(ra, ra->order[n]);
	blk_finish_plug(&plug);
}

/*
 * Send has come to inode @ino.  When that is where the last batch begins, all
 * those before it are used up, and it is time for the next.
 */
void btrfs_send_readahead_move(struct send_readahead *ra, u64 ino)
{
	unsigned int nr;
	u64 bytes;

	if (!ra || ra->end_of_tree || ino < ra->batch_ino)
		return;
	while (ra->nr && nth_file(ra, 0)->ino < ino)
		drop_first(ra);
	/* A file of many extents, too many to look at all of them ahead. */
	if (ra->next.objectid < ino)
		ra->next = (struct btrfs_key){ .objectid = ino };

	bytes = ra->batch_ino ? ra->max_batch_bytes : first_batch_bytes(ra);
	ra->batch_ino = ra->next.objectid;
	nr = ra->nr;
	collect_batch(ra, bytes);
	nr = ra->nr - nr;
	/* If there is a window, the walk does not read one of its own. */
	ra->path->reada = nr && ra->rotating ? READA_FORWARD_ALWAYS : READA_FORWARD_BATCH;
	order_batch(ra, nr);
	readahead_lookups(ra, nr);
	readahead_sharers(ra, nr);
	readahead_files(ra, nr);
}
