// SPDX-License-Identifier: GPL-2.0
/*
 * Readahead of data across files, for full send.
 *
 * Send reads one file after the other, so with small files a device never has
 * more than one request, however far the readahead within a file goes.  Here
 * a walk of its own goes through the tree ahead of the one that sends, and
 * reads the extents of small files into the page cache, in batches and in the
 * order of addresses.
 *
 * Owns references to inodes until their files are sent or skipped, and leaves
 * nothing in the page cache that was not there before.  Only a hint: errors are
 * ignored.
 */

#include <linux/blkdev.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sort.h>
#include "ctree.h"
#include "accessors.h"
#include "btrfs_inode.h"
#include "file-item.h"
#include "send-readahead.h"
#include "volumes.h"
#include "compat.h"

/* Larger files keep the device busy on their own. */
#define SEND_READAHEAD_MAX_FILE		SZ_1M

/* An extent that the walk has come to, and where the part that files have of it ends. */
struct seen_extent {
	u64 bytenr;
	u64 end;
};

struct send_readahead {
	struct btrfs_root *root;
	struct btrfs_path *path;
	struct send_leaves *leaves;
	/* Compressed extents are sent as they are, without the page cache. */
	bool compressed;
	bool rotating;
	bool end_of_tree;
	/* A hash table; an extent takes the place of another one. */
	struct seen_extent *seen;
	unsigned int seen_order;
	/* Where the last batch begins, and the next, maybe within a file. */
	u64 batch_ino;
	struct btrfs_key next;
	/* The file that the walk is at, if it is a small one. */
	u64 ino;
	u64 size;
	bool nodatasum;
	/* The extents of a batch in the order of their addresses. */
	struct send_extent **order;
	u64 max_batch_bytes;
	/* A ring for two batches, in the order of files and offsets. */
	unsigned int max;
	unsigned int first;
	unsigned int nr;
	struct send_extent extents[] __counted_by(max);
};

struct send_readahead *btrfs_send_readahead_alloc(struct btrfs_root *root, bool compressed)
{
	const u64 memory = (u64)totalram_pages() << PAGE_SHIFT;
	/* Enough to be worth the way of a head, otherwise to keep many reads in flight. */
	const bool rotating = root->fs_info->fs_devices->rotating;
	const u64 bytes = rotating ? min_t(u64, SZ_32M, memory >> 5) :
				     min_t(u64, SZ_1M, memory >> 7);
	const unsigned int max = 2 * (bytes / SZ_4K);
	struct send_readahead *ra;

	ra = kvzalloc(struct_size(ra, extents, max), GFP_KERNEL);
	if (!ra)
		return NULL;
	ra->max = max;
	ra->root = root;
	ra->compressed = compressed;
	ra->rotating = rotating;
	ra->max_batch_bytes = bytes;
	ra->next.objectid = BTRFS_FIRST_FREE_OBJECTID;
	ra->path = btrfs_alloc_path();
	ra->leaves = btrfs_send_leaves_alloc(root);
	ra->order = kvmalloc_array(max, sizeof(*ra->order), GFP_KERNEL);
	/* 1/512 of memory, or as large as the tree, between 64 KiB and 16 MiB. */
	ra->seen_order = ilog2(clamp_t(u64, min(memory >> 9, btrfs_root_used(&root->root_item)),
				       SZ_64K, SZ_16M) / sizeof(*ra->seen));
	ra->seen = kvcalloc(1U << ra->seen_order, sizeof(*ra->seen), GFP_KERNEL);
	if (!ra->path || !ra->leaves || !ra->order || !ra->seen) {
		btrfs_send_readahead_free(ra);
		return NULL;
	}
	ra->path->search_commit_root = 1;
	ra->path->skip_locking = 1;
	ra->path->need_commit_sem = 1;
	ra->path->reada = ra->rotating ? READA_FORWARD_ALWAYS : READA_FORWARD_BATCH;
	return ra;
}

static struct send_extent *nth(struct send_readahead *ra, unsigned int n)
{
	return &ra->extents[(ra->first + n) % ra->max];
}

/* The first extent; returns the reference to its inode. */
static struct inode *forget_first(struct send_readahead *ra)
{
	struct inode *inode = nth(ra, 0)->inode;

	ra->first = (ra->first + 1) % ra->max;
	ra->nr--;
	return inode;
}

/* The first extent was read in vain: its file is not sent, or not from its data. */
static void drop_first(struct send_readahead *ra)
{
	const bool clean = nth(ra, 0)->clean;
	struct inode *inode = forget_first(ra);

	if (inode && clean)
		truncate_inode_pages(&inode->i_data, 0);
	iput(inode);
}

void btrfs_send_readahead_free(struct send_readahead *ra)
{
	if (!ra)
		return;
	while (ra->nr)
		drop_first(ra);
	btrfs_free_path(ra->path);
	btrfs_send_leaves_free(ra->leaves);
	kvfree(ra->order);
	kvfree(ra->seen);
	kvfree(ra);
}

/*
 * Send has opened inode @ino.  If extents of it have been read ahead, say so, and
 * whether none of it was in the page cache before.  Files are asked for in the order
 * of their numbers, so those before it are not needed.
 */
bool btrfs_send_readahead_take(struct send_readahead *ra, u64 ino, bool *clean)
{
	bool taken = false;
	bool was_clean = false;

	if (!ra)
		return false;
	while (ra->nr && nth(ra, 0)->ino < ino)
		drop_first(ra);
	while (ra->nr && nth(ra, 0)->ino == ino) {
		struct inode *inode;

		/* Only the extent that was read first has found the file as it was. */
		was_clean |= nth(ra, 0)->clean;
		inode = forget_first(ra);
		taken |= !!inode;
		iput(inode);
	}
	if (taken)
		*clean = was_clean;
	return taken;
}

/* Is the same data in a file before, or before in this one?  Then send clones it. */
static bool seen_before(struct send_readahead *ra, u64 bytenr, u64 start, u64 bytes)
{
	struct seen_extent *seen = &ra->seen[hash_64(bytenr, ra->seen_order)];
	const bool again = seen->bytenr == bytenr && start < seen->end;

	seen->end = again ? max(seen->end, start + bytes) : start + bytes;
	seen->bytenr = bytenr;
	return again;
}

static void collect_inode(struct send_readahead *ra, const struct extent_buffer *leaf,
			  int slot, u64 ino)
{
	const struct btrfs_inode_item *ii;

	ii = btrfs_item_ptr(leaf, slot, struct btrfs_inode_item);
	ra->size = btrfs_inode_size(leaf, ii);
	ra->nodatasum = btrfs_inode_flags(leaf, ii) & BTRFS_INODE_NODATASUM;
	/* Not one without links: to open and release it would be to delete it. */
	ra->ino = 0;
	if (S_ISREG(btrfs_inode_mode(leaf, ii)) && btrfs_inode_nlink(leaf, ii) &&
	    ra->size <= SEND_READAHEAD_MAX_FILE)
		ra->ino = ino;
}

/* An extent of the file at hand, unless send is not going to read its data. */
static void collect_extent(struct send_readahead *ra, const struct extent_buffer *leaf,
			   int slot, u64 offset)
{
	struct btrfs_file_extent_item *ei;
	u64 bytenr;
	u64 bytes;

	ei = btrfs_item_ptr(leaf, slot, struct btrfs_file_extent_item);
	if (btrfs_file_extent_type(leaf, ei) != BTRFS_FILE_EXTENT_REG)
		return;
	bytenr = btrfs_file_extent_disk_bytenr(leaf, ei);
	bytes = btrfs_file_extent_num_bytes(leaf, ei);
	if (!bytenr || seen_before(ra, bytenr, btrfs_file_extent_offset(leaf, ei), bytes))
		return;
	if (ra->compressed && btrfs_file_extent_compression(leaf, ei) != BTRFS_COMPRESS_NONE)
		return;
	if (!ra->ino || offset >= ra->size)
		return;
	*nth(ra, ra->nr++) = (struct send_extent) {
		.ino = ra->ino,
		.offset = offset,
		.bytes = min(bytes, ra->size - offset),
		.bytenr = bytenr,
		.owner = btrfs_header_owner(leaf),
		.nodatasum = ra->nodatasum,
	};
}

/* Find the extents of the next batch.  Send needs the leaves it goes through next. */
static void collect_batch(struct send_readahead *ra)
{
	struct btrfs_path *path = ra->path;
	const unsigned int max = min(ra->nr + ra->max / 2, ra->max);
	/*
	 * The first batch of a head is small: the leaves for the next are read on the
	 * same way as what is looked up for it.
	 */
	const bool small = ra->rotating && ra->batch_ino == BTRFS_FIRST_FREE_OBJECTID;
	const u64 max_bytes = small ? ra->max_batch_bytes / 16 : ra->max_batch_bytes;
	struct btrfs_key key = ra->next;
	u64 bytes = 0;

	ra->end_of_tree = btrfs_search_slot(NULL, ra->root, &key, path, 0, 0) < 0;
	while (!ra->end_of_tree && ra->nr < max && bytes < max_bytes) {
		const unsigned int nr = ra->nr;

		if (path->slots[0] >= btrfs_header_nritems(path->nodes[0])) {
			/* Leaves are memory as well, and without files the walk waits for all. */
			bytes += 2 * ra->root->fs_info->nodesize;
			ra->end_of_tree = btrfs_next_leaf(ra->root, path) != 0;
			continue;
		}
		btrfs_item_key_to_cpu(path->nodes[0], &key, path->slots[0]);
		if (key.type == BTRFS_INODE_ITEM_KEY)
			collect_inode(ra, path->nodes[0], path->slots[0], key.objectid);
		if (key.type == BTRFS_EXTENT_DATA_KEY)
			collect_extent(ra, path->nodes[0], path->slots[0], key.offset);
		if (ra->nr > nr)
			bytes += nth(ra, nr)->bytes;
		path->slots[0]++;
	}
	ra->next = key;
	ra->next.offset++;
	btrfs_release_path(path);
}

static int compare_bytenr(const void *a, const void *b)
{
	const struct send_extent *ea = *(struct send_extent **)a;
	const struct send_extent *eb = *(struct send_extent **)b;

	return ea->bytenr < eb->bytenr ? -1 : ea->bytenr > eb->bytenr;
}

static void readahead_extent(struct send_readahead *ra, struct send_extent *extent)
{
	struct file_ra_state file_ra = { 0 };
	struct btrfs_inode *inode = btrfs_iget(extent->ino, ra->root);

	if (IS_ERR(inode))
		return;
	extent->inode = &inode->vfs_inode;
	extent->clean = extent->inode->i_mapping->nrpages == 0;
	DEFINE_READAHEAD(ractl, NULL, &file_ra, extent->inode->i_mapping,
			 extent->offset >> PAGE_SHIFT);
	/* No more than that: what follows is read in its own place, or not at all. */
	filemap_invalidate_lock_shared(ractl.mapping);
	page_cache_ra_unbounded(&ractl, DIV_ROUND_UP(extent->bytes, PAGE_SIZE), 0);
	filemap_invalidate_unlock_shared(ractl.mapping);
}

/*
 * Send has come to inode @ino.  When that is where the last batch begins, all
 * those before it are used up, and it is time for the next.
 */
void btrfs_send_readahead_move(struct send_readahead *ra, u64 ino)
{
	struct blk_plug plug;
	unsigned int nr;

	if (!ra || ra->end_of_tree || ino < ra->batch_ino)
		return;
	while (ra->nr && nth(ra, 0)->ino < ino)
		drop_first(ra);
	/* A file of many extents, too many to look at all of them ahead. */
	if (ra->next.objectid < ino)
		ra->next = (struct btrfs_key){ .objectid = ino };

	ra->batch_ino = ra->next.objectid;
	nr = ra->nr;
	collect_batch(ra);
	nr = ra->nr - nr;
	/* If there is a window, the walk does not read one of its own. */
	ra->path->reada = nr && ra->rotating ? READA_FORWARD_ALWAYS : READA_FORWARD_BATCH;
	for (unsigned int n = 0; n < nr; n++)
		ra->order[n] = nth(ra, ra->nr - nr + n);
	sort(ra->order, nr, sizeof(*ra->order), compare_bytenr, NULL);
	btrfs_send_leaves_read(ra->leaves, ra->order, nr, &ra->next);
	blk_start_plug(&plug);
	for (unsigned int n = 0; n < nr && !fatal_signal_pending(current); n++)
		readahead_extent(ra, ra->order[n]);
	blk_finish_plug(&plug);
}
